package import FuelModel
import Postgres
package import Timeline
import Views

/// A range of months of a station and fuel whose days have to be made.
package struct MonthSpan: Sendable {
  package var pair: Pair
  package var first: Month
  package var last: Month
}

/// The list of what an aggregate has to make again.
package struct Due {
  let store: Store
  var connection: Connection { store.connection }
}

/// The list of what an aggregate has to make again: `fuel.due`.
extension Due {
  /// Lists spans to be made again from an instant on, by station record and fuel.
  package func touch(_ windows: [Window]) throws {
    guard !windows.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.touch(
        \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
        \(windows.map(\.from))::timestamptz[])
      """)
  }

  /// Marks the days on which prices of stations and fuels changed.
  ///
  /// - Parameter isAggregate: whether nobody else can take marks meanwhile.
  package func markChangedDays(
    _ changed: [Window], isAggregate: Bool, now: Instant
  ) throws {
    // In parts, because parameters take several times as much memory as the changes.
    for begin in stride(from: 0, to: changed.count, by: 50_000) {
      let part = changed[begin..<min(begin + 50_000, changed.count)]
      try connection.query(
        """
        SELECT fuel.mark_changed_days(
          \(part.map(\.pair.stationID)), \(part.map(\.pair.fuelID)), \(part.map(\.from)),
          \(part.map(\.until)), \(isAggregate), \(now))
        """)
    }
  }

  /// Records the price days that have ended since the last call.
  package func markEndedDays(now: Instant) throws {
    try connection.query("SELECT fuel.mark_ended_days(\(now))")
  }

  /// Returns how many station records and fuels wait for their spans, those of listed months of
  /// archives included.
  package func spansDue() throws -> Int {
    try connection.query("SELECT fuel.take_months()")
    return try due(.spans)
  }

  /// Returns how many stations and fuels wait for their days.
  package func daysDue() throws -> Int { try due(.days) }

  private func due(_ step: Step) throws -> Int {
    try connection.query("SELECT count(*) AS count FROM fuel.due WHERE step = \(step.rawValue)")
      .only().integer("count")
  }

  /// What is made of pairs of stations and fuels.
  package enum Step: String { case spans, days }

  /// Returns the station records and fuels of a share of all stations that wait for their spans, or
  /// the stations and fuels that wait for their days. Those of one station follow one another.
  ///
  /// - Parameter span: if given, only days of its fuels and its month are meant.
  package func waiting(
    for step: Step, share: (Int, of: Int) = (0, of: 1), in span: DueSpan? = nil
  ) throws -> [Pair] {
    try connection.query(
      """
      SELECT due.number AS station_id, due.part AS fuel_id
      FROM fuel.due
      JOIN fuel.station ON station.station_id = due.number
      LEFT JOIN fuel.counted_place AS counted USING (station_id)
      WHERE due.step = \(step.rawValue)
        -- The days of a station that has come since the aggregate began wait for the next one.
        AND (due.step = 'spans' OR counted.station_id IS NOT NULL OR station.place_id <> station.station_id)
        AND station.place_id % \(share.of)::integer = \(share.0)::integer
        AND (\(optional: span?.fuelIDs)::smallint[] IS NULL OR (
          due.part = ANY (\(optional: span?.fuelIDs)::smallint[])
          AND date_trunc('month', due.from_on::timestamp) <= \(optional: span?.to)::date
          AND due.until_on >= date_trunc('month', \(optional: span?.from)::date::timestamp)))
      ORDER BY station.place_id, due.number, due.part
      """
    ).map { try $0.pair() }
  }

  /// Takes station records and fuels from the list whose spans have to be made.
  package func takeSpans(of pairs: some Sequence<Pair>) throws -> [Window] {
    try take(.spans, pairs).map { try $0.window() }
  }

  /// Takes stations and fuels from the list whose days have to be made.
  package func takeDays(of pairs: some Sequence<Pair>) throws -> [MonthSpan] {
    try take(.days, pairs).map(monthSpan).sorted { $0.pair < $1.pair }
  }

  private func monthSpan(_ row: Row) throws -> MonthSpan {
    MonthSpan(
      pair: try row.pair(), first: Month(try row.day("from_on")),
      last: Month(try row.day("until_on")))
  }

  private func take(_ step: Step, _ pairs: some Sequence<Pair>) throws -> [Row] {
    let (stations, fuels) = (pairs.map(\.stationID), pairs.map(\.fuelID))
    // All transactions lock these rows in this order.
    try connection.query(
      """
      SELECT
      FROM fuel.due
      JOIN unnest(\(stations)::integer[], \(fuels)::smallint[]) AS pair (number, part) USING (number, part)
      WHERE due.step = \(step.rawValue)
      ORDER BY number, part
      FOR UPDATE OF due
      """)
    return try Array(
      connection.query(
        """
        DELETE FROM fuel.due
        USING unnest(\(stations)::integer[], \(fuels)::smallint[]) AS pair (number, part)
        WHERE due.step = \(step.rawValue) AND due.number = pair.number AND due.part = pair.part
        RETURNING due.number AS station_id, due.part AS fuel_id, due.from_on, due.until_on,
          due.from_on::timestamp AT TIME ZONE 'UTC' AS from_at
        """))
  }

  /// Takes the days of a span and of its month from the list. Whatever is listed after this concerns
  /// prices that the caller has not seen yet. Returns the span with all days that were listed by now.
  ///
  /// This has to come before any reading. A run that commits later finds no row, waits for this
  /// transaction, and lists its days anew. A run that listed them earlier has committed by the time
  /// this transaction holds the rows. Deleting the rows at the end instead would drop the day of a
  /// run that committed in between.
  package func takeAverages(of span: DueSpan) throws -> DueSpan {
    let month = Month(span.from).firstDay.sinceEpoch
    try connection.query(
      """
      SELECT FROM fuel.due
      WHERE step = 'averages' AND part = ANY (\(span.fuelIDs)) AND number = \(month)
      ORDER BY part
      FOR UPDATE
      """)
    var taken = span
    for row in try connection.query(
      """
      DELETE FROM fuel.due
      WHERE step = 'averages' AND part = ANY (\(span.fuelIDs)) AND number = \(month)
      RETURNING from_on, until_on
      """)
    {
      taken.from = min(taken.from, try row.day("from_on"))
      taken.to = max(taken.to, try row.day("until_on"))
    }
    return taken
  }

  /// Returns the stations whose spans have to be made again because of touched records, and from
  /// which instant on.
  package func stations(of touched: [Window]) throws -> [Window] {
    try connection.query(
      """
      SELECT station_id, fuel_id, from_at
      FROM fuel.touched_stations(
        \(touched.map(\.pair.stationID)), \(touched.map(\.pair.fuelID)), \(touched.map(\.from)))
      ORDER BY station_id, fuel_id
      """
    ).map { try $0.window() }
  }
}

/// A span of price days of some fuels whose averages have to be made again.
package struct DueSpan: Sendable, Equatable {
  package var fuelIDs: [Int16]
  package var from: Day
  package var to: Day
}

extension Due {
  /// Marks everything to be made again: the spans, days and averages of all stations, or, from a
  /// given day on, the averages alone.
  package func listAllDays(from day: Day?, now: Instant) throws {
    if day == nil {
      try connection.query(
        """
        SELECT fuel.touch(
          array_agg(pair.station_id), array_agg(pair.fuel_id), array_agg('-infinity'::timestamptz))
        FROM (
          SELECT station_id, fuel_id FROM fuel.present_span
          UNION
          SELECT station_id, fuel_id FROM fuel.shown_price
        ) AS pair
        """)
      try connection.query(
        "SELECT fuel.touch_months(source_id, array_agg(month)) FROM fuel.archive_coverage GROUP BY source_id"
      )
      try connection.query("UPDATE fuel.state SET days_made_until = NULL")
      try connection.query("UPDATE fuel.source SET days_known_until_at = NULL")
    }
    // Nothing below would make these days again.
    try store.days.removeFuture(now: now)
    try connection.query(
      """
      SELECT fuel.touch_averages(
        array_agg(pair.fuel_id),
        array_agg(
          daterange(
            coalesce(
              \(optional: day)::date,
              least(
                (SELECT min(first_taken_at) - interval '1 day' FROM fuel.source)::date,
                (SELECT min(daily_rollup.day) FROM fuel.daily_rollup))), NULL)
            * daterange(NULL, (\(now)::timestamptz + interval '14 hours')::date, '[]')),
        false)
      FROM (
        SELECT DISTINCT fuel_id FROM fuel.present_span
        UNION
        SELECT DISTINCT fuel_id FROM fuel.shown_price
        UNION
        SELECT DISTINCT fuel_id FROM fuel.daily_rollup
      ) AS pair
      """)
  }

  /// Returns which averages have to be made again: those of listed days, and of every day after the
  /// last day of the nation that had ended when it was made, because a day without new prices is
  /// still a day. Each span lies within one month, from the first of these days to the last.
  package func dueSpans(now: Instant) throws -> [DueSpan] {
    try connection.query(
      """
      SELECT from_on, until_on, array_agg(fuel_id ORDER BY fuel_id)::text AS fuel_ids
      FROM (
        SELECT fuel_id, min(from_on) AS from_on, max(until_on) AS until_on
        FROM (
          SELECT part AS fuel_id, from_on, until_on FROM fuel.due WHERE step = 'averages'
          UNION ALL
          SELECT pair.fuel_id, series.day::date, series.day::date
          FROM (SELECT DISTINCT fuel_id FROM fuel.present_span) AS pair
          CROSS JOIN generate_series(
            coalesce(
              -- The nation's day ends last.
              (SELECT max(day) + 1 FROM fuel.daily_rollup JOIN fuel.region USING (region) WHERE is_ended AND kind = 'nation'),
              (SELECT (min(first_taken_at) - interval '1 day')::date FROM fuel.source)),
            -- The newest day is the latest that has begun in any state.
            (SELECT max((\(now)::timestamptz AT TIME ZONE time_zone)::date) FROM fuel.state),
            interval '1 day') AS series (day)
        ) AS listed
        GROUP BY fuel_id, date_trunc('month', from_on::timestamp)
      ) AS listed
      GROUP BY from_on, until_on
      ORDER BY from_on, until_on
      """
    ).map { row in
      DueSpan(
        fuelIDs: try row.text("fuel_ids").dropFirst().dropLast().split(separator: ",")
          .compactMap { Int16($0) },
        from: try row.day("from_on"), to: try row.day("until_on"))
    }
  }
}

extension Row {
  /// Reads a window from a row with `station_id`, `fuel_id` and `from_at`.
  func window() throws -> Window {
    Window(
      pair: try pair(),
      from: try text("from_at") == "-infinity" ? .distantPast : try instant("from_at"))
  }
}
