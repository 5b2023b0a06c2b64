import FuelModel

/// The verdict of one station. It is that of its region, except for a station whose price is
/// unusual. A station jumps by twenty to forty-five cents in a day. Its own history predicts little
/// of its next day, but the movement of its region predicts much.
///
/// The aggregate keeps with each verdict of a region the differences at which a station's verdict
/// departs from it. The view `fuel_v1.station_fill_up` compares the current prices of stations with
/// these.
package enum StationVerdict {
  /// A station this many c/L above its usual difference from the region has jumped ahead of the
  /// region. As many c/L below, it has not yet followed the region's jump.
  package static let leastExcess = 10.0
  /// A usual difference is taken over `days` days, at least `leastDays` of which need prices.
  package static let leastDays = 20
  package static let days = 60

  /// The differences at which a station's verdict departs from its region's, in c/L above the
  /// station's usual difference from the region.
  package struct Limits: Sendable {
    /// From this difference on the station's verdict is `wait`.
    package var waitFrom: Double?
    /// Up to this difference the station's verdict is `fill_up`.
    package var fillUpUntil: Double?
  }

  /// - Parameter rule: the rule on which the region's verdict is based.
  package static func limits(of region: Advice, rule: String?) -> Limits {
    // The cheapest weekday is the same for all stations, and tomorrow's prices are known for each
    // station.
    guard rule != "weekday", rule != "tomorrow" else { return Limits() }
    return switch region {
    case .fillUp: Limits(waitFrom: leastExcess)
    case .wait: Limits(fillUpUntil: -leastExcess)
    case .noDifference: Limits()
    }
  }
}
