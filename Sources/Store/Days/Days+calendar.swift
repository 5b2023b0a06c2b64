package import FuelModel
import Postgres
package import Timeline
import Views

/// The price days of the states, and what is known of them.
extension Days {
  /// Returns the price days of some states between two dates, as far as they have begun.
  ///
  /// - Parameters:
  ///   - states: the states in the order of the calendar.
  ///   - now: the clock. Where every feed of a state publishes late, nothing is known of the last
  ///     hours before it.
  package func calendar(
    from first: Day, to last: Day, states: [String], now: Instant
  ) throws -> PriceCalendar {
    let rows = try connection.query(
      """
      SELECT
        known.state,
        day.begins_at,
        least(day.ends_at, known.until_at) AS ends_at,
        day.ends_at <= known.until_at AS is_ended
      FROM (
        SELECT
          state.*,
          \(now)::timestamptz - state_delay.delay AS until_at
        FROM fuel.state
        JOIN fuel.state_delay USING (state)
      ) AS known
      CROSS JOIN generate_series(\(first)::date, \(last)::date, interval '1 day') AS series (day)
      CROSS JOIN LATERAL (
        SELECT
          fuel.price_day_begin(series.day::date, known.time_zone, known.price_day_starts) AS begins_at,
          fuel.price_day_begin(series.day::date + 1, known.time_zone, known.price_day_starts) AS ends_at
      ) AS day
      WHERE day.begins_at < known.until_at AND known.state = ANY (\(states))
      ORDER BY known.state, day.begins_at
      """)
    var days: [String: [PriceCalendar.PriceDay]] = [:]
    for row in rows {
      days[try row.text("state"), default: []].append(
        PriceCalendar.PriceDay(
          beginsAt: try row.instant("begins_at"), endsAt: try row.instant("ends_at"),
          isEnded: try row.boolean("is_ended")))
    }
    return PriceCalendar(
      first: first, count: last.sinceEpoch - first.sinceEpoch + 1,
      days: states.map { days[$0] ?? [] })
  }

  /// Returns which days of some fuels and states are settled.
  ///
  /// - Parameter states: the states in the order of the calendar.
  package func settledDays(
    of fuelIDs: [Int16], from first: Day, to last: Day, states: [String]
  ) throws -> Set<SettledDay> {
    Set(
      try connection.query(
        """
        SELECT DISTINCT reported.state, fuel_id, run.day
        FROM (
          -- How many days in a row a source has covered, up to each of them.
          SELECT source_id, day, row_number() OVER (PARTITION BY source_id, before ORDER BY day) AS length
          FROM (
            SELECT source_id, day, day - row_number() OVER (PARTITION BY source_id ORDER BY day)::integer AS before
            FROM fuel.source_day
            WHERE why IS NULL AND day <= \(last)::date
              AND day >= \(first)::date - (SELECT coalesce(max(days), 0) FROM fuel.silences())
          ) AS covered
        ) AS run
        -- A feed may report stations of another state, as it does those of the ACT.
        JOIN (SELECT state, source_id FROM fuel.source UNION SELECT state, source_id FROM fuel.station)
          AS reported USING (source_id)
        CROSS JOIN unnest(\(fuelIDs)::smallint[]) AS made (fuel_id)
        LEFT JOIN fuel.silences() AS silence USING (source_id, fuel_id)
        WHERE run.day >= \(first)::date AND run.length > coalesce(silence.days, 0)
        """
      ).compactMap { row in
        guard let state = states.firstIndex(of: try row.text("state")) else { return nil }
        return SettledDay(
          try row.day("day"), fuelID: Int16(try row.integer("fuel_id")), state: state)
      })
  }

  /// Returns the instant from which the prices of each source count in averages. A source that is
  /// not in the result always counts.
  package func countsFrom() throws -> [Int16: Instant] {
    var found: [Int16: Instant] = [:]
    for row in try connection.query(
      "SELECT source_id, counts_from_at FROM fuel.sight WHERE counts_from_at IS NOT NULL")
    {
      found[Int16(try row.integer("source_id"))] = try row.instant("counts_from_at")
    }
    return found
  }

  /// Brings up to date which days each feed and archive covers.
  package func refreshSourceDays(now: Instant) throws {
    try connection.query("SELECT fuel.refresh_source_days(\(now))")
  }
}
