package import FuelModel

/// A synthetic market: stations over the states and every price they charge over a span of days,
/// all from one seed.
///
/// Cities move in saw-teeth with leaders and followers, the country is sticky, Perth jumps once a week
/// and fixes each price from 06:00 to 06:00. Stations open and close, run out of a fuel, and restate
/// prices that did not change. What it charges is known exactly, so that a pipeline fed by it can be
/// held against the truth.
package struct Market: Sendable {
  /// One station and what it charges.
  package struct Site: Sendable {
    package var station: Station
    /// Days on which it sells at all.
    package var open: ClosedRange<Int>
    /// Price changes per fuel in order of time; 0 is «not available».
    package var changes: [(fuel: Fuel, changes: [Change])]
    /// Seconds between the chain's restatements of unchanged prices; `nil`: it does not restate.
    var restatesEvery: Int?
    /// A number that feeds may use as its id.
    package var number: Int
  }

  package struct Change: Sendable, Equatable {
    package var at: Instant
    package var tenths: Int
  }

  package let sites: [Site]
  package let seed: UInt64
  package let days: ClosedRange<Day>

  /// - Parameters:
  ///   - stations: how many in all.
  ///   - days: the span in which feeds can be asked; prices exist from a week before.
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

  /// What a station charges for a fuel at an instant; `nil` where it sells none.
  package func price(_ site: Site, _ fuel: Fuel, at instant: Instant) -> Price? {
    guard let change = current(site, fuel, at: instant) else { return nil }
    return Price(tenths: change.tenths)
  }

  /// The change in force at an instant; `nil` before the first and outside the station's life.
  func current(_ site: Site, _ fuel: Fuel, at instant: Instant) -> Change? {
    // In Western Australia stations come and go with the price day, which begins at 22:00 UTC.
    let shift: Int64 = site.station.state == .wa ? 7_200 : 0
    let day = Int(floorDivide(instant.seconds + shift, by: 86_400))
    guard site.open.contains(day),
      let changes = site.changes.first(where: { $0.fuel == fuel })?.changes
    else { return nil }
    guard var change = changes.last(where: { $0.at <= instant }) else { return nil }
    // Nobody has charged anything before the day of the opening.
    let opening = Instant(seconds: Int64(site.open.lowerBound) * 86_400 - shift)
    change.at = max(change.at, opening)
    return change
  }

  /// A random walk that is pulled back to where it began.
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

func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
  value >= 0 ? value / divisor : (value - divisor + 1) / divisor
}
