package import FuelModel
package import Store
package import Trends

/// How one method did in one region and fuel over one year, or over all years.
package struct MarketScore: Sendable {
  package var scored: Scored
  package var method: String
  package var region: String
  package var fuel: String
  /// `nil` means all years.
  package var year: Int?
  package var score: Score
  package var from: Day
  package var until: Day

  /// The rows of `fuel_v1.verdict_scores`, one for each horizon, without `state` and `computed_at`.
  package var rows: [Columns] {
    score.windows.map { windows in
      [
        "scored": scored.rawValue, "method": method, "region": region, "fuel": fuel, "year": year,
        "horizon": windows.horizon, "days": windows.n,
        "perfect_cpl": rounded(windows.perfect, 2), "saving_cpl": rounded(windows.saving, 2),
        "saving_low_cpl": rounded(windows.interval.lowerBound, 2),
        "saving_high_cpl": rounded(windows.interval.upperBound, 2),
        "capture": rounded(windows.capture, 3),
        "wait_share": rounded(score.share(of: .wait), 3),
        "fill_up_share": rounded(score.share(of: .fillUp), 3),
        "no_difference_share": rounded(score.share(of: .noDifference), 3),
        "wait_right": rounded(score.rightShare(of: .wait), 3),
        "fill_up_right": rounded(score.rightShare(of: .fillUp), 3),
        "no_difference_right": rounded(score.rightShare(of: .noDifference), 3),
        "flips_30d": rounded(score.flipsPerMonth, 2),
        "from_on": from.description, "until_on": until.description,
      ]
    }
  }

  private func rounded(_ value: Double?, _ digits: Int) -> Double? {
    value.map { FuelModel.rounded($0, digits) }
  }
}

/// Scores verdicts as they were given, beside the habits over the same days.
package enum GivenVerdicts {
  /// Stores the scores of a method's verdicts, unless that was done for the last day.
  ///
  /// - Parameters:
  ///   - method: the method whose verdicts are scored.
  ///   - last: the last price day that is over everywhere.
  package static func score(_ store: Store, method: String, upTo last: Day, now: Instant) throws {
    guard try store.verdicts.givenScoreDay(method: method) != last else { return }
    let scores = try scores(store, method: method, upTo: last, now: now)
    // Until there is something to score, the scores of an earlier method stay.
    guard !scores.isEmpty else { return }
    try store.verdicts.keepCalibration()
    try store.verdicts.keepScores(scores.flatMap(\.rows), of: .given, now: now)
  }

  /// Returns the scores of a method's verdicts up to a day, and those of the habits. Empty before
  /// the shortest window is over.
  package static func scores(
    _ store: Store, method: String, upTo last: Day, now: Instant
  ) throws -> [MarketScore] {
    let given = try store.verdicts.givenVerdicts(method: method)
    // The history need not be read where nothing can be scored yet.
    guard let first = given.flatMap({ $0.verdicts.map(\.day) }).min(),
      let shortest = Score.horizons.min(), first + shortest <= last
    else { return [] }
    let facts = try store.verdicts.regionFacts(now: now)
    let known = Dictionary(
      uniqueKeysWithValues: try store.verdicts.regionSeries(days: nil, until: now).map {
        ("\($0.region) \($0.fuelID)", $0.averages)
      })
    return given.flatMap { market -> [MarketScore] in
      let advice = market.verdicts.reduce(into: [Day: Advice]()) { advice, given in
        advice[given.day] = Advice(rawValue: given.verdict)
      }
      // Habits look back as far as a verdict does.
      guard let first = advice.keys.min(), first <= last,
        let averages = known["\(market.region) \(market.fuelID)"]?.filter({
          $0.day >= first + -MarketWalk.mostDays
        }), let series = DailySeries(averages, upTo: last)
      else { return [] }
      let walk = MarketWalk(series, isLate: facts[market.region]?.isLate ?? false)
      func score(_ method: String, _ verdicts: [Advice?]) -> MarketScore {
        MarketScore(
          scored: .given, method: method, region: market.region, fuel: market.fuel,
          score: Score(series, verdicts: verdicts, days: first..<(last + 1)), from: first,
          until: last)
      }
      let own = score(method, series.averages.indices.map { advice[series.first + $0] })
      return [own]
        + Adviser.habits.map {
          score($0.rawValue, walk.advice(of: $0, isTomorrowKnown: false))
        }
    }.filter { !$0.score.windows.isEmpty }
  }
}
