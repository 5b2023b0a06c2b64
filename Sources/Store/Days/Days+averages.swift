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

  /// Makes the stored station habits anew: how a station's price usually compares with the average of
  /// the smallest region in which the station lies. This is the median over days that have ended, for
  /// averaged fuels with a price from a feed that was read within the last seven days.
  ///
  /// - Parameter leastDays: with fewer days than this there is no habit.
  package func refreshHabits(
    from first: Day, to last: Day, leastDays: Int, now: Instant
  ) throws {
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.station_habit")
      try connection.query(
        """
        INSERT INTO fuel.station_habit (station_id, fuel_id, region, difference_cpl, days, until_day)
        -- Materialized: the days of a month are taken apart once, and not for each day of its region.
        WITH station_day AS MATERIALIZED (
          SELECT made.station_id, made.fuel_id, near.region, made.month + entry.place - 1 AS day, entry.mean
          FROM fuel.known_month AS made
          CROSS JOIN LATERAL fuel.days_of(made.days) AS entry
          JOIN fuel.region_station AS near ON near.station_id = made.station_id AND near.is_nearest
          WHERE made.month >= \(Month(first).firstDay)::date AND entry.standing = 1
            AND made.fuel_id IN (
              SELECT pair.fuel_id
              FROM fuel.present_span AS pair
              JOIN fuel.fuel USING (fuel_id)
              JOIN fuel.source ON source.source_id = pair.seen_by
              WHERE fuel.is_averaged AND source.last_taken_at > \(now)::timestamptz - interval '7 days')
        )
        SELECT station_id, fuel_id, region,
          -- In hundredths of a cent. A mean is in 65,536ths of a tenth of a cent.
          round((percentile_cont(0.5) WITHIN GROUP (
            ORDER BY (round(mean / 6553.6) - average_cpl * 100)::float8))::numeric) / 100,
          count(*), \(last)::date
        FROM station_day
        JOIN fuel.daily_rollup AS average USING (region, fuel_id, day)
        WHERE is_ended AND average.stations >= fuel.minimum_stations()
          AND day BETWEEN \(first)::date AND \(last)::date
        GROUP BY station_id, fuel_id, region
        HAVING count(*) >= \(leastDays)::integer
        """)
    }
  }
}
