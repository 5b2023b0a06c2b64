package import FuelModel

/// How good verdicts were over some days of a series, in hindsight. Amounts are in cents per litre.
package struct Score: Sendable {
  /// Means over the windows of one horizon. From every day on a driver must buy once within so many
  /// days. `wait` postpones the decision to the next day, `fill_up` means to buy, and anything else
  /// means to buy on a random day of the rest. The naive driver buys on a random day of the window,
  /// and the oracle on its cheapest.
  package struct Windows: Sendable {
    package var horizon: Int
    package var n: Int
    /// What could have been saved, and what was saved.
    package var perfect: Double
    package var saving: Double
    /// The 90 % interval of the saving.
    package var interval: ClosedRange<Double>

    /// 0 is as good as a random day, 1 is as good as hindsight; `nil` if nothing could be saved. It
    /// is made from the amounts as they are published, as in `fuel_v1.verdict_scores`.
    package var capture: Double? {
      let possible = (perfect * 100).rounded()
      return possible > 0 ? (saving * 100).rounded() / possible : nil
    }
  }

  /// Those of each horizon that have a window, the shortest first.
  package private(set) var windows: [Windows] = []
  /// The advice of each day with a price, and whether it was right; `nil` if that is not known.
  private var days: [(advice: Advice, isRight: Bool?)] = []

  package static let horizons = [3, 5, 7]
  /// The horizon that is shown where there is room for one.
  package static let headline = 5
  /// Below this saving of perfect timing, in c/L, a market is quiet and capture means nothing.
  package static let quietBelow = 0.8

  package subscript(horizon: Int) -> Windows? { windows.first { $0.horizon == horizon } }
  package var headline: Windows? { self[Self.headline] }
  package var isQuiet: Bool { headline.map { $0.perfect < Self.quietBelow } ?? false }

  /// - Parameters:
  ///   - verdicts: one for each day of the series. `nil` counts as no difference.
  ///   - days: which windows and days count, by their first day.
  package init(_ series: DailySeries, verdicts: [Advice?], days: Range<Day>? = nil) {
    let (prices, first) = (series.averages, series.first.sinceEpoch)
    let scored = days ?? series.first..<series.last + 1
    let indices = (scored.lowerBound.sinceEpoch - first..<scored.upperBound.sinceEpoch - first)
      .clamped(to: prices.indices)
    windows = Self.horizons.compactMap { Windows(prices, verdicts, indices, horizon: $0) }
    self.days = indices.compactMap { day in
      prices[day].map { price in
        let advice = verdicts[day] ?? .noDifference
        let after = prices.dropFirst(day + 1).prefix(3).compactMap { $0 }
        return (advice, after.count == 3 ? Self.isRight(advice, at: price, after) : nil)
      }
    }
  }

  /// Returns the share of days with an advice.
  package func share(of advice: Advice) -> Double? { Self.share(days.map { $0.advice == advice }) }

  /// Returns on what share of its days an advice was right.
  package func rightShare(of advice: Advice) -> Double? {
    Self.share(days.filter { $0.advice == advice }.compactMap(\.isRight))
  }

  /// Changes from `fill_up` to `wait` or back in thirty days.
  package var flipsPerMonth: Double? {
    let turns = days.map(\.advice).filter { $0 != .noDifference }
    let flips = zip(turns, turns.dropFirst()).count { $0 != $1 }
    return days.isEmpty ? nil : Double(flips) / Double(days.count) * 30
  }

  private static func share(_ values: [Bool]) -> Double? {
    values.isEmpty ? nil : Double(values.count { $0 }) / Double(values.count)
  }

  /// A `wait` is right if the price falls by a cent within three days, a `fill_up` if it does not,
  /// and a `no_difference` if it stays within three cents.
  private static func isRight(_ advice: Advice, at price: Double, _ after: [Double]) -> Bool {
    switch advice {
    case .wait: after.contains { $0 <= price - 1 }
    case .fillUp: after.allSatisfy { $0 > price - 1 }
    case .noDifference: after.allSatisfy { $0 - price <= 3 && price - $0 <= 3 }
    }
  }
}

extension Score.Windows {
  /// `nil` without a window. A window with a missing price is left out.
  ///
  /// - Parameter days: the days on which windows begin.
  init?(_ prices: [Double?], _ verdicts: [Advice?], _ days: Range<Int>, horizon: Int) {
    var savings: [Double] = []
    var possible = 0.0
    for start in days where start + horizon < prices.count {
      let window = prices[start...start + horizon].compactMap { $0 }
      guard window.count == horizon + 1, let lowest = window.min() else { continue }
      savings.append(Self.saving(window) { verdicts[start + $0] })
      possible += mean(window[...]) - lowest
    }
    guard !savings.isEmpty else { return nil }
    self.init(
      horizon: horizon, n: savings.count, perfect: possible / Double(savings.count),
      saving: mean(savings[...]), interval: Self.interval(savings))
  }

  /// Returns what a driver saves in one window in comparison with a random day of that window.
  static func saving(_ window: [Double], _ advice: (Int) -> Advice?) -> Double {
    let last = window.count - 1
    let day = (0..<last).first { advice($0) != .wait } ?? last
    return mean(window[...])
      - (day < last && advice(day) == .fillUp ? window[day] : mean(window[day...]))
  }

  /// The 90 % interval of the mean, from repeated random draws of blocks of days: windows overlap and
  /// cycles last for weeks. The draws are the same every time. Up to one block, the range of all savings.
  private static func interval(_ savings: [Double]) -> ClosedRange<Double> {
    let (block, draws) = (14, 400)
    guard savings.count > block else { return (savings.min() ?? 0)...(savings.max() ?? 0) }
    // The sums of all blocks. A block that reaches the end continues at the beginning.
    let sums = savings.indices.map { start in
      (0..<block).reduce(0) { $0 + savings[(start + $1) % savings.count] }
    }
    let blocks = (savings.count + block - 1) / block
    var state: UInt64 = 1
    let means = (0..<draws).map { _ -> Double in
      let sum = (0..<blocks).reduce(0.0) { sum, _ in
        // Knuth's linear congruential generator, of which only the high bits are used.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return sum + sums[Int((state >> 33) % UInt64(sums.count))]
      }
      return sum / Double(blocks * block)
    }.sorted()
    return means[draws / 20]...means[draws - 1 - draws / 20]
  }
}

private func mean(_ values: ArraySlice<Double>) -> Double {
  values.reduce(0, +) / Double(values.count)
}
