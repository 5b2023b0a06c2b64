import Feeds
import Foundation
import FuelModel
import HTTP
import Pipeline
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

/// Keys, quotas and pauses.
extension IngestTests {
  /// F-H08: an expired token is renewed once. If the key is wrong after that, the error is reported
  /// and the run recorded.
  @Test func anExpiredTokenIsRenewedOnce() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { request in
        // The first call for data finds its token expired.
        request.path.hasSuffix("/prices") && bench.asked.withLock { $0.count } == 2
          ? .text(401, "{}") : nil
      }
      let summary = try await bench.ingest("nsw-fuelcheck")
      #expect(summary.requests == 4 && summary.counts.stored > 0)
      bench.misbehave { $0.path.hasSuffix("/prices") ? .text(401, "{}") : nil }
      let refused = await fault {
        try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(7_200))
      }
      let keys = ["BOWSER_NSW_FUELCHECK_KEY", "BOWSER_NSW_FUELCHECK_SECRET"]
      #expect(refused as? FeedError == .notAllowed(document: "prices", status: 401, keys: keys))
      #expect(bench.asked.withLock { $0.count } == 8)
      #expect(
        try bench.lines(
          "SELECT outcome, requests, stored FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1")
          == ["failed|4|0"])
    }
  }

  /// F-H09: a refused key is not tried again, and its text appears nowhere.
  @Test func aRefusedKeyIsAskedOnce() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(
        target,
        environment: [
          "BOWSER_QLD_FPD_TOKEN": "CANARY-token", "BOWSER_NSW_FUELCHECK_SECRET": "CANARY-secret",
        ])
      for status in [401, 403] {
        bench.misbehave { _ in .text(status, "{\"Message\":\"denied\"}") }
        let before = bench.asked.withLock { $0.count }
        let refused = await fault { try await bench.ingest("qld-fpd", attempts: 4) }
        #expect(
          refused as? FeedError
            == .notAllowed(document: "brands", status: status, keys: ["BOWSER_QLD_FPD_TOKEN"]))
        #expect(bench.asked.withLock { $0.count } == before + 1)
        try Connection(target).execute(
          "UPDATE fuel.run SET started_at = started_at - interval '1 hour'")
      }
      bench.misbehave(nil)
      let token = await fault { try await bench.ingest("nsw-fuelcheck") }
      let keys = ["BOWSER_NSW_FUELCHECK_KEY", "BOWSER_NSW_FUELCHECK_SECRET"]
      #expect(token as? FeedError == .notAllowed(document: "token", status: 401, keys: keys))
      // F-M05: the canary is in no row, no log line and no error.
      let rows = try bench.lines("SELECT run::text FROM fuel.run AS run")
      let texts = rows + bench.lines.withLock { $0 } + ["\(token!)"]
      #expect(rows.count == 3 && !texts.joined().contains("CANARY"))
    }
  }

  /// F-H06: after a provider asks for a pause of an hour, the next run makes no request and states
  /// so.
  @Test func stayingAwayIsRemembered() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { _ in .text(429, "{}", headers: ["Retry-After": "3600"]) }
      let first = await fault { try await bench.ingest("wa-fuelwatch") }
      #expect(first as? FeedError == .comeBack(document: "today-1", afterSeconds: 3_600))
      bench.misbehave(nil)
      let asked = bench.asked.withLock { $0.count }
      let second = await fault {
        try await bench.ingest("wa-fuelwatch", at: Bench.end + .seconds(3_500))
      }
      #expect(
        "\(second!)"
          == "no request is allowed before \(Bench.end + .seconds(3_600)), in 100 s: the provider "
          + "asked for a pause, or its limits ask for one")
      #expect(bench.asked.withLock { $0.count } == asked)
      try await bench.ingest("wa-fuelwatch", at: Bench.end + .seconds(3_700))
    }
  }

  /// F-H07: a run that would exceed the calls of the month is refused before it makes a call.
  @Test func aSpentQuotaStopsTheRun() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target, environment: ["BOWSER_NSW_FUELCHECK_CALLS_PER_MONTH": "5"])
      for hour in 0..<2 {
        try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(hour * 3600))
      }
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Bench.end.description), false)")
      #expect(try connection.lines("SELECT quota_left FROM fuel_v1.feed_health") == ["1"])
      let spent = await fault {
        try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(7_200))
      }
      #expect(spent as? IngestError == .quotaSpent(allowed: 5))
      #expect(bench.asked.withLock { $0.count } == 4)
      // The next UTC month has its own calls.
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(31 * 86_400))
    }
  }

  /// The publishers' limit of one call a minute applies across processes.
  @Test func aRunTooSoonIsRefused() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await bench.ingest("sa-fpd")
      let soon = await fault { try await bench.ingest("sa-fpd", at: Bench.end + .seconds(30)) }
      #expect(
        soon as? IngestError
          == .notBefore(Bench.end + .seconds(60), now: Bench.end + .seconds(30)))
      try await bench.ingest("sa-fpd", at: Bench.end + .seconds(60))
      // Reference lists are fetched once a day: the second run asked for prices only.
      #expect(bench.asked.withLock { $0.count } == 5)
      try await bench.ingest("sa-fpd", at: Bench.end + .seconds(86_500))
      #expect(bench.asked.withLock { $0.count } == 9)
    }
  }

  /// Requests are counted over all feeds that share a key, per month and per minute.
  @Test func feedsOfOneKeyShareItsQuota() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(
        target,
        environment: [
          "BOWSER_NSW_FUELCHECK_CALLS_PER_MONTH": "6", "BOWSER_TAS_FUELCHECK_CALLS_PER_MONTH": "6",
          "BOWSER_NSW_FUELCHECK_CALLS_PER_MINUTE": "3",
        ])
      try await bench.ingest("nsw-fuelcheck", at: Bench.end)
      let soon = await fault {
        try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(20))
      }
      #expect(
        soon as? IngestError
          == .notBefore(Bench.end + .seconds(80), now: Bench.end + .seconds(20)))
      try await bench.ingest("tas-fuelcheck", at: Bench.end + .seconds(120))
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(4_000))
      let spent = await fault {
        try await bench.ingest("tas-fuelcheck", at: Bench.end + .seconds(9_000))
      }
      #expect(spent as? IngestError == .quotaSpent(allowed: 6))
      #expect(
        try bench.lines("SELECT source, quota_left FROM fuel_v1.feed_health ORDER BY source")
          .allSatisfy {
            $0.hasSuffix("|0") || $0.hasSuffix("|6")
          })
    }
  }

  /// F-M05: an error page that repeats the request with its keys puts no key into a message.
  @Test(arguments: ["qld-fpd", "vic-fairfuel", "nsw-fuelcheck"])
  func anEchoTellsNoKey(feed: String) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(
        target,
        environment: [
          "BOWSER_QLD_FPD_TOKEN": "CANARY-qld-token",
          "BOWSER_VIC_FAIRFUEL_CONSUMER_ID": "CANARY-vic-id",
          "BOWSER_NSW_FUELCHECK_KEY": "CANARY-key", "BOWSER_NSW_FUELCHECK_SECRET": "CANARY-secret",
        ])
      bench.misbehave { request in
        let lines = request.headers.map { "\($0.key)=\($0.value)" }.sorted()
        let pair = Data("CANARY-key:CANARY-secret".utf8).base64EncodedString()
        // Quoted as HTML pages, JSON objects and URLs do, and cut in the middle.
        let quoted = "\(lines.joined(separator: " ")) \(pair)"
        return .text(
          400,
          "bad request: \(quoted.replacing("-", with: "&#45;")) "
            + "\(quoted.replacing("-", with: "%2d")) "
            + "\(quoted.map { "\($0)\u{301}" }.joined()) \(quoted)"
        )
      }
      let error = await fault { try await bench.ingest(feed) }
      let message = "\(error!)" + (try bench.lines("SELECT error FROM fuel.run")).joined()
      #expect(message.contains("answered 400"))
      #expect(message.contains("is not shown"))
      let pair = Data("CANARY-key:CANARY-secret".utf8).base64EncodedString()
      #expect(!message.contains("CANARY") && !message.contains(pair), "\(message)")
    }
  }

  /// A feed with few calls that fails is not called at every tick.
  @Test func anOutageDoesNotSpendTheMonth() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { _ in .text(503, "") }
      var tries = 0
      for tick in 0..<144 {
        let now = Bench.end + .seconds(tick * 600)
        let ingest = try Ingest(
          bench.source("nsw-fuelcheck"), store: bench.store(), clock: .fixed(now), log: bench.log)
        guard try ingest.isDue() else { continue }
        tries += 1
        _ = await fault { try await bench.ingest("nsw-fuelcheck", at: now, attempts: 4) }
      }
      // A day with about one attempt an hour.
      #expect((20...30).contains(tries), "\(tries)")
      #expect(bench.asked.withLock { $0.count } <= tries * 4)
      let health = try Connection(target)
      try health.query(
        "SELECT set_config('bowser.now', \((Bench.end + .seconds(86_400)).description), false)")
      #expect(try health.lines("SELECT status FROM fuel_v1.feed_health") == ["failing"])
    }
  }
}
