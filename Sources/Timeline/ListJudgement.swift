package import FuelModel

/// What a list of a feed is made of: enough to hold it against the lists around it.
package struct ListSummary: Sendable, Equatable {
  package var takenAt: Instant
  /// Stations and fuels that it names a price of.
  package var pairs: Int
  package var stations: Int
  /// Prices by fuel, such as `U91`.
  package var fuels: [String: Int]
  /// Stations by brand, as the feed writes it.
  package var brands: [String: Int]
  /// Its stamps at every twentieth of the list, oldest first, in minutes since 1970. Empty: it has none.
  package var stamps: [Int]

  package init(
    takenAt: Instant, pairs: Int, stations: Int, fuels: [String: Int] = [:],
    brands: [String: Int] = [:], stamps: [Int] = []
  ) {
    self.takenAt = takenAt
    self.pairs = pairs
    self.stations = stations
    self.fuels = fuels
    self.brands = brands
    self.stamps = stamps
  }

  /// The stamps of a list at every twentieth of it; none where any of its prices has no stamp.
  package static func stamps(of observations: [Observation]) -> [Int] {
    let stamps = observations.compactMap { $0.effectiveAt.map { Int($0.seconds / 60) } }.sorted()
    guard !stamps.isEmpty, stamps.count == observations.count else { return [] }
    return (0...parts).map { stamps[(stamps.count - 1) * $0 / parts] }
  }

  private static let parts = 20
}

/// What is thought of a list.
package struct ListJudgement: Sendable, Equatable {
  /// Why its gaps do not mean "not offered". Empty: the list is complete.
  package var shortcomings: [String] = []
  /// Why nothing of it is believed. `nil`: its prices are.
  package var refusal: String?

  package init(shortcomings: [String] = [], refusal: String? = nil) {
    self.shortcomings = shortcomings
    self.refusal = refusal
  }

  package var isComplete: Bool { shortcomings.isEmpty && refusal == nil }
}

/// Whether a list of a feed is complete, and whether it is believed at all. A list that is much shorter than those
/// before it, lacks whole fuels or brands, or shows the past is a fault of the feed, not the end of half the stations.
///
/// The judgement depends on the set of the lists and not on the order in which they arrived, nor on what was thought
/// of the others.
package struct ListRules: Sendable {
  /// Lists that are older than this say nothing about a list: what none has shown for so long is gone, in
  /// microseconds.
  package var window: Int64
  /// The least share of the prices before it that is believed at all.
  package var refuseBelow: Double
  /// Below this share gaps prove nothing.
  package var partialBelow: Double

  // Fewer prices of a fuel, or stations of a brand, may go by themselves.
  private static let least = 10
  // Below this share stamps that went back are corrections.
  private static let leastSetBack = 0.2

  package init(window: Int64, refuseBelow: Double, partialBelow: Double) {
    self.window = window
    self.refuseBelow = refuseBelow
    self.partialBelow = partialBelow
  }

  /// - Parameter others: lists of the same feed, in any order; those after it say nothing.
  package func judgement(of list: ListSummary, among others: [ListSummary]) -> ListJudgement {
    let before = others.filter { $0.takenAt < list.takenAt }
    let near = before.filter { $0.takenAt > list.takenAt.after(-window) }
    // The longest of them. Where nothing was read for long, the newest: a feed that comes back with half its
    // prices is not believed either.
    guard
      let longest = near.max(by: { ($0.pairs, $0.takenAt) < ($1.pairs, $1.takenAt) })
        ?? before.max(by: { $0.takenAt < $1.takenAt })
    else { return ListJudgement() }
    let missing = missing(from: list, beside: longest)
    if isBelow(refuseBelow, list.pairs, of: longest.pairs) {
      return ListJudgement(
        refusal:
          "only \(list.pairs) prices where \(longest.pairs) were listed before: below "
          + "\(Int((refuseBelow * 100).rounded())) %"
          + (missing.isEmpty ? "" : "; nothing of " + missing.joined(separator: ", ")))
    }
    guard !near.isEmpty else { return ListJudgement() }
    var shortcomings: [String] = []
    if isBelow(partialBelow, list.pairs, of: longest.pairs) {
      shortcomings.append("short: \(list.pairs) prices where \(longest.pairs) were listed")
    }
    if !missing.isEmpty {
      shortcomings.append("nothing of " + missing.joined(separator: ", "))
    }
    let share = near.map { Self.setBack(list, since: $0) }.max() ?? 0
    let setBack = Int((share * Double(list.pairs)).rounded())
    if share > Self.leastSetBack, setBack > 2 * Self.least {
      shortcomings.append("replayed: \(setBack) of \(list.pairs) stamps went back")
    }
    return ListJudgement(shortcomings: shortcomings)
  }

  /// The same for an answer with prices of whole days, held against the one before it with the same documents. Such
  /// answers add prices and end none, so that they are never complete.
  ///
  /// - Returns: a shortcoming where there is one.
  package func judgement(ofDays pairs: Int, after before: Int) -> ListJudgement {
    if isBelow(refuseBelow, pairs, of: before) {
      return ListJudgement(
        refusal: "only \(pairs) prices where \(before) came before: below "
          + "\(Int((refuseBelow * 100).rounded())) %")
    }
    guard isBelow(partialBelow, pairs, of: before) else { return ListJudgement() }
    return ListJudgement(shortcomings: ["short: \(pairs) prices where \(before) came before"])
  }

  private func isBelow(_ share: Double, _ count: Int, of before: Int) -> Bool {
    // A share of a whole number may lie a hair above it.
    Double(count) < share * Double(before) - 1e-6
  }

  /// Whole fuels and brands that were there and are not.
  private func missing(from list: ListSummary, beside other: ListSummary) -> [String] {
    let fuels = other.fuels.filter { $0.value >= Self.least && list.fuels[$0.key] == nil }
    // A chain under a new name has as many stations as before.
    let brands = other.brands.filter {
      $0.value >= Self.least && list.brands[$0.key] == nil
        && list.stations < other.stations - $0.value / 2
    }
    return (fuels.map { ($0.key, $0.value) } + brands.map { ("brand " + $0.key, $0.value) })
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
  }

  /// Which share of a list has older stamps than a list before it had: stamps of a station only grow, so that no list
  /// has more prices from before any instant than the one before it.
  private static func setBack(_ list: ListSummary, since other: ListSummary) -> Double {
    guard !list.stamps.isEmpty, !other.stamps.isEmpty else { return 0 }
    func share(of stamps: [Int], until stamp: Int) -> Double {
      Double(stamps.count { $0 <= stamp }) / Double(stamps.count)
    }
    return list.stamps.map {
      share(of: list.stamps, until: $0) - share(of: other.stamps, until: $0)
    }
    .max() ?? 0
  }
}
