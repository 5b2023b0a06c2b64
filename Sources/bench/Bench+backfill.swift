import Foundation
import FuelModel
import Postgres
import Simulator

extension Bench {
  mutating func backfill() throws {
    let rows = environment["BENCH_ROWS"].flatMap { Int($0) } ?? 10_000_000
    let months = 117
    let begin = Month(number: 2016 * 12 + 7)
    note("writing \(rows) rows in \(months) files")
    _ = try SyntheticArchive(seed: 1, firstMonth: begin)
      .write(months: months, rowsPerMonth: rows / months, into: folder + "/archive")
    // A second archive: a tenth as many other rows of the same months.
    _ = try SyntheticArchive(seed: 2, firstMonth: begin)
      .write(months: months, rowsPerMonth: rows / months / 10, into: folder + "/other")

    try database("bench_empty")
    note("backfill into an empty history")
    let first = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let stored = try connection("bench_empty").query("SELECT count(*) AS n FROM fuel.archive_price")
      .only().integer("n")

    note("the yardstick: \\copy of the same rows, normalised already, into a plain table")
    try sql(
      "bench_empty",
      "\\copy (SELECT station_id, fuel_id, source_id, effective_at, price_tenths, run_id FROM "
        + "fuel.archive_price) TO '\(folder)/rows.tsv'")
    try sql(
      "bench_empty",
      "CREATE TABLE public.plain (station_id integer, fuel_id smallint, source_id smallint, "
        + "effective_at timestamptz, price_tenths integer, run_id integer)")
    let copied = try sql("bench_empty", "\\copy public.plain FROM '\(folder)/rows.tsv'")
    let limit = Double(stored) / copied.seconds
    func loading(_ name: String, _ run: Finished, _ goal: String) {
      let rate = Double(stored) / run.seconds
      add(name, "\(Int(rate / 1_000)) krow/s", rate / limit, goal)
    }
    add("\\copy into a plain table, L", "\(Int(limit / 1_000)) krow/s", nil, "")
    loading("backfill into an empty history, of L", first, "0.6, hold 0.4")
    add("  client memory", "\(first.megabytes) MB", nil, "150, hold 300")

    note("the same files again")
    let again = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/archive")
      .map { "\(folder)/archive/\($0)" }
    let hashed = try run(["sha256sum"] + files)
    add(
      "re-load by the ledger, of sha256sum",
      "\(Int(Double(stored) / again.seconds / 1_000)) krow/s",
      hashed.seconds / again.seconds, "1, hold 0.33")

    note("again without the ledger")
    try sql("bench_empty", "UPDATE fuel.run SET content_digest = NULL")
    let met = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let staged = try sql(
      "bench_empty",
      """
      BEGIN; CREATE TEMPORARY TABLE staged (LIKE public.plain);
      \\copy pg_temp.staged FROM '\(folder)/rows.tsv'
      SELECT count(*) FROM pg_temp.staged AS s WHERE NOT EXISTS (SELECT FROM fuel.archive_price AS k
        WHERE k.station_id = s.station_id AND k.fuel_id = s.fuel_id
          AND k.effective_at = s.effective_at AND k.price_tenths = s.price_tenths);
      ROLLBACK;
      """)
    add(
      "re-load row by row, of psql staging and anti-join",
      "\(Int(Double(stored) / met.seconds / 1_000)) krow/s", staged.seconds / met.seconds,
      "0.8, hold 0.4")
    add("  client memory", "\(met.megabytes) MB", nil, "150, hold 300")
    try drop("bench_empty")

    try database("bench_other")
    note("backfill into a history that holds other rows of the same months")
    _ = try run([program, "backfill", "nsw-fuelcheck", folder + "/other"], in: "bench_other")
    let merged = try run(
      [program, "backfill", "nsw-fuelcheck", folder + "/archive"], in: "bench_other")
    loading("backfill beside other rows of the same months, of L", merged, "0.25, hold 0.15")
    try drop("bench_other")
    try FileManager.default.removeItem(atPath: folder)
  }
}
