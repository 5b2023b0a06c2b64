package import FuelModel
import Postgres
package import Timeline

/// The stored daily averages of regions: `fuel.daily_rollup`.
extension Store {
  /// Replaces the stored averages of a span of days.
  package func replace(_ span: DirtySpan, with averages: [DailyAverage]) throws {
    try connection.query(
      """
      DELETE FROM fuel.daily_rollup
      WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
      """)
    try insert(averages)
  }

  private func insert(_ averages: [DailyAverage]) throws {
    guard !averages.isEmpty else { return }
    try connection.copy(
      into: """
        fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage,
          is_ended, excluded_stale, excluded_flagged, excluded_restricted, stations_expected,
          is_complete, is_usable, complete_states, states)
        """, columns: 19
    ) { copy in
      for average in averages {
        try copy.beginRow()
        copy.write(average.region)
        copy.write(average.fuelID)
        copy.write(average.day)
        for value in [
          average.average, average.median, average.quarter, average.lowest, average.highest,
        ] { copy.write(value, decimals: 2) }
        copy.write(Int32(average.stations))
        copy.write(average.coverage, decimals: 3)
        copy.write(average.isEnded)
        copy.write(average.left.stale)
        copy.write(average.left.flagged)
        copy.write(average.left.restricted)
        copy.write(Int32(average.expected))
        copy.write(average.isComplete)
        copy.write(average.isUsable)
        copy.write(Int32(average.completeStates))
        copy.write(Int32(average.states))
      }
    }
  }

  /// Returns the averages of ended days by region, fuel and day, in hundredths of a cent.
  package func regionAverages(
    of fuelIDs: [Int16], from first: Day, to last: Day
  ) throws -> [String: [Int16: [Day: Int]]] {
    var found: [String: [Int16: [Day: Int]]] = [:]
    for row in try connection.query(
      """
      SELECT region, fuel_id, day, (average_cpl * 100)::integer AS average
      FROM fuel.daily_rollup
      WHERE is_ended AND stations >= fuel.minimum_stations()
        AND fuel_id = ANY (\(fuelIDs)) AND day BETWEEN \(first) AND \(last)
      """)
    {
      let fuelID = Int16(try row.integer("fuel_id"))
      found[try row.text("region"), default: [:]][fuelID, default: [:]][try row.day("day")] =
        try row.integer("average")
    }
    return found
  }
}
