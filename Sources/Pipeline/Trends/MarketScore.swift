package import FuelModel
package import Trends

/// How one method did in one region and fuel over one year, or over all years.
package struct MarketScore: Sendable {
  package var method: String
  package var region: String
  package var fuel: String
  /// `nil` means all years.
  package var year: Int?
  package var score: Score
  /// How good the states of the market were; `nil` if the method determines none.
  package var states: StateScore?
  package var from: Day
  package var until: Day

  /// The columns that are published of a score: name, number of decimals, and value.
  package static let columns: [(name: String, digits: Int, value: @Sendable (Score) -> Double?)] = [
    ("windows", 0, { Double($0.headline.count) }),
    ("perfect_cpl", 2, { $0.headline.meanPossible }),
    ("saving_cpl", 2, { $0.headline.meanSaving }),
    ("capture", 3, { $0.headline.capture }),
    ("capture_3d", 3, { $0.windows[3]?.capture }),
    ("capture_7d", 3, { $0.windows[7]?.capture }),
    ("tank_7_5", 3, { $0.tanks["7:5"]?.capture }),
    ("tank_10_5", 3, { $0.tanks["10:5"]?.capture }),
    ("tank_14_7", 3, { $0.tanks["14:7"]?.capture }),
    ("wait_share", 3, { $0.waits.value }),
    ("fill_up_share", 3, { $0.fillUps.value }),
    ("no_difference_share", 3, { $0.noDifferences.value }),
    ("wait_right", 3, { $0.waitsRight.value }),
    ("fill_up_right", 3, { $0.fillUpsRight.value }),
    ("no_difference_right", 3, { $0.noDifferencesRight.value }),
    ("flips_30d", 2, { $0.flipsPerMonth }),
  ]
}
