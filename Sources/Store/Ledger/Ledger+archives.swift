import FuelModel
import Postgres

/// The files of archives that were loaded or refused.
extension Ledger {
  /// Returns the digests, in hex, of an archive's files or a feed's recordings that were loaded
  /// completely. One of which all loads are withdrawn is among them: it stays out.
  /// A file that repeated facts of an earlier one, which was withdrawn since, is left out, so that it
  /// is loaded again.
  package func loadedDigests(of source: String) throws -> Set<String> {
    let rows = try connection.query(
      """
      SELECT encode(run.content_digest, 'hex') AS digest
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(source)
        AND run.content_digest IS NOT NULL
        AND run.outcome IN ('stored', 'unchanged', 'withdrawn')
      GROUP BY run.content_digest
      HAVING bool_and(run.outcome = 'withdrawn')
        OR bool_or(run.outcome <> 'withdrawn' AND NOT (
          run.kind = 'backfill' AND run.unchanged > 0 AND EXISTS (
            SELECT
            FROM fuel.run AS earlier
            JOIN fuel.withdrawal USING (run_id)
            WHERE earlier.source_id = run.source_id
              AND earlier.run_id < run.run_id
              AND earlier.outcome = 'withdrawn'
              AND withdrawal.change_number > run.change_number)))
      """)
    return Set(try rows.map { try $0.text("digest") })
  }

  /// Returns the runs that loaded the same file of an archive as a run and count.
  package func otherLoads(of run: RunID) throws -> [RunID] {
    try connection.query(
      """
      SELECT other.run_id
      FROM fuel.run
      JOIN fuel.run AS other USING (source_id, content_digest)
      WHERE run.run_id = \(run)
        AND run.kind = 'backfill'
        AND other.run_id <> run.run_id
        AND other.outcome IN ('stored', 'unchanged')
      ORDER BY other.run_id
      """
    ).map { RunID(number: try $0.integer("run_id")) }
  }
}
