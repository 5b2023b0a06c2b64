package import FuelModel
import Postgres
package import Timeline
import Views

/// The stored daily averages of regions: `fuel.daily_rollup`.
extension Days {
  /// Removes the averages of regions that are no longer configured.
  func remove(regions: [String]) throws {
    try connection.query("DELETE FROM fuel.daily_rollup WHERE region = ANY (\(regions))")
  }

  /// Removes the averages of days that have begun nowhere yet. A clock that was ahead made them.
  func removeFuture(now: Instant) throws {
    try connection.query(
      "DELETE FROM fuel.daily_rollup WHERE day > (\(now)::timestamptz + interval '14 hours')::date")
  }

  /// Replaces the stored averages of a span of days.
  package func replace(_ span: DueSpan, with averages: [DailyAverage]) throws {
    try connection.query(
      """
      DELETE FROM fuel.daily_rollup
      WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
      """)
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
}

/// The usual differences of stations to their regions: `fuel.station_habit`.
extension Days {
  /// Returns the last day of the stored station habits; `nil` where none are stored.
  package func lastHabitDay() throws -> Day? {
    try connection.query("SELECT max(until_day) AS day FROM fuel.station_habit").only()
      .optional("day").flatMap { Day($0) }
  }

  /// Makes the stored station habits anew, over days that have ended.
  ///
  /// - Parameter leastDays: with fewer days than this there is no habit.
  package func refreshHabits(
    from first: Day, to last: Day, leastDays: Int
  ) throws {
    try connection.query(
      "SELECT fuel.refresh_habits(\(first)::date, \(last)::date, \(leastDays)::integer)")
  }
}
