/// What is known of a market on a day with an average, from that day and the days before it. Prices
/// are in c/L, changes in c/L per day. Apart from the least usual step no number is a fixed amount:
/// a market with small moves is treated like one with large moves.
struct MarketDay {
  let price: Double
  /// The change since the latest average before, at most four days back.
  let step: Double
  /// The mean size of the latest sixty steps: what is usual in this market.
  let usualStep: Double
  /// The change per day over three days.
  let slope: Double
  /// The lowest and highest price of the four months that ended two weeks ago. While fewer than four
  /// weeks of these are known, of the last six weeks; then the range is not known.
  let range: ClosedRange<Double>
  let isRangeKnown: Bool
  /// The lowest price of three weeks, and how many days ago it was.
  let lowest: (price: Double, daysAgo: Int)
  /// Below zero where step and slope point down, or a rise has slowed.
  let score: Double
  /// A rise through much of the range has nearly stopped. Above the known range nobody knows where
  /// the next top is.
  let hasSlowed: Bool
  /// The rise has slowed, and did not go on after it had slowed before.
  let isNearTop: Bool
  /// How much moves: a measure for the sizes of a saving and of a fall.
  let pace: Double

  private static let (usualSteps, leastSteps, leastUsualStep) = (60, 10, 0.1)
  private static let (rangeDays, rangeEndsBefore, leastRangeDays) = (120, 14, 28)
  private static let recentDays = 45
  private static let (riseDays, stepDays) = (21, 10)
  private static let (leastHeightInSteps, mostRisen) = (6.0, 1.2)
  private static let (nearTop, aboveRange, passedShare) = (0.35, 0.25, 0.1)
  private static let (leastBreak, breakShare) = (6.0, 0.25)

  /// - Parameters:
  ///   - steps: the steps of the series up to the day.
  ///   - before: the days before.
  /// - Returns: `nil` if fewer than ten steps are known, or none to this day.
  init?(_ series: DailySeries, _ day: Int, steps: [Double?], before: ArraySlice<MarketDay?>) {
    let prices = series.averages
    guard let price = prices[day], let step = steps[day] else { return nil }
    var (sizes, count) = (0.0, 0)
    for other in stride(from: day, through: 0, by: -1) where count < Self.usualSteps {
      guard let step = steps[other] else { continue }
      sizes += abs(step)
      count += 1
    }
    guard count >= Self.leastSteps else { return nil }
    let usual = max(Self.leastUsualStep, sizes / Double(count))
    let slope =
      series.earlier(day, 3).flatMap { before in
        prices[before].map { (price - $0) / Double(day - before) }
      } ?? step

    let end = day - Self.rangeEndsBefore
    let known = series.known(end - Self.rangeDays, end)
    let recent = series.known(day - Self.recentDays, day)
    let isRangeKnown = known.count >= Self.leastRangeDays
    let range = isRangeKnown ? known : recent
    let (low, high) = (range.min() ?? price, range.max() ?? price)
    let height = max(high - low, Self.leastHeightInSteps * usual)
    let lowest = series.extreme(day - Self.riseDays, day, by: <) ?? (price, day)
    let largest = steps[max(0, day - Self.stepDays)...day].lazy.compactMap { $0 }.max() ?? 0
    let risen = min(max((price - lowest.price) / height, 0), Self.mostRisen)
    let slowed = max(0, 1 - max(step, 0) / max(largest, usual))
    let top = risen * slowed

    self.price = price
    self.step = step
    usualStep = usual
    self.slope = slope
    self.range = low...high
    self.isRangeKnown = isRangeKnown
    self.lowest = (lowest.price, day - lowest.day)
    score = Self.squash(step / usual) + Self.squash(1.5 * slope / usual) - top
    hasSlowed =
      top >= Self.nearTop && (!isRangeKnown || price <= high + Self.aboveRange * height)
    // A pause of this rise that the price has left well below was not its top.
    let pauses = before[lowest.day..<day].lazy.compactMap { $0 }.filter(\.hasSlowed)
    isNearTop =
      hasSlowed && !pauses.contains { price > $0.price + Self.passedShare * height }
    pace = 0.3 * usual + (abs(step) + abs(slope)) / 2
  }

  /// The advice of the habits that look at the price alone.
  func advice(of habit: Habit) -> Advice? {
    switch habit {
    case .turn: step < 0 || isNearTop ? .wait : .fillUp
    case .slope: score < 0 ? .wait : .fillUp
    case .plain: step < 0 ? .wait : .fillUp
    case .weekday: nil
    }
  }

  private var margin: Double {
    max(Self.leastBreak, Self.breakShare * (range.upperBound - range.lowerBound))
  }

  /// Whether the price is far above, or far below, the range of four months.
  var isAboveRange: Bool { isRangeKnown && price > range.upperBound + margin }
  var isBelowRange: Bool { isRangeKnown && price < range.lowerBound - margin }

  /// Compresses a number into -1 to 1, so that its size counts less and less.
  static func squash(_ value: Double) -> Double { value / (1 + abs(value)) }
}
