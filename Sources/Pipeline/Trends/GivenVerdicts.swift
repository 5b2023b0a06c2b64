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
    let rows = given.flatMap { market -> [Columns] in
      let advice = market.verdicts.reduce(into: [Day: Advice]()) { advice, given in
        advice[given.day] = Advice(rawValue: given.verdict)
      }
      guard let first = advice.keys.min(),
        let averages = known["\(market.region) \(market.fuelID)"]?.filter({
          $0.day >= first + -daysBefore
        }), let series = DailySeries(averages, upTo: last)
      else { return [] }
      return GivenScore.all(series, given: advice, isLate: facts[market.region]?.isLate ?? false)
        .map { $0.row(market.region, market.fuelID, method, first, last, now) }
    }
    try store.keepVerdictRecord(rows, method: method)
  }
}

extension GivenScore {
  /// The columns of `fuel.verdict_record`.
  fileprivate func row(
    _ region: String, _ fuelID: Int16, _ method: String, _ first: Day, _ last: Day, _ now: Instant
  ) -> Columns {
    let means = [
      ("saving", verdicts), ("direction", direction), ("weekday", weekday), ("always", always),
    ]
    return Columns(
      [
        ("method", method), ("region", region), ("fuel_id", fuelID), ("horizon", horizon),
        ("windows", verdicts.savings.count), ("perfect_cpl", verdicts.meanPossible),
        ("from_day", first.description), ("until_day", last.description),
        ("computed_at", now.description),
      ]
        + means.flatMap { name, savings -> [(String, (any Encodable)?)] in
          let interval = savings.interval
          return [
            (name + "_cpl", savings.mean), (name + "_low_cpl", interval.lowerBound),
            (name + "_high_cpl", interval.upperBound),
          ]
        })
  }
}
