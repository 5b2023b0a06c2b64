/// A state or territory, identified by its published abbreviation.
package struct State: Sendable {
  /// The published abbreviation: `NSW`.
  package let code: String
  /// The name as it is written within a sentence.
  package let name: String
  /// The words of the name as addresses have it, in capitals.
  let nameInAddresses: [String]
  /// The zone whose local day is the state's price day.
  package let timeZone: Zone
  /// The local hour at which the state's price day begins.
  package let priceDayStarts: Int
  /// The digits with which postcodes begin: the first is the state's own; the others are of places near
  /// its borders.
  let postcodesBegin: String
  /// The range of latitudes of its places, in degrees; the longitudes follow.
  let latitudes: ClosedRange<Double>
  let longitudes: ClosedRange<Double>
  /// The zones of those parts of the state that keep another time, by postcode.
  package let zonesByPostcode: [String: Zone]

  init(
    code: String, name: String, timeZone: Zone, priceDayStarts: Int = 0,
    postcodesBegin: String, latitudes: ClosedRange<Double>, longitudes: ClosedRange<Double>,
    zonesByPostcode: [String: Zone] = [:]
  ) {
    self.code = code
    self.name = name
    let words = name.uppercased().split(separator: " ").map(String.init)
    nameInAddresses = words.first == "THE" ? Array(words.dropFirst()) : words
    self.timeZone = timeZone
    self.priceDayStarts = priceDayStarts
    self.postcodesBegin = postcodesBegin
    self.latitudes = latitudes
    self.longitudes = longitudes
    self.zonesByPostcode = zonesByPostcode
  }

  /// Returns the price day at an instant.
  package func priceDay(at instant: Instant) -> Day {
    timeZone.local(instant + .seconds(-3_600 * Int64(priceDayStarts))).day
  }

  /// Whether a postcode may be of this state.
  func mayHave(postcode: String) -> Bool {
    postcode.first.map(postcodesBegin.contains) ?? true
  }

  /// Whether a position lies in the rectangle around the state, or at most so many degrees from it.
  func mayHave(_ position: Position, within degrees: Double = 0) -> Bool {
    latitudes.lowerBound - degrees <= position.latitude
      && position.latitude <= latitudes.upperBound + degrees
      && longitudes.lowerBound - degrees <= position.longitude
      && position.longitude <= longitudes.upperBound + degrees
  }

  /// Returns the zone of a postcode, which is not always the zone of its state.
  package func timeZone(postcode: String?) -> Zone {
    postcode.flatMap { zonesByPostcode[$0] } ?? timeZone
  }
}

/// The code identifies a state.
extension State: Hashable {
  package static func == (left: State, right: State) -> Bool { left.code == right.code }
  package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
