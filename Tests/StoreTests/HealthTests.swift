import FuelModel
import Postgres
import Store
import TestDatabase
import Testing

/// What `feed_health` and `pipeline` say about feeds and runs.
struct HealthTests {
  private func hour(_ hours: Int) -> Instant {
    Instant("2026-05-04T00:00:00Z") + .seconds(hours * 3_600)
  }

  /// F-O31: a list of a feed that publishes a day late is a day old when it is fetched. Once its
  /// prices have lapsed, the feed is stale.
  @Test func aLateFeedIsStaleOnceItsPricesLapse() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "vic-fairfuel", state: .vic, sightLapsesHours: 48, delayHours: 24)
      try feed.reports((0..<3).map { .u91("\($0)", 1_800, hour(-30)) }, at: hour(0))
      func health(_ now: Instant) throws -> [String] {
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines(
          "SELECT status, since_at, prices FROM fuel_v1.feed_health")
      }
      #expect(try health(hour(23)) == ["late|2026-05-04 02:00:00+00|3"])
      #expect(try health(hour(25)) == ["stale|2026-05-05 00:00:00+00|0"])
    }
  }

  /// F-O32: whoever looks at `newest_change_number` learns of a withdrawal, which is in `changes`.
  @Test func aWithdrawalHasTheNewestNumber() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func numbers() throws -> [String] {
        try feed.connection.lines(
          """
          SELECT newest_change_number, (SELECT max(change_number) FROM fuel_v1.changes)
          FROM fuel_v1.pipeline
          """)
      }
      #expect(try numbers() == ["NULL|NULL"])
      for step in 0...1 {
        try feed.reports([.u91("1", 1_800 + 10 * step, hour(step))], at: hour(step))
      }
      #expect(try numbers() == ["2|2"])
      let wrong = try #require(try feed.store.ledger.ledgerRun(2))
      _ = try feed.decide(
        wrong.run, takenAt: hour(1), counts: false, now: hour(2), refuseBelow: 0, partialBelow: 0)
      #expect(try numbers() == ["3|3"])
    }
  }

  /// F-O33: the last attempt is when the last run began, and not when its documents arrived.
  @Test func anAttemptIsWhenItsRunBegan() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func attempt() throws -> [String] {
        try feed.connection.lines(
          "SELECT last_success_at, last_attempt_at FROM fuel_v1.feed_health")
      }
      #expect(try attempt() == ["NULL|NULL"])
      try feed.reports([.u91("1", 1_800, hour(-1))], at: hour(0) + .seconds(90), now: hour(0))
      #expect(try attempt() == ["2026-05-04 00:01:30+00|2026-05-04 00:00:00+00"])
      _ = try feed.store.ledger.beginRun(feed.id, at: hour(1))
      #expect(try attempt() == ["2026-05-04 00:01:30+00|2026-05-04 01:00:00+00"])
    }
  }
}
