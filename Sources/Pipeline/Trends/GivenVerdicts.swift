package import FuelModel
package import Store
import Trends

/// Scores verdicts as they were given, once a day.
package enum GivenVerdicts {
  // The rule of the cheapest weekday looks eight weeks back.
  private static let daysBefore = 60

  /// Scores the verdicts of a method, unless that was done for the last day.
  ///
  /// - Parameters:
  ///   - method: the method whose verdicts are scored.
  ///   - last: the last price day that is over everywhere.
  package static func score(_ store: Store, method: String, upTo last: Day, now: Instant) throws {
    guard try store.verdictRecordDay(method: method) != last else { return }
    let given = try store.givenVerdicts(method: method)
    // Before the shortest window is over there is nothing to score, and the history need not be
    // read.
    guard let first = given.flatMap({ $0.verdicts.map(\.day) }).min(),
      let shortest = Score.widths.min(), first + shortest <= last
    else { return }
    let facts = try store.regionFacts(now: now)
    let known = Dictionary(
      uniqueKeysWithValues: try store.regionSeries(days: nil, until: now).map {
        ("\($0.region) \($0.fuelID)", $0.averages)
      })
    let rows = given.flatMap { market -> [GivenScoreRow] in
      let advice = market.verdicts.reduce(into: [Day: Advice]()) { advice, given in
        advice[given.day] = Advice(rawValue: given.verdict)
      }
      guard let first = advice.keys.min(),
        let averages = known["\(market.region) \(market.fuelID)"]?.filter({
          $0.day >= first + -daysBefore
        }), let series = DailySeries(averages, upTo: last)
      else { return [] }
      return GivenScore.all(series, given: advice, isLate: facts[market.region]?.isLate ?? false)
        .map {
          GivenScoreRow($0, market.region, market.fuelID, method, first, last, now)
        }
    }
    try store.keepVerdictRecord(rows, method: method)
  }
}

/// One property for each column of `fuel.verdict_record`.
private struct GivenScoreRow: Encodable {
  let method: String
  let region: String
  let fuelId: Int16
  let horizon: Int
  let windows: Int
  let perfectCpl: Double
  let savingCpl: Double
  let savingLowCpl: Double
  let savingHighCpl: Double
  let directionCpl: Double
  let directionLowCpl: Double
  let directionHighCpl: Double
  let weekdayCpl: Double
  let weekdayLowCpl: Double
  let weekdayHighCpl: Double
  let alwaysCpl: Double
  let alwaysLowCpl: Double
  let alwaysHighCpl: Double
  let fromDay: String
  let untilDay: String
  let computedAt: String

  init(
    _ score: GivenScore, _ region: String, _ fuelID: Int16, _ method: String, _ first: Day,
    _ last: Day, _ now: Instant
  ) {
    self.method = method
    self.region = region
    fuelId = fuelID
    horizon = score.horizon
    windows = score.verdicts.savings.count
    perfectCpl = score.verdicts.meanPossible
    func three(_ savings: WindowSavings) -> (Double, Double, Double) {
      let interval = savings.interval
      return (savings.mean, interval.lowerBound, interval.upperBound)
    }
    (savingCpl, savingLowCpl, savingHighCpl) = three(score.verdicts)
    (directionCpl, directionLowCpl, directionHighCpl) = three(score.direction)
    (weekdayCpl, weekdayLowCpl, weekdayHighCpl) = three(score.weekday)
    (alwaysCpl, alwaysLowCpl, alwaysHighCpl) = three(score.always)
    fromDay = first.description
    untilDay = last.description
    computedAt = now.description
  }
}
