import FuelModel

/// A walk through the averages of a market: what each habit advised on each day, which habit had the
/// best record, and what following it saved. Nothing of a day depends on a later day.
///
/// From each day on a driver buys once within six days, a *window*. The saving of some advice in a
/// window is the mean of its six prices less the price that the advice pays.
package struct MarketWalk: Sendable {
  /// More days before a verdict would not change its advice.
  package static let mostDays = 400

  /// The habit that leads on a day, and what was known for it.
  struct Lead {
    /// The last day with an average; `nil`: it is too long ago.
    var last: Int?
    var leader = Habit.turn
    /// What following the verdicts saved, and what perfect timing would have saved, as means over
    /// the latest sixty windows. `nil`: too few are known.
    var record: Record?
  }

  struct Record {
    var saved: Double
    var perfect: Double
  }

  /// A window whose prices are all known.
  struct Window {
    var start: Int
    var perfect: Double
    /// By each habit, in the order of `Habit.allCases`.
    var saved: SIMD4<Double>
    var savedByOwn: Double
  }

  let series: DailySeries
  /// By how many days the verdict is later than the last known average.
  let lag: Int
  let filled: [Double?]
  let steps: [Double?]
  private(set) var days: [MarketDay?]
  /// How far each day's price is above the mean of the week around it.
  let deviations: [Double?]
  /// The cheapest weekday as it was known on each day, without the trend. 0 is Monday.
  private(set) var cheapestWeekdays: [Int?]
  /// The advice of each habit, and of the leading one, for each verdict day. With late data there is
  /// one verdict day more than averages.
  private(set) var advice: [Habit: [Advice?]] = [:]
  private(set) var ownAdvice: [Advice?]
  private(set) var leads: [Lead]
  private(set) var windows: [Window] = []
  /// With late data the records on time, which decide whether there is any advice: a market is no
  /// quieter because its data are late.
  private(set) var recordsOnTime: [Record?]?

  /// How many days after the first a window has.
  package static let windowDays = 5
  private static let carriedDays = 3
  private static let (weekdayDays, leastWeekdays) = (56, 3)
  // Newer windows count more: half after two weeks. Older windows describe another market.
  static let fade = 0.95
  static let (mostWindows, leastWindows, ownWindows) = (120, 20, 60)
  private static let leastPerfect = 0.05

  /// - Parameter isLate: whether the average of a day is not yet known on that day.
  package init(_ series: DailySeries, isLate: Bool) {
    self.series = series
    lag = isLate ? 1 : 0
    let count = series.count
    filled = series.filled()
    steps = series.averages.indices.map(series.step)
    deviations = Self.deviations(filled)
    days = Array(repeating: nil, count: count)
    cheapestWeekdays = Array(repeating: nil, count: count)
    for habit in Habit.allCases { advice[habit] = Array(repeating: nil, count: count + lag) }
    ownAdvice = Array(repeating: nil, count: count + lag)
    leads = Array(repeating: Lead(), count: count + lag)
    if isLate {
      recordsOnTime = MarketWalk(series, isLate: false).leads.map(\.record)
    }
    var last: Int?
    var nextStart = 0
    for day in 0..<count {
      if series.averages[day] != nil {
        last = day
        days[day] = MarketDay(series, day, steps: steps, before: days[..<day])
        cheapestWeekdays[day] = cheapestWeekday(day)
        while nextStart + Self.windowDays <= day {
          takeWindow(from: nextStart)
          nextStart += 1
        }
      }
      guard let last, day - last <= Self.carriedDays else { continue }
      advise(for: day + lag, last: last, known: day)
    }
  }

  // MARK: Habits

  private static func deviations(_ filled: [Double?]) -> [Double?] {
    filled.indices.map { day in
      guard day >= 3, day + 3 < filled.count, let price = filled[day] else { return nil }
      let week = filled[day - 3...day + 3].compactMap { $0 }
      return week.count == 7 ? price - week.reduce(0, +) / 7 : nil
    }
  }

  /// The weekday that was cheapest in comparison with the week around it over the eight weeks that
  /// ended three days ago. A plain mean of prices would follow the trend, and call every day of a
  /// slide the cheapest. If two weekdays are equal, the earlier in the week wins.
  private func cheapestWeekday(_ day: Int) -> Int? {
    var sums = Array(repeating: 0.0, count: 7)
    var counts = Array(repeating: 0, count: 7)
    for other in max(0, day - 2 - Self.weekdayDays)..<max(0, day - 2) {
      guard let deviation = deviations[other] else { continue }
      sums[series.weekday(other)] += deviation
      counts[series.weekday(other)] += 1
    }
    guard counts.allSatisfy({ $0 >= Self.leastWeekdays }) else { return nil }
    let means = (0..<7).map { sums[$0] / Double(counts[$0]) }
    return (1..<7).reduce(0) { means[$1] < means[$0] - 1e-9 ? $1 : $0 }
  }

  /// Enters what is advised for a day by what is known on another: the same day, or with late data
  /// the day before. A day without an average has the advice of the last one, except of the weekday.
  private mutating func advise(for day: Int, last: Int, known: Int) {
    for habit in Habit.allCases {
      advice[habit]?[day] =
        habit == .weekday
        ? cheapestWeekdays[last].map { $0 == series.weekday(day) ? .fillUp : .wait }
        : days[last]?.advice(of: habit)
    }
    let leader = leader(on: known)
    ownAdvice[day] = advice[leader]?[day] ?? nil
    leads[day] = Lead(last: last, leader: leader, record: record(on: known))
  }

  // MARK: Records

  private mutating func takeWindow(from start: Int) {
    let prices = filled[start...start + Self.windowDays].compactMap { $0 }
    guard prices.count == Self.windowDays + 1, let lowest = prices.min() else { return }
    let mean = prices.reduce(0, +) / Double(prices.count)
    windows.append(
      Window(
        start: start, perfect: mean - lowest,
        saved: SIMD4(
          Habit.allCases.map { habit in
            Score.Windows.saving(prices) { advice[habit]?[start + $0] ?? nil }
          }),
        savedByOwn: Score.Windows.saving(prices) { ownAdvice[start + $0] }))
  }

  /// The habit with the best record, by the share of what perfect timing would have saved. Until
  /// there is a record it is `turn`.
  private func leader(on day: Int) -> Habit {
    var saved = SIMD4(repeating: 0.0)
    var (perfect, weight, sum, count) = (0.0, 1.0, 0.0, 0)
    for window in windows.reversed() {
      guard count < Self.mostWindows,
        window.start > day - Self.windowDays - 2 * Self.mostWindows
      else { break }
      saved += weight * window.saved
      perfect += weight * window.perfect
      sum += weight
      weight *= Self.fade
      count += 1
    }
    guard count >= Self.leastWindows else { return .turn }
    let ranks = Habit.allCases.indices.map {
      saved[$0] / max(perfect, Self.leastPerfect * sum) - Habit.allCases[$0].handicap
    }
    return Habit.allCases[ranks.indices.reduce(0) { ranks[$1] > ranks[$0] ? $1 : $0 }]
  }

  private func record(on day: Int) -> Record? {
    let oldest = day - Self.windowDays - 2 * Self.ownWindows
    let latest = windows.suffix(Self.ownWindows).drop { $0.start <= oldest }
    guard latest.count >= Self.leastWindows else { return nil }
    let count = Double(latest.count)
    return Record(
      saved: latest.reduce(0) { $0 + $1.savedByOwn } / count,
      perfect: latest.reduce(0) { $0 + $1.perfect } / count)
  }
}
