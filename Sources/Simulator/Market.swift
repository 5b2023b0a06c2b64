package import FuelModel

/// A synthetic market: stations of several states and every price they charge over a span of days,
/// all made from one seed.
///
/// City prices follow saw-tooth cycles with leaders and followers. Country prices change seldom.
/// Perth prices jump once a week, and each of them holds from 06:00 to 06:00. Stations open and
/// close, run out of a fuel, and restate prices that did not change. Every price of the market is
/// known exactly, so that the results of a pipeline can be compared with the truth.
package struct Market: Sendable {
  /// One station and its prices.
  package struct Site: Sendable {
    package var station: Station
    /// The days on which the station sells at all, counted from 1970-01-01.
    package var open: ClosedRange<Int>
    /// The price changes of each fuel in order of time. A change to 0 means that the fuel is not
    /// available.
    package var changes: [(fuel: Fuel, changes: [Change])]
    /// Seconds between the chain's restatements of unchanged prices. `nil` if the chain restates
    /// none.
    var restatesEvery: Int?
    /// A number that feeds may use as the station's id.
    package var number: Int
  }

  /// A station's price in tenths of a cent, and since when it holds.
  package struct Change: Sendable, Equatable {
    package var at: Instant
    package var tenths: Int
  }

  package let sites: [Site]
  package let seed: UInt64
  package let days: ClosedRange<Day>

  /// - Parameters:
  ///   - stations: about how many stations the towns of the first five states have. The other towns
  ///     of `Town.all` add about two fifths to that, and no town has fewer than four.
  ///   - days: the span of days for which feeds can be asked. Prices begin a week earlier.
  package init(seed: UInt64, stations: Int, days: ClosedRange<Day>) {
    self.seed = seed
    self.days = days
    let span = (days.lowerBound.sinceEpoch - 7)...(days.upperBound.sinceEpoch + 2)
    let wholesale = Self.walk(span, from: 158, step: 0.5, Random(seed: seed, "petrol"))
    let diesel = Self.walk(span, from: 176, step: 0.6, Random(seed: seed, "diesel"))
    var sites: [Site] = []
    for town in Town.all {
      let levels = town.levels(span, wholesale: wholesale, seed: seed)
      let dieselLevels = diesel.map { $0 + town.margin }
      for index in 0..<max(4, Int((Double(stations) * town.share).rounded())) {
        var maker = SiteMaker(
          town: town, number: sites.count + 1, span: span, levels: levels, diesel: dieselLevels,
          random: Random(seed: seed, town.name, index))
        sites.append(maker.make())
      }
    }
    self.sites = sites
  }

  /// - Parameter allStations: about how many stations the market has; no town has fewer than four.
  package init(seed: UInt64, allStations: Int, days: ClosedRange<Day>) {
    let shares = Town.all.reduce(0) { $0 + $1.share }
    self.init(
      seed: seed, stations: Int((Double(allStations) / shares).rounded()), days: days)
  }

  /// Returns the change in effect at an instant, or `nil` before the first change and on days when
  /// the station is not open.
  package func current(_ site: Site, _ fuel: Fuel, at instant: Instant) -> Change? {
    // In Western Australia stations open and close with the price day, which begins at 22:00 UTC.
    let shift: Int64 = site.station.state == .wa ? 7_200 : 0
    let day = Int(floorDivide(instant.seconds + shift, by: 86_400))
    guard site.open.contains(day),
      let changes = site.changes.first(where: { $0.fuel == fuel })?.changes
    else { return nil }
    guard var change = changes.last(where: { $0.at <= instant }) else { return nil }
    // A change before the opening counts from the opening.
    let opening = Instant(seconds: Int64(site.open.lowerBound) * 86_400 - shift)
    change.at = max(change.at, opening)
    return change
  }

  /// A random walk that is pulled back towards its first value.
  private static func walk(
    _ span: ClosedRange<Int>, from level: Double, step: Double, _ random: Random
  ) -> [Double] {
    var random = random
    var value = level
    return span.map { _ in
      value += random.real(-step...step) + (level - value) * 0.02
      return value
    }
  }
}

extension Zone {
  /// Returns the instant of a local hour. The hour must exist exactly once, as all do on most days:
  /// clocks change at 02:00 and 03:00 only.
  func instant(of hour: Int, on day: Day) -> Instant {
    do {
      return try instant(day, hour: hour)
    } catch {
      preconditionFailure("\(day) \(hour):00 is not one instant in \(rawValue)")
    }
  }
}
