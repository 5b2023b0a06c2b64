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
}
