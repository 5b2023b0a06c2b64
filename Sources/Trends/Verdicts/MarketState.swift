/// What a market is doing today, in a driver's terms. It is determined from averages up to today
/// only.
package enum MarketState: String, Sendable, CaseIterable {
  /// Timing saves next to nothing in this market.
  case quiet
  case falling
  /// Falling, and near or below the last low, so that a further fall is likely to be small.
  case nearLow = "near_low"
  case rising
  /// The usual rise is nearly over, or a fall has just begun.
  case nearHigh = "near_high"
  /// Prices have left the range of the last four months, so that past cycles are no guide.
  case shock
}
