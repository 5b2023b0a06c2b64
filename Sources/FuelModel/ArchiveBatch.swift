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

extension ArchiveBatch {
  /// Writes the batch for the process that stores it.
  package func write(to frame: inout FrameWriter) {
    frame.write(file.line(ofBytes: InputLimit.rejectBytes.value))
    frame.write(isFirst)
    frame.write(isLast)
    frame.write(Int64(received))
    frame.write(Int64(duplicates))
    frame.write(Int64(bytes))
    frame.write(each: newDescriptions) { frame, description in
      description.station.write(to: &frame)
      frame.write(Int32(description.record))
    }
    frame.write(each: months.sorted { $0.key < $1.key }) { frame, month in
      frame.write(month.key.number)
      frame.write(UInt32(month.value.count))
      month.value.withUnsafeBytes { frame.write(raw: $0) }
    }
    frame.write(each: sightings) { frame, sighting in
      frame.write(Int32(sighting.stationDescription))
      frame.write(sighting.month.number)
      frame.write(sighting.days)
    }
    frame.write(each: rejects) { $1.write(to: &$0) }
    frame.write(each: warnings) { $0.write($1.line(ofBytes: InputLimit.rejectBytes.value)) }
  }

  /// Reads a batch and checks that every value is in its possible range.
  ///
  /// - Parameters:
  ///   - known: how many descriptions and records the earlier batches have numbered; raised by
  ///     those of this batch.
  ///   - zone: the zone whose calendar defines the months.
  /// - Throws: `FrameReader.Broken` for a batch that the archive's reader could not have written.
  package init(
    from frame: inout FrameReader, known: inout ArchiveNumbers, zone: Zone
  ) throws {
    self.init(
      file: try frame.line(ofBytes: InputLimit.rejectBytes.value),
      isFirst: try frame.boolean(), isLast: try frame.boolean())
    received = try frame.count()
    duplicates = try frame.count()
    bytes = try frame.count()
    newDescriptions = try frame.each { frame in
      ArchiveDescription(
        station: try Station(from: &frame), record: Int(try frame.integer(Int32.self)))
    }
    for description in newDescriptions {
      // A description is of a known record, or of a new one with the next number.
      guard (0...known.records).contains(description.record) else {
        throw FrameReader.Broken("an invalid number of a station record")
      }
      known.records = max(known.records, description.record + 1)
    }
    known.descriptions += newDescriptions.count
    let numbers = known
    let parts = try frame.each { frame in
      let month = Month(number: try frame.integer())
      let facts = try frame.facts()
      try Self.check(facts, of: month, zone, numbers)
      return (month, facts)
    }
    months = Dictionary(parts) { first, _ in first }
    guard months.count == parts.count else { throw FrameReader.Broken("a month appears twice") }
    sightings = try frame.each { frame in
      let sighting = Sighting(
        stationDescription: Int(try frame.integer(Int32.self)),
        month: Month(number: try frame.integer()), days: try frame.integer())
      guard (0..<numbers.descriptions).contains(sighting.stationDescription),
        months[sighting.month] != nil, sighting.days != 0,
        sighting.days >> UInt32(sighting.month.dayCount) == 0
      else { throw FrameReader.Broken("an invalid sighting of a station") }
      return sighting
    }
    rejects = try frame.each { try Reject(from: &$0) }
    warnings = try frame.each { try $0.line(ofBytes: InputLimit.rejectBytes.value) }
    guard months.values.reduce(0, { $0 + $1.count }) + duplicates + rejects.count == received else {
      throw FrameReader.Broken("counts that do not add up")
    }
  }

  private static func check(
    _ facts: [ArchiveFact], of month: Month, _ zone: Zone, _ known: ArchiveNumbers
  ) throws {
    guard (0...120_000).contains(month.number) else {
      throw FrameReader.Broken("an invalid month")
    }
    func begin(_ month: Month) -> Int64 {
      let midnight = Instant(seconds: Int64(month.firstDay.sinceEpoch) * 86_400)
      return midnight.seconds - Int64(zone.offset(at: midnight)) - ArchiveFact.epoch
    }
    // The clocks may change that night, so the span is two hours longer at both ends.
    let span = begin(month) - 7_200..<begin(Month(number: month.number + 1)) + 7_200
    var bands = [ClosedRange<Int32>?](repeating: nil, count: 256)
    for fuel in Fuel.allCases { if let id = fuel.id { bands[Int(id)] = fuel.band } }
    var previous: UInt64?
    for fact in facts {
      guard let band = bands[Int(fact.fuel)], fact.tenths == 0 || band.contains(fact.tenths),
        fact.record < known.records, span.contains(Int64(fact.seconds)),
        previous.map({ $0 < fact.key }) ?? true
      else { throw FrameReader.Broken("an invalid price") }
      previous = fact.key
    }
  }
}

/// How many descriptions and station records the batches of an archive have numbered so far.
package struct ArchiveNumbers: Sendable {
  package var descriptions = 0
  package var records = 0
  package init() {}
}

extension Month {
  fileprivate var dayCount: Int {
    Month(number: number + 1).firstDay.sinceEpoch - firstDay.sinceEpoch
  }
}

extension FrameReader {
  fileprivate mutating func count() throws -> Int {
    let count: Int64 = try integer()
    guard (0...1 << 40).contains(count) else { throw Broken("an invalid count") }
    return Int(count)
  }

  fileprivate mutating func facts() throws -> [ArchiveFact] {
    let count = Int(try integer(UInt32.self))
    let bytes = try raw(count * MemoryLayout<ArchiveFact>.stride)
    return [ArchiveFact](unsafeUninitializedCapacity: count) { facts, length in
      UnsafeMutableRawBufferPointer(facts).copyBytes(from: bytes)
      length = count
    }
  }
}
