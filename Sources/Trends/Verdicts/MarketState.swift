/// What a market is doing today, as a driver would say it. Found from averages up to today and nothing later.
package enum MarketState: String, Sendable, CaseIterable {
  /// Timing saves next to nothing here.
  case quiet
  case falling
  /// Falling, and near the last low or below it: little more is likely to come off.
  case nearLow = "near_low"
  case rising
  /// The usual rise is nearly over, or a fall has just begun.
  case nearHigh = "near_high"
  /// Prices left the range of the last four months; what a cycle teaches does not hold.
  case shock
}
