import Configuration
package import Feeds
package import FuelModel
package import Logging
package import Store

/// Withdraws runs as if they never took place, and counts withdrawn runs again. Their answers are
/// kept.
package struct Withdrawal {
  /// Why a run cannot be withdrawn or counted again.
  package enum Refused: Error, Equatable, CustomStringConvertible {
    case unknown(Int)
    case noneOf(feed: String)
    /// A file of an archive, in a range of runs.
    case file(Int, archive: String)
    case replaced(Int, by: Int)
    case unkept(Int)
    case notCounted(Int, outcome: String)
    case readAgain(Int, by: Int)
    case notWithdrawn(Int, outcome: String)

    package var description: String {
      switch self {
      case .unknown(let run): "there is no run \(run); fuel_v1.ingest_runs lists them"
      case .noneOf(let feed): "none of these runs is of \(feed); fuel_v1.ingest_runs lists them"
      case .file(let run, let archive):
        "run \(run) loaded a file of \(archive): name it by its own number, not in a range"
      case .replaced(let run, let by):
        "the answers of run \(run) were read again by run \(by): withdraw run \(by) instead"
      case .unkept(let run):
        "run \(run) is of version 0.5, which did not keep what a run states: it cannot be withdrawn"
      case .notCounted(let run, let outcome):
        "run \(run) already does not count: it is \(outcome)"
          + (["failed", "interrupted"].contains(outcome)
            ? "; if its documents are kept, the next run of its feed reads them" : "")
      case .readAgain(let run, let by):
        "run \(run) is not withdrawn: its answers were read again by run \(by), which counts in its place"
      case .notWithdrawn(let run, let outcome): "run \(run) is not withdrawn: it is \(outcome)"
      }
    }
  }

  private static let counting = ["stored", "unchanged"]

  private let store: Store
  private let sources: [Source]
  private let clock: Clock
  private let reader: DocumentReader
  private let log: Logger

  /// Creates the means to withdraw runs.
  ///
  /// - Parameters:
  ///   - sources: the feeds of the configuration, whose rules judge the lists.
  ///   - reader: where documents are read.
  package init(
    _ store: Store, sources: [Source], clock: Clock, reader: DocumentReader = .here, log: Logger
  ) {
    self.store = store
    self.sources = sources
    self.clock = clock
    self.reader = reader
    self.log = log
  }

  /// Checks which runs can be withdrawn or counted again.
  ///
  /// - Parameters:
  ///   - numbers: their numbers. A range may contain numbers of no run, which are left out.
  ///   - named: the numbers that were given one by one.
  ///   - feed: only runs of this feed are meant; `nil`: those of every feed.
  ///   - counts: whether the runs are to count again.
  /// - Returns: these runs, in the order of their numbers, and why others stay as they are.
  /// - Throws: `Refused` where one of them cannot become what is wanted.
  package func candidates(
    _ numbers: [Int], named: Set<Int>, of feed: String? = nil, counts: Bool
  ) throws -> (found: [LedgerRun], passed: [Refused]) {
    let known = try store.ledger.runs(among: numbers, of: feed)
    let wanted = Set(known).union(feed == nil ? named : []).sorted()
    guard !wanted.isEmpty else {
      throw feed.map { Refused.noneOf(feed: $0) } ?? .unknown(numbers[0])
    }
    var found: [LedgerRun] = []
    var passed: [Refused] = []
    for number in wanted {
      let isNamed = named.contains(number)
      guard let run = try store.ledger.ledgerRun(number) else { throw Refused.unknown(number) }
      guard let refused = refusal(of: run, isNamed: isNamed, counts: counts) else {
        found.append(run)
        continue
      }
      switch refused {
      case .notCounted, .file: break
      // The run that read its answers again is among those to withdraw.
      case .replaced(_, let by) where wanted.contains(by): break
      case .notWithdrawn(_, let outcome) where !isNamed || Self.counting.contains(outcome): break
      default: throw refused
      }
      passed.append(refused)
    }
    return (found, passed)
  }

  private func refusal(of run: LedgerRun, isNamed: Bool, counts: Bool) -> Refused? {
    let number = run.run.number
    guard isNamed || !run.isFile else { return .file(number, archive: run.feed) }
    if counts {
      guard run.outcome == "withdrawn" else {
        return run.replacedBy.map { .readAgain(number, by: $0) }
          ?? .notWithdrawn(number, outcome: run.outcome)
      }
    } else {
      if let by = run.replacedBy { return .replaced(number, by: by) }
      guard Self.counting.contains(run.outcome) else {
        return .notCounted(number, outcome: run.outcome)
      }
    }
    return run.isKept || run.isFile ? nil : .unkept(number)
  }

  /// Reads the runs again that an earlier withdrawal left unread when it died.
  package func finishEarlier() throws {
    for (run, feed) in try store.ledger.runsToRead() { read([run], of: feed) }
  }

  /// Withdraws a run, or counts it again. A run that counts again describes its stations again only
  /// if its documents are kept. The next aggregate makes the spans of a file.
  ///
  /// - Parameter run: one that `candidates` found.
  /// - Returns: other runs that loaded the same file of an archive, and count.
  @discardableResult
  package func decide(_ run: LedgerRun, counts: Bool, reason: String) throws -> [RunID] {
    if run.isFile {
      try locking(run.source, or: Backfill.Failure.busy(run.feed)) {
        try store.ledger.decide(file: run.run, counts: counts, reason: reason, at: clock.now())
      }
      return counts ? [] : try store.ledger.otherLoads(of: run.run)
    }
    guard let source = sources.first(where: { $0.feed == run.feed }) else {
      throw ConfigurationError.unknownFeed(run.feed)
    }
    let unread = try locking(run.source, or: IngestError.busy) {
      try Standings(store, of: run.source, rules: source.listRules, now: clock.now())
        .decide(run.run, takenAt: run.takenAt, counts: counts, reason: reason)
    }
    log.info(counts ? "counts again" : "withdrawn", ["run": run.run, "feed": run.feed])
    read(unread + (counts ? [run.run] : []), of: run.feed)
    return []
  }

  private func locking<Result>(
    _ source: SourceID, or busy: any Error, _ body: () throws -> Result
  ) throws -> Result {
    guard try store.ledger.lock(source) else { throw busy }
    // Where this fails, the session has ended, and the server has released its locks.
    defer { try? store.ledger.unlock(source) }
    return try body()
  }

  /// Reads the kept documents of runs again.
  private func read(_ runs: [RunID], of feed: String) {
    guard let source = sources.first(where: { $0.feed == feed }) else { return }
    let ingest = Ingest(source, store: store, clock: clock, reader: reader, log: log)
    ingest.readAgain(runs, ingest.reprocess)
  }
}
