package import FuelModel
import Postgres
package import Timeline

/// A run that a person wants to withdraw, or to count again.
package struct LedgerRun: Sendable {
  package var run: RunID
  package var source: SourceID
  package var feed: String
  package var kind: String
  package var outcome: String
  package var takenAt: Instant?
  /// The run that read its documents again and counts in its place; `nil` where there is none.
  package var replacedBy: Int?
}

/// Which runs count and which lists are complete, and what a person decides about it.
extension Store {
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
        try forgetDescriptions(of: list.run)
      }
      return try note(refusal: refusal, shortcomings: [], of: list.run)
    }
    if list.judgement.refusal != nil {
      try connection.query("SELECT fuel.recount_run(\(list.run))")
    }
    try connection.query(
      "SELECT fuel.set_completeness(\(list.run), \(judgement.isComplete))")
    try note(refusal: nil, shortcomings: judgement.shortcomings, of: list.run)
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

  /// Returns those of the numbers that are numbers of runs.
  ///
  /// - Parameter feed: only runs of this feed; `nil`: those of every feed.
  package func runs(among numbers: [Int], of feed: String?) throws -> [Int] {
    try connection.query(
      """
      SELECT run.run_id
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE run.run_id = ANY (\(numbers)::integer[])
        AND (\(optional: feed)::text IS NULL OR source.source = \(optional: feed))
      """
    ).map { try $0.integer("run_id") }
  }

  /// Returns a run by its number; `nil` where there is none.
  package func ledgerRun(_ number: Int) throws -> LedgerRun? {
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
      LedgerRun(
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
    try forgetDescriptions(of: run)
  }

  /// Takes back how a run describes stations. Where it read the documents of an earlier run, the
  /// descriptions are those of the earlier one.
  private func forgetDescriptions(of run: RunID) throws {
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
