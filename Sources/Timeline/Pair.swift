/// A station record and a fuel.
package struct Pair: Hashable, Sendable, Comparable {
  package var stationID: Int32
  package var fuelID: Int16

  package init(stationID: Int32, fuelID: Int16) {
    self.stationID = stationID
    self.fuelID = fuelID
  }

  package static func < (left: Pair, right: Pair) -> Bool { left.number < right.number }

  /// Both as one number, which is compared and looked up faster than two.
  package var number: Int64 { Int64(stationID) << 16 | Int64(fuelID) }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
