package import FuelModel
import Store
package import Timeline

extension DayUpdate {
  /// Returns the usual difference of each station to its smallest region, over days that have
  /// ended.
  package func habits(
    of fuelIDs: [Int16], from first: Day, to last: Day, leastDays: Int
  ) throws -> [StationHabit] {
    let context = try store.regionContext()
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
    return days.sorted { $0.key < $1.key }.compactMap { pair, days -> StationHabit? in
      guard let station = context.stations[pair.stationID],
        let region = context.regionSets[station.regionSet].map({ context.regions[$0] }).min(by: {
          ($0.reach, $0.code) < ($1.reach, $1.code)
        })
      else { return nil }
      return StationHabit(
        of: pair.stationID, fuelID: pair.fuelID, region: region.code, days: days,
        averages: averages[region.code]?[pair.fuelID] ?? [:], leastDays: leastDays)
    }
  }
}
