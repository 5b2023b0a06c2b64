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
        INSERT INTO fuel.touched AS known (station_id, fuel_id, from_at)
        SELECT pair.station_id, pair.fuel_id, '-infinity'::timestamptz FROM fuel.present_span AS pair
        UNION
        SELECT pair.station_id, pair.fuel_id, '-infinity'::timestamptz FROM fuel.shown_price AS pair
        ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET from_at = excluded.from_at, is_made = false
        """)
      try connection.query(
        """
        INSERT INTO fuel.touched_month (source_id, month)
        SELECT source_id, month FROM fuel.archive_coverage
        ON CONFLICT DO NOTHING
        """)
      try connection.query("UPDATE fuel.state SET days_made_until = NULL")
      try connection.query("UPDATE fuel.source SET days_known_until_at = NULL")
    }
    // Nobody knows these days, so nothing below would make them again.
    try connection.query(
      "DELETE FROM fuel.daily_rollup WHERE day > (\(now)::timestamptz + interval '14 hours')::date")
    try connection.query(
      """
      INSERT INTO fuel.dirty_day (fuel_id, day)
      SELECT DISTINCT pair.fuel_id, day.day::date
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
      ORDER BY pair.fuel_id, day.day::date
      ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
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
        SELECT fuel_id, day FROM fuel.dirty_day
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
