package import Configuration
import FuelModel
package import Store

private struct DecisionTable: SettingTable {
  let on = Setting.text("on")
  // The name of a feed or archive, a blank, and the station code there.
  let station = Setting.text("station")
  let isSame = Setting.choice("is", ["same", "another"])
  let other = Setting.text("as")
  let why = Setting.text("why")
}

/// Reads from `stations.json5` which station records a person declared to be one station or two.
package func decisions(file: String) throws(ConfigurationError) -> [StationDecision] {
  var decisions: [StationDecision] = []
  for settings in try Settings.list(file: file, DecisionTable()) {
    let place = settings.file
    func record(_ text: String, _ key: String) throws(ConfigurationError) -> (String, String) {
      let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw .wrongValue(
          key: key, place: place, expected: "a feed or archive and one of its station codes")
      }
      return (parts[0], parts[1])
    }
    guard let on = try day(settings.on, "on", place) else {
      throw .wrongValue(
        key: "on", place: place, expected: "a day of the calendar such as 2026-07-01")
    }
    let first = try record(settings.station, "station")
    let second = try record(settings.other, "as")
    guard first != second else {
      throw .wrongValue(
        key: "as", place: place, expected: "another record than that of 'station'")
    }
    let decision = StationDecision(
      day: on, firstSource: first.0, firstCode: first.1, secondSource: second.0,
      secondCode: second.1, isSame: settings.isSame == "same", reason: settings.why)
    guard
      !decisions.contains(where: {
        Set([$0.firstSource + " " + $0.firstCode, $0.secondSource + " " + $0.secondCode])
          == Set([first.0 + " " + first.1, second.0 + " " + second.1])
      })
    else {
      throw .wrongValue(
        key: "as", place: place, expected: "a record that no earlier entry pairs with 'station'")
    }
    decisions.append(decision)
  }
  return decisions
}

/// Returns a sentence for each record that a decision names and that no feed or archive has
/// reported: it may be misspelt, or its station may come later.
package func unknownRecords(of decisions: [StationDecision], _ store: Store) throws -> [String] {
  guard !decisions.isEmpty else { return [] }
  let named = Set(decisions.flatMap { [$0.firstSource, $0.secondSource] })
  let known = try store.stations.stationCodes(of: named.sorted())
  var sentences: [String] = []
  for (index, decision) in decisions.enumerated() {
    for (key, source, code) in [
      ("station", decision.firstSource, decision.firstCode),
      ("as", decision.secondSource, decision.secondCode),
    ] {
      if known[source]?.contains(code) ?? false { continue }
      sentences.append(
        "stations.json5, entry \(index + 1): '\(key)' names "
          + (known[source] == nil
            ? "'\(source)', from which no station has come yet"
            : "'\(code)', a station that \(source) has not reported"))
    }
  }
  return sentences
}
