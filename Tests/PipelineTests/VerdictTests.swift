import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Trends

struct VerdictTests {
  static let cases: [(Double, Double, String, Double?)] = [
    (170.0, 192.0, "fill_up", 22.0), (192.0, 170.0, "wait", 22.0),
    (170.0, 170.79, "no_difference", nil), (170.0, 169.21, "no_difference", nil),
    (170.0, 170.8, "fill_up", 0.8), (170.0, 169.2, "wait", 0.8),
  ]

  private let now = Instant(seconds: 1_782_900_000)

  private func market(
    today: Double?, tomorrow: Double?, stations: Int = 40, withNext: Int = 40,
    isAnnounced: Bool = true
  ) -> RegionNow {
    RegionNow(
      region: "perth", regionName: "Perth",
      announced: isAnnounced ? (now - .seconds(3_600), "14:30") : nil, fuelID: 1,
      fuelName: "unleaded 91",
      day: Zone.perth.local(now).day, dayEndsAt: now + .seconds(40_000), stations: stations,
      stationsWithNext: withNext, today: today, tomorrow: tomorrow,
      tomorrowBeginsAt: tomorrow == nil ? nil : now + .seconds(43_200))
  }

  /// A market that falls by half a cent a day, and jumps every four weeks.
  private var cycling: DailySeries {
    let last = Zone.perth.local(now).day
    return DailySeries(
      first: last + -299, averages: (0..<300).map { 180 - 0.5 * Double($0 % 28) })
  }

  /// F-G12, F-G10: tomorrow dearer, cheaper, or nearly the same, where nothing else is known.
  @Test(arguments: cases)
  func tomorrowDecides(today: Double, tomorrow: Double, verdict: String, saving: Double?) {
    let record = Verdict.judge(
      market(today: today, tomorrow: tomorrow), series: nil, now: now)
    #expect(
      record.judgement.advice.rawValue == verdict && record.judgement.basis == .tomorrowPrice
        && record.judgement.rule == "tomorrow")
    #expect(
      record.judgement.expectedSaving.map { ($0 * 100).rounded() }
        == saving.map { ($0 * 100).rounded() })
    #expect(record.validUntil == now + .seconds(43_200))
    #expect(record.judgement.reason.hasPrefix("Thursday "))
  }

  /// F-V15: the words of the reason agree with the advice, whatever becomes of the difference when
  /// both prices are rounded to tenths.
  @Test(arguments: [
    (170.0, 192.0, true, "Thursday 22.0 c/L dearer on average: 170.0 now, 192.0 then"),
    (170.06, 170.14, true, "Thursday slightly dearer on average: 170.1 now, 170.1 then"),
    (170.14, 170.06, true, "Thursday slightly cheaper on average: 170.1 now, 170.1 then"),
    (170.03, 170.06, false, "Thursday about the same on average: 170.0 now, 170.1 then"),
  ])
  func theReasonAgreesWithTheAdvice(
    today: Double, tomorrow: Double, series: Bool, reason: String
  ) {
    let record = Verdict.judge(
      market(today: today, tomorrow: tomorrow), series: series ? cycling : nil, now: now)
    #expect(record.judgement.reason == reason)
  }

  /// Where tomorrow's prices are not known for most stations, there is no advice.
  @Test func withoutTomorrowNothingIsAdvised() {
    for market in [
      market(today: nil, tomorrow: nil, withNext: 0),
      market(today: 170, tomorrow: 192, withNext: 19),
      market(today: 170, tomorrow: 192, stations: 2, withNext: 2),
      market(today: nil, tomorrow: nil, withNext: 0, isAnnounced: false),
    ] {
      let record = Verdict.judge(market, series: nil, now: now)
      #expect(
        record.judgement.advice == .noDifference && record.judgement.basis == .insufficientData)
      #expect(record.judgement.expectedSaving == nil && !record.judgement.reason.isEmpty)
      #expect(record.validUntil > now)
    }
  }

  /// Before 14:30 in Perth the verdict is valid only until then.
  @Test func beforeTheAnnouncementItHoldsUntilThen() throws {
    let day = try #require(Day("2026-07-01"))
    let morning = try Zone.perth.instant(day, hour: 9)
    var market = market(today: nil, tomorrow: nil, withNext: 0)
    market.day = day
    market.announced = (try Zone.perth.instant(day, hour: 14, minute: 30), "14:30")
    market.dayEndsAt = try Zone.perth.instant(day + 1, hour: 6)
    let record = Verdict.judge(market, series: nil, now: morning)
    #expect(record.validUntil == (try Zone.perth.instant(day, hour: 14, minute: 30)))
    #expect(record.judgement.reason == "Tomorrow's prices are published at 14:30")
  }

  /// From feeds to the published verdicts. A second aggregate without a change stores nothing new.
  @Test func verdictsArePublishedOnce() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      for feed in SimulatedFeeds.feeds { try await bench.ingest(feed) }
      let perth = Region(
        code: "perth", name: "Perth", kind: "capital", state: .wa,
        centre: Position(latitude: -31.95, longitude: 115.86), radiusKilometres: 60)
      let nation = Region(
        code: "AU", name: "Australia", kind: "nation", state: nil, centre: nil,
        radiusKilometres: nil)
      func aggregate(at instant: Instant) throws -> Aggregate.Summary {
        try Aggregate(
          store: bench.store(), regions: [perth, nation], clock: .fixed(instant), log: bench.log
        ).run()
      }
      let first = try aggregate(at: Bench.end)
      #expect(first.newVerdicts == first.verdicts && first.verdicts > 2)
      // Nobody buys fuel from a nation.
      #expect(try Connection(target).lines("SELECT DISTINCT region FROM fuel.verdict") == ["perth"])
      // After the quarter of an hour in which nothing is made again.
      #expect(try aggregate(at: Bench.end + .seconds(1_000)).newVerdicts == 0)
      let connection = try Connection(target)
      let soon = Bench.end + .seconds(1_060)
      try connection.query("SELECT set_config('bowser.now', \(soon.description), false)")
      let shown = try connection.lines(
        """
        SELECT basis, (verdict = CASE WHEN tomorrow_cpl > today_cpl THEN 'fill_up'
          WHEN tomorrow_cpl < today_cpl THEN 'wait' ELSE 'no_difference' END) AS follows
        FROM fuel_v1.fill_up WHERE region = 'perth' AND fuel = 'U91'
        """)
      #expect(shown == ["tomorrow_price|t"])
      // Each station by its own price of tomorrow.
      #expect(
        try connection.lines(
          """
          SELECT count(*) > 5 AS many, bool_and(station.verdict = CASE
            WHEN abs(tomorrow.change_cpl) < 0.5 THEN 'no_difference'
            WHEN tomorrow.change_cpl > 0 THEN 'fill_up' ELSE 'wait' END) AS right
          FROM fuel_v1.station_fill_up AS station
          JOIN fuel_v1.tomorrow_prices AS tomorrow USING (station_id, fuel)
          """) == ["t|t"])
      // A verdict that has lapsed is not shown as if it were valid.
      let later = Bench.end + .seconds(3 * 86_400)
      try connection.query("SELECT set_config('bowser.now', \(later.description), false)")
      #expect(
        try connection.lines("SELECT DISTINCT verdict, basis FROM fuel_v1.fill_up")
          == ["no_difference|insufficient_data"])
    }
  }

  /// A withdrawn list leaves no average in a verdict of the same day, nor keeps one out of it.
  @Test func aWithdrawnListLeavesNoAverage() async throws {
    let now = Instant("2026-06-30T02:00:00Z")
    func shown(withdraws: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target)
        // The others begin to sell on the next day, so that too little is known of the first.
        func list(_ stations: Int) -> [Observation] {
          (0..<stations).map {
            .u91("\($0)", 1_800 + $0, now + .seconds($0 < 3 ? -50_000 : -21_600))
          }
        }
        func aggregate(at instant: Instant) throws {
          _ = try Aggregate(
            store: feed.store, regions: [.queensland], clock: .fixed(instant), log: Logger(.error)
          ).run()
        }
        try feed.reports(list(3), at: now + .seconds(-46_800), now: now + .seconds(-46_800))
        if withdraws {
          let takenAt = now + .seconds(-21_600)
          try feed.reports(list(14), at: takenAt, now: takenAt)
          try aggregate(at: now + .seconds(-60))
          let wrong = try #require(try feed.store.ledger.ledgerRun(2))
          _ = try feed.decide(
            wrong.run, takenAt: takenAt, counts: false, now: now, refuseBelow: 0, partialBelow: 0)
        }
        try aggregate(at: now)
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines(
          "SELECT average_cpl, stations FROM fuel_v1.fill_up WHERE fuel = 'U91'")
      }
    }
    let without = try await shown(withdraws: false)
    #expect(without == ["180.10|3"])
    let with = try await shown(withdraws: true)
    #expect(with == without)
  }

  /// F-G38: a station follows its region, unless it stands ten cents above or below its usual place.
  /// There is no advice for less than half a cent.
  @Test func stationsFollowTheirRegion() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let connection = try Connection(target)
      let now = Instant("2026-06-30T03:00:00Z")
      try feed.reports(
        [1_700, 1_850].enumerated().map { .u91("\($0)", $1, now + .seconds(-600)) },
        at: now + .seconds(-300), now: now + .seconds(-300))
      _ = try Aggregate(
        store: feed.store, regions: [.queensland], clock: .fixed(now), log: Logger(.error)
      ).run()
      try connection.query("SELECT set_config('bowser.now', \(now.description), false)")
      try connection.execute(
        """
        INSERT INTO fuel.station_habit (station_id, fuel_id, region, difference_cpl, days, until_day)
        SELECT station_id, fuel_id, 'QLD', 0, 60, '2026-06-29' FROM fuel.station, fuel.fuel WHERE fuel = 'U91'
        ON CONFLICT DO NOTHING
        """)
      /// The verdicts of the stations at 170.0 and at 185.0 c/L.
      func shown(
        _ advice: Advice, _ rule: String, saving: String, average: String
      ) throws -> [String] {
        try connection.query(
          """
          INSERT INTO fuel.verdict (
            region, fuel_id, computed_at, day, verdict, basis, rule, method, reason, stations, valid_until_at,
            average_cpl, expected_saving_cpl)
          SELECT 'QLD', fuel_id, \(now), '2026-06-30', \(advice.rawValue), 'price_cycle', \(rule), 'a-method', 'a test',
            4, \(now + .seconds(3_600)), \(average)::numeric, nullif(\(saving), '')::numeric
          FROM fuel.fuel WHERE fuel = 'U91'
          ON CONFLICT ON CONSTRAINT verdict_pk DO UPDATE SET
            verdict = excluded.verdict, rule = excluded.rule, average_cpl = excluded.average_cpl,
            expected_saving_cpl = excluded.expected_saving_cpl
          """)
        return try connection.lines(
          "SELECT verdict FROM fuel_v1.station_fill_up ORDER BY today_cpl, station_id")
      }
      #expect(try shown(.fillUp, "turn", saving: "2", average: "175.1") == ["fill_up", "fill_up"])
      #expect(try shown(.fillUp, "turn", saving: "2", average: "175.0") == ["fill_up", "wait"])
      #expect(try shown(.wait, "slope", saving: "2", average: "179.9") == ["wait", "wait"])
      #expect(try shown(.wait, "slope", saving: "2", average: "180.0") == ["fill_up", "wait"])
      #expect(try shown(.fillUp, "weekday", saving: "2", average: "175") == ["fill_up", "fill_up"])
      #expect(
        try shown(.noDifference, "", saving: "", average: "175")
          == ["no_difference", "no_difference"])
      #expect(try shown(.wait, "turn", saving: "0.5", average: "175") == ["wait", "wait"])
      #expect(
        try shown(.wait, "turn", saving: "0.49", average: "175")
          == ["no_difference", "no_difference"])
    }
  }

  /// Verdicts are scored as they were given, once a day. The last verdict of a day counts, and its
  /// chances are compared with what happened.
  @Test func givenVerdictsAreScored() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      // A sawtooth of two days: alternately 180 and 178 c/L.
      try connection.execute(
        """
        INSERT INTO fuel.region (region, name, kind, state) VALUES ('NSW', 'New South Wales', 'state', 'NSW');
        INSERT INTO fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended,
          is_usable)
        SELECT 'NSW', fuel_id, date '2026-04-01' + number, price, price, price, price, price, 10, 1, true, true
        FROM fuel.fuel, generate_series(0, 59) AS number, LATERAL (SELECT 180 - 2 * (number % 2)) AS tooth (price)
        WHERE fuel = 'U91';
        INSERT INTO fuel.verdict (
          region, fuel_id, computed_at, day, verdict, basis, method, reason, stations, valid_until_at, p_cheaper_3d,
          p_jump_3d, p_lower_5d)
        SELECT 'NSW', fuel_id, at, day,
          CASE WHEN is_last = (number % 2 = 0) THEN 'wait' ELSE 'fill_up' END, 'price_cycle', 'a-method', 'a test', 10,
          at + interval '1 day', CASE WHEN number % 2 = 0 THEN 0.95 ELSE 0.05 END, 0.15, 0.55
        FROM fuel.fuel, generate_series(20, 59) AS number, LATERAL (SELECT date '2026-04-01' + number) AS day (day),
          (VALUES (false, 1), (true, 2)) AS turn (is_last, hour),
          LATERAL (SELECT day::timestamp AT TIME ZONE 'UTC' + hour * interval '1 hour') AS at (at)
        WHERE fuel = 'U91'
        """)
      let store = Store(try Connection(target))
      let last = try #require(Day("2026-05-30"))
      let now = try #require(Instant(iso: "2026-05-31T03:00:00Z"))
      try GivenVerdicts.score(store, method: "a-method", upTo: last, now: now)
      let rows = """
        SELECT horizon, days, perfect_cpl, saving_cpl, saving_low_cpl, capture, wait_share, wait_right, fill_up_right,
          flips_30d, from_on, until_on
        FROM fuel_v1.verdict_scores
        WHERE scored = 'given' AND method = 'a-method' AND year IS NULL ORDER BY horizon
        """
      let scores = try connection.lines(SQL(stringLiteral: rows))
      let rest = "|1.00|1.00|1.00|1.000|0.500|1.000|1.000|29.25|2026-04-21|2026-05-30"
      #expect(
        scores == [
          "3|37\(rest)", "5|35\(rest)", "7|33\(rest)",
        ])
      // Every habit is scored over the same days, and only what the verdicts might have saved is
      // possible.
      #expect(
        try connection.lines(
          """
          SELECT method FROM fuel_v1.verdict_scores
          WHERE scored = 'given' AND horizon = 5 AND days = 35 AND perfect_cpl = 1 AND saving_cpl <= 1
          ORDER BY array_position(\(["a-method"] + Adviser.habits.map(\.rawValue))::text[], method)
          """) == ["a-method"] + Adviser.habits.map(\.rawValue))
      #expect(
        try connection.lines(
          "SELECT event, decile, stated, real, days FROM fuel_v1.verdict_calibration ORDER BY 1, 2")
          == [
            "cheaper_3d|1|0.050|0.000|18", "cheaper_3d|10|0.950|1.000|19",
            "jump_3d|2|0.150|0.000|37", "lower_5d|6|0.550|0.514|35",
          ])
      // Once a day.
      try connection.execute("DELETE FROM fuel.verdict")
      try GivenVerdicts.score(store, method: "a-method", upTo: last, now: now)
      #expect(try connection.lines(SQL(stringLiteral: rows)) == scores)
    }
  }
}
