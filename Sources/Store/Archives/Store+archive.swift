package import FuelModel
import Postgres

/// The files of archives that were loaded or refused.
extension Store {
  /// Returns the digests, in hex, of an archive's files or a feed's recordings that were loaded
  /// completely.
  package func loadedDigests(of source: String) throws -> Set<String> {
    let rows = try connection.query(
      """
      SELECT DISTINCT encode(run.content_digest, 'hex') AS digest
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(source)
        AND run.content_digest IS NOT NULL
        AND run.outcome IN ('stored', 'unchanged')
      """)
    return Set(try rows.map { try $0.text("digest") })
  }

  /// Records that a file was refused as a whole.
  package func refuseFile(
    _ file: String, digest: String, of source: SourceID, received: Int, reason: String,
    at now: Instant
  ) throws {
    try connection.query(
      """
      INSERT INTO fuel.run (
        source_id, started_at, finished_at, outcome, is_complete, describes_stations, documents,
        payload_bytes, requests, received, stored, unchanged, duplicate, rejected,
        rejected_by_reason, flagged, kind, content_digest, error)
      VALUES (
        \(source), \(now), \(now), 'refused', false, false, \([file]), 0, 0, \(received), 0, 0, 0,
        \(received), jsonb_build_object('file_refused', \(received)::integer), 0, 'backfill',
        decode(\(digest), 'hex'), \(String(reason.prefix(1_000))))
      """)
  }
}
