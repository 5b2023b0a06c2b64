import Postgres
import Timeline

extension Row {
  /// Reads the station and fuel from a row with `station_id` and `fuel_id`.
  func pair() throws -> Pair {
    Pair(stationID: Int32(try integer("station_id")), fuelID: Int16(try integer("fuel_id")))
  }
}
