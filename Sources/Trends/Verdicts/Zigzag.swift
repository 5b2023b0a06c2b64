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
  private(set) var isRising: Bool?
  /// The highest price of the current rise or the lowest of the current fall, so far.
  private(set) var extreme: (index: Int, price: Double)?
  /// The largest change per day in the direction of the current leg, since the leg was confirmed.
  private(set) var largestStep = 0.0
  /// The median of the last three completed rises from trough to peak, or `nil` if there are fewer
  /// than two.
  private(set) var usualRise: Double?
  /// The last three completed falls. `usualFall` is the median of their heights, or `nil` if there
  /// are fewer than two.
  private(set) var falls: [(height: Double, days: Int)] = []
  var usualFall: Double? { falls.count < 2 ? nil : median(falls.map(\.height)) }
  private var rises: [Double] = []
  private var lowest: (index: Int, price: Double)?
  private var highest: (index: Int, price: Double)?

  /// - Parameter step: the change per day since the previous observation, or `nil` if that is too
  ///   long ago.
  mutating func take(_ price: Double, at index: Int, step: Double?) {
    switch isRising {
    case nil:
      if lowest.map({ price < $0.price }) ?? true { lowest = (index, price) }
      if highest.map({ price > $0.price }) ?? true { highest = (index, price) }
      guard let lowest, let highest else { return }
      if price - lowest.price >= Self.height {
        turn(lowest, at: index, isPeak: false, price: price, step: step)
      } else if highest.price - price >= Self.height {
        turn(highest, at: index, isPeak: true, price: price, step: step)
      }
    case true?:
      guard let peak = extreme else { return }
      if price > peak.price {
        extreme = (index, price)
      } else if peak.price - price >= Self.height {
        turn(peak, at: index, isPeak: true, price: price, step: step)
        return
      }
      largestStep = max(largestStep, step ?? 0)
    case false?:
      guard let trough = extreme else { return }
      if price < trough.price {
        extreme = (index, price)
      } else if price - trough.price >= Self.height {
        turn(trough, at: index, isPeak: false, price: price, step: step)
        return
      }
      largestStep = min(largestStep, step ?? 0)
    }
  }

  private mutating func turn(
    _ at: (index: Int, price: Double), at index: Int, isPeak: Bool, price: Double, step: Double?
  ) {
    if let before = turns.last {
      if isPeak {
        rises = (rises + [at.price - before.price]).suffix(3)
        usualRise = rises.count < 2 ? nil : median(rises)
      } else {
        falls = (falls + [(before.price - at.price, at.index - before.index)]).suffix(3)
      }
    }
    turns.append(Turn(index: at.index, price: at.price, isPeak: isPeak))
    isRising = !isPeak
    extreme = (index, price)
    largestStep = step ?? 0
  }
}

func median(_ values: some Sequence<Double>) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return 0 }
  let half = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}
