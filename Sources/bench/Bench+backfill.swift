import Foundation
import FuelModel
import Postgres
import Simulator

extension Bench {
  /// Measures how fast archives are loaded. Returns the number of rows.
  mutating func backfill() throws -> Int {
    let archive = try archive()
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
    func add(_ name: String, _ run: Finished, of yardstick: Double, _ goal: Run.Goal) {
      let rate = Int(Double(stored) / run.seconds / 1_000)
      self.add(name, "\(rate) krow/s, \(run.megabytes) MB", yardstick / run.seconds, goal)
    }
    self.add(
      "\\copy of \(size) into a plain table, L",
      "\(Int(Double(stored) / copied.seconds / 1_000)) krow/s")
    add(
      "backfill of \(size) into an empty history, of L", first, of: copied.seconds,
      .init(wanted: 0.7, hold: 0.4))

    note("the same files again")
    let again = try run([program, "backfill", "nsw-fuelcheck", archive])
    let files = try FileManager.default.contentsOfDirectory(atPath: archive)
      .map { "\(archive)/\($0)" }
    let hashed = try run(["sha256sum"] + files)
    add(
      "re-load of \(size) by the ledger, of sha256sum", again, of: hashed.seconds,
      .init(wanted: 4.7, hold: 1))

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
      "re-load of \(size) one by one, of psql staging and anti-join", compared,
      of: staged.seconds, .init(wanted: 1.55, hold: 0.8))
    try drop("bench_empty")

    try database("bench_other")
    note("backfill into a history that holds other rows of the same months")
    _ = try run([program, "backfill", "nsw-fuelcheck", other], in: "bench_other")
    let merged = try run(
      [program, "backfill", "nsw-fuelcheck", archive], in: "bench_other")
    add(
      "backfill of \(size) beside others of the same months, of L", merged, of: copied.seconds,
      .init(wanted: 0.3, hold: 0.15))
    try drop("bench_other")
    return rows
  }
}
