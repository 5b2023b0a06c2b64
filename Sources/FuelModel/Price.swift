/// A retail price in whole tenths of a cent per litre: 1899 is 189.9 c/L.
///
/// No recorded feed has more than one decimal of a cent, so the integer holds every price exactly.
/// It converts the units of feeds; those of archives are converted by `WrittenNumber`. It reads the
/// digits itself: `Double("4.095")` is less than 4.095, and lenient parsers read "1,899" as 1.
package struct Price: Hashable, Comparable, Sendable {
  package let tenths: Int32

  /// - Returns: `nil` for zero, negative values and values from 1,000,000 on: none of them is a
  ///   price.
  package init?(tenths: Int) {
    guard tenths > 0, tenths < 1_000_000 else { return nil }
    self.tenths = Int32(tenths)
  }

  /// Reads cents per litre with at most one significant decimal: `189.9`, `189` or `189.90`.
  ///
  /// - Returns: `nil` for anything else: signs, separators, exponents, or a second decimal other
  ///   than zero. A price is never rounded.
  package init?(centsPerLitre text: String) {
    guard let tenths = Self.scaled(text, decimals: 1) else { return nil }
    self.init(tenths: tenths)
  }

  /// Reads tenths of a cent, such as `1899` or `1899.0`.
  package init?(tenthsText text: String) {
    guard let tenths = Self.scaled(text, decimals: 0) else { return nil }
    self.init(tenths: tenths)
  }

  /// The price in its published form: cents per litre with one decimal.
  package var centsPerLitre: String { "\(tenths / 10).\(tenths % 10)" }

  package static func < (left: Price, right: Price) -> Bool { left.tenths < right.tenths }

  /// Reads a plain decimal number, multiplied by ten to the power of `decimals`; `nil` where it has
  /// further decimals other than zero.
  private static func scaled(_ text: String, decimals: Int) -> Int? {
    var value = 0
    var seenDigits = 0
    var seenDecimals: Int?
    for byte in text.utf8 {
      if byte == UInt8(ascii: "."), seenDecimals == nil, seenDigits > 0 {
        seenDecimals = 0
        continue
      }
      guard byte >= 0x30, byte <= 0x39, seenDigits < 12 else { return nil }
      seenDigits += 1
      let digit = Int(byte - 0x30)
      if let count = seenDecimals {
        if count < decimals {
          value = value * 10 + digit
        } else if digit != 0 {
          return nil
        }
        seenDecimals = count + 1
      } else {
        value = value * 10 + digit
      }
    }
    guard seenDigits > 0, seenDecimals != 0 else { return nil }
    for _ in (seenDecimals ?? 0)..<max(decimals, seenDecimals ?? 0) { value *= 10 }
    return value
  }
}
