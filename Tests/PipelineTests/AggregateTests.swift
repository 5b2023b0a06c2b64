import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing
import Timeline

/// Tests what makes an aggregate due. The test changes the stored averages, to detect whether they
/// are made again.
struct AggregateTests {
  // Twenty minutes before the price day ends in Queensland.
  private static let now = Instant("2026-06-30T13:40:00Z")

  private final class Bench {
    let feed: Feed
    let connection: Connection

    init(_ target: String) throws {
      feed = try Feed(target)
      connection = try Connection(target)
      try report(1_700, at: AggregateTests.now + .seconds(-60))
    }

    func report(_ tenths: Int, at instant: Instant) throws {
      try feed.reports(
        (0..<4).map { .u91("\($0)", tenths, instant + .seconds(-60)) }, at: instant, now: instant)
    }

    /// Returns whether an aggregate makes what follows from the present again.
    func makes(
      after seconds: Int64 = 0, rebuild: Bool = false, regions: [Region] = [.queensland, .nation]
    ) throws -> Bool {
      try connection.execute("UPDATE fuel.region_change SET as_of_at = '-infinity'")
      _ = try Aggregate(
        store: feed.store, regions: regions,
        clock: .fixed(AggregateTests.now + .seconds(seconds)), log: Logger(.error)
      ).run(rebuild: rebuild)
      return try connection.lines(
        "SELECT FROM fuel.region_change WHERE as_of_at > '-infinity' AND region = 'QLD'"
      ).count == 1
    }
  }

  private static let changes = [
    "UPDATE fuel.present_span SET price_tenths = 999",
    "DELETE FROM fuel.present_span",
    """
    INSERT INTO fuel.present_span (
      station_id, fuel_id, from_at, until_at, lapses_at, is_open, is_ended, price_tenths, source_id, seen_by,
      stated_at, learnt_at)
    SELECT station_id, 2, from_at, until_at, lapses_at, is_open, is_ended, price_tenths, source_id, seen_by, stated_at,
      learnt_at
    FROM fuel.present_span
    """,
    "UPDATE fuel.daily_rollup SET day = day + 400",
    "UPDATE fuel.daily_rollup SET day = day - 400",
    "UPDATE fuel.source SET last_taken_at = '2027-06-01', first_taken_at = '2027-06-01'",
    "UPDATE fuel.source SET first_taken_at = '2001-01-01'",
    "UPDATE fuel.source SET last_listed_at = '2028-01-01'",
    "UPDATE fuel.source SET changes = 9223372036854775807",
    "UPDATE fuel.station SET first_seen_at = '2027-01-01'",
    "UPDATE fuel.station SET first_seen_at = '2001-01-01'",
    "UPDATE fuel.shown_price SET price_tenths = 1, stamped_at = '2028-01-01', is_listed = false",
    """
    SELECT fuel.drop_facts(
      source_id, array_agg(0::smallint), array_agg(station_id), array_agg(fuel_id), array_agg(effective_at),
      array_agg(price_tenths), array_agg(run_id))
    FROM fuel.price GROUP BY source_id
    """,
    """
    INSERT INTO fuel.price (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
    SELECT station_id, fuel_id, source_id, effective_at + interval '1 minute', 999, run_id, learnt_at FROM fuel.price
    """,
    """
    INSERT INTO fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, run_id)
    SELECT station_id, fuel_id, source_id, changed_at + interval '1 minute', false, run_id FROM fuel.listing
    """,
  ]

  /// F-N60: what a stolen writer login changed is as it was after a rebuild, and the next run is
  /// stored.
  @Test(.longer, arguments: Long.some(changes, short: 4))
  func aRebuildHealsWhatAWriterChanged(by statement: String) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try bench.report(1_690, at: Self.now - .seconds(2 * 86_400))
      #expect(try bench.makes())
      let now = Self.now + .seconds(60)
      func shown() throws -> [String] {
        try bench.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try [
          "current_prices", "price_history", "daily_averages", "coverage", "stations",
          "averages_now",
        ].flatMap { view in
          try bench.connection.lines(
            SQL(
              stringLiteral: "SELECT to_jsonb(v) - 'as_of_at' FROM fuel_v1.\(view) AS v ORDER BY 1")
          )
        }
          + bench.connection.lines(
            "SELECT station_id, fuel_id, from_at, price_tenths FROM fuel.present_span ORDER BY 1, 2"
          )
      }
      let before = try shown()
      #expect(before.count > 20)
      try bench.connection.execute("SET ROLE fuel_writer")
      try bench.connection.execute("\(statement)")
      try bench.connection.execute("RESET ROLE")
      #expect(try bench.makes(rebuild: true))
      let difference = firstDifference(try shown(), before)
      #expect(difference == nil, "\(difference ?? "")")
      try bench.report(1_710, at: now)
    }
  }

  /// Where nothing arrived and what is shown is still valid, an aggregate only records that it ran.
  @Test func withNothingNewNothingIsMade() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      #expect(try bench.makes())
      #expect(try !bench.makes())
      #expect(try !bench.makes(after: 14 * 60))
      #expect(
        try bench.connection.lines("SELECT outcome, days > 0 FROM fuel.aggregate_run ORDER BY 1, 2")
          == ["done|f", "done|f", "done|t"])
      #expect(try bench.makes(after: 15 * 60))
      #expect(try bench.makes(rebuild: true))
    }
  }

  /// A price day of Western Australia runs until six in the morning there.
  @Test func theLastDayHasEndedEverywhere() {
    let west = Region(
      code: "WA", name: "Western Australia", kind: "state", state: .wa, centre: nil,
      radiusKilometres: nil)
    func last(_ instant: String, _ regions: [Region]) -> String {
      "\(Aggregate.lastDay(regions, now: Instant(instant)))"
    }
    #expect(last("2026-07-01T14:30:00Z", [.queensland]) == "2026-07-01")
    // Half past midnight, and a minute before and after six in Perth.
    #expect(last("2026-07-01T16:30:00Z", [.queensland, west, .nation]) == "2026-06-30")
    #expect(last("2026-07-01T21:59:00Z", [.queensland, west, .nation]) == "2026-06-30")
    #expect(last("2026-07-01T22:01:00Z", [.queensland, west, .nation]) == "2026-07-01")
    #expect(last("2026-07-01T22:01:00Z", [.nation]) == "2026-06-30")
  }

  /// Whatever arrived or was left over is made at once.
  @Test(arguments: [
    "INSERT INTO fuel.due SELECT 'averages', date '2026-06-01' - '1970-01-01', 1, '2026-06-30', '2026-06-30'",
    "UPDATE fuel.source SET changes = changes + 1",
    "SELECT fuel.confirm_price((SELECT min(station_id) FROM fuel.station), 'U91', 170.0)",
    "INSERT INTO fuel.due SELECT 'months', 20605, source_id, '2026-06-01', '2026-06-01' FROM fuel.source",
    """
    INSERT INTO fuel.due
    SELECT 'days', station_id, fuel_id, '2026-06-01', '2026-06-01' FROM fuel.present_span
    """,
    "UPDATE fuel.verdict SET valid_until_at = '2026-06-30T13:40:30Z'",
    "UPDATE fuel.aggregate_run SET outcome = 'interrupted'",
  ])
  func whatCameIsMade(_ statement: String) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      #expect(try bench.makes())
      try bench.connection.execute(statement)
      #expect(try bench.makes(after: 60))
      #expect(try !bench.makes(after: 60))
    }
  }

  /// The copy of the present has moved on to prices that have begun.
  @Test func thePresentMovesOn() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let next = Self.now + .seconds(600)
      try bench.feed.reports(
        (0..<4).flatMap { number -> [Observation] in
          [
            .u91("\(number)", 1_700 + 10 * number, Self.now + .seconds(-60)),
            .u91("\(number)", 1_800 + 10 * number, next),
          ]
        }, at: Self.now)
      #expect(try bench.makes(after: 660))
      try bench.connection.execute("SET bowser.now = '\(Self.now + .seconds(660))'")
      let copies = try bench.connection.lines(
        """
        SELECT price_tenths, from_at, next_from_at FROM fuel.present_span ORDER BY station_id
        """)
      #expect(copies == [1_800, 1_810, 1_820, 1_830].map { "\($0)|2026-06-30 13:50:00+00|NULL" })
      #expect(
        try bench.connection.lines("SELECT average_cpl FROM fuel_v1.averages_now ORDER BY region")
          == ["181.50", "181.50"])
    }
  }

  /// F-K13: what arrives while an aggregate reads a copy of the present is not in what it makes, so
  /// another one is due.
  @Test func whatArrivesMeanwhileIsNotHidden() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let store = bench.feed.store
      #expect(try bench.makes())
      let run = try store.ledger.beginAggregate(at: Self.now)
      #expect(try !store.ledger.isAggregateDue(run, now: Self.now))
      try store.verdicts.withPricesNow(now: Self.now) {
        try bench.connection.execute("UPDATE fuel.source SET changes = changes + 1")
        try store.verdicts.refreshChanges(of: run, now: Self.now)
      }
      try store.ledger.finishAggregate(run, at: Self.now, days: 0, verdicts: 0, newVerdicts: 0)
      #expect(
        try store.ledger.isAggregateDue(
          try store.ledger.beginAggregate(at: Self.now), now: Self.now))
    }
  }

  /// A station counts in the share that has raised its price if it had a price at both times.
  @Test func sharesAreOfStationsWithBothPrices() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let day = try #require(Day("2026-06-30"))
      let now = Self.now + .seconds(86_400)
      // From 170.0: two by five cents and more, two by less, and one that had no price.
      try bench.feed.reports(
        [1_750, 1_800, 1_749, 1_700, 1_900].enumerated().map { number, tenths in
          .u91("\(number)", tenths, now + .seconds(-60))
        }, at: now)
      try bench.feed.aggregate(at: now)
      let shares = try bench.feed.store.verdicts.withPricesNow(now: now) {
        try bench.feed.store.verdicts.sharesRaised(
          ["QLD", "AU"].map { (region: $0, fuelID: Int16(1), troughOn: day) })
      }
      let fuelID = try bench.connection.lines("SELECT fuel_id FROM fuel.fuel WHERE fuel = 'U91'")
      #expect(fuelID == ["1"])
      #expect(shares == ["QLD 1": 0.5, "AU 1": 0.5])
    }
  }

  /// F-G23: a verdict over several states does not count the stations of a state that publishes late.
  @Test func lateStationsAreNotThoseOfNow() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let late = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      let stamp = Self.now + .seconds(-25 * 3_600)
      try late.reports((0..<3).map { .u91("\($0)", 1_700, stamp) }, at: Self.now)
      try bench.feed.aggregate(at: Self.now)
      let markets = try bench.feed.store.verdicts.withPricesNow(now: Self.now) {
        try bench.feed.store.verdicts.regionsNow()
      }
      #expect(markets.map { "\($0.region) \($0.stations)" }.sorted() == ["AU 4", "QLD 4"])
      try bench.connection.execute("SET bowser.now = '\(Self.now)'")
      #expect(
        try bench.connection.lines(
          "SELECT region, stations, excluded_delayed FROM fuel_v1.averages_now ORDER BY region")
          == ["AU|4|3", "QLD|4|0"])
    }
  }

  /// F-T13: a rise just after a trough counts, although clocks change between it and now.
  @Test func aShareIsCountedFromTheEndOfADay() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      // The day ends at 13:00 UTC by the nation's clock, and at 14:00 from the next day on.
      let trough = try #require(Day("2026-04-04"))
      for (tenths, text) in [(1_700, "2026-04-04T12:00:00Z"), (1_800, "2026-04-04T13:30:00Z")] {
        let stamp = Instant(text)
        try feed.reports(
          (0..<4).map { .u91("\($0)", tenths, stamp) }, at: stamp + .seconds(600))
      }
      let now = Instant("2026-04-06T00:00:00Z")
      try feed.aggregate(at: now)
      let shares = try feed.store.verdicts.withPricesNow(now: now) {
        try feed.store.verdicts.sharesRaised([(region: "AU", fuelID: 1, troughOn: trough)])
      }
      #expect(shares == ["AU 1": 1])
    }
  }

  /// F-G19: a station outside of the capitals is compared with the rest of its state, whose verdict
  /// it follows, and not with the whole state.
  @Test func theUsualDifferenceIsThatToTheNearestRegion() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      var rest = Region.queensland
      (rest.code, rest.kind) = ("qld-rest", "rest")
      let now = Self.now + .seconds(86_400)
      try bench.report(1_710, at: now)
      try bench.feed.aggregate(at: now, regions: [.queensland, .nation, rest])
      let day = try #require(Day("2026-06-30"))
      try bench.feed.store.days.refreshHabits(from: day, to: day, leastDays: 1)
      #expect(
        try bench.connection.lines("SELECT region FROM fuel.station_habit")
          == Array(repeating: "qld-rest", count: 4))
    }
  }

  /// F-G20: of an even number of days, the median lies between two hundredths of a cent, and half of
  /// one is rounded away from zero.
  @Test(arguments: [([3, 4], "4"), ([-3, -4], "-4"), ([-1, 2], "1"), ([-2, 1], "-1")])
  func theMedianIsRoundedAwayFromZero(differences: [Int], usual: String) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let now = Self.now + .seconds(2 * 86_400)
      try bench.report(1_710, at: now)
      try bench.feed.aggregate(at: now)
      let first = try #require(Day("2026-06-30"))
      for (position, difference) in differences.enumerated() {
        try bench.connection.query(
          """
          UPDATE fuel.daily_rollup SET
            average_cpl = (17000 - \(difference)::integer) / 100.0,
            min_cpl = 0, max_cpl = 1000
          WHERE region = 'QLD' AND day = \(first + position)::date
          """)
      }
      try bench.feed.store.days.refreshHabits(
        from: first, to: first + 1, leastDays: 2)
      #expect(
        try bench.connection.lines(
          "SELECT DISTINCT (difference_cpl * 100)::integer FROM fuel.station_habit") == [usual])
    }
  }

  @Test func listsAreMade() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      #expect(try bench.makes())
      // No price differs; the prices are only seen again.
      try bench.report(1_700, at: Self.now + .seconds(30))
      #expect(try bench.makes(after: 60))
    }
  }

  @Test func otherRegionsAreMade() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      #expect(try bench.makes())
      var north = Region.queensland
      north.code = "north"
      #expect(try bench.makes(regions: [.queensland, .nation, north]))
      #expect(
        try bench.connection.lines("SELECT DISTINCT region FROM fuel.region_change ORDER BY 1")
          == ["AU", "QLD", "north"])
      #expect(try bench.makes(regions: [.queensland, .nation]))
      #expect(
        try bench.connection.lines("SELECT DISTINCT region FROM fuel.region_change ORDER BY 1")
          == ["AU", "QLD"])
    }
  }

  /// The averages of a price day that has ended are made at once, even if nothing arrived.
  @Test func aDayThatEndsIsMade() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      #expect(try bench.makes(after: 15 * 60))
      #expect(try !bench.makes(after: 20 * 60 - 1))
      #expect(try bench.makes(after: 20 * 60))
      #expect(
        try bench.connection.lines(
          "SELECT bool_and(is_ended) FROM fuel.daily_rollup WHERE region = 'QLD' AND day = '2026-06-30'"
        ) == ["t"])
    }
  }

  /// The cycles of the whole history are stored. They are looked for once a day, and at once for
  /// every fuel of which past days were made again. Only those that differ are written.
  @Test func allCyclesAreKept() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let day: Int64 = 86_400
      _ = try bench.makes()
      // The days of June are made here, and none of them again.
      _ = try bench.makes(after: day)
      // Cycles of 24 days, from 160 to 190 and back, until two days before now. The last one is on
      // its way down to the 170 that the feed reports.
      try bench.connection.execute(
        """
        INSERT INTO fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended,
          is_usable)
        SELECT 'QLD', fuel_id, date '2026-06-28' - 1193 + number, price, price, price, price, price, 4, 1, true, true
        FROM fuel.fuel, generate_series(0, 1193) AS number, LATERAL (
          SELECT CASE WHEN number % 24 <= 4 THEN 160 + 7.5 * (number % 24) ELSE 160 + 1.5 * (24 - number % 24) END
        ) AS tooth (price)
        WHERE fuel IN ('U91', 'P98', 'DL')
        """)
      func summary(of fuel: String = "U91") throws -> [String] {
        try bench.connection.lines(
          """
          SELECT count(*) AS cycles, min(length_days) AS shortest, max(length_days) AS longest, min(amplitude_cpl) AS least,
            max(amplitude_cpl) AS most
          FROM fuel_v1.cycles WHERE region = 'QLD' AND fuel = \(fuel)
          """)
      }
      func written() throws -> [String] {
        try bench.connection.lines(
          """
          SELECT trough_on, xmin::text AS written_by, xmax::text AS locked_by
          FROM fuel.cycle ORDER BY region, fuel_id, trough_on
          """)
      }
      _ = try bench.makes(after: 2 * day)
      // The first trough is the beginning of the history, and the last cycle has no end yet.
      let found = try summary()
      #expect(found == ["48|24|24|30.00|30.00"])
      let first = try written()
      _ = try bench.makes(after: 2 * day + 1_800)
      _ = try bench.makes(after: 3 * day)
      #expect(try written() == first)
      try bench.connection.execute(
        """
        UPDATE fuel.daily_rollup SET average_cpl = 195, max_cpl = 195
        WHERE region = 'QLD' AND fuel_id = 1 AND day = date '2026-06-28' - 1193 + 244
        """)
      _ = try bench.makes(after: 4 * day)
      #expect(try summary() == ["48|24|24|30.00|35.00"])
      let later = try written()
      let changed = zip(first, later).filter { $0 != $1 }.count
      #expect(later.count == first.count && changed == 1)
      // After an aggregate that did not end well, they are looked for at once.
      try bench.connection.execute(
        """
        UPDATE fuel.daily_rollup SET average_cpl = 190, max_cpl = 190 WHERE average_cpl = 195;
        UPDATE fuel.aggregate_run SET outcome = 'interrupted'
        """)
      _ = try bench.makes(after: 3 * day + 60)
      #expect(try summary() == ["48|24|24|30.00|30.00"])
      // The days of two peaks are made again, which removes their averages, since no price of them
      // is known. No day of diesel is made again, so its cycles are not looked for.
      try bench.connection.execute(
        """
        INSERT INTO fuel.due
        SELECT 'averages', date_trunc('month', day::timestamp)::date - date '1970-01-01', fuel_id, day, day
        FROM fuel.fuel, LATERAL (
          SELECT date '2026-06-28' - 1193 + CASE fuel WHEN 'U91' THEN 484 ELSE 724 END AS day
        ) AS peak
        WHERE fuel IN ('U91', 'P98');
        DELETE FROM fuel.daily_rollup
        USING fuel.fuel
        WHERE daily_rollup.fuel_id = fuel.fuel_id AND fuel = 'DL' AND day = date '2026-06-28' - 1193 + 964
        """)
      _ = try bench.makes(after: 3 * day + 120)
      for fuel in ["U91", "P98"] { #expect(try summary(of: fuel) == ["48|24|24|28.50|30.00"]) }
      #expect(try summary(of: "DL") == ["48|24|24|30.00|30.00"])
      _ = try bench.makes(after: 4 * day)
      for fuel in ["U91", "P98", "DL"] {
        #expect(try summary(of: fuel) == ["48|24|24|28.50|30.00"])
      }
      // Averages that are gone leave no cycles behind.
      try bench.connection.execute("DELETE FROM fuel.daily_rollup WHERE day < date '2026-06-29'")
      _ = try bench.makes(after: 5 * day)
      #expect(try summary() == ["0|NULL|NULL|NULL|NULL"])
    }
  }

  /// F-N50: an aggregate with a clock that was weeks ahead leaves no trace once the clock is right
  /// again.
  @Test(.longer) func aClockThatWasAheadIsTakenBack() async throws {
    let rounds = Long.count(short: 16, long: 28)
    func answers(isAhead: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target)
        let connection = try Connection(target)
        let begin = Instant("2026-06-26T01:00:00Z")
        func aggregate(at instant: Instant) throws {
          _ = try Aggregate(
            store: feed.store, regions: [.queensland, .nation], clock: .fixed(instant),
            log: Logger(.error)
          ).run()
        }
        var prices = [1_700, 1_710, 1_720, 1_730]
        var changedAt = Array(repeating: begin, count: 4)
        for round in 0..<rounds {
          let at = begin + .seconds(Int64(round) * 43_200)
          // One of three prices changes; the others stay for days.
          prices[round % 3] += round % 2 == 0 ? 30 : -20
          changedAt[round % 3] = at
          try feed.reports(
            (0..<4).map { .u91("\($0)", prices[$0], changedAt[$0]) }, at: at, now: at)
          try aggregate(at: at + .seconds(60))
          if isAhead, round == 6 { try aggregate(at: at + .seconds(20 * 86_400)) }
        }
        let end = begin + .seconds(Int64(rounds - 1) * 43_200 + 600)
        try aggregate(at: end)
        try connection.query("SELECT set_config('bowser.now', \(end.description), false)")
        var lines: [String] = []
        for view in ["daily_averages", "station_days", "coverage", "averages_now", "trend_30d"] {
          lines += try connection.lines(
            SQL(
              stringLiteral:
                "SELECT '\(view)', to_jsonb(shown)::text FROM fuel_v1.\(view) AS shown ORDER BY 2"))
        }
        return lines
      }
    }
    let expected = try await answers(isAhead: false)
    #expect(expected.count > 60)
    let difference = firstDifference(try await answers(isAhead: true), expected)
    #expect(difference == nil, "\(difference ?? "")")
  }
}
