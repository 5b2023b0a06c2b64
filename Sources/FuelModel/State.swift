/// A state or territory, by its published abbreviation. Its price days are those of its zone.
package struct State: Sendable {
  /// As it is published: `NSW`.
  package let code: String
  /// As it stands in a sentence.
  package let name: String
  /// The zone whose local day is the state's price day.
  package let timeZone: Zone
  /// The local hour at which its price day begins.
  package let priceDayStarts: Int
  /// Where a part of it keeps another time, by postcode.
  package let zonesByPostcode: [String: Zone]

  package init(
    code: String, name: String, timeZone: Zone, priceDayStarts: Int = 0,
    zonesByPostcode: [String: Zone] = [:]
  ) {
    self.code = code
    self.name = name
    self.timeZone = timeZone
    self.priceDayStarts = priceDayStarts
    self.zonesByPostcode = zonesByPostcode
  }

  /// The zone of a place, which is not always its state's.
  package func timeZone(postcode: String?) -> Zone {
    postcode.flatMap { zonesByPostcode[$0] } ?? timeZone
  }
}

/// Of the states of a country one has a code.
extension State: Hashable {
  package static func == (left: State, right: State) -> Bool { left.code == right.code }
  package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
