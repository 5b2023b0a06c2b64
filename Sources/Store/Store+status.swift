package import FuelModel
import Postgres

/// The state of feeds and aggregate, for other programs.
extension Store {
  /// Returns the state of the feeds and the aggregate as one JSON object, as the server writes it.
  /// Its parts have the columns of the views from which they come.
  ///
  /// - Parameter notSetUp: the configured feeds without a key, and what each is missing.
  package func statusJSON(notSetUp: [(feed: String, missing: String)]) throws -> String {
    try connection.query(
      """
      SELECT json_build_object(
        'version', 1,
        'pipeline', (SELECT row_to_json(pipeline) FROM fuel_v1.pipeline),
        'feeds', (
          SELECT coalesce(json_agg(feed_health ORDER BY feed_health.source), '[]')
          FROM fuel_v1.feed_health),
        'not_set_up', (
          SELECT coalesce(json_agg(json_build_object('source', source, 'missing', missing) ORDER BY source), '[]')
          FROM unnest(\(notSetUp.map(\.feed))::text[], \(notSetUp.map(\.missing))::text[]) AS feed (source, missing)),
        'last_runs', (
          SELECT coalesce(json_agg(last_run ORDER BY last_run.source), '[]')
          FROM (
            SELECT DISTINCT ON (ingest_runs.source) ingest_runs.*
            FROM fuel_v1.ingest_runs
            WHERE ingest_runs.kind = 'live'
            ORDER BY ingest_runs.source, ingest_runs.run_id DESC
          ) AS last_run),
        'quarantined', (
          SELECT coalesce(json_agg(quarantined ORDER BY quarantined.run_id), '[]')
          FROM fuel_v1.quarantined),
        'last_aggregate', (
          SELECT row_to_json(last_run)
          FROM (
            SELECT aggregate_runs.* FROM fuel_v1.aggregate_runs
            ORDER BY aggregate_runs.aggregate_run_id DESC
            LIMIT 1
          ) AS last_run))::text AS text
      """
    ).only().text("text")
  }

  /// A quarantined run: its documents or its file broke their reader.
  package struct Quarantined: Sendable {
    package var run: Int
    package var feed: String
    /// Whether its documents are kept, so that they can be read again.
    package var isKept: Bool
    package var at: Instant
    package var reason: String
  }

  /// Returns the quarantined runs of the last thirty days that were not read since, newest first,
  /// at most twenty.
  package func quarantined() throws -> [Quarantined] {
    try connection.query(
      "SELECT quarantined.* FROM fuel_v1.quarantined ORDER BY quarantined.run_id DESC LIMIT 20"
    ).map { row in
      Quarantined(
        run: try row.integer("run_id"), feed: try row.text("source"),
        isKept: try row.text("kind") != "backfill", at: try row.instant("started_at"),
        reason: try row.text("error"))
    }
  }
}
