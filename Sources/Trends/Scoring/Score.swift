package import FuelModel

/// How good verdicts were over a series, in hindsight. Amounts are in cents per litre.
///
/// **Window test**: from every day on a driver must buy once within the next W days. `wait`
/// postpones the decision to the next day, `fill_up` means to buy, and anything else means to buy
/// on a random day of the rest. The naive driver buys on a random day of the window, and the oracle
/// on its cheapest. **Tank test T:W**: a tank lasts T days and may be filled from T − W days after
/// the last fill.
package struct Score: Sendable, Equatable {
  /// One window test: the number of windows, the sum of what was saved, and the sum of what could
  /// have been saved.
  package struct Windows: Sendable, Equatable {
    package var count = 0
    package var saving = 0.0
    package var possible = 0.0

    /// 0 is as good as a random day, 1 is as good as hindsight. `nil` if nothing could be saved.
    package var capture: Double? { possible > 0 ? saving / possible : nil }
    package var meanSaving: Double? { count > 0 ? saving / Double(count) : nil }
    package var meanPossible: Double? { count > 0 ? possible / Double(count) : nil }

    package static func + (left: Windows, right: Windows) -> Windows {
      Windows(
        count: left.count + right.count, saving: left.saving + right.saving,
        possible: left.possible + right.possible)
    }
  }

  /// On how many of some days something was true.
  package struct Share: Sendable, Equatable {
    package var count = 0
    package var of = 0

    package var value: Double? { of > 0 ? Double(count) / Double(of) : nil }

    package mutating func take(_ isSo: Bool) {
      of += 1
      if isSo { count += 1 }
    }

    package static func + (left: Share, right: Share) -> Share {
      Share(count: left.count + right.count, of: left.of + right.of)
    }
  }

  /// Window tests by W.
  package var windows: [Int: Windows] = [:]
  /// Tank tests by name: 7:5, 10:5, 14:7.
  package var tanks: [String: Windows] = [:]
  /// A `wait` is right if the price falls by a cent within three days. A `fill_up` is right if it
  /// does not.
  package var waitsRight = Share()
  package var fillUpsRight = Share()
  /// A `no_difference` is right if the price stays within three cents for three days.
  package var noDifferencesRight = Share()
  package var waits = Share()
  package var fillUps = Share()
  package var noDifferences = Share()
  /// Changes from `fill_up` to `wait` or back, and the number of days.
  package var flips = Share()

  package static let widths = [3, 5, 7]
  /// The W of the published headline.
  package static let width = 5
  package static let tankSizes = [(days: 7, width: 5), (days: 10, width: 5), (days: 14, width: 7)]
  /// Below this saving of perfect timing, in c/L, a market is quiet and capture means nothing.
  package static let quietBelow = 0.8

  package init() {}

  package var headline: Windows { windows[Self.width] ?? Windows() }
  package var isQuiet: Bool { headline.meanPossible.map { $0 < Self.quietBelow } ?? false }
  package var flipsPerMonth: Double? { flips.value.map { $0 * 30 } }

  package static func + (left: Score, right: Score) -> Score {
    var sum = Score()
    sum.windows = left.windows.merging(right.windows, uniquingKeysWith: +)
    sum.tanks = left.tanks.merging(right.tanks, uniquingKeysWith: +)
    sum.waitsRight = left.waitsRight + right.waitsRight
    sum.fillUpsRight = left.fillUpsRight + right.fillUpsRight
    sum.noDifferencesRight = left.noDifferencesRight + right.noDifferencesRight
    sum.waits = left.waits + right.waits
    sum.fillUps = left.fillUps + right.fillUps
    sum.noDifferences = left.noDifferences + right.noDifferences
    sum.flips = left.flips + right.flips
    return sum
  }

  /// - Parameters:
  ///   - verdicts: one for each day of the series. `nil` counts as no difference.
  ///   - days: which windows, tanks and days count, by their first day.
  package init(
    _ series: DailySeries, verdicts: [Advice?], days: Range<Day>? = nil
  ) {
    let prices = series.averages
    let first = max(0, (days?.lowerBound.sinceEpoch ?? .min / 2) - series.first.sinceEpoch)
    let last = min(
      prices.count, (days?.upperBound.sinceEpoch ?? .max / 2) - series.first.sinceEpoch)
    guard first < last else { return }
    for width in Self.widths {
      var test = Windows()
      for start in first..<last where start + width < prices.count {
        let window = prices[start...start + width].compactMap { $0 }
        guard window.count == width + 1, let lowest = window.min() else { continue }
        test.count += 1
        test.possible += window.reduce(0, +) / Double(window.count) - lowest
        test.saving += RuleRecords.saving(window) { verdicts[start + $0] }
      }
      windows[width] = test
    }
    for size in Self.tankSizes {
      tanks["\(size.days):\(size.width)"] = Self.tanks(
        prices, verdicts, first..<last, tank: size.days, width: size.width)
    }
    var before: Advice?
    for day in first..<last {
      guard let price = prices[day] else { continue }
      let verdict = verdicts[day] ?? .noDifference
      waits.take(verdict == .wait)
      fillUps.take(verdict == .fillUp)
      noDifferences.take(verdict == .noDifference)
      if verdict != .noDifference {
        flips.take(before.map { $0 != verdict } ?? false)
        before = verdict
      } else {
        flips.of += 1
      }
      guard day + 3 < prices.count else { continue }
      let after = prices[day + 1...day + 3].compactMap { $0 }
      guard after.count == 3, let lowest = after.min(), let highest = after.max() else { continue }
      switch verdict {
      case .wait: waitsRight.take(lowest <= price - 1)
      case .fillUp: fillUpsRight.take(lowest > price - 1)
      case .noDifference: noDifferencesRight.take(highest - price <= 3 && price - lowest <= 3)
      }
    }
  }

  /// Runs the tank test. The litres of a fill are proportional to the days since the fill before.
  /// The days after the last fill are charged at the mean price.
  private static func tanks(
    _ prices: [Double?], _ verdicts: [Advice?], _ days: Range<Int>, tank: Int, width: Int
  ) -> Windows {
    // Nobody can buy on a day without a price, so each span without gaps is scored by itself.
    var test = Windows()
    var begin = days.lowerBound
    while begin < days.upperBound {
      guard prices[begin] != nil else {
        begin += 1
        continue
      }
      var end = begin
      while end < days.upperBound, prices[end] != nil { end += 1 }
      let span = prices[begin..<end].map { $0! }
      if span.count > 2 * tank {
        fill(&test, span, Array(verdicts[begin..<end]), tank: tank, width: width)
      }
      begin = end
    }
    return test
  }

  /// Adds the test over days that all have a price, once for each day of the first tank.
  private static func fill(
    _ test: inout Windows, _ span: [Double], _ verdicts: [Advice?], tank: Int, width: Int
  ) {
    let mean = span.reduce(0, +) / Double(span.count)
    let cheapest = lowestCosts(span, mean: mean, tank: tank, width: width)
    for start in 0..<tank {
      let total = Double(span.count - 1 - start)
      var naive = 0.0
      var day = start
      while day + tank < span.count {
        day += tank
        naive += Double(tank) * span[day]
      }
      naive += Double(span.count - 1 - day) * mean
      var paid = 0.0
      day = start
      while true {
        var next = day + tank - width
        while next < day + tank, next < span.count, verdicts[next] != .fillUp { next += 1 }
        guard next < span.count else { break }
        paid += Double(next - day) * span[next]
        day = next
      }
      paid += Double(span.count - 1 - day) * mean
      test.count += 1
      test.saving += (naive - paid) / total
      test.possible += (naive - cheapest[start]) / total
    }
  }

  /// Returns the lowest cost of the rest of the days after a fill on each of them.
  private static func lowestCosts(
    _ span: [Double], mean: Double, tank: Int, width: Int
  ) -> [Double] {
    var costs = Array(repeating: 0.0, count: span.count)
    for day in span.indices.reversed() {
      var best = Double.infinity
      for next in day + tank - width...day + tank {
        best = min(
          best,
          next < span.count
            ? Double(next - day) * span[next] + costs[next]
            : Double(span.count - 1 - day) * mean)
      }
      costs[day] = best
    }
    return costs
  }
}
