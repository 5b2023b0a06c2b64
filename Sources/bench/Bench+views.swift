import Foundation
import FuelModel
import Postgres

extension Bench {
  /// Measures how long an analyst waits for every view: for one region and fuel or one station, and
  /// for the whole view.
  mutating func views(_ connection: Connection, now: Instant) throws {
    note("the analysts' views")
    _ = try run([program, "aggregate", "--now", now.description], in: "bench_live")
    // The feed of this benchmark covers only a few hours, so ten years of averages of every region
    // and fuel are inserted.
    try connection.query(
      """
      INSERT INTO fuel.daily_rollup (
        region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended)
      SELECT region.region, fuel.fuel_id, day.day::date, price.cpl, price.cpl, price.cpl - 2, price.cpl - 9,
        price.cpl + 9, 100, 1, true
      FROM fuel.region
      JOIN fuel.fuel ON fuel.fuel_id <= 8
      CROSS JOIN generate_series(\(now)::timestamptz - interval '3650 days', \(now)::timestamptz, interval '1 day') AS day (day)
      CROSS JOIN LATERAL (
        SELECT round((170 + 15 * sin(extract(epoch FROM day.day) / 400000))::numeric, 2) AS cpl
      ) AS price
      ON CONFLICT DO NOTHING
      """)
    try connection.execute("VACUUM ANALYZE")
    _ = try run(
      [program, "aggregate", "--now", (now + .seconds(60)).description], in: "bench_live")
    try connection.query(
      "SELECT set_config('bowser.now', \((now + .seconds(60)).description), false)")
    let regional = " WHERE region = 'QLD' AND fuel = 'U91'"
    let station = " WHERE station_id = 77 AND fuel = 'U91'"
    let views: [(name: String, one: String, isWhole: Bool)] = [
      ("stations", " WHERE station_id = 77", true), ("current_prices", station, true),
      ("tomorrow_prices", station, true), ("price_history", station, false),
      ("averages_now", regional, true),
      ("daily_averages", regional + " AND day > current_date - 400", false),
      ("trend_30d", regional, true), ("trend_summary", regional, true), ("cycles", regional, true),
      ("fill_up", regional, true), ("fill_up_scores", regional, true),
      ("station_fill_up", station, true),
      ("station_comparison", " WHERE station_id = 77 AND region = 'QLD' AND fuel = 'U91'", true),
      ("feed_health", "", true), ("ingest_runs", "", true),
    ]
    func milliseconds(_ query: String) throws -> Double {
      let times = try (0..<5).map { _ in
        let began = ContinuousClock.now
        // EXPLAIN ANALYZE makes the rows but does not send them. How fast rows travel does not
        // depend on the view.
        try connection.execute("EXPLAIN (ANALYZE, TIMING OFF) \(query)")
        return seconds(since: began) * 1_000
      }
      return times.sorted()[2]
    }
    for view in views {
      let one = try milliseconds("SELECT * FROM fuel_v1.\(view.name)\(view.one)")
      let whole = view.isWhole ? try milliseconds("SELECT * FROM fuel_v1.\(view.name)") : nil
      add(
        "view \(view.name)",
        String(format: "%.1f ms", one) + (whole.map { String(format: " / %.0f ms", $0) } ?? ""),
        limit: "5 / 100 ms, hold 20 / 400")
    }
  }
}
