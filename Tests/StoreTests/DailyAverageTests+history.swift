import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Averages and prices agree with the history.
extension DailyAverageTests {
  /// `price_at` and `average_at` agree with `price_history` at any instant.
  @Test func pointQueriesAgreeWithTheHistory() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for snapshot in OrderTests.snapshots(seed: 7) {
        try feed.reports(
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
          AND held.valid_from_at <= moment.at AND coalesce(held.valid_until_at, 'infinity') > moment.at
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
          WHERE fuel = 'U91' AND valid_from_at <= moment.at AND coalesce(valid_until_at, 'infinity') > moment.at
        ) AS wanted ON true
        WHERE wanted.average IS DISTINCT FROM fuel_v1.average_at('QLD', 'U91', moment.at)
        """)
      #expect(averages == [])
    }
  }

  /// F-V13: these averages fall by exactly half a hundredth of a cent a day, which is rounded away
  /// from zero. A slope in binary numbers is a little less.
  @Test func halfOfAHundredthOfASlopeIsRounded() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        """
        INSERT INTO fuel.region (region, name, kind) VALUES ('AU', 'Australia', 'nation');
        INSERT INTO fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended)
        SELECT 'AU', fuel_id, date '2026-06-01' + made.x, made.y, 170, 170, 169, 171, 10, 1, true
        FROM fuel.fuel
        CROSS JOIN (
          VALUES (0, 170.04), (1, 170.01), (2, 170), (3, 170), (4, 170), (5, 170), (6, 170)
        ) AS made (x, y)
        WHERE fuel = 'U91';
        SET bowser.now = '2026-06-07T12:00:00Z'
        """)
      #expect(
        try connection.lines(
          "SELECT slope_cpl_per_day FROM fuel_v1.trend_summary WHERE fuel = 'U91'") == ["-0.01"])
    }
  }

  /// F-G21: only sources that report on an area across borders cover it or leave it out.
  @Test func anAreaAcrossBordersHasItsOwnSources() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let west = try Feed(target, name: "sa-fpd", state: .sa)
      let begin = Instant("2026-07-01T00:00:00Z")
      for (feed, state, longitude) in [(feed, State.qld, 141.1), (west, State.sa, 138.6)] {
        try feed.reports(
          [.u91("1", 1_700, begin)],
          stations: [
            Station(
              code: "1", state: state, name: "A", address: "1 Main Rd",
              position: Position(latitude: -29.0, longitude: longitude))
          ], at: begin)
      }
      let border = Region(
        code: "border", name: "the border", kind: "area", state: nil,
        centre: Position(latitude: -29.0, longitude: 141.0), radiusKilometres: 20)
      try feed.aggregate(at: begin + .seconds(3_600), regions: [.queensland, .nation, border])
      #expect(
        try feed.connection.lines(
          "SELECT region, source FROM fuel_v1.coverage GROUP BY 1, 2 ORDER BY 1, 2")
          == ["AU|qld-fpd", "AU|sa-fpd", "QLD|qld-fpd", "border|qld-fpd"])
    }
  }

  /// F-G22: of an area across borders, one state has an outage. Most prices of its day are known, but
  /// it is not complete.
  @Test func anAreaAcrossBordersIsNotCompleteInAnOutage() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let west = try Feed(target, name: "sa-fpd", state: .sa, sightLapsesHours: 24)
      let begin = Instant("2026-07-01T00:00:00Z")
      func report(_ feed: Feed, _ state: State, _ longitude: Double, days: [Int]) throws {
        let codes = (1...4).map { "\($0)" }
        for day in days {
          try feed.reports(
            codes.map { .u91($0, 1_700, begin) },
            stations: codes.map {
              Station(
                code: $0, state: state, name: "A\($0)", address: "\($0) Main Rd",
                position: Position(latitude: -29.0, longitude: longitude))
            }, at: begin + .seconds(day * 86_400))
        }
      }
      try report(feed, .qld, 141.1, days: Array(0...6))
      // The list of the sixth day confirms the prices of the days without lists.
      try report(west, .sa, 140.9, days: [0, 1, 5, 6])
      let border = Region(
        code: "border", name: "the border", kind: "area", state: nil,
        centre: Position(latitude: -29.0, longitude: 141.0), radiusKilometres: 20)
      try feed.aggregate(
        at: begin + .seconds(8 * 86_400), regions: [.queensland, .nation, border])
      #expect(
        try feed.connection.lines(
          """
          SELECT day, stations, is_complete FROM fuel_v1.daily_averages
          WHERE region = 'border' AND day BETWEEN '2026-07-02' AND '2026-07-06' ORDER BY day
          """) == [
            "2026-07-02|8|t", "2026-07-03|8|t", "2026-07-04|8|f", "2026-07-05|8|f",
            "2026-07-06|8|t",
          ])
    }
  }

  /// `current_prices` and the open rows of `price_history` state the same beginning.
  @Test(.longer, arguments: 0..<Long.count(short: 2, long: 12))
  func thePresentBeginsWhereTheHistorySays(seed: Int) async throws {
    try await TestDatabase.with { target in
      // Nothing lapses in this test. After a lapse, the history would begin a new row, but the
      // price in effect would keep its beginning.
      let feed = try Feed(target, priceLapsesHours: 9_000, sightLapsesHours: 9_000)
      for snapshot in OrderTests.snapshots(seed: UInt64(seed)) {
        try feed.reports(
          snapshot.observations, at: snapshot.takenAt, now: OrderTests.end)
      }
      try feed.connection.query(
        "SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
      let different = try feed.connection.lines(
        """
        SELECT station_id, fuel, current.price_cpl, current.effective_at, held.price_cpl AS h,
          held.valid_from_at
        FROM fuel_v1.current_prices AS current
        FULL JOIN (SELECT * FROM fuel_v1.price_history WHERE valid_until_at IS NULL) AS held
          USING (station_id, fuel)
        WHERE (current.price_cpl, current.effective_at)
          IS DISTINCT FROM (held.price_cpl, held.valid_from_at)
        """)
      #expect(different == [])
    }
  }

  /// Daily averages equal those computed another way, from the rows of the history cut at the
  /// bounds of days.
  @Test(.longer, arguments: Long.some([3, 11, 19], short: 1))
  func dailyAveragesAgreeWithTheHistory(seed: Int) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for snapshot in OrderTests.snapshots(seed: UInt64(seed)) {
        try feed.reports(
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
              least(coalesce(history.valid_until_at, \(OrderTests.end)::timestamptz),
                (day.day + interval '1 day') AT TIME ZONE 'Australia/Brisbane')
              - greatest(history.valid_from_at, \(OrderTests.begin)::timestamptz,
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
