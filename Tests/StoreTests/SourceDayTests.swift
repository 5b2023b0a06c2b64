import FuelModel
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// Which price days a feed covers, brought up to date step by step.
struct SourceDayTests {
  private static let begin = Instant("2026-03-20T00:00:00Z")

  /// F-S23, F-V23: lists come in any order, with silences between them, and some are withdrawn and count
  /// again. After each step the days are those that the lists of all time lead to.
  @Test(.longer, arguments: 0..<Long.count("SOURCE_DAY_SEEDS", short: 2, long: 8))
  func stepsLeadWhereAllListsLead(seed: Int) async throws {
    var random = Random(seed: UInt64(seed), "source days")
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "nsw-fuelcheck", state: .nsw, sightLapsesHours: random.integer(12...50))
      var runs: [(run: RunID, at: Instant)] = []
      var clock = Self.begin
      for step in 0..<40 {
        switch random.integer(0...9) {
        case 0 where !runs.isEmpty:
          let (run, at) = runs[random.integer(0...(runs.count - 1))]
          let outcome = try #require(try feed.store.ledger.ledgerRun(run.number)).outcome
          guard outcome != "refused" else { break }
          _ = try feed.decide(
            run, takenAt: at, counts: outcome == "withdrawn", now: clock, refuseBelow: 0.7,
            partialBelow: 0.95)
        case 1...6:
          clock = clock + .seconds(random.integer(3_600...(random.chance(0.2) ? 900_000 : 90_000)))
          // Most lists are the newest, some are late.
          let at = random.chance(0.8) ? clock : clock - .seconds(random.integer(0...2_000_000))
          let isList = random.chance(0.85)
          do {
            try feed.reports(
              (10..<random.integer(26...31)).map { .u91("\($0)", 1_850 + step, at - .seconds(60)) },
              at: at, now: clock, coverage: isList ? .complete : .partial, refuseBelow: 0.7,
              partialBelow: 0.95)
          } catch is Refusal {} catch is BelievedNow {}
          let newest = Int(try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]) ?? 0
          if let run = try feed.store.ledger.ledgerRun(newest)?.run { runs.append((run, at)) }
        default:
          // A clock may also go back.
          let now = clock + .seconds(random.integer(-200_000...200_000))
          try feed.store.days.refreshSourceDays(now: now)
          let stepwise = try days(feed)
          try feed.connection.execute("UPDATE fuel.source SET days_known_until_at = NULL")
          try feed.store.days.refreshSourceDays(now: now)
          #expect(try days(feed) == stepwise, "step \(step) of seed \(seed)")
        }
      }
      try feed.store.days.refreshSourceDays(now: clock)
      #expect(try days(feed).count > 10)
    }
  }

  private func days(_ feed: Feed) throws -> [String] {
    try feed.connection.lines("SELECT day, coalesce(why, '-') FROM fuel.source_day ORDER BY day")
  }
}
