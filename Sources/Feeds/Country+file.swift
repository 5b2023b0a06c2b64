package import Configuration
import Foundation
package import FuelModel

extension Country {
  private struct Table: SettingTable {
    let country = Setting.text("country")
    let name = Setting.text("name")
    let timeZone = Setting.text("timeZone")
    // From south to north and from west to east, such as '-44.5 to -9'.
    let latitudes = Setting.text("latitudes")
    let longitudes = Setting.text("longitudes")
    let postcodeDigits = Setting.integer("postcodeDigits", 1...10)
    // The name, the zone and, unless it is 0, the hour at which price days begin, by the code of
    // the state: { WA: 'Western Australia, Australia/Perth, 6' }.
    let states = Setting.texts("states")
    // Parts of a state that keep another time: { 'NSW 2880': 'Australia/Broken_Hill' }.
    let zones = Setting.texts("zones", [:])
  }

  private static let place = "country.json5"

  /// Reads `country.json5` of a configuration folder.
  ///
  /// - Returns: `nil` where there is no such file; the country is then Australia.
  package init?(folder: String) throws(ConfigurationError) {
    let file = folder + "/" + Self.place
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    let settings = try Settings(
      Table(), file: try Value.table(file: file), place: Self.place,
      variablePrefix: "BOWSER_COUNTRY", environment: [:])
    let states = try Self.states(settings)
    let code = settings.country
    guard code.wholeMatch(of: /[A-Z]{2,8}/) != nil, !states.contains(where: { $0.code == code })
    else {
      throw Self.wrong("country", expected: "capital letters, and not the code of a state")
    }
    self.init(
      code: code, name: settings.name,
      timeZone: try Self.zone(settings.timeZone, "timeZone"),
      latitudes: try Self.range(settings.latitudes, "latitudes", within: 90),
      longitudes: try Self.range(settings.longitudes, "longitudes", within: 180),
      postcodeDigits: settings.postcodeDigits,
      states: states)
  }

  private static func wrong(_ key: String, expected: String) -> ConfigurationError {
    .wrongValue(key: key, place: place, expected: expected)
  }

  private static func states(_ settings: Settings<Table>) throws(ConfigurationError) -> [State] {
    let parts = try zonesOfParts(settings)
    var states: [State] = []
    for (code, text) in settings.states.sorted(by: { $0.key < $1.key }) {
      let words = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      let starts = words.count == 3 ? Int(words[2]) : 0
      guard (2...3).contains(words.count), let starts, (0...12).contains(starts),
        code.wholeMatch(of: /[A-Z0-9]{1,8}/) != nil
      else {
        throw wrong("states", expected: "a name, a zone and optionally an hour for \(code)")
      }
      states.append(
        State(
          code: code, name: words[0], timeZone: try zone(words[1], "states"),
          priceDayStarts: starts, zonesByPostcode: parts[code] ?? [:]))
    }
    guard !states.isEmpty else { throw wrong("states", expected: "at least one state") }
    return states
  }

  /// Returns the zones of parts of states, by state and postcode.
  private static func zonesOfParts(
    _ settings: Settings<Table>
  ) throws(ConfigurationError) -> [String: [String: Zone]] {
    var parts: [String: [String: Zone]] = [:]
    for (part, name) in settings.zones {
      let words = part.split(separator: " ").map(String.init)
      guard words.count == 2, settings.states[words[0]] != nil else {
        throw wrong("zones", expected: "a state and a postcode for \(part)")
      }
      parts[words[0], default: [:]][words[1]] = try zone(name, "zones")
    }
    return parts
  }

  private static func zone(_ name: String, _ key: String) throws(ConfigurationError) -> Zone {
    // Other names, such as GMT+2, mean something else to the database.
    guard let zone = Zone(rawValue: name),
      name == "UTC" || TimeZone.knownTimeZoneIdentifiers.contains(name)
    else { throw wrong(key, expected: "an IANA zone such as Europe/Berlin") }
    return zone
  }

  private static func range(
    _ text: String, _ key: String, within limit: Double
  ) throws(ConfigurationError) -> ClosedRange<Double> {
    let ends = text.split(separator: " to ").compactMap { Double($0) }
    guard ends.count == 2, ends[0] < ends[1], ends[0] >= -limit, ends[1] <= limit
    else { throw wrong(key, expected: "degrees such as '47.2 to 55.1'") }
    return ends[0]...ends[1]
  }

  /// Returns the state that the setting `state` of a configuration file names.
  package func state(
    named code: String, place: String
  ) throws(ConfigurationError) -> State {
    guard let state = state(code) else {
      throw .wrongValue(
        key: "state", place: place,
        expected: "one of \(states.map(\.code).joined(separator: ", "))")
    }
    return state
  }
}
