import Foundation
import FuelModel
import Postgres
import Simulator

extension Bench {
  /// Measures how fast archives are loaded. Returns the number of rows.
  mutating func backfill() throws -> Int {
    let archive = try archive(rows: rows)
    let size = "\(short(Double(rows) / 1_000_000)) million rows"
    // A second archive of the same months: other rows, and a tenth as many.
    let other = "\(folder)/other"
    _ = try SyntheticArchive(seed: 2, firstMonth: Self.begin)
      .write(months: Self.months, rowsPerMonth: rows / Self.months / 10, into: other)

    try database("bench_empty")
    note("backfill into an empty history")
    let first = try run([program, "backfill", "nsw-fuelcheck", archive])
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
    func addSpeed(_ name: String, _ run: Finished, _ goal: Run.Goal) {
      let rate = Double(stored) / run.seconds
      add(name, "\(Int(rate / 1_000)) krow/s", rate / limit, goal: goal)
    }
    add("\\copy of \(size) into a plain table, L", "\(Int(limit / 1_000)) krow/s")
    addSpeed("backfill of \(size) into an empty history, of L", first, .init(0.7, hold: 0.5))
    add("  client memory", "\(first.megabytes) MB", limit: "150 MB, hold 300")

    note("the same files again")
    let again = try run([program, "backfill", "nsw-fuelcheck", archive])
    let files = try FileManager.default.contentsOfDirectory(atPath: archive)
      .map { "\(archive)/\($0)" }
    let hashed = try run(["sha256sum"] + files)
    add(
      "re-load of \(size) by the ledger, of sha256sum",
      "\(Int(Double(stored) / again.seconds / 1_000)) krow/s",
      hashed.seconds / again.seconds, goal: .init(1, hold: 0.33))

    note("the same files again, which the ledger no longer knows")
    try sql("bench_empty", "UPDATE fuel.run SET content_digest = NULL")
    let compared = try run([program, "backfill", "nsw-fuelcheck", archive])
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
      "re-load of \(size) one by one, of psql staging and anti-join",
      "\(Int(Double(stored) / compared.seconds / 1_000)) krow/s",
      staged.seconds / compared.seconds,
      goal: .init(0.8, hold: 0.4))
    add("  client memory", "\(compared.megabytes) MB", limit: "150 MB, hold 300")
    try drop("bench_empty")

    try database("bench_other")
    note("backfill into a history that holds other rows of the same months")
    _ = try run([program, "backfill", "nsw-fuelcheck", other], in: "bench_other")
    let merged = try run(
      [program, "backfill", "nsw-fuelcheck", archive], in: "bench_other")
    addSpeed(
      "backfill of \(size) beside others of the same months, of L", merged, .init(0.3, hold: 0.2))
    try drop("bench_other")
    return rows
  }
}
