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

struct IngestTests {
  /// A run over HTTP and a replay of the recording of the same answers store the same rows.
  @Test func aReplayEqualsTheLiveRun() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let recording = Recording(folder: folder)
    let instants = [Bench.end - .seconds(90_000), Bench.end - .seconds(40_000), Bench.end]
    let live = try await TestDatabase.with { target in
      let bench = try Bench(target)
      for instant in instants {
        for feed in SimulatedFeeds.feeds {
          try await bench.ingest(feed, at: instant, recording: recording)
        }
      }
      let counts = try bench.lines(
        "SELECT feed, taken_at, received, stored, unchanged, rejected, payload_sha256 FROM fuel_v1.ingest_runs ORDER BY 1, 2"
      )
      return (try bench.stored(), counts)
    }
    let replayed = try await TestDatabase.with { target in
      let bench = try Bench(target)
      for feed in SimulatedFeeds.feeds {
        for documents in try recording.runs(of: feed) {
          _ = try Ingest(
            bench.source(feed), store: bench.store(), clock: .fixed(Bench.end), log: bench.log
          ).replay(documents)
        }
      }
      let counts = try bench.lines(
        "SELECT feed, taken_at, received, stored, unchanged, rejected, payload_sha256 FROM fuel_v1.ingest_runs ORDER BY 1, 2"
      )
      return (try bench.stored(), counts)
    }
    #expect(live.0.count > 1_000)
    #expect(live.0 == replayed.0)
    #expect(live.1 == replayed.1 && live.1.count == 21)
  }

  /// Ten days of all feeds: at every visit the database states what the market charged.
  @Test(.longer) func theHistoryIsTheMarketsTruth() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      var visits: [(String, Instant)] = []
      let steps = Long.count(short: 12, long: 24)
      for step in 0..<steps {
        let at = Bench.end - .seconds(9 * 86_400 - step * 768_000 / steps)
        for feed in SimulatedFeeds.feeds {
          try await bench.ingest(feed, at: at)
          visits.append((feed, at))
        }
      }
      var compared = 0
      for (feed, at) in visits {
        // Victoria reports the prices of a day before.
        let asOf = feed == "vic-fairfuel" ? at - .seconds(86_400) : at
        let truth = bench.feeds.truth(of: feed, at: asOf)
        let stored = try bench.charged(feed, at: asOf)
        #expect(stored == truth, "\(feed) at \(at)")
        compared += truth.count
      }
      #expect(compared > 200 * steps)
    }
  }

  private func fault(_ body: () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

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
      #expect(refused as? FeedError == .notAllowed(document: "prices", status: 401))
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
        #expect(refused as? FeedError == .notAllowed(document: "brands", status: status))
        #expect(bench.asked.withLock { $0.count } == before + 1)
        try Connection(target).execute(
          "UPDATE fuel.run SET started_at = started_at - interval '1 hour'")
      }
      bench.misbehave(nil)
      let token = await fault { try await bench.ingest("nsw-fuelcheck") }
      #expect(token as? FeedError == .notAllowed(document: "token", status: 401))
      // F-M05: the canary is in no row, no log line and no error.
      let rows = try bench.lines("SELECT run::text FROM fuel.run AS run")
      let said = rows + bench.lines.withLock { $0 } + ["\(token!)"]
      #expect(rows.count == 3 && !said.joined().contains("CANARY"))
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
      #expect(second as? IngestError == .notBefore(Bench.end + .seconds(3_600)))
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
      #expect(soon as? IngestError == .notBefore(Bench.end + .seconds(60)))
      try await bench.ingest("sa-fpd", at: Bench.end + .seconds(60))
      // Reference lists are fetched once a day: the second run asked for prices only.
      #expect(bench.asked.withLock { $0.count } == 5)
      try await bench.ingest("sa-fpd", at: Bench.end + .seconds(86_500))
      #expect(bench.asked.withLock { $0.count } == 9)
    }
  }

  /// F-H05, F-H10, F-H11, F-H12, F-H14, F-H17, F-H29, F-P06, F-P07: nothing of a bad run is stored
  /// but its record, the last good data stay, and its error states what went wrong.
  @Test(arguments: [
    ("500", 500, "Internal Server Error.", false), ("404", 404, "{}", false),
    ("304", 304, "", true), ("html", 200, "<!DOCTYPE html><html>maintenance</html>", true),
    ("empty", 200, "", true), ("newline", 200, "\n", true), ("zip", 200, "PK\u{3}\u{4}xx", true),
    ("pdf", 200, "%PDF-1.4", true), ("json error", 200, "{\"ok\":false}", true),
    ("truncated", 200, "{\"SitePrices\":[{\"SiteId\":1,", true),
  ])
  func aBadAnswerChangesNothing(name: String, status: Int, body: String, isRefusal: Bool)
    async throws
  {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await bench.ingest("qld-fpd")
      let before = try bench.stored()
      // The last of four calls fails.
      bench.misbehave { $0.path.contains("GetSitesPrices") ? .text(status, body) : nil }
      let error = await fault {
        try await bench.ingest("qld-fpd", at: Bench.end + .seconds(90_000))
      }
      #expect(error is FeedError)
      let named = [
        "html": "an HTML page", "empty": "is empty", "newline": "is empty", "zip": "a ZIP file",
        "pdf": "a PDF",
      ]
      if let words = named[name] { #expect("\(error!)".contains(words), "\(error!)") }
      #expect(try bench.stored() == before)
      #expect(
        try bench.lines(
          "SELECT outcome, error IS NOT NULL AS e FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1"
        )
          == ["\(isRefusal ? "refused" : "failed")|t"])
      bench.misbehave(nil)
      try await bench.ingest("qld-fpd", at: Bench.end + .seconds(93_000))
    }
  }

  /// F-Z02, F-H17: a gzip body that is cut anywhere is delivered as if it were complete, but the
  /// document in it is incomplete.
  @Test func aCutGzipBodyIsRefused() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let prices = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)[0]
      let plain = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try Data(prices.bytes).write(to: plain)
      let gzip = Process()
      gzip.executableURL = URL(filePath: "/usr/bin/env")
      gzip.arguments = ["gzip", "-c", plain.path]
      let pipe = Pipe()
      gzip.standardOutput = pipe
      try gzip.run()
      let zipped = [UInt8](pipe.fileHandleForReading.readDataToEndOfFile())
      gzip.waitUntilExit()
      func send(_ body: [UInt8]) {
        let head =
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        bench.misbehave { request in
          request.path.hasSuffix("/prices") ? .raw([Array(head.utf8) + body]) : nil
        }
      }
      for cut in stride(from: 0, to: zipped.count - 9, by: 1_000) {
        send(Array(zipped[..<cut]))
        let error = await fault { try await bench.ingest("nsw-fuelcheck") }
        #expect(error is FeedError, "cut at \(cut)")
      }
      #expect(try bench.stored() == [])
      send(zipped)
      #expect(try await bench.ingest("nsw-fuelcheck").counts.stored > 50)
    }
  }

  /// F-V03: a feed whose unit changed is refused as a whole. Its records are counted and kept.
  @Test func aChangedUnitIsRefused() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await bench.ingest("nsw-fuelcheck")
      let before = try bench.stored()
      let prices = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)[0]
      let text = String(decoding: prices.bytes, as: UTF8.self)
      for factor in [10.0, 0.1, 100] {
        let changed = text.replacing(/"price":(\d+\.?\d*)/) { match in
          "\"price\":\((Double(match.1) ?? 0) * factor)"
        }
        bench.misbehave { $0.path.hasSuffix("/prices") ? .text(200, changed) : nil }
        let error = await fault {
          try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(7_200))
        }
        let told = error.map { "\($0)" } ?? ""
        #expect(error is Refusal && told.contains("records are bad"), "\(factor): \(told)")
      }
      #expect(try bench.stored().filter { !$0.contains("price_") } == before)
      #expect(
        try bench.lines(
          """
          SELECT DISTINCT outcome, received = stored + unchanged + duplicate + rejected AS adds_up,
            received > 50 AS counted FROM fuel_v1.ingest_runs WHERE outcome <> 'stored'
          """) == ["refused|t|t"])
      #expect(
        try bench.lines(
          "SELECT count(*) > 50 AS kept FROM fuel_v1.rejects WHERE reason LIKE 'price_%'") == ["t"])
    }
  }

  /// F-L07: a dry run does everything and leaves nothing.
  @Test func aRehearsalLeavesNothing() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let store = try bench.store()
      try store.beginRehearsal()
      let documents = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)
      for _ in 0..<2 {
        let summary = try Ingest(
          bench.source("nsw-fuelcheck"), store: store, clock: .fixed(Bench.end), log: bench.log
        ).replay(documents)
        #expect(summary.counts.received > 50)
      }
      try store.endRehearsal()
      #expect(try bench.stored() == [])
      #expect(try bench.lines("SELECT count(*) FROM fuel.run") == ["0"])
    }
  }

  /// F-T11: a provider's clock that differs is recorded and reported. Prices keep the times of the
  /// feed.
  @Test func aDifferentClockIsTold() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { request in
        guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        // Seven minutes ahead of 10:00 UTC.
        return .text(
          status, body, type: type, headers: ["Date": "Wed, 01 Jul 2026 10:07:00 GMT"])
      }
      try await bench.ingest("sa-fpd")
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Bench.end.description), false)")
      #expect(
        try connection.lines("SELECT clock_skew_seconds FROM fuel_v1.ingest_runs") == ["420"])
      #expect(
        try connection.lines("SELECT status, why FROM fuel_v1.feed_health")
          == ["ok|the provider's clock differs from ours by 420 s"])
      #expect(
        try bench.charged("sa-fpd", at: Bench.end) == bench.feeds.truth(of: "sa-fpd", at: Bench.end)
      )
    }
  }

  /// F-N02: with a clock that is days or a year wrong, nothing is stored and the error is reported,
  /// even if all else agrees. If the clock differs by half an hour, what another provider stated
  /// decides whether ours is wrong or only this provider's.
  @Test func aWrongClockStoresNothing() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let date = Mutex("Wed, 01 Jul 2026 10:00:00 GMT")
      bench.misbehave { request in
        guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        return .text(status, body, type: type, headers: ["Date": date.withLock { $0 }])
      }
      let before = try bench.stored()
      for days in [2, 400, -3] {
        let error = await #expect(throws: IngestError.self) {
          try await bench.ingest("sa-fpd", at: Bench.end + .seconds(days * 86_400))
        }
        guard case .clockIsWrong(let seconds) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(abs(seconds + days * 86_400) < 60)
      }
      #expect(try bench.stored() == before)
      #expect(
        try bench.lines("SELECT DISTINCT outcome, error LIKE '%clock is wrong%' FROM fuel.run")
          == ["failed|t"])
      // Half an hour behind the provider, and no other clock agrees with that: the provider is
      // named and its run counts.
      date.withLock { $0 = "Wed, 01 Jul 2026 10:30:00 GMT" }
      try await bench.ingest("sa-fpd")
      #expect(
        try bench.lines(
          "SELECT clock_skew_seconds FROM fuel_v1.ingest_runs WHERE outcome = 'stored'")
          == ["1800"])
      // Another provider states the same time, so this machine's clock is wrong.
      await #expect(throws: IngestError.clockIsWrong(seconds: 1_800)) {
        try await bench.ingest("qld-fpd")
      }
    }
  }

  /// F-H30: filters that only admit browsers also admit an honest user agent that begins like
  /// theirs.
  @Test func theAgentIsHonest() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let agents = Mutex<Set<String>>([])
      bench.misbehave { request in
        let agent = request.headers["user-agent"] ?? ""
        agents.withLock { _ = $0.insert(agent) }
        return agent.hasPrefix("Mozilla/5.0 ") ? nil : .text(403, "<html>blocked</html>")
      }
      for feed in SimulatedFeeds.feeds { try await bench.ingest(feed) }
      #expect(
        agents.withLock { $0 }
          == ["Mozilla/5.0 (compatible; bowser/1.0; +test@example.org)"])
    }
  }

  /// F-F10: a new version of a feed beside the old one is a feed of its own: both run, and neither
  /// reports for the other.
  @Test func twoVersionsStandSideBySide() async throws {
    try await TestDatabase.with { target in
      let old = try Bench(target)
      let new = try Bench(
        target,
        environment: old.environment.filter { $0.key.hasPrefix("BOWSER_SA_FPD_") }
          .reduce(into: [:]) { $0[$1.key.replacing("SA_FPD", with: "SA_FPD_NEXT")] = $1.value },
        changing: ["feed: 'sa-fpd'": "feed: 'sa-fpd-next'"])
      try await old.ingest("sa-fpd")
      new.misbehave { request in
        guard request.path.hasSuffix("GetSitesPrices"),
          case .text(let status, let body, let type, _) = old.feeds.answer(request)
        else { return nil }
        return .text(status, body.replacing("\"FuelId\":2,", with: "\"FuelId\":5,"), type: type)
      }
      try await new.ingest("sa-fpd-next")
      #expect(
        try old.lines(
          "SELECT source, count(*) > 20 FROM fuel.current_price JOIN fuel.source USING (source_id) GROUP BY 1 ORDER BY 1"
        )
          == ["sa-fpd|t", "sa-fpd-next|t"])
      #expect(
        try old.charged("sa-fpd", at: Bench.end) == old.feeds.truth(of: "sa-fpd", at: Bench.end))
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
      #expect(soon as? IngestError == .notBefore(Bench.end + .seconds(80)))
      try await bench.ingest("tas-fuelcheck", at: Bench.end + .seconds(120))
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(4_000))
      let spent = await fault {
        try await bench.ingest("tas-fuelcheck", at: Bench.end + .seconds(9_000))
      }
      #expect(spent as? IngestError == .quotaSpent(allowed: 6))
      #expect(
        try bench.lines("SELECT feed, quota_left FROM fuel_v1.feed_health ORDER BY feed").allSatisfy
        {
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
        let said = "\(lines.joined(separator: " ")) \(pair)"
        return .text(
          400,
          "bad request: \(said.replacing("-", with: "&#45;")) \(said.replacing("-", with: "%2d")) "
            + "\(said.map { "\($0)\u{301}" }.joined()) \(said)"
        )
      }
      let error = await fault { try await bench.ingest(feed) }
      let told = "\(error!)" + (try bench.lines("SELECT error FROM fuel.run")).joined()
      #expect(told.contains("status 400"))
      #expect(told.contains("is not shown"))
      let pair = Data("CANARY-key:CANARY-secret".utf8).base64EncodedString()
      #expect(!told.contains("CANARY") && !told.contains(pair), "\(told)")
    }
  }

  /// F-F13: while tomorrow's prices are late, they are asked for until they are published, and the
  /// feed states that it waits. A much shorter answer than the one before is refused.
  @Test func tomorrowIsWaitedFor() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      // 14:40 in Perth.
      let at = try #require(Instant(iso: "2026-06-30T06:40:00Z"))
      func isDue(_ now: Instant) throws -> Bool {
        try Ingest(
          bench.source("wa-fuelwatch"), store: bench.store(), clock: .fixed(now), log: bench.log
        ).isDue()
      }
      bench.misbehave { request in
        guard request.query["Day"] == "tomorrow",
          case .text(let status, let body, let type, _) = bench.feeds.answer(request)
        else { return nil }
        return .text(status, body.replacing(/<item>.*<\/item>\r\n/, with: ""), type: type)
      }
      try await bench.ingest("wa-fuelwatch", at: at)
      #expect(
        try bench.lines("SELECT warnings FROM fuel_v1.ingest_runs")
          == ["tomorrow's prices are not published yet"])
      #expect(try !isDue(at + .seconds(60)))
      #expect(try isDue(at + .seconds(600)))
      bench.misbehave(nil)
      try await bench.ingest("wa-fuelwatch", at: at + .seconds(600))
      #expect(try !isDue(at + .seconds(1_200)))
      // The next day they are late again. Today's prices are all there, so the list is not taken
      // for half a list.
      bench.misbehave { request in
        guard request.query["Day"] == "tomorrow",
          case .text(let status, let body, let type, _) = bench.feeds.answer(request)
        else { return nil }
        return .text(status, body.replacing(/<item>.*<\/item>\r\n/, with: ""), type: type)
      }
      try await bench.ingest("wa-fuelwatch", at: at + .seconds(86_400))
      #expect(try isDue(at + .seconds(87_000)))
      bench.misbehave(nil)
      // An answer with one product only: accepted at first, refused after a complete answer.
      let morning = at + .seconds(57_000)
      bench.misbehave { request in
        request.query["Product"] == "1" ? nil : .text(200, "<rss><channel></channel></rss>")
      }
      try await bench.ingest("wa-fuelwatch", at: morning)
      let short = await fault {
        try await bench.ingest("wa-fuelwatch", at: morning + .seconds(86_400))
      }
      #expect(short == nil)
      bench.misbehave(nil)
      try await bench.ingest("wa-fuelwatch", at: morning + .seconds(2 * 86_400))
      bench.misbehave { request in
        request.query["Product"] == "1" ? nil : .text(200, "<rss><channel></channel></rss>")
      }
      let refused = await fault {
        try await bench.ingest("wa-fuelwatch", at: morning + .seconds(3 * 86_400))
      }
      #expect("\(refused!)".contains("prices where"))
    }
  }

  /// A feed with few calls that fails is not called at every tick.
  @Test func anOutageDoesNotSpendTheMonth() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { _ in .text(503, "") }
      var tries = 0
      for tick in 0..<288 {
        let now = Bench.end + .seconds(tick * 600)
        let ingest = try Ingest(
          bench.source("nsw-fuelcheck"), store: bench.store(), clock: .fixed(now), log: bench.log)
        guard try ingest.isDue() else { continue }
        tries += 1
        _ = await fault { try await bench.ingest("nsw-fuelcheck", at: now, attempts: 4) }
      }
      // Two days with about one attempt an hour.
      #expect((40...60).contains(tries), "\(tries)")
      #expect(bench.asked.withLock { $0.count } <= tries * 4)
      let health = try Connection(target)
      try health.query(
        "SELECT set_config('bowser.now', \((Bench.end + .seconds(172_800)).description), false)")
      #expect(try health.lines("SELECT status FROM fuel_v1.feed_health") == ["failing"])
    }
  }
}
