package import FuelModel

/// How good verdicts were over some days of a series, in hindsight. Amounts are in cents per litre.
package struct Score: Sendable, Equatable {
  /// The means over the windows or tanks of one test.
  package struct Test: Sendable, Equatable {
    /// `window 5`: W is 5. `tank 7:5`: T is 7 and W is 5.
    package var name: String
    package var n: Int
    /// What could have been saved, and what was saved.
    package var perfect: Double
    package var saving: Double
    /// The 90 % interval of the saving; `nil` for tanks.
    package var interval: ClosedRange<Double>?

    /// 0 is as good as a random day, 1 is as good as hindsight; `nil` if nothing could be saved. It
    /// is made from the amounts as they are published, as in `fuel_v1.verdict_scores`.
    package var capture: Double? {
      let possible = (perfect * 100).rounded()
      return possible > 0 ? max((saving * 100).rounded() / possible, -999) : nil
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
  }

  /// The tests that have a window or a tank: first windows, then tanks.
  package private(set) var tests: [Test] = []
  /// A `wait` is right if the price falls by a cent within three days. A `fill_up` is right if it
  /// does not.
  package private(set) var waitsRight = Share()
  package private(set) var fillUpsRight = Share()
  /// A `no_difference` is right if the price stays within three cents for three days.
  package private(set) var noDifferencesRight = Share()
  package private(set) var waits = Share()
  package private(set) var fillUps = Share()
  package private(set) var noDifferences = Share()
  /// Changes from `fill_up` to `wait` or back, and the number of days.
  package private(set) var flips = Share()

  package static let widths = [3, 5, 7]
  package static let tankSizes = [(days: 7, width: 5), (days: 10, width: 5), (days: 14, width: 7)]
  /// The names of all tests.
  package static let names =
    widths.map { "window \($0)" } + tankSizes.map { "tank \($0.days):\($0.width)" }
  /// The test that is shown where there is room for one.
  package static let headline = "window 5"
  /// Below this saving of perfect timing, in c/L, a market is quiet and capture means nothing.
  package static let quietBelow = 0.8

  package subscript(test: String) -> Test? { tests.first { $0.name == test } }
  package var headline: Test? { self[Self.headline] }
  package var isQuiet: Bool { headline.map { $0.perfect < Self.quietBelow } ?? false }
  package var flipsPerMonth: Double? { flips.value.map { $0 * 30 } }

  /// - Parameters:
  ///   - verdicts: one for each day of the series. `nil` counts as no difference.
  ///   - days: which windows, tanks and days count, by their first day.
  package init(_ series: DailySeries, verdicts: [Advice?], days: Range<Day>? = nil) {
    let prices = series.averages
    let first = max(0, (days?.lowerBound.sinceEpoch ?? .min / 2) - series.first.sinceEpoch)
    let last = min(
      prices.count, (days?.upperBound.sinceEpoch ?? .max / 2) - series.first.sinceEpoch)
    guard first < last else { return }
    tests =
      Self.widths.compactMap { Test(windows: prices, verdicts, first..<last, within: $0) }
      + Self.tankSizes.compactMap {
        Test(tanks: prices, verdicts, first..<last, tank: $0.days, width: $0.width)
      }
    var before: Advice?
    for day in first..<last {
      guard let price = prices[day] else { continue }
      let verdict = verdicts[day] ?? .noDifference
      waits.take(verdict == .wait)
      fillUps.take(verdict == .fillUp)
      noDifferences.take(verdict == .noDifference)
      flips.take(verdict != .noDifference && before.map { $0 != verdict } ?? false)
      if verdict != .noDifference { before = verdict }
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

  /// Scores the verdicts of a method as they were given, and every habit over the same days: from
  /// the first verdict on.
  ///
  /// - Parameters:
  ///   - given: the verdict of each day that had one.
  ///   - series: daily averages that begin early enough for the habits to know the past.
  ///   - isLate: whether the average of a day was not yet known on that day.
  package static func given(
    _ given: [Day: Advice], by method: String, _ series: DailySeries, isLate: Bool
  ) -> [(method: String, score: Score)] {
    guard let first = given.keys.min(), first <= series.last else { return [] }
    let walk = MarketWalk(series, isLate: isLate)
    let own = (method, series.averages.indices.map { given[series.first + $0] })
    let habits = Adviser.habits.map { habit in
      (habit.id, walk.advice(of: habit, isTomorrowKnown: false))
    }
    return ([own] + habits).map { method, verdicts in
      (method, Score(series, verdicts: verdicts, days: first..<(series.last + 1)))
    }
  }
}
