import Foundation
package import FuelModel
import Postgres
package import Timeline

/// A stored list of a feed, with its present judgement.
package struct StoredList: Sendable {
  package var run: RunID
  package var summary: ListSummary
  package var judgement: ListJudgement
  package var isComplete: Bool
  /// Whether what the list reported is stored. A list that was refused when it arrived left nothing
  /// but its summary.
  package var isStored: Bool
}

/// A run that a person wants to withdraw, or to count again.
package struct NamedRun: Sendable {
  package var run: RunID
  package var source: SourceID
  package var feed: String
  package var kind: String
  package var outcome: String
  package var takenAt: Instant?
  /// The run that read its documents again and counts in its place; `nil` where there is none.
  package var replacedBy: Int?
}

extension Store {
  /// Returns the lists of a feed that were taken in a window, and the next list on either side of
  /// it, oldest first. Lists that were withdrawn or read again are left out.
  package func lists(of source: SourceID, from: Instant, until: Instant) throws -> [StoredList] {
    let rows = try connection.query(
      """
      WITH list AS (
        SELECT run.*
        FROM fuel.run
        WHERE run.source_id = \(source)
          AND run.composition_id IS NOT NULL
          -- Of the runs that are under way, only the one that this transaction stores has a composition.
          AND run.outcome IN ('running', 'stored', 'unchanged', 'refused')
      )
      SELECT
        list.run_id, list.taken_at, list.is_complete,
        CASE WHEN list.outcome = 'refused' THEN list.error END AS refusal, list.pairs, list.composition_id,
        array_to_json(list.shortcomings)::text AS shortcomings,
        coalesce(array_to_string(list.stamps, ','), '') AS stamps,
        list.stored + list.unchanged > 0 AS is_stored
      FROM (
        SELECT * FROM list WHERE list.taken_at BETWEEN \(from) AND \(until)
        UNION ALL
        (SELECT * FROM list WHERE list.taken_at < \(from) ORDER BY list.taken_at DESC LIMIT 1)
        UNION ALL
        (SELECT * FROM list WHERE list.taken_at > \(until) ORDER BY list.taken_at LIMIT 1)
      ) AS list
      ORDER BY list.taken_at, list.run_id
      """)
    let numbers = Set(try rows.map { try $0.integer("composition_id") })
    var compositions: [Int: (stations: Int, fuels: [String: Int], brands: [String: Int])] = [:]
    for row in try connection.query(
      """
      SELECT composition_id, stations, fuels::text AS fuels, brands::text AS brands
      FROM fuel.list_composition
      WHERE composition_id = ANY (\(numbers.sorted())::integer[])
      """)
    {
      compositions[try row.integer("composition_id")] = (
        try row.integer("stations"), try row.counts("fuels"), try row.counts("brands")
      )
    }
    return try rows.map { row in
      let composition = compositions[try row.integer("composition_id")] ?? (0, [:], [:])
      return StoredList(
        run: RunID(number: try row.integer("run_id")),
        summary: ListSummary(
          takenAt: try row.instant("taken_at"), pairs: try row.integer("pairs"),
          stations: composition.0, fuels: composition.1, brands: composition.2,
          stamps: try row.text("stamps").split(separator: ",").compactMap { Int($0) }),
        judgement: ListJudgement(
          shortcomings: try row.texts("shortcomings"), refusal: try row.optional("refusal")),
        isComplete: try row.boolean("is_complete"), isStored: try row.boolean("is_stored"))
    }
  }

  /// Returns the first run that the chain of digests covers; `nil` where there is none.
  package func firstLinkedRun() throws -> RunID? {
    try connection.query(
      "SELECT min(run.run_id) AS run FROM fuel.run JOIN fuel.chain_link USING (change_number)"
    ).only().optional("run").flatMap { Int($0) }.map { RunID(number: $0) }
  }

  /// Returns when a feed's first list at or after an instant was taken; `nil` where there is none.
  package func firstList(of source: SourceID, from instant: Instant? = nil) throws -> Instant? {
    try connection.query(
      """
      SELECT run.taken_at
      FROM fuel.run
      WHERE run.source_id = \(source)
        AND run.composition_id IS NOT NULL
        AND run.outcome IN ('stored', 'unchanged', 'refused')
        AND run.taken_at >= coalesce(\(optional: instant)::timestamptz, '-infinity')
      ORDER BY run.taken_at
      LIMIT 1
      """
    ).first?.optionalInstant("taken_at")
  }

  /// Stores the composition of a run's list, even where the list is refused.
  package func keep(_ list: ListSummary, of run: RunID) throws {
    try connection.query(
      """
      WITH made AS (
        SELECT
          \(list.stations)::integer AS stations, \(jsonText(list.fuels))::jsonb AS fuels,
          \(jsonText(list.brands))::jsonb AS brands
      ),
      wanted AS (
        SELECT made.*, md5(ROW(made.stations, made.fuels, made.brands)::text)::uuid AS digest
        FROM made
      ),
      added AS (
        INSERT INTO fuel.list_composition (digest, stations, fuels, brands)
        SELECT wanted.digest, wanted.stations, wanted.fuels, wanted.brands
        FROM wanted
        WHERE NOT EXISTS (
          SELECT FROM fuel.list_composition AS known WHERE known.digest = wanted.digest)
        ON CONFLICT DO NOTHING
        RETURNING composition_id, digest
      )
      UPDATE fuel.run SET
        taken_at = \(list.takenAt),
        pairs = \(list.pairs),
        stamps = \(list.stamps)::integer[],
        composition_id = known.composition_id
      FROM (
        SELECT added.composition_id, added.digest FROM added
        UNION ALL
        SELECT kept.composition_id, kept.digest FROM fuel.list_composition AS kept
      ) AS known
      JOIN wanted ON wanted.digest = known.digest
      WHERE run.run_id = \(run)
      """)
  }

  /// Stores which price days a run's answer reports, by their beginnings.
  package func keep(days: Set<Instant>, of run: RunID) throws {
    try connection.query(
      """
      UPDATE fuel.run SET told_days = \(days.sorted().map(\.description))::timestamptz[]
      WHERE run_id = \(run)
      """)
  }

  /// Returns the number of stations and fuels in the previous answer with the same documents, for a
  /// live run; `nil` where there is none.
  package func pairsBefore(_ run: RunID, takenAt: Instant) throws -> Int? {
    try connection.query(
      """
      SELECT before.pairs
      FROM fuel.run AS before
      JOIN fuel.run AS present ON present.run_id = \(run) AND present.kind = 'live'
      WHERE before.source_id = present.source_id
        AND before.kind = 'live'
        AND before.outcome IN ('stored', 'unchanged')
        AND before.taken_at < \(takenAt)
        AND before.documents = present.documents
      ORDER BY before.taken_at DESC, before.run_id DESC
      LIMIT 1
      """
    ).first.map { try $0.integer("pairs") }
  }

  // MARK: Standing

  /// Begins to record in `pg_temp.changed` which stations and fuels change. It is for transactions
  /// that absorb no run, because absorbing makes that table itself.
  package func noteChanges() throws {
    try connection.execute(
      """
      CREATE TEMPORARY TABLE changed (
        station_id integer     NOT NULL,
        fuel_id    smallint    NOT NULL,
        begins_at  timestamptz NOT NULL
      ) ON COMMIT DROP
      """)
  }

  /// Returns when the newest complete list of a feed was taken.
  package func lastListed(of source: SourceID) throws -> Instant? {
    try connection.query(
      "SELECT last_listed_at FROM fuel.source WHERE source_id = \(source)"
    ).only().optionalInstant("last_listed_at")
  }

  /// Changes the judgement of a stored list: whether it counts, and whether it is complete.
  package func set(_ judgement: ListJudgement, of list: StoredList) throws {
    if let refusal = judgement.refusal {
      if list.judgement.refusal == nil {
        try connection.query("SELECT fuel.discount_run(\(list.run), 'refused')")
        try connection.query("SELECT fuel.forget_descriptions(\(list.run))")
      }
      try connection.query(
        "UPDATE fuel.run SET error = \(refusal), shortcomings = '{}' WHERE run_id = \(list.run)")
      return
    }
    if list.judgement.refusal != nil {
      try connection.query("SELECT fuel.recount_run(\(list.run))")
    }
    try connection.query(
      "SELECT fuel.set_completeness(\(list.run), \(judgement.isComplete))")
    try connection.query(
      "UPDATE fuel.run SET shortcomings = \(judgement.shortcomings) WHERE run_id = \(list.run)")
  }

  /// Brings everything up to date that depends on which runs of a feed count and which of its lists
  /// are complete.
  ///
  /// - Parameters:
  ///   - runs: the runs for which this has changed.
  ///   - lastListed: when the newest complete list was taken before the change.
  package func settleStandings(
    of source: SourceID, runs: [RunID], lastListed: Instant?, now: Instant
  ) throws {
    try connection.query(
      """
      SELECT fuel.settle_standings(
        \(source), \(runs.map(\.number))::integer[], \(optional: lastListed), \(now))
      """)
  }

  /// Deletes the cached rows of those changed stations and fuels for which no fact counts any more.
  package func forgetGhosts(of source: SourceID) throws {
    try connection.query(
      """
      SELECT fuel.forget_ghosts(
        \(source), array_agg(changed.station_id), array_agg(changed.fuel_id))
      FROM (SELECT DISTINCT station_id, fuel_id FROM pg_temp.changed) AS changed
      """)
  }

  // MARK: A person's decisions

  /// Returns a run by its number; `nil` where there is none.
  package func named(_ number: Int) throws -> NamedRun? {
    try connection.query(
      """
      SELECT run.run_id, run.source_id, source.source, run.kind, run.outcome, run.taken_at,
        (
          SELECT max(again.run_id)
          FROM fuel.run AS again
          WHERE again.replaces_run_id = coalesce(run.replaces_run_id, run.run_id)
            AND again.outcome IN ('stored', 'unchanged')
            AND again.run_id <> run.run_id
        ) AS replaced_by
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE run.run_id = \(number)
      """
    ).first.map { row in
      NamedRun(
        run: RunID(number: try row.integer("run_id")),
        source: SourceID(number: Int16(try row.integer("source_id"))),
        feed: try row.text("source"), kind: try row.text("kind"),
        outcome: try row.text("outcome"), takenAt: try row.optionalInstant("taken_at"),
        replacedBy: try row.optional("replaced_by").flatMap { Int($0) })
    }
  }

  /// Withdraws a run, or counts it again.
  package func set(_ run: RunID, counts: Bool) throws {
    if counts {
      try connection.query("SELECT fuel.recount_run(\(run))")
      return
    }
    try connection.query("SELECT fuel.discount_run(\(run), 'withdrawn')")
    try connection.query(
      """
      SELECT fuel.forget_descriptions(coalesce(replaces_run_id, run_id))
      FROM fuel.run
      WHERE run_id = \(run)
      """)
  }

  /// Stores a person's decision and its number in the order of commits. This is the last step of
  /// its transaction.
  package func note(
    _ run: RunID, counts: Bool, reason: String, at instant: Instant
  ) throws {
    try connection.query(
      "SELECT fuel.note_withdrawal(\(run), \(instant), \(counts), \(reason))")
  }
}

extension Row {
  /// Reads a JSON object of whole numbers.
  fileprivate func counts(_ column: String) throws -> [String: Int] {
    try JSONDecoder().decode([String: Int].self, from: Data(try text(column).utf8))
  }
}
