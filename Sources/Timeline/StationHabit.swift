package import FuelModel

/// A station's usual place beside the smallest region it lies in: the middle of its days' prices less the
/// region's averages, hundredths of a cent per litre.
package struct StationHabit: Sendable, Equatable {
  package var placeID: Int32
  package var fuelID: Int16
  package var region: String
  package var difference: Int
  /// On how many days both were known.
  package var days: Int

  package init(placeID: Int32, fuelID: Int16, region: String, difference: Int, days: Int) {
    self.placeID = placeID
    self.fuelID = fuelID
    self.region = region
    self.difference = difference
    self.days = days
  }

  /// The usual place of one station.
  ///
  /// - Parameters:
  ///   - days: the station's days with their dates.
  ///   - averages: of the region on the same days, hundredths of a cent.
  ///   - leastDays: with fewer days there is no usual place.
  package init?(
    of placeID: Int32, fuelID: Int16, region: String, days: [(day: Day, mean: Int32)],
    averages: [Day: Int], leastDays: Int
  ) {
    var differences = days.compactMap { day, mean -> Int? in
      averages[day].map { Int((Double(mean) * 10 / StationDay.fraction).rounded()) - $0 }
    }
    guard differences.count >= leastDays else { return nil }
    differences.sort()
    let half = differences.count / 2
    self.init(
      placeID: placeID, fuelID: fuelID, region: region,
      difference: differences.count % 2 == 1
        ? differences[half] : (differences[half - 1] + differences[half]) / 2,
      days: differences.count)
  }
}
