import FuelModel
import Store

/// What a run reports that its feed did not show before, and what a list shows no more. Only this meets the history.
struct Difference {
  private(set) var prices: [DifferingPrice] = []
  /// How many stations and fuels the run names a price of.
  private(set) var pairs = 0

  /// - Parameters:
  ///   - shown: what the feed's lists show, whatever order its runs came in.
  ///   - isList: whether what is left out counts: that of a list, even of one that is not complete.
  ///   - tellsWholeDays: whether it repeats prices of whole days. Other runs without a list are news, which are told
  ///     once and taken whole.
  ///   - isDirect: whether what is shown was said last by runs that count. Otherwise, as where a later run is stored
  ///     already, it says nothing about what was shown before, and every price is held against the history.
  init(
    of reported: [ReportedPrice], from shown: [ShownPrice], isList: Bool,
    tellsWholeDays: Bool = false, isDirect: Bool
  ) {
    let takesAll = !isDirect || !(isList || tellsWholeDays)
    var places: [Pair: Int] = Dictionary(minimumCapacity: shown.count)
    for (place, price) in shown.enumerated() { places[price.pair] = place }
    var isReported = Array(repeating: false, count: shown.count)
    var differs = Array(repeating: takesAll, count: shown.count)
    let found = reported.map { places[$0.pair] }
    for (price, place) in zip(reported, found) {
      guard let place else { continue }
      if !isReported[place] { pairs += 1 }
      isReported[place] = true
      let known = shown[place]
      if known.showsOlder || (isList && !known.isListed) || !known.shows(price) {
        differs[place] = true
      }
    }
    var new: Set<Pair> = []
    for (price, place) in zip(reported, found) {
      guard let place else {
        new.insert(price.pair)
        // Runs that were withdrawn may have reported it.
        prices.append(
          DifferingPrice(pair: price.pair, price: price, wasListed: false, mayBeKnown: true))
        continue
      }
      let known = shown[place]
      // A list says all its prices of a station and fuel at once, so that what it says stands together.
      guard differs[place], !tellsWholeDays || takesAll || !known.shows(price) else { continue }
      // In a run in order of time what is newer than all that is known is news.
      let newest = max(known.stampedAt, known.next?.effectiveAt ?? known.stampedAt)
      let isNews = isDirect && !known.showsOlder && price.effectiveAt.map { $0 > newest } ?? false
      prices.append(
        DifferingPrice(
          pair: price.pair, price: price, wasListed: known.isListed, mayBeKnown: !isNews))
    }
    pairs += new.count
    if isList {
      // A price that only a partial list told ends too where the next complete one does not have it.
      for (known, isReported) in zip(shown, isReported)
      where !isReported && (known.isListed || known.isOffered) {
        prices.append(
          DifferingPrice(
            pair: known.pair, price: nil, wasListed: known.isListed, mayBeKnown: false))
      }
    }
  }
}

extension ShownPrice {
  /// Whether it is the present price or the next one.
  fileprivate func shows(_ price: ReportedPrice) -> Bool {
    if price.effectiveAt == stampedAt && price.tenths == stampedTenths { return true }
    guard let next else { return false }
    return price.effectiveAt == next.effectiveAt && price.tenths == next.tenths
  }
}

extension [ReportedPrice] {
  /// Where a feed stamps nothing, a price that holds already is told again under its own stamp, and another one began
  /// when it was seen.
  mutating func stamp(from held: [ReportedPrice], at takenAt: Instant) {
    let held = Dictionary(held.map { ($0.pair, $0) }) { first, _ in first }
    for position in indices where self[position].effectiveAt == nil {
      let known = held[self[position].pair]
      self[position].effectiveAt =
        known?.tenths == self[position].tenths ? known?.effectiveAt : takenAt
    }
  }
}
