import FuelModel

/// A nation is complete when each of its states is: covered, and complete wherever it sells the fuel.
struct Nation {
  let calendar: PriceCalendar
  let regions: [AveragedRegion]
  /// By state and day.
  let covered: [[Bool]]

  /// - Parameters:
  ///   - averages: of whole days: a nation is judged by the states beside it.
  ///   - isSold: whether a price is expected anywhere in a region that is a state, by its position.
  func settle(_ averages: inout [DailyAverage], isSold: (Int, Int16) -> Bool) {
    let nations = Set(regions.filter(\.isNation).map(\.code))
    guard !nations.isEmpty else { return }
    let states = Dictionary(
      uniqueKeysWithValues: RegionEdit.statesThemselves(regions).map {
        (regions[$0].state ?? -1, $0)
      })
    let positions = Dictionary(states.values.map { (regions[$0].code, $0) }, uniquingKeysWith: min)
    var byState: [RegionDay: Bool] = [:]
    for average in averages {
      guard let region = positions[average.region] else { continue }
      byState[RegionDay(region: region, fuelID: average.fuelID, day: average.day)] =
        average.isComplete
    }
    for position in averages.indices where nations.contains(averages[position].region) {
      let day = averages[position].day
      let fuelID = averages[position].fuelID
      var complete = 0
      for state in calendar.days.indices
      where covered[state][day.sinceEpoch - calendar.first.sinceEpoch] {
        let isComplete = states[state].flatMap {
          byState[RegionDay(region: $0, fuelID: fuelID, day: day)]
        }
        // The state has no station with this fuel, or no region of its own to be judged by.
        let isNeeded = states[state].map { isSold($0, fuelID) } ?? false
        if isComplete ?? !isNeeded { complete += 1 }
      }
      averages[position].completeStates = complete
      averages[position].states = calendar.days.count
      averages[position].isComplete =
        averages[position].isComplete && complete == calendar.days.count
    }
  }
}
