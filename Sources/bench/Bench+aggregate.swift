import Foundation
import FuelModel
import Postgres
import Simulator

extension Bench {
  mutating func aggregate() throws {
    for million in history.sorted() {
      try aggregate(
        rows: million * 1_000_000,
        isCompared: million == history.sorted().min { abs($0 - 10) < abs($1 - 10) })
    }
  }

  mutating func aggregate(rows: Int, isCompared: Bool) throws {
    let months = 117
    let begin = Month(number: 2016 * 12 + 7)
    let next = Month(number: begin.number + Int32(months))
    let end = next.firstDay
    let what = "\(rows / 1_000_000) million change points"
    note("writing \(rows) rows in \(months) files")
    let archive = SyntheticArchive(seed: 1, firstMonth: begin)
    _ = try archive.write(months: months, rowsPerMonth: rows / months, into: folder + "/archive")
    try database("bench_empty")
    _ = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])

    note("daily averages of all of it")
    let full = try run([program, "aggregate", "--now", "\(end)T00:00:00+10:00"])
    let made = try connection("bench_empty").query("SELECT count(*) AS n FROM fuel.daily_rollup")
      .only().integer("n")
    add(
      "daily averages of \(what)", "\(made) rows in \(Int(full.seconds)) s", nil, "")
    add("  client memory", "\(full.megabytes) MB", nil, "")
    if isCompared {
      let yardstick = try averagesElsewhere(end)
      add(
        "  of \(yardstick.name)", "\(String(format: "%.1f", yardstick.seconds)) s",
        full.seconds / yardstick.seconds, "2, hold 4")
    }

    note("one more day")
    let files = try SyntheticArchive(seed: 3, firstMonth: next)
      .write(months: 1, rowsPerMonth: rows / months, into: folder + "/more")
    for file in files {
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      let day = lines.dropFirst().filter { $0.contains(",\(end) ") }
      try ([lines[0]] + day).joined(separator: "\n").appending("\n")
        .write(toFile: file, atomically: false, encoding: .utf8)
    }
    _ = try run([
      program, "backfill", "nsw-fuelcheck", folder + "/more", "--now", "\(end + 1)T00:30:00+10:00",
    ])
    let more = try run([program, "aggregate", "--now", "\(end + 1)T00:30:00+10:00"])
    add(
      "one more day after \(what), of all of it", "\(Int(more.seconds * 1_000)) ms",
      more.seconds / full.seconds, "0.02, hold 0.05")

    note("one decision that two stations are one")
    let linked = try runLinked(at: "\(end + 1)T00:31:00+10:00")
    add(
      "one link after \(what), of all of it", "\(Int(linked.seconds * 1_000)) ms",
      linked.seconds / full.seconds, "0.02, hold 0.05")
    try finish("bench_empty")
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Runs an aggregate with a configuration that links two station records.
  func runLinked(at now: String) throws -> Finished {
    let records = try connection("bench_empty").query(
      """
      SELECT source.source || ' ' || station.station_code AS record
      FROM fuel.station
      JOIN fuel.source USING (source_id)
      WHERE station.place_id = station.station_id
      ORDER BY station.station_id
      LIMIT 2
      """
    ).map { try $0.text("record") }
    let config = folder + "/config"
    try FileManager.default.copyItem(
      atPath: environment["BOWSER_CONFIG"] ?? "config", toPath: config)
    try """
    [{ on: '2026-07-01', station: '\(records[0])', is: 'same', as: '\(records[1])', why: 'bench' }]
    """.write(toFile: config + "/stations.json5", atomically: false, encoding: .utf8)
    return try run([program, "aggregate", "--now", now, "--config", config])
  }

  /// Computes the same averages from the same observations with DuckDB, or with one plain SQL
  /// statement if DuckDB is not installed. Returns the name of the method and its time.
  func averagesElsewhere(_ end: Day) throws -> (name: String, seconds: Double) {
    let facts = "\(folder)/facts.csv"
    let members = "\(folder)/members.csv"
    try sql(
      "bench_empty",
      """
      \\copy (SELECT station_id, fuel_id, effective_at AT TIME ZONE 'UTC' AS began, price_tenths FROM fuel.archive_price) TO '\(facts)' (FORMAT csv, HEADER)
      \\copy (SELECT region, station_id FROM fuel.region_station) TO '\(members)' (FORMAT csv, HEADER)
      """)
    // Every price holds until the next one, for at most thirty days. Days are those of Sydney.
    func averages(_ local: (String) -> String, _ seconds: (String) -> String) -> String {
      """
      WITH held AS (
        SELECT station_id, fuel_id, price_tenths, began AS from_at,
          least(coalesce(lead(began) OVER (PARTITION BY station_id, fuel_id ORDER BY began), \(local("'\(end)'"))),
            began + interval '30 days') AS to_at
        FROM facts),
      station_day AS (
        SELECT held.station_id, held.fuel_id, days.day,
          sum(held.price_tenths * \(seconds("least(held.to_at, days.ends_at) - greatest(held.from_at, days.begins_at)")))
            / sum(\(seconds("least(held.to_at, days.ends_at) - greatest(held.from_at, days.begins_at)"))) AS price_tenths
        FROM held JOIN days ON days.begins_at < held.to_at AND days.ends_at > held.from_at
        GROUP BY held.station_id, held.fuel_id, days.day)
      SELECT members.region, station_day.fuel_id, station_day.day, avg(station_day.price_tenths) AS mean,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY station_day.price_tenths) AS middle,
        percentile_cont(0.25) WITHIN GROUP (ORDER BY station_day.price_tenths) AS quarter,
        min(station_day.price_tenths) AS lowest, max(station_day.price_tenths) AS highest, count(*) AS stations
      FROM station_day JOIN members USING (station_id)
      GROUP BY members.region, station_day.fuel_id, station_day.day
      """
    }
    if (try? run(["duckdb", "--version"])) != nil {
      let parquet = "\(folder)/facts.parquet"
      _ = try run([
        "duckdb", "-c",
        "COPY (SELECT * FROM read_csv('\(facts)')) TO '\(parquet)' (FORMAT parquet)",
      ])
      let statement = averages({ "timestamp \($0)" }, { "epoch(\($0))" })
      let done = try run([
        "duckdb", "-c",
        """
        CREATE TABLE members AS SELECT * FROM read_csv('\(members)');
        CREATE VIEW facts AS SELECT * FROM read_parquet('\(parquet)');
        CREATE TABLE days AS SELECT d::date AS day,
          timezone('UTC', timezone('Australia/Sydney', d)) AS begins_at,
          timezone('UTC', timezone('Australia/Sydney', d + interval 1 day)) AS ends_at
        FROM range(timestamp '2016-08-01', timestamp '\(end)', interval 1 day) AS r(d);
        CREATE TABLE made AS \(statement);
        """,
      ])
      return ("DuckDB", done.seconds)
    }
    let statement = averages({ "timestamp \($0)" }, { "extract(epoch FROM \($0))" })
    try sql(
      "bench_empty",
      """
      CREATE TABLE public.facts (station_id integer, fuel_id smallint, began timestamp, price_tenths integer);
      CREATE TABLE public.members (region text, station_id integer);
      \\copy public.facts FROM '\(facts)' (FORMAT csv, HEADER)
      \\copy public.members FROM '\(members)' (FORMAT csv, HEADER)
      CREATE TABLE public.days AS SELECT d::date AS day,
        d AT TIME ZONE 'Australia/Sydney' AT TIME ZONE 'UTC' AS begins_at,
        (d + interval '1 day') AT TIME ZONE 'Australia/Sydney' AT TIME ZONE 'UTC' AS ends_at
      FROM generate_series(timestamp '2016-08-01', timestamp '\(end)' - interval '1 day', interval '1 day') AS r(d);
      CREATE INDEX ON public.days (begins_at, ends_at);
      VACUUM ANALYZE public.facts, public.members, public.days;
      """)
    let done = try sql("bench_empty", "CREATE TABLE public.made AS \(statement);")
    return ("one plain statement", done.seconds)
  }
}
