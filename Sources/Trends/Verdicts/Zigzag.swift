/// The legs of a price series. A rise ends when the price has fallen by `height` from its highest,
/// and a fall ends when the price has risen by `height` from its lowest. A turn is known only once
/// it is confirmed in this way.
enum Zigzag {
  struct Turn {
    var index: Int
    var price: Double
    var isPeak: Bool
  }

  // In c/L. The average of a city varies by less without a turn, and every cycle is higher.
  static let height = 6.0

  /// Confirmed turns, oldest first. Peaks and troughs alternate.
  static func turns(of series: DailySeries) -> [Turn] {
    var turns: [Turn] = []
    // The lowest and the highest price since the last turn.
    var (low, high): (Turn?, Turn?)
    for (index, price) in series.averages.enumerated() {
      guard let price else { continue }
      let asLow = Turn(index: index, price: price, isPeak: false)
      let asHigh = Turn(index: index, price: price, isPeak: true)
      low = low.map { price < $0.price ? asLow : $0 } ?? asLow
      high = high.map { price > $0.price ? asHigh : $0 } ?? asHigh
      guard let trough = low, let peak = high else { continue }
      let before = turns.last?.isPeak
      if before != false, price - trough.price >= height {
        turns.append(trough)
      } else if before != true, peak.price - price >= height {
        turns.append(peak)
      } else {
        continue
      }
      (low, high) = (asLow, asHigh)
    }
    return turns
  }
}

/// The value up to which a share of some values lies, on the line between the two nearest ones.
func quantile(_ share: Double, of values: [Double]) -> Double {
  guard !values.isEmpty else { return 0 }
  let sorted = values.sorted()
  let place = share * Double(sorted.count - 1)
  let (below, above) = (sorted[Int(place)], sorted[min(Int(place) + 1, sorted.count - 1)])
  return below + (place - place.rounded(.down)) * (above - below)
}
