package import FuelModel
import Postgres
package import Timeline

/// The notes about what was reported since spans were made: `fuel.touched`.
extension Store {
  /// Returns notes about what was reported since spans were made, with all notes about a station
  /// together.
  ///
  /// - Parameters:
  ///   - count: the largest number of notes.
  ///   - share: which share of all stations to take, and of how many. A station is in one share
  ///     with all its records.
  package func touched(atMost count: Int, share: (Int, of: Int) = (0, of: 1)) throws -> [Window] {
    try connection.query(
      """
      SELECT noted.station_id, noted.fuel_id, noted.from_at
      FROM fuel.touched AS noted
      JOIN (
        SELECT noted.station_id, noted.fuel_id
        FROM fuel.touched AS noted
        JOIN fuel.station USING (station_id)
        WHERE NOT noted.is_made AND station.place_id % \(share.of)::integer = \(share.0)::integer
        ORDER BY station.place_id, noted.station_id, noted.fuel_id
        LIMIT \(count)
      ) AS next USING (station_id, fuel_id)
      WHERE NOT noted.is_made
      -- All transactions lock these rows in this order.
      ORDER BY noted.station_id, noted.fuel_id
      FOR UPDATE OF noted
      """
    ).map(window)
  }

  /// Keeps notes about spans that have been made, until their doubts are judged.
  ///
  /// - Parameter from: the first instant from which spans were written.
  package func keepMade(_ touched: [Window], from: Instant) throws {
    try connection.query(
      """
      UPDATE fuel.touched AS noted SET
        is_made = true,
        from_at = least(noted.from_at, \(from)::timestamptz)
      FROM unnest(\(touched.map(\.pair.stationID))::integer[], \(touched.map(\.pair.fuelID))::smallint[])
        AS made (station_id, fuel_id)
      WHERE noted.station_id = made.station_id AND noted.fuel_id = made.fuel_id
      """)
  }

  /// Notes that spans have to be judged together with those that have been made.
  package func noteMade(_ suspects: [Window]) throws {
    guard !suspects.isEmpty else { return }
    try connection.query(
      """
      INSERT INTO fuel.touched AS noted (station_id, fuel_id, from_at, is_made)
      SELECT suspect.station_id, suspect.fuel_id, min(suspect.from_at), true
      FROM unnest(
        \(suspects.map(\.pair.stationID))::integer[], \(suspects.map(\.pair.fuelID))::smallint[],
        \(suspects.map(\.from))::timestamptz[]
      ) AS suspect (station_id, fuel_id, from_at)
      GROUP BY suspect.station_id, suspect.fuel_id
      ORDER BY suspect.station_id, suspect.fuel_id
      ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET from_at = least(noted.from_at, excluded.from_at)
      """)
  }

  /// Removes the notes about spans that have been made. Returns, for each fuel, the first instant
  /// from which spans were written.
  package func takeMade() throws -> [Int16: Instant] {
    try connection.query(
      """
      WITH taken AS (
        DELETE FROM fuel.touched
        WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM fuel.touched WHERE is_made ORDER BY station_id, fuel_id FOR UPDATE))
        RETURNING fuel_id, from_at
      )
      SELECT 0 AS station_id, fuel_id, min(from_at) AS from_at FROM taken GROUP BY fuel_id
      """
    ).map(window).reduce(into: [:]) { $0[$1.pair.fuelID] = $1.from }
  }

  /// Notes that spans have to be made again from an instant on.
  package func touch(_ windows: [Window]) throws {
    guard !windows.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.touch(
        \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
        \(windows.map(\.from))::timestamptz[])
      """)
  }

  /// Returns how many notes there are about spans to be made, after those by month were turned into
  /// notes by station and fuel, and whether any notes about made spans are left.
  package func touchedCount() throws -> (toMake: Int, hasMade: Bool) {
    try connection.query("SELECT fuel.take_touched_months()")
    let row = try connection.query(
      """
      SELECT count(*) FILTER (WHERE NOT is_made) AS to_make, coalesce(bool_or(is_made), false) AS has_made
      FROM fuel.touched
      """
    ).only()
    return (try row.integer("to_make"), try row.boolean("has_made"))
  }

  func window(_ row: Row) throws -> Window {
    Window(
      pair: try row.pair(),
      from: try row.text("from_at") == "-infinity" ? .distantPast : try row.instant("from_at"))
  }

  /// Returns the stations whose spans have to be made again because of touched records, and from
  /// which instant on.
  ///
  /// - Returns: also which of the stations and fuels have more than one touched record.
  package func stations(
    of touched: [Window]
  ) throws -> (windows: [Window], shared: Set<Pair>) {
    var shared: Set<Pair> = []
    let windows = try connection.query(
      """
      SELECT station_id, fuel_id, from_at, records
      FROM fuel.touched_stations(
        \(touched.map(\.pair.stationID)), \(touched.map(\.pair.fuelID)), \(touched.map(\.from)))
      ORDER BY station_id, fuel_id
      """
    ).map { row in
      let window = try window(row)
      if try row.integer("records") > 1 { shared.insert(window.pair) }
      return window
    }
    return (windows, shared)
  }
}
