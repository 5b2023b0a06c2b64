package import FuelModel
import Postgres

/// What the database has to know about a feed or an archive.
package struct SourceRecord: Sendable {
  package var feed: String
  package var state: State
  package var cadenceMinutes: Int
  package var priceLapsesHours: Int
  /// The fuels whose prices are believed for a longer or shorter time, by code, in hours.
  package var priceLapsesHoursByFuel: [String: Int]
  package var sightLapsesHours: Int
  package var tellsWholeDays: Bool
  package var licence: String
  package var attribution: String
  package var isEnabled: Bool
  package var callsPerMonth: Int
  /// The feed whose key and quota it shares; `nil` where it has its own.
  package var account: String?
  package var delayHours: Int
  package var holdingConfirms: Bool
  /// The local time from which it has the prices of the next price day, such as `14:30`; `nil`
  /// where it never has them.
  package var publishesTomorrowAt: String?
  /// Whether it is an archive, whose facts come from files about the past.
  package var isArchive: Bool
  /// The feed to whose official scheme it belongs; `nil` where the scheme is its own.
  package var scheme: String?
  /// Whether its station codes are the scheme's own numbers. Otherwise they are made from name and
  /// address.
  package var hasCodes: Bool

  package init(
    feed: String, state: State, cadenceMinutes: Int, priceLapsesHours: Int,
    priceLapsesHoursByFuel: [String: Int] = [:], sightLapsesHours: Int,
    tellsWholeDays: Bool = false, licence: String = "", attribution: String, isEnabled: Bool,
    callsPerMonth: Int, account: String? = nil, delayHours: Int = 0, holdingConfirms: Bool = true,
    publishesTomorrowAt: String? = nil,
    isArchive: Bool = false, scheme: String? = nil, hasCodes: Bool? = nil
  ) {
    self.feed = feed
    self.state = state
    self.cadenceMinutes = cadenceMinutes
    self.priceLapsesHours = priceLapsesHours
    self.priceLapsesHoursByFuel = priceLapsesHoursByFuel
    self.sightLapsesHours = sightLapsesHours
    self.tellsWholeDays = tellsWholeDays
    self.licence = licence
    self.attribution = attribution
    self.isEnabled = isEnabled
    self.callsPerMonth = callsPerMonth
    self.account = account
    self.delayHours = delayHours
    self.holdingConfirms = holdingConfirms
    self.publishesTomorrowAt = publishesTomorrowAt
    self.isArchive = isArchive
    self.scheme = scheme
    self.hasCodes = hasCodes ?? !tellsWholeDays
  }
}

/// What limits the next run of a feed, as earlier runs left it.
package struct FeedPast: Sendable {
  /// The instant before which the provider asked not to be called.
  package var notBefore: Instant?
  /// When the last run that sent requests began.
  package var lastStart: Instant?
  /// The number of requests sent in the current UTC month, over all feeds that share the key.
  package var callsThisMonth: Int
  /// The same number for the last minute.
  package var callsThisMinute: Int
}

/// How the last runs of a feed went.
package struct FeedHistory: Sendable {
  /// When the documents of its newest successful run came; `nil` where there was none.
  package var lastGood: Instant?
  /// The instant before which its provider does not want to be called.
  package var notBefore: Instant?
  /// When its last live run began, whatever its outcome.
  package var lastTried: Instant?
  /// Whether that run failed before it sent its provider any request.
  package var askedNobody = false
  /// The number of live runs since the last successful one that were refused, failed or were
  /// interrupted.
  package var failures = 0
  /// Whether its last successful run found that something expected was not published yet.
  package var isAwaited = false
}

extension Store {
  /// Whether the database server, or another provider within the last day, disagrees with our clock
  /// by about the same amount as a provider does.
  ///
  /// - Parameters:
  ///   - clockSkewSeconds: the provider's clock less ours.
  ///   - within: how far two such differences may lie apart, in seconds.
  package func hasWitness(
    clockSkewSeconds: Int, within: Int, besides source: SourceID, now: Instant
  ) throws -> Bool {
    try connection.query(
      """
      SELECT
        abs(extract(epoch FROM clock_timestamp() - \(now)::timestamptz) - \(clockSkewSeconds)::integer)
          <= \(within)::integer
        OR EXISTS (
          SELECT
          FROM fuel.source AS asked
          JOIN fuel.source AS other ON other.account <> asked.account
          CROSS JOIN LATERAL (
            SELECT run.clock_skew
            FROM fuel.run
            WHERE run.source_id = other.source_id
              AND run.kind = 'live'
              AND run.clock_skew IS NOT NULL
              AND run.started_at > \(now)::timestamptz - interval '1 day'
            ORDER BY run.run_id DESC
            LIMIT 1
          ) AS latest
          WHERE asked.source_id = \(source)
            AND abs(extract(epoch FROM latest.clock_skew) - \(clockSkewSeconds)::integer)
              <= \(within)::integer
        ) AS agrees
      """
    ).only().boolean("agrees")
  }

  /// Returns the number of a feed or archive; `nil` where the database does not know it.
  package func number(of feed: String) throws -> SourceID? {
    try connection.query("SELECT source_id FROM fuel.source WHERE source = \(feed)").first
      .map { SourceID(number: Int16(try $0.integer("source_id"))) }
  }

  /// Registers a feed or archive, or updates what is stored about it. Writes only what differs. If
  /// a limit changes that decides how long prices are believed, all spans of the source are marked
  /// to be made again.
  ///
  /// - Parameter now: the instant from which the terms of use count as known.
  package func register(_ record: SourceRecord, now: Instant = .now) throws -> SourceID {
    try connection.transaction {
      let lapses = record.priceLapsesHoursByFuel.sorted { $0.key < $1.key }
      let row = try connection.query(
        """
        SELECT fuel.register(
          jsonb_build_object(
            'source', \(record.feed)::text,
            'state', \(record.state.code)::text,
            'cadence', make_interval(mins => \(record.cadenceMinutes)),
            'price_lapses_after', make_interval(hours => \(record.priceLapsesHours)),
            'sight_lapses_after', make_interval(hours => \(record.sightLapsesHours)),
            'tells_whole_days', \(record.tellsWholeDays)::boolean,
            'attribution', \(record.attribution)::text,
            'is_enabled', \(record.isEnabled)::boolean,
            'calls_per_month', \(record.callsPerMonth)::integer,
            'account', \(record.account ?? record.feed)::text,
            'delay', make_interval(hours => \(record.delayHours)),
            'holding_confirms', \(record.holdingConfirms)::boolean,
            'kind', \(record.isArchive ? "archive" : "feed")::text,
            'scheme', \(record.scheme ?? record.feed)::text,
            'has_codes', \(record.hasCodes)::boolean,
            'publishes_tomorrow_at', \(optional: record.publishesTomorrowAt)::time),
          \(lapses.map(\.key))::text[],
          \(lapses.map(\.value))::integer[]) AS source_id
        """
      ).only()
      let id = SourceID(number: Int16(try row.integer("source_id")))
      try connection.query(
        """
        INSERT INTO fuel.terms (source_id, since_at, licence, attribution)
        SELECT \(id)::smallint, \(now)::timestamptz, \(record.licence)::text, \(record.attribution)::text
        WHERE (\(record.licence)::text, \(record.attribution)::text) IS DISTINCT FROM (
          SELECT (terms.licence, terms.attribution)
          FROM fuel.terms
          WHERE terms.source_id = \(id)
          ORDER BY terms.since_at DESC
          LIMIT 1)
        ON CONFLICT DO NOTHING
        """)
      return id
    }
  }

  /// Takes the feed's lock for this session. The server frees it when the session ends in any way.
  package func lock(_ source: SourceID) throws -> Bool {
    // The first key, 1, means that this is a feed's lock. The second key is the feed's number.
    try take("SELECT pg_try_advisory_lock(1, \(source)) AS taken")
  }

  /// Releases the feed's lock.
  package func unlock(_ source: SourceID) throws {
    try connection.query("SELECT pg_advisory_unlock(1, \(source))")
  }

  /// Reads what limits a run of a feed that starts now.
  package func past(of source: SourceID, now: Instant) throws -> FeedPast {
    let row = try connection.query(
      """
      SELECT
        source.not_before_at,
        (SELECT max(run.started_at) FROM fuel.run
         WHERE run.source_id = source.source_id AND run.requests > 0) AS last_start_at,
        (SELECT coalesce(sum(run.requests), 0)
         FROM fuel.run
         JOIN fuel.source AS payer USING (source_id)
         WHERE payer.account = source.account
           AND run.started_at >= date_trunc('month', \(now)::timestamptz, 'UTC')) AS calls,
        (SELECT coalesce(sum(run.requests), 0)
         FROM fuel.run
         JOIN fuel.source AS payer USING (source_id)
         WHERE payer.account = source.account
           AND run.started_at <= \(now)
           AND coalesce(run.finished_at, run.started_at) > \(now)::timestamptz - interval '1 minute'
        ) AS calls_this_minute
      FROM fuel.source
      WHERE source.source_id = \(source)
      """
    ).only()
    return FeedPast(
      notBefore: try row.optionalInstant("not_before_at"),
      lastStart: try row.optionalInstant("last_start_at"),
      callsThisMonth: try row.integer("calls"),
      callsThisMinute: try row.integer("calls_this_minute"))
  }

  /// Stores the instant before which the provider does not want to be called; `nil` removes it.
  package func setNotBefore(_ instant: Instant?, of source: SourceID) throws {
    try connection.query(
      """
      UPDATE fuel.source SET not_before_at = \(optional: instant)
      WHERE source_id = \(source) AND not_before_at IS DISTINCT FROM \(optional: instant)
      """)
  }

  /// Reads how a feed's last runs went, which decides whether it is due.
  package func history(of feed: String) throws -> FeedHistory {
    let rows = try connection.query(
      """
      SELECT
        source.last_taken_at + source.delay AS last_at,
        source.not_before_at,
        (
          SELECT max(run.started_at)
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.kind = 'live'
        ) AS tried_at,
        coalesce((
          SELECT run.requests = 0 AND run.outcome = 'failed'
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.kind = 'live'
          ORDER BY run.started_at DESC
          LIMIT 1
        ), false) AS asked_nobody,
        (
          SELECT count(*)
          FROM fuel.run
          WHERE run.source_id = source.source_id
            AND run.kind = 'live'
            AND run.started_at > coalesce(source.last_taken_at + source.delay, '-infinity')
            AND run.outcome IN ('refused', 'failed', 'interrupted')
        ) AS failures,
        coalesce((
          SELECT run.awaits_tomorrow
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.outcome IN ('stored', 'unchanged')
          ORDER BY run.taken_at DESC
          LIMIT 1
        ), false) AS is_awaited
      FROM fuel.source
      WHERE source.source = \(feed)
      """)
    guard let row = rows.first else { return FeedHistory() }
    return FeedHistory(
      lastGood: try row.optionalInstant("last_at"),
      notBefore: try row.optionalInstant("not_before_at"),
      lastTried: try row.optionalInstant("tried_at"),
      askedNobody: try row.boolean("asked_nobody"), failures: try row.integer("failures"),
      isAwaited: try row.boolean("is_awaited"))
  }

  /// Takes the lock of an API key for this session, while its calls are counted and reserved. Waits
  /// until it is free.
  package func lockAccount(_ account: String) throws {
    try connection.query("SELECT pg_advisory_lock(4, hashtext(\(account)))")
  }

  /// Releases the lock of an API key.
  package func unlockAccount(_ account: String) throws {
    try connection.query("SELECT pg_advisory_unlock(4, hashtext(\(account)))")
  }

  /// Returns when a document of this name last came in a successful run, and in any run; `nil`
  /// where it never did.
  package func lastTaken(
    document: String, of source: SourceID
  ) throws -> (good: Instant?, any: Instant?) {
    let row = try connection.query(
      """
      SELECT
        max(fetched_at) FILTER (WHERE outcome IN ('stored', 'unchanged', 'superseded')) AS good_at,
        max(fetched_at) AS any_at
      FROM fuel.run
      WHERE source_id = \(source) AND \(document) = ANY (documents)
      """
    ).only()
    return (try row.optionalInstant("good_at"), try row.optionalInstant("any_at"))
  }
}
