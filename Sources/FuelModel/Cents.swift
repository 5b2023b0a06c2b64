/// Cents per litre as people read them: with one decimal, rounded half away from zero.
///
/// The views have two decimals, which a binary number holds only nearly: 165.45 may lie below 165.45. What is rounded
/// here are whole hundredths, so that one value reads the same everywhere.
package enum Cents {
  /// Whole tenths of a cent.
  package static func tenths(_ value: Double) -> Int {
    let hundredths = Int((abs(value) * 100).rounded())
    return (hundredths + 5) / 10 * (value < 0 ? -1 : 1)
  }

  /// Such as `165.5` or `-3.9`; never `-0.0`.
  package static func text(_ value: Double, minus: String = "-") -> String {
    let tenths = tenths(value)
    return (tenths < 0 ? minus : "") + "\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
