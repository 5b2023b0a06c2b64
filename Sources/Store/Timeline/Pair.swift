import Postgres

/// A station and fuel.
package struct Pair: Hashable, Sendable, Comparable {
  package var stationID: Int32
  package var fuelID: Int16

  package init(stationID: Int32, fuelID: Int16) {
    self.stationID = stationID
    self.fuelID = fuelID
  }

  package static func < (left: Pair, right: Pair) -> Bool {
    (left.stationID, left.fuelID) < (right.stationID, right.fuelID)
  }

  /// Both as one number. Looking a number up takes half the time, which counts where a list has tens
  /// of thousands of pairs.
  package var number: Int64 { Int64(stationID) << 16 | Int64(fuelID) }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Row {
  /// Reads the station and fuel from a row with `station_id` and `fuel_id`.
  func pair() throws -> Pair {
    Pair(stationID: Int32(try integer("station_id")), fuelID: Int16(try integer("fuel_id")))
  }
}
