import FuelModel

/// The verdict of one station: its region's, turned where the station stands out. A station jumps by twenty
/// to forty-five cents in a day; its own history tells little of its next day, its region's movement much.
///
/// The aggregate keeps with each verdict where it turns; `fuel_v1.station_fill_up` compares the stations of now with that.
package enum StationVerdict {
  /// From so many cents a station has jumped ahead of its region, or not yet followed its jump.
  package static let leastExcess = 10.0
  /// A usual place needs so many days out of as many.
  package static let leastDays = 20
  package static let days = 60

  /// Where a station stands that does not follow its region's verdict, c/L above its usual place beside the region.
  package struct Turns: Sendable {
    /// From here on it waits.
    package var waitFrom: Double?
    /// Up to here it fills up.
    package var fillUpUntil: Double?
  }

  /// - Parameter rule: the rule that the region's verdict rests on.
  package static func turns(of region: Advice, rule: String?) -> Turns {
    // A weekday is the same for all, and tomorrow's prices are the stations' own.
    guard rule != "weekday", rule != "tomorrow" else { return Turns() }
    return switch region {
    case .fillUp: Turns(waitFrom: leastExcess)
    case .wait: Turns(fillUpUntil: -leastExcess)
    case .noDifference: Turns()
    }
  }

  /// - Parameters:
  ///   - region: its region's verdict, and the rule it rests on.
  ///   - excess: how far the station stands above its usual place beside the region, c/L; `nil`: not known.
  package static func advice(region: Advice, rule: String?, excess: Double?) -> Advice {
    guard let excess else { return region }
    let turns = turns(of: region, rule: rule)
    if let from = turns.waitFrom, excess >= from { return .wait }
    if let until = turns.fillUpUntil, excess <= until { return .fillUp }
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
