import Foundation
import FuelModel
import Postgres
import Simulator

extension Bench {
  /// Simulates a year of every feed at national size, over HTTP and with the programs that cron
  /// runs, and reports how the cost develops over the months. BENCH_DAYS is the number of days. All
  /// feeds are fetched every BENCH_STEP days. Returns the number of prices that were stored.
  mutating func year() throws -> Int {
    let days = environment["BENCH_DAYS"].flatMap { Int($0) } ?? 365
    let step = environment["BENCH_STEP"].flatMap { Int($0) } ?? 3
    let stations = environment["BENCH_STATIONS"].flatMap { Int($0) } ?? 14_000
    let begin = Instant(seconds: 1_767_244_500)  // 2026-01-01T05:15:00Z: 13:15 in Perth
    let first = Zone.sydney.local(begin).day
    note("making a market of \(stations) stations over \(days) days")
    let feeds = SimulatedFeeds(
      Market(seed: 1, stations: stations, days: first...(first + days + 1)), at: begin)
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    try database("bench_year")
    let settings = SimulatedFeeds.settings(port: server.port)
    let connection = try connection("bench_year")

    var lines = ["day,ingest_s,aggregate_s,ingest_mb,aggregate_mb,dead_rows,table,bytes,rows"]
    var totals = (ingest: 0.0, aggregate: 0.0, ingestMB: 0, aggregateMB: 0, count: 0)
    for day in stride(from: 0, through: days, by: step) {
      let now = begin + .seconds(day * 86_400)
      feeds.set(now)
      for feed in SimulatedFeeds.feeds {
        let done = try run(
          [program, "ingest", feed, "--now", "\(now)"], in: "bench_year", with: settings)
        totals.ingest += done.seconds
        totals.ingestMB = max(totals.ingestMB, done.megabytes)
      }
      let done = try run(
        [program, "aggregate", "--now", "\(now + .seconds(300))"], in: "bench_year",
        with: settings)
      totals.aggregate += done.seconds
      totals.aggregateMB = max(totals.aggregateMB, done.megabytes)
      totals.count += 1
      guard day / 30 < (day + step) / 30 || day + step > days else { continue }
      let (ingest, aggregate) = (
        totals.ingest / Double(totals.count), totals.aggregate / Double(totals.count)
      )
      let tables = try connection.query(
        """
        WITH RECURSIVE part AS (
          SELECT class.oid, class.relname AS name
          FROM pg_class AS class
          WHERE class.relnamespace = 'fuel'::regnamespace AND class.relkind IN ('r', 'p', 'm')
            AND NOT class.relispartition
          UNION ALL
          SELECT pg_inherits.inhrelid, part.name
          FROM part
          JOIN pg_inherits ON pg_inherits.inhparent = part.oid
        )
        SELECT part.name::text, sum(pg_total_relation_size(part.oid))::bigint AS bytes,
          sum(coalesce(stat.n_live_tup, 0))::bigint AS live,
          sum(coalesce(stat.n_dead_tup, 0))::bigint AS dead
        FROM part
        LEFT JOIN pg_stat_all_tables AS stat ON stat.relid = part.oid
        GROUP BY part.name
        ORDER BY bytes DESC
        """)
      let all = try tables.map {
        (
          name: try $0.text("name"), bytes: try $0.integer("bytes"), rows: try $0.integer("live"),
          dead: try $0.integer("dead")
        )
      }
      let dead = all.reduce(0) { $0 + $1.dead }
      for table in all {
        lines.append(
          "\(day),\(ingest),\(aggregate),\(totals.ingestMB),\(totals.aggregateMB),\(dead),"
            + "\(table.name),\(table.bytes),\(table.rows)")
      }
      try (lines.joined(separator: "\n") + "\n").write(
        toFile: ".bowser/year.csv", atomically: true, encoding: .utf8)
      let megabytes = all.reduce(0) { $0 + $1.bytes } >> 20
      add(
        "day \(day): all feeds / aggregate, s; most memory, MB",
        String(format: "%.1f / %.1f; ", ingest, aggregate)
          + "\(totals.ingestMB) / \(totals.aggregateMB)", limit: "flat")
      add("day \(day): disk, MB; dead rows", "\(megabytes); \(dead)")
      totals = (0, 0, 0, 0, 0)
    }
    let stored = try connection.query("SELECT count(*) AS n FROM fuel.price").only().integer("n")
    try finish("bench_year")
    return stored
  }
}
