import FuelModel

/// Three simple rules, of which the one with the best record gives the verdict.
///
/// - weekday: buy on the weekday that was the cheapest over eight weeks;
/// - cycle: wait while the price falls, and near the top of a rise, since a fall will soon follow;
/// - trend: wait while the price is lower than three days ago.
///
/// If even the best rule saves next to nothing, the verdict is that there is no difference. Where
/// tomorrow's prices are published, a fourth rule compares them with today's. Only averages up to
/// the day are used.
///
/// Sources: the petrol price cycles of the large cities,
/// https://www.accc.gov.au/consumers/petrol-and-fuel/petrol-price-cycles-in-the-5-largest-cities;
/// prices fixed for a day and published the day before, https://www.fuelwatch.wa.gov.au.
package struct BestRecord: VerdictMethod {
  /// The differences between the two versions, `first` and `second`.
  struct Tuning: Sendable {
    /// The best record in c/L from which a market gets advice, and the one below which it no longer
    /// does. They differ so that advice does not come and go. 60 cents on a tank of 60 litres are
    /// not worth the effort.
    var advisesFrom: Double
    var stopsBelow: Double
    /// A shock begins before sixty windows show it. A market also gets advice if the last five
    /// windows saved the first amount, until they save less than the second.
    var shockAdvisesFrom: Double
    var shockStopsBelow: Double
    /// A fall by less than this per day is over, because the first stations have already raised
    /// their prices.
    var leastFall: Double
    /// Whether the weekday rule needs an average of the day itself.
    var weekdayNeedsItsDay: Bool
    /// Whether the trend rule advises to wait as soon as a rise has turned, however high the price
    /// still is.
    var trendTurnsWithTheLeg: Bool
    /// A change of this many c/L that is published for tomorrow decides in a flat market too,
    /// because it is no forecast.
    var certainFrom: Double
  }

  package let id: String
  let tuning: Tuning

  package static let first = BestRecord(
    id: "best-record-1",
    tuning: Tuning(
      advisesFrom: 0.8, stopsBelow: 0.8, shockAdvisesFrom: .infinity, shockStopsBelow: .infinity,
      leastFall: 0, weekdayNeedsItsDay: false, trendTurnsWithTheLeg: false, certainFrom: .infinity))
  package static let second = BestRecord(
    id: "best-record-2",
    tuning: Tuning(
      advisesFrom: 0.7, stopsBelow: 0.6, shockAdvisesFrom: 1.6, shockStopsBelow: 1.2,
      leastFall: 0.05, weekdayNeedsItsDay: true, trendTurnsWithTheLeg: true, certainFrom: 0.8))

  static let rules = ["weekday", "cycle", "trend", "tomorrow"]
  // Two means that differ by less than half a tenth of a cent are equal to anybody who buys fuel.
  static let leastChange = 0.05

  package func judge(_ input: VerdictInput) -> Judgement {
    let pass = Pass(input.series, isLate: input.isLate, tuning: tuning)
    var judgement = pass.judgement(changeTomorrow: input.changeTomorrow)
    judgement.market = MarketPosition(input.series, pass.zigzag)
    judgement.reason = reason(judgement, input)
    return judgement
  }

  /// The advice for one day, from what was known on that day.
  private struct Choice {
    var advice: Advice
    /// The index of the rule that gave the advice, or `nil` if none did.
    var rule: Int?
    var record: Double?
    /// Whether a rule has a record and gave advice recently.
    var isKnown: Bool
  }

  /// One pass over the series.
  private struct Pass {
    let series: DailySeries
    let zigzag: Zigzag
    let records: RuleRecords
    /// The advice by day. With late data each entry is the advice for the day after.
    let choices: [Choice]
    private let isLate: Bool
    private let tuning: Tuning

    init(_ series: DailySeries, isLate: Bool, tuning: Tuning) {
      self.series = series
      self.isLate = isLate
      self.tuning = tuning
      var weekday = RuleRecords.Calls(repeating: nil, count: series.count)
      var cycle = weekday
      var trend = weekday
      var tomorrow = weekday
      var zigzag = Zigzag()
      let cheapest = series.cheapestWeekdays()
      for index in 0..<series.count {
        if series.averages[index] != nil || !tuning.weekdayNeedsItsDay {
          weekday[index] = cheapest[index].map { $0 == series.weekday(index) ? .fillUp : .wait }
        }
        guard let price = series.averages[index] else { continue }
        let step = series.step(index)
        zigzag.take(price, at: index, step: step)
        if let step { cycle[index] = Self.cycleCall(price, step: step, zigzag, tuning) }
        if let before = series.earlier(index, 3), let then = series.averages[before] {
          let hasTurned =
            tuning.trendTurnsWithTheLeg && zigzag.isRising == true && (step ?? 0) < 0
          trend[index] = price < then || hasTurned ? .wait : .fillUp
        }
        if index + 1 < series.count, let next = series.averages[index + 1] {
          tomorrow[index] = BestRecord.call(next - price)
        }
      }
      self.zigzag = zigzag
      var calls = [weekday, cycle, trend, tomorrow].map(RuleRecords.carried)
      if isLate {
        // With late data all rules except weekday know only the averages up to the day before.
        calls = calls.map { [nil] + $0 }
        let ahead = (0..<series.count).map { index -> Advice? in
          guard series.averages[index] != nil || !tuning.weekdayNeedsItsDay else { return nil }
          return cheapest[index].map { $0 == series.weekday(index + 1) ? .fillUp : .wait }
        }
        calls[0] = [nil] + (tuning.weekdayNeedsItsDay ? RuleRecords.carried(ahead) : ahead)
      }
      let records = RuleRecords(calls, series: series)
      self.records = records
      choices = Self.choices(series, calls, records, isLate: isLate, tuning)
    }

    private static func choices(
      _ series: DailySeries, _ calls: [RuleRecords.Calls], _ records: RuleRecords, isLate: Bool,
      _ tuning: Tuning
    ) -> [Choice] {
      var getsAdvice = false
      return (0..<series.count).map { day in
        guard var best = Self.best(of: records, on: day, windows: 60, least: 20) else {
          return Choice(advice: .noDifference, rule: nil, record: nil, isKnown: false)
        }
        let record = best.record
        var shock: (rule: Int, record: Double)?
        if record < tuning.advisesFrom, tuning.shockAdvisesFrom < .infinity {
          shock = Self.best(of: records, on: day, windows: 5, least: 5)
        }
        if record >= tuning.advisesFrom || (shock?.record ?? 0) >= tuning.shockAdvisesFrom {
          getsAdvice = true
        } else if record < tuning.stopsBelow,
          (shock?.record ?? 0) < tuning.shockStopsBelow
        {
          getsAdvice = false
        }
        if record < tuning.stopsBelow, let shock { best = shock }
        guard let call = calls[best.rule][isLate ? day + 1 : day] else {
          return Choice(advice: .noDifference, rule: nil, record: record, isKnown: false)
        }
        guard getsAdvice else {
          return Choice(advice: .noDifference, rule: nil, record: record, isKnown: true)
        }
        return Choice(advice: call, rule: best.rule, record: best.record, isKnown: true)
      }
    }

    /// Returns the rule with the best record over some windows. If records are equal, the first
    /// rule wins.
    private static func best(
      of records: RuleRecords, on day: Int, windows: Int, least: Int
    ) -> (rule: Int, record: Double)? {
      var best: (rule: Int, record: Double)?
      for rule in 0..<3 {
        guard let record = records.record(of: rule, on: day, windows: windows, least: least)
        else { continue }
        if best.map({ record > $0.record }) ?? true { best = (rule, record) }
      }
      return best
    }

    private static func cycleCall(
      _ price: Double, step: Double, _ zigzag: Zigzag, _ tuning: Tuning
    ) -> Advice {
      if step < (zigzag.isRising == false ? -tuning.leastFall : 0) { return .wait }
      if zigzag.isRising == true, let trough = zigzag.turns.last, let usual = zigzag.usualRise,
        price - trough.price >= 0.6 * usual, step < zigzag.largestStep / 2
      {
        return .wait
      }
      return .fillUp
    }

    func judgement(changeTomorrow: Double?) -> Judgement {
      let today = series.count - 1
      guard let choice = choices.last else {
        return Judgement(advice: .noDifference, basis: .insufficientData)
      }
      let recordOfTomorrow = records.record(of: 3, on: today, windows: 60, least: 20)
      if let changeTomorrow, let call = BestRecord.call(changeTomorrow),
        // A flat market remains flat when tomorrow's prices are known.
        choice.record == nil || choice.rule != nil || (recordOfTomorrow ?? 0) >= 0.8
          || abs(changeTomorrow) >= tuning.certainFrom
      {
        return Judgement(
          advice: call, basis: .tomorrowPrice, rule: "tomorrow", record: recordOfTomorrow,
          expectedSaving: abs(changeTomorrow))
      }
      guard choice.isKnown else {
        return Judgement(advice: .noDifference, basis: .insufficientData, record: choice.record)
      }
      guard let rule = choice.rule else {
        return Judgement(advice: .noDifference, basis: .notCycling, record: choice.record)
      }
      let past = experience(of: choice.advice, before: today)
      return Judgement(
        advice: choice.advice, basis: rule == 2 ? .priceTrend : .priceCycle,
        rule: BestRecord.rules[rule], record: choice.record, expectedSaving: past?.saving,
        confidence: past?.confidence)
    }

    /// How the same verdict did over the last 120 days whose outcome is known.
    private func experience(
      of advice: Advice, before today: Int
    ) -> (saving: Double, confidence: Double)? {
      guard advice != .noDifference else { return nil }
      var hits = 0
      var gain = 0.0
      var count = 0
      let lag = isLate ? 1 : 0
      for day in max(lag, today - 125)..<max(lag, today - 4)
      where choices[day - lag].advice == advice {
        let after = series.averages[(day + 1)...(day + 5)].compactMap { $0 }
        guard let price = series.averages[day], after.count == 5 else { continue }
        let lowest = min(after[0], after[1], after[2])
        count += 1
        if advice == .wait {
          if lowest <= price - 1 { hits += 1 }
          gain += price - lowest
        } else {
          if lowest > price - 1 { hits += 1 }
          gain += after.reduce(0, +) / 5 - price
        }
      }
      guard count >= 5 else { return nil }
      return (gain / Double(count), Double(hits + 1) / Double(count + 2))
    }
  }

  /// The advice that follows from a change by tomorrow, or `nil` if the prices are the same.
  package static func call(_ change: Double) -> Advice? {
    let change = (change * 100).rounded() / 100
    if change <= -leastChange { return .wait }
    if change >= leastChange { return .fillUp }
    return nil
  }
}
