package import FuelModel
import Postgres

/// Something that a rule has to tell.
package struct Notice: Sendable {
  /// By which a receiver knows a repetition.
  package var number: Int
  package var rule: String
  package var madeAt: Instant
  /// What is told, as a JSON object.
  package var content: String
  /// How often telling it was begun before.
  package var attempts: Int
}

extension Store {
  /// Takes the lock of those who notify, for this session; false where another session has it.
  package func lockNotices() throws -> Bool {
    try take("SELECT pg_try_advisory_lock(5, 0) AS taken")
  }

  /// What a rule has seen last, as a JSON object; `nil`: it never looked.
  package func seen(by rule: String) throws -> String? {
    try connection.query("SELECT seen::text AS seen FROM fuel.notice_rule WHERE rule = \(rule)")
      .first?.text("seen")
  }

  /// Keeps what a rule sees, and what it has to tell of it; both or neither.
  ///
  /// - Parameters:
  ///   - content: a JSON object; `nil`: nothing is to be told.
  ///   - most: so many notices of a rule wait; the oldest give way, and are counted.
  package func note(
    _ seen: String, by rule: String, telling content: String?, most: Int, at now: Instant
  ) throws {
    try transaction {
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

  /// What a rule has to tell, oldest first.
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

  /// Writes down that telling a notice begins: whatever happens then, the next time is a repetition.
  package func beginTelling(_ notice: Notice) throws {
    try connection.query(
      "UPDATE fuel.notice SET attempts = attempts + 1 WHERE notice_id = \(notice.number)")
  }

  /// Writes down that its receiver took it.
  package func told(_ notice: Notice, at now: Instant) throws {
    try connection.query(
      "UPDATE fuel.notice SET told_at = \(now) WHERE notice_id = \(notice.number)")
  }

  /// Forgets what was told long ago, and rules that are configured no more, with all that they had to tell.
  package func forgetNotices(besides rules: [String], before instant: Instant) throws {
    try connection.query(
      "DELETE FROM fuel.notice WHERE told_at < \(instant) OR NOT rule = ANY (\(rules))")
    try connection.query("DELETE FROM fuel.notice_rule WHERE NOT rule = ANY (\(rules))")
  }

  /// What is advised now; `nil`: nothing is.
  package func advice(
    region: String, fuel: String
  ) throws -> (verdict: String, state: String?, reason: String)? {
    try connection.query(
      """
      SELECT verdict, market_state, reason FROM fuel_v1.fill_up
      WHERE region = \(region) AND fuel = \(fuel)
      """
    ).first.map { (try $0.text("verdict"), try $0.optional("market_state"), try $0.text("reason")) }
  }
}
