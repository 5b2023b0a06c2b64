import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing
import Timeline
import Trends

/// Tests what was known at an instant, after more has been learnt.
struct AsKnownTests {
  private static let south = Region(
    code: "NSW", name: "New South Wales", kind: "state", state: .nsw, centre: nil,
    radiusKilometres: nil)
  // Noon in Sydney.
  private static let begin = Instant("2026-05-01T02:00:00Z")

  private static func noon(_ day: Int) -> Instant { begin + .seconds(day * 86_400) }

  /// A sawtooth of twenty days: up by 30 c in four days, down again in sixteen.
  private static func tenths(_ day: Int) -> Int {
    let phase = day % 20
    return 1_600 + (phase <= 4 ? phase * 75 : (20 - phase) * 300 / 16)
  }

  private func aggregate(_ store: Store, at now: Instant) throws {
    _ = try Aggregate(
      store: store, regions: [Self.south], clock: .fixed(now), log: Logger(.error)
    ).run()
  }

  /// Stores five stations that all follow the sawtooth, read every noon for the given number of
  /// days.
  ///
  /// - Parameter first: the day from which on an aggregate follows each list.
  private func live(_ target: String, days: Int, aggregatesFrom first: Int = 0) throws -> Feed {
    let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
    for day in 0..<days {
      try feed.reports(
        ["a", "b", "c", "d", "e"].map {
          .u91($0, Self.tenths(day), Self.noon(day) - .seconds(3_600))
        }, at: Self.noon(day))
      if day >= first { try aggregate(feed.store, at: Self.noon(day) + .seconds(60)) }
    }
    return feed
  }

  /// F-G04, F-G13: a correction of a day twenty days ago changes the days concerned. The verdicts
  /// given then stay and are marked as revised. As known at that time, averages and verdicts are
  /// what they were.
  @Test func aCorrectionChangesThePastButNotWhatWasKnown() async throws {
    try await TestDatabase.with { target in
      let feed = try live(target, days: 60, aggregatesFrom: 28)
      func given(_ day: Int) throws -> [String] {
        try feed.connection.lines(
          """
          SELECT verdict, basis, rule, reason, average_cpl
          FROM fuel_v1.fill_up_history WHERE computed_at = \(Self.noon(day) + .seconds(60))::timestamptz
          """)
      }
      func average(_ day: Int) throws -> [String] {
        try feed.connection.lines(
          """
          SELECT average_cpl FROM fuel_v1.daily_averages
          WHERE day = (\(Self.noon(day))::timestamptz AT TIME ZONE 'Australia/Sydney')::date
          """)
      }
      let before = try given(45)
      #expect(before.count == 1 && before[0].contains("price_cycle"))
      let days = try (0..<60).map(average)
      // Station a had charged 60 c more from noon of day 40 to noon of day 41.
      try feed.reports(
        [.u91("a", Self.tenths(40) + 600, Self.noon(40) - .seconds(1_800))], at: Self.noon(60),
        coverage: .partial)
      try aggregate(feed.store, at: Self.noon(60) + .seconds(60))
      // The last day had not ended.
      let changed = try (0..<59).filter { try average($0) != days[$0] }
      #expect(changed == [40, 41])
      #expect(try given(45) == before)
      let revised = try feed.connection.lines(
        """
        SELECT DISTINCT day FROM fuel_v1.fill_up_history WHERE is_revised ORDER BY day
        """)
      // The verdicts that rested on these days after they had ended.
      #expect(revised == ["2026-06-11", "2026-06-12"])

      for day in [30, 41, 45, 59] {
        let known = try AsKnown(feed.store, at: Self.noon(day) + .seconds(60))
        let line = try #require(known.lines.first)
        #expect(known.lines.count == 1 && line.fuel == "U91")
        let verdict = line.verdict.judgement
        let expected = [
          verdict.advice.rawValue, verdict.basis.rawValue, verdict.rule ?? "", verdict.reason,
        ].joined(separator: "|")
        let stored = try given(day)
        #expect(stored.count == 1 && stored[0].hasPrefix(expected + "|"), "\(expected) \(stored)")
      }
    }
  }

  /// F-G13: a list that was fetched later was not known, even where it is the last list before the
  /// time that is asked for.
  @Test func aLaterListWasNotKnown() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let other = Observation.u91("b", 1_600, Self.noon(0))
      try feed.reports([.u91("a", 1_600, Self.noon(0)), other], at: Self.noon(0))
      try feed.reports([other], at: Self.noon(1))
      let station = try feed.connection.lines(
        "SELECT station_id FROM fuel.station WHERE station_code = 'a'")
      let pair = Pair(
        stationID: try #require(Int32(station[0])), fuelID: try #require(Fuel.u91.id))
      func lists(known: Instant) throws -> [Evidence.Kind] {
        let window = Window(pair: pair, from: Self.noon(2))
        let found = try feed.store.spans.evidence(of: [window], known: known)
        return (found[pair] ?? []).map(\.kind).filter { $0 != .price }
      }
      let first = try lists(known: Self.noon(0) + .seconds(60))
      let second = try lists(known: Self.noon(1) + .seconds(60))
      #expect(first == [.listed] && second == [.unlisted])
    }
  }

  /// A region that leaves the configuration loses its averages and cycles, but never its verdicts.
  @Test func aRegionMayLeave() async throws {
    try await TestDatabase.with { target in
      let feed = try live(target, days: 3)
      _ = try Aggregate(
        store: feed.store, regions: [.nation], clock: .fixed(Self.noon(3)), log: Logger(.error)
      ).run()
      #expect(
        try feed.connection.lines(
          """
          SELECT (SELECT count(*) FROM fuel.market WHERE region = 'NSW') AS markets,
            (SELECT count(*) FROM fuel_v1.daily_averages WHERE region = 'NSW') AS days,
            (SELECT count(*) > 0 FROM fuel_v1.fill_up_history WHERE region = 'NSW') AS kept
          """) == ["0|0|t"])
    }
  }

  /// F-G13: a second aggregate changes nothing, and a rebuild of everything makes the same rows.
  @Test func twiceEqualsOnce() async throws {
    try await TestDatabase.with { target in
      let feed = try live(target, days: 30)
      func rows() throws -> [String] {
        try feed.connection.lines(
          "SELECT to_jsonb(d) - 'made_at' FROM fuel.daily_rollup AS d ORDER BY 1")
          + feed.connection.lines(
            "SELECT * FROM fuel.verdict ORDER BY region, fuel_id, computed_at")
          + feed.connection.lines("SELECT * FROM fuel.station_habit ORDER BY station_id, fuel_id")
      }
      let now = Self.noon(29) + .seconds(60)
      let once = try rows()
      #expect(once.count > 60)
      try aggregate(feed.store, at: now)
      #expect(try rows() == once)
      _ = try Aggregate(
        store: feed.store, regions: [Self.south], clock: .fixed(now), log: Logger(.error)
      ).run(rebuild: true)
      #expect(try rows() == once)
    }
  }

  /// F-G11: the scores of a backtest are published. They rest on what was known the morning after
  /// each day, so a correction that came later is not part of them.
  @Test(.long) func scoresRestOnWhatWasKnown() async throws {
    try await TestDatabase.with { target in
      let feed = try live(target, days: 71, aggregatesFrom: 71)
      func scores() async throws -> [Double] {
        let markets = try storedMarkets(feed.store, now: Self.noon(71))
        let scores = await Backtest().scores(markets, advisers: [.verdicts]) { _, _ in }
        try feed.store.verdicts.keepScores(
          scores.flatMap(\.rows), of: .replayed, now: Self.noon(71))
        return scores.compactMap(\.score.headline?.saving)
      }
      try aggregate(feed.store, at: Self.noon(71))
      let before = try await scores()
      #expect(before.count == 2 && before[0] > 1)
      let published = try feed.connection.lines(
        """
        SELECT region, state, fuel, year, horizon, capture > 0.3 AS good, saving_low_cpl <= saving_cpl AS low
        FROM fuel_v1.verdict_scores
        WHERE scored = 'replayed' AND horizon > 3
        ORDER BY year, horizon
        """)
      #expect(
        published == [
          "NSW|NSW|U91|2026|5|t|t", "NSW|NSW|U91|2026|7|t|t",
          "NSW|NSW|U91|NULL|5|t|t", "NSW|NSW|U91|NULL|7|t|t",
        ])
      try feed.reports(
        ["a", "b", "c", "d", "e"].map {
          .u91($0, Self.tenths(40) + 600, Self.noon(40) - .seconds(1_800))
        }, at: Self.noon(71), coverage: .partial)
      try aggregate(feed.store, at: Self.noon(71) + .seconds(60))
      let markets = try storedMarkets(feed.store, now: Self.noon(71))
      let series = try #require(markets.first?.series)
      #expect(series[Day("2026-06-10") ?? series.first].map { abs($0 - 190) < 30 } == true)
      let after = try await scores()
      #expect(after == before)
      // A source of another state that is a day late gives no time to this one.
      try feed.connection.execute(
        """
        INSERT INTO fuel.source OVERRIDING SYSTEM VALUE
        SELECT made.*
        FROM fuel.source AS known, jsonb_populate_record(
          known, '{"source_id": 99, "source": "vic-fairfuel", "state": "VIC", "delay": "24:00:00"}') AS made
        """)
      #expect(
        try feed.connection.lines("SELECT max(delay) = '24 hours' AS late FROM fuel.source")
          == ["t"])
      try feed.reports(
        ["a", "b", "c", "d", "e"].map {
          .u91($0, Self.tenths(40) + 900, Self.noon(40) - .seconds(900))
        }, at: Self.noon(42) + .seconds(21_600), coverage: .partial)
      try aggregate(feed.store, at: Self.noon(71) + .seconds(2_000))
      #expect(try await scores() == before)
    }
  }
}
