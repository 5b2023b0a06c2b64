package import Archives
package import FuelModel
package import Store
import Timeline

/// Measures how well an archive and the feed of its scheme agree on the same days. A timeline is
/// made from each of them alone, by the rules that apply to all sources.
package struct Agreement {
  /// The prices of a station and fuel at noon of a day, from both sources, in tenths of a cent per
  /// litre; 0: not offered.
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

  // How many stations and fuels are compared at a time.
  private static let atOnce = 500

  /// Compares the archive with the feed at noon of each day.
  ///
  /// - Parameter days: days of one month on which the feed was read.
  /// - Returns: every noon for which both sources state a price, or state that there is none.
  package func noons(of days: [Day]) throws -> [Noon] {
    guard let first = days.min(), let last = days.max(),
      let numbers = try store.numbers(ofArchive: archive.source, scheme: archive.feed)
    else { return [] }
    let zone = archive.state.timeZone
    let noons = try days.sorted().map { (day: $0, at: try zone.instant($0, hour: 12)) }
    let from = try zone.instant(first, hour: 0)
    let until = try zone.instant(last + 1, hour: 0)
    // A price reported in the 62 days before may still be in effect.
    let pairs = try store.archivedPairs(
      of: archive.source, from: from - .seconds(62 * 86_400), until: until)
    let sightings = try store.sightings(from: from, now: until)
    var found: [Noon] = []
    for begin in stride(from: 0, to: pairs.count, by: Self.atOnce) {
      let chunk = pairs[begin..<min(begin + Self.atOnce, pairs.count)]
      for (pair, lines) in try store.evidence(of: chunk.map { Window(pair: $0, from: from) }) {
        let rules = rules.compactMapValues { $0[pair.fuelID] }
        func timeline(_ isUsed: (Int16) -> Bool) -> [Span] {
          spans(of: lines.filter { isUsed($0.sourceID) }, rules: rules, sightings: sightings)
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

  /// Finds the price in effect at an instant.
  ///
  /// - Returns: 0 where the last price was ended by a report; `nil` where no price is known or the
  ///   last price has lapsed.
  private static func price(at instant: Instant, in spans: [Span]) -> Int32? {
    guard let span = spans.last(where: { $0.from <= instant }) else { return nil }
    if instant < span.until { return span.price }
    return span.isEnded ? 0 : nil
  }
}
