package import Configuration
import Foundation
package import FuelModel
package import Store

/// Reads events that affected the whole market from `events.json5`. A configuration without that
/// file has none.
package func marketEvents(
  file: String, in country: Country = .australia
) throws(ConfigurationError) -> [MarketEvent] {
  guard FileManager.default.fileExists(atPath: file) else { return [] }
  let place = String(file.split(separator: "/").last ?? "events.json5")
  let table = [
    Setting("on", .text),
    Setting("state", .choice(country.states.map(\.code) + [""]), .text("")),
    Setting("fuel", .choice(Fuel.allCases.map(\.rawValue) + [""]), .text("")),
    Setting("what", .text),
    // In cents, with at most two decimals.
    Setting("cpl", .decimal(-500...500), .null),
  ]
  var events: [MarketEvent] = []
  for settings in try Settings.list(file: file, table) {
    guard let day = try day("on", settings, place), !settings.text("what").isEmpty else {
      throw .wrongValue(
        key: "on", place: place, expected: "a day such as 2026-07-01, with a text in what")
    }
    let (state, fuel) = (settings.text("state"), settings.text("fuel"))
    events.append(
      MarketEvent(
        day: day, state: state.isEmpty ? nil : state, fuel: fuel.isEmpty ? nil : fuel,
        what: settings.text("what").plain, cents: settings.decimal("cpl")))
  }
  return events
}
