package import FuelModel
import Postgres
package import Timeline
import Views

/// A run that a person wants to withdraw, or to count again.
package struct LedgerRun: Sendable {
  package var run: RunID
  package var source: SourceID
  package var feed: String
  package var kind: String
  package var outcome: String
  /// When its list was taken, if it stored any.
  package var takenAt: Instant
  /// The run that read its documents again and counts in its place; `nil` where there is none.
  package var replacedBy: Int?
  /// Whether what it states is kept as an answer.
  package var isKept: Bool

  /// Whether it loaded a file of an archive.
  package var isFile: Bool { kind == "backfill" }
}

/// A run that came, or whose standing has changed.
package struct ChangedRun: Sendable {
  package var run: RunID
  package var takenAt: Instant

  package init(_ run: RunID, takenAt: Instant) {
    self.run = run
    self.takenAt = takenAt
  }
}

/// Which runs count and which lists are complete, and what a person decides about it. Facts are made
/// afterwards.
extension Ledger {
  /// Changes the judgement of a stored list: whether it counts, is complete, or repeats the past.
  package func set(_ judgement: ListJudgement, of list: StoredList) throws {
    if let refusal = judgement.refusal {
      if list.judgement.refusal == nil {
        try discount(list.run, as: "refused")
        try forgetDescriptions(of: list.run)
      }
      return try note(refusal: refusal, shortcomings: [], of: list.run)
    }
    if list.judgement.refusal != nil { try recount(list.run) }
    try set(list.run, isComplete: judgement.isComplete, isRepeat: judgement.isRepeat)
    try note(refusal: nil, shortcomings: judgement.shortcomings, of: list.run)
  }

  /// Updates what hangs on facts and on the standing of runs, after facts were made.
  ///
  /// - Parameters:
  ///   - isAppended: whether there is one run, which is newer than all others.
  ///   - turnedFrom: when the first list was taken that begins to be frozen or ceases to be; `nil`:
  ///     none does.
  /// - Returns: the station records and fuels whose spans change, and from when on.
  package func propagate(
    _ facts: FactChanges, of source: SourceID, after runs: [RunID], isAppended: Bool,
    turnedFrom: Instant?, now: Instant
  ) throws -> [Window] {
    let answers = facts.answersByRun
    let all = facts.new + facts.gone
    let prices = facts.new.filter { $0.kind == .price }
    let confirmed = try connection.query(
      """
      SELECT station_id, fuel_id, min(begins_at) AS from_at
      FROM fuel.propagate_runs(
        \(source), \(runs.map(\.number))::integer[], \(isAppended),
        \(all.map(\.pair.stationID))::integer[], \(all.map(\.pair.fuelID))::smallint[],
        \(all.map { isAppended && $0.kind == .price ? $0.at : .distantPast })::timestamptz[],
        \(facts.new.map { answers[$0.run]?.takenAt ?? .distantFuture })::timestamptz[],
        \(Set(prices.map(\.run)).sorted())::integer[], \(optional: prices.map(\.at).min()),
        \(!facts.gone.isEmpty),
        \(facts.new.filter { $0.kind == .listed }.map(\.pair.stationID))::integer[],
        \(optional: turnedFrom), \(now))
      GROUP BY station_id, fuel_id
      """
    ).map { try $0.window() }
    if !isAppended {
      let pairs = Set(all.map(\.pair))
      try connection.query(
        """
        SELECT fuel.forget_ghosts(
          \(source), \(pairs.map(\.stationID))::integer[], \(pairs.map(\.fuelID))::smallint[])
        """)
    }
    var first: [Pair: Instant] = [:]
    for window in facts.windows + confirmed {
      first[window.pair] = min(first[window.pair] ?? window.from, window.from)
    }
    return first.map { Window(pair: $0.key, from: $0.value) }
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
        ) AS replaced_by,
        answer.is_adopted IS FALSE AS is_kept
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      LEFT JOIN fuel.answer USING (run_id)
      WHERE run.run_id = \(number)
      """
    ).first.map { row in
      LedgerRun(
        run: RunID(number: try row.integer("run_id")),
        source: SourceID(number: Int16(try row.integer("source_id"))),
        feed: try row.text("source"), kind: try row.text("kind"),
        outcome: try row.text("outcome"),
        takenAt: try row.optionalInstant("taken_at") ?? .distantPast,
        replacedBy: try row.optional("replaced_by").flatMap { Int($0) },
        isKept: try row.boolean("is_kept"))
    }
  }

  /// Withdraws a run, or counts it again.
  package func set(_ run: RunID, counts: Bool) throws {
    guard !counts else { return try recount(run) }
    try discount(run, as: "withdrawn")
    try forgetDescriptions(of: run)
  }

  /// Withdraws a file of an archive, or counts it again.
  package func decide(file run: RunID, counts: Bool, reason: String, at now: Instant) throws {
    try connection.transaction {
      try store.spans.lockTimeline()
      try counts ? recount(run) : discount(run, as: "withdrawn")
      try connection.query("SELECT fuel.set_file_aside(\(run))")
      try note(run, counts: counts, reason: reason, at: now)
    }
  }

  /// Takes back how a run describes stations. Where it read the documents of an earlier run, the
  /// descriptions are those of the earlier one.
  func forgetDescriptions(of run: RunID) throws {
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
