package import FuelModel

/// What a driver saves by following some advice over a run of days, window by window, and how
/// certain the saving is.
///
/// From each day on the driver buys once within a number of days. The saving is in comparison with
/// a driver who buys on a random day of the window. Amounts are in cents per litre.
package struct WindowSavings: Sendable, Equatable {
  /// The saving of each window, oldest first. A window with a missing price is left out.
  package private(set) var savings: [Double] = []
  /// What hindsight would have saved in all of these windows together.
  package private(set) var possible = 0.0

  /// - Parameters:
  ///   - advice: the advice for each day of the series. `nil` counts as no difference.
  ///   - first: the first day on which a window may begin.
  package init(_ series: DailySeries, advice: [Advice?], within days: Int, from first: Day) {
    let begin = max(0, first.sinceEpoch - series.first.sinceEpoch)
    guard begin + days < series.count else { return }
    for start in begin..<series.count - days {
      let window = series.averages[start...start + days].compactMap { $0 }
      guard window.count == days + 1, let lowest = window.min() else { continue }
      savings.append(RuleRecords.saving(window) { advice[start + $0] })
      possible += window.reduce(0, +) / Double(window.count) - lowest
    }
  }

  package var mean: Double { savings.isEmpty ? 0 : savings.reduce(0, +) / Double(savings.count) }
  package var meanPossible: Double { savings.isEmpty ? 0 : possible / Double(savings.count) }

  // Windows overlap and cycles last for weeks, so neighbouring windows are drawn together in
  // blocks.
  private static let block = 14
  private static let draws = 400

  /// The 90 % interval of the mean, from repeated random draws of blocks of days. The draws are the
  /// same every time.
  package var interval: ClosedRange<Double> {
    guard savings.count > Self.block else { return mean...mean }
    // The sums of all blocks. A block that reaches the end continues at the beginning.
    var sums: [Double] = []
    for start in savings.indices {
      sums.append(
        (0..<Self.block).reduce(0) { $0 + savings[(start + $1) % savings.count] })
    }
    let blocks = (savings.count + Self.block - 1) / Self.block
    var state: UInt64 = 1
    let means = (0..<Self.draws).map { _ -> Double in
      var sum = 0.0
      for _ in 0..<blocks {
        // Knuth's linear congruential generator, of which only the high bits are used.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        sum += sums[Int((state >> 33) % UInt64(sums.count))]
      }
      return sum / Double(blocks * Self.block)
    }.sorted()
    return means[Self.draws / 20]...means[Self.draws - 1 - Self.draws / 20]
  }
}

/// How verdicts did as they were given, beside three habits over the same days.
package struct GivenScore: Sendable {
  /// Within how many days the driver buys.
  package var horizon: Int
  package var verdicts: WindowSavings
  package var direction: WindowSavings
  package var weekday: WindowSavings
  package var always: WindowSavings

  /// - Parameters:
  ///   - series: daily averages that begin two months before the first verdict, as the habits need.
  ///   - given: the verdict of each day that had one.
  ///   - isLate: whether the average of a day was not yet known on that day.
  /// - Returns: a score for each horizon, except those for which nothing can be scored yet.
  package static func all(
    _ series: DailySeries, given: [Day: Advice], isLate: Bool
  ) -> [GivenScore] {
    guard let first = given.keys.min() else { return [] }
    let advice = series.averages.indices.map { given[series.first + $0] }
    func habit(_ method: Baseline) -> [Advice?] {
      method.judgements(
        of: Past(series: series, isLate: isLate, isTomorrowKnown: false, marketName: "")
      ).map(\.advice)
    }
    let (direction, weekday) = (habit(.direction), habit(.weekday))
    let always = Array(repeating: Advice?.some(.fillUp), count: series.count)
    return Score.widths.compactMap { days in
      func savings(_ advice: [Advice?]) -> WindowSavings {
        WindowSavings(series, advice: advice, within: days, from: first)
      }
      let verdicts = savings(advice)
      return verdicts.savings.isEmpty
        ? nil
        : GivenScore(
          horizon: days, verdicts: verdicts, direction: savings(direction),
          weekday: savings(weekday), always: savings(always))
    }
  }
}
