package import FuelModel

/// The composition of a feed's list: what is needed to compare it with the lists around it.
package struct ListSummary: Sendable, Equatable {
  package var takenAt: Instant
  /// The number of pairs of a station and a fuel for which it shows a price.
  package var pairs: Int
  package var stations: Int
  /// The number of prices by fuel, such as `U91`.
  package var fuels: [String: Int]
  /// The number of stations by brand, as the feed writes the brand.
  package var brands: [String: Int]
  /// The list's stamps in ascending order, sampled at every twentieth of the list, in minutes since
  /// 1970. Empty where the list has no stamps.
  package var stamps: [Int]
  /// A digest of all that it states. Lists with one digest state the same. `nil`: not known.
  package var content: Int64?
  /// The number of its records that were rejected, by reason.
  package var rejected: [String: Int]

  package init(
    takenAt: Instant, pairs: Int, stations: Int, fuels: [String: Int] = [:],
    brands: [String: Int] = [:], stamps: [Int] = [], content: Int64? = nil,
    rejected: [String: Int] = [:]
  ) {
    self.takenAt = takenAt
    self.pairs = pairs
    self.stations = stations
    self.fuels = fuels
    self.brands = brands
    self.stamps = stamps
    self.content = content
    self.rejected = rejected
  }

  /// Returns the stamps of a list, sampled at every twentieth of it. The result is empty where any
  /// of its prices has no stamp.
  package static func stamps(of observations: [Observation]) -> [Int] {
    let stamps = observations.compactMap { $0.effectiveAt.map { Int($0.seconds / 60) } }.sorted()
    guard stamps.count == observations.count, !stamps.isEmpty else { return [] }
    return (0...parts).map { stamps[(stamps.count - 1) * $0 / parts] }
  }

  private static let parts = 20
}

/// Whether a list is complete and whether its prices are believed.
package struct ListJudgement: Sendable, Equatable {
  /// Why the gaps of the list do not mean "not offered". Empty where the list is complete.
  package var shortcomings: [String] = []
  /// Why nothing in the list is believed; `nil` where its prices are believed.
  package var refusal: String?
  /// Whether it repeats a list of the past, so that nothing in it is news.
  package var isRepeat = false

  package init(shortcomings: [String] = [], refusal: String? = nil, isRepeat: Bool = false) {
    self.shortcomings = shortcomings
    self.refusal = refusal
    self.isRepeat = isRepeat
  }

  package var isComplete: Bool { shortcomings.isEmpty && refusal == nil }
}

/// Decides whether a feed's list is complete, and whether its prices are believed at all.
///
/// A list that is much shorter than the lists before it, that lacks whole fuels or brands, or that
/// shows the past is a fault of the feed. It does not mean that half the stations have closed.
///
/// The judgement depends on the set of lists only. The order in which they arrived and the
/// judgements of the others do not matter.
package struct ListRules: Sendable {
  /// How far back, in microseconds, a list is compared with the lists before it. A price that no
  /// list has shown for so long is gone anyway. Where no list lies within this time, the newest
  /// list before it decides only whether the list is refused.
  package var window: Int64
  /// A list whose share of the earlier number of prices is below this is refused.
  package var refuseBelow: Double
  /// A list whose share is below this is not complete, so its gaps prove nothing.
  package var partialBelow: Double
  /// A list with a larger share of bad records is not complete: they may be what it leaves out.
  package var maxRejectShare: Double

  // A fuel with fewer prices than this, or a brand with fewer stations, may disappear by itself.
  private static let least = 10
  // Up to this share, stamps that went back are taken for corrections by the feed.
  private static let leastSetBack = 0.2

  package init(
    window: Int64, refuseBelow: Double, partialBelow: Double, maxRejectShare: Double = 0.02
  ) {
    self.maxRejectShare = maxRejectShare
    self.window = window
    self.refuseBelow = refuseBelow
    self.partialBelow = partialBelow
  }

  /// Judges a list by the lists before it.
  ///
  /// - Parameter others: lists of the same feed, in any order. Those taken after the list are
  ///   ignored.
  package func judgement(of list: ListSummary, among others: [ListSummary]) -> ListJudgement {
    let before = others.filter { $0.takenAt < list.takenAt }
    let near = before.filter { $0.takenAt > list.takenAt.after(-window) }
    // The list is compared with the longest of the lists nearby. After a long silence it is
    // compared with the newest one instead, because a feed that comes back with half its prices is
    // not believed either.
    guard
      let longest = near.max(by: { ($0.pairs, $0.takenAt) < ($1.pairs, $1.takenAt) })
        ?? before.max(by: { $0.takenAt < $1.takenAt })
    else { return ListJudgement(shortcomings: broken(list.rejected, beside: list.pairs)) }
    let missing = missing(from: list, beside: longest)
    if isBelow(refuseBelow, list.pairs, of: longest.pairs) {
      return ListJudgement(
        refusal:
          "only \(list.pairs) prices where \(longest.pairs) were listed before: below "
          + "\(Int((refuseBelow * 100).rounded())) %"
          + (missing.isEmpty ? "" : "; nothing of " + missing.joined(separator: ", ")))
    }
    var shortcomings = broken(list.rejected, beside: list.pairs)
    guard !near.isEmpty else { return ListJudgement(shortcomings: shortcomings) }
    if isBelow(partialBelow, list.pairs, of: longest.pairs) {
      shortcomings.append("short: \(list.pairs) prices where \(longest.pairs) were listed")
    }
    if !missing.isEmpty {
      shortcomings.append("nothing of " + missing.joined(separator: ", "))
    }
    let share = near.map { Self.setBack(list, since: $0) }.max() ?? 0
    let setBack = Int((share * Double(list.pairs)).rounded())
    let isSetBack = share > Self.leastSetBack && setBack > 2 * Self.least
    if isSetBack {
      shortcomings.append("replayed: \(setBack) of \(list.pairs) stamps went back")
    }
    let repeated = repeated(by: list, near, isSetBack: isSetBack)
    if let repeated { shortcomings.append("replayed: equal to the list of \(repeated.takenAt)") }
    return ListJudgement(shortcomings: shortcomings, isRepeat: repeated != nil)
  }

  /// Returns what is wrong with a list or an answer of which many records are bad.
  package func broken(_ rejected: [String: Int], beside pairs: Int) -> [String] {
    let all = pairs + rejected.values.reduce(0, +)
    return Reject.worst(of: rejected, among: all, share: maxRejectShare).map {
      ["broken: \($0.bad) of \(all) records are bad, most of them \($0.reason)"]
    } ?? []
  }

  /// Returns the list of the past that a list repeats; `nil` where it is news.
  ///
  /// A list may equal an older one honestly: it shows again what others left out, a mistake was mended
  /// under its stamp, two servers differ in one price, or a price without a stamp went back. Such a
  /// list has more prices, or few different lists lie between the two.
  private func repeated(
    by list: ListSummary, _ near: [ListSummary], isSetBack: Bool
  ) -> ListSummary? {
    guard let content = list.content, list.pairs >= 2 * Self.least,
      let newest = near.filter({ $0.content != content }).max(by: { $0.takenAt < $1.takenAt }),
      let equal = near.filter({ $0.content == content && $0.takenAt < newest.takenAt })
        .max(by: { $0.takenAt < $1.takenAt })
    else { return nil }
    let between = Set(
      near.lazy.filter { $0.takenAt > equal.takenAt && $0.content != content }.map(\.content)
    ).count
    guard let last = list.stamps.last else {
      return list.pairs <= newest.pairs && between >= Self.least ? equal : nil
    }
    return (isSetBack || between > 1)
      && (list.pairs <= newest.pairs || last < newest.stamps.last ?? .min) ? equal : nil
  }

  /// Judges an answer that holds prices of whole days, by the answer before it with the same
  /// documents. Such answers add prices and end none, so callers never treat them as complete
  /// lists.
  ///
  /// - Parameters:
  ///   - pairs: the number of prices in the answer.
  ///   - before: the number of prices in the answer before it.
  /// - Returns: a refusal or a shortcoming where there is one.
  package func judgement(ofDays pairs: Int, after before: Int) -> ListJudgement {
    if isBelow(refuseBelow, pairs, of: before) {
      return ListJudgement(
        refusal: "only \(pairs) prices where \(before) came before: below "
          + "\(Int((refuseBelow * 100).rounded())) %")
    }
    guard isBelow(partialBelow, pairs, of: before) else { return ListJudgement() }
    return ListJudgement(shortcomings: ["short: \(pairs) prices where \(before) came before"])
  }

  /// Compares the stations of a list with those that the newest complete list shows. If most are
  /// others, it may be another state's list, or that of a provider that has renumbered its stations.
  /// It is refused as long as the other list is believed: the prices of another state would count in
  /// the averages of this one.
  ///
  /// - Returns: what is strange about it; `nil` where most are known, where too few are, or where the
  ///   list is so short that it is refused in any case.
  package func strangeness(of stations: Set<Int32>, beside listed: Set<Int32>) -> String? {
    let new = stations.subtracting(listed).count
    guard listed.count >= 2 * Self.least, 2 * new > stations.count,
      !isBelow(refuseBelow, stations.count, of: listed.count)
    else { return nil }
    return "\(new) of \(stations.count) stations were not in the list before: "
      + "is it another state's?"
  }

  private func isBelow(_ share: Double, _ count: Int, of before: Int) -> Bool {
    // Rounding may put a share slightly above the whole number that it stands for.
    Double(count) < share * Double(before) - 1e-6
  }

  /// Returns the fuels and brands that the other list has and this one lacks altogether.
  private func missing(from list: ListSummary, beside other: ListSummary) -> [String] {
    let fuels = other.fuels.filter { $0.value >= Self.least && list.fuels[$0.key] == nil }
    // A chain that was renamed still has as many stations as before, so a missing brand counts only
    // if stations are missing too.
    let brands = other.brands.filter {
      $0.value >= Self.least && list.brands[$0.key] == nil
        && list.stations < other.stations - $0.value / 2
    }
    return (fuels.map { ($0.key, $0.value) } + brands.map { ("brand " + $0.key, $0.value) })
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map(\.0)
  }

  /// Returns the share of a list whose stamps are older than those of a list before it. The stamps
  /// of a station only grow, so no list may have a larger share of prices from before an instant
  /// than the list before it.
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
