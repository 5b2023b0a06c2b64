extension Reading {
  /// Writes the reading for the process that stores it.
  package func write(to frame: inout FrameWriter) {
    frame.write(coverage == .complete)
    frame.write(awaitsTomorrow)
    frame.write(each: warnings) { $0.write($1.line(ofBytes: InputLimit.rejectBytes.value)) }
    frame.write(each: stations) { $1.write(to: &$0) }
    frame.write(each: observations) { $1.write(to: &$0) }
    frame.write(each: rejects) { $1.write(to: &$0) }
  }

  /// Reads a reading and checks that every value is in its possible range.
  ///
  /// - Throws: `FrameReader.Broken` for a reading that no document could have produced.
  package init(from frame: inout FrameReader) throws {
    self.init(coverage: try frame.boolean() ? .complete : .partial)
    awaitsTomorrow = try frame.boolean()
    warnings = try frame.each { try $0.line(ofBytes: InputLimit.rejectBytes.value) }
    stations = try frame.each { try Station(from: &$0) }
    observations = try frame.each { try Observation(from: &$0) }
    rejects = try frame.each { try Reject(from: &$0) }
  }
}

extension Reject {
  func write(to frame: inout FrameWriter) {
    frame.write(reason.rawValue)
    frame.write(raw)
  }

  init(from frame: inout FrameReader) throws {
    guard let reason = Reason(rawValue: try frame.plain()) else {
      throw FrameReader.Broken("an unknown reason")
    }
    self.init(reason, raw: try frame.line(ofBytes: InputLimit.rejectBytes.value))
  }
}

extension Observation {
  fileprivate func write(to frame: inout FrameWriter) {
    frame.write(code: stationCode)
    frame.write(fuel.id ?? 0)
    if case .unmapped(let code) = fuel { frame.write(code.plain) }
    frame.write(price?.tenths ?? 0)
    frame.write(effectiveAt?.microseconds ?? .min)
  }

  fileprivate init(from frame: inout FrameReader) throws {
    let code = try frame.code()
    let number: Int16 = try frame.integer()
    let fuel: Fuel
    if number == 0 {
      fuel = .unmapped(try frame.plain())
    } else if let known = Fuel.allCases.first(where: { $0.id == number }) {
      fuel = known
    } else {
      throw FrameReader.Broken("an unknown fuel")
    }
    let tenths: Int32 = try frame.integer()
    let price = Price(tenths: Int(tenths))
    guard price != nil || tenths == 0, price.map({ fuel.band.contains($0.tenths) }) ?? true else {
      throw FrameReader.Broken("an invalid price")
    }
    let microseconds: Int64 = try frame.integer()
    self.init(
      stationCode: code, fuel: fuel, price: price,
      effectiveAt: microseconds == .min ? nil : Instant(microseconds: microseconds))
  }
}

// A frame cuts a station code four bytes above its limit, so that a code that is too long stays too
// long and is refused for that reason. Four bytes are the longest scalar in UTF-8.
private let codeBytes = InputLimit.codeBytes.value + 4

extension FrameWriter {
  mutating func write(code: String) { write(code.line(ofBytes: codeBytes)) }
}

extension FrameReader {
  mutating func code() throws -> String { try line(ofBytes: codeBytes) }
}
