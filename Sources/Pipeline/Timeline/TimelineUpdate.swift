package import FuelModel
package import Store
import Timeline

/// Updates the timeline of stations for which something was reported.
///
/// The spans of a station and fuel are made again from two spans before the change on. Spans that
/// come out unchanged are not written, so that only real changes cause days to be made again.
package struct TimelineUpdate {
  let store: Store
  let now: Instant
  private let isAggregate: Bool
  /// By fuel, and then by source.
  let rules: [Int16: [Int16: ReportRules]]

  /// Creates an update.
  ///
  /// - Parameters:
  ///   - now: the clock, which decides which span is the present one. Averages of later days do not
  ///     exist yet.
  ///   - isAggregate: whether an aggregate makes the spans. Only an aggregate takes marks of days.
  package init(_ store: Store, now: Instant, isAggregate: Bool = false) throws {
    self.store = store
    self.now = now
    self.isAggregate = isAggregate
    rules = try store.spans.reportRules()
  }

  // How many stations and fuels are made at a time, and about how many spans. A span and what was
  // reported about it take some 400 bytes.
  private static let atOnce = 300
  private static let spansAtOnce = 60_000

  /// Makes the spans of everything noted since the last run: archives, links of stations and
  /// confirmed prices.
  ///
  /// - Parameters:
  ///   - workers: the connections; each makes a share of the stations.
  ///   - progress: called with the number of stations and fuels done, and of all.
  package static func makeAll(
    _ workers: Workers, now: Instant, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let store = workers.first
    // An aggregate that broke off may have made spans whose doubts nobody has judged.
    let wasBroken = try store.ledger.lastAggregate() == nil
    let all = try store.transaction { try store.due.spansDue() }
    guard all > 0 || wasBroken else { return }
    // Days that have ended are noted first, so that station days can be made together with their
    // spans.
    try store.due.markEndedDays(now: now)
    let made = Made()
    if wasBroken {
      made.add(try TimelineUpdate(store, now: now).rules.keys, from: .distantPast)
    }
    let areFew = all <= atOnce
    if !areFew { try makeShares(of: all, workers, now: now, progress: progress, made) }
    try Workers.patiently {
      try store.transaction {
        try store.spans.lockTimeline()
        // In this transaction, so that no reader sees spans whose doubts are not judged yet.
        if areFew {
          try makeBatch(
            store.due.takeSpans(of: store.due.waiting(for: .spans)), store,
            days: DayUpdate(store, now: now), now: now, made)
        }
        try judge(made, store, now: now)
      }
    }
    if areFew { progress(all, all) }
  }

  /// Lets each connection make the spans of its share of the stations, a batch in each transaction.
  private static func makeShares(
    of all: Int, _ workers: Workers, now: Instant, progress: (Int, Int) -> Void, _ made: Made
  ) throws {
    var shares: [Made] = []
    try workers.run(pieces: all / atOnce + 1, of: all, progress: progress) { store, number, count in
      let made = Made()
      shares.append(made)
      let days = DayUpdate(store, now: now)
      var waiting = try store.due.waiting(for: .spans, share: (number, of: count))[...]
      // How many notes the next batch takes. A note may concern a few spans or thousands, so each
      // batch sets this number by the notes that it took itself.
      var notes = 30
      return {
        let part = waiting.prefix(notes)
        let spans = try store.transaction {
          try store.spans.lockTimeline(isShared: true)
          return try makeBatch(
            store.due.takeSpans(of: part), store, days: days, now: now, made)
        }
        waiting = waiting.dropFirst(part.count)
        notes = max(1, min(atOnce, spansAtOnce * part.count / max(1, spans)))
        return part.count
      }
    }
    for share in shares { made.add(share.fuelIDs, from: share.from) }
  }

  /// The fuels of which spans were made, and the first instant from which they were written.
  private final class Made {
    private(set) var fuelIDs: Set<Int16> = []
    private(set) var from = Instant.distantFuture

    func add(_ fuelIDs: some Sequence<Int16>, from: Instant) {
      self.fuelIDs.formUnion(fuelIDs)
      self.from = min(self.from, from)
    }
  }

  /// Makes the spans of some stations, and the days of those that need no judgement. Doubts are
  /// left to `judge`.
  ///
  /// - Returns: how many spans were made.
  @discardableResult
  private static func makeBatch(
    _ touched: [Window], _ store: Store, days: DayUpdate, now: Instant, _ all: Made
  ) throws -> Int {
    guard !touched.isEmpty else { return 0 }
    let update = try TimelineUpdate(store, now: now, isAggregate: true)
    let made = try update.write(touched)
    try update.mark(made.changes)
    // Other fuels of a station may no longer be placeholders.
    for window in touched + made.suspects { all.add([window.pair.fuelID], from: window.from) }
    all.add([], from: made.from)
    try days.make(made.whole)
    return made.count
  }

  /// Judges the doubts about spans that an aggregate has made.
  private static func judge(_ made: Made, _ store: Store, now: Instant) throws {
    guard !made.fuelIDs.isEmpty else { return }
    let update = try TimelineUpdate(store, now: now, isAggregate: true)
    try update.mark(update.judgeSuspects(fuelIDs: made.fuelIDs.sorted(), from: made.from))
  }

  /// The result of writing spans.
  private struct Written {
    /// The number of spans that were made, those that came out as they were included.
    var count = 0
    /// Of which stations and fuels something else is believed than before, and between which instants.
    var changes: [Window] = []
    /// The instant from which spans were written.
    var from = Instant.distantFuture
    /// Where those of the written spans begin that are suspects.
    var suspects: [Window] = []
    /// All spans of stations and fuels of which an aggregate made all, if none is a suspect.
    var whole: [Pair: [Span]] = [:]
  }

  /// Makes the spans of station records and fuels with new reports. Belongs to a transaction during
  /// which no other update runs.
  ///
  /// - Returns: how many of the changed prices are doubtful.
  @discardableResult
  package func make(_ touched: [Window]) throws -> Int {
    var changes: [Window] = []
    var suspects: [Window] = []
    // Each part has all fuels of its station records.
    let parts = Int32(touched.count / Self.atOnceOfList + 1)
    for part in Dictionary(grouping: touched, by: { $0.pair.stationID % parts }).values {
      let written = try write(part)
      changes += written.changes
      suspects += written.suspects
    }
    changes += try judgeSuspects(suspects, beside: changes)
    try mark(changes)
    return try store.spans.presentDoubts(of: changes.map(\.pair), at: now)
  }

  // How many station records and fuels of a list are made at a time. Few of them have more than a
  // handful of reports since the list before.
  private static let atOnceOfList = 20_000

  /// Writes the spans of records with new reports where they differ from the stored ones. Suspects
  /// among them are judged afterwards.
  private func write(_ touched: [Window]) throws -> Written {
    var windows = try store.due.stations(of: touched)
    guard !windows.isEmpty else { return Written() }
    let present = try store.spans.presentSpans(of: Array(Set(windows.map(\.pair.stationID))))
    // The window begins up to two spans before the change. The rule for suspects needs two more.
    var old = try store.spans.spans(of: windows, before: 2 * Self.reach + 1)
    windows = windows.map { Self.window($0, before: old[$0.pair] ?? []) }
    var made = try spans(in: &windows, old: &old)
    let whole = Set(windows.lazy.filter { Self.isWhole($0, old: old) }.map(\.pair))
    windows.sort { $0.pair < $1.pair }
    var result = Written()
    // Where a price was taken for a placeholder, it may be doubtful for another reason.
    result.suspects = try doubtPlaceholders(
      &made, windows: windows, old: old, present: present, whole: whole)
    result.from = min(now, result.suspects.map(\.from).min() ?? .distantFuture)

    var rewritten: [Window] = []
    var written: [Pair: [Span]] = [:]
    for window in windows {
      let before = (old[window.pair] ?? []).filter { $0.span.from >= window.from }
      let after = made[window.pair] ?? []
      result.count += after.count
      if let first = [made[window.pair]?.first?.from, old[window.pair]?.first?.span.from]
        .compactMap({ $0 }).min()
      {
        result.from = min(result.from, first)
      }
      if isAggregate, whole.contains(window.pair), !after.contains(where: \.isSuspect) {
        result.whole[window.pair] = after
      }
      guard let difference = Self.difference(before, after, now: now) else { continue }
      result.changes.append(
        Window(pair: window.pair, from: difference.from, until: difference.until))
      rewritten.append(Window(pair: window.pair, from: difference.writesFrom))
      let rest = after.drop { $0.from < difference.writesFrom }
      written[window.pair] = Array(rest)
      result.suspects += rest.lazy.filter(\.isSuspect).map {
        Window(pair: window.pair, from: $0.from)
      }
    }
    try store.spans.replace(rewritten, with: written, now: now)
    return result
  }

  func mark(_ changes: [Window]) throws {
    try store.due.markChangedDays(changes, isAggregate: isAggregate, now: now)
  }
}
