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
      try verifyFacts(&found)
      try verifyChain(&found, head: head)
      try verifyOutcomes(&found)
      found.faults += try judge(store)
      try verifyStations(&found)
      try verifyDocuments(&found)
      return found
    }
  }

  /// Checks outcomes: a run counts by what it stored, unless a person or a later reading of its
  /// documents decided otherwise.
  private func verifyOutcomes(_ found: inout Verification) throws {
    for row in try connection.query(
      """
      SELECT run.run_id, source.source AS feed, run.outcome
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      LEFT JOIN LATERAL (
        SELECT NOT withdrawal.counts_again AS is_withdrawn
        FROM fuel.withdrawal
        WHERE withdrawal.run_id = run.run_id
        ORDER BY withdrawal.withdrawal_id DESC
        LIMIT 1
      ) AS decision ON true
      WHERE run.outcome = 'withdrawn' AND decision.is_withdrawn IS NOT TRUE
        OR run.outcome IN ('stored', 'unchanged') AND (
          decision.is_withdrawn IS TRUE OR (run.outcome = 'stored') <> (run.stored > 0))
        OR run.outcome = 'superseded' AND NOT EXISTS (
          SELECT
          FROM fuel.run AS later
          WHERE later.replaces_run_id = coalesce(run.replaces_run_id, run.run_id) AND later.run_id > run.run_id)
        OR run.outcome NOT IN ('stored', 'unchanged', 'withdrawn', 'superseded', 'refused', 'running')
          AND run.stored + run.unchanged > 0
        OR run.outcome = 'refused' AND run.composition_id IS NULL AND run.stored + run.unchanged > 0
      ORDER BY run.run_id
      """)
    {
      found.faults.append(
        "run \(try row.integer("run_id")) of \(try row.text("feed")): nothing stored explains its outcome \(try row.text("outcome"))"
      )
    }
  }

  /// Checks stations of feeds against their descriptions. Archives are left out, because their
  /// stations are described when they are matched.
  private func verifyStations(_ found: inout Verification) throws {
    for row in try connection.query(
      """
      SELECT station.station_id, station.station_code, source.source AS feed
      FROM fuel.redescribed_stations(ARRAY(
        SELECT record.station_id
        FROM fuel.station AS record
        JOIN fuel.source USING (source_id)
        WHERE source.kind <> 'archive')) AS described
      JOIN fuel.station USING (station_id)
      JOIN fuel.source USING (source_id)
      ORDER BY station.station_id
      """)
    {
      found.faults.append(
        "station \(try row.integer("station_id")) (\(try row.text("station_code")) of \(try row.text("feed"))): "
          + "its row differs from what its descriptions say; bowser aggregate --rebuild makes it anew"
      )
    }
  }

  private func verifyFacts(_ found: inout Verification) throws {
    let rows = try connection.query(
      """
      WITH compared AS MATERIALIZED (
        SELECT
          run_id, coalesce(held.facts, 0) AS facts, coalesce(summed.facts, 0) AS stored,
          (held.facts, held.hash_sum) IS DISTINCT FROM (summed.facts, summed.hash_sum) AS differs
        FROM (
          SELECT fact.run_id, count(*) AS facts, sum(fact.hash) AS hash_sum
          FROM fuel.fact_hash AS fact
          GROUP BY fact.run_id
        ) AS held
        FULL JOIN (
          SELECT sums.run_id, sum(sums.facts)::bigint AS facts, sum(sums.hash_sum) AS hash_sum
          FROM fuel.fact_sum AS sums
          GROUP BY sums.run_id
        ) AS summed USING (run_id)
      )
      SELECT all_runs.*, NULL::integer AS run_id, NULL AS feed, false AS is_invented
      FROM (
        SELECT coalesce(sum(compared.facts), 0)::bigint AS facts, count(*) AS stored FROM compared
      ) AS all_runs
      UNION ALL
      SELECT
        compared.facts, compared.stored, run_id, coalesce(source.source, 'an unknown feed'), source.source IS NULL
      FROM compared
      LEFT JOIN fuel.run USING (run_id)
      LEFT JOIN fuel.source USING (source_id)
      WHERE compared.differs
        -- A fact of a run that does not exist counts, and nobody can withdraw it.
        OR source.source IS NULL
      ORDER BY run_id NULLS FIRST
      """)
    for row in rows {
      let (facts, stored) = (try row.integer("facts"), try row.integer("stored"))
      guard let run = try row.optional("run_id") else {
        (found.facts, found.runs) = (facts, stored)
        continue
      }
      guard try facts == 0 || !row.boolean("is_invented") else {
        found.faults.append("run \(run) does not exist, but \(facts) facts name it")
        continue
      }
      found.faults.append(
        "run \(run) of \(try row.text("feed")): "
          + (facts == stored
            ? "its \(facts) facts differ from those that were stored"
            : "it has \(facts) facts, but \(stored) were stored"))
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
    try verifyLinks(&found)
    try verifyOrder(&found)
  }

  /// Compares what is stored about the order of runs with their instants and numbers, which the
  /// chain covers.
  private func verifyOrder(_ found: inout Verification) throws {
    for row in try connection.query(
      """
      SELECT numbered.run_id
      FROM (
        SELECT
          run.run_id,
          run.is_overtaken,
          coalesce(run.taken_at < max(run.taken_at) OVER (
            PARTITION BY run.source_id ORDER BY run.change_number
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS was_overtaken
        FROM fuel.run
        WHERE run.change_number IS NOT NULL
      ) AS numbered
      WHERE numbered.is_overtaken <> numbered.was_overtaken
      ORDER BY numbered.run_id
      """)
    {
      found.faults.append(
        "run \(try row.integer("run_id")): whether a later list came before it is stored wrongly")
    }
  }

  /// Compares each link of the chain with the rows that it covers and with the link before it.
  private func verifyLinks(_ found: inout Verification) throws {
    for row in try connection.query(
      """
      SELECT
        link.change_number, coalesce(run.run_id, withdrawal.run_id) AS run_id,
        link.number_before <> link.change_number - 1 AS is_gap
      FROM (
        SELECT
          chain_link.*, lag(chain_link.digest) OVER in_order AS before,
          lag(chain_link.change_number) OVER in_order AS number_before
        FROM fuel.chain_link
        WINDOW in_order AS (ORDER BY chain_link.change_number)
      ) AS link
      LEFT JOIN fuel.run ON run.change_number = link.change_number
      LEFT JOIN fuel.withdrawal ON withdrawal.change_number = link.change_number
      WHERE link.number_before <> link.change_number - 1
        OR link.digest <> sha256(
          coalesce(link.before, '') || convert_to(fuel.link_text(link.change_number), 'UTF8'))
      ORDER BY link.change_number
      """)
    {
      let number = try row.integer("change_number")
      let run = try row.optional("run_id").map { " (run \($0))" } ?? ""
      found.faults.append(
        try row.optional("is_gap") == "t"
          ? "change \(number)\(run): the change before it is missing"
          : "change \(number)\(run): its rows differ from what was stored")
    }
  }

  private func verifyDocuments(_ found: inout Verification) throws {
    found.documents = try connection.query("SELECT count(*) AS documents FROM fuel.body").only()
      .integer("documents")
    for row in try connection.query(
      """
      SELECT run_body.run_id, run_body.name
      FROM fuel.body
      JOIN fuel.run_body USING (sha256)
      WHERE body.sha256 <> sha256(body.bytes)
      ORDER BY run_body.run_id, run_body.name
      """)
    {
      found.faults.append(
        "run \(try row.integer("run_id")): document \(try row.text("name")) differs from what was received"
      )
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
