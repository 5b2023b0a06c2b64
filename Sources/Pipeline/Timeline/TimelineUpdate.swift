package import FuelModel
package import Store
import Timeline

/// Updates the timeline of stations for which something was reported.
///
/// The spans of a station and fuel are made again from two spans before the change on. Spans that
/// come out unchanged are not written, so that only real changes cause days to be made again.
package struct TimelineUpdate {
  private let store: Store
  private let now: Instant
  private let isAggregate: Bool
  private let rules: [Int16: [Int16: ReportRules]]

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
    rules = try store.reportRules()
  }

  // How many stations and fuels are made at a time. Ten years of one hold some thousand reports.
  private static let atOnce = 300

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
    let (all, hasMade) = try store.transaction { try store.touchedCount() }
    guard all > 0 || hasMade else { return }
    // Days that have ended are noted first, so that station days can be made together with their
    // spans.
    try store.markEndedDays(now: now)
    if all <= atOnce {
      // All in one transaction, so that no reader sees spans whose doubts are not judged yet.
      try Workers.patiently {
        try store.transaction {
          try store.lockTimeline()
          try makeBatch(store, days: DayUpdate(store, now: now), now: now)
          try TimelineUpdate(store, now: now, isAggregate: true).judgeMade()
        }
      }
      return progress(all, all)
    }
    try workers.run(pieces: all / atOnce + 1, of: all, progress: progress) { store, number, count in
      (store, DayUpdate(store, now: now), (number, of: count))
    } _: { store, days, share in
      try store.transaction {
        try store.lockTimeline(isShared: true)
        return try makeBatch(store, days: days, share: share, now: now)
      }
    }
    try Workers.patiently {
      try store.transaction {
        try store.lockTimeline()
        try TimelineUpdate(store, now: now, isAggregate: true).judgeMade()
      }
    }
  }

  /// Makes the spans of some stations, and the days of those that need no judgement. Doubts are
  /// left to `judgeMade`.
  ///
  /// - Returns: how many notes were taken.
  @discardableResult
  private static func makeBatch(
    _ store: Store, days: DayUpdate, share: (Int, of: Int) = (0, of: 1), now: Instant
  ) throws -> Int {
    let touched = try store.touched(atMost: atOnce, share: share)
    guard !touched.isEmpty else { return 0 }
    let update = try TimelineUpdate(store, now: now, isAggregate: true)
    let made = try update.write(touched)
    try update.mark(made.changes)
    try store.keepMade(touched, from: made.from)
    try days.make(made.whole)
    return touched.count
  }

  /// Judges the doubts about the spans that an aggregate has made.
  private func judgeMade() throws {
    let made = try store.takeMade()
    guard let first = made.values.min() else { return }
    try mark(judgeSuspects(fuelIDs: made.keys.sorted(), from: first))
  }

  /// A change of a station and fuel: between two instants something else is believed than before.
  private struct Change {
    var pair: Pair
    var from: Instant
    var until: Instant
  }

  /// The result of writing spans.
  private struct Written {
    var changes: [Change] = []
    /// The instant from which spans were written.
    var from = Instant.distantFuture
    /// The spans of stations and fuels that were made from their first report on and hold no
    /// suspect.
    var whole: [Pair: [Span]] = [:]
  }

  /// Makes the spans of station records and fuels with new reports. Belongs to a transaction during
  /// which no other update runs.
  ///
  /// - Returns: how many of the changed prices are doubtful.
  @discardableResult
  package func make(_ touched: [Window]) throws -> Int {
    var written = try write(touched)
    written.changes += try judgeSuspects(
      fuelIDs: Set(touched.map(\.pair.fuelID)).sorted(), from: written.from)
    try mark(written.changes)
    return try store.presentDoubts(of: written.changes.map(\.pair), at: now)
  }

  /// Writes the spans of records with new reports where they differ from the stored ones. Suspects
  /// among them are judged afterwards.
  private func write(_ touched: [Window]) throws -> Written {
    guard !touched.isEmpty else { return Written() }
    let stations = try store.stations(of: touched)
    guard !stations.isEmpty else { return Written() }
    // The window begins up to two spans before the change. The rule for suspects needs two more.
    let old = try store.spans(of: stations, before: 2 * Self.reach + 1)
    let windows = stations.map { Self.window($0, before: old[$0.pair] ?? []) }
    var made = try spans(in: windows, old: old)
    var result = Written()
    result.from = min(now, try doubtPlaceholders(&made, windows: windows, old: old))

    var rewritten: [Window] = []
    var written: [Pair: [Span]] = [:]
    for window in windows {
      let before = (old[window.pair] ?? []).filter { $0.span.from >= window.from }
      let after = made[window.pair] ?? []
      if let first = [made[window.pair]?.first?.from, old[window.pair]?.first?.span.from]
        .compactMap({ $0 }).min()
      {
        result.from = min(result.from, first)
      }
      guard let difference = Self.difference(before, after, now: now) else { continue }
      result.changes.append(
        Change(pair: window.pair, from: difference.from, until: difference.until))
      rewritten.append(Window(pair: window.pair, from: difference.writesFrom))
      written[window.pair] = Array(after.drop { $0.from < difference.writesFrom })
      if window.from == .distantPast, !after.contains(where: \.isSuspect) {
        result.whole[window.pair] = after
      }
    }
    try store.replace(rewritten, with: written, now: now)
    return result
  }

  private func mark(_ changes: [Change]) throws {
    try store.markChangedDays(
      changes.map { ($0.pair, $0.from, $0.until) }, isAggregate: isAggregate, now: now)
  }

  // MARK: Spans

  // Whether a price is doubtful may depend on the two prices before it and the two after it.
  private static let reach = 2

  /// Returns from where spans are made again for a change: from two spans before it, or from the
  /// first.
  private static func window(_ change: Window, before old: [StoredSpan]) -> Window {
    guard change.from > .distantPast else { return change }
    let begun = old.prefix { $0.span.from <= change.from }
    let first = begun.dropLast(reach).last ?? begun.first
    return Window(pair: change.pair, from: first?.span.from ?? change.from)
  }

  private func spans(
    in windows: [Window], old: [Pair: [StoredSpan]]
  ) throws -> [Pair: [Span]] {
    let evidence = try store.evidence(of: windows)
    let first = evidence.values.lazy.flatMap { $0.map(\.at) }.min() ?? now
    let sightings = try store.sightings(from: first, now: .distantFuture)
    var made: [Pair: [Span]] = [:]
    var wider: [Window] = []
    for window in windows {
      let pair = window.pair
      if Self.mayHangOnMore(window, evidence[pair] ?? [], old: old[pair] ?? []) {
        wider.append(Window(pair: pair, from: .distantPast))
        continue
      }
      var spans = Timeline.spans(
        of: evidence[pair] ?? [], rules: rules.compactMapValues { $0[pair.fuelID] },
        sightings: sightings)
      if let place = spans.firstIndex(where: { $0.from >= window.from }), place > 0 {
        let before = spans[place - 1]
        // The span before reaches into the window and is not stored like this, so it may be part of
        // a longer span. All evidence is read to find where that begins.
        if before.latestEnd > window.from, !isKnown(before, in: old[pair] ?? []) {
          wider.append(Window(pair: pair, from: .distantPast))
          continue
        }
      } else if let last = spans.last, last.from < window.from, last.latestEnd > window.from {
        wider.append(Window(pair: pair, from: .distantPast))
        continue
      }
      spans.removeAll { $0.from < window.from }
      let known = (old[pair] ?? []).map(\.span)
      Plausibility.markSuspects(&spans, before: known.filter { $0.from < window.from })
      for position in spans.indices where spans[position].isSuspect {
        // Suspects are judged later. Until then each keeps its doubt, so that nothing changes
        // without need.
        spans[position].doubt =
          known.first {
            $0.from == spans[position].from && $0.price == spans[position].price && $0.isSuspect
          }?.doubt
        if spans[position].doubt?.reason == .placeholder { spans[position].doubt = nil }
      }
      made[pair] = spans
    }
    guard !wider.isEmpty else { return made }
    let all = try store.spans(of: wider)
    return made.merging(try self.spans(in: wider, old: all)) { _, new in new }
  }

  /// Returns whether reports from before a window decide about more than how the window begins. Of
  /// those reports only the last one and the last list are read. More is needed where no span lies
  /// before the window, and where a list leaves out what the list before it left out: such a list
  /// ends what was reported in between.
  private static func mayHangOnMore(
    _ window: Window, _ evidence: [Evidence], old: [StoredSpan]
  ) -> Bool {
    guard window.from > .distantPast, evidence.contains(where: { $0.at < window.from }) else {
      return false
    }
    if !old.contains(where: { $0.span.from < window.from }) { return true }
    return evidence.contains { first in
      first.kind == .unlisted && first.at < window.from
        && evidence.lazy.filter {
          $0.recordID == first.recordID && $0.kind != .price && $0.at > first.at
        }
        .min { $0.at < $1.at }?.kind == .unlisted
    }
  }

  private func isKnown(_ span: Span, in stored: [StoredSpan]) -> Bool {
    stored.contains { $0.span.from == span.from && $0.span.price == span.price }
  }

  /// Where two lists of spans differ; `nil`: nowhere.
  private struct Difference {
    /// The instant from which spans are written again.
    var writesFrom: Instant
    /// The instants between which another price is believed.
    var from: Instant
    var until: Instant
  }

  private static func difference(
    _ old: [StoredSpan], _ new: [Span], now: Instant
  ) -> Difference? {
    var same = 0
    while same < old.count, same < new.count, old[same].span == new[same] { same += 1 }
    if same == old.count, same == new.count { return nil }
    var sameAtEnd = 0
    while sameAtEnd < old.count - same, sameAtEnd < new.count - same,
      old[old.count - 1 - sameAtEnd].span == new[new.count - 1 - sameAtEnd]
    { sameAtEnd += 1 }
    let begins = [
      same < old.count ? old[same].span.from : nil, same < new.count ? new[same].from : nil,
    ].compactMap { $0 }
    let writesFrom = begins.min() ?? now
    var from = writesFrom
    if same < old.count, same < new.count, old[same].span.isSame(as: new[same]),
      old[same].span.from == new[same].from
    {
      // The same price, which ends at another time.
      from = min(old[same].span.until, new[same].until)
    }
    let until: Instant
    if sameAtEnd > 0 {
      // The first span that is the same in both lists begins where the change ends.
      until = Instant(microseconds: new[new.count - sameAtEnd].from.microseconds - 1)
    } else if let oldLast = old.last?.span, let newLast = new.last, oldLast.isSame(as: newLast),
      oldLast.until == newLast.until, oldLast.lapsesAt == newLast.lapsesAt,
      oldLast.isOpen == newLast.isOpen
    {
      until = Instant(microseconds: max(oldLast.from, newLast.from).microseconds - 1)
    } else {
      until =
        [
          old.last.map { max($0.span.lapsesAt, $0.believedUntil) }, new.last.map(\.lapsesAt),
        ].compactMap { $0 }.max() ?? from
    }
    return Difference(writesFrom: writesFrom, from: from, until: min(max(until, from), now))
  }

  // MARK: Doubt

  private func holdingConfirms(_ span: Span, _ pair: Pair) -> Bool {
    rules[span.seenBy]?[pair.fuelID]?.holdingConfirms ?? true
  }

  /// Returns the stations that may have a placeholder, or had one in the time that changed, with
  /// their fuels. Few stations sell two grades at one price, so mostly the newest spans show that
  /// there is none.
  private func stationsWithPlaceholders(
    _ made: [Pair: [Span]], windows: [Window], old: [Pair: [StoredSpan]]
  ) throws -> [Int32: Set<Int16>] {
    /// Removes the doubt, so that only what is believed is compared.
    func forgetDoubt(_ span: inout Span) {
      span.doubt = nil
      span.isSuspect = false
    }
    var changedFrom: [Int32: Instant] = [:]
    var fuels: [Int32: [Int16: [Span]]] = [:]
    var found: Set<Int32> = []
    for window in windows {
      let pair = window.pair
      var before = (old[pair] ?? []).filter { $0.span.from >= window.from }
      if before.contains(where: { $0.span.doubt?.reason == .placeholder }) {
        found.insert(pair.stationID)
      }
      var after = made[pair] ?? []
      for position in before.indices { forgetDoubt(&before[position].span) }
      for position in after.indices { forgetDoubt(&after[position]) }
      changedFrom[pair.stationID] = min(
        changedFrom[pair.stationID] ?? .distantFuture,
        Self.difference(before, after, now: now)?.from ?? .distantFuture)
      fuels[pair.stationID, default: [:]][pair.fuelID] = after
    }
    // Where one fuel changed earlier than the window of another, the other's older spans may stand
    // beside it. They are not at hand here, so the station is kept.
    for window in windows where window.from > changedFrom[window.pair.stationID] ?? .distantPast {
      found.insert(window.pair.stationID)
    }
    let present = try store.presentSpans(of: Array(fuels.keys))
    for (station, others) in present {
      for (fuel, newest) in others where fuels[station]?[fuel] == nil {
        if newest.hasNext || newest.span.from > changedFrom[station] ?? .distantPast {
          found.insert(station)
        }
        fuels[station]?[fuel] = [newest.span]
      }
    }
    return fuels.filter { found.contains($0.key) || Plausibility.mayHavePlaceholders($0.value) }
      .mapValues { Set($0.keys) }
  }

  /// Sets and clears the doubts of placeholders, in `made` and in stored spans beside them.
  ///
  /// - Returns: the first instant from which the doubt of a stored span changed that was not made
  ///   again; `.distantFuture`: there is none.
  private func doubtPlaceholders(
    _ made: inout [Pair: [Span]], windows: [Window], old: [Pair: [StoredSpan]]
  ) throws -> Instant {
    let stations = try stationsWithPlaceholders(made, windows: windows, old: old)
    guard !stations.isEmpty else { return .distantFuture }
    let begins = Dictionary(windows.map { ($0.pair.stationID, $0.from) }, uniquingKeysWith: min)
    let madeBegins = Dictionary(windows.map { ($0.pair, $0.from) }, uniquingKeysWith: min)
    let pairs = Set(
      stations.flatMap { station, fuels in
        fuels.map { Pair(stationID: station, fuelID: $0) }
      })
    /// Returns by station and fuel the stored spans that stay, and those followed by the spans made
    /// anew. The stored spans are read from an instant of each station on, with one span before it.
    func spans(
      of pairs: Set<Pair>, from: [Int32: Instant]
    ) throws -> [Int32: [Int16: (kept: [Span], all: [Span])]] {
      let stored = try store.spans(
        of: pairs.map { Window(pair: $0, from: from[$0.stationID] ?? .distantPast) }, before: 1)
      var found: [Int32: [Int16: (kept: [Span], all: [Span])]] = [:]
      for pair in pairs {
        let end = made[pair] == nil ? .distantFuture : madeBegins[pair] ?? .distantPast
        let kept = (stored[pair] ?? []).map(\.span).filter { $0.from < end }
        found[pair.stationID, default: [:]][pair.fuelID] = (kept, kept + (made[pair] ?? []))
      }
      return found
    }
    // Few stations sell two grades at one price.
    let near = try spans(of: pairs, from: begins).filter {
      Plausibility.mayHavePlaceholders($0.value.mapValues(\.all))
    }
    guard !near.isEmpty else { return .distantFuture }
    // A span that began earlier is judged by all prices charged beside it, so reading starts where
    // it began.
    let anchors = near.reduce(into: [Int32: Instant]()) { anchors, station in
      let begin = begins[station.key] ?? .distantPast
      anchors[station.key] = station.value.values.flatMap(\.all)
        .reduce(begin) { $1.latestEnd > begin ? min($0, $1.from) : $0 }
    }
    let confirmed = try store.confirmedPrices()
    var changed: [(pair: Pair, span: Span, doubt: Doubt?)] = []
    for (station, byFuel) in try spans(
      of: pairs.filter { anchors[$0.stationID] != nil }, from: anchors)
    {
      let placeholders = Plausibility.placeholders(byFuel.mapValues(\.all))
      for (fuel, spans) in byFuel {
        let pair = Pair(stationID: station, fuelID: fuel)
        for (position, span) in spans.all.enumerated()
        where span.from >= anchors[station] ?? .distantPast {
          let placeholder = placeholders[fuel]?[position]
          guard placeholder != nil || span.doubt?.reason == .placeholder else { continue }
          let doubt = placeholder.flatMap {
            Plausibility.doubt(
              about: span, placeholder: $0,
              isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
              holdingConfirms: holdingConfirms(span, pair))
          }
          if position >= spans.kept.count {
            made[pair]?[position - spans.kept.count].doubt = doubt
          } else if span.doubt != doubt {
            changed.append((pair, span, doubt))
          }
        }
      }
    }
    guard !changed.isEmpty else { return .distantFuture }
    // These spans belong to other fuels or to earlier times and are not written again. Only their
    // doubts are changed.
    try store.setDoubts(changed.map { ($0.pair, $0.span.from, $0.doubt) })
    try mark(
      changed.map { Change(pair: $0.pair, from: $0.span.from, until: $0.span.latestEnd) })
    return changed.map(\.span.from).min() ?? .distantFuture
  }

  /// Judges the suspects among the spans that were made, and suspects whose neighbours' spans were
  /// made. A suspect lies far from the station's other prices; it is doubtful unless a neighbour
  /// charges about as much or a person confirmed the price.
  private func judgeSuspects(fuelIDs: [Int16], from first: Instant) throws -> [Change] {
    let suspects = try store.suspects(fuelIDs: fuelIDs, from: first, until: .distantFuture)
    guard !suspects.isEmpty else { return [] }
    let neighbourhood = try store.neighbourhood()
    let confirmed = try store.confirmedPrices()
    var neighbours: [Int32: [Int32]] = [:]
    var asked: [Window] = []
    for (pair, spans) in suspects {
      neighbours[pair.stationID] = neighbourhood.neighbours(of: pair.stationID)
      for stored in spans {
        for other in neighbours[pair.stationID] ?? [] {
          asked.append(
            Window(
              pair: Pair(stationID: other, fuelID: pair.fuelID), from: stored.span.from,
              until: stored.span.from + .seconds(86_400)))
        }
      }
    }
    let around = try store.spans(of: asked, before: 1)
    var judged: [(pair: Pair, from: Instant, doubt: Doubt?)] = []
    var changed: [Change] = []
    for (pair, spans) in suspects {
      for stored in spans where stored.span.doubt?.reason != .placeholder {
        let span = stored.span
        let hasCompany = (neighbours[pair.stationID] ?? []).contains { other in
          Plausibility.isCompany(
            (around[Pair(stationID: other, fuelID: pair.fuelID)] ?? []).map(\.span), of: span)
        }
        let doubt = Plausibility.doubt(
          about: span, hasCompany: hasCompany,
          isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
          holdingConfirms: holdingConfirms(span, pair))
        guard doubt != span.doubt else { continue }
        judged.append((pair, span.from, doubt))
        changed.append(Change(pair: pair, from: span.from, until: min(span.latestEnd, now)))
      }
    }
    try store.setDoubts(judged)
    return changed
  }
}

extension Span {
  /// Returns whether two spans have the same price, source and doubt. Their times may differ.
  fileprivate func isSame(as other: Span) -> Bool {
    price == other.price && sourceID == other.sourceID && doubt == other.doubt
  }
}
