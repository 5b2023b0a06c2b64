import Postgres

/// The files of archives that were loaded or refused.
extension Store {
  /// Returns the digests, in hex, of an archive's files or a feed's recordings that were loaded
  /// completely. A withdrawn file of an archive is among them: it stays out. A file that repeated
  /// facts of an earlier one, which was withdrawn since, is not: it has to state them itself.
  package func loadedDigests(of source: String) throws -> Set<String> {
    let rows = try connection.query(
      """
      SELECT DISTINCT encode(run.content_digest, 'hex') AS digest
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(source)
        AND run.content_digest IS NOT NULL
        AND (
          run.outcome = 'withdrawn' AND run.kind = 'backfill'
          OR run.outcome IN ('stored', 'unchanged') AND NOT EXISTS (
            SELECT
            FROM fuel.run AS earlier
            JOIN fuel.withdrawal USING (run_id)
            WHERE run.kind = 'backfill'
              AND run.unchanged > 0
              AND earlier.source_id = run.source_id
              AND earlier.run_id < run.run_id
              AND earlier.outcome = 'withdrawn'
              AND withdrawal.decided_at >= run.finished_at))
      """)
    return Set(try rows.map { try $0.text("digest") })
  }
}
