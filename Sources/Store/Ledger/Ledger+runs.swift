import Foundation
package import FuelModel
import Postgres

/// The documents of a run.
package struct Payload: Sendable {
  /// The names of the documents.
  package var documents: [String]
  /// The bytes of all documents together.
  package var bytes: Int
  /// When the last of the documents came.
  package var fetchedAt: Instant
  /// The instant whose state the documents show. It is earlier than `fetchedAt` by the feed's
  /// delay.
  package var takenAt: Instant

  package init(documents: [Document], fetchedAt: Instant, takenAt: Instant) {
    self.documents = documents.map(\.name)
    bytes = documents.reduce(0) { $0 + $1.bytes.count }
    self.fetchedAt = fetchedAt
    self.takenAt = takenAt
  }
}

/// The kind of a run: what it reads.
package enum RunKind: Sendable {
  case live
  case replay
  /// Reads the documents of an earlier run again.
  case reprocess(RunID)
  /// Reads a file of an archive.
  case backfill

  var name: String {
    switch self {
    case .live: "live"
    case .replay: "replay"
    case .reprocess: "reprocess"
    case .backfill: "backfill"
    }
  }
  var replaced: RunID? {
    if case .reprocess(let run) = self { run } else { nil }
  }
}

/// What became of a run's records. The counts add up: `received` is the sum of the stored,
/// unchanged, duplicate and rejected records.
package struct Counts: Equatable, Sendable {
  package var stored = 0
  package var unchanged = 0
  package var duplicate = 0
  /// The number of changed prices that are doubtful.
  package var flagged = 0
  /// The number of records kept under a fuel code that nobody has mapped yet. They count as stored
  /// or unchanged too.
  package var unmapped = 0
  /// The number of stations and fuels for which the run reported a price.
  package var pairs = 0
  /// Why the run's list is not complete.
  package var shortcomings: [String] = []
  /// What else was odd about the feed as a whole.
  package var oddities: [String] = []
  /// Whether tomorrow's prices should have been published and were not.
  package var awaitsTomorrow = false
  /// Lists that were refused when they arrived, of which nothing was stored, and that would be
  /// believed now.
  package var believedNow: [RunID] = []
  package var rejectedByReason: [String: Int] = [:]
  /// An example of a rejected record, for each reason.
  package var examples: [String: String] = [:]

  package init() {}

  /// The counts of a run that stores nothing of what was read.
  package init(refusing distinct: Reading.Distinct) {
    duplicate = distinct.duplicates
    rejectedByReason = distinct.rejectedByReason
    if !distinct.observations.isEmpty {
      rejectedByReason["run_refused"] = distinct.observations.count
    }
  }

  /// Keeps the first rejected record of each reason as an example.
  package mutating func takeExamples(_ rejects: [Reject]) {
    for reject in rejects where examples[reject.reason.rawValue] == nil {
      examples[reject.reason.rawValue] = reject.raw
    }
  }

  /// Everything that a person should know.
  package var warnings: [String] { shortcomings + oddities }
  package var rejected: Int { rejectedByReason.values.reduce(0, +) }
  package var received: Int { stored + unchanged + duplicate + rejected }
}

extension Ledger {
  /// Notifies listeners on the channel `fuel_v1` that a run was committed. This is a hint to look
  /// at `fuel_v1.changes` now. It is sent after the commit and not with it, so that a listener that
  /// does not read cannot fail a run. Where it fails, listeners catch up from `fuel_v1.changes`.
  package func announceRun(_ run: RunID) throws {
    guard !connection.isRehearsing else { return }
    try connection.query(
      """
      SELECT pg_notify('fuel_v1', jsonb_build_object(
        'version', 1, 'kind', run.kind, 'run', run.run_id, 'change', run.change_number,
        'source', source.source, 'stored', run.stored)::text)
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE run.run_id = \(run) AND run.change_number IS NOT NULL
      """)
  }

  /// Stores rejected records. A record that is known already stays as it was. Where a feed has
  /// `rejectsKept` of them already, further ones are only counted, because a feed that sends
  /// different rubbish each time would fill the disk. Archives have no such limit.
  func keep(_ rejects: [Reject], of run: RunID, at instant: Instant) throws {
    guard !rejects.isEmpty else { return }
    try connection.query(
      """
      INSERT INTO fuel.reject (source_id, reason, raw_md5, raw, run_id, rejected_at)
      SELECT DISTINCT ON (reject.reason, md5(reject.raw))
        run.source_id, reject.reason, md5(reject.raw)::uuid, reject.raw, run.run_id,
        \(instant)::timestamptz
      FROM unnest(
        \(rejects.map(\.reason.rawValue))::text[], \(rejects.map(\.raw))::text[]
      ) AS reject (reason, raw)
      JOIN fuel.run ON run.run_id = \(run)
      ORDER BY reject.reason, md5(reject.raw)
      LIMIT (
        SELECT CASE WHEN source.kind = 'archive' THEN NULL ELSE greatest(
          0, \(InputLimit.rejectsKept.value) - (
            SELECT count(*) FROM fuel.reject AS kept WHERE kept.source_id = source.source_id)) END
        FROM fuel.source
        JOIN fuel.run USING (source_id)
        WHERE run.run_id = \(run))
      ON CONFLICT ON CONSTRAINT reject_pk DO NOTHING
      """)
  }

  /// Returns a JSON object with sorted keys.
  func jsonText(_ object: [String: some Encodable]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(object), as: UTF8.self)
  }
}

extension Reading.Distinct {
  /// The number of rejected records by reason.
  package var rejectedByReason: [String: Int] {
    Dictionary(rejects.map { ($0.reason.rawValue, 1) }, uniquingKeysWith: +)
  }
}
