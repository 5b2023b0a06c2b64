import FuelModel
import Pipeline
import Store

let stationsCommand = Command(
  name: "stations",
  summary: "Tell which records of feeds and archives are one station, and why.",
  operands: "[ID...]",
  examples: [
    ("bowser stations --explain 1089", "every record of a station and how it was matched"),
    (
      "bowser stations --doubtful",
      "pairs that may be one station, each with its score and the line to paste"
    ),
  ],
  options: [
    .init(name: "explain", value: nil, about: "the operands are stations, by their numbers"),
    .init(
      name: "doubtful", value: nil, about: "pairs that may be one station, the likeliest first"),
  ],
  notes: """
    Decisions go into config/stations.json5; `bowser aggregate` takes them over. Paste the line of a pair there and
    say why; write 'another' for 'same' if they are two. The score, from 0 to 100, is made from names, addresses and
    whether one begins where the other ends.
    fuel_v1.station_records has the same as a view.
    """
) { invocation in
  let isExplaining = invocation.flags.contains("explain")
  guard isExplaining != invocation.flags.contains("doubtful") else {
    throw UsageError.message("either --explain ID... or --doubtful")
  }
  let store = try invocation.store(try invocation.settings())
  if isExplaining {
    guard !invocation.operands.isEmpty else {
      throw UsageError.message("which station? its station_id, such as 1089")
    }
    for operand in invocation.operands {
      guard let number = Int(operand) else {
        throw UsageError.message("«\(operand)» is no station_id")
      }
      let records = try store.story(ofStation: number)
      guard !records.isEmpty else { throw UsageError.message("no station \(number)") }
      write(explain(number, records))
    }
  } else {
    guard invocation.operands.isEmpty else {
      throw UsageError.message("--doubtful takes no operands")
    }
    let pairs = try store.doubtfulPairs()
    for pair in pairs {
      write("\(pair.score)  \(pair.why)\n")
      for record in [pair.first, pair.second] {
        write("    \(record.source) \(record.code): \(record.text)\n")
      }
      write(
        "    \(decisionLine(pair, on: String(try invocation.clock().now().description.prefix(10))))\n"
      )
    }
    if pairs.isEmpty { write("Nothing is in doubt.\n") }
  }
  return .done
}

/// The line for stations.json5 that makes a pair one station.
private func decisionLine(_ pair: DoubtfulPair, on day: String) -> String {
  func named(_ record: DoubtfulPair.Record) -> String {
    (record.source + " " + record.code).asJSON5Literal
  }
  return
    "{ on: '\(day)', station: \(named(pair.first)), is: 'same', as: \(named(pair.second)), why: \(pair.why.asJSON5Literal) },"
}

private func explain(_ number: Int, _ records: [RecordStory]) -> String {
  var text = "station \(number): \(records.count) record\(records.count == 1 ? "" : "s")\n"
  for record in records {
    let how =
      switch record.matchedBy {
      case "itself": record.isHead ? "speaks for the place" : "by itself"
      case "code": "has the same code"
      case "address": "has the same address"
      case "name": "shares the address with others and has the likest name"
      case "position": "lies within 150 metres"
      default: "by a person's decision"
      }
    text += "  \(record.source) \(record.code): \(how)\n"
    for wording in record.wordings {
      text += "    \(wording.first) to \(wording.last)  \(wording.text)\n"
    }
    if let doubt = record.doubt { text += "    in doubt: \(doubt)\n" }
  }
  return text
}
