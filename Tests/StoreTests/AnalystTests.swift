import FuelModel
import Postgres
import TestDatabase
import Testing

/// What analysts and apps ask of `fuel_v1` beside averages and prices.
struct AnalystTests {
  private static let begin = Instant("2026-06-30T14:00:00Z")

  private func at(_ hours: Int64) -> Instant { Self.begin + .seconds(3_600 * hours) }

  /// Three stations of a town report for three days. On the third day the first one changes its
  /// brand.
  private func market(_ target: String) throws -> Feed {
    let feed = try Feed(target)
    for hour in stride(from: Int64(-12), through: 84, by: 12) {
      let stations = ["a", "b", "c"].enumerated().map { number, code in
        Station(
          code: code, state: .qld, name: "Corner \(code)",
          brand: code == "a" && hour >= 48 ? "Y" : "X", address: "\(code) Main Rd",
          suburb: "ST MARY'S", postcode: "4000",
          position: Position(latitude: -27, longitude: 153 + Double(number) / 100))
      }
      try feed.reports(
        [
          .u91("a", 1_800, at(-24)), .u91("b", 1_810, at(-24)), .u91("c", 1_823, at(-24)),
        ], stations: stations, at: at(hour),
        rejects: hour == 0
          ? [Reject(.priceUnreadable, raw: "one"), Reject(.priceUnreadable, raw: "two")] : [])
    }
    try feed.aggregate(at: at(84))
    try feed.connection.query("SELECT set_config('bowser.now', \(at(84).description), false)")
    return feed
  }

  /// F-V24: a station that was rebranded counts under the brand that it had on the day, whatever
  /// the time zone of the session.
  @Test(arguments: ["UTC", "Pacific/Auckland", "America/New_York"])
  func brandsAreThoseOfTheDay(zone: String) async throws {
    try await TestDatabase.with { target in
      let feed = try market(target)
      try feed.connection.query("SELECT set_config('TimeZone', \(zone), false)")
      #expect(
        try feed.connection.lines(
          """
          SELECT brand, day, average_cpl, stations FROM fuel_v1.brand_daily
          WHERE region = 'QLD' AND day BETWEEN '2026-07-01' AND '2026-07-03'
          ORDER BY day, brand
          """)
          == [
            "X|2026-07-01|181.10|3", "X|2026-07-02|181.10|3", "X|2026-07-03|181.65|2",
            "Y|2026-07-03|180.00|1",
          ])
    }
  }

  @Test func aDayIsComparedWithItsRegion() async throws {
    try await TestDatabase.with { target in
      let feed = try market(target)
      #expect(
        try feed.connection.lines(
          """
          SELECT stations.name, average_cpl, region_average_cpl, difference_cpl, rank_in_region, here.stations
          FROM fuel_v1.region_days('QLD', '2026-07-02', '2026-07-02') AS here
          JOIN fuel_v1.stations USING (station_id)
          ORDER BY rank_in_region
          """)
          == [
            "Corner a|180.00|181.10|-1.10|1|3", "Corner b|181.00|181.10|-0.10|2|3",
            "Corner c|182.30|181.10|1.20|3|3",
          ])
      // The mean of the exact means, rounded once, is the average of the region.
      #expect(
        try feed.connection.lines(
          """
          SELECT daily.average_cpl = round(avg(made.exact_average_cpl), 2), count(*)
          FROM fuel_v1.station_days AS made
          JOIN fuel_v1.daily_averages AS daily USING (fuel, day)
          WHERE daily.region = 'QLD' AND day = '2026-07-02'
          GROUP BY daily.average_cpl
          """) == ["t|3"])
      #expect(
        try feed.connection.lines(
          """
          SELECT count(*) > 0, bool_and(station_days.exact_average_cpl * 655360 = station_day.mean)
          FROM fuel_v1.station_days
          JOIN fuel.station_day USING (station_id, fuel, day)
          """) == ["t|t"])
    }
  }

  @Test func anAppAsksOnce() async throws {
    try await TestDatabase.with { target in
      let feed = try market(target)
      #expect(
        try feed.connection.lines(
          "SELECT name, brand, suburb, distance_km, price_cpl FROM fuel_v1.prices_near(-27, 153.01, 'U91', 2)"
        ) == ["Corner b|X|ST MARY'S|0.00|181.0", "Corner a|Y|ST MARY'S|0.99|180.0"])
      #expect(
        try feed.connection.lines("SELECT * FROM fuel_v1.prices_near(-27, 153, 'nothing', 5)") == []
      )
      #expect(
        try feed.connection.lines(
          "SELECT name, postcode, stations FROM fuel_v1.localities WHERE kind = 'suburb'")
          == ["St Mary's|4000|3"])
    }
  }

  @Test func sourcesAndRejectsAreCounted() async throws {
    try await TestDatabase.with { target in
      let feed = try market(target)
      #expect(
        try feed.connection.lines(
          "SELECT source, kind, state, is_enabled, delay_hours, attribution, records FROM fuel_v1.sources"
        ) == ["qld-fpd|feed|QLD|t|0|a test|3"])
      #expect(
        try feed.connection.lines(
          """
          SELECT counted.source, counted.reason, counted.records, runs.rejected
          FROM fuel_v1.run_rejects AS counted
          JOIN fuel_v1.ingest_runs AS runs USING (run_id)
          """) == ["qld-fpd|price_unreadable|2|2"])
      // When each price was learnt.
      #expect(
        try feed.connection.lines("SELECT DISTINCT learnt_at FROM fuel_v1.price_history")
          == [at(-12).description.replacing("T", with: " ").replacing("Z", with: "+00")])
    }
  }
}
