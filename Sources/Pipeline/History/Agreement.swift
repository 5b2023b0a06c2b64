package import Archives
package import FuelModel
package import Store
import Timeline

/// How an archive and our own capture of the same days agree: each makes a timeline of its own, by the rules of all.
package struct Agreement {
  /// What both say of a station and fuel at noon of a day, in tenths of a cent per litre; 0: not offered.
  package struct Noon: Sendable {
    package var pair: Pair
    package var day: Day
    package var archive: Int32
    package var feed: Int32
  }

  private let store: Store
  private let archive: Archive
  private let rules: [Int16: [Int16: ReportRules]]

  package init(_ archive: Archive, store: Store) throws {
    self.archive = archive
    self.store = store
    rules = try store.reportRules()
  }

  // Stations and fuels that are compared at once.
  private static let atOnce = 500

  /// - Parameter days: those of a month on which the feed was read.
  /// - Returns: every noon at which both tell something.
  package func noons(of days: [Day]) throws -> [Noon] {
    guard let first = days.min(), let last = days.max(),
      let numbers = try store.numbers(ofArchive: archive.source, scheme: archive.feed)
    else { return [] }
    let zone = archive.state.timeZone
    let noons = try days.sorted().map { (day: $0, at: try zone.instant($0, hour: 12)) }
    let from = try zone.instant(first, hour: 0)
    let until = try zone.instant(last + 1, hour: 0)
    // Whoever was told of in the two months before may still hold.
    let pairs = try store.archivedPairs(
      of: archive.source, from: from - .seconds(62 * 86_400), until: until)
    let sightings = try store.sightings(from: from, now: until)
    var found: [Noon] = []
    for begin in stride(from: 0, to: pairs.count, by: Self.atOnce) {
      let chunk = pairs[begin..<min(begin + Self.atOnce, pairs.count)]
      for (pair, lines) in try store.evidence(of: chunk.map { Window(pair: $0, from: from) }) {
        let rules = rules.compactMapValues { $0[pair.fuelID] }
        func timeline(_ isTold: (Int16) -> Bool) -> [Span] {
          spans(of: lines.filter { isTold($0.sourceID) }, rules: rules, sightings: sightings)
            .map { $0.believed(rules: rules, sightings: sightings) }
        }
        let archived = timeline { $0 == numbers.archive }
        let captured = timeline(numbers.feeds.contains)
        for noon in noons {
          guard let one = Self.price(at: noon.at, in: archived),
            let other = Self.price(at: noon.at, in: captured)
          else { continue }
          found.append(Noon(pair: pair, day: noon.day, archive: one, feed: other))
        }
      }
    }
    return found.sorted { ($0.day, $0.pair) < ($1.day, $1.pair) }
  }

  /// - Returns: 0 where the last report says that it is not offered; `nil`: nothing is told.
  private static func price(at instant: Instant, in spans: [Span]) -> Int32? {
    guard let span = spans.last(where: { $0.from <= instant }) else { return nil }
    if instant < span.until { return span.price }
    return span.isEnded ? 0 : nil
  }
}
