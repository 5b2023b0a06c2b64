extension Instant: CustomStringConvertible {
  /// ISO 8601 in UTC, with microseconds only where they are not zero: `2026-07-02T20:20:27Z`.
  package var description: String {
    let (day, time) = utc
    let fraction = Int(microseconds - seconds * 1_000_000)
    return "\(day)T\(pad(time / 3600)):\(pad(time / 60 % 60)):\(pad(time % 60))"
      + (fraction == 0 ? "" : ".\(pad(fraction, 6))") + "Z"
  }

  /// A form without punctuation that sorts by time, for folder names: `20260702T202027Z`.
  package var compact: String {
    String(description.filter { $0 != "-" && $0 != ":" })
  }

  /// Reads ISO 8601 with a date, hours and minutes; seconds and a fraction of up to six digits may
  /// follow. An offset is required unless `assumingUTC` is set. Also reads PostgreSQL's form with a
  /// blank, and the form of `compact`.
  ///
  /// - Parameter assumingUTC: whether a text without an offset is UTC. Only for feeds whose stamps
  ///   are known to be UTC although they do not state it.
  /// - Returns: `nil` for any text that is not fully understood; never a default.
  package init?(iso text: String, assumingUTC: Bool = false) {
    var reader = DigitReader(text)
    guard let year = reader.number(digits: 4) else { return nil }
    let dashed = reader.skip("-")
    guard let month = reader.number(digits: 2), reader.skip("-") == dashed,
      let dayOfMonth = reader.number(digits: 2),
      let day = Day(year: year, month: month, day: dayOfMonth)
    else { return nil }
    guard reader.skip("T") || reader.skip(" ") else { return nil }
    guard let hour = reader.number(digits: 2) else { return nil }
    let coloned = reader.skip(":")
    guard let minute = reader.number(digits: 2) else { return nil }
    var second = 0
    var fraction = 0
    if coloned ? reader.skip(":") : reader.startsWithDigit {
      guard let value = reader.number(digits: 2) else { return nil }
      second = value
      if reader.skip(".") {
        guard let value = reader.fraction(digits: 6) else { return nil }
        fraction = value
      }
    }
    guard hour < 24, minute < 60, second < 60 else { return nil }
    var offset = 0
    if reader.skip("Z") {
      // UTC: the offset stays 0.
    } else if let sign = reader.sign() {
      guard let hours = reader.number(digits: 2), hours < 24 else { return nil }
      let minutes = reader.skip(":") || reader.startsWithDigit ? reader.number(digits: 2) : 0
      guard let minutes, minutes < 60 else { return nil }
      offset = sign * (hours * 3600 + minutes * 60)
    } else if !assumingUTC {
      return nil
    }
    guard reader.isAtEnd else { return nil }
    let seconds = day.sinceEpoch * 86_400 + hour * 3600 + minute * 60 + second - offset
    self.init(microseconds: Int64(seconds) * 1_000_000 + Int64(fraction))
  }

  /// Reads `dd/MM/yyyy HH:mm:ss` as UTC, the form of NSW FuelCheck's full list.
  package init?(dayFirstUTC text: String) {
    var reader = DigitReader(text)
    guard let dayOfMonth = reader.number(digits: 2), reader.skip("/"),
      let month = reader.number(digits: 2), reader.skip("/"),
      let year = reader.number(digits: 4), reader.skip(" "),
      let hour = reader.number(digits: 2), reader.skip(":"),
      let minute = reader.number(digits: 2), reader.skip(":"),
      let second = reader.number(digits: 2), reader.isAtEnd,
      let day = Day(year: year, month: month, day: dayOfMonth),
      hour < 24, minute < 60, second < 60
    else { return nil }
    self.init(seconds: Int64(day.sinceEpoch * 86_400 + hour * 3600 + minute * 60 + second))
  }

  /// `dd/MM/yyyy hh:mm:ss AM` in UTC, the form that NSW FuelCheck expects in its request headers.
  /// Midnight is 12 AM, noon is 12 PM.
  package var twelveHourUTC: String {
    let (day, time) = utc
    let hour = time / 3600
    let clock = "\(pad(hour % 12 == 0 ? 12 : hour % 12)):\(pad(time / 60 % 60)):\(pad(time % 60))"
    return
      "\(pad(day.day))/\(pad(day.month))/\(pad(day.year, 4)) \(clock) \(hour < 12 ? "AM" : "PM")"
  }
}

/// Divides and rounds down, also below zero.
package func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
  value >= 0 ? value / divisor : (value - divisor + 1) / divisor
}

/// Returns a number with leading zeros.
package func pad(_ value: Int, _ width: Int = 2) -> String {
  let digits = String(value.magnitude)
  return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count))
    + digits
}

/// Reads fixed fields of ASCII digits and punctuation from the front of a text.
struct DigitReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }
  var startsWithDigit: Bool { rest.first.map { (0x30...0x39).contains($0) } ?? false }

  mutating func number(digits: Int) -> Int? {
    var value = 0
    for _ in 0..<digits {
      guard let byte = rest.first, (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
      rest.removeFirst()
    }
    return value
  }

  /// Reads a decimal fraction of one to `digits` digits and scales it to `digits` digits.
  mutating func fraction(digits: Int) -> Int? {
    var value = 0
    var count = 0
    while startsWithDigit, count < digits, let digit = number(digits: 1) {
      value = value * 10 + digit
      count += 1
    }
    guard count > 0 else { return nil }
    for _ in count..<digits { value *= 10 }
    return value
  }

  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func sign() -> Int? {
    if skip("+") { return 1 }
    if skip("-") { return -1 }
    return nil
  }
}
