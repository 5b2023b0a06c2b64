/// The legs of a price series. A rise ends when the price has fallen by `height` from its highest,
/// and a fall ends when the price has risen by `height` from its lowest. A turn is known only once
/// it is confirmed in this way.
struct Zigzag {
  struct Turn: Equatable {
    var index: Int
    var price: Double
    var isPeak: Bool
  }

  // In c/L. The average of a city varies by less without a turn, and every cycle is higher.
  static let height = 6.0

  /// Confirmed turns, oldest first. Peaks and troughs alternate.
  private(set) var turns: [Turn] = []
  /// `nil` before the first leg.
  var isRising: Bool? { turns.last.map { !$0.isPeak } }
  /// The highest price of the current rise or the lowest of the current fall, so far.
  private var extreme: (index: Int, price: Double)?
  private var lowest: (index: Int, price: Double)?
  private var highest: (index: Int, price: Double)?

  mutating func take(_ price: Double, at index: Int) {
    switch isRising {
    case nil:
      if lowest.map({ price < $0.price }) ?? true { lowest = (index, price) }
      if highest.map({ price > $0.price }) ?? true { highest = (index, price) }
      guard let lowest, let highest else { return }
      if price - lowest.price >= Self.height {
        turn(lowest, at: index, isPeak: false, price: price)
      } else if highest.price - price >= Self.height {
        turn(highest, at: index, isPeak: true, price: price)
      }
    case true?:
      guard let peak = extreme else { return }
      if price > peak.price {
        extreme = (index, price)
      } else if peak.price - price >= Self.height {
        turn(peak, at: index, isPeak: true, price: price)
      }
    case false?:
      guard let trough = extreme else { return }
      if price < trough.price {
        extreme = (index, price)
      } else if price - trough.price >= Self.height {
        turn(trough, at: index, isPeak: false, price: price)
      }
    }
  }

  private mutating func turn(
    _ at: (index: Int, price: Double), at index: Int, isPeak: Bool, price: Double
  ) {
    turns.append(Turn(index: at.index, price: at.price, isPeak: isPeak))
    extreme = (index, price)
  }
}

func median(_ values: some Sequence<Double>) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return 0 }
  let half = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
