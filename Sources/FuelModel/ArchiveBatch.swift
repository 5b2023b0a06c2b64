/// One price of an archive in 16 bytes. It is this small because one import loads ten million.
package struct ArchiveFact: Sendable {
  /// Station record (24 bits), fuel (8 bits) and seconds since 2000-01-01 UTC (32 bits). Sorted by
  /// this number, facts are in the order of the table's primary key.
  package var key: UInt64
  /// Tenths of a cent; 0 means that the fuel is not offered.
  package var tenths: Int32
  /// The position in the file. Of two prices with the same key, the later one counts.
  package var position: UInt32

  package init(record: Int, fuel: Int16, seconds: UInt32, tenths: Int32, position: UInt32) {
    key = UInt64(record) << 40 | UInt64(UInt8(truncatingIfNeeded: fuel)) << 32 | UInt64(seconds)
    self.tenths = tenths
    self.position = position
  }

  package var record: Int { Int(key >> 40) }
  package var fuel: Int16 { Int16(key >> 32 & 0xFF) }
  package var seconds: UInt32 { UInt32(truncatingIfNeeded: key) }
  package var effectiveAt: Instant { Instant(seconds: Self.epoch + Int64(seconds)) }

  /// 2000-01-01 UTC, which is before any Australian scheme, in seconds since 1970.
  package static let epoch: Int64 = 946_684_800
}

/// A station as an archive describes it. Descriptions that share a code are one station record.
package struct ArchiveDescription: Sendable {
  package var station: Station
  /// The number of the station record within the reader; descriptions with the same code share it.
  package var record: Int

  package init(station: Station, record: Int) {
    self.station = station
    self.record = record
  }
}

/// A calendar month.
package struct Month: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Twelve times the year, plus the month from 0 to 11.
  package let number: Int32

  package init(number: Int32) { self.number = number }

  package init(_ day: Day) { number = Int32(day.year * 12 + day.month - 1) }

  package var firstDay: Day {
    // The fallback is never used: the number was made from a day.
    Day(year: Int(number / 12), month: Int(number % 12) + 1, day: 1) ?? Day(sinceEpoch: 0)
  }
  package var description: String { String("\(firstDay)".prefix(7)) }
  package static func < (left: Month, right: Month) -> Bool { left.number < right.number }
}

/// Some rows of one file, and the descriptions of stations that are new in them. A text file is
/// split after about a million prices, a workbook after each sheet.
package struct ArchiveBatch: Sendable {
  /// The days of a month on which a description occurs: one bit a day, the lowest bit is the first
  /// day.
  package struct Sighting: Sendable {
    /// The number of the description within the reader.
    package var stationDescription: Int
    package var month: Month
    package var days: UInt32

    package init(stationDescription: Int, month: Month, days: UInt32) {
      self.stationDescription = stationDescription
      self.month = month
      self.days = days
    }
  }

  package var file: String
  package var isFirst: Bool
  package var isLast: Bool
  /// Facts by local month. Within a month they are sorted by key, and each key occurs once.
  package var months: [Month: [ArchiveFact]] = [:]
  /// Descriptions that no earlier batch contained, in the order of their numbers.
  package var newDescriptions: [ArchiveDescription] = []
  package var sightings: [Sighting] = []
  package var rejects: [Reject] = []
  /// Price records, valid and rejected.
  package var received = 0
  /// Records that repeat another record of the batch.
  package var duplicates = 0
  package var bytes = 0
  /// What a person should know of the file.
  package var warnings: [String] = []

  /// Shifts the batch's numbers so that they continue those of earlier readers.
  package mutating func number(after before: ArchiveNumbers) {
    guard before.descriptions > 0 else { return }
    for index in newDescriptions.indices { newDescriptions[index].record += before.records }
    for index in sightings.indices { sightings[index].stationDescription += before.descriptions }
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
