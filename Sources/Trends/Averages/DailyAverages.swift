package import FuelModel

/// Where a place counts.
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

/// The price days of a span in every state: when each begins and ends, as far as it has passed.
package struct PriceCalendar: Sendable {
  package struct PriceDay: Sendable {
    package var beginsAt: Instant
    /// Not later than what is known of the state.
    package var endsAt: Instant
    package var isEnded: Bool

    var microseconds: Double { Double(endsAt.microseconds - beginsAt.microseconds) }

    package init(beginsAt: Instant, endsAt: Instant, isEnded: Bool) {
      self.beginsAt = beginsAt
      self.endsAt = endsAt
      self.isEnded = isEnded
    }
  }

  package let first: Day
  package let count: Int
  /// By state; only days that have begun there.
  package let days: [[PriceDay]]

  package init(first: Day, count: Int, days: [[PriceDay]]) {
    self.first = first
    self.count = count
    self.days = days
  }

  package var beginsAt: Instant { days.compactMap(\.first?.beginsAt).min() ?? .distantPast }
  package var endsAt: Instant { days.compactMap(\.last?.endsAt).max() ?? .distantPast }
}

/// A station's usual place beside the smallest region it lies in: the middle of its days' prices less the
/// region's averages, hundredths of a cent per litre.
package struct StationHabit: Sendable, Equatable {
  package var placeID: Int32
  package var fuelID: Int16
  package var region: String
  package var difference: Int
  /// On how many days both were known.
  package var days: Int
}

/// A region as averages need it.
package struct AveragedRegion: Sendable {
  package var code: String
  /// `nil`: of all states.
  package var state: Int?
  package var validFrom: Day?
  package var validTo: Day?
  /// How far it reaches, for which of several is the smallest.
  package var reach: Double

  package init(code: String, state: Int?, validFrom: Day?, validTo: Day?, reach: Double) {
    self.reach = reach
    self.code = code
    self.state = state
    self.validFrom = validFrom
    self.validTo = validTo
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
  /// Thousandths of those stations' day, so far as it has passed, with a believed price.
  package var coverage: Int
  package var isEnded: Bool
  /// Places left out: told but not seen for too long; doubtful; for members only.
  package var excludedStale: Int
  package var excludedFlagged: Int
  package var excludedRestricted: Int

  /// Of enough stations, for most of the day so far: what verdicts may rest on.
  package var isUsable: Bool { stations >= 3 && coverage >= 750 }
}

/// A price so far from the level of its state on a day that it may be a mistake.
package struct FarPrice: Hashable, Sendable {
  package var placeID: Int32
  package var fuelID: Int16
  package var sourceID: Int16
  package var stationID: Int32
  package var price: Int32
  package var effectiveAt: Instant
  package var day: Day
  /// When it begins to count on that day.
  package var fromAt: Instant
}

/// Computes daily averages of a span of price days from the events of every place and fuel.
///
/// A place counts once, with its time-weighted price over the part of the day for which a price is
/// believed. Places for members only are left out, and so are doubtful prices. Three steps: `take`
/// every pair's events, ask which of `farPrices` are doubtful, then `averages`.
package struct DailyAverages {
  private let rules: [Int16: SourceRules]
  private let places: [Int32: Place]
  private let regions: [AveragedRegion]
  private let regionSets: [[Int]]
  private let calendar: PriceCalendar
  private let sightings: Sightings
  private let fuelIDs: [Int16]
  private var held: [Belief] = []
  /// The levels of states to judge by: prices of each state, fuel and day, and of how many places.
  private var samples: [[Int32]]
  private var sampled: [Int]

  // A level over fewer places is none.
  private static let leastPlaces = 8
  // A station's mean in 65,536ths of a tenth of a cent: whole numbers add up the same in any order.
  private static let fraction = 65_536.0

  package init(
    fuelIDs: [Int16], calendar: PriceCalendar, rules: [Int16: SourceRules],
    places: [Int32: Place], regions: [AveragedRegion], regionSets: [[Int]], sightings: Sightings
  ) {
    self.regionSets = regionSets
    self.fuelIDs = fuelIDs
    self.calendar = calendar
    self.rules = rules
    self.places = places
    self.regions = regions
    self.sightings = sightings
    let cells = calendar.days.count * fuelIDs.count * calendar.count
    samples = Array(repeating: [], count: cells)
    sampled = Array(repeating: 0, count: cells)
  }

  /// Takes the events of one place and fuel: all in the span, and the last of each record before it.
  package mutating func take(_ events: inout [PriceEvent]) {
    guard let first = events.first, let place = places[first.placeID],
      let fuel = fuelIDs.firstIndex(of: first.fuelID),
      let ends = calendar.days[place.state].last?.endsAt
    else { return }
    let days = calendar.days[place.state]
    let firstCell = cell(place.state, fuel, 0)
    let begin = held.count
    beliefs(
      &events, rules: rules, sightings: sightings, windowEndsAt: ends, into: &held)
    guard place.isPublic else { return }
    var last = -1
    for belief in held[begin...] {
      forEachPart(of: belief, in: days) { day, _, _ in
        samples[firstCell + day].append(belief.price)
        if day != last { sampled[firstCell + day] += 1 }
        last = day
      }
    }
  }

  private func cell(_ state: Int, _ fuel: Int, _ day: Int) -> Int {
    (state * fuelIDs.count + fuel) * calendar.count + day
  }

  /// Prices that lie six times the usual spread from the level of their state, fuel and day.
  package mutating func farPrices() -> [FarPrice] {
    var limits: [ClosedRange<Int32>?] = []
    limits.reserveCapacity(samples.count)
    for cell in samples.indices {
      limits.append(
        sampled[cell] >= Self.leastPlaces ? Self.usual(&samples[cell]) : nil)
      samples[cell] = []
    }
    var found: [FarPrice] = []
    for belief in held {
      guard let place = places[belief.placeID], place.isPublic,
        let fuel = fuelIDs.firstIndex(of: belief.fuelID)
      else { continue }
      forEachPart(of: belief, in: calendar.days[place.state]) { day, from, _ in
        guard let limit = limits[cell(place.state, fuel, day)], !limit.contains(belief.price)
        else { return }
        found.append(far(belief, day: day, from: from))
      }
    }
    return found
  }

  /// Six spreads around the median. The spread is the median distance from it, scaled to a standard
  /// deviation, and at least 4 % of it; as in `fuel.refresh_flags`.
  static func usual(_ prices: inout [Int32]) -> ClosedRange<Int32> {
    prices.sort()
    let half = (prices.count + 1) / 2
    let middle = prices[half - 1]
    // The distances in order of size, from both sides of the median outward.
    var below = half - 1
    var above = half
    var distance: Int32 = 0
    for _ in 0..<half {
      let down = below >= 0 ? middle - prices[below] : .max
      let up = above < prices.count ? prices[above] - middle : .max
      distance = min(down, up)
      if down <= up { below -= 1 } else { above += 1 }
    }
    let spread = max(Double(distance) * 1.4826, Double(middle) * 0.04).rounded()
    return middle - 6 * Int32(spread)...middle + 6 * Int32(spread)
  }

  /// What a region, fuel and day collects.
  private struct Sum {
    var means: [Int32] = []
    /// Shares of their days, in 65,536ths.
    var covered: Int64 = 0
    var stale = 0
    var flagged = 0
    var restricted = 0
  }

  private func isValid(_ region: Int, on day: Int) -> Bool {
    let date = calendar.first + day
    if let from = regions[region].validFrom, date < from { return false }
    if let until = regions[region].validTo, date >= until { return false }
    return true
  }

  /// One pair day by day: price times time, time, and what was left out.
  private struct PairDays {
    var weighted: [Int64]
    var lasting: [Int64]
    var isDoubted: [Bool]
    var isTold: [Bool]

    init(count: Int) {
      weighted = Array(repeating: 0, count: count)
      lasting = weighted
      isDoubted = Array(repeating: false, count: count)
      isTold = isDoubted
    }

    mutating func clear() {
      for day in weighted.indices {
        weighted[day] = 0
        lasting[day] = 0
        isDoubted[day] = false
        isTold[day] = false
      }
    }

    /// Of a day that has some time.
    func mean(_ day: Int) -> Int32 {
      Int32((Double(weighted[day]) / Double(lasting[day]) * DailyAverages.fraction).rounded())
    }
  }

  /// Walks over every place and fuel: the place, its number, the fuel's position, and its days.
  private func forEachPair(
    without doubtful: Set<FarPrice>, _ body: (Place, Int32, Int, PairDays) -> Void
  ) {
    var pair = PairDays(count: calendar.count)
    var position = 0
    while position < held.count {
      let begin = position
      let (placeID, fuelID) = (held[begin].placeID, held[begin].fuelID)
      while position < held.count, held[position].placeID == placeID,
        held[position].fuelID == fuelID
      { position += 1 }
      guard let place = places[placeID], let fuel = fuelIDs.firstIndex(of: fuelID) else { continue }
      pair.clear()
      for belief in held[begin..<position] {
        forEachPart(of: belief, in: calendar.days[place.state]) { day, from, until in
          if !doubtful.isEmpty,
            doubtful.contains(far(belief, day: day, from: from))
          {
            pair.isDoubted[day] = true
            return
          }
          let time = until.microseconds - from.microseconds
          pair.weighted[day] += Int64(belief.price) * time
          pair.lasting[day] += time
        }
        if belief.endsAt < belief.heldUntil {
          var told = belief
          told.beginsAt = max(belief.beginsAt, belief.endsAt)
          told.endsAt = belief.heldUntil
          forEachPart(of: told, in: calendar.days[place.state]) { day, _, _ in
            pair.isTold[day] = true
          }
        }
      }
      body(place, placeID, fuel, pair)
    }
  }

  private func far(_ belief: Belief, day: Int, from: Instant) -> FarPrice {
    FarPrice(
      placeID: belief.placeID, fuelID: belief.fuelID, sourceID: belief.sourceID,
      stationID: belief.stationID, price: belief.price,
      effectiveAt: belief.effectiveAt, day: calendar.first + day, fromAt: from)
  }

  /// Where every place usually stands beside its smallest region.
  ///
  /// - Parameters:
  ///   - averages: of the same span.
  ///   - leastDays: with fewer days there is no usual place.
  package func habits(
    beside averages: [DailyAverage], without doubtful: Set<FarPrice>, leastDays: Int
  ) -> [StationHabit] {
    let count = calendar.count
    let positions = Dictionary(
      uniqueKeysWithValues: regions.enumerated().map { ($0.element.code, $0.offset) })
    var regional = Array(repeating: Int32?.none, count: regions.count * fuelIDs.count * count)
    for average in averages where average.isEnded && average.stations >= 3 {
      guard let region = positions[average.region],
        let fuel = fuelIDs.firstIndex(of: average.fuelID)
      else { continue }
      let day = average.day.sinceEpoch - calendar.first.sinceEpoch
      regional[(region * fuelIDs.count + fuel) * count + day] = Int32(average.average)
    }
    var habits: [StationHabit] = []
    forEachPair(without: doubtful) { place, placeID, fuel, pair in
      guard
        let region = regionSets[place.regionSet].min(by: {
          (regions[$0].reach, regions[$0].code) < (regions[$1].reach, regions[$1].code)
        })
      else { return }
      var differences: [Int] = []
      for day in calendar.days[place.state].indices where pair.lasting[day] > 0 {
        guard let average = regional[(region * fuelIDs.count + fuel) * count + day] else {
          continue
        }
        differences.append(
          Int((Double(pair.mean(day)) * 10 / Self.fraction).rounded()) - Int(average))
      }
      guard differences.count >= leastDays else { return }
      differences.sort()
      let half = differences.count / 2
      habits.append(
        StationHabit(
          placeID: placeID, fuelID: fuelIDs[fuel], region: regions[region].code,
          difference: differences.count % 2 == 1
            ? differences[half] : (differences[half - 1] + differences[half]) / 2,
          days: differences.count))
    }
    return habits
  }

  /// - Parameter doubtful: which of `farPrices` do not count.
  /// - Returns: in order of region, fuel and day; none without a place that counts.
  package func averages(without doubtful: Set<FarPrice>) -> [DailyAverage] {
    let count = calendar.count
    var sums = Array(repeating: Sum(), count: regions.count * fuelIDs.count * count)
    // By state, fuel and day, each mean with the set of regions it counts in: sorted once for all of them.
    var means = Array(
      repeating: [UInt64](), count: calendar.days.count * fuelIDs.count * count)
    forEachPair(without: doubtful) { place, _, fuel, pair in
      let days = calendar.days[place.state]
      for day in days.indices {
        guard pair.lasting[day] > 0 || pair.isDoubted[day] || pair.isTold[day] else { continue }
        if pair.lasting[day] > 0, place.isPublic {
          means[cell(place.state, fuel, day)].append(
            UInt64(pair.mean(day)) << 32 | UInt64(place.regionSet))
        }
        for region in regionSets[place.regionSet] {
          let cell = (region * fuelIDs.count + fuel) * count + day
          if pair.lasting[day] > 0, place.isPublic {
            sums[cell].covered += Int64(
              (Double(pair.lasting[day]) / days[day].microseconds * Self.fraction).rounded())
          } else if !place.isPublic {
            if pair.lasting[day] > 0 { sums[cell].restricted += 1 }
          } else if pair.isDoubted[day] {
            sums[cell].flagged += 1
          } else {
            sums[cell].stale += 1
          }
        }
      }
    }
    for state in calendar.days.indices {
      for fuel in fuelIDs.indices {
        for day in 0..<count {
          let known = cell(state, fuel, day)
          means[known].sort()
          for entry in means[known] {
            for region in regionSets[Int(entry & 0xffff_ffff)] where isValid(region, on: day) {
              sums[(region * fuelIDs.count + fuel) * count + day].means.append(Int32(entry >> 32))
            }
          }
          means[known] = []
        }
      }
    }
    // A region over several states has a day once it has begun in each of them: without one of them it
    // would be another mean.
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
          averages.append(average(of: sums[cell], region: region, fuel: fuel, day: day))
        }
      }
    }
    return averages
  }

  /// - Parameter sum: its means in order of size.
  private func average(of sum: Sum, region: Int, fuel: Int, day: Int) -> DailyAverage {
    // Hundredths of a cent.
    func cents(_ value: Double) -> Int { Int((value * 10 / Self.fraction).rounded()) }
    let means = sum.means
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
    return DailyAverage(
      region: regions[region].code, fuelID: fuelIDs[fuel], day: calendar.first + day,
      average: cents(Double(total) / Double(means.count)), median: cents(percentile(0.5)),
      quarter: cents(percentile(0.25)), lowest: cents(Double(means[0])),
      highest: cents(Double(means[means.count - 1])), stations: means.count,
      coverage: min(
        1_000, Int((Double(sum.covered) / Self.fraction / Double(means.count) * 1_000).rounded())),
      isEnded: states.allSatisfy { state in
        day < calendar.days[state].count && calendar.days[state][day].isEnded
      },
      excludedStale: sum.stale, excludedFlagged: sum.flagged, excludedRestricted: sum.restricted)
  }
}

/// The parts of a belief that fall into the price days of its state: day, from and until.
@inline(__always)
private func forEachPart(
  of belief: Belief, in days: [PriceCalendar.PriceDay], _ body: (Int, Instant, Instant) -> Void
) {
  guard let first = days.first?.beginsAt, belief.endsAt > first else { return }
  // Days are 23 to 25 hours long: the guess is at most a day late.
  let ahead = max(0, belief.beginsAt.microseconds - first.microseconds)
  var day = max(0, min(days.count - 1, Int(ahead / 86_400_000_000)) - 1)
  while day < days.count, days[day].beginsAt < belief.endsAt {
    let from = max(belief.beginsAt, days[day].beginsAt)
    let until = min(belief.endsAt, days[day].endsAt)
    if from < until { body(day, from, until) }
    day += 1
  }
}
