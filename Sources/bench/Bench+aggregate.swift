import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import Timeline

extension Bench {
  /// Measures how long daily averages take, and what changes them again costs. Returns the number
  /// of rows.
  mutating func aggregate() throws -> Int {
    let next = Month(number: Self.begin.number + Int32(Self.months))
    let end = next.firstDay
    let what = "\(short(Double(rows) / 1_000_000)) million change points"
    try database("bench_empty")
    _ = try run([program, "backfill", "nsw-fuelcheck", try archive()])

    note("daily averages of all of it")
    let full = try run([program, "aggregate", "--now", "\(end)T00:00:00+10:00"])
    try compare(full, what, until: end)

    note("one more day")
    let files = try SyntheticArchive(seed: 3, firstMonth: next)
      .write(months: 1, rowsPerMonth: rows / Self.months, into: "\(folder)/more")
    for file in files {
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      let day = lines.dropFirst().filter { $0.contains(",\(end) ") }
      try ([lines[0]] + day).joined(separator: "\n").appending("\n")
        .write(toFile: file, atomically: false, encoding: .utf8)
    }
    let later = "\(end + 1)T00:30:00+10:00"
    _ = try run([program, "backfill", "nsw-fuelcheck", "\(folder)/more", "--now", later])
    let more = try run([program, "aggregate", "--now", later])
    add(
      "one more day after \(what), of all of it", "\(Int(more.seconds * 1_000)) ms",
      more.seconds / full.seconds, .init(wanted: 0.03, hold: 0.1))

    note("one decision that two stations are one")
    let linked = try runLinked(at: "\(end + 1)T00:31:00+10:00")
    add(
      "one link after \(what), of all of it", "\(Int(linked.seconds * 1_000)) ms",
      linked.seconds / full.seconds, .init(wanted: 0.1, hold: 0.5))
    try drop("bench_empty")
    return rows
  }

  /// Runs an aggregate with a configuration that links two station records.
  private func runLinked(at now: String) throws -> Finished {
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
    let config = "\(folder)/config"
    try? FileManager.default.removeItem(atPath: config)
    try FileManager.default.copyItem(
      atPath: environment["BOWSER_CONFIG"] ?? "config", toPath: config)
    try """
    [{ on: '2026-07-01', station: '\(records[0])', is: 'same', as: '\(records[1])', why: 'bench' }]
    """.write(toFile: config + "/stations.json5", atomically: false, encoding: .utf8)
    return try run([program, "aggregate", "--now", now, "--config", config])
  }

  /// What a program made of the price changes.
  private struct Averages: Decodable {
    var rows: Int
    /// The mean of all averages, in cents per litre.
    var mean: Double

    var text: String { "\(rows), mean \(String(format: "%.3f", mean)) c/L" }
  }

  /// Compares the time of an aggregate with the time that DuckDB needs for the same averages, where
  /// a Python interpreter has it. The averages are shown beside each other.
  private mutating func compare(_ full: Finished, _ what: String, until end: Day) throws {
    let made = try connection("bench_empty").query(
      """
      SELECT count(*) AS rows, coalesce(avg(average_cpl), 0) AS mean
      FROM fuel.daily_rollup
      WHERE stations >= fuel.minimum_stations()
      """
    ).only()
    let ours = Averages(rows: try made.integer("rows"), mean: try made.double("mean"))
    add("daily averages of \(what)", "\(full.cost); \(ours.text)")
    // The interpreter that `config/cluster tools` makes, or the caller's.
    for python in [".build/tools/python/bin/python", "python3"] {
      let duckDB = [python, "Sources/bench/Peers/averages_duckdb.py"]
      guard let version = try? run(duckDB + ["version"]).output else { continue }
      measured.versions["DuckDB"] = version.trimmingCharacters(in: .whitespacesAndNewlines)
      note("the same averages by DuckDB")
      try writeFacts(until: end)
      _ = try run(duckDB + ["prepare", folder])
      // The conversion of the facts to Parquet, before this, is not timed.
      let done = try run(duckDB + ["run", folder])
      let theirs = try JSONDecoder().decode(Averages.self, from: Data(done.output.utf8))
      return add(
        "daily averages of \(what), of DuckDB", "\(done.cost); \(theirs.text)",
        full.seconds / done.seconds, .init(wanted: 3, hold: 5))
    }
  }

  /// Writes the files that DuckDB reads. `Peers/averages_duckdb.py` describes them.
  private func writeFacts(until end: Day) throws {
    let connection = try connection("bench_empty")
    let source = try connection.query("SELECT source_id FROM fuel.archive_price LIMIT 1").only()
      .integer("source_id")
    let lapses = try Store(connection).spans.reportRules().compactMapValues { $0[Int16(source)] }
    let lines = lapses.sorted { $0.key < $1.key }
      .map { "\($0.key),\($0.value.priceLapse / 1_000_000)\n" }
    try ("fuel_id,lapses_after\n" + lines.joined(separator: ""))
      .write(toFile: "\(folder)/fuels.csv", atomically: false, encoding: .utf8)
    let local = "AT TIME ZONE 'Australia/Sydney'"
    let days =
      "generate_series(timestamp '\(Self.begin.firstDay)', timestamp '\(end)' - interval '1 day', interval '1 day')"
    try sql(
      "bench_empty",
      """
      \\copy (SELECT station_id, fuel_id, extract(epoch FROM effective_at)::bigint AS began, price_tenths FROM fuel.archive_price) TO '\(folder)/facts.csv' (FORMAT csv, HEADER)
      \\copy (SELECT region, station_id FROM fuel.region_station) TO '\(folder)/members.csv' (FORMAT csv, HEADER)
      \\copy (SELECT day::date - '1970-01-01'::date AS day, extract(epoch FROM day \(local))::bigint AS begins_at, extract(epoch FROM (day + interval '1 day') \(local))::bigint AS ends_at FROM \(days) AS r (day)) TO '\(folder)/days.csv' (FORMAT csv, HEADER)
      """)
  }
}
