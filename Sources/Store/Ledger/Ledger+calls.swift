package import FuelModel
import Postgres
import Views

/// What limits the next run of a feed, as earlier runs left it.
package struct CallLimits: Sendable {
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
  package var sentNoRequest = false
  /// The number of live runs since the last successful one that were refused, failed or were
  /// interrupted.
  package var failures = 0
  /// Whether tomorrow's prices should have been published at its last successful run and were not.
  package var awaitsTomorrow = false
}

/// When a provider was called, and when it may be called again.
extension Ledger {
  /// Whether the database server, or another provider within the last day, disagrees with our clock
  /// by about the same amount as a provider does.
  ///
  /// - Parameters:
  ///   - clockSkewSeconds: the provider's clock less ours.
  ///   - within: how far two such differences may lie apart, in seconds.
  package func isSkewConfirmed(
    clockSkewSeconds: Int, within: Int, besides source: SourceID, now: Instant
  ) throws -> Bool {
    try connection.query(
      """
      SELECT bool_or(
        abs(extract(epoch FROM known.clock_skew) - \(clockSkewSeconds)::integer) <= \(within)::integer) AS is_confirmed
      FROM (
        SELECT clock_timestamp() - \(now)::timestamptz AS clock_skew
        UNION ALL
        (
          SELECT DISTINCT ON (other.source_id) run.clock_skew
          FROM fuel.source AS asked
          JOIN fuel.source AS other ON other.account <> asked.account
          JOIN fuel.run ON run.source_id = other.source_id
          WHERE asked.source_id = \(source)
            AND run.kind = 'live'
            AND run.clock_skew IS NOT NULL
            AND run.started_at > \(now)::timestamptz - interval '1 day'
            AND run.started_at < \(now)::timestamptz + interval '1 day'
          ORDER BY other.source_id, run.run_id DESC
        )
      ) AS known
      """
    ).only().boolean("is_confirmed")
  }

  /// Whether an answer that states the time was ever stored. Providers state it, and the simulator
  /// does not.
  package func hasAnswersOfProviders() throws -> Bool {
    try connection.query(
      """
      SELECT EXISTS (
        SELECT FROM fuel.run WHERE kind = 'live' AND clock_skew IS NOT NULL
      ) AS has_answers
      """
    ).only().boolean("has_answers")
  }

  /// Reads what limits a run of a feed that starts now.
  ///
  /// - Parameter latest: when a run can have begun at the latest.
  package func callLimits(
    of source: SourceID, now: Instant, until latest: Instant
  ) throws -> CallLimits {
    let row = try connection.query(
      """
      SELECT
        source.not_before_at,
        (
          SELECT max(run.started_at)
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.requests > 0 AND run.started_at <= \(latest)
        ) AS last_start_at,
        coalesce(sum(run.requests) FILTER (
          WHERE date_trunc('month', run.started_at, 'UTC') = date_trunc('month', \(now)::timestamptz, 'UTC')), 0) AS calls,
        coalesce(sum(run.requests) FILTER (
          WHERE run.started_at <= \(now)
            AND coalesce(run.finished_at, run.started_at) > \(now)::timestamptz - interval '1 minute'), 0)
          AS calls_this_minute
      FROM fuel.source
      JOIN fuel.source AS payer USING (account)
      LEFT JOIN fuel.run ON run.source_id = payer.source_id
        AND run.started_at >= date_trunc('month', \(now)::timestamptz - interval '1 day', 'UTC')
      WHERE source.source_id = \(source)
      GROUP BY source.source_id
      """
    ).only()
    return CallLimits(
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
  ///
  /// - Parameter latest: when a run can have begun at the latest. Later ones are left out.
  package func history(of feed: String, until latest: Instant) throws -> FeedHistory {
    let rows = try connection.query("SELECT * FROM fuel.feed_history(\(feed), \(latest))")
    guard let row = rows.first else { return FeedHistory() }
    return FeedHistory(
      lastGood: try row.optionalInstant("last_at"),
      notBefore: try row.optionalInstant("not_before_at"),
      lastTried: try row.optionalInstant("tried_at"),
      sentNoRequest: try row.boolean("sent_no_request"), failures: try row.integer("failures"),
      awaitsTomorrow: try row.boolean("awaits_tomorrow"))
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
  ///
  /// - Parameter latest: documents that came later are left out.
  package func lastTaken(
    document: String, of source: SourceID, until latest: Instant
  ) throws -> (good: Instant?, any: Instant?) {
    let row = try connection.query(
      """
      SELECT
        max(fetched_at) FILTER (WHERE outcome IN ('stored', 'unchanged', 'superseded')) AS good_at,
        max(fetched_at) AS any_at
      FROM fuel.run
      WHERE source_id = \(source) AND \(document) = ANY (documents) AND fetched_at <= \(latest)
      """
    ).only()
    return (try row.optionalInstant("good_at"), try row.optionalInstant("any_at"))
  }
}
