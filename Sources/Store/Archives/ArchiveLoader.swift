package import FuelModel
import Postgres

/// Loads the batches of an archive's files. A file's row in the ledger of runs, its stations and
/// its facts are stored in one transaction, so a file is loaded completely or not at all.
///
/// A loader is owned by one thread at a time, as its connection is.
package final class ArchiveLoader: @unchecked Sendable {
  /// The outcome of loading a file.
  package struct Loaded: Sendable {
    package var run: RunID
    package var counts: Counts
    package var first: Instant?
    package var last: Instant?
  }

  let store: Store
  let source: SourceID
  let now: Instant
  private let maxRejectShare: Double
  /// What the archive expects, for refusals of files whose rows are bad for a reason.
  private let expectation: @Sendable (Reject.Reason) -> String?

  let stations: ArchiveStations
  /// The stations known to all loaders, together with those that the current file has added.
  var known = ArchiveStations.Known()

  /// The state of the current file; `nil` between two files.
  var current: CurrentFile?

  struct CurrentFile {
    var run: RunID
    var file: String
    var counts = Counts()
    var first = UInt32.max
    var last: UInt32 = 0
    /// When the last price of each local month began, in seconds since 2000-01-01 UTC.
    var months: [Month: UInt32] = [:]
    var payloadBytes = 0
    /// The number of facts that state another price for an instant than an earlier file.
    var contradicting = 0
    /// The descriptions that were first stored with this file.
    var learnt: [(number: Int, station: Int32, md5: [UInt8])] = []
  }

  package init(
    _ store: Store, source: SourceID, stations: ArchiveStations, now: Instant,
    maxRejectShare: Double,
    expectation: @escaping @Sendable (Reject.Reason) -> String? = { _ in nil }
  ) {
    self.store = store
    self.stations = stations
    self.source = source
    self.now = now
    self.maxRejectShare = maxRejectShare
    self.expectation = expectation
  }

  /// Loads a batch. The last batch of a file commits the file, and its outcome is returned.
  ///
  /// - Throws: `Refusal` where too many of the file's rows are bad. Nothing of the file is kept
  ///   then.
  package func load(_ batch: ArchiveBatch, digest: String) throws -> Loaded? {
    do {
      if batch.isFirst { try begin(batch, digest: digest) }
      try add(batch)
      return batch.isLast ? try finish() : nil
    } catch {
      abandon()
      throw error
    }
  }

  /// Rolls back everything that the current file has stored.
  package func abandon() {
    guard current != nil else { return }
    store.connection.rollBack()
    // Stations that are rolled back are stored again when another file names them.
    current = nil
  }

  private func begin(_ batch: ArchiveBatch, digest: String) throws {
    try connection.begin()
    do {
      current = CurrentFile(
        run: try store.ledger.openRun(source, at: now, kind: .backfill, digest: digest),
        file: batch.file)
    } catch {
      connection.rollBack()
      throw error
    }
    try connection.execute(
      "CREATE TEMPORARY TABLE staged_sighting (LIKE fuel.station_sighting) ON COMMIT DROP")
  }

  private func add(_ batch: ArchiveBatch) throws {
    guard var current else { preconditionFailure("a batch without a beginning") }
    current.payloadBytes += batch.bytes
    current.counts.duplicate += batch.duplicates
    current.counts.oddities += batch.warnings
    self.current = current
    try keepRejects(batch.rejects)
    try learn(batch)
    let isWhole = batch.isFirst && batch.isLast
    if !isWhole && batch.isFirst { try stage() }
    for (month, facts) in batch.months.sorted(by: { $0.key < $1.key }) {
      note(facts, of: month)
      if isWhole {
        try store(facts, of: month)
      } else {
        try makeMonth(month)
        // Until the whole file is read, `run_id` holds each row's position in the file.
        try connection.copy(into: "pg_temp.staged_archive_price", columns: 6) { copy in
          try write(facts, to: &copy, withPositions: true)
        }
      }
    }
    if !isWhole && batch.isLast { try decide() }
    try keep(batch.sightings)
  }

  var connection: Connection { store.connection }

  /// Stores rejected rows at once, so that they occupy no memory until the file ends.
  func keepRejects(_ rejects: [Reject]) throws {
    guard var current else { return }
    for reject in rejects {
      current.counts.rejectedByReason[reject.reason.rawValue, default: 0] += 1
    }
    current.counts.takeExamples(rejects)
    self.current = current
    for begin in stride(from: 0, to: rejects.count, by: 50_000) {
      try store.ledger.keep(
        Array(rejects[begin..<min(begin + 50_000, rejects.count)]), of: current.run, at: now)
    }
  }

  // MARK: End

  private func finish() throws -> Loaded {
    guard var current else { preconditionFailure("an end without a beginning") }
    try checkRejects(current)
    if current.contradicting > 0 {
      current.counts.oddities.append(
        "\(current.contradicting) prices contradict those of another file; the higher counts")
    }
    func instant(_ seconds: UInt32) -> Instant? {
      current.last == 0 ? nil : Instant(seconds: ArchiveFact.epoch + Int64(seconds))
    }
    let (first, last) = (instant(current.first), instant(current.last))
    if let first, let last {
      let months = current.months.sorted { $0.key < $1.key }
      try connection.query(
        """
        SELECT fuel.finish_backfill(
          \(source), \(first), \(last), \(months.map(\.key.firstDay)),
          \(months.map { Instant(seconds: ArchiveFact.epoch + Int64($0.value)) }),
          \(current.counts.stored > 0))
        """)
    }
    try store.ledger.close(
      current.run, at: now, as: current.counts.stored > 0 ? "stored" : "unchanged",
      takenAt: last ?? now, documents: [current.file], bytes: current.payloadBytes,
      describesStations: !current.learnt.isEmpty, counts: current.counts)
    try connection.execute("DROP TABLE pg_temp.staged_sighting")
    try store.ledger.numberChange(current.run)
    try connection.commit()
    stations.publish(current.learnt)
    self.current = nil
    return Loaded(run: current.run, counts: current.counts, first: first, last: last)
  }

  private func checkRejects(_ current: CurrentFile) throws {
    let others = current.counts.rejectedByReason[Reject.Reason.notARecord.rawValue] ?? 0
    let records = current.counts.received - others
    guard records > 0 || others > 0 else { throw Refusal("the file has a header but no rows") }
    guard records > 0, others <= max(Reject.few, records) else {
      throw Refusal(
        "\(others) of \(current.counts.received) rows are sums or notes and no records, such as: "
          + "\(current.counts.examples[Reject.Reason.notARecord.rawValue]?.prefix(200) ?? "")")
    }
    var byReason = current.counts.rejectedByReason
    byReason[Reject.Reason.conflictingPrice.rawValue] = nil
    guard let (worst, bad) = Reject.worst(of: byReason, among: records, share: maxRejectShare)
    else { return }
    let example = current.counts.examples[worst] ?? ""
    let hints =
      [Reject.Reason(rawValue: worst).flatMap(expectation)].compactMap { $0 }
      + current.counts.oddities
    throw Refusal(
      "\(bad) of \(current.counts.received) rows are bad, most of them \(worst), "
        + "such as: \(example.prefix(200))" + hints.map { "; \($0)" }.joined())
  }
}
