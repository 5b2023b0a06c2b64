import FuelModel

/// Decides whether a nation's averages are complete: each of its states has to be settled, and
/// complete wherever it sells the fuel.
struct Nation {
  let calendar: PriceCalendar
  let regions: [AveragedRegion]
  let settled: SettledDays

  /// Completes the nations' averages with the number of complete states.
  ///
  /// - Parameters:
  ///   - averages: those of whole days, because a nation is judged by the states among them.
  ///   - isSold: whether a price of the fuel is expected anywhere in a region that is a whole
  ///     state, given by its position.
  func settle(_ averages: inout [DailyAverage], isSold: (Int, Int16) -> Bool) {
    let nations = Set(regions.filter(\.isNation).map(\.code))
    guard !nations.isEmpty else { return }
    let states = Dictionary(
      uniqueKeysWithValues: statesThemselves.map {
        (regions[$0].state ?? -1, $0)
      })
    let positions = Dictionary(states.values.map { (regions[$0].code, $0) }, uniquingKeysWith: min)
    struct Key: Hashable {
      var region: Int
      var fuelID: Int16
      var day: Day
    }
    var byState: [Key: Bool] = [:]
    for average in averages {
      guard let region = positions[average.region] else { continue }
      byState[Key(region: region, fuelID: average.fuelID, day: average.day)] =
        average.isComplete
    }
    for position in averages.indices where nations.contains(averages[position].region) {
      let day = averages[position].day
      let fuelID = averages[position].fuelID
      var complete = 0
      for state in calendar.days.indices where settled.contains(day, of: fuelID, in: state) {
        let isComplete = states[state].flatMap {
          byState[Key(region: $0, fuelID: fuelID, day: day)]
        }
        // Without an average the state counts as complete only if it has no station with this fuel,
        // or no region of its own by which it could be judged.
        let isNeeded = states[state].map { isSold($0, fuelID) } ?? false
        if isComplete ?? !isNeeded { complete += 1 }
      }
      averages[position].completeStates = complete
      averages[position].states = calendar.days.count
      averages[position].isComplete =
        averages[position].isComplete && complete == calendar.days.count
    }
  }

  /// The regions that are a whole state, by their positions. Of several regions for one state the
  /// first is taken.
  private var statesThemselves: [Int] {
    var found: [Int: Int] = [:]
    for (position, region) in regions.enumerated() where region.isState {
      if let state = region.state, found[state] == nil { found[state] = position }
    }
    return found.values.sorted()
  }
}
