/// One price of an archive in 16 bytes: ten million are loaded in one go.
package struct ArchiveFact: Sendable {
  /// Station record (24 bits), fuel (8), seconds since 2000-01-01 UTC (32): sorted by it, facts lie in
  /// the order of the table's key.
  package var key: UInt64
  /// Tenths of a cent; 0: not offered.
  package var tenths: Int32
  /// Place in the file: of two prices under one key the later one counts.
  package var place: UInt32

  package init(record: Int, fuel: Int16, seconds: UInt32, tenths: Int32, place: UInt32) {
    key = UInt64(record) << 40 | UInt64(UInt8(truncatingIfNeeded: fuel)) << 32 | UInt64(seconds)
    self.tenths = tenths
    self.place = place
  }

  package var record: Int { Int(key >> 40) }
  package var fuel: Int16 { Int16(key >> 32 & 0xFF) }
  package var seconds: UInt32 { UInt32(truncatingIfNeeded: key) }
  package var effectiveAt: Instant { Instant(seconds: Self.epoch + Int64(seconds)) }

  /// 2000-01-01 UTC: before any Australian scheme.
  package static let epoch: Int64 = 946_684_800
}

/// A station as an archive words it. Several wordings may be one record: the code tells.
package struct ArchiveWording: Sendable {
  package var station: Station
  /// Number of the record within the reader, the same for wordings with the same code.
  package var record: Int

  package init(station: Station, record: Int) {
    self.station = station
    self.record = record
  }
}

/// A calendar month.
package struct Month: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Months since year 0.
  package let number: Int32

  package init(number: Int32) { self.number = number }

  package init(_ day: Day) { number = Int32(day.year * 12 + day.month - 1) }

  package var firstDay: Day {
    // The number came from a day.
    Day(year: Int(number / 12), month: Int(number % 12) + 1, day: 1) ?? Day(sinceEpoch: 0)
  }
  package var description: String { String("\(firstDay)".prefix(7)) }
  package static func < (left: Month, right: Month) -> Bool { left.number < right.number }
}

/// Some rows of one file, at most a million, with what was new in them.
package struct ArchivePiece: Sendable {
  /// On which days of a month a wording was seen: one bit a day, the lowest is the first.
  package struct Sighting: Sendable {
    package var wording: Int
    package var month: Month
    package var days: UInt32

    package init(wording: Int, month: Month, days: UInt32) {
      self.wording = wording
      self.month = month
      self.days = days
    }
  }

  package var file: String
  package var isFirst: Bool
  package var isLast: Bool
  /// By local month, those of a record together and in the order of their keys, each once.
  package var months: [Month: [ArchiveFact]] = [:]
  /// Wordings that no piece before had, in the order of their numbers.
  package var newWordings: [ArchiveWording] = []
  package var sightings: [Sighting] = []
  package var rejects: [Reject] = []
  /// Price records, good and bad.
  package var received = 0
  /// Records that repeated another of the piece.
  package var duplicates = 0
  package var bytes = 0

  /// Makes its numbers follow those that other readers have given.
  package mutating func number(after before: ArchiveNumbers) {
    guard before.wordings > 0 else { return }
    for index in newWordings.indices { newWordings[index].record += before.records }
    for index in sightings.indices { sightings[index].wording += before.wordings }
    months = months.mapValues { facts in
      facts.map { fact in
        var fact = fact
        fact.key += UInt64(before.records) << 40
        return fact
      }
    }
  }

  package init(file: String, isFirst: Bool, isLast: Bool) {
    self.file = file
    self.isFirst = isFirst
    self.isLast = isLast
  }
}
