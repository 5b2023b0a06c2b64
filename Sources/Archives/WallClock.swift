import FuelModel

/// Reads the forms of time in archives, from bytes:
///
/// `2026-04-01 07:49:06`, `01/04/2020 07:49`, `1/04/2020 7:49:06 AM`, `05/04/2026`, with or without
/// seconds and leading zeros, and the day numbers of Excel. A date with slashes begins with the
/// day, as everywhere in Australia. An offset such as `+11:00`, `+1100` or `Z` may follow the time.
/// Any other form is refused; there is no default.
struct WallClock {
  struct Reading {
    /// Days since 1970-01-01.
    var day: Int32
    var secondOfDay: Int32
    /// The stated seconds east of Greenwich.
    var offset: Int32?
  }

  /// Day 0 of Excel, 1899-12-30, in days since 1970-01-01.
  private static let excelEpoch = -25_569

  /// The days between the two days from which workbooks count.
  private static let daysTo1904 = 1_462

  /// - Parameter is1904: whether the day numbers of Excel begin in 1904.
  static func read(_ text: UnsafeBufferPointer<UInt8>, is1904: Bool = false) -> Reading? {
    var reader = Reader(text: text)
    guard let first = reader.number(upTo: 5) else { return nil }
    var day: Day?
    if reader.skip("-"), reader.lastDigits == 4 {
      guard let month = reader.number(upTo: 2), reader.skip("-"), let date = reader.number(upTo: 2)
      else { return nil }
      day = Day(year: first, month: month, day: date)
    } else if reader.skip("/"), reader.lastDigits <= 2 {
      guard let month = reader.number(upTo: 2), reader.skip("/"), let year = reader.number(upTo: 4),
        reader.lastDigits == 4
      else { return nil }
      day = Day(year: year, month: month, day: first)
    } else {
      let days = is1904 ? first + daysTo1904 : first
      return excel(days: days, digits: reader.lastDigits, &reader)
    }
    guard let day else { return nil }
    guard !reader.isAtEnd else { return Reading(day: Int32(day.sinceEpoch), secondOfDay: 0) }
    guard reader.skip(" ") || reader.skip("T") else { return nil }
    while reader.skip(" ") {}
    guard var hour = reader.number(upTo: 2), reader.skip(":"), let minute = reader.number(upTo: 2),
      reader.lastDigits == 2
    else { return nil }
    var second = 0
    if reader.skip(":") {
      guard let value = reader.number(upTo: 2), reader.lastDigits == 2 else { return nil }
      second = value
      // Fractions of a second are dropped.
      if reader.skip("."), reader.number(upTo: 9) == nil { return nil }
    }
    while reader.skip(" ") {}
    let end = reader.position
    let offset = reader.offset()
    guard offset != nil || reader.position == end else { return nil }
    if offset == nil, !reader.isAtEnd {
      let isMorning = reader.skip("A") || reader.skip("a")
      guard isMorning || reader.skip("P") || reader.skip("p"), reader.skip("M") || reader.skip("m"),
        reader.isAtEnd, (1...12).contains(hour)
      else { return nil }
      hour = hour % 12 + (isMorning ? 0 : 12)
    }
    guard hour < 24, minute < 60, second < 60, reader.isAtEnd else { return nil }
    return Reading(
      day: Int32(day.sinceEpoch), secondOfDay: Int32(hour * 3600 + minute * 60 + second),
      offset: offset)
  }

  /// Reads a day number of Excel, such as `45717.011122685188`, rounded to the second.
  private static func excel(days: Int, digits: Int, _ reader: inout Reader) -> Reading? {
    // From 1982 to 2119. No archive contains days outside of this range.
    guard digits == 5, (30_000...80_000).contains(days) else { return nil }
    var day = days + excelEpoch
    var second = 0
    if reader.skip(".") {
      var value: UInt64 = 0
      var scale: UInt64 = 1
      var count = 0
      while let digit = reader.digit() {
        count += 1
        // Twelve decimals of a day are finer than a microsecond; further decimals are ignored.
        if count <= 12 {
          value = value * 10 + UInt64(digit)
          scale *= 10
        }
      }
      guard count > 0 else { return nil }
      second = Int((value * 86_400 + scale / 2) / scale)
      if second == 86_400 {
        second = 0
        day += 1
      }
    }
    guard reader.isAtEnd else { return nil }
    return Reading(day: Int32(day), secondOfDay: Int32(second))
  }

  private struct Reader {
    let text: UnsafeBufferPointer<UInt8>
    var position = 0
    /// The number of digits of the last number.
    var lastDigits = 0

    var isAtEnd: Bool { position == text.count }

    @inline(__always) mutating func digit() -> Int? {
      guard position < text.count else { return nil }
      let value = Int(text[position]) - 0x30
      guard value >= 0, value <= 9 else { return nil }
      position += 1
      return value
    }

    @inline(__always) mutating func number(upTo most: Int) -> Int? {
      var value = 0
      var count = 0
      while count < most, let digit = digit() {
        value = value * 10 + digit
        count += 1
      }
      lastDigits = count
      return count > 0 ? value : nil
    }

    /// Reads seconds east of Greenwich: `Z`, `+11`, `+1100` or `+11:00`.
    mutating func offset() -> Int32? {
      if skip("Z") || skip("z") { return 0 }
      let isEast = skip("+")
      guard isEast || skip("-"), let hours = number(upTo: 2), lastDigits == 2 else { return nil }
      let isLong = skip(":")
      let minutes = number(upTo: 2)
      guard lastDigits == 2 || lastDigits == 0 && !isLong, hours < 15, minutes ?? 0 < 60 else {
        return nil
      }
      return Int32(hours * 3600 + (minutes ?? 0) * 60) * (isEast ? 1 : -1)
    }

    @inline(__always) mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }
  }
}
