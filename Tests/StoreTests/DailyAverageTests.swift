import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Daily averages that were worked out by hand.
struct DailyAverageTests {
  func day(_ feed: Feed, _ day: String, region: String = "QLD") throws -> [String] {
    try feed.connection.lines(
      """
      SELECT average_cpl, min_cpl, max_cpl, stations, coverage, is_complete
      FROM fuel_v1.daily_averages WHERE region = \(region) AND day = \(day)::date
      """)
  }

  /// Days in Brisbane begin at 14:00 UTC. Three stations with a constant price make sure that there
  /// is an average.
  func quiet(_ price: Int, since: Instant) -> [Observation] {
    ["a", "b", "c"].map { Observation.u91($0, price, since) }
  }

  /// F-G02, F-V12: a station that changes its price forty times a day counts as much as one that
  /// never does.
  @Test func aBusyStationCountsOnce() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      try feed.reports(quiet(1800, since: begin - .seconds(86_400)), at: begin - .seconds(3600))
      // The price alternates between 160.0 and 200.0 forty times, every 36 minutes.
      for turn in 0..<40 {
        let at = begin + .seconds(turn * 2160)
        try feed.reports(
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
      try feed.reports(old, at: begin - .seconds(3600))
      try feed.reports(
        old + [.u91("new", 2000, begin + .seconds(43_200))], at: begin + .seconds(43_260))
      try feed.reports(
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
      try feed.reports(old + [.u91("x", 2000, begin - .seconds(900))], at: begin - .seconds(600))
      try feed.reports(old + [.u91("x", 0, begin + .seconds(21_600))], at: begin + .seconds(21_660))
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
      try feed.reports(today + tomorrow, at: six + .seconds(36_000), coverage: .partial)
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
      try feed.reports(quiet(1600, since: begin - .seconds(7200)), at: begin - .seconds(3600))
      try feed.reports(quiet(2100, since: begin + .seconds(43_200)), at: begin + .seconds(43_200))
      let south = Region(
        code: "NSW", name: "NSW", kind: "state", state: .nsw, centre: nil, radiusKilometres: nil)
      try feed.aggregate(at: begin + .seconds(Int64(hours) * 3600 + 30_000), regions: [south])
      #expect(
        try self.day(feed, day, region: "NSW")
          == ["\(average)|\(average)|\(average)|3|1.000|t"])
    }
  }

  /// F-K03: a run that marks a day locks the mark until its transaction ends, even where the day is
  /// marked already. So an aggregate beside it cannot remove a mark for prices that it has not seen.
  @Test func aMarkIsLockedUntilTheRunEnds() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      try feed.reports(quiet(1800, since: begin), at: begin + .seconds(60))
      #expect(
        try feed.connection.lines("SELECT count(*) > 0 FROM fuel.due WHERE step = 'averages'") == [
          "t"
        ])
      try feed.connection.execute(
        """
        BEGIN;
        SELECT fuel.mark_changed_days(
          array_agg(station_id), array_agg(fuel_id), array_agg(from_at), array_agg(from_at),
          false, '2026-06-30T15:00:00Z')
        FROM fuel.span
        """)
      let other = try Connection(target)
      try other.execute("SET lock_timeout = '200ms'")
      let error = #expect(throws: PostgresError.self) {
        try other.execute("DELETE FROM fuel.due WHERE step = 'averages'")
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
      try feed.reports([.u91("a", 1800, begin), .u91("b", 1900, begin)], at: begin + .seconds(60))
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
      try feed.reports(
        fresh + [.u91("old", 900, now - .seconds(721 * 3600))], stations: stations, at: now)
      try feed.aggregate(at: now)
      try feed.connection.execute(
        """
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

  /// F-G31: a station that leaves a region in the month after its last known price is no longer
  /// expected there on any day of that month.
  @Test func whoLeftIsNoLongerExpected() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func reports(_ codes: [String], at: String, isMember: Bool = false) throws {
        try feed.reports(
          codes.map { .u91($0, 1_800, Instant("2026-06-20T00:00:00Z")) },
          stations: ["a", "b", "c", "gone"].map {
            Station(
              code: $0, state: .qld, name: $0, address: "", isPublic: !(isMember && $0 == "gone"))
          }, at: Instant(at))
      }
      func expected() throws -> [String] {
        try feed.connection.lines(
          "SELECT stations, stations_expected FROM fuel.daily_rollup WHERE region = 'QLD' AND day = '2026-07-03'"
        )
      }
      try reports(["a", "b", "c", "gone"], at: "2026-06-25T00:00:00Z")
      try reports(["a", "b", "c"], at: "2026-06-28T00:00:00Z")
      for day in 1...3 { try reports(["a", "b", "c"], at: "2026-07-0\(day)T00:00:00Z") }
      try feed.aggregate(at: Instant("2026-07-05T00:00:00Z"))
      #expect(try expected() == ["3|4"])
      try reports(["a", "b", "c"], at: "2026-07-05T01:00:00Z", isMember: true)
      try feed.aggregate(at: Instant("2026-07-05T02:00:00Z"))
      #expect(try expected() == ["3|3"])
    }
  }

  /// F-V20: the mean over the stations of a brand is made of their exact means. These are 180.004,
  /// 180.004 and 180.011, of which the rounded ones would give 180.00.
  @Test func theMeanOfABrandIsRoundedOnce() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      let falls: [(code: String, second: Int64)] = [("a", 3_456), ("b", 3_456), ("c", 9_504)]
      for second: Int64 in [-3_600, 3_456, 9_504] {
        try feed.reports(
          falls.map { code, fall in
            second < fall
              ? .u91(code, 1_801, begin - .seconds(86_400))
              : .u91(code, 1_800, begin + .seconds(fall))
          },
          stations: falls.map { code, _ in
            Station(code: code, state: .qld, name: code, brand: "X", address: "\(code) Main Rd")
          }, at: begin + .seconds(second))
      }
      try feed.aggregate(at: begin + .seconds(90_000))
      #expect(
        try feed.connection.lines(
          "SELECT average_cpl FROM fuel_v1.station_days WHERE day = '2026-07-01' ORDER BY 1")
          == ["180.00", "180.00", "180.01"])
      #expect(
        try feed.connection.lines(
          """
          SELECT brand, average_cpl, min_cpl, max_cpl, stations
          FROM fuel_v1.brand_daily WHERE region = 'QLD' AND day = '2026-07-01'
          """) == ["X|180.01|180.00|180.10|3"])
    }
  }

  /// F-G06: where one state publishes a day late, a day of the nation is made once the day of that
  /// state is known. It never mixes some states of today with all states of yesterday, and the day
  /// before the first run of the other states is not theirs alone.
  @Test func theNationWaitsForTheLatestState() async throws {
    try await TestDatabase.with { target in
      let north = try Feed(target)
      let late = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      let now = Instant("2026-07-04T02:00:00Z")
      for day in 0...2 {
        let at = Instant("2026-07-02T02:00:00Z") + .seconds(day * 86_400)
        try north.reports(quiet(1_800, since: at - .seconds(60)), at: at)
        try late.reports(quiet(1_600, since: at - .seconds(86_460)), at: at)
      }
      try north.aggregate(at: now)
      #expect(
        try north.connection.lines(
          """
          SELECT day, average_cpl, stations FROM fuel_v1.daily_averages
          WHERE region = 'AU' ORDER BY day
          """) == ["2026-07-02|170.00|6", "2026-07-03|170.00|6"])
      #expect(
        try north.connection.lines("SELECT min(day) FROM fuel_v1.station_days") == ["2026-07-01"])
      #expect(try day(north, "2026-07-04").count == 1)
    }
  }

  /// F-G14: stations with equal lowest prices are all listed as cheapest, in a fixed order. Where
  /// nothing is sold there is no row.
  @Test func allTiesAreListed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let now = Instant("2026-07-01T00:00:00Z")
      try feed.reports(
        [("a", 1_800), ("b", 1_750), ("c", 1_750), ("d", 1_750), ("e", 1_900)].map {
          .u91($0.0, $0.1, now - .seconds(60))
        }, at: now)
      try feed.aggregate(at: now)
      try feed.connection.execute("SET bowser.now = '2026-07-01T00:00:00Z'")
      func ranks() throws -> [String] {
        try feed.connection.lines(
          """
          SELECT station.source_station_code, comparison.rank_in_region, comparison.difference_cpl
          FROM fuel_v1.station_comparison AS comparison JOIN fuel_v1.stations AS station USING (station_id)
          WHERE comparison.region = 'QLD' AND comparison.fuel = 'U91'
          ORDER BY comparison.rank_in_region, station.source_station_code
          """)
      }
      #expect(try ranks() == ["b|1|-4.00", "c|1|-4.00", "d|1|-4.00", "a|4|1.00", "e|5|11.00"])
      let gone = now + .seconds(3_600)
      try feed.reports(
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
      for hour in stride(from: 0, to: 24 * 12, by: 2) where !(96..<240).contains(hour) {
        let at = begin + .seconds(hour * 3600)
        try feed.reports(quiet(1800, since: at), at: at)
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
      try feed.reports(quiet(1800, since: begin - .seconds(900_000)), at: begin)
      #expect(try changes(at: begin + .seconds(60)) == ["NULL|NULL"])
      try feed.reports(quiet(1850, since: begin + .seconds(80_000)), at: begin + .seconds(86_400))
      #expect(try changes(at: begin + .seconds(86_460)) == ["5.00|NULL"])
    }
  }
}
