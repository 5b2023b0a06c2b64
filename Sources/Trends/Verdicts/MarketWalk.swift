import FuelModel

#if canImport(Glibc)
  import Glibc
#endif

/// One walk over the averages of a market. It determines for each day what each rule advised, which
/// rule gave the verdict, what the market was doing, and the numbers from which the chances are
/// computed. Nothing of a day depends on a later day.
struct MarketWalk {
  enum Rule: Int, CaseIterable {
    case weekday, cycle, trend, direction, tomorrow

    /// The rules that may give the verdict. `tomorrow` is not among them, since its prices are
    /// published for the next day only.
    static let advising: [Rule] = [.weekday, .cycle, .trend, .direction]
    /// The rules whose records decide whether a market gets advice.
    static let deciding: [Rule] = [.weekday, .cycle, .trend]
  }

  /// What is known of the market on a day with an average.
  struct Moment {
    var isRising: Bool?
    var extreme: (index: Int, price: Double)?
    var turn: (index: Int, price: Double)?
    /// The price of the last trough.
    var trough: Double?
    var usualRise: Double?
    var usualFall: Double?
    var usualFallDays: Double
    var largestStep: Double
    var isNearTop = false
    /// The change per day since the highest and since the lowest price of the last five days, in
    /// c/L.
    var down = 0.0
    var up = 0.0
    /// `nil` if too few days came before.
    var cheaperNumbers: [Double]?
    var jumpNumbers: [Double]?
  }

  /// Which rule gives the verdict of a day. With late data, it is the verdict of the day after.
  struct Choice {
    /// `nil` if no rule has a record.
    var rule: Rule?
    var record: Double?
    /// The best record among the rules of `Rule.deciding`.
    var strongest: Double?
    /// Whether the market gets advice.
    var getsAdvice: Bool
  }

  let series: DailySeries
  let isLate: Bool
  let filled: [Double?]
  let steps: [Double?]
  let cheapestWeekdays: [Int?]
  private(set) var moments: [Moment?]
  /// Whether the market turned three times within four months, by six cents each time.
  private(set) var isCycling: [Bool]
  private(set) var isShocked: [Bool]
  /// The advice of each rule for each day. With late data the entries are shifted by one day.
  private(set) var calls: [RuleRecords.Calls]
  private(set) var records: RuleRecords
  private(set) var choices: [Choice] = []
  private let cheaper: [Bool?]
  private let jumped: [Bool?]

  // A top: this share of the usual rise is complete, the step is below this share of the largest
  // step, and the price is at most this many c/L above the highest of the last three peaks. A price
  // higher than that means that costs have risen, not that the cycle is at its top.
  private static let (topShare, topStep, topAbove) = (0.8, 0.5, 15.0)
  // A break-out: a price this many c/L, or this share of the range, outside the range of four
  // months. The market is in a shock for this many days afterwards.
  private static let (leastBreak, breakShare, breakDays) = (6.0, 0.4, 21)
  // What is added to a rule's record when the rules are compared, in the order of `Rule.advising`.
  // `nil` means that the rule may not give the verdict. Where prices cycle, the cycle rule has a
  // head start. In a shock, the rules trend and direction, which assume no cycle, have the head
  // start.
  private static let cyclingHeadStarts: [Double?] = [-0.3, 0, -0.5, nil]
  private static let shockHeadStarts: [Double?] = [-0.3, -0.2, 0, 0]
  private static let otherHeadStarts: [Double?] = [-0.3, 0, 0, 0]
  // The record in c/L from which a market gets advice, and the one below which it no longer does.
  private static let (advisesFrom, stopsBelow) = (0.9, 0.6)
  private static let (cyclingAdvisesFrom, cyclingStopsBelow) = (0.6, 0.3)
  // The same for the last five windows, since a shock begins before sixty windows show it.
  private static let (quickAdvisesFrom, quickStopsBelow) = (2.0, 1.5)

  init(_ series: DailySeries, isLate: Bool) {
    self.series = series
    self.isLate = isLate
    let averages = series.averages
    let count = series.count
    filled = series.filled()
    steps = averages.indices.map(series.step)
    cheapestWeekdays = series.cheapestWeekdays()
    moments = Array(repeating: nil, count: count)
    isCycling = Array(repeating: false, count: count)
    isShocked = isCycling
    (cheaper, jumped) = Self.outcomes(averages, filled)
    calls = []
    records = RuleRecords([], series: series)
    var advice = Array(repeating: RuleRecords.Calls(repeating: nil, count: count), count: 5)
    var zigzag = Zigzag()
    var breakOut: Int?
    var observed = 0
    var sizes: [Double] = []
    for day in 0..<count {
      defer {
        isShocked[day] = breakOut.map { day - $0 <= Self.breakDays } ?? false
        let turns = zigzag.turns
        isCycling[day] = turns.count >= 3 && day - turns[turns.count - 3].index <= 120
      }
      guard let price = averages[day] else { continue }
      let step = steps[day]
      advice[Rule.weekday.rawValue][day] = Self.weekday(series, day, cheapestWeekdays[day])
      zigzag.take(price, at: day, step: step)
      var moment = Moment(zigzag)
      if Self.breaksOut(averages, day, price) { breakOut = day }
      if let step {
        sizes.append(abs(step))
        advice[Rule.direction.rawValue][day] = step < 0 ? .wait : .fillUp
        moment.isNearTop = step >= 0 && Self.isNearTop(price, step: step, zigzag)
        advice[Rule.cycle.rawValue][day] = step < 0 || moment.isNearTop ? .wait : .fillUp
      }
      advice[Rule.trend.rawValue][day] = Self.trend(
        series, day, price, hasTurned: zigzag.isRising == true && (step ?? 0) < 0)
      let next = day + 1 < count ? averages[day + 1] : nil
      advice[Rule.tomorrow.rawValue][day] = next.flatMap { Advice(changeTomorrow: $0 - price) }
      observed += 1
      if let step, observed > 10 { setNumbers(day, price, step, sizes, &moment) }
      moments[day] = moment
    }
    calls = advice.map(RuleRecords.carried)
    if isLate { calls = Self.shifted(calls, series, cheapestWeekdays) }
    records = RuleRecords(calls, series: series)
    chooseRules()
  }

  /// By how many days the verdict is later than the last known average.
  var lag: Int { isLate ? 1 : 0 }

  // MARK: Rules

  /// Shifts the advice of all rules by one day. With late data all rules except weekday know only
  /// the averages up to the day before.
  private static func shifted(
    _ calls: [RuleRecords.Calls], _ series: DailySeries, _ cheapestWeekdays: [Int?]
  ) -> [RuleRecords.Calls] {
    let ahead = (0..<series.count).map { day -> Advice? in
      series.averages[day] == nil ? nil : weekday(series, day + 1, cheapestWeekdays[day])
    }
    var calls = calls
    calls[Rule.weekday.rawValue] = RuleRecords.carried(ahead)
    return calls.map { [nil] + $0 }
  }

  private static func weekday(_ series: DailySeries, _ day: Int, _ cheapest: Int?) -> Advice? {
    cheapest.map { $0 == series.weekday(day) ? .fillUp : .wait }
  }

  private static func trend(
    _ series: DailySeries, _ day: Int, _ price: Double, hasTurned: Bool
  ) -> Advice? {
    guard let before = series.earlier(day, 3), let then = series.averages[before] else {
      return nil
    }
    return price < then || hasTurned ? .wait : .fillUp
  }

  private static func isNearTop(_ price: Double, step: Double, _ zigzag: Zigzag) -> Bool {
    guard zigzag.isRising == true, let usual = zigzag.usualRise, let trough = zigzag.turns.last
    else { return false }
    let peaks = zigzag.turns.filter(\.isPeak).suffix(3).map(\.price)
    guard let highest = peaks.max() else { return false }
    return price - trough.price >= topShare * usual && price <= highest + topAbove
      && step < topStep * zigzag.largestStep
  }

  /// Whether a price is far outside the range of the four months that ended two weeks ago.
  private static func breaksOut(_ averages: [Double?], _ day: Int, _ price: Double) -> Bool {
    guard day >= 15 else { return false }
    var (lowest, highest, count) = (Double.infinity, -Double.infinity, 0)
    for other in max(0, day - 134)...day - 15 {
      guard let value = averages[other] else { continue }
      count += 1
      lowest = min(lowest, value)
      highest = max(highest, value)
    }
    guard count >= 28 else { return false }
    let margin = max(leastBreak, breakShare * (highest - lowest))
    return price > highest + margin || price < lowest - margin
  }

  private mutating func chooseRules() {
    var getsAdvice = false
    for day in 0..<series.count {
      let long = Rule.advising.map {
        records.record(of: $0.rawValue, on: day, windows: 60, least: 20)
      }
      guard let strongest = Rule.deciding.compactMap({ long[$0.rawValue] }).max() else {
        choices.append(Choice(rule: nil, record: nil, strongest: nil, getsAdvice: getsAdvice))
        continue
      }
      let quick =
        Rule.deciding.compactMap {
          records.record(of: $0.rawValue, on: day, windows: 5, least: 5)
        }.max() ?? 0
      let (advisesFrom, stopsBelow) =
        isCycling[day]
        ? (Self.cyclingAdvisesFrom, Self.cyclingStopsBelow) : (Self.advisesFrom, Self.stopsBelow)
      if strongest >= advisesFrom || quick >= Self.quickAdvisesFrom {
        getsAdvice = true
      } else if strongest < stopsBelow, quick < Self.quickStopsBelow {
        getsAdvice = false
      }
      let headStarts =
        isShocked[day]
        ? Self.shockHeadStarts : isCycling[day] ? Self.cyclingHeadStarts : Self.otherHeadStarts
      var best: (rule: Rule, weight: Double, record: Double)?
      for (rule, headStart) in zip(Rule.advising, headStarts) {
        guard let headStart, let record = long[rule.rawValue] else { continue }
        let weight = record + headStart
        if best.map({ weight > $0.weight }) ?? true { best = (rule, weight, record) }
      }
      choices.append(
        Choice(
          rule: best?.rule, record: best?.record, strongest: strongest, getsAdvice: getsAdvice))
    }
  }

  // MARK: Chances

  /// Whether the price fell by 1 c, and whether it rose by 3 c, on any of the three days after each
  /// day. `nil` if that is not known.
  private static func outcomes(
    _ averages: [Double?], _ filled: [Double?]
  ) -> (cheaper: [Bool?], jumped: [Bool?]) {
    var cheaper = Array(repeating: Bool?.none, count: averages.count)
    var jumped = cheaper
    for day in averages.indices.dropLast(3) {
      guard let price = averages[day], let first = filled[day + 1], let second = filled[day + 2],
        let third = filled[day + 3]
      else { continue }
      cheaper[day] = min(first, second, third) <= price - 1
      jumped[day] = max(first, second, third) >= price + 3
    }
    return (cheaper, jumped)
  }

  /// Compresses a number, so that its size counts less and less beyond a scale.
  private static func compressed(_ value: Double, _ scale: Double) -> Double {
    value / (1 + abs(value) / scale)
  }

  private func setNumbers(
    _ day: Int, _ price: Double, _ step: Double, _ sizes: [Double], _ moment: inout Moment
  ) {
    let averages = series.averages
    var highest = (price: price, at: day)
    var lowest = highest
    for other in (max(0, day - 4)..<day).reversed() {
      guard let value = averages[other] else { continue }
      if value > highest.price { highest = (value, other) }
      if value < lowest.price { lowest = (value, other) }
    }
    moment.down = highest.at < day ? (price - highest.price) / Double(day - highest.at) : 0
    moment.up = lowest.at < day ? (price - lowest.price) / Double(day - lowest.at) : 0
    let recent = sizes.suffix(60)
    let volatility = log(max(0.1, recent.reduce(0, +) / Double(recent.count)))
    var top = 0.0
    if moment.isRising == true, let usual = moment.usualRise, let trough = moment.turn {
      let height = (price - trough.price) / usual
      top =
        min(max(height, 0), 1.5)
        * max(0, 1 - max(step, 0) / max(moment.largestStep, 0.5))
    }
    let month = averages[max(0, day - 35)...day].compactMap { $0 }
    let (low, high) = (month.min() ?? price, month.max() ?? price)
    let position = (price - low) / max(4, high - low)
    let before = series.earlier(day, 1).flatMap { steps[$0] } ?? 0
    func numbers(_ ownStep: Double, _ week: Double, _ last: Double) -> [Double] {
      [
        1, ownStep, Self.compressed(moment.down, 0.5), Self.compressed(moment.up, 1), volatility,
        top, week, last,
      ]
    }
    moment.cheaperNumbers = numbers(
      Self.compressed(step, 0.5), weekdayExcess(cheaper, day),
      min(Self.compressed(before, 0.5), 0))
    moment.jumpNumbers = numbers(Self.compressed(step, 1), weekdayExcess(jumped, day), position)
  }

  /// How much more often something happened on the weekday of the verdict than on all days, over
  /// eight weeks.
  private func weekdayExcess(_ outcomes: [Bool?], _ day: Int) -> Double {
    let about = day + lag
    var (same, count) = (0.0, 0)
    for weeks in (1...8).reversed() {
      let other = about - 7 * weeks
      guard other >= 0, other + 3 <= day, let outcome = outcomes[other] else { continue }
      same += outcome ? 1 : 0
      count += 1
    }
    guard count > 0 else { return 0 }
    let all = outcomes[max(0, about - 59)..<max(0, day - 2)].compactMap { $0 }
    let mean = Double(all.count { $0 }) / Double(all.count)
    return (same - Double(count) * mean) / Double(count + 2)
  }

  /// Returns the two models as they were on a day, fitted to what was known by then.
  func models(on day: Int) -> (cheaper: ChanceModel, jump: ChanceModel) {
    let (first, second) =
      isLate
      ? (ChanceModel.cheaperLate, ChanceModel.jumpLate) : (ChanceModel.cheaper, ChanceModel.jump)
    // Days after the last average cannot be filled yet, so they give no examples.
    guard day >= 0, let last = series.averages[...day].lastIndex(where: { $0 != nil }) else {
      return (first, second)
    }
    var cheaperExamples: [ChanceModel.Example] = []
    var jumpExamples: [ChanceModel.Example] = []
    for day in 0..<series.count where day + lag + 3 <= last {
      guard let moment = moments[day], let cheaperNumbers = moment.cheaperNumbers,
        let jumpNumbers = moment.jumpNumbers, let isCheaper = cheaper[day + lag],
        let hasJumped = jumped[day + lag]
      else { continue }
      cheaperExamples.append(.init(numbers: cheaperNumbers, happened: isCheaper))
      jumpExamples.append(.init(numbers: jumpNumbers, happened: hasJumped))
    }
    return (
      first.fitted(to: cheaperExamples, ridge: ChanceModel.cheaperRidge),
      second.fitted(to: jumpExamples, ridge: ChanceModel.jumpRidge)
    )
  }
}

extension MarketWalk.Moment {
  fileprivate init(_ zigzag: Zigzag) {
    isRising = zigzag.isRising
    extreme = zigzag.extreme
    turn = zigzag.turns.last.map { ($0.index, $0.price) }
    trough = zigzag.turns.last { !$0.isPeak }?.price
    usualRise = zigzag.usualRise
    usualFall = zigzag.usualFall
    usualFallDays = median(zigzag.falls.map { Double($0.days) })
    largestStep = zigzag.largestStep
  }
}
