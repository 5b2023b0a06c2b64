package import FuelModel

/// The advice to drivers.
package enum Advice: String, Sendable {
  case fillUp = "fill_up"
  case wait
  case noDifference = "no_difference"

  // Two means that differ by less than half a tenth of a cent are equal to anybody who buys fuel.
  private static let leastChange = 0.05

  /// The advice that follows from a change by tomorrow in c/L; `nil` if the prices are the same.
  package init?(changeTomorrow change: Double) {
    let change = (change * 100).rounded() / 100
    guard abs(change) >= Self.leastChange else { return nil }
    self = change < 0 ? .wait : .fillUp
  }
}

/// The kind of knowledge on which a verdict is based.
package enum Basis: String, Sendable {
  case tomorrowPrice = "tomorrow_price"
  case priceCycle = "price_cycle"
  case priceTrend = "price_trend"
  case notCycling = "not_cycling"
  case insufficientData = "insufficient_data"
}

/// The verdict of one region, fuel and day, with its reasons. Amounts are in cents per litre.
package struct Judgement: Sendable, Equatable {
  package var advice: Advice
  package var basis: Basis
  /// The rule that gave the advice, or `nil` if none did.
  package var rule: String?
  /// What following the best rule saved over its last windows, or `nil` if there is no record yet.
  package var record: Double?
  /// What following this verdict should save, from the days on which it was given lately. `nil` if
  /// it was given too seldom.
  package var expectedSaving: Double?
  /// How likely the verdict is to be right, from 0 to 1, or `nil` as above.
  package var confidence: Double?
  /// The reason in a sentence for drivers.
  package var reason = ""
  /// What the market is doing, or `nil` if the method does not determine it or too little is known.
  package var state: MarketState?
  /// The chances that the price falls by 1 c/L, and that it rises by 3 c/L, within three days, from
  /// 0 to 1, or `nil` as above.
  package var cheaper: Double?
  package var jump: Double?
  /// A price at which to buy, in c/L, or `nil` if none is given.
  package var aim: Double?
  /// The low to wait for, in c/L, and the days between which it is likely. `nil` if there is
  /// nothing to wait for.
  package var low: Low?
  /// The models that gave the chances, or `nil` if the method has none.
  package var models: Models?
  /// The position of the market in its cycle.
  package var market = MarketPosition()

  /// Two models, and the day up to which they were fitted.
  package struct Models: Sendable, Equatable {
    package var fittedOn: Day
    package var cheaper: ChanceModel
    package var jump: ChanceModel
  }

  package struct Low: Sendable, Equatable {
    package var price: Double
    package var from: Day
    package var to: Day
  }

  package init(advice: Advice, basis: Basis, rule: String? = nil) {
    self.advice = advice
    self.basis = basis
    self.rule = rule
  }
}

/// What is known of a market on the day of a verdict.
package struct VerdictInput: Sendable {
  /// Daily averages up to today, at most 400 of them. With late data they end yesterday.
  package var series: DailySeries
  /// Whether today's average is not known, so that the series ends yesterday.
  package var isLate: Bool
  /// Tomorrow's average less today's over the same stations, if tomorrow's prices are published.
  package var changeTomorrow: Double?
  /// The name of the market in a sentence.
  package var marketName: String

  package init(
    series: DailySeries, isLate: Bool = false, changeTomorrow: Double? = nil,
    marketName: String = ""
  ) {
    self.series = series
    self.isLate = isLate
    self.changeTomorrow = changeTomorrow
    self.marketName = marketName
  }

  /// More days would change nothing: records look back half a year, and the last turns of a cycle
  /// another half year.
  package static let mostDays = 400
}

/// A method to reach verdicts. It is a pure function of its input.
package protocol VerdictMethod: Sendable {
  /// An id that changes with every change of the rules, so that verdicts of different rules can be
  /// distinguished.
  var id: String { get }

  func judge(_ input: VerdictInput) -> Judgement

  /// Judges every day of a series, each by what was known on that day.
  func judgements(of past: Past) -> [Judgement]
}

/// A series whose every day is judged again.
package struct Past: Sendable {
  package var series: DailySeries
  /// Whether the average of a day is not known on that day.
  package var isLate: Bool
  /// Whether tomorrow's prices are published today.
  package var isTomorrowKnown: Bool
  package var marketName: String

  package init(series: DailySeries, isLate: Bool, isTomorrowKnown: Bool, marketName: String) {
    self.series = series
    self.isLate = isLate
    self.isTomorrowKnown = isTomorrowKnown
    self.marketName = marketName
  }

  /// Tomorrow's average less today's, if both are in the series and tomorrow's was published today.
  func changeTomorrow(_ today: Int) -> Double? {
    guard isTomorrowKnown, today + 1 < series.count, let now = series.averages[today],
      let next = series.averages[today + 1]
    else { return nil }
    return next - now
  }
}

extension VerdictMethod {
  package func judgements(of past: Past) -> [Judgement] {
    past.series.averages.indices.map { today in
      let known = past.isLate ? today - 1 : today
      guard known >= 0 else { return Judgement(advice: .noDifference, basis: .insufficientData) }
      return judge(
        VerdictInput(
          series: past.series.upTo(known, atMost: VerdictInput.mostDays), isLate: past.isLate,
          changeTomorrow: past.changeTomorrow(today), marketName: past.marketName))
    }
  }
}

/// All methods, and the one that is in use. A new method needs a file and an entry here. `bowser
/// backtest --method` compares it with the others.
package enum VerdictMethods {
  package static let running: any VerdictMethod = TurningPoint()

  package static let baselines: [any VerdictMethod] = [
    Baseline.direction, Baseline.weekday, Baseline.monthMean,
  ]

  package static let all = [running] + baselines
}
