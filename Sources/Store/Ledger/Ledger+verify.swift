import Postgres
import Views

/// The result of a verification: whether the database still holds what was stored.
package struct Verification: Sendable {
  /// The number of answers of feeds, and of facts of archives and of before answers were kept.
  package var facts = 0
  package var runs = 0
  package var links = 0
  package var documents = 0
  /// The newest digest of the chain, in hex; `nil` where nothing has changed since the chain
  /// exists.
  package var head: String?
  /// Everything that is not as it was, one line each.
  package var faults: [String] = []
}

/// A logged change of a row that decides whether facts count.
package struct LoggedChange: Sendable {
  package var changedAt: String
  package var login: String
  package var table: String
  /// The columns that differ, as JSON, before and after the change.
  package var was: String
  package var became: String
}

extension Ledger {
  /// Checks everything that is stored: answers and archives against the sums made when they came; the sums
  /// and the runs against the chain of digests; whether runs count against what decides that;
  /// stations against what their feeds state about them; and kept documents against their digests.
  /// Everything is read once, as it stands at one instant.
  ///
  /// - Parameters:
  ///   - head: a digest of the chain that was noted before, in hex, or the beginning of one. The
  ///     chain has to contain it.
  ///   - judge: returns the faults of the feeds' lists and facts, one line each. These are judged and
  ///     made elsewhere.
  package func verify(
    head: String?, judging judge: (Store) throws -> [String] = { _ in [] }
  ) throws -> Verification {
    try connection.transaction {
      try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
      var found = Verification()
      let stored = try connection.query(
        """
        SELECT compared.facts, compared.runs, array_to_json(compared.faults)::text AS faults,
          (SELECT count(*) FROM fuel.body) AS documents
        FROM fuel.compare_facts() AS compared
        """
      ).only()
      found.facts = try stored.integer("facts")
      found.runs = try stored.integer("runs")
      found.documents = try stored.integer("documents")
      found.faults = try stored.texts("faults")
      try verifyChain(&found, head: head)
      found.faults += try connection.query("SELECT fault FROM fuel.stored_faults() AS fault").map {
        try $0.text("fault")
      }
      found.faults += try judge(store)
      return found
    }
  }

  private func verifyChain(_ found: inout Verification, head: String?) throws {
    let chain = try connection.query(
      """
      SELECT
        count(*) AS links, max(chain_link.change_number) AS last,
        (SELECT change_counter.newest FROM fuel.change_counter) AS newest,
        EXISTS (SELECT FROM fuel.fact_sum WHERE fact_sum.change_number IS NOT NULL) AS is_begun,
        EXISTS (
          SELECT FROM fuel.chain_link AS noted
          WHERE starts_with(encode(noted.digest, 'hex'), \(optional: head))) AS is_known
      FROM fuel.chain_link
      """
    ).only()
    found.links = try chain.integer("links")
    found.head = try store.views.pipeline().chainHead
    if let head, try !chain.boolean("is_known") {
      found.faults.append(
        "the chain does not contain \(head): it is mistyped, or the history was written anew since")
    }
    // A database that is older than the chain has changes that no link covers and for which there
    // are no sums.
    if let last = try chain.optional("last") ?? (chain.boolean("is_begun") ? "0" : nil),
      last != (try chain.text("newest"))
    {
      found.faults.append(
        "the chain ends at change \(last), but the newest change is \(try chain.text("newest"))")
    }
  }

  /// Returns the logged changes, the newest last.
  package func loggedChanges() throws -> [LoggedChange] {
    try connection.query(
      """
      SELECT
        to_char(entry.changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS changed_at,
        entry.login, entry.table_name,
        coalesce((
          SELECT jsonb_object_agg(part.key, part.value)
          FROM jsonb_each(entry.was) AS part
          WHERE entry.became IS NULL OR part.key IN ('run_id', 'source')
            OR part.value IS DISTINCT FROM entry.became -> part.key
        )::text, '-') AS was,
        coalesce((
          SELECT jsonb_object_agg(part.key, part.value)
          FROM jsonb_each(entry.became) AS part
          WHERE entry.was IS NULL OR part.value IS DISTINCT FROM entry.was -> part.key
        )::text, '-') AS became
      FROM fuel.audit_log AS entry
      ORDER BY entry.entry_id
      """
    ).map { row in
      LoggedChange(
        changedAt: try row.text("changed_at"), login: try row.text("login"),
        table: try row.text("table_name"), was: try row.text("was"),
        became: try row.text("became"))
    }
  }
}
