package import Configuration
import Foundation
import FuelModel
package import Store

private struct EventTable: SettingTable {
  let on = Setting.text("on")
  let state = Setting.choice("state", Australia.states.map(\.code) + [""], "")
  let fuel = Setting.choice("fuel", Fuel.allCases.map(\.rawValue) + [""], "")
  let what = Setting.text("what")
  // In cents, with at most two decimals.
  let cpl = Setting.decimal("cpl", -500...500)
}

/// Reads events that affected the whole market from `events.json5`. A configuration without that
/// file has none.
package func marketEvents(file: String) throws(ConfigurationError) -> [MarketEvent] {
  guard FileManager.default.fileExists(atPath: file) else { return [] }
  var events: [MarketEvent] = []
  for settings in try Settings.list(file: file, EventTable()) {
    let place = settings.file
    guard let day = try day(settings.on, "on", place), !settings.what.isEmpty else {
      throw .wrongValue(
        key: "on", place: place,
        expected: "a day of the calendar such as 2026-07-01, with a text in what")
    }
    let (state, fuel) = (settings.state, settings.fuel)
    events.append(
      MarketEvent(
        day: day, state: state.isEmpty ? nil : state, fuel: fuel.isEmpty ? nil : fuel,
        what: settings.what.plain, cents: settings.cpl))
  }
  return events
}
