import Archives
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

/// Clocks that differ, and prices of tomorrow.
extension IngestTests {
  /// Gives all answers a Date header.
  private func tell(_ date: String, in bench: Bench) {
    bench.misbehave { request in
      guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
        return nil
      }
      return .text(status, body, type: type, headers: ["Date": date])
    }
  }

  /// F-T11: a provider's clock that differs is recorded and reported. Prices keep the times of the
  /// feed.
  @Test func aDifferentClockIsTold() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      // Seven minutes ahead of 10:00 UTC.
      tell("Wed, 01 Jul 2026 10:07:00 GMT", in: bench)
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

  /// F-T14: a provider's clock is twenty minutes fast, and so are the stamps of what changed last. The
  /// run counts, those prices are in effect, and so they are when the answer is read again. A price
  /// has one stamp in all answers of that time.
  @Test func aFastProviderIsRead() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let date = Mutex("Wed, 01 Jul 2026 10:20:00 GMT")
      bench.misbehave { request in
        bench.feeds.set(Bench.end)
        guard case .text(let status, var body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        body.replace(
          /"TransactionDateUtc":"[^"]*"/, with: #""TransactionDateUtc":"2026-07-01T10:20:00""#,
          maxReplacements: 30)
        return .text(status, body, type: type, headers: ["Date": date.withLock { $0 }])
      }
      let connection = try Connection(target)
      func shown(at instant: Instant) throws -> [String] {
        try connection.query("SELECT set_config('bowser.now', \(instant.description), false)")
        return try connection.lines(
          """
          SELECT count(*) FILTER (WHERE effective_at = '2026-07-01T10:00:00Z') >= 20, max(effective_at),
            count(next_price_cpl), count(*) FILTER (WHERE is_flagged)
          FROM fuel_v1.current_prices
          """)
      }
      let first = try await bench.ingest("qld-fpd")
      #expect(first.counts.rejectedByReason == [:])
      let expected = ["t|2026-07-01 10:00:00+00|0|0"]
      let begun = try shown(at: Bench.end)
      #expect(begun == expected, "\(begun)")
      #expect(
        try connection.lines("SELECT why FROM fuel_v1.feed_health")
          == ["the provider's clock differs from ours by 1200 s"])
      let ingest = Ingest(
        try bench.source("qld-fpd"), store: try bench.store(), clock: .fixed(Bench.end),
        log: bench.log)
      #expect(
        try ingest.reprocess(try bench.store().ledger.keptRun(first.run.number)).counts
          .rejectedByReason
          == [:])
      #expect(try shown(at: Bench.end) == expected)
      // A second was lost on the way.
      date.withLock { $0 = "Wed, 01 Jul 2026 10:24:59 GMT" }
      let next = Bench.end + .seconds(300)
      let second = try await bench.ingest("qld-fpd", at: next)
      #expect(second.counts.stored == 0)
      #expect(try shown(at: next) == expected)
    }
  }

  /// F-T14: prices of tomorrow lie ahead by no clock, so they keep their stamps.
  @Test func tomorrowIsNotPutBack() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      tell("Wed, 01 Jul 2026 10:20:00 GMT", in: bench)
      try await bench.ingest("wa-fuelwatch")
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Bench.end.description), false)")
      #expect(
        try connection.lines("SELECT DISTINCT effective_at FROM fuel_v1.tomorrow_prices")
          == ["2026-07-01 22:00:00+00"])
    }
  }

  /// F-T15: where the clock of this machine and that of the database server differ by more than ten
  /// minutes, no job stores anything or asks a provider, also where providers state no time.
  @Test(arguments: [400 * 86_400, 700, -700])
  func anotherClockThanTheServersStoresNothing(seconds: Int64) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let clock = Clock { .now + .seconds(seconds) }
      let ingest = Ingest(
        try bench.source("sa-fpd"), store: try bench.store(), clock: clock, log: bench.log)
      let aggregate = Aggregate(
        store: try bench.store(), regions: [.nation], clock: clock, log: bench.log)
      let backfill = Backfill(
        try #require(try Archive.all(in: bench.folder, environment: [:]).first),
        store: try bench.store(), decisions: [], clock: clock, log: bench.log)
      for error in [
        await fault { _ = try ingest.isDue() }, await fault { _ = try ingest.begin() },
        await fault { _ = try ingest.replay([]) }, await fault { _ = try aggregate.run() },
        await fault { _ = try await backfill.run([#filePath]) },
      ] {
        guard case .clocksDiffer(let difference) = error as? IngestError else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(abs(difference + Int(seconds)) < 60)
      }
      #expect(bench.asked.withLock { $0 } == [])
      for table in ["source", "run", "aggregate_run"] {
        #expect(try bench.lines(SQL(stringLiteral: "SELECT FROM fuel.\(table)")).isEmpty)
      }
      // A difference of minutes is none, and an instant that was given is no clock.
      let near = Clock { .now + .seconds(seconds.signum() * 500) }
      for clock in [near, .fixed(Bench.end)] {
        _ = try Ingest(
          bench.source("sa-fpd"), store: bench.store(), clock: clock, log: bench.log
        ).begin()
      }
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

  /// F-N02: a wrong clock of this machine contradicts all answers of a run, whatever their order. One
  /// answer that is alone, or that comes from a cache, decides nothing.
  @Test func noAnswerHidesAWrongClock() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      // The dates of the first, of the other, and of the last answers, and the age of the first one.
      let dates = Mutex(["Sun, 28 Jun 2026 10:00:00 GMT", "Wed, 01 Jul 2026 10:00:05 GMT", "0"])
      bench.misbehave { request in
        guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        let dates = dates.withLock { $0 }
        let isFirst = request.path.hasSuffix("GetCountryBrands")
        let headers =
          isFirst ? ["Date": dates[0], "Age": dates[2]] : ["Date": dates[1], "Age": "0"]
        return .text(status, body, type: type, headers: headers)
      }
      try await bench.ingest("qld-fpd")
      #expect(try bench.lines("SELECT clock_skew_seconds FROM fuel_v1.ingest_runs") == ["5"])
      dates.withLock {
        $0 = ["Wed, 01 Jul 2026 10:00:00 GMT", "Fri, 03 Jul 2026 10:00:00 GMT", "172800"]
      }
      await #expect(throws: IngestError.clockIsWrong(seconds: 2 * 86_400)) {
        try await bench.ingest("sa-fpd")
      }
    }
  }

  /// F-T60: once a clock that was ahead is right, the runs of the future say nothing any more: the
  /// feed is due, its health is that of its runs until now, and its provider is not called sooner
  /// than it may be.
  @Test func runsOfTheFutureAreForgotten() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let connection = try Connection(target)
      func at(_ seconds: Int64) -> Instant { Bench.end + .seconds(seconds) }
      func isDue(_ seconds: Int64) throws -> Bool {
        try Ingest(
          bench.source("qld-fpd"), store: bench.store(), clock: .fixed(at(seconds)), log: bench.log
        ).isDue()
      }
      func health(_ seconds: Int64) throws -> [String] {
        try connection.query("SELECT set_config('bowser.now', \(at(seconds).description), false)")
        return try connection.lines(
          "SELECT status, last_success_at, last_attempt_at FROM fuel_v1.feed_health")
      }
      try await bench.ingest("qld-fpd")
      // Two days ahead, it is refused by what the provider's answer says of the time.
      bench.misbehave { request in
        guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        return .text(status, body, type: type, headers: ["Date": "Wed, 01 Jul 2026 10:01:00 GMT"])
      }
      for seconds in [172_800, 172_900] as [Int64] {
        await #expect(throws: IngestError.self) {
          try await bench.ingest("qld-fpd", at: at(seconds))
        }
      }
      // 400 days ahead, a provider that states no time is believed, and the run is withdrawn.
      bench.misbehave(nil)
      let wrong = try await bench.ingest("qld-fpd", at: at(400 * 86_400))
      #expect(
        try health(60) == ["ok|2026-07-01 10:00:00+00|2026-07-01 10:00:00+00"])
      let withdrawal = Withdrawal(
        try bench.store(), sources: [try bench.source("qld-fpd")], clock: .fixed(at(300)),
        log: bench.log)
      let number = wrong.run.number
      for candidate in try withdrawal.candidates([number], named: [number], counts: false).found {
        try withdrawal.decide(candidate, counts: false, reason: "a test")
      }
      #expect(try !isDue(300))
      #expect(try isDue(600))
      // The lists of sites are a day old at most, by runs until now.
      bench.asked.withLock { $0 = [] }
      try await bench.ingest("qld-fpd", at: at(90_000))
      #expect(bench.asked.withLock { $0.count } == 4)
      #expect(
        try health(90_001) == ["ok|2026-07-02 11:00:00+00|2026-07-02 11:00:00+00"])
      await #expect(throws: IngestError.notBefore(at(90_060), now: at(90_030))) {
        try await bench.ingest("qld-fpd", at: at(90_030))
      }
    }
  }

  /// F-T60: a provider that asked for a pause gets it after a clock that was ahead is right again.
  @Test func aPauseOutlivesAClockAhead() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { _ in .text(429, "{}", headers: ["Retry-After": "3600"]) }
      #expect(await fault { try await bench.ingest("wa-fuelwatch") } is FeedError)
      bench.misbehave { request in
        guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
          return nil
        }
        return .text(status, body, type: type, headers: ["Date": "Wed, 01 Jul 2026 10:01:00 GMT"])
      }
      for days in [400, 401] as [Int64] {
        await #expect(throws: IngestError.self) {
          try await bench.ingest("wa-fuelwatch", at: Bench.end + .seconds(86_400 * days))
        }
      }
      let early = Bench.end + .seconds(1_800)
      await #expect(throws: IngestError.notBefore(Bench.end + .seconds(3_600), now: early)) {
        try await bench.ingest("wa-fuelwatch", at: early)
      }
      try await bench.ingest("wa-fuelwatch", at: Bench.end + .seconds(3_600))
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
        try bench.lines(
          "SELECT warnings LIKE 'tomorrow''s prices (2026-07-01) have been awaited since 14:30 Perth time on 2026-06-30: 0 of%' FROM fuel_v1.ingest_runs"
        ) == ["t"])
      // F-F62: whoever looks at the feed learns of it.
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(at.description), false)")
      #expect(
        try connection.lines(
          "SELECT status, why LIKE 'tomorrow''s prices (2026-07-01) have been awaited%' FROM fuel_v1.feed_health"
        ) == ["ok|t"])
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
      // An answer with one product only counts, and after a complete answer the ledger says that it
      // is short.
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
      try await bench.ingest("wa-fuelwatch", at: morning + .seconds(3 * 86_400))
      #expect(
        try bench.lines(
          "SELECT outcome, warnings LIKE '%short:%' FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1"
        ) == ["stored|t"])
    }
  }
}
