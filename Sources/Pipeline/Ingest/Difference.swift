import FuelModel
import Store

/// The prices of a run that its feed did not show before, and the prices that a list shows no more.
/// Only these are compared with the history.
struct Difference {
  private(set) var prices: [DifferingPrice] = []
  /// The number of stations and fuels for which the run states a price.
  private(set) var pairs = 0

  /// Compares a run with what its feed showed before.
  ///
  /// - Parameters:
  ///   - shown: what the lists of the feed show, independent of the order in which its runs
  ///     arrived.
  ///   - isList: whether the run is a list, complete or not, so that prices it leaves out count.
  ///   - reportsWholeDays: whether the feed repeats prices of whole days. Other runs that are no
  ///     list are updates, which are reported once and taken whole.
  ///   - isDirect: whether `shown` was reported last by runs that count. If not, such as where a
  ///     later run is stored already, `shown` does not describe the state before this run, and
  ///     every price is compared with the history.
  init(
    of reported: [ReportedPrice], from shown: [ShownPrice], isList: Bool,
    reportsWholeDays: Bool = false, isDirect: Bool
  ) {
    let takesAll = !isDirect || !(isList || reportsWholeDays)
    var positions: [Int64: Int] = Dictionary(minimumCapacity: shown.count)
    for (position, price) in shown.enumerated() { positions[price.pair.number] = position }
    /// How many prices are reported of each, up to 2.
    var reports = Array(repeating: UInt8(0), count: shown.count)
    var differs = Array(repeating: takesAll, count: shown.count)
    let found = reported.map { positions[$0.pair.number] }
    for (price, position) in zip(reported, found) {
      guard let position else { continue }
      if reports[position] == 0 { pairs += 1 }
      reports[position] = min(2, reports[position] + 1)
      let known = shown[position]
      if known.showsOlder || (isList && !known.isListed) || !known.shows(price) {
        differs[position] = true
      }
    }
    var new: Set<Pair> = []
    for (price, position) in zip(reported, found) {
      guard let position else {
        new.insert(price.pair)
        // A run that was withdrawn may have reported this price.
        prices.append(
          DifferingPrice(pair: price.pair, price: price, wasListed: false, mayBeKnown: true))
        continue
      }
      let known = shown[position]
      // A list states all prices of a station and fuel at once. Where one of them differs, all are
      // taken.
      guard differs[position], !reportsWholeDays || takesAll || !known.shows(price) else {
        continue
      }
      // In a run that arrives in order, a price stamped later than all known ones is new, so the
      // history need not be searched for it.
      let newest = max(known.stampedAt, known.next?.effectiveAt ?? known.stampedAt)
      let isNewer = isDirect && !known.showsOlder && price.effectiveAt.map { $0 > newest } ?? false
      let onlyFollows =
        isNewer && isList && known.isListed && known.next == nil && reports[position] == 1
      prices.append(
        DifferingPrice(
          pair: price.pair, price: price, wasListed: known.isListed, mayBeKnown: !isNewer,
          follows: onlyFollows ? known.stampedAt : nil))
    }
    pairs += new.count
    if isList { endUnreported(shown, reports) }
  }

  /// Ends the prices that a list shows no more. A price that only a partial list showed also ends
  /// where the next complete list lacks it.
  private mutating func endUnreported(_ shown: [ShownPrice], _ reports: [UInt8]) {
    for (known, reports) in zip(shown, reports)
    where reports == 0 && (known.isListed || known.isOffered) {
      prices.append(
        DifferingPrice(
          pair: known.pair, price: nil, wasListed: known.isListed, mayBeKnown: false))
    }
  }
}

extension ShownPrice {
  /// Returns whether a price is the present price or the next one.
  fileprivate func shows(_ price: ReportedPrice) -> Bool {
    if price.effectiveAt == stampedAt && price.tenths == stampedTenths { return true }
    guard let next else { return false }
    return price.effectiveAt == next.effectiveAt && price.tenths == next.tenths
  }
}

extension [ReportedPrice] {
  /// Stamps the prices of a feed that does not stamp them. A price that is in effect already keeps
  /// the stamp under which it began. A different price began when it was seen.
  mutating func stamp(from held: [ReportedPrice], at takenAt: Instant) {
    let held = Dictionary(held.map { ($0.pair, $0) }) { first, _ in first }
    for position in indices where self[position].effectiveAt == nil {
      let known = held[self[position].pair]
      self[position].effectiveAt =
        known?.tenths == self[position].tenths ? known?.effectiveAt : takenAt
    }
  }
}
