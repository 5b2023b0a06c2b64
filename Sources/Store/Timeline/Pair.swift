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

  // Both are hashed as one number, because tens of thousands of pairs are looked up for each list.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(Int64(stationID) << 16 | Int64(fuelID))
  }
}

extension Row {
  /// Reads the station and fuel from a row with `station_id` and `fuel_id`.
  func pair() throws -> Pair {
    Pair(stationID: Int32(try integer("station_id")), fuelID: Int16(try integer("fuel_id")))
  }
}
