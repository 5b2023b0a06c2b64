/// One price as a feed reported it for one station record and fuel.
package struct Observation: Hashable, Sendable {
  package var stationCode: String
  package var fuel: Fuel
  /// `nil` means that the feed states that the station does not offer this fuel now.
  package var price: Price?
  /// When the price began, by the feed's own stamp. `nil` where the feed has no stamps: the price
  /// then holds at the instant of the fetch and began when it was first seen.
  package var effectiveAt: Instant?

  package init(stationCode: String, fuel: Fuel, price: Price?, effectiveAt: Instant?) {
    self.stationCode = stationCode
    self.fuel = fuel
    self.price = price
    self.effectiveAt = effectiveAt
  }
}

/// A record that was not accepted, with the reason and the record's text.
package struct Reject: Hashable, Sendable {
  /// Why a record was not accepted. The raw values are those of `fuel_v1.rejects`.
  package enum Reason: String, CaseIterable, Hashable, Sendable {
    case unknownFuel = "unknown_fuel"
    case unsupportedFuel = "unsupported_fuel"
    case priceUnreadable = "price_unreadable"
    case priceOutOfBand = "price_out_of_band"
    case stampUnreadable = "stamp_unreadable"
    case stampInFuture = "stamp_in_future"
    case stampTooOld = "stamp_too_old"
    /// A local time that the clocks skipped.
    case stampNonexistent = "stamp_nonexistent"
    case stationMissing = "station_missing"
    /// A new station code of a feed that has already reported too many codes.
    case stationBeyondLimit = "station_beyond_limit"
    case stateUnknown = "state_unknown"
    /// A price at a station of a state that the feed does not have.
    case otherState = "other_state"
    case recordUnreadable = "record_unreadable"
    /// A row of a file that is certainly no record: a sum, an average, a note, the header again.
    case notARecord = "not_a_record"
    case conflictingPrice = "conflicting_price"

    /// Whether the reason counts against the feed's health. An unsupported fuel does not: lists of
    /// petrol prices may contain electric chargers. Nor do rows of another state, or sums and notes
    /// of an archive: the other rows are right.
    package var countsAgainstFeed: Bool {
      ![.unsupportedFuel, .otherState, .notARecord].contains(self)
    }
  }

  package var reason: Reason
  /// The record as it was received, or its fields, in one line of at most 2,000 bytes.
  package var raw: String

  package init(_ reason: Reason, raw: String) {
    self.reason = reason
    self.raw = raw.line(ofBytes: InputLimit.rejectBytes.value)
  }
}

extension Reject {
  /// Up to so many bad records are no reason to lose the others, however few those are.
  package static let few = 5

  /// An answer with a larger share of bad records has changed its unit or its format, and no part of
  /// it is believed.
  package static let nearlyAll = 0.8

  /// Returns the reason of most bad records of an answer or a file of which too many are bad.
  ///
  /// - Parameters:
  ///   - byReason: the number of rejected records, by reason.
  ///   - share: the largest share of bad records.
  package static func worst(
    of byReason: [String: Int], among records: Int, share: Double
  ) -> (reason: String, bad: Int)? {
    let against = byReason.filter { Reason(rawValue: $0.key)?.countsAgainstFeed ?? true }
    let bad = against.values.reduce(0, +)
    guard bad > few, Double(bad) > share * Double(records) else { return nil }
    return against.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { ($0.key, bad) }
  }
}

/// The content of the documents of one run.
package struct Reading: Sendable {
  /// How much of what a feed has now its documents contain.
  package enum Coverage: Sendable {
    /// The documents contain everything that the feed has now: a price that is missing is not
    /// offered.
    case complete
    /// The documents contain a part of it: a missing price proves nothing.
    case partial
  }

  package var stations: [Station] = []
  package var observations: [Observation] = []
  package var rejects: [Reject] = []
  package var coverage: Coverage
  /// Unusual properties of the documents, for the run's row in the ledger and the feed's health.
  package var warnings: [String] = []
  /// Whether tomorrow's prices are due but not published yet: the feed then stays due.
  package var awaitsTomorrow = false

  package init(coverage: Coverage) { self.coverage = coverage }

  /// Appends the observation if its price is possible for its fuel, otherwise a reject.
  package mutating func take(_ observation: Observation, raw: @autoclosure () -> String) {
    if let price = observation.price, !observation.fuel.band.contains(price.tenths) {
      rejects.append(Reject(.priceOutOfBand, raw: raw()))
    } else {
      observations.append(observation)
    }
  }
}

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
