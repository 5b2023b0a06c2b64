import FuelModel
import Store
import Timeline

/// The spans of some windows made again, and where they differ from the stored ones.
extension TimelineUpdate {
  // Whether a price is doubtful may depend on the two prices before it and the two after it.
  static let reach = 2

  /// Returns from where spans are made again for a change: from two spans before it, or from the
  /// first.
  static func window(_ change: Window, before old: [StoredSpan]) -> Window {
    guard change.from > .distantPast else { return change }
    let begun = old.prefix { $0.span.from <= change.from }
    let first = begun.dropLast(reach).last ?? begun.first
    return Window(pair: change.pair, from: first?.span.from ?? change.from)
  }

  /// Returns whether all spans of a station and fuel begin in a window.
  ///
  /// - Parameter old: the stored spans from the window on, and at least one before it.
  static func isWhole(_ window: Window, old: [Pair: [StoredSpan]]) -> Bool {
    !(old[window.pair] ?? []).contains { $0.span.from < window.from }
  }

  /// Makes the spans of some windows again. A window that turns out to be too narrow is widened to
  /// the whole history of its station and fuel, and `old` receives all stored spans of that pair.
  func spans(
    in windows: inout [Window], old: inout [Pair: [StoredSpan]]
  ) throws -> [Pair: [Span]] {
    var made: [Pair: [Span]] = [:]
    let evidence = try store.spans.evidence(of: windows)
    let first = evidence.values.lazy.flatMap { $0.map(\.at) }.min() ?? now
    let sightings = try store.spans.sightings(from: first, now: .distantFuture)
    let lists = try lists(after: evidence)
    var wider: [Window] = []
    for window in windows {
      let pair = window.pair
      if Self.mayHangOnMore(window, evidence[pair] ?? [], old: old[pair] ?? []) {
        wider.append(Window(pair: pair, from: .distantPast))
        continue
      }
      let spans = Timeline.spans(
        of: evidence[pair] ?? [], rules: rules[pair.fuelID] ?? [:],
        sightings: sightings, lists: lists)
      // Of archives, nothing from before the window is read. A span that reaches into the window
      // may be one that an archive interrupts. All evidence is read to see that.
      if let before = spans.last(where: { $0.from < window.from }), before.latestEnd > window.from {
        wider.append(Window(pair: pair, from: .distantPast))
        continue
      }
      made[pair] = Self.marked(
        spans.filter { $0.from >= window.from }, window, old: old[pair] ?? [])
    }
    guard !wider.isEmpty else { return made }
    var all = try store.spans.spans(of: wider)
    let rest = try spans(in: &wider, old: &all)
    let widened = Set(wider.map(\.pair))
    windows.removeAll { widened.contains($0.pair) }
    windows += wider
    for pair in widened { old[pair] = all[pair] }
    return made.merging(rest) { _, new in new }
  }

  /// Reads when the complete lists were taken that may show another price than an archive reported
  /// before them.
  private func lists(after evidence: [Pair: [Evidence]]) throws -> [Int16: [Instant]] {
    let archives = Set(rules.values.flatMap { $0.filter { $0.value.covered != nil }.keys })
    var feeds: Set<Int16> = []
    var (first, last) = (Instant.distantFuture, Instant.distantPast)
    for lines in evidence.values {
      let archived = lines.lazy.filter { archives.contains($0.sourceID) }.map(\.at)
      let listings = lines.lazy.filter { $0.kind != .price }
      guard let begin = archived.min(), let end = archived.max(), !listings.isEmpty else {
        continue
      }
      feeds.formUnion(listings.map(\.sourceID))
      (first, last) = (min(first, begin), max(last, end))
    }
    return feeds.isEmpty ? [:] : try store.spans.lists(of: feeds, from: first, until: last)
  }

  /// Returns the spans of a window with the suspects among them. Suspects are judged later. Until
  /// then each keeps its doubt, so that nothing changes without need.
  static func marked(
    _ spans: [Span], _ window: Window, old: [StoredSpan]
  ) -> [Span] {
    var spans = spans
    Plausibility.markSuspects(
      &spans, before: old.map(\.span).filter { $0.from < window.from })
    for position in spans.indices {
      let span = spans[position]
      spans[position].doubt = nil
      guard span.isSuspect else { continue }
      let doubt = old.first {
        $0.span.from == span.from && $0.span.price == span.price && $0.span.isSuspect
      }?.span.doubt
      if doubt?.reason != .placeholder { spans[position].doubt = doubt }
    }
    return spans
  }

  /// Returns whether reports from before a window decide about more than how the window begins. Of
  /// those reports only the last one and the last list are read. More is needed where no span lies
  /// before the window, where the window begins with a price that follows from one of an archive, and
  /// where a list leaves out what the list before it left out: such a list ends what was reported in
  /// between.
  private static func mayHangOnMore(
    _ window: Window, _ evidence: [Evidence], old: [StoredSpan]
  ) -> Bool {
    guard window.from > .distantPast, evidence.contains(where: { $0.at < window.from }) else {
      return false
    }
    if !old.contains(where: { $0.span.from < window.from }) { return true }
    // A price that a list shows against one of an archive begins with that list, which has no line.
    if !evidence.contains(where: { $0.at == window.from }) { return true }
    if mayReturn(in: window, evidence) { return true }
    return evidence.contains { first in
      first.kind == .unlisted && first.at < window.from
        && evidence.lazy.filter {
          $0.recordID == first.recordID && $0.kind != .price && $0.at > first.at
        }
        .min { $0.at < $1.at }?.kind == .unlisted
    }
  }

  /// Returns whether the first list that shows a station record may end a gap of another record from
  /// before the window: any gap since the record's last stamp counts, however long ago that is.
  private static func mayReturn(in window: Window, _ evidence: [Evidence]) -> Bool {
    let listings = evidence.filter { $0.kind != .price }
    guard listings.contains(where: { $0.recordID != listings[0].recordID }) else { return false }
    return listings.contains { first in
      first.kind == .listed && first.at >= window.from
        && !listings.contains { $0.recordID == first.recordID && $0.at < first.at }
        && evidence.lazy.filter {
          $0.kind == .price && $0.recordID == first.recordID && $0.at <= first.at
        }
        .map(\.at).max().map { $0 < window.from } ?? false
    }
  }

  /// Where two lists of spans differ; `nil`: nowhere.
  struct Difference {
    /// The instant from which spans are written again.
    var writesFrom: Instant
    /// The instants between which another price is believed.
    var from: Instant
    var until: Instant
  }

  static func difference(
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
}

extension Span {
  /// Returns whether two spans have the same price, source and doubt. Their times may differ.
  fileprivate func isSame(as other: Span) -> Bool {
    price == other.price && sourceID == other.sourceID && doubt == other.doubt
  }
}
