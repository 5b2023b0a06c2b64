package import FuelModel
import Store
package import Timeline

extension DayUpdate {
  /// Returns the usual difference of each station to its smallest region, over days that have
  /// ended.
  package func habits(
    of fuelIDs: [Int16], from first: Day, to last: Day, leastDays: Int
  ) throws -> [StationHabit] {
    var days: [Pair: [(day: Day, mean: Int32)]] = [:]
    var from = first
    while from <= last {
      let to = min(last, Month(number: Month(from).number + 1).firstDay + -1)
      try store.stationDays(of: fuelIDs, from: from, to: to) { pair, _, made in
        for (position, day) in made.enumerated() where day.standing == .known {
          days[pair, default: []].append((from + position, day.mean))
        }
      }
      from = to + 1
    }
    let averages = try store.regionAverages(of: fuelIDs, from: first, to: last)
    let nearest = try store.nearestRegions()
    return days.sorted { $0.key < $1.key }.compactMap { pair, days -> StationHabit? in
      guard let region = nearest[pair.stationID] else { return nil }
      return StationHabit(
        of: pair.stationID, fuelID: pair.fuelID, region: region, days: days,
        averages: averages[region]?[pair.fuelID] ?? [:], leastDays: leastDays)
    }
  }
}
