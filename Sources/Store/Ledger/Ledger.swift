package import FuelModel
import Postgres
package import Timeline
import Views

/// What is stored about every attempt on a feed and about every file of an archive: when it ran,
/// what it brought, whether it counts, and the documents that it kept. The only writer of `fuel.run`.
package struct Ledger {
  package let store: Store
  var connection: Connection { store.connection }
}

/// The ledger of runs. Of the program's statements, only those here write `fuel.run`.
extension Ledger {
  /// Records that a run begins, in a transaction of its own, so that even a run that dies leaves a
  /// trace. Earlier runs of the feed that died are marked as interrupted.
  ///
  /// - Parameters:
  ///   - requests: the number of requests that the run intends to send, so that those of a run that
  ///     dies are counted.
  ///   - digest: the digest of the recorded files that it reads, in hex.
  package func beginRun(
    _ source: SourceID, at instant: Instant, kind: RunKind = .live, requests: Int = 0,
    digest: String? = nil
  ) throws -> RunID {
    try connection.transaction {
      try closeDeadRuns(of: source, at: instant)
      return try openRun(source, at: instant, kind: kind, requests: requests, digest: digest)
    }
  }

  /// Records that a run begins, as part of the open transaction.
  func openRun(
    _ source: SourceID, at instant: Instant, kind: RunKind, requests: Int = 0, digest: String?
  ) throws -> RunID {
    let row = try connection.query(
      """
      INSERT INTO fuel.run (
        source_id, started_at, outcome, is_complete, describes_stations, documents,
        payload_bytes, requests, received, stored, unchanged, duplicate, rejected,
        rejected_by_reason, flagged, kind, replaces_run_id, content_digest)
      VALUES (
        \(source), \(instant), 'running', false, false, '{}', 0, \(requests), 0, 0, 0, 0, 0, '{}',
        0, \(kind.name), \(optional: kind.replaced), decode(\(optional: digest), 'hex'))
      RETURNING run_id
      """
    ).only()
    return RunID(number: try row.integer("run_id"))
  }

  /// Marks the runs of a feed whose process has died. The caller holds the feed's lock, so no run
  /// that is stored as running can still exist.
  package func closeDeadRuns(of source: SourceID, at instant: Instant) throws {
    try connection.query(
      """
      UPDATE fuel.run SET outcome = 'interrupted', finished_at = \(instant),
        error = 'the process or its connection ended before the run did'
      WHERE source_id = \(source) AND outcome = 'running'
      """)
  }

  /// Records how a run ended well, as part of the run's own transaction.
  package func finishRun(
    _ run: RunID, at instant: Instant, payload: Payload, counts: Counts, rejects: [Reject],
    isComplete: Bool, requests: Int
  ) throws {
    try keep(rejects, of: run, at: instant)
    try close(
      run, at: instant, as: counts.stored > 0 ? "stored" : "unchanged", takenAt: payload.takenAt,
      fetchedAt: payload.fetchedAt, documents: payload.documents, bytes: payload.bytes,
      isComplete: isComplete, counts: counts, requests: requests)
    try numberChange(run)
  }

  /// Gives a run its number in the order of commits. This is the last step of its transaction.
  package func numberChange(_ run: RunID) throws {
    // A rehearsal is one long transaction and would hold up all other commits.
    guard !connection.isRehearsing else { return }
    try connection.query("SELECT fuel.number_change(\(run))")
  }

  /// Records that a run fetched but was only a rehearsal.
  package func markRehearsed(_ run: RunID, at instant: Instant, requests: Int) throws {
    try connection.query(
      """
      UPDATE fuel.run SET outcome = 'rehearsed', finished_at = \(instant), requests = \(requests)
      WHERE run_id = \(run)
      """)
  }

  /// Records why a run stored nothing. Its valid records are counted as rejected with the run.
  /// Records that were bad by themselves are kept as rejects.
  ///
  /// - Parameters:
  ///   - list: the composition of its list, where the list is why it was refused.
  ///   - judge: called with that list in the same transaction, which holds the lock of the timeline.
  /// - Returns: what `judge` returns.
  @discardableResult
  package func failRun(
    _ run: RunID, at instant: Instant, isRefusal: Bool, error: String, payload: Payload?,
    counts: Counts = Counts(), rejects: [Reject] = [], list: ListSummary? = nil, requests: Int,
    judge: (ListSummary) throws -> [RunID] = { _ in [] }
  ) throws -> [RunID] {
    try connection.transaction {
      if let list {
        try store.spans.lockTimeline()
        try keep(list, of: run)
      }
      try keep(rejects, of: run, at: instant)
      try close(
        run, at: instant, as: isRefusal ? "refused" : "failed", takenAt: payload?.takenAt,
        fetchedAt: payload?.fetchedAt, documents: payload?.documents ?? [],
        bytes: payload?.bytes ?? 0, counts: counts, error: error, requests: requests)
      return try list.map(judge) ?? []
    }
  }

  /// Records that a file of an archive was refused as a whole.
  package func refuseFile(
    _ file: String, digest: String, of source: SourceID, received: Int, reason: String,
    at now: Instant
  ) throws {
    try connection.transaction {
      let run = try openRun(source, at: now, kind: .backfill, digest: digest)
      var counts = Counts()
      counts.rejectedByReason = ["file_refused": received]
      try close(run, at: now, as: "refused", documents: [file], counts: counts, error: reason)
    }
  }

  /// Records how a run ended.
  func close(
    _ run: RunID, at instant: Instant, as outcome: String, takenAt: Instant? = nil,
    fetchedAt: Instant? = nil, documents: [String], bytes: Int = 0, isComplete: Bool = false,
    describesStations: Bool = false, counts: Counts, error: String? = nil, requests: Int = 0
  ) throws {
    try connection.query(
      """
      UPDATE fuel.run SET
        received = \(counts.received),
        stored = \(counts.stored),
        unchanged = \(counts.unchanged),
        duplicate = \(counts.duplicate),
        rejected = \(counts.rejected),
        rejected_by_reason = \(try jsonText(counts.rejectedByReason))::jsonb,
        flagged = \(counts.flagged),
        unmapped = \(counts.unmapped),
        pairs = greatest(pairs, \(counts.pairs)),
        shortcomings = \(counts.shortcomings),
        warnings = \(counts.oddities),
        awaits_tomorrow = \(counts.awaitsTomorrow),
        finished_at = \(instant),
        taken_at = \(optional: takenAt),
        fetched_at = \(optional: fetchedAt),
        outcome = \(outcome),
        is_complete = \(isComplete),
        describes_stations = describes_stations OR \(describesStations),
        documents = \(documents),
        payload_sha256 = CASE WHEN \(error == nil) THEN (
          SELECT sha256(convert_to(string_agg(
            body.name || ' ' || encode(body.sha256, 'hex') || E'\\n', '' ORDER BY body.name COLLATE "C"
          ), 'UTF8'))
          FROM fuel.run_body AS body
          WHERE body.run_id = coalesce(run.replaces_run_id, run.run_id)) END,
        payload_bytes = \(bytes),
        requests = \(requests),
        error = \(optional: error.map { String($0.prefix(1_000)) })
      WHERE run_id = \(run)
      """)
  }

  /// Stores the composition of a run's list, even where the list is refused, and how it is judged.
  package func keep(
    _ list: ListSummary, of run: RunID, isComplete: Bool = false, isRepeat: Bool = false
  ) throws {
    try connection.query(
      """
      UPDATE fuel.run SET
        taken_at = \(list.takenAt),
        pairs = \(list.pairs),
        stamps = \(list.stamps)::integer[],
        content = \(optional: list.content),
        rejected_by_reason = \(jsonText(list.rejected))::jsonb,
        is_complete = \(isComplete),
        is_repeat = \(isRepeat),
        composition_id = fuel.composition(\(list.stations), \(jsonText(list.fuels)), \(jsonText(list.brands)))
      WHERE run_id = \(run)
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

  /// Stores which documents a run fetched, before their prices are read.
  func noteDocuments(
    of run: RunID, _ documents: [Document], at fetchedAt: Instant, clockSkewSeconds: Int?
  ) throws {
    try connection.query(
      """
      UPDATE fuel.run SET
        fetched_at = \(fetchedAt),
        documents = \(documents.map(\.name)),
        payload_bytes = \(documents.reduce(0) { $0 + $1.bytes.count }),
        clock_skew = make_interval(secs => \(optional: clockSkewSeconds)::integer)
      WHERE run_id = \(run)
      """)
  }

  /// Stores of which instant a run's answer shows the state, and that earlier readings of its
  /// documents no longer count.
  ///
  /// - Returns: the runs of those readings, whether a run that counts was taken later, and when the
  ///   newest list of the feed was taken that confirms prices.
  func take(
    _ run: RunID, takenAt: Instant, fetchedAt: Instant
  ) throws -> (superseded: [ChangedRun], isLate: Bool, lastListed: Instant?) {
    let row = try connection.query(
      """
      UPDATE fuel.run SET taken_at = \(takenAt), fetched_at = \(fetchedAt)
      FROM fuel.source
      WHERE run.run_id = \(run) AND source.source_id = run.source_id
      RETURNING
        run.replaces_run_id IS NOT NULL AS replaces, source.last_listed_at,
        coalesce(source.last_taken_at > \(takenAt), false) AS is_late
      """
    ).only()
    let isLate = try row.boolean("is_late")
    let lastListed = try row.optionalInstant("last_listed_at")
    guard try row.boolean("replaces") else { return ([], isLate, lastListed) }
    let superseded = try connection.query(
      """
      UPDATE fuel.run AS earlier SET
        outcome = 'superseded', is_complete = false, describes_stations = false
      FROM fuel.run AS present
      WHERE present.run_id = \(run)
        AND present.replaces_run_id IN (earlier.run_id, earlier.replaces_run_id)
        AND earlier.run_id <> present.run_id
        -- An earlier reading that failed stored nothing and stays failed. The run that brought the
        -- documents is superseded however it ended.
        AND (earlier.outcome IN ('stored', 'unchanged', 'refused')
          OR earlier.outcome IN ('failed', 'interrupted') AND earlier.replaces_run_id IS NULL)
      RETURNING earlier.run_id, earlier.taken_at
      """
    ).map { row in
      ChangedRun(
        RunID(number: try row.integer("run_id")),
        takenAt: try row.optionalInstant("taken_at") ?? takenAt)
    }
    return (superseded, isLate, lastListed)
  }

  /// Stores that a run no longer counts: `withdrawn` or `refused`.
  func discount(_ run: RunID, as outcome: String) throws {
    try connection.query(
      """
      UPDATE fuel.run SET
        outcome = \(outcome), is_complete = false, describes_stations = false
      WHERE run_id = \(run)
      """)
  }

  /// Stores that a run counts again.
  func recount(_ run: RunID) throws {
    try connection.query(
      """
      UPDATE fuel.run SET
        outcome = CASE WHEN stored > 0 THEN 'stored' ELSE 'unchanged' END, error = NULL
      WHERE run_id = \(run)
      """)
  }

  /// Stores whether the list of a run is complete, and whether it repeats one of the past.
  func set(_ run: RunID, isComplete: Bool, isRepeat: Bool) throws {
    try connection.query(
      """
      UPDATE fuel.run SET is_complete = \(isComplete), is_repeat = \(isRepeat)
      WHERE run_id = \(run) AND (is_complete, is_repeat) <> (\(isComplete), \(isRepeat))
      """)
  }

  /// Stores since when the lists of some runs have been frozen; `nil`: they are not.
  package func set(_ runs: [RunID], frozenSince: [Instant?]) throws {
    guard !runs.isEmpty else { return }
    try connection.query(
      """
      UPDATE fuel.run SET frozen_since_at = nullif(judged.since_at, 'infinity')
      FROM unnest(
        \(runs.map(\.number))::integer[], \(frozenSince.map { $0 ?? .distantFuture })::timestamptz[]
      ) AS judged (run_id, since_at)
      WHERE run.run_id = judged.run_id
      """)
  }

  /// Stores that a run describes stations.
  func markDescribing(_ run: RunID) throws {
    try connection.query("UPDATE fuel.run SET describes_stations = true WHERE run_id = \(run)")
  }

  /// Stores why a run's list is refused or not complete.
  func note(refusal: String?, shortcomings: [String], of run: RunID) throws {
    try connection.query(
      """
      UPDATE fuel.run SET error = coalesce(\(optional: refusal), error), shortcomings = \(shortcomings)
      WHERE run_id = \(run)
      """)
  }
}
