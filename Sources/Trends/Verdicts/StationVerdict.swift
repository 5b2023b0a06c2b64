import FuelModel

/// The verdict of one station: its region's, turned where the station stands out. A station jumps by twenty
/// to forty-five cents in a day; its own history tells little of its next day, its region's movement much.
///
/// `fuel_v1.station_fill_up` says the same of the present.
package enum StationVerdict {
  /// From so many cents a station has jumped ahead of its region, or not yet followed its jump.
  package static let leastExcess = 10.0
  /// A usual place needs so many days out of as many.
  package static let leastDays = 20
  package static let days = 60

  /// - Parameters:
  ///   - region: its region's verdict, and the rule it rests on.
  ///   - excess: how far the station stands above its usual place beside the region, c/L.
  package static func advice(region: Advice, rule: String?, excess: Double?) -> Advice {
    guard let excess, rule != "weekday", rule != "tomorrow" else { return region }
    if region == .fillUp, excess >= leastExcess { return .wait }
    if region == .wait, excess <= -leastExcess { return .fillUp }
    return region
  }

  /// The middle of a station's prices less its region's average over sixty days before one; `nil`: too few.
  package static func usualDifference(
    station: DailySeries, region: DailySeries, before index: Int
  ) -> Double? {
    let differences = (1...days).compactMap { back -> Double? in
      let day: Day = station.first + (index - back)
      guard let price = station[day], let average = region[day] else { return nil }
      return price - average
    }
    return differences.count < leastDays ? nil : median(differences)
  }
}
