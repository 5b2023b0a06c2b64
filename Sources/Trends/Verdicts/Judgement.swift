package import FuelModel

/// What drivers are told.
package enum Advice: String, Sendable {
  case fillUp = "fill_up"
  case wait
  case noDifference = "no_difference"
}

/// What kind of knowledge a verdict rests on.
package enum Basis: String, Sendable {
  case tomorrowPrice = "tomorrow_price"
  case priceCycle = "price_cycle"
  case priceTrend = "price_trend"
  case notCycling = "not_cycling"
  case insufficientData = "insufficient_data"
}

/// The verdict of one region, fuel and day, with what it rests on. Amounts in cents per litre.
package struct Judgement: Sendable, Equatable {
  package var advice: Advice
  package var basis: Basis
  /// The rule that spoke; `nil`: none did.
  package var rule: String?
  /// What following the best rule saved over its last windows; `nil`: no record yet.
  package var record: Double?
  /// What following this verdict saved, where it was given lately; `nil`: given too seldom.
  package var expectedSaving: Double?
  /// How often it was right, from 0 to 1; `nil` as above.
  package var confidence: Double?
  /// Why, in words for drivers.
  package var reason = ""
  /// What the market is doing; `nil`: the method does not say, or too little is known.
  package var state: MarketState?
  /// How likely it is to be 1 c/L cheaper, and 3 c/L dearer, within three days; from 0 to 1, `nil` as above.
  package var cheaper: Double?
  package var jump: Double?
  /// A price worth stopping for, c/L; `nil`: none is named.
  package var aim: Double?
  /// The low to wait for, c/L, and between which days it is likely; `nil`: there is nothing to wait for.
  package var low: Low?
  /// What the chances come from; `nil`: the method has no such models.
  package var models: Models?
  /// Where the market stands.
  package var market = MarketPosition()

  /// Two models, and the day up to which they learnt.
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

  package init(
    advice: Advice, basis: Basis, rule: String? = nil, record: Double? = nil,
    expectedSaving: Double? = nil, confidence: Double? = nil
  ) {
    self.advice = advice
    self.basis = basis
    self.rule = rule
    self.record = record
    self.expectedSaving = expectedSaving
    self.confidence = confidence
  }
}

/// What is known of a market on the day that a verdict is for.
package struct Outlook: Sendable {
  /// Daily averages up to today, at most 400 of them; with late data up to yesterday.
  package var series: DailySeries
  /// Today's average is not known: the series ends yesterday.
  package var isLate: Bool
  /// Tomorrow's average less today's over the same stations, where it is published.
  package var changeTomorrow: Double?
  /// What the market is called in a sentence.
  package var place: String

  package init(
    series: DailySeries, isLate: Bool = false, changeTomorrow: Double? = nil, place: String = ""
  ) {
    self.series = series
    self.isLate = isLate
    self.changeTomorrow = changeTomorrow
    self.place = place
  }

  /// More days change nothing: records look back half a year, and the last turns of a cycle another half.
  package static let mostDays = 400
}

/// A way to reach verdicts: a pure function of an outlook.
package protocol VerdictMethod: Sendable {
  /// Changes with every change of the rules, so that verdicts of different rules are told apart.
  var id: String { get }

  func judge(_ outlook: Outlook) -> Judgement

  /// The same of every day of a series, each by what was known on it.
  func judgements(of past: Past) -> [Judgement]
}

/// A series of which every day is judged again.
package struct Past: Sendable {
  package var series: DailySeries
  /// The average of today is not known today.
  package var isLate: Bool
  /// Tomorrow's prices are published today.
  package var isTomorrowKnown: Bool
  package var place: String

  package init(series: DailySeries, isLate: Bool, isTomorrowKnown: Bool, place: String) {
    self.series = series
    self.isLate = isLate
    self.isTomorrowKnown = isTomorrowKnown
    self.place = place
  }

  /// How tomorrow's average differed from today's, where both are known and were known on the day.
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
        Outlook(
          series: past.series.upTo(known, atMost: Outlook.mostDays), isLate: past.isLate,
          changeTomorrow: past.changeTomorrow(today), place: past.place))
    }
  }
}

/// Every method by its id, and the one that speaks. Another one is a new file and a line here; `bowser
/// backtest --method` scores it beside these.
package enum VerdictMethods {
  package static let running: any VerdictMethod = TurningPoint()

  package static let baselines: [any VerdictMethod] = [
    Baseline.direction, Baseline.weekday, Baseline.monthMean,
  ]

  package static let all = [running, BestRecord.second, BestRecord.first] + baselines
}
