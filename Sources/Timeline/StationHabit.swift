package import FuelModel

/// How a station's price usually compares with the average of the smallest region in which the
/// station lies: the median over days of the station's mean less the region's average, in
/// hundredths of a cent per litre.
package struct StationHabit: Sendable, Equatable {
  package var placeID: Int32
  package var fuelID: Int16
  package var region: String
  package var difference: Int
  /// The number of days for which both were known.
  package var days: Int

  package init(placeID: Int32, fuelID: Int16, region: String, difference: Int, days: Int) {
    self.placeID = placeID
    self.fuelID = fuelID
    self.region = region
    self.difference = difference
    self.days = days
  }

  /// Works out the usual difference of one station.
  ///
  /// - Parameters:
  ///   - days: the station's days with their means, in 65,536ths of a tenth of a cent.
  ///   - averages: the region's averages of the same days, in hundredths of a cent.
  ///   - leastDays: with fewer days than this there is no usual difference.
  /// - Returns: `nil` where there are too few days.
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
    // The one in the middle, twice, or the two in the middle.
    let twice = differences[(differences.count - 1) / 2] + differences[half]
    self.init(
      placeID: placeID, fuelID: fuelID, region: region,
      difference: Int((Double(twice) / 2).rounded()), days: differences.count)
  }
}
