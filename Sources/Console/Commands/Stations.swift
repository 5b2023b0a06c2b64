import FuelModel
import Pipeline
import Store

let stationsCommand = Command(
  name: "stations",
  summary: "Show which records of feeds and archives are one station, and why.",
  operands: "[ID...]",
  examples: [
    ("bowser stations --explain 1089", "every record of a station and how it was matched"),
    (
      "bowser stations --doubtful",
      "pairs that may be one station, each with its score and the line to paste"
    ),
  ],
  options: [
    .init(name: "explain", about: "show the records of stations; each operand is a station_id"),
    .init(name: "doubtful", about: "list pairs that may be one station, the most likely first"),
  ],
  notes: """
    Decisions belong in config/stations.json5; `bowser aggregate` applies them. Paste the line of a pair
    there and state why; write 'another' instead of 'same' if they are two stations. --doubtful also says
    which stations of that file no feed or archive has reported: they may be misspelt. The score, from 0
    to 100, is computed from names, addresses and whether one record begins where the other ends. The
    view fuel_v1.station_records shows how records were matched.
    """
) { invocation in
  let isExplaining = invocation.flags.contains("explain")
  guard isExplaining != invocation.flags.contains("doubtful") else {
    throw UsageError.message("use either --explain ID... or --doubtful")
  }
  let store = try invocation.store(try invocation.settings())
  if isExplaining {
    guard !invocation.operands.isEmpty else {
      throw UsageError.message("name a station by its station_id, such as 1089")
    }
    let explained = try invocation.operands.map { operand in
      let advice = "bowser show NAME --json shows the station_id of stations by name"
      guard let number = Int(operand) else {
        throw UsageError.message("'\(operand)' is no station_id such as 1089; \(advice)")
      }
      let records = try store.stations.describedRecords(ofStation: number)
      guard !records.isEmpty else {
        throw UsageError.message("no station \(number); \(advice)")
      }
      return (number, records)
    }
    for (number, records) in explained { write(explain(number, records)) }
  } else {
    guard invocation.operands.isEmpty else {
      throw UsageError.message("--doubtful takes no operands")
    }
    let file = try invocation.configurationFolder() + "/stations.json5"
    for sentence in try unknownRecords(of: try decisions(file: file), store) {
      writeError(sentence)
    }
    let pairs = try store.stations.doubtfulPairs()
    let today = String(try invocation.clock().now().description.prefix(10))
    for pair in pairs {
      write("\(pair.score)  \(pair.why)\n")
      for record in [pair.first, pair.second] {
        write("    \(record.source) \(record.code): \(record.text)\n")
      }
      write("    \(decisionLine(pair, on: today))\n")
    }
    if pairs.isEmpty { write("No pair is in doubt.\n") }
  }
  return .done
}

/// The line for stations.json5 that links a pair of station records.
private func decisionLine(_ pair: DoubtfulPair, on day: String) -> String {
  func named(_ record: DoubtfulPair.Record) -> String {
    (record.source + " " + record.code).asJSON5Literal
  }
  return
    "{ on: '\(day)', station: \(named(pair.first)), is: 'same', as: \(named(pair.second)), why: \(pair.why.asJSON5Literal) },"
}

private func explain(_ number: Int, _ records: [DescribedRecord]) -> String {
  var text = "station \(number): \(records.count) record\(records.count == 1 ? "" : "s")\n"
  for record in records {
    let how =
      switch record.matchedBy {
      case "itself": record.isHead ? "represents the station" : "on its own"
      case "code": "has the same code"
      case "address": "has the same address, or overlapping house numbers in the same street"
      case "name": "has a similar name at the same address"
      case "position": "lies within 150 metres"
      default: "decided by a person"
      }
    text += "  \(record.source) \(record.code): \(how)\n"
    for description in record.descriptions {
      text += "    \(description.first) to \(description.last)  \(description.text)\n"
    }
    if let doubt = record.doubt { text += "    in doubt: \(doubt)\n" }
  }
  return text
}
