package import FuelModel

/// Where a station counts.
package struct Place: Sendable {
  /// Its state, as a position among those of the calendar.
  package var state: Int
  /// Anybody may buy there.
  package var isPublic: Bool
  /// Which regions it lies in, as a position among the sets of regions.
  package var regionSet: Int

  package init(state: Int, isPublic: Bool, regionSet: Int) {
    self.state = state
    self.isPublic = isPublic
    self.regionSet = regionSet
  }
}

/// A region as averages need it.
package struct AveragedRegion: Sendable {
  package var code: String
  /// `nil`: over several states.
  package var state: Int?
  package var validFrom: Day?
  package var validTo: Day?
  /// Its size, to find the smallest of several.
  package var reach: Double
  /// Whether it is complete only when every state is.
  package var isNation: Bool

  package init(
    code: String, state: Int?, validFrom: Day?, validTo: Day?, reach: Double, isNation: Bool = false
  ) {
    self.code = code
    self.state = state
    self.validFrom = validFrom
    self.validTo = validTo
    self.reach = reach
    self.isNation = isNation
  }

  func isValid(on day: Day) -> Bool {
    if let validFrom, day < validFrom { return false }
    if let validTo, day >= validTo { return false }
    return true
  }
}

/// The averages of a region and fuel over one price day, in hundredths of a cent per litre.
package struct DailyAverage: Sendable, Equatable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var average: Int
  package var median: Int
  package var quarter: Int
  package var lowest: Int
  package var highest: Int
  package var stations: Int
  /// Of how many stations a price is expected: those with a price in this month or the one before.
  package var expected: Int
  /// Thousandths of those stations' day, so far as it has passed, with a believed price.
  package var coverage: Int
  package var isEnded: Bool
  /// Ended, long enough covered, and enough of the expected stations known; a nation in every state.
  package var isComplete: Bool
  /// States that are complete, and states in all; 1 of 1 for a region within a state.
  package var completeStates: Int
  package var states: Int
  /// Stations left out: reported and too old; doubtful; for members only.
  package var excludedStale: Int
  package var excludedFlagged: Int
  package var excludedRestricted: Int

  /// Of enough stations, and for most of the time of the expected ones, so far as the day has passed: what
  /// verdicts may rest on.
  package var isUsable: Bool {
    stations >= 3 && coverage >= 750 && stations * coverage >= expected * DailyAverage.leastShare
  }

  /// Thousandths of the expected stations' day that must be known.
  package static let leastShare = 800
}

/// Makes the averages of regions from the days of stations: one month or less at a time.
///
/// Every station counts once, with its mean of the day. Stations for members only are left out.
package struct RegionDays {
  private let places: [Int32: Place]
  private let regions: [AveragedRegion]
  private let regionSets: [[Int]]
  private let calendar: PriceCalendar
  private let fuelIDs: [Int16]
  /// States of which a source covers the day, by state and day.
  private let covered: [[Bool]]

  /// By state, fuel and day: each mean with the set of regions it counts in, sorted once for all of them.
  private var means: [[UInt64]]
  private var sums: [Sum]
  private var expected: [Int]

  private struct Sum {
    var means: [Int32] = []
    /// Shares of their days, in 65,536ths.
    var covered: Int64 = 0
    var stale = 0
    var flagged = 0
    var restricted = 0
  }

  /// - Parameter covered: by state and day, whether a feed or an archive covers it.
  package init(
    fuelIDs: [Int16], calendar: PriceCalendar, places: [Int32: Place], regions: [AveragedRegion],
    regionSets: [[Int]], covered: [[Bool]]
  ) {
    self.fuelIDs = fuelIDs
    self.calendar = calendar
    self.places = places
    self.regions = regions
    self.regionSets = regionSets
    self.covered = covered
    means = Array(repeating: [], count: calendar.days.count * fuelIDs.count * calendar.count)
    sums = Array(repeating: Sum(), count: regions.count * fuelIDs.count * calendar.count)
    expected = Array(repeating: 0, count: regions.count * fuelIDs.count)
  }

  /// Counts a station of which a price is expected.
  package mutating func expect(_ stationID: Int32, fuelID: Int16) {
    guard let place = places[stationID], place.isPublic, let fuel = fuelIDs.firstIndex(of: fuelID)
    else { return }
    for region in regionSets[place.regionSet] { expected[region * fuelIDs.count + fuel] += 1 }
  }

  /// Takes one day of a station.
  ///
  /// - Parameter day: as a position in the calendar.
  package mutating func take(_ stationDay: StationDay, of stationID: Int32, fuelID: Int16, day: Int)
  {
    guard stationDay.standing != .unknown, let place = places[stationID],
      let fuel = fuelIDs.firstIndex(of: fuelID), day < calendar.days[place.state].count
    else { return }
    let isKnown = stationDay.standing == .known
    var share: Int64 = 0
    if isKnown, place.isPublic {
      means[(place.state * fuelIDs.count + fuel) * calendar.count + day].append(
        UInt64(stationDay.mean) << 32 | UInt64(place.regionSet))
      let length = Double(calendar.days[place.state][day].microseconds) / 1_000_000
      share = Int64((min(1, Double(stationDay.seconds) / length) * StationDay.fraction).rounded())
    }
    for region in regionSets[place.regionSet] {
      let cell = (region * fuelIDs.count + fuel) * calendar.count + day
      switch stationDay.standing {
      case .known:
        if place.isPublic { sums[cell].covered += share } else { sums[cell].restricted += 1 }
      case .doubtful where place.isPublic: sums[cell].flagged += 1
      case .stale where place.isPublic: sums[cell].stale += 1
      default: break
      }
    }
  }

  /// - Returns: in order of region, fuel and day; none without a station that counts.
  package mutating func averages() -> [DailyAverage] {
    let count = calendar.count
    for state in calendar.days.indices {
      for fuel in fuelIDs.indices {
        for day in 0..<count {
          let known = (state * fuelIDs.count + fuel) * count + day
          means[known].sort()
          for entry in means[known] {
            for region in regionSets[Int(entry & 0xffff_ffff)]
            where regions[region].isValid(on: calendar.first + day) {
              sums[(region * fuelIDs.count + fuel) * count + day].means.append(Int32(entry >> 32))
            }
          }
          means[known] = []
        }
      }
    }
    // Without a state that publishes later than others the mean over all would be another one.
    let known = Set(places.values.map(\.state))
    var averages: [DailyAverage] = []
    for region in regions.indices {
      for fuel in fuelIDs.indices {
        for day in 0..<count {
          let cell = (region * fuelIDs.count + fuel) * count + day
          guard !sums[cell].means.isEmpty,
            regions[region].state != nil
              || known.allSatisfy({ day < calendar.days[$0].count })
          else { continue }
          // In order by state: of several states these are runs to merge.
          if regions[region].state == nil { sums[cell].means.sort() }
          averages.append(average(region: region, fuel: fuel, day: day))
        }
      }
    }
    settleNations(&averages)
    return averages
  }

  private func average(region: Int, fuel: Int, day: Int) -> DailyAverage {
    let sum = sums[(region * fuelIDs.count + fuel) * calendar.count + day]
    let means = sum.means
    // Hundredths of a cent.
    func cents(_ value: Double) -> Int { Int((value * 10 / StationDay.fraction).rounded()) }
    /// Between its two neighbours, in proportion, as PostgreSQL's percentile_cont has it.
    func percentile(_ share: Double) -> Double {
      let place = share * Double(means.count - 1)
      let low = Int(place)
      let part = place - Double(low)
      if part == 0 { return Double(means[low]) }
      return Double(means[low]) + part * Double(means[low + 1] - means[low])
    }
    let total = means.reduce(Int64(0)) { $0 + Int64($1) }
    let states = regions[region].state.map { [$0] } ?? Array(calendar.days.indices)
    let isEnded = states.allSatisfy { state in
      day < calendar.days[state].count && calendar.days[state][day].isEnded
    }
    var average = DailyAverage(
      region: regions[region].code, fuelID: fuelIDs[fuel], day: calendar.first + day,
      average: cents(Double(total) / Double(means.count)), median: cents(percentile(0.5)),
      quarter: cents(percentile(0.25)), lowest: cents(Double(means[0])),
      highest: cents(Double(means[means.count - 1])), stations: means.count,
      expected: max(expected[region * fuelIDs.count + fuel], means.count),
      coverage: min(
        1_000,
        Int((Double(sum.covered) / StationDay.fraction / Double(means.count) * 1_000).rounded())),
      isEnded: isEnded, isComplete: false, completeStates: 0, states: 1,
      excludedStale: sum.stale, excludedFlagged: sum.flagged, excludedRestricted: sum.restricted)
    average.isComplete =
      isEnded && average.isUsable
      && (regions[region].state.map { covered[$0][day] } ?? true)
    average.completeStates = average.isComplete ? 1 : 0
    return average
  }

  /// A nation is complete when each of its states is: covered, and complete wherever it sells the fuel.
  private func settleNations(_ averages: inout [DailyAverage]) {
    let nations = Set(regions.filter(\.isNation).map(\.code))
    guard !nations.isEmpty else { return }
    var byState: [String: DailyAverage] = [:]
    let stateCodes = Dictionary(
      regions.compactMap { region in
        region.state.map { ($0, region.code) }
      }.filter { pair in regions.contains { $0.code == pair.1 && $0.reach == Self.stateReach } },
      uniquingKeysWith: { first, _ in first })
    for average in averages where stateCodes.values.contains(average.region) {
      byState["\(average.region) \(average.fuelID) \(average.day)"] = average
    }
    for position in averages.indices where nations.contains(averages[position].region) {
      let day = averages[position].day
      let place = day.sinceEpoch - calendar.first.sinceEpoch
      var complete = 0
      for state in calendar.days.indices where covered[state][place] {
        guard let code = stateCodes[state],
          let own = byState["\(code) \(averages[position].fuelID) \(day)"]
        else {
          // The state has no station with this fuel, or no region of its own to be judged by.
          let isSold = stateCodes[state].map { isExpected($0, averages[position].fuelID) } ?? false
          if !isSold { complete += 1 }
          continue
        }
        if own.isComplete { complete += 1 }
      }
      averages[position].completeStates = complete
      averages[position].states = calendar.days.count
      averages[position].isComplete =
        averages[position].isComplete && complete == calendar.days.count
    }
  }

  private func isExpected(_ region: String, _ fuelID: Int16) -> Bool {
    guard let region = regions.firstIndex(where: { $0.code == region }),
      let fuel = fuelIDs.firstIndex(of: fuelID)
    else { return false }
    return expected[region * fuelIDs.count + fuel] > 0
  }

  /// The reach of a region that is a whole state.
  package static let stateReach = 100_000.0
}
