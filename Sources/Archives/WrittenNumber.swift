/// Numbers as programs write them.
enum WrittenNumber {
  /// Reads a price in tenths of a cent.
  ///
  /// Cents may have two decimals, as in the files of a state; the price is the nearest tenth, half
  /// of one rounded up. Further decimals other than zero make a price unreadable, because they are
  /// those of an average, unless they are a rounding error of Excel.
  static func tenths(_ text: UnsafeBufferPointer<UInt8>, unit: ArchiveFormat.Unit) -> Int? {
    var value = 0
    var position = 0
    while position < text.count, position < 7, (0x30...0x39).contains(text[position]) {
      value = value * 10 + Int(text[position] - 0x30)
      position += 1
    }
    guard position > 0 else { return nil }
    var decimals = 0
    var rest: UInt64 = 0
    if position < text.count {
      guard text[position] == UInt8(ascii: ".") else { return nil }
      position += 1
      while position < text.count {
        guard (0x30...0x39).contains(text[position]), decimals < 18 else { return nil }
        rest = rest * 10 + UInt64(text[position] - 0x30)
        decimals += 1
        position += 1
      }
      guard decimals > 0 else { return nil }
    }
    guard unit == .cents else { return rounded(rest, decimals, to: 0).map { value + $0 } }
    return rounded(rest, decimals, to: 2).map { value * 10 + ($0 + 5) / 10 }
  }

  /// Returns the decimals of a number in steps of `wanted` decimals; `nil` where the number lies
  /// between two steps.
  private static func rounded(_ rest: UInt64, _ decimals: Int, to wanted: Int) -> Int? {
    var scale: UInt64 = 1
    for _ in 0..<abs(decimals - wanted) { scale *= 10 }
    if decimals <= wanted { return Int(rest * scale) }
    let (whole, remainder) = rest.quotientAndRemainder(dividingBy: scale)
    if remainder == 0 { return Int(whole) }
    // Excel writes 162.7 as 162.69999999999999. With eight decimals or more, a value within a
    // hundred-thousandth of a step is taken for that step.
    guard decimals >= 8 else { return nil }
    let noise = scale / 100_000
    if remainder < noise { return Int(whole) }
    return scale - remainder < noise ? Int(whole) + 1 : nil
  }

  /// Returns the digits of a whole number that a program has written as `61400000.0`,
  /// `61,400,000` or `6.1400000E7`; `nil` for any other text.
  ///
  /// `6.14E7` is none: programs drop digits when they write a number so, and two codes of stations
  /// would become one.
  static func whole(_ text: String) -> String? {
    let parts = text.uppercased().split(separator: "E", omittingEmptySubsequences: false)
    let number = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, number.count <= 2, var digits = grouped(number[0]) else { return nil }
    var decimals = number.count == 2 ? String(number[1]) : ""
    guard decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    if parts.count == 2 {
      guard digits.count == 1, let power = Int(parts[1].drop { $0 == "+" }), power >= 0,
        decimals.count >= power
      else { return nil }
      digits += decimals.prefix(power)
      decimals = String(decimals.dropFirst(power))
    }
    return decimals.allSatisfy { $0 == "0" } ? digits : nil
  }

  /// Returns digits without the commas between thousands.
  private static func grouped(_ text: Substring) -> String? {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    guard groups.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      !groups[0].isEmpty, groups.count == 1 || groups[0].count <= 3,
      groups.dropFirst().allSatisfy({ $0.count == 3 })
    else { return nil }
    return groups.joined()
  }
}
