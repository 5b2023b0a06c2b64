/// The country whose prices a database holds: its states, its time zone and its extent.
package struct Country: Sendable {
  /// The region code of the nation: `AU`.
  package let code: String
  package let name: String
  /// The zone whose calendar days count for the nation.
  package let timeZone: Zone
  /// The range of latitudes of stations, in degrees; the longitudes follow.
  package let latitudes: ClosedRange<Double>
  package let longitudes: ClosedRange<Double>
  /// The number of digits of a postcode.
  package let postcodeDigits: Int
  package let states: [State]

  package init(
    code: String, name: String, timeZone: Zone, latitudes: ClosedRange<Double>,
    longitudes: ClosedRange<Double>, postcodeDigits: Int, states: [State]
  ) {
    self.code = code
    self.name = name
    self.timeZone = timeZone
    self.latitudes = latitudes
    self.longitudes = longitudes
    self.postcodeDigits = postcodeDigits
    self.states = states
  }

  package func state(_ code: String) -> State? { states.first { $0.code == code } }

  /// Whether a station can lie at a position. Swapped axes, a lost sign and 0,0 are the usual
  /// reasons why it cannot.
  package func contains(_ position: Position) -> Bool {
    latitudes.contains(position.latitude) && longitudes.contains(position.longitude)
  }

  /// Returns the latest calendar day that has begun anywhere in the country.
  package func newestDay(at instant: Instant) -> Day {
    states.map { $0.timeZone.local(instant).day }.reduce(timeZone.local(instant).day, max)
  }
}

/// The country where no other one is configured. Its feeds and archives name its states in code.
extension Country {
  package static let australia = Country(
    code: "AU", name: "Australia", timeZone: .sydney,
    // Includes the nearer islands.
    latitudes: -44.5 ... -9.0, longitudes: 96.0...168.0, postcodeDigits: 4,
    states: [.nsw, .act, .vic, .qld, .sa, .wa, .tas, .nt])
}

extension State {
  package static let nsw = State(
    code: "NSW", name: "New South Wales", timeZone: .sydney,
    zonesByPostcode: ["2880": .brokenHill, "2898": .lordHowe])
  package static let act = State(code: "ACT", name: "the ACT", timeZone: .sydney)
  package static let vic = State(code: "VIC", name: "Victoria", timeZone: .melbourne)
  package static let qld = State(code: "QLD", name: "Queensland", timeZone: .brisbane)
  package static let sa = State(code: "SA", name: "South Australia", timeZone: .adelaide)
  package static let wa = State(
    code: "WA", name: "Western Australia", timeZone: .perth, priceDayStarts: 6)
  package static let tas = State(code: "TAS", name: "Tasmania", timeZone: .hobart)
  package static let nt = State(code: "NT", name: "the Northern Territory", timeZone: .darwin)
}
