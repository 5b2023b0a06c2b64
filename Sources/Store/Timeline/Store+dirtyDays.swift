package import FuelModel
import Postgres

/// A span of price days of some fuels whose averages have to be made again.
package struct DirtySpan: Sendable, Equatable {
  package var fuelIDs: [Int16]
  package var from: Day
  package var to: Day
}

extension Store {
  /// Marks everything to be made again: the spans, days and averages of all stations, or, from a
  /// given day on, the averages alone.
  package func markAllDirty(from day: Day?, now: Instant) throws {
    if day == nil {
      try connection.query(
        """
        INSERT INTO fuel.due (step, number, part, from_on, until_on)
        SELECT 'spans', station_id, fuel_id, '-infinity'::date, 'infinity'::date FROM fuel.present_span
        UNION
        SELECT 'spans', station_id, fuel_id, '-infinity', 'infinity' FROM fuel.shown_price
        UNION ALL
        SELECT 'months', month - date '1970-01-01', source_id, month, month FROM fuel.archive_coverage
        ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET from_on = excluded.from_on, until_on = excluded.until_on
        """)
      try connection.query("UPDATE fuel.state SET days_made_until = NULL")
      try connection.query("UPDATE fuel.source SET days_known_until_at = NULL")
    }
    // Nobody knows these days, so nothing below would make them again.
    try connection.query(
      "DELETE FROM fuel.daily_rollup WHERE day > (\(now)::timestamptz + interval '14 hours')::date")
    try connection.query(
      """
      INSERT INTO fuel.due (step, number, part, from_on, until_on)
      SELECT DISTINCT 'averages', day.day::date - date '1970-01-01', pair.fuel_id, day.day::date, day.day::date
      FROM (
        SELECT DISTINCT fuel_id FROM fuel.present_span
        UNION
        SELECT DISTINCT fuel_id FROM fuel.shown_price
        UNION
        SELECT DISTINCT fuel_id FROM fuel.daily_rollup
      ) AS pair
      CROSS JOIN generate_series(
        coalesce(
          \(optional: day)::date,
          least(
            (SELECT min(first_taken_at) - interval '1 day' FROM fuel.source)::date,
            (SELECT min(daily_rollup.day) FROM fuel.daily_rollup))),
        (\(now)::timestamptz + interval '14 hours')::date, interval '1 day') AS day (day)
      ORDER BY 2, 3
      ON CONFLICT ON CONSTRAINT due_pk DO UPDATE SET from_on = excluded.from_on
      """)
  }

  /// Returns which averages have to be made again: those of dirty days, and of every day after the
  /// last day of the nation that had ended when it was made, because a day without new prices is
  /// still a day. Each span lies within one month.
  package func dirtySpans(now: Instant) throws -> [DirtySpan] {
    let rows = try connection.query(
      """
      WITH unfinished AS (
        SELECT coalesce(
          (
            -- The nation's day ends last.
            SELECT max(day) + 1
            FROM fuel.daily_rollup
            JOIN fuel.region USING (region)
            WHERE is_ended AND region.kind = 'nation'
          ),
          (SELECT (min(first_taken_at) - interval '1 day')::date FROM fuel.source)
        ) AS begins_on
      ),
      dirty AS (
        SELECT part AS fuel_id, from_on AS day FROM fuel.due WHERE step = 'averages'
        UNION
        SELECT pair.fuel_id, day.day::date
        FROM (SELECT DISTINCT fuel_id FROM fuel.present_span) AS pair
        CROSS JOIN unfinished
        CROSS JOIN generate_series(
          unfinished.begins_on,
          -- The newest day is the latest that has begun in any state.
          (SELECT max((\(now)::timestamptz AT TIME ZONE state.time_zone)::date) FROM fuel.state),
          interval '1 day'
        ) AS day (day)
      )
      SELECT day, array_agg(fuel_id ORDER BY fuel_id)::text AS fuel_ids
      FROM dirty
      GROUP BY day
      ORDER BY day
      """)
    var spans: [DirtySpan] = []
    for row in rows {
      let day = try row.day("day")
      let fuelIDs = try row.text("fuel_ids").dropFirst().dropLast().split(separator: ",")
        .compactMap { Int16($0) }
      if let last = spans.last, last.fuelIDs == fuelIDs, last.to + 1 == day,
        Month(last.from) == Month(day)
      {
        spans[spans.count - 1].to = day
      } else {
        spans.append(DirtySpan(fuelIDs: fuelIDs, from: day, to: day))
      }
    }
    return spans
  }
}
