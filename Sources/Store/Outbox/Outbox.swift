package import FuelModel
import Postgres
import Views

/// A notice that a rule has to deliver.
package struct Notice: Sendable {
  /// The number by which a receiver recognises a repetition.
  package var number: Int
  package var rule: String
  package var madeAt: Instant
  /// The content to deliver, as a JSON object.
  package var content: String
  /// How many attempts to deliver it were begun before.
  package var attempts: Int
}

/// Notices that wait to be delivered.
package struct Outbox {
  let store: Store
  var connection: Connection { store.connection }
}

extension Outbox {
  /// Takes the notifier's lock for this session. Returns false where another session has it.
  package func lockNotices() throws -> Bool {
    try store.tryLock("SELECT pg_try_advisory_lock(5, 0) AS taken")
  }

  /// Returns what a rule saw last, as a JSON object; `nil` where it has never looked.
  package func seen(by rule: String) throws -> String? {
    try connection.query("SELECT seen::text AS seen FROM fuel.notice_rule WHERE rule = \(rule)")
      .first?.text("seen")
  }

  /// Stores what a rule sees now and the notice that follows from it: both or neither.
  ///
  /// - Parameters:
  ///   - content: the notice as a JSON object; `nil` where there is nothing to deliver.
  ///   - most: the largest number of notices of a rule that may wait. The oldest ones beyond it are
  ///     dropped and counted.
  package func note(
    _ seen: String, by rule: String, making content: String?, most: Int, at now: Instant
  ) throws {
    try connection.transaction {
      try connection.query(
        """
        INSERT INTO fuel.notice_rule AS known (rule, seen, seen_at) VALUES (\(rule), \(seen)::jsonb, \(now))
        ON CONFLICT ON CONSTRAINT notice_rule_pk DO UPDATE SET seen = excluded.seen, seen_at = excluded.seen_at
        """)
      guard let content else { return }
      try connection.query(
        "INSERT INTO fuel.notice (rule, made_at, content) VALUES (\(rule), \(now), \(content)::jsonb)"
      )
      try connection.query(
        """
        WITH gone AS (
          DELETE FROM fuel.notice
          WHERE notice_id IN (
            SELECT notice_id FROM fuel.notice
            WHERE rule = \(rule) AND told_at IS NULL
            ORDER BY notice_id DESC
            OFFSET \(most))
          RETURNING notice_id
        )
        UPDATE fuel.notice_rule SET dropped = dropped + (SELECT count(*) FROM gone)
        WHERE rule = \(rule) AND EXISTS (SELECT FROM gone)
        """)
    }
  }

  /// Returns the notices of a rule that wait to be delivered, oldest first.
  package func waiting(of rule: String, limit: Int) throws -> [Notice] {
    try connection.query(
      """
      SELECT notice_id, rule, made_at, content::text AS content, attempts
      FROM fuel.notice
      WHERE rule = \(rule) AND told_at IS NULL
      ORDER BY notice_id
      LIMIT \(limit)
      """
    ).map { row in
      Notice(
        number: try row.integer("notice_id"), rule: try row.text("rule"),
        madeAt: try row.instant("made_at"), content: try row.text("content"),
        attempts: try row.integer("attempts"))
    }
  }

  /// Records that an attempt to deliver a notice begins. Whatever happens then, the next attempt is
  /// a repetition.
  package func beginSending(_ notice: Notice) throws {
    try connection.query(
      "UPDATE fuel.notice SET attempts = attempts + 1 WHERE notice_id = \(notice.number)")
  }

  /// Records that the receiver accepted a notice.
  package func markSent(_ notice: Notice, at now: Instant) throws {
    try connection.query(
      "UPDATE fuel.notice SET told_at = \(now) WHERE notice_id = \(notice.number)")
  }

  /// Deletes notices that were delivered before an instant, and rules that are no longer configured
  /// together with all their notices.
  package func forgetNotices(besides rules: [String], before instant: Instant) throws {
    try connection.query(
      "DELETE FROM fuel.notice WHERE told_at < \(instant) OR NOT rule = ANY (\(rules))")
    try connection.query("DELETE FROM fuel.notice_rule WHERE NOT rule = ANY (\(rules))")
  }
}
