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
