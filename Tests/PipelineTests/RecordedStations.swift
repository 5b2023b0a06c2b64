import Foundation
import FuelModel

@testable import Store

/// Stations as a feed described them, by day: `code,name,address,first_on,last_on`.
enum RecordedStations {
  /// Reads stations.
  ///
  /// - Returns: a record for each code, and when lists showed it.
  static func read(_ text: String) throws -> ([StationRecord], [Int: Presence]) {
    var records: [String: StationRecord] = [:]
    var presence: [Int: Presence] = [:]
    for line in text.split(separator: "\n").dropFirst() {
      let fields = fields(line)
      guard fields.count == 5, let first = Day(fields[3]), let last = Day(fields[4]) else {
        throw CocoaError(.fileReadCorruptFile)
      }
      var record =
        records[fields[0]]
        ?? StationRecord(
          id: records.count + 1, source: "nsw-fuelcheck", scheme: "nsw-fuelcheck", code: fields[0],
          isArchive: false, isCoded: true)
      record.describe(
        name: fields[1], address: fields[2], suburb: PostalAddress(fields[2]).suburb, from: first,
        until: last)
      records[fields[0]] = record
      presence[record.id, default: Presence()].listed.append(
        Instant(
          seconds: Int64(first.sinceEpoch) * 86_400)..<Instant(
            seconds: Int64(last.sinceEpoch + 1) * 86_400))
    }
    return (records.values.sorted { $0.id < $1.id }, presence)
  }

  /// Splits a line of CSV into its fields.
  static func fields(_ line: some StringProtocol) -> [String] {
    var fields = [""]
    var isQuoted = false
    for character in line {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == ",", !isQuoted {
        fields.append("")
      } else {
        fields[fields.count - 1].append(character)
      }
    }
    return fields
  }
}
