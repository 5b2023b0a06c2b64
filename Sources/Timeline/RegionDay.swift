package import FuelModel

/// The state and regions whose averages count a station.
package struct CountedStation: Sendable {
  /// The station's state, as a position among the states of the calendar.
  package var state: Int
  /// Whether anybody may buy there, and not members only.
  package var isPublic: Bool
  /// The regions in which the station lies, as positions among the averaged regions.
  package var regions: [Int]

  package init(state: Int, isPublic: Bool, regions: [Int]) {
    self.state = state
    self.isPublic = isPublic
    self.regions = regions
  }
}

/// A region, reduced to what averages need.
package struct AveragedRegion: Sendable {
  package var code: String
  /// The position of its state; `nil` for a region over several states.
  package var state: Int?
  package var validFrom: Day?
  package var validTo: Day?
  /// Whether it is a whole state.
  package var isState: Bool
  /// Whether it is complete only when every state is.
  package var isNation: Bool
  /// The states in which a source has to cover a day that is complete. There are none for a nation,
  /// which is judged by the averages of its states.
  package var coveredIn: Set<Int> = []

  package init(
    code: String, state: Int?, validFrom: Day?, validTo: Day?, isState: Bool, isNation: Bool = false
  ) {
    self.code = code
    self.state = state
    self.validFrom = validFrom
    self.validTo = validTo
    self.isState = isState
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
  /// The number of stations from which a price is expected: those with a price in this month or the
  /// one before.
  package var expected: Int
  /// The share of the counted stations' day, as far as it has passed, for which a price is
  /// believed, in thousandths.
  package var coverage: Int
  package var isEnded: Bool
  /// Whether the day has ended, is settled (`SettledDay`) and rests on enough of the expected
  /// stations. For a nation the same must hold in every state.
  package var isComplete: Bool
  /// The number of complete states, and of all states. Both refer to 1 state for a region within a
  /// state.
  package var completeStates: Int
  package var states: Int
  /// The numbers of stations left out.
  package var left: StationsLeft

  /// Makes the averages of a day.
  ///
  /// - Parameters:
  ///   - means: those of the stations that count, in ascending order; at least one.
  ///   - covered: the sum of the shares of these stations' days for which a price is believed, in
  ///     65,536ths of a day.
  ///   - expected: the number of stations from which a price is expected.
  ///   - isSettled: whether the day is settled in every state of the region.
  init(
    of means: [Int32], covered: Int64, left: StationsLeft, expected: Int, region: String,
    fuelID: Int16, day: Day, isEnded: Bool, isSettled: Bool
  ) {
    // Converts 65,536ths of a tenth of a cent to hundredths of a cent.
    func cents(_ value: Double) -> Int { Int((value * 10 / StationDay.fraction).rounded()) }
    // Interpolates between two neighbours as PostgreSQL's `percentile_cont` does.
    func percentile(_ share: Double) -> Int {
      let rank = share * Double(means.count - 1)
      let low = Double(means[Int(rank)])
      let high = Double(means[min(Int(rank) + 1, means.count - 1)])
      return cents(low + (rank - Double(Int(rank))) * (high - low))
    }
    self.region = region
    self.fuelID = fuelID
    self.day = day
    self.left = left
    self.isEnded = isEnded
    average = cents(Double(means.reduce(0) { $0 + Int64($1) }) / Double(means.count))
    median = percentile(0.5)
    quarter = percentile(0.25)
    lowest = percentile(0)
    highest = percentile(1)
    stations = means.count
    self.expected = max(expected, means.count)
    let share = Double(covered) / StationDay.fraction / Double(means.count)
    coverage = min(1_000, Int((share * 1_000).rounded()))
    (isComplete, completeStates, states) = (false, 0, 1)
    isComplete = isEnded && isSettled && isUsable
    completeStates = isComplete ? 1 : 0
  }

  /// Whether verdicts may rest on the averages: they rest on enough stations, and a price is known
  /// for most of the expected stations' day as far as it has passed.
  package var isUsable: Bool {
    stations >= LeastSample.stations && coverage >= LeastSample.coverage
      && stations * coverage >= expected * DailyAverage.leastShare
  }

  /// How much of the expected stations' day must be known, in thousandths.
  package static let leastShare = 800
}

/// The stations that an average leaves out.
package struct StationsLeft: Sendable, Equatable {
  /// Those with prices that are too old, with doubtful prices only, and open to members only.
  package var stale: Int32 = 0
  package var flagged: Int32 = 0
  package var restricted: Int32 = 0
}

/// Makes the averages of regions from the days of stations, for at most one month at a time.
///
/// Every station counts once, with its mean of the day. Stations that are open to members only are
/// left out.
package struct RegionDays {
  private let stations: [Int32: CountedStation]
  private let regions: [AveragedRegion]
  private let calendar: PriceCalendar
  private let fuelIDs: [Int16]
  private let settled: Set<SettledDay>

  /// By region, fuel and day.
  private var sums: [Sum]
  private var expected: [Int]
  /// By fuel and state.
  private var expectedIn: [[Int]]

  private struct Sum {
    var means: [Int32] = []
    /// The states of these stations, a bit each.
    var states: UInt32 = 0
    var covered: Int64 = 0
    var left = StationsLeft()

    /// Counts a station's day.
    mutating func count(_ day: StationDay, share: Int64, of station: CountedStation) {
      let isPublic = station.isPublic
      switch day.standing {
      case .known where isPublic:
        means.append(day.mean)
        states |= 1 << station.state
        covered += share
      case .known: left.restricted += 1
      case .doubtful where isPublic: left.flagged += 1
      case .stale where isPublic: left.stale += 1
      default: break
      }
    }
  }

  /// Prepares the averages of some fuels over the days of a calendar.
  ///
  /// - Parameter settled: the days that can be complete.
  package init(
    fuelIDs: [Int16], calendar: PriceCalendar, stations: [Int32: CountedStation],
    regions: [AveragedRegion], settled: Set<SettledDay>
  ) {
    self.fuelIDs = fuelIDs
    self.calendar = calendar
    self.stations = stations
    self.regions = regions
    self.settled = settled
    sums = Array(repeating: Sum(), count: regions.count * fuelIDs.count * calendar.count)
    expected = Array(repeating: 0, count: regions.count * fuelIDs.count)
    expectedIn = Array(
      repeating: Array(repeating: 0, count: calendar.days.count), count: fuelIDs.count)
  }

  /// Counts a station from which a price is expected.
  package mutating func expect(_ stationID: Int32, fuelID: Int16) {
    guard let station = stations[stationID], station.isPublic,
      let fuel = fuelIDs.firstIndex(of: fuelID)
    else { return }
    for region in station.regions { expected[region * fuelIDs.count + fuel] += 1 }
    expectedIn[fuel][station.state] += 1
  }

  /// Adds consecutive days of a station.
  ///
  /// - Parameter first: the position in the calendar of the first of these days.
  package mutating func take(
    _ days: ArraySlice<StationDay>, of stationID: Int32, fuelID: Int16, from first: Int = 0
  ) {
    guard let station = stations[stationID], let fuel = fuelIDs.firstIndex(of: fuelID) else {
      return
    }
    let known = calendar.days[station.state]
    for position in days.indices where days[position].standing != .unknown {
      let stationDay = days[position]
      let day = first + position - days.startIndex
      guard day < known.count else { return }
      let share = stationDay.share(of: known[day].microseconds)
      for region in station.regions where regions[region].isValid(on: calendar.first + day) {
        sums[(region * fuelIDs.count + fuel) * calendar.count + day].count(
          stationDay, share: share, of: station)
      }
    }
  }

  /// Makes the averages of everything that was added.
  ///
  /// - Returns: the averages by region, fuel and day, in that order. There is none where no station
  ///   counts.
  package mutating func averages() -> [DailyAverage] {
    // Averages over several states wait for the state that publishes last, because without it they
    // would be over a different set of stations.
    let known = Set(stations.values.map(\.state))
    var averages: [DailyAverage] = []
    for region in regions.indices {
      for fuel in fuelIDs.indices {
        for day in 0..<calendar.count {
          let cell = (region * fuelIDs.count + fuel) * calendar.count + day
          guard !sums[cell].means.isEmpty,
            regions[region].state != nil
              || known.allSatisfy({ day < calendar.days[$0].count }),
            !regions[region].isNation || hasMostStates(sums[cell], fuel: fuel)
          else { continue }
          sums[cell].means.sort()
          averages.append(average(region: region, fuel: fuel, day: day))
        }
      }
    }
    settleNations(&averages)
    return averages
  }

  /// Whether the states without any known price have no more than a fifth of the stations from which
  /// a price is expected. A nation is no mean of one state.
  private func hasMostStates(_ sum: Sum, fuel: Int) -> Bool {
    let all = expectedIn[fuel].reduce(0, +)
    let present = expectedIn[fuel].indices.filter { sum.states & 1 << $0 != 0 }
    return present.reduce(0) { $0 + expectedIn[fuel][$1] } * 1_000 >= all * DailyAverage.leastShare
  }

  private func average(region: Int, fuel: Int, day: Int) -> DailyAverage {
    let sum = sums[(region * fuelIDs.count + fuel) * calendar.count + day]
    return DailyAverage(
      of: sum.means, covered: sum.covered, left: sum.left,
      expected: expected[region * fuelIDs.count + fuel], region: regions[region].code,
      fuelID: fuelIDs[fuel], day: calendar.first + day,
      isEnded: calendar.isEnded(day, in: regions[region].state),
      isSettled: regions[region].coveredIn.allSatisfy {
        settled.contains(SettledDay(calendar.first + day, fuelID: fuelIDs[fuel], state: $0))
      })
  }

  /// Completes the nations' averages with the number of complete states. A nation's average is
  /// complete where each of its states is settled, and complete wherever it sells the fuel.
  ///
  /// - Parameter averages: those of whole days, because a nation is judged by the states among them.
  private func settleNations(_ averages: inout [DailyAverage]) {
    let nations = Set(regions.filter(\.isNation).map(\.code))
    guard !nations.isEmpty else { return }
    // The region that is a whole state, by its position. Of several regions for one state the first
    // is taken.
    let states = Dictionary(
      regions.indices.filter { regions[$0].isState }.map { (regions[$0].state ?? -1, $0) },
      uniquingKeysWith: min)
    let codes = Set(states.values.map { regions[$0].code })
    var byState: [String: Bool] = [:]
    for average in averages where codes.contains(average.region) {
      byState["\(average.region) \(average.fuelID) \(average.day)"] = average.isComplete
    }
    for position in averages.indices where nations.contains(averages[position].region) {
      let day = averages[position].day
      let fuelID = averages[position].fuelID
      var complete = 0
      for state in calendar.days.indices
      where settled.contains(SettledDay(day, fuelID: fuelID, state: state)) {
        let isComplete = states[state].flatMap { byState["\(regions[$0].code) \(fuelID) \(day)"] }
        // Without an average the state counts as complete only if it has no station with this fuel,
        // or no region of its own by which it could be judged.
        let isNeeded = states[state].map { isSold(fuelID, in: $0) } ?? false
        if isComplete ?? !isNeeded { complete += 1 }
      }
      averages[position].completeStates = complete
      averages[position].states = calendar.days.count
      averages[position].isComplete =
        averages[position].isComplete && complete == calendar.days.count
    }
  }

  /// Whether a price of a fuel is expected anywhere in a region, given by its position.
  private func isSold(_ fuelID: Int16, in region: Int) -> Bool {
    fuelIDs.firstIndex(of: fuelID).map { expected[region * fuelIDs.count + $0] > 0 } ?? false
  }
}
