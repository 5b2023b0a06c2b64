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
  /// Where the market stands.
  package var market = MarketState()

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
}

/// Every method by its id, and the one that speaks. Another one is a new file and a line here; `bowser
/// backtest --method` scores it beside these.
package enum VerdictMethods {
  package static let running: any VerdictMethod = BestRecord.second

  package static let baselines: [any VerdictMethod] = [
    Baseline.direction, Baseline.weekday, Baseline.monthMean,
  ]

  package static let all = [BestRecord.second, BestRecord.first] + baselines
}
