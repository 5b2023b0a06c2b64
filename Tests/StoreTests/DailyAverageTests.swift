import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Daily averages that were worked out by hand.
struct DailyAverageTests {
  private func day(_ feed: Feed, _ day: String, region: String = "QLD") throws -> [String] {
    try feed.connection.lines(
      """
      SELECT average_cpl, min_cpl, max_cpl, stations, coverage, is_complete
      FROM fuel_v1.daily_averages WHERE region = \(region) AND day = \(day)::date
      """)
  }

  /// Days in Brisbane begin at 14:00 UTC. Three stations with a constant price make sure that there
  /// is an average.
  private func quiet(_ price: Int, since: Instant) -> [Observation] {
    ["a", "b", "c"].map { Observation.u91($0, price, since) }
  }

  /// F-G02, F-V12: a station that changes its price forty times a day counts as much as one that
  /// never does.
  @Test func aBusyStationCountsOnce() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      try feed.says(quiet(1800, since: begin - .seconds(86_400)), at: begin - .seconds(3600))
      // The price alternates between 160.0 and 200.0 forty times, every 36 minutes.
      for turn in 0..<40 {
        let at = begin + .seconds(turn * 2160)
        try feed.says(
          quiet(1800, since: begin - .seconds(86_400))
            + [.u91("busy", turn % 2 == 0 ? 1600 : 2000, at)], at: at)
      }
      try feed.aggregate(at: begin + .seconds(90_000))
      #expect(try day(feed, "2026-07-01") == ["180.00|180.00|180.00|4|1.000|t"])
    }
  }

  /// F-G06: a station that appears at noon counts with its half day, and `coverage` shows this.
  @Test func aStationBornAtNoon() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      let old = quiet(1800, since: begin - .seconds(86_400))
      try feed.says(old, at: begin - .seconds(3600))
      try feed.says(
        old + [.u91("new", 2000, begin + .seconds(43_200))], at: begin + .seconds(43_260))
      try feed.says(
        old + [.u91("new", 2000, begin + .seconds(43_200))], at: begin + .seconds(86_000))
      try feed.aggregate(at: begin + .seconds(90_000))
      // The average is (3 × 180 + 200) / 4, and the coverage (3 + 0.5) / 4.
      #expect(try day(feed, "2026-07-01") == ["185.00|180.00|200.00|4|0.875|t"])
    }
  }

  /// A station that stops selling at six in the morning counts with its quarter of the day.
  @Test func aStationThatStopsSelling() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      let old = quiet(1800, since: begin - .seconds(86_400))
      try feed.says(old + [.u91("x", 2000, begin - .seconds(900))], at: begin - .seconds(600))
      try feed.says(old + [.u91("x", 0, begin + .seconds(21_600))], at: begin + .seconds(21_660))
      try feed.aggregate(at: begin + .seconds(90_000))
      #expect(try day(feed, "2026-07-01") == ["185.00|180.00|200.00|4|0.813|t"])
    }
  }

  /// In Western Australia a day runs from 06:00 to 06:00, so each day has exactly one price.
  @Test func theWesternAustralianDayBeginsAtSix() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      // 06:00 in Perth on 2 July is 22:00 UTC on 1 July.
      let six = Instant("2026-07-01T22:00:00Z")
      let today = quiet(1700, since: six)
      let tomorrow = quiet(1900, since: six + .seconds(86_400))
      try feed.says(today + tomorrow, at: six + .seconds(36_000), coverage: .partial)
      let western = Region(
        code: "WA", name: "WA", kind: "state", state: .wa, centre: nil, radiusKilometres: nil)
      try feed.aggregate(at: six + .seconds(40_000), regions: [western])
      // Tomorrow's price is in no average before it takes effect.
      #expect(try day(feed, "2026-07-02", region: "WA") == ["170.00|170.00|170.00|3|1.000|f"])
      #expect(try day(feed, "2026-07-03", region: "WA") == [])
      // An hour into 3 July by the calendar, the prices of 2 July are still in effect in Perth.
      try feed.aggregate(at: Instant("2026-07-02T17:00:00Z"), regions: [western])
      #expect(try day(feed, "2026-07-03", region: "WA") == [])
      try feed.aggregate(at: six + .seconds(90_000), regions: [western])
      #expect(try day(feed, "2026-07-02", region: "WA") == ["170.00|170.00|170.00|3|1.000|t"])
      #expect(try day(feed, "2026-07-03", region: "WA") == ["190.00|190.00|190.00|3|1.000|f"])
    }
  }

  /// F-T12, F-G07: days of 23 and 25 hours. The price changes 12 hours after local midnight.
  @Test(arguments: [
    // End of summer time, 25 hours: 12 h at 160, 13 h at 210, average 186.00.
    ("2026-04-05", "2026-04-04T13:00:00Z", 25, "186.00"),
    // Start of summer time, 23 hours: 12 h at 160, 11 h at 210, average 183.913.
    ("2026-10-04", "2026-10-03T14:00:00Z", 23, "183.91"),
    // An ordinary day: average 185.00.
    ("2026-07-05", "2026-07-04T14:00:00Z", 24, "185.00"),
  ])
  func clockChangeSundays(day: String, midnight: String, hours: Int, average: String) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let begin = Instant(midnight)
      try feed.says(quiet(1600, since: begin - .seconds(7200)), at: begin - .seconds(3600))
      try feed.says(quiet(2100, since: begin + .seconds(43_200)), at: begin + .seconds(43_200))
      let south = Region(
        code: "NSW", name: "NSW", kind: "state", state: .nsw, centre: nil, radiusKilometres: nil)
      try feed.aggregate(at: begin + .seconds(Int64(hours) * 3600 + 30_000), regions: [south])
      #expect(
        try self.day(feed, day, region: "NSW")
          == ["\(average)|\(average)|\(average)|3|1.000|t"])
    }
  }

  /// F-G04: a late price changes its own day and the days until the next price of the same station
  /// and fuel, and no other day.
  @Test func aLatePriceMakesJustItsDaysAgain() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      for day in 0..<10 {
        // The prices took effect on day 0 and day 7.
        let since = day < 7 ? at(0) : at(7)
        try feed.says(quiet(1800, since: since), at: at(Double(day) + 0.5))
      }
      try feed.aggregate(at: at(9.6))
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel.dirty_day") == ["0"])
      // A late report: station `a` has sold at 150.0 since the middle of day 4.
      try feed.says(
        [.u91("a", 1500, at(4.5))] + quiet(1800, since: at(7)), at: at(9.7))
      let known = Set(try feed.connection.lines("SELECT day, region, xmin FROM fuel.daily_rollup"))
      try feed.aggregate(at: at(9.8))
      let made = Set(
        try feed.connection.lines("SELECT day, region, xmin FROM fuel.daily_rollup").filter {
          !known.contains($0)
        }.map { $0.prefix(10) })
      // The last of these days is computed again because it has not ended.
      #expect(made.sorted() == ["2026-07-05", "2026-07-06", "2026-07-07", "2026-07-10"])
      let averages = try feed.connection.lines(
        "SELECT average_cpl FROM fuel_v1.daily_averages WHERE region = 'QLD' ORDER BY day")
      // On day 4 one of three stations sold at 150 for half the day.
      #expect(averages[3...7] == ["180.00", "175.00", "170.00", "170.00", "180.00"])
    }
  }

  /// F-G04: a late list of which a hundredth is new changes only the spans and days of those
  /// stations.
  @Test func aLateListCostsItsOwnStations() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      func list(_ day: Int, isNew: (Int) -> Bool = { _ in false }) -> [Observation] {
        (0..<400).map { station in
          .u91(
            "\(station)", isNew(station) ? 1_500 : 1_800 + station,
            isNew(station) ? at(4.4) : at(Double(day / 7 * 7)))
        }
      }
      for day in 0..<10 { try feed.says(list(day), at: at(Double(day) + 0.5)) }
      try feed.aggregate(at: at(9.6))
      let known = Set(try feed.connection.lines("SELECT station_id, from_at, xmin FROM fuel.span"))
      try feed.says(list(4, isNew: { $0 % 100 == 7 }), at: at(4.45), now: at(9.7))
      let touched = Set(
        try feed.connection.lines("SELECT station_id, from_at, xmin FROM fuel.span").filter {
          !known.contains($0)
        }.compactMap { $0.split(separator: "|").first })
      #expect(touched.count == 4)
      #expect(
        try feed.connection.lines(
          "SELECT count(*), count(DISTINCT station_id) FROM fuel.stale_days") == ["4|4"])
      // The averages of these days are adjusted by the old and new values of these stations. No day
      // is marked for a computation from all stations.
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel.dirty_day") == ["0"])
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel.stale_days WHERE is_marked") == ["0"])
    }
  }

  /// F-K03: a run that marks a day locks the mark until its transaction ends, even where the day is
  /// marked already. So an aggregate beside it cannot remove a mark for prices that it has not seen.
  @Test func aMarkIsLockedUntilTheRunEnds() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      try feed.says(quiet(1800, since: begin), at: begin + .seconds(60))
      #expect(try feed.connection.lines("SELECT count(*) > 0 FROM fuel.dirty_day") == ["t"])
      try feed.connection.execute(
        """
        BEGIN;
        SELECT fuel.mark_changed_days(
          array_agg(station_id), array_agg(fuel_id), array_agg(from_at), array_agg(from_at), 0,
          false, '2026-06-30T15:00:00Z')
        FROM fuel.span
        """)
      let other = try Connection(target)
      try other.execute("SET lock_timeout = '200ms'")
      let error = #expect(throws: PostgresError.self) {
        try other.execute("DELETE FROM fuel.dirty_day")
      }
      #expect(error?.sqlState == "55P03")
      try feed.connection.execute("ROLLBACK")
    }
  }

  /// F-G01: two stations do not make an average, but their number is published.
  @Test func tooFewStationsGiveNoAverage() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      try feed.says([.u91("a", 1800, begin), .u91("b", 1900, begin)], at: begin + .seconds(60))
      try feed.aggregate(at: begin + .seconds(90_000))
      #expect(try day(feed, "2026-07-01") == ["NULL|NULL|NULL|2|0.999|f"])
      try feed.connection.execute("SET bowser.now = '2026-07-01T03:00:00Z'")
      #expect(
        try feed.connection.lines(
          "SELECT average_cpl, stations FROM fuel_v1.averages_now WHERE region = 'QLD'")
          == ["NULL|2"])
    }
  }

  /// F-G03, F-S05: stale, doubtful and members-only prices are left out and counted.
  @Test func whatIsLeftOutIsCounted() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let now = Instant("2026-07-01T00:00:00Z")
      let stations = ["a", "b", "c", "club", "odd", "old"].map {
        Station(code: $0, state: .qld, name: $0, address: "", isPublic: $0 != "club")
      }
      let fresh = ["a", "b", "c", "club", "odd"].map { Observation.u91($0, 1800, now) }
      try feed.says(
        fresh + [.u91("old", 900, now - .seconds(721 * 3600))], stations: stations, at: now)
      try feed.aggregate(at: now)
      try feed.connection.execute(
        """
        DELETE FROM fuel.average_keeping;
        UPDATE fuel.present_span SET
          doubt = 'far', doubt_from_at = '-infinity', doubt_until_at = 'infinity', price_tenths = 9000
        FROM fuel.station WHERE station.station_id = present_span.station_id AND station_code = 'odd'
        """)
      try feed.connection.execute("SET bowser.now = '2026-07-01T00:00:00Z'")
      let shown = try feed.connection.lines(
        """
        SELECT average_cpl, stations, excluded_stale, excluded_flagged, excluded_restricted
        FROM fuel_v1.averages_now WHERE region = 'QLD'
        """)
      #expect(shown == ["180.00|3|1|1|1"])
    }
  }

  /// F-G06: a list after a silence does not confirm a price that it reports as changed. The days of
  /// the silence come out the same when they are computed in two ranges, wherever the cut lies.
  @Test func aSpanMayEndInASilence() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let begin = Instant("2026-06-01T14:30:00Z")
      let back = begin + .seconds(6 * 86_400)
      try feed.says(quiet(1_800, since: begin), at: begin)
      try feed.says(quiet(2_000, since: back), at: back)
      let now = back + .seconds(86_400)
      try feed.aggregate(at: now)
      func rows() throws -> [String] {
        try feed.connection.lines("SELECT * FROM fuel.daily_rollup ORDER BY region, fuel_id, day")
      }
      let whole = try rows()
      #expect(try day(feed, "2026-06-02") == ["180.00|180.00|180.00|3|0.979|t"])
      #expect(try day(feed, "2026-06-03") == ["180.00|180.00|180.00|3|0.021|f"])
      #expect(try day(feed, "2026-06-05") == [])
      let first = try #require(Day("2026-06-01"))
      for cut in 0...7 {
        try DayUpdate.makeRegionDays(
          [
            DirtySpan(fuelIDs: [1], from: first, to: first + cut),
            DirtySpan(fuelIDs: [1], from: first + (cut + 1), to: first + 9),
          ], Workers(feed.store), now: now)
        #expect(try rows() == whole, "cut after \(first + cut)")
      }
    }
  }

  /// F-G06: where one state publishes a day late, a day of the nation is made once the day of that
  /// state is known. It never mixes some states of today with all states of yesterday.
  @Test func theNationWaitsForTheLatestState() async throws {
    try await TestDatabase.with { target in
      let north = try Feed(target)
      let late = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      let now = Instant("2026-07-03T02:00:00Z")
      for day in 0...2 {
        let at = Instant("2026-07-01T02:00:00Z") + .seconds(day * 86_400)
        try north.says(quiet(1_800, since: at - .seconds(60)), at: at)
        try late.says(quiet(1_600, since: at - .seconds(86_460)), at: at)
      }
      try north.aggregate(at: now)
      #expect(
        try north.connection.lines(
          """
          SELECT day, average_cpl, stations FROM fuel_v1.daily_averages
          WHERE region = 'AU' AND day >= '2026-07-02' ORDER BY day
          """) == ["2026-07-02|170.00|6"])
      #expect(try day(north, "2026-07-03").count == 1)
    }
  }

  /// F-G14: stations with equal lowest prices are all listed as cheapest, in a fixed order. Where
  /// nothing is sold there is no row.
  @Test func allTiesAreListed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let now = Instant("2026-07-01T00:00:00Z")
      try feed.says(
        [("a", 1_800), ("b", 1_750), ("c", 1_750), ("d", 1_750), ("e", 1_900)].map {
          .u91($0.0, $0.1, now - .seconds(60))
        }, at: now)
      try feed.aggregate(at: now)
      try feed.connection.execute("SET bowser.now = '2026-07-01T00:00:00Z'")
      func ranks() throws -> [String] {
        try feed.connection.lines(
          """
          SELECT station.feed_station_code, comparison.rank_in_region, comparison.difference_cpl
          FROM fuel_v1.station_comparison AS comparison JOIN fuel_v1.stations AS station USING (station_id)
          WHERE comparison.region = 'QLD' AND comparison.fuel = 'U91'
          ORDER BY comparison.rank_in_region, station.feed_station_code
          """)
      }
      #expect(try ranks() == ["b|1|-4.00", "c|1|-4.00", "d|1|-4.00", "a|4|1.00", "e|5|11.00"])
      let gone = now + .seconds(3_600)
      try feed.says(
        ["a", "b", "c", "d", "e"].map { .u91($0, 0, gone - .seconds(60)) }, at: gone)
      try feed.aggregate(at: gone)
      try feed.connection.execute("SET bowser.now = '2026-07-01T01:00:00Z'")
      #expect(try ranks() == [])
      #expect(
        try feed.connection.lines(
          "SELECT min_cpl, stations FROM fuel_v1.averages_now WHERE region = 'QLD'") == [])
    }
  }

  /// F-G05: days without an average stay empty, and the moving average does not bridge them.
  @Test func gapsAreNotFilledIn() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 3)
      let begin = Instant("2026-06-30T14:00:00Z")
      for hour in stride(from: 0, to: 24 * 12, by: 1) where !(96..<240).contains(hour) {
        let at = begin + .seconds(hour * 3600)
        try feed.says(quiet(1800, since: at), at: at)
      }
      let end = begin + .seconds(12 * 86_400 - 3000)
      try feed.aggregate(at: end)
      try feed.connection.query("SELECT set_config('bowser.now', \(end.description), false)")
      let days = try feed.connection.lines(
        """
        SELECT day, average_cpl, moving_average_7d_cpl, stations FROM fuel_v1.trend_30d
        WHERE region = 'QLD' AND day BETWEEN '2026-07-03' AND '2026-07-12' ORDER BY day
        """)
      #expect(
        days == [
          "2026-07-03|180.00|NULL|3", "2026-07-04|180.00|180.00|3", "2026-07-05|180.00|180.00|3",
          "2026-07-06|NULL|180.00|0", "2026-07-07|NULL|180.00|0", "2026-07-08|NULL|180.00|0",
          "2026-07-09|NULL|NULL|0", "2026-07-10|NULL|NULL|0", "2026-07-11|180.00|NULL|3",
          "2026-07-12|180.00|NULL|3",
        ])
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel_v1.trend_30d WHERE region = 'QLD'")
          == ["31"])
    }
  }

  /// `price_at` and `average_at` agree with `price_history` at any instant.
  @Test func pointQueriesAgreeWithTheHistory() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for snapshot in OrderTests.snapshots(seed: 7) {
        try feed.says(
          snapshot.observations, stations: snapshot.stations, at: snapshot.takenAt,
          now: OrderTests.end, coverage: snapshot.coverage)
      }
      try feed.aggregate(at: OrderTests.end)
      try feed.connection.query(
        "SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
      let disagreements = try feed.connection.lines(
        """
        SELECT pair.station_id, pair.fuel, moment.at, held.price_cpl,
          fuel_v1.price_at(pair.station_id, pair.fuel, moment.at) AS price
        FROM (SELECT DISTINCT station_id, fuel FROM fuel_v1.price_history) AS pair
        CROSS JOIN generate_series(
          \(OrderTests.begin)::timestamptz, \(OrderTests.end)::timestamptz, interval '47 minutes'
        ) AS moment (at)
        LEFT JOIN fuel_v1.price_history AS held
          ON held.station_id = pair.station_id AND held.fuel = pair.fuel
          AND held.valid_from <= moment.at AND coalesce(held.valid_to, 'infinity') > moment.at
        WHERE held.price_cpl IS DISTINCT FROM fuel_v1.price_at(pair.station_id, pair.fuel, moment.at)
        """)
      #expect(disagreements == [])
      let averages = try feed.connection.lines(
        """
        SELECT moment.at, fuel_v1.average_at('QLD', 'U91', moment.at) AS average, wanted.average
        FROM generate_series(
          \(OrderTests.begin)::timestamptz, \(OrderTests.end)::timestamptz, interval '3 hours'
        ) AS moment (at)
        LEFT JOIN LATERAL (
          SELECT CASE WHEN count(*) >= 3 THEN round(avg(price_cpl), 2) END AS average
          FROM fuel_v1.price_history
          WHERE fuel = 'U91' AND valid_from <= moment.at AND coalesce(valid_to, 'infinity') > moment.at
        ) AS wanted ON true
        WHERE wanted.average IS DISTINCT FROM fuel_v1.average_at('QLD', 'U91', moment.at)
        """)
      #expect(averages == [])
    }
  }

  /// `current_prices` and the open rows of `price_history` state the same beginning.
  @Test(.longer, arguments: 0..<Long.count(short: 4, long: 12))
  func thePresentBeginsWhereTheHistorySays(seed: Int) async throws {
    try await TestDatabase.with { target in
      // Nothing lapses in this test. After a lapse, the history would begin a new row, but the
      // price in effect would keep its beginning.
      let feed = try Feed(target, priceLapsesHours: 9_000, sightLapsesHours: 9_000)
      for snapshot in OrderTests.snapshots(seed: UInt64(seed)) {
        try feed.says(
          snapshot.observations, at: snapshot.takenAt, now: OrderTests.end)
      }
      try feed.connection.query(
        "SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
      let different = try feed.connection.lines(
        """
        SELECT station_id, fuel, current.price_cpl, current.effective_at, held.price_cpl AS h,
          held.valid_from
        FROM fuel_v1.current_prices AS current
        FULL JOIN (SELECT * FROM fuel_v1.price_history WHERE valid_to IS NULL) AS held
          USING (station_id, fuel)
        WHERE (current.price_cpl, current.effective_at)
          IS DISTINCT FROM (held.price_cpl, held.valid_from)
        """)
      #expect(different == [])
    }
  }

  /// Averages that are updated as prices arrive equal those of a rebuild, even where a report
  /// changes other days than its own.
  @Test(arguments: ["outage", "rival", "members", "limits"])
  func incrementalEqualsRebuilt(kind: String) async throws {
    try await TestDatabase.with { target in
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      let end = at(8)
      var feed = try Feed(target, sightLapsesHours: 24)
      func stations(isPublic: Bool) -> [Station] {
        ["a", "b", "c", "x"].map {
          Station(code: $0, state: .qld, name: $0, address: "", isPublic: $0 != "x" || isPublic)
        }
      }
      func say(_ tenths: Int, _ since: Double, _ taken: Double, isPublic: Bool = true) throws {
        try feed.says(
          quiet(1800, since: at(0)) + [.u91("x", tenths, at(since))],
          stations: stations(isPublic: isPublic), at: at(taken), now: end)
      }
      switch kind {
      case "outage":
        // The list of day 5 confirms the price of day 0 across an outage of the feed.
        try say(1500, 0, 0.1)
        try say(1500, 0, 5)
        try feed.aggregate(at: end)
        // This late price took effect during the outage, so the list no longer confirms the older
        // one.
        try say(1600, 4.8, 5.4)
      case "rival":
        try say(1500, 0.5, 1)
        try say(1600, 0.5, 1.5)
        try say(1600, 0.5, 2.4)
        try feed.aggregate(at: end)
        // The oldest document reports 160.0 too. The price that was first reported last, 150.0, now
        // counts.
        try say(1600, 0.5, 0.6)
      case "members":
        try say(1500, 0, 0.1)
        try say(1500, 0, 1)
        try feed.aggregate(at: end)
        try say(1500, 0, 1.5, isPublic: false)
      default:
        try say(1500, 0, 0.1)
        try say(1500, 0, 1)
        try feed.aggregate(at: end)
        feed = try Feed(target, sightLapsesHours: 12)
      }
      try feed.aggregate(at: end)
      let made: SQL = "SELECT * FROM fuel_v1.daily_averages ORDER BY region, fuel, day"
      let incremental = try feed.connection.lines(made)
      try feed.store.markAllDirty(from: nil, now: end)
      try feed.aggregate(at: end)
      let rebuilt = try feed.connection.lines(made)
      #expect(rebuilt == incremental)
      #expect(incremental.count > 2)
    }
  }

  /// The change over a day needs a feed that was read a day ago. Of earlier times only prices are
  /// known that have not changed since.
  @Test func changesNeedAPast() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-07-01T00:00:00Z")
      func changes(at instant: Instant) throws -> [String] {
        try feed.aggregate(at: instant)
        return try feed.connection.lines(
          "SELECT change_24h_cpl, change_7d_cpl FROM fuel.region_change WHERE region = 'QLD'")
      }
      try feed.says(quiet(1800, since: begin - .seconds(900_000)), at: begin)
      #expect(try changes(at: begin + .seconds(60)) == ["NULL|NULL"])
      try feed.says(quiet(1850, since: begin + .seconds(80_000)), at: begin + .seconds(86_400))
      #expect(try changes(at: begin + .seconds(86_460)) == ["5.00|NULL"])
    }
  }

  /// Daily averages equal those computed another way, from the rows of the history cut at the
  /// bounds of days.
  @Test(arguments: [3, 11, 19])
  func dailyAveragesAgreeWithTheHistory(seed: Int) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for snapshot in OrderTests.snapshots(seed: UInt64(seed)) {
        try feed.says(
          snapshot.observations, stations: snapshot.stations, at: snapshot.takenAt,
          now: OrderTests.end, coverage: snapshot.coverage)
      }
      try feed.aggregate(at: OrderTests.end)
      try feed.connection.query(
        "SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
      let rows = try feed.connection.lines(
        """
        WITH part AS (
          SELECT history.station_id, history.fuel, day.day::date AS day,
            history.price_cpl,
            extract(epoch FROM
              least(coalesce(history.valid_to, \(OrderTests.end)::timestamptz),
                (day.day + interval '1 day') AT TIME ZONE 'Australia/Brisbane')
              - greatest(history.valid_from, \(OrderTests.begin)::timestamptz,
                day.day AT TIME ZONE 'Australia/Brisbane')) AS seconds
          FROM fuel_v1.price_history AS history
          CROSS JOIN generate_series(timestamp '2026-03-28', '2026-04-09', interval '1 day') AS day (day)
        ),
        station_day AS (
          SELECT station_id, fuel, day, sum(price_cpl * seconds) / sum(seconds) AS price
          FROM part WHERE seconds > 0 GROUP BY station_id, fuel, day
        ),
        wanted AS (
          SELECT fuel, day, round(avg(price), 2) AS average, count(*) AS stations
          FROM station_day GROUP BY fuel, day
        )
        SELECT fuel, day, wanted.average, wanted.stations, made.average_cpl, made.stations AS n
        FROM wanted
        FULL JOIN (SELECT * FROM fuel_v1.daily_averages WHERE region = 'QLD') AS made USING (fuel, day)
        WHERE made.stations IS DISTINCT FROM wanted.stations
          OR (made.average_cpl IS DISTINCT FROM wanted.average AND made.stations >= 3)
        """)
      #expect(rows == [])
      #expect(
        try feed.connection.lines("SELECT count(*) > 12 AS enough FROM fuel_v1.daily_averages") == [
          "t"
        ])
    }
  }
}
