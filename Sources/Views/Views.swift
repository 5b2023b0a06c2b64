package import FuelModel
package import Postgres

/// The published views, which the program reads as any reader does. Nothing in this module names
/// another schema than `fuel_v1`.
package struct Views {
  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Takes the role that may read the views and nothing else.
  package func becomeReader() throws {
    // A reader's time limit is set by its login. The program's jobs end by their own deadline.
    try connection.restoreTimeout()
    try connection.become("fuel_reader")
  }

  /// Sets what counts as now in the views of this session.
  package func setViewClock(_ instant: String) throws {
    try connection.query("SELECT set_config('bowser.now', \(instant), false)")
  }

  /// Whether prices were fetched from a feed after an instant. What the views of the present say of
  /// changes and of prices to come is then not of that instant.
  package func isPast(_ instant: Instant) throws -> Bool {
    try connection.query(
      """
      SELECT EXISTS (
        SELECT FROM fuel_v1.ingest_runs
        WHERE kind <> 'backfill'
          AND outcome IN ('stored', 'unchanged')
          AND fetched_at > \(instant)::timestamptz) AS is_past
      """
    ).only().boolean("is_past")
  }

  /// Reads the averages of now, by region and in the order of fuels.
  package func averagesNow() throws -> [AverageNow] {
    try connection.query(
      """
      SELECT region, fuel, average_cpl, min_cpl, max_cpl, p25_cpl, change_24h_cpl, change_7d_cpl, stations,
        excluded_stale, delay_hours
      FROM fuel_v1.averages_now
      """
    ).map { row in
      AverageNow(
        region: try row.text("region"), fuel: try row.text("fuel"),
        average: try row.optionalDouble("average_cpl"),
        lowest: try row.optionalDouble("min_cpl"), highest: try row.optionalDouble("max_cpl"),
        quarter: try row.optionalDouble("p25_cpl"),
        change24h: try row.optionalDouble("change_24h_cpl"),
        change7d: try row.optionalDouble("change_7d_cpl"),
        stations: try row.integer("stations"), stale: try row.integer("excluded_stale"),
        delayHours: try row.integer("delay_hours"))
    }.sorted { one, other in
      one.region == other.region
        ? Fuel.precedes(one.fuel, other.fuel) : one.region < other.region
    }
  }

  /// Reads when the last successful aggregate ended, and how many days still wait.
  package func pipeline() throws -> PipelineState {
    let row = try connection.query(
      "SELECT aggregated_at, days_due, chain_head FROM fuel_v1.pipeline"
    ).only()
    return PipelineState(
      aggregatedAt: try row.optionalInstant("aggregated_at"),
      daysDue: try row.integer("days_due"), chainHead: try row.optional("chain_head"))
  }

  /// Reads the health of every feed.
  package func health() throws -> [FeedHealth] {
    try connection.query(
      """
      SELECT
        source, status, why, since_at, last_success_at, newest_price_at, stations, prices,
        quota_left, attribution, licence
      FROM fuel_v1.feed_health
      ORDER BY source
      """
    ).map { row in
      FeedHealth(
        feed: try row.text("source"), status: try row.text("status"), why: try row.optional("why"),
        since: try row.optionalInstant("since_at"),
        lastSuccess: try row.optionalInstant("last_success_at"),
        newestPrice: try row.optionalInstant("newest_price_at"),
        stations: try row.integer("stations"), prices: try row.integer("prices"),
        quotaLeft: try row.optional("quota_left").flatMap(Int.init),
        attribution: try row.text("attribution"), licence: try row.optional("licence"))
    }
  }
}

/// The state of feeds and aggregate, for other programs.
extension Views {
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
          SELECT coalesce(json_agg(quarantined ORDER BY quarantined.run_id), '[]') FROM fuel_v1.quarantined),
        'last_aggregate', (
          SELECT row_to_json(last_run) FROM fuel_v1.aggregate_runs AS last_run ORDER BY aggregate_run_id DESC LIMIT 1
        ))::text AS text
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

/// A row of `averages_now`. Prices are cents per litre.
package struct AverageNow: Sendable {
  package var region: String
  package var fuel: String
  package var average: Double?
  package var lowest: Double?
  package var highest: Double?
  /// What the cheapest quarter of the stations charges at most.
  package var quarter: Double?
  package var change24h: Double?
  package var change7d: Double?
  package var stations: Int
  package var stale: Int
  /// By how many hours the region's prices are published late.
  package var delayHours: Int
}

/// A row of `feed_health`.
package struct FeedHealth: Sendable {
  package var feed: String
  package var status: String
  package var why: String?
  package var since: Instant?
  package var lastSuccess: Instant?
  package var newestPrice: Instant?
  package var stations: Int
  package var prices: Int
  package var quotaLeft: Int?
  package var attribution: String
  package var licence: String?
}

/// When the last successful aggregate ended, how many days still wait to be made again, and the
/// newest digest of the chain.
package struct PipelineState: Sendable {
  package var aggregatedAt: Instant?
  package var daysDue: Int
  package var chainHead: String?
}
