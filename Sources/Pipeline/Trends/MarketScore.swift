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
    value.map { Trends.rounded($0, digits) }
  }
}
