package import FuelModel

/// A region, given by its position among all regions, and a fuel on one day.
package struct RegionDay: Hashable, Comparable, Sendable {
  package var region: Int
  package var fuelID: Int16
  package var day: Day

  package init(region: Int, fuelID: Int16, day: Day) {
    self.region = region
    self.fuelID = fuelID
    self.day = day
  }

  package static func < (one: RegionDay, other: RegionDay) -> Bool {
    (one.region, one.fuelID, one.day) < (other.region, other.fuelID, other.day)
  }
}

/// The stored averages of a day that has ended.
package struct StoredRegionDay: Sendable {
  package var totals: DayTotals
  package var isComplete: Bool
  package var completeStates: Int
  package var states: Int

  package init(totals: DayTotals, isComplete: Bool, completeStates: Int, states: Int) {
    self.totals = totals
    self.isComplete = isComplete
    self.completeStates = completeStates
    self.states = states
  }
}

/// Changes the averages of ended days when the days of single stations change: what was counted of
/// these stations is taken out, and what counts now is put in. The result is what `RegionDays`
/// makes from all stations.
package struct RegionEdit {
  private let regions: [AveragedRegion]
  private let regionSets: [[Int]]
  private let settled: SettledDays
  private var changes: [RegionDay: Change] = [:]

  private struct Change {
    var out: [Part] = []
    var into: [Part] = []
    var expected: Int32 = 0

    var hasMeans: Bool { (out + into).contains { $0.isPublic && $0.day.standing == .known } }
  }

  /// One station's day, with the length of that day in microseconds.
  fileprivate struct Part {
    var day: StationDay
    var length: Int64
    var isPublic: Bool
  }

  /// Prepares changes to the averages of some regions.
  ///
  /// - Parameter settled: the days that can be complete.
  package init(regions: [AveragedRegion], regionSets: [[Int]], settled: SettledDays) {
    self.regions = regions
    self.regionSets = regionSets
    self.settled = settled
  }

  /// Puts in one day of a station, or takes it out.
  ///
  /// - Parameters:
  ///   - length: the length of the day, in microseconds.
  ///   - isNew: true to put the day in, false to take it out.
  package mutating func count(
    _ stationDay: StationDay, at station: CountedStation, fuelID: Int16, on day: Day,
    lasting length: Int64, isNew: Bool
  ) {
    guard stationDay.standing != .unknown else { return }
    let part = Part(day: stationDay, length: length, isPublic: station.isPublic)
    for region in regionSets[station.regionSet] where regions[region].isValid(on: day) {
      let key = RegionDay(region: region, fuelID: fuelID, day: day)
      if isNew {
        changes[key, default: Change()].into.append(part)
      } else {
        changes[key, default: Change()].out.append(part)
      }
    }
  }

  /// Counts a station among those expected to have a price on a day, or no longer does if `isNew`
  /// is false.
  package mutating func expect(
    at station: CountedStation, fuelID: Int16, on day: Day, isNew: Bool
  ) {
    guard station.isPublic else { return }
    for region in regionSets[station.regionSet] where regions[region].isValid(on: day) {
      changes[RegionDay(region: region, fuelID: fuelID, day: day), default: Change()].expected +=
        isNew ? 1 : -1
    }
  }

  /// Drops the changes to days that are made from all stations anyway.
  package mutating func leave(_ days: Set<FuelDay>) {
    guard !days.isEmpty else { return }
    changes = changes.filter { !days.contains(FuelDay(fuelID: $0.key.fuelID, day: $0.key.day)) }
  }

  /// The first and the last changed day; `nil` where no day is changed.
  package var range: (first: Day, last: Day)? {
    let days = changes.keys.lazy.map(\.day)
    guard let first = days.min(), let last = days.max() else { return nil }
    return (first, last)
  }

  /// The changed regions, by their positions.
  package var changedRegions: [Int] { Set(changes.keys.lazy.map(\.region)).sorted() }

  /// Applies the changes to the stored averages.
  ///
  /// - Parameter stored: the averages as they are stored. A value of `nil` marks a day that cannot
  ///   be changed.
  /// - Returns: the averages that changed, and the fuels and days that have to be made from all
  ///   stations, because too little is stored of them or too many stations have changed.
  package func averages(
    of stored: [RegionDay: StoredRegionDay?]
  ) -> (made: [DailyAverage], left: Set<FuelDay>) {
    var made: [DailyAverage] = []
    var left: Set<FuelDay> = []
    // By fuel and day: the number of states that have become complete, less the number of those
    // that no longer are.
    var completed: [FuelDay: Int] = [:]
    let states = Self.statesThemselves(regions)
    // In the order of the key of the stored averages, which writes them in half the time.
    for (key, change) in changes.sorted(by: { $0.key < $1.key }) {
      let fuelDay = FuelDay(fuelID: key.fuelID, day: key.day)
      if stored[key] == nil, !change.hasMeans, change.expected == 0 || !states.contains(key.region)
      {
        // No mean was counted before and none counts now, so there is no average to change.
        continue
      }
      guard let known = stored[key] ?? nil, var average = edited(known, of: key, change)
      else {
        left.insert(fuelDay)
        continue
      }
      if regions[key.region].isNation {
        (average.completeStates, average.states) = (known.completeStates, known.states)
      } else if states.contains(key.region) {
        completed[fuelDay, default: 0] +=
          (average.isComplete ? 1 : 0) - (known.isComplete ? 1 : 0)
      }
      made.append(average)
    }
    let nations = Set(regions.filter(\.isNation).map(\.code))
    for position in made.indices where nations.contains(made[position].region) {
      let fuelDay = FuelDay(fuelID: made[position].fuelID, day: made[position].day)
      made[position].completeStates += completed[fuelDay] ?? 0
      made[position].isComplete =
        made[position].isComplete && made[position].completeStates == made[position].states
    }
    // A fuel's day is either changed or made from all stations in every region, because the
    // nation's average depends on those of its states.
    return (
      made.filter { !left.contains(FuelDay(fuelID: $0.fuelID, day: $0.day)) }, left
    )
  }

  /// Returns a stored average with its changes; `nil` where too little is stored.
  private func edited(
    _ known: StoredRegionDay, of key: RegionDay, _ change: Change
  ) -> DailyAverage? {
    var totals = known.totals
    for part in change.out { totals.count(part, by: -1) }
    for part in change.into { totals.count(part, by: 1) }
    totals.expected += change.expected
    return DailyAverage(
      of: totals, region: regions[key.region].code, fuelID: key.fuelID, day: key.day,
      isEnded: true,
      isSettled: regions[key.region].coveredIn.allSatisfy {
        settled.contains(key.day, of: key.fuelID, in: $0)
      })
  }

  /// Returns the regions that are a whole state, by their positions. Of several regions for one
  /// state the first is taken.
  static func statesThemselves(_ regions: [AveragedRegion]) -> [Int] {
    var found: [Int: Int] = [:]
    for (position, region) in regions.enumerated() where region.isState {
      if let state = region.state, found[state] == nil { found[state] = position }
    }
    return found.values.sorted()
  }
}

/// A fuel on one day.
package struct FuelDay: Hashable, Sendable {
  package var fuelID: Int16
  package var day: Day

  package init(fuelID: Int16, day: Day) {
    self.fuelID = fuelID
    self.day = day
  }
}

extension DayTotals {
  fileprivate mutating func count(_ part: RegionEdit.Part, by sign: Int32) {
    count(
      part.day, share: part.day.share(of: part.length), isPublic: part.isPublic, by: sign)
    guard part.day.standing == .known, part.isPublic else { return }
    if sign > 0 { put(part.day.mean) } else { take(part.day.mean) }
  }
}
