/// Cents per litre as they are shown to people: with one decimal, rounded half away from zero.
///
/// The views have two decimals, which a binary number only approximates: the `Double` for 165.45
/// may lie below 165.45. Therefore whole hundredths are rounded here, so that a value reads the
/// same everywhere.
package enum Cents {
  /// Returns the value in whole tenths of a cent.
  package static func tenths(_ value: Double) -> Int {
    let hundredths = Int((abs(value) * 100).rounded())
    return (hundredths + 5) / 10 * (value < 0 ? -1 : 1)
  }

  /// Returns text such as `165.5` or `-3.9`; never `-0.0`.
  package static func text(_ value: Double, minus: String = "-") -> String {
    let tenths = tenths(value)
    return (tenths < 0 ? minus : "") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}

/// Rounds half away from zero.
package func rounded(_ value: Double, _ digits: Int) -> Double {
  let scale = [1.0, 10, 100, 1_000][digits]
  return (value * scale).rounded() / scale
}
