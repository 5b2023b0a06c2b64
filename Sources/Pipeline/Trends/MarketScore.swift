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

  /// The rows of `fuel_v1.verdict_scores`, one for each test, without `state` and `computed_at`.
  package var rows: [Columns] {
    score.tests.map { test in
      [
        "scored": scored.rawValue, "method": method, "region": region, "fuel": fuel, "year": year,
        "test": test.name, "n": test.n,
        "perfect_cpl": rounded(test.perfect, 2), "saving_cpl": rounded(test.saving, 2),
        "saving_low_cpl": rounded(test.interval?.lowerBound, 2),
        "saving_high_cpl": rounded(test.interval?.upperBound, 2),
        "capture": rounded(test.capture, 3),
        "wait_share": rounded(score.waits.value, 3),
        "fill_up_share": rounded(score.fillUps.value, 3),
        "no_difference_share": rounded(score.noDifferences.value, 3),
        "wait_right": rounded(score.waitsRight.value, 3),
        "fill_up_right": rounded(score.fillUpsRight.value, 3),
        "no_difference_right": rounded(score.noDifferencesRight.value, 3),
        "flips_30d": rounded(score.flipsPerMonth, 2),
        "from_on": from.description, "until_on": until.description,
      ]
    }
  }

  private func rounded(_ value: Double?, _ digits: Int) -> Double? {
    let scale = [1.0, 10, 100, 1_000][digits]
    return value.map { ($0 * scale).rounded() / scale }
  }
}
