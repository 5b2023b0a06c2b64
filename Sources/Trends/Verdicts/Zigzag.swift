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
    var (lowest, highest): (Turn?, Turn?)
    for (index, price) in series.averages.enumerated() {
      guard let price else { continue }
      if price < lowest?.price ?? .infinity {
        lowest = Turn(index: index, price: price, isPeak: false)
      }
      if price > highest?.price ?? -.infinity {
        highest = Turn(index: index, price: price, isPeak: true)
      }
      guard let low = lowest, let high = highest else { continue }
      let isRising = turns.last.map { !$0.isPeak }
      if isRising != true, price - low.price >= height {
        turns.append(low)
      } else if isRising != false, high.price - price >= height {
        turns.append(high)
      } else {
        continue
      }
      lowest = Turn(index: index, price: price, isPeak: false)
      highest = Turn(index: index, price: price, isPeak: true)
    }
    return turns
  }
}

func median(_ values: some Sequence<Double>) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return 0 }
  let half = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
