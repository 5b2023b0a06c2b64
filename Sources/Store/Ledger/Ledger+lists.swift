import Foundation
package import FuelModel
import Postgres
package import Timeline
import Views

/// A stored list of a feed, with its present judgement.
package struct StoredList: Sendable {
  package var run: RunID
  package var summary: ListSummary
  package var judgement: ListJudgement
  package var isComplete: Bool
  /// Whether what the list reported is stored. A list that was refused when it arrived left nothing
  /// but its summary.
  package var isStored: Bool
  /// Whether what it states is kept as an answer, so that another judgement can be followed.
  package var isKept: Bool
}

extension Ledger {
  /// Returns the lists of a feed that were taken in a window, and the next list on either side of
  /// it, oldest first. Of several lists of one instant, all are returned. Lists that were withdrawn
  /// or read again are left out.
  package func lists(of source: SourceID, from: Instant, until: Instant) throws -> [StoredList] {
    try connection.query(
      """
      SELECT
        list.run_id, list.taken_at, list.is_complete,
        CASE WHEN list.outcome = 'refused' THEN list.error END AS refusal, list.pairs,
        composition.stations, composition.fuels::text AS fuels, composition.brands::text AS brands,
        array_to_json(list.shortcomings)::text AS shortcomings,
        coalesce(array_to_string(list.stamps, ','), '') AS stamps, list.content, list.is_repeat,
        list.rejected_by_reason::text AS rejected,
        list.stored + list.unchanged > 0 AS is_stored, coalesce(NOT answer.is_adopted, false) AS is_kept
      FROM fuel.list
      JOIN fuel.list_composition AS composition USING (composition_id)
      LEFT JOIN fuel.answer USING (run_id)
      WHERE list.source_id = \(source)
        AND list.taken_at >= coalesce((
          SELECT max(before.taken_at) FROM fuel.list AS before
          WHERE before.source_id = \(source) AND before.taken_at < \(from)), \(from))
        AND list.taken_at <= coalesce((
          SELECT min(after.taken_at) FROM fuel.list AS after
          WHERE after.source_id = \(source) AND after.taken_at > \(until)), \(until))
      ORDER BY list.taken_at, list.run_id
      """
    ).map { row in
      StoredList(
        run: RunID(number: try row.integer("run_id")),
        summary: ListSummary(
          takenAt: try row.instant("taken_at"), pairs: try row.integer("pairs"),
          stations: try row.integer("stations"), fuels: try row.counts("fuels"),
          brands: try row.counts("brands"),
          stamps: try row.text("stamps").split(separator: ",").compactMap { Int($0) },
          content: try row.optional("content").flatMap { Int64($0) },
          rejected: try row.counts("rejected").filter { $0.key != "run_refused" }),
        judgement: ListJudgement(
          shortcomings: try row.texts("shortcomings"), refusal: try row.optional("refusal"),
          isRepeat: try row.boolean("is_repeat")),
        isComplete: try row.boolean("is_complete"), isStored: try row.boolean("is_stored"),
        isKept: try row.boolean("is_kept"))
    }
  }

  /// Returns the lists of a feed that count, by what they state, in order: those whose judgement may
  /// hang on lists that were taken between two instants, and those that decide it
  /// (`Freeze.judged`).
  package func statedLists(
    of source: SourceID, from: Instant, until: Instant
  ) throws -> [(run: RunID, list: StatedList)] {
    try connection.query(
      """
      SELECT *
      FROM fuel.stated_lists(
        \(source), \(from), \(until), make_interval(secs => \(Int(Freeze.memory / 1_000_000))))
      ORDER BY taken_at, content
      """
    ).map { row in
      (
        RunID(number: try row.integer("run_id")),
        StatedList(
          takenAt: try row.instant("taken_at"), content: Int64(try row.integer("content")),
          frozenSince: try row.optionalInstant("frozen_since_at"))
      )
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
}

extension Row {
  /// Reads a JSON object of whole numbers.
  fileprivate func counts(_ column: String) throws -> [String: Int] {
    try JSONDecoder().decode([String: Int].self, from: Data(try text(column).utf8))
  }
}
