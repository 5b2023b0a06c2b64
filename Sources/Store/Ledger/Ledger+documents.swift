import Foundation
package import FuelModel
import Postgres
import Views

/// A run whose documents are kept, so that they can be read again.
package struct KeptRun: Sendable {
  package var run: RunID
  package var feed: String
  package var fetchedAt: Instant
  /// The provider's clock less ours at that time; `nil` where it is not known.
  package var clockSkewSeconds: Int?
}

/// Why kept documents cannot be read.
package enum BodyError: Error, Equatable, CustomStringConvertible {
  case unknownRun(Int)
  case notKept(Int)
  case withdrawn(Int)
  case unkept(Int)

  package var description: String {
    switch self {
    case .unknownRun(let run): "there is no run \(run); fuel_v1.ingest_runs lists them"
    case .withdrawn(let run):
      "run \(run) is withdrawn; bowser withdraw \(run) --undo --reason TEXT makes it count again"
    case .unkept(let run):
      "run \(run) is of version 0.5, which did not keep whole answers: it cannot be read again"
    case .notKept(let run):
      "the documents of run \(run) are not kept: none were received, or they are older than keepBodiesDays"
    }
  }
}

extension Ledger {
  /// Stores a run's documents as they came, in a transaction of its own, before their
  /// prices are read.
  package func keep(
    _ documents: [Document], of run: RunID, fetchedAt: Instant, clockSkewSeconds: Int? = nil
  ) throws {
    try connection.transaction {
      // COPY sends a document in pieces, where a parameter would be held twice more.
      try connection.execute(
        """
        CREATE TEMPORARY TABLE staged_body (
          name       text        NOT NULL,
          fetched_at timestamptz NOT NULL,
          bytes      bytea       NOT NULL
        ) ON COMMIT DROP
        """)
      try connection.copy(into: "pg_temp.staged_body", columns: 3) { copy in
        for document in documents {
          try copy.beginRow()
          copy.write(document.name)
          copy.write(document.fetchedAt.sinceMillennium)
          try copy.write(large: document.bytes)
        }
      }
      try connection.query(
        """
        WITH body AS MATERIALIZED (
          SELECT name, fetched_at, bytes, sha256(bytes) AS sha256 FROM pg_temp.staged_body
        ),
        kept AS (
          INSERT INTO fuel.body (sha256, bytes, kept_at)
          SELECT body.sha256, body.bytes, \(fetchedAt)::timestamptz
          FROM body
          ON CONFLICT DO NOTHING
        )
        INSERT INTO fuel.run_body (run_id, name, sha256, fetched_at)
        SELECT \(run)::integer, body.name, body.sha256, body.fetched_at
        FROM body
        """)
      // A rehearsal keeps the documents of several runs in one transaction.
      try connection.execute("DROP TABLE pg_temp.staged_body")
      try noteDocuments(of: run, documents, at: fetchedAt, clockSkewSeconds: clockSkewSeconds)
    }
  }

  /// Returns a run whose documents are kept. Where the run itself reads the documents of an earlier
  /// run, the earlier run is returned.
  package func keptRun(_ number: Int) throws -> KeptRun {
    guard
      let row = try connection.query(
        """
        SELECT coalesce(run.replaces_run_id, run.run_id) AS original_id, source.source,
          original.fetched_at, extract(epoch FROM original.clock_skew)::integer AS clock_skew,
          (
            SELECT max(taken.run_id)
            FROM fuel.run AS taken
            WHERE taken.outcome = 'withdrawn'
              AND coalesce(taken.replaces_run_id, taken.run_id)
                = coalesce(run.replaces_run_id, run.run_id)
          ) AS withdrawn,
          EXISTS (
            SELECT
            FROM fuel.kept_answer AS adopted
            WHERE adopted.source_id = run.source_id AND adopted.is_adopted AND run.run_id <= adopted.run_id
          ) AND run.outcome IN ('stored', 'unchanged') AS is_unkept
        FROM fuel.run
        JOIN fuel.source USING (source_id)
        LEFT JOIN fuel.run AS original ON original.run_id = coalesce(run.replaces_run_id, run.run_id)
          AND EXISTS (SELECT FROM fuel.run_body WHERE run_body.run_id = original.run_id)
        WHERE run.run_id = \(number)
        """
      ).first
    else { throw BodyError.unknownRun(number) }
    if let withdrawn = try row.optional("withdrawn").flatMap({ Int($0) }) {
      throw BodyError.withdrawn(withdrawn)
    }
    guard try !row.boolean("is_unkept") else { throw BodyError.unkept(number) }
    guard let fetchedAt = try row.optionalInstant("fetched_at") else {
      throw BodyError.notKept(number)
    }
    return KeptRun(
      run: RunID(number: try row.integer("original_id")), feed: try row.text("source"),
      fetchedAt: fetchedAt, clockSkewSeconds: try row.optional("clock_skew").flatMap { Int($0) })
  }

  /// Reads the documents of a run, in the order in which they were fetched.
  ///
  /// - Throws: `BodyError` where they are no longer kept.
  package func documents(of kept: KeptRun) throws -> [Document] {
    var documents: [Document] = []
    // COPY passes the bytes on as they are. A column of a result would hold them as text.
    try connection.copy(
      from: """
        SELECT run_body.name, run_body.fetched_at, body.bytes
        FROM fuel.run_body
        JOIN fuel.body USING (sha256)
        WHERE run_body.run_id = \(kept.run)
        ORDER BY run_body.fetched_at, run_body.name
        """
    ) { row in
      let (name, fetchedAt) = (try row.text(), try row.instant())
      documents.append(Document(name: name, bytes: Array(try row.bytes()), fetchedAt: fetchedAt))
    }
    guard !documents.isEmpty else { throw BodyError.notKept(kept.run.number) }
    return documents
  }

  /// Returns the runs of a feed with kept documents that count, were taken after the earliest of the
  /// given runs, and are not among them.
  package func keptRuns(of feed: String, notIn runs: [Int]) throws -> [Int] {
    try connection.query(
      """
      SELECT DISTINCT run_body.run_id
      FROM fuel.run_body
      JOIN fuel.run USING (run_id)
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(feed)
        AND run.taken_at > (
          SELECT min(given.taken_at) FROM fuel.run AS given
          WHERE given.run_id = ANY (\(runs)::integer[]) AND given.source_id = run.source_id)
        AND NOT run.run_id = ANY (\(runs)::integer[])
        AND run.outcome IN ('stored', 'unchanged', 'superseded')
      ORDER BY 1
      """
    ).map { try $0.integer("run_id") }
  }

  /// Returns the runs of a feed whose kept documents have to be read, those that were tried least
  /// first: the runs that `noteToRead` recorded, and live runs that died or could not be stored after
  /// their documents had come and that nothing has read since. A run is left out after three readings
  /// whose process died, because a fourth could hold up the feed for ever.
  package func unreadRuns(of source: SourceID) throws -> [Int] {
    try connection.query(
      """
      SELECT unread.run_id
      FROM (
        SELECT run_to_read.run_id, coalesce(run.replaces_run_id, run.run_id) AS original_id
        FROM fuel.run_to_read
        JOIN fuel.run USING (run_id)
        WHERE run.source_id = \(source)
        UNION
        SELECT run.run_id, run.run_id
        FROM fuel.run
        WHERE run.source_id = \(source)
          -- Failed with its documents kept: the store failed, not the fetch.
          AND run.outcome IN ('interrupted', 'failed')
          AND run.kind = 'live'
          AND run.fetched_at IS NOT NULL
          AND EXISTS (SELECT FROM fuel.run_body WHERE run_body.run_id = run.run_id)
          AND NOT EXISTS (
            SELECT
            FROM fuel.run AS reading
            WHERE reading.replaces_run_id = run.run_id
              AND reading.outcome NOT IN ('interrupted', 'failed'))
      ) AS unread
      LEFT JOIN fuel.run AS reading ON reading.replaces_run_id = unread.original_id
      GROUP BY unread.run_id
      HAVING count(*) FILTER (WHERE reading.outcome = 'interrupted') < 3
      ORDER BY count(reading.run_id), unread.run_id
      """
    ).map { try $0.integer("run_id") }
  }

  /// Records runs whose kept documents have to be read again, in the transaction that decides so.
  package func noteToRead(_ runs: [RunID]) throws {
    guard !runs.isEmpty else { return }
    try connection.query(
      """
      INSERT INTO fuel.run_to_read (run_id)
      SELECT unnest(\(runs.map(\.number))::integer[])
      ON CONFLICT ON CONSTRAINT run_to_read_pk DO NOTHING
      """)
  }

  /// Returns the runs that `noteToRead` recorded, with their feeds.
  package func runsToRead() throws -> [(run: RunID, feed: String)] {
    try connection.query(
      """
      SELECT run_to_read.run_id, source.source
      FROM fuel.run_to_read
      JOIN fuel.run USING (run_id)
      JOIN fuel.source USING (source_id)
      ORDER BY run_to_read.run_id
      """
    ).map { (RunID(number: try $0.integer("run_id")), try $0.text("source")) }
  }

  /// Removes a run from those that have to be read again, so that a run that cannot be read is not
  /// tried for ever.
  package func forgetToRead(_ run: Int) throws {
    try connection.query("DELETE FROM fuel.run_to_read WHERE run_id = \(run)")
  }

  /// Deletes documents of a feed that came before an instant, except those of its newest runs.
  package func pruneBodies(of source: SourceID, before instant: Instant) throws {
    try connection.query("SELECT fuel.prune_bodies(\(source), \(instant))")
  }

  /// Deletes records of a feed that were rejected more than a year ago. Their runs still count
  /// them.
  package func pruneRejects(of source: SourceID) throws {
    try connection.query("SELECT fuel.prune_rejects(\(source))")
  }
}
