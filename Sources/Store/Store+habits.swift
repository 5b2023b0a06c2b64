package import FuelModel
import Postgres
package import Timeline

/// The usual differences of stations to their regions: `fuel.station_habit`.
extension Store {
  /// Returns the averaged fuels with a price from a feed that was read within the last seven days,
  /// and the last day of the stored station habits; `nil` where none are stored.
  package func habitsDue(now: Instant) throws -> (fuelIDs: [Int16], until: Day?) {
    let row = try connection.query(
      """
      SELECT
        (SELECT max(until_day) FROM fuel.station_habit) AS until_day,
        coalesce((
          SELECT string_agg(DISTINCT pair.fuel_id::text, ',')
          FROM fuel.present_span AS pair
          JOIN fuel.fuel USING (fuel_id)
          JOIN fuel.source ON source.source_id = pair.seen_by
          WHERE fuel.is_averaged AND source.last_taken_at > \(now)::timestamptz - interval '7 days'
        ), '') AS fuel_ids
      """
    ).only()
    return (
      try row.text("fuel_ids").split(separator: ",").compactMap { Int16($0) }.sorted(),
      try row.optional("until_day").flatMap { Day($0) }
    )
  }

  /// Replaces the stored station habits.
  ///
  /// - Parameter day: the last day on which they rest.
  package func keepHabits(_ habits: [StationHabit], until day: Day) throws {
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.station_habit")
      try connection.query(
        """
        INSERT INTO fuel.station_habit (station_id, fuel_id, region, difference_cpl, days, until_day)
        SELECT made.station_id, made.fuel_id, made.region, made.difference / 100.0, made.days, \(day)
        FROM unnest(
          \(habits.map(\.placeID))::integer[], \(habits.map(\.fuelID))::smallint[],
          \(habits.map(\.region))::text[], \(habits.map(\.difference))::integer[],
          \(habits.map(\.days))::integer[]
        ) AS made (station_id, fuel_id, region, difference, days)
        """)
    }
  }
}
