import FuelModel

/// Makes one station of a town and all its prices.
struct SiteMaker {
  let town: Town
  let number: Int
  let span: ClosedRange<Int>
  /// The town's price levels of unleaded and of diesel in cents, one for each day of the span.
  let levels: [Double]
  let diesel: [Double]
  var random: Random

  private static let brands: [(name: String, premium: Double, restates: Bool)] = [
    ("BP", 3, true), ("Ampol", 2, true), ("Shell", 2, true), ("7-Eleven", 0, true),
    ("Reddy Express", 1, true), ("United", -3, false), ("Metro Petroleum", -4, false),
    ("Independent", -2, false), ("Liberty", -1, false), ("Puma", 0, false),
  ]
  static var brandNames: [String] { brands.map { $0.name } }

  private static let first = [
    "Bel", "Glen", "Wood", "Kings", "Rose", "Clare", "Ash", "Brook", "Hazel", "Mill", "North",
    "South", "Oak", "River", "Sand", "Win",
  ]
  private static let second = [
    "mont", "field", "ville", "wood", "brook", "dale", "ton", "hurst", "lea", "grove", "haven",
    "bank", "ridge", "water",
  ]
  private static let streets = [
    "Pacific Hwy", "Station St", "Main Rd", "Victoria Pde", "Church St", "Albany Hwy", "Bridge Rd",
    "High St", "O'Connell St", "King & Queen Sts",
  ]

  mutating func make() -> Market.Site {
    let brand = random.pick(Self.brands)
    let suburb = random.pick(Self.first) + random.pick(Self.second)
    let street = "\(random.integer(1...420)) \(random.pick(Self.streets))"
    let (north, east) = (random.real(-1...1), random.real(-1...1))
    // What would lie in the sea lies nearer to the middle of the town.
    let town = town
    let position = (0...10).lazy.compactMap { step in
      let reach = town.radiusDegrees * Double(10 - step) / 10
      return Position(
        latitude: (town.latitude + north * reach).roundedTo6,
        longitude: (town.longitude + east * reach).roundedTo6)
    }.first(where: Coastline.hasLand)
    let station = Station(
      code: String(number), state: town.state, name: "\(brand.name) \(suburb)", brand: brand.name,
      address: street, suburb: suburb, postcode: pad(random.integer(town.postcodes), 4),
      position: position, isPublic: !random.chance(0.02))

    // Of a hundred stations, four open within twelve days of the middle of the span. Two close
    // later than that, up to two weeks after the span.
    let middle = (span.lowerBound + span.upperBound) / 2
    let opens = random.chance(0.04) ? random.integer(middle - 12...middle + 12) : span.lowerBound
    let closes = random.chance(0.02) ? random.integer(middle + 13...span.upperBound + 14) : Int.max
    var site = Market.Site(
      station: station, open: opens...closes, changes: [],
      restatesEvery: brand.restates ? random.integer(2...9) * 3_600 : nil, number: number)

    let offset = brand.premium + random.real(-2.5...2.5)
    let schedule = town.state == .wa ? dailySchedule() : eventSchedule()
    for (fuel, above, share) in fuels() where random.chance(share) {
      let isDiesel = fuel == .dl || fuel == .pdl
      let source = isDiesel ? diesel : fuel == .lpg ? levels.map { _ in 104.0 } : levels
      var changes = schedule.map { slot in
        Market.Change(
          at: slot.at, tenths: tenths(source[slot.follows] + above + offset + slot.noise))
      }
      runDry(&changes)
      site.changes.append((fuel, changes))
    }
    return site
  }

  /// The fuels that a station may sell: its cents above unleaded or diesel, and the share of
  /// stations that sell it.
  private func fuels() -> [(Fuel, Double, Double)] {
    var fuels: [(Fuel, Double, Double)] = [
      (.u91, 0, 1), (.p95, 14, 0.6), (.p98, 22, 0.85), (.dl, 0, 0.8), (.pdl, 4, 0.4),
      (.lpg, 0, 0.12),
    ]
    switch town.state {
    case .wa: break
    case .sa: fuels.append((.e10, -2, 0.25))
    case .tas, .nt: fuels.append((.e10, -2, 0.1))
    default: fuels.append((.e10, -2, 0.6))
    }
    return fuels
  }

  private struct Slot {
    var at: Instant
    /// The index of the day in the span whose level the price follows.
    var follows: Int
    var noise: Double
  }

  /// Western Australia: one price a day, from 06:00 in Perth.
  private mutating func dailySchedule() -> [Slot] {
    let lag = random.chance(0.85) ? 0 : 1
    return span.enumerated().compactMap { index, day in
      // Perth has no daylight saving time. 06:00 in Perth is 22:00 UTC of the day before.
      Slot(
        at: Instant(seconds: Int64(day) * 86_400 - 2 * 3_600), follows: max(0, index - lag),
        noise: random.real(-0.8...0.8))
    }
  }

  /// Returns how many days a station follows behind its town, and how likely it changes its prices
  /// on a day. Leaders follow at once and the others days later. A country station changes once in
  /// one or two weeks.
  private mutating func pace() -> (lag: Int, dailyChance: Double) {
    switch town.movement {
    case .sticky:
      let lag = random.integer(1...6)
      return (lag, random.real(0.06...0.16))
    case .longCycle, .weekly:
      let lag = random.chance(0.25) ? 0 : random.integer(1...4)
      return (lag, random.real(0.45...0.95))
    }
  }

  /// Other states: a station changes its prices at any time, mostly in the morning. In the Northern
  /// Territory a price is announced a day ahead and begins at 14:30 in Darwin, so that it changes at
  /// most once a day.
  private mutating func eventSchedule() -> [Slot] {
    let (lag, dailyChance) = pace()
    // Darwin has no daylight saving time. 14:30 in Darwin is 05:00 UTC.
    let announced = town.state == .nt ? 5 * 3_600 : nil
    var slots: [Slot] = []
    for (index, day) in span.enumerated() {
      guard index == 0 || random.chance(dailyChance) else { continue }
      // 19:00 to 02:00 UTC is 05:00 to noon in the eastern states.
      let second = announced ?? random.integer(-5 * 3_600...2 * 3_600)
      slots.append(
        Slot(
          at: Instant(seconds: Int64(day * 86_400 + second)), follows: max(0, index - lag),
          noise: random.real(-0.5...0.5)))
      if announced == nil, random.chance(0.08) {
        // A correction or another change, up to five hours later.
        let later = second + random.integer(600...5 * 3_600)
        slots.append(
          Slot(
            at: Instant(seconds: Int64(day * 86_400 + later)), follows: max(0, index - lag),
            noise: random.real(-2...2)))
      }
    }
    return slots
  }

  /// Sometimes makes a fuel unavailable from one change to the next.
  private mutating func runDry(_ changes: inout [Market.Change]) {
    guard town.state != .wa || random.chance(0.3) else { return }
    // The Northern Territory has few stations and few changes. With the usual chance, no fuel would
    // ever be out of stock there.
    let likelihood = town.state == .nt ? 0.03 : 0.004
    for index in changes.indices.dropFirst() where random.chance(likelihood) {
      changes[index].tenths = 0
    }
  }

  /// A price in tenths. About four of five prices end in .9.
  private mutating func tenths(_ cents: Double) -> Int {
    let whole = Int(cents.rounded(.down)) * 10
    return whole + (random.chance(0.82) ? 9 : random.pick([5, 7, 3, 0]))
  }
}

extension Double {
  fileprivate var roundedTo6: Double { (self * 1e6).rounded() / 1e6 }
}
