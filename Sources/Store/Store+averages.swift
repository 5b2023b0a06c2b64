package import FuelModel
import Postgres
package import Trends

/// What averages are made from beside prices: who tells, of which places, and where they count.
package struct Bearings: Sendable {
  var rules: [Int16: SourceRules]
  var places: [Int32: Place]
  var regions: [AveragedRegion]
  /// The regions that places lie in together, by their positions.
  var regionSets: [[Int]]
  var states: [String]
  /// No source, and no archive, is believed for longer than this after a stamp, in microseconds.
  var longestLapse: Int64 = 0
  var longestArchiveLapse: Int64 = 0
}

extension Store {
  /// Reads who tells of which places and where they count.
  package func bearings() throws -> Bearings {
    var bearings = Bearings(rules: [:], places: [:], regions: [], regionSets: [], states: [])
    for row in try connection.query(
      """
      SELECT
        source_id,
        kind = 'archive' AS is_archive,
        (extract(epoch FROM price_lapses_after) * 1000000)::bigint AS price_lapses,
        (extract(epoch FROM sight_lapses_after) * 1000000)::bigint AS sight_lapses,
        holding_confirms,
        CASE WHEN NOT tells_whole_days AND kind = 'feed' THEN first_taken_at END AS speaks_from,
        NOT tells_whole_days AND kind = 'feed' AND first_taken_at IS NULL AS is_silent
      FROM fuel.source
      """)
    where try !row.boolean("is_silent") {
      let lapse = Int64(try row.integer("price_lapses"))
      bearings.longestLapse = max(bearings.longestLapse, lapse)
      if try row.boolean("is_archive") {
        bearings.longestArchiveLapse = max(bearings.longestArchiveLapse, lapse)
      }
      bearings.rules[Int16(try row.integer("source_id"))] = SourceRules(
        priceLapsesAfter: lapse,
        sightLapsesAfter: Int64(try row.integer("sight_lapses")),
        speaksFrom: try row.optionalInstant("speaks_from") ?? .distantPast,
        holdingConfirms: try row.boolean("holding_confirms"))
    }
    bearings.states = try connection.query("SELECT state FROM fuel.state ORDER BY state")
      .map { try $0.text("state") }
    let states = Dictionary(
      uniqueKeysWithValues: bearings.states.enumerated().map { ($0.element, $0.offset) })
    var regions: [String: Int] = [:]
    for row in try connection.query(
      """
      SELECT region, state, nullif(valid_from, '-infinity') AS valid_from,
        nullif(valid_to, 'infinity') AS valid_to,
        -- The nation is never the nearest.
        CASE WHEN kind = 'nation' THEN 1000000 ELSE coalesce(radius_km, 100000) END AS reach
      FROM fuel.region ORDER BY region
      """)
    {
      let code = try row.text("region")
      regions[code] = bearings.regions.count
      bearings.regions.append(
        AveragedRegion(
          code: code, state: try row.optional("state").flatMap { states[$0] },
          validFrom: try row.optional("valid_from").flatMap { Day($0) },
          validTo: try row.optional("valid_to").flatMap { Day($0) },
          reach: try row.optionalDouble("reach") ?? 0))
    }
    var sets: [String: Int] = [:]
    for row in try connection.query(
      """
      SELECT station.station_id, station.state, station.is_public,
        coalesce(string_agg(region_station.region, ',' ORDER BY region_station.region), '') AS regions
      FROM fuel.station
      LEFT JOIN fuel.region_station USING (station_id)
      WHERE station.place_id = station.station_id
      GROUP BY station.station_id
      """)
    {
      guard let state = states[try row.text("state")] else { continue }
      let codes = try row.text("regions")
      if sets[codes] == nil {
        sets[codes] = bearings.regionSets.count
        bearings.regionSets.append(
          codes.split(separator: ",").compactMap { regions[String($0)] })
      }
      bearings.places[Int32(try row.integer("station_id"))] = Place(
        state: state, isPublic: try row.boolean("is_public"), regionSet: sets[codes] ?? 0)
    }
    return bearings
  }

  /// The fuels of which averages are made.
  package func averagedFuels() throws -> [Int16] {
    try connection.query("SELECT fuel_id FROM fuel.fuel WHERE is_averaged ORDER BY fuel_id")
      .map { Int16(try $0.integer("fuel_id")) }
  }

  /// Makes the averages of one span again, whole: deletes them and inserts them.
  package func rebuild(_ span: DirtySpan, now: Instant) throws {
    try connection.transaction {
      // First of all: a run that commits from here on finds no row, waits for us, and marks its days
      // anew; one that marked them before has committed once we hold the rows. Deleting at the end
      // would drop the mark of a run that committed in between.
      try connection.query(
        """
        SELECT FROM fuel.dirty_day
        WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
        ORDER BY fuel_id, day
        FOR UPDATE
        """)
      try connection.query(
        """
        DELETE FROM fuel.dirty_day
        WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
        """)
      try connection.query(
        """
        DELETE FROM fuel.daily_rollup
        WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
        """)
      // Who tells of which place is read here too: what changed it before we had the marks counts.
      try write(averages(span, bearings: bearings(), now: now, knownAt: nil))
    }
  }

  /// Computes the averages of a span.
  ///
  /// - Parameters:
  ///   - now: days and parts of days after it do not exist.
  ///   - knownAt: what was learnt later does not count; `nil`: everything does.
  package func averages(
    _ span: DirtySpan, bearings: Bearings, now: Instant, knownAt: Instant?
  ) throws -> [DailyAverage] {
    let (made, doubtful) = try made(span, bearings: bearings, now: now, knownAt: knownAt)
    return made.averages(without: doubtful)
  }

  /// Computes where every station usually stands beside its smallest region, over a span of days.
  package func habits(
    _ span: DirtySpan, bearings: Bearings, now: Instant, leastDays: Int
  ) throws -> [StationHabit] {
    let (made, doubtful) = try made(span, bearings: bearings, now: now, knownAt: nil)
    return made.habits(
      beside: made.averages(without: doubtful), without: doubtful, leastDays: leastDays)
  }

  private func made(
    _ span: DirtySpan, bearings: Bearings, now: Instant, knownAt: Instant?
  ) throws -> (DailyAverages, Set<FarPrice>) {
    let known = knownAt?.description ?? "infinity"
    let calendar = try calendar(span, states: bearings.states, now: now)
    let hasBegun = calendar.beginsAt < calendar.endsAt
    let (sightings, readUntil) =
      hasBegun
      ? try sightings(
        from: calendar.beginsAt, until: calendar.endsAt, now: now,
        known: known)
      : (Sightings([:]), calendar.endsAt)
    var averages = DailyAverages(
      fuelIDs: span.fuelIDs, calendar: calendar, rules: bearings.rules, places: bearings.places,
      regions: bearings.regions, regionSets: bearings.regionSets, sightings: sightings)
    guard hasBegun else { return (averages, []) }
    var pair: [PriceEvent] = []
    try events(
      of: span.fuelIDs, bearings: bearings, from: calendar.beginsAt, until: readUntil,
      known: known
    ) { event in
      if let last = pair.last, last.placeID != event.placeID || last.fuelID != event.fuelID {
        averages.take(&pair)
        pair.removeAll(keepingCapacity: true)
      }
      pair.append(event)
    }
    averages.take(&pair)
    let far = averages.farPrices()
    return (
      averages, try far.isEmpty ? [] : doubtful(far, known: known)
    )
  }

  private func calendar(_ span: DirtySpan, states: [String], now: Instant) throws -> PriceCalendar {
    // Where every feed of a state publishes late, nothing is known of the hours before now.
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
          \(now)::timestamptz - coalesce((
            SELECT min(source.delay) FROM fuel.source WHERE source.state = state.state
          ), '0') AS until_at
        FROM fuel.state
      ) AS known
      CROSS JOIN generate_series(\(span.from)::date, \(span.to)::date, interval '1 day') AS series (day)
      CROSS JOIN LATERAL (
        SELECT
          fuel.price_day_begin(series.day::date, known.time_zone, known.price_day_starts) AS begins_at,
          fuel.price_day_begin(series.day::date + 1, known.time_zone, known.price_day_starts) AS ends_at
      ) AS day
      WHERE day.begins_at < known.until_at
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
      first: span.from, count: span.to.sinceEpoch - span.from.sinceEpoch + 1,
      days: states.map { days[$0] ?? [] })
  }

  /// The complete lists in a window, the last one before it, and the first one after it; and how far
  /// behind the window events must be read: where a feed was silent at its end, what came before its
  /// next list tells whether that list still confirmed a price.
  private func sightings(
    from begin: Instant, until end: Instant, now: Instant, known: String
  ) throws -> (Sightings, Instant) {
    let rows = try connection.query(
      """
      SELECT source.source_id, seen.taken_at,
        seen.taken_at >= \(end)::timestamptz AND coalesce(
          before.last_at + source.sight_lapses_after < \(end)::timestamptz, true) AS is_after_silence
      FROM fuel.source
      CROSS JOIN LATERAL (
        SELECT max(run.taken_at) AS last_at
        FROM fuel.run
        WHERE run.source_id = source.source_id AND run.is_complete
          AND run.taken_at < \(end) AND run.taken_at <= \(now) AND coalesce(run.fetched_at, run.taken_at) <= \(known)
      ) AS before
      CROSS JOIN LATERAL (
        SELECT run.taken_at
        FROM fuel.run
        WHERE run.source_id = source.source_id AND run.is_complete
          AND run.taken_at > \(begin) AND run.taken_at < \(end) AND run.taken_at <= \(now) AND coalesce(run.fetched_at, run.taken_at) <= \(known)
        UNION ALL (
          SELECT run.taken_at
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.is_complete
            AND run.taken_at <= \(begin) AND run.taken_at <= \(now) AND coalesce(run.fetched_at, run.taken_at) <= \(known)
          ORDER BY run.taken_at DESC
          LIMIT 1)
        UNION ALL (
          SELECT run.taken_at
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.is_complete
            AND run.taken_at >= \(end) AND run.taken_at <= \(now) AND coalesce(run.fetched_at, run.taken_at) <= \(known)
          ORDER BY run.taken_at
          LIMIT 1)
      ) AS seen
      ORDER BY source.source_id, seen.taken_at
      """)
    var instants: [Int16: [Instant]] = [:]
    var readUntil = end
    for row in rows {
      let taken = try row.instant("taken_at")
      instants[Int16(try row.integer("source_id")), default: []].append(taken)
      // What it told itself ends what was before it.
      if try row.boolean("is_after_silence") {
        readUntil = max(readUntil, Instant(microseconds: taken.microseconds + 1))
      }
    }
    return (Sightings(instants), readUntil)
  }

  /// Reads what happened to every place and fuel in a window, and the last thing before it of each
  /// record, place by place.
  private func events(
    of fuelIDs: [Int16], bearings: Bearings, from begin: Instant, until end: Instant, known: String,
    _ body: (PriceEvent) -> Void
  ) throws {
    func back(_ microseconds: Int64) -> Instant {
      Instant(microseconds: begin.microseconds - microseconds)
    }
    try connection.copy(
      from: """
        SELECT event.place_id, event.fuel_id, event.source_id, event.station_id, event.effective_at,
          event.price_tenths, event.stamped_at, event.learnt_at
        FROM (
          -- What held when the window began ...
          SELECT
            station.place_id,
            cached.fuel_id,
            cached.source_id,
            cached.station_id,
            greatest(carried.effective_at, shown.changed_at) AS effective_at,
            CASE WHEN shown.is_listed IS FALSE THEN 0 ELSE carried.price_tenths END AS price_tenths,
            carried.effective_at AS stamped_at,
            CASE
              WHEN shown.changed_at > carried.effective_at THEN shown.changed_at
              ELSE carried.learnt_at
            END AS learnt_at
          FROM fuel.current_price AS cached
          JOIN fuel.source USING (source_id)
          JOIN fuel.station USING (station_id)
          CROSS JOIN LATERAL (
            SELECT price.effective_at, price.price_tenths, price.learnt_at
            FROM fuel.price
            WHERE price.station_id = cached.station_id
              AND price.fuel_id = cached.fuel_id
              AND price.source_id = cached.source_id
              AND price.effective_at <= \(begin)
              AND price.effective_at > \(begin)::timestamptz - source.price_lapses_after
              -- No source is believed for longer: for the server to leave out months by.
              AND price.effective_at > \(back(bearings.longestLapse))
              AND price.learnt_at <= \(known)
            ORDER BY price.effective_at DESC, price.learnt_at DESC, price.price_tenths DESC
            LIMIT 1
          ) AS carried
          LEFT JOIN LATERAL fuel.shown_at(
            cached.station_id, cached.fuel_id, cached.source_id, carried.effective_at,
            \(begin)::timestamptz) AS shown ON true
          WHERE cached.fuel_id = ANY (\(fuelIDs)::smallint[])
          UNION ALL
          -- ... by an archive, whose month is read anyway ...
          SELECT
            station.place_id,
            archived.fuel_id,
            archived.source_id,
            archived.station_id,
            archived.effective_at,
            archived.price_tenths,
            archived.effective_at,
            archived.effective_at
          FROM fuel.archive_price AS archived
          JOIN fuel.station USING (station_id)
          WHERE archived.fuel_id = ANY (\(fuelIDs)::smallint[])
            AND archived.effective_at <= \(begin)
            -- What its own archive believes for less long ends before the window.
            AND archived.effective_at > \(back(bearings.longestArchiveLapse))
          UNION ALL
          -- ... and what happened in it.
          SELECT
            event.place_id,
            event.fuel_id,
            event.source_id,
            event.station_id,
            event.effective_at,
            event.price_tenths,
            event.stamped_at,
            event.learnt_at
          FROM fuel.price_event AS event
          WHERE event.fuel_id = ANY (\(fuelIDs)::smallint[])
            AND event.effective_at > \(begin)
            AND event.effective_at < \(end)
            AND event.learnt_at <= \(known)
        ) AS event
        ORDER BY event.place_id, event.fuel_id
        """
    ) { row in
      body(
        PriceEvent(
          placeID: try row.int32(), fuelID: try row.int16(),
          sourceID: try row.int16(), stationID: try row.int32(),
          effectiveAt: try instant(&row), price: try row.int32(),
          stampedAt: try instant(&row), learntAt: try instant(&row)))
    }
  }

  /// Microseconds since 2000, as the server sends them.
  private func instant(_ row: inout BinaryRow) throws -> Instant {
    Instant(microseconds: try row.int64() + 946_684_800_000_000)
  }

  private func doubtful(_ far: [FarPrice], known: String) throws -> Set<FarPrice> {
    return Set(
      try connection.query(
        """
        SELECT doubtful.position
        FROM fuel.doubtful_prices(
          \(far.map(\.placeID)), \(far.map(\.stationID)), \(far.map(\.fuelID)), \(far.map(\.sourceID)),
          \(far.map(\.price)), \(far.map(\.effectiveAt)), \(far.map(\.day)), \(far.map(\.fromAt)),
          \(known)
        ) AS doubtful (position)
        """
      ).map { far[try $0.integer("position") - 1] })
  }

  private func write(_ averages: [DailyAverage]) throws {
    guard !averages.isEmpty else { return }
    try connection.query(
      """
      INSERT INTO fuel.daily_rollup (
        region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage,
        is_ended, excluded_stale, excluded_flagged, excluded_restricted)
      SELECT
        made.region, made.fuel_id, made.day, made.average / 100.0, made.median / 100.0,
        made.quarter / 100.0, made.lowest / 100.0, made.highest / 100.0, made.stations,
        made.coverage / 1000.0, made.is_ended, made.stale, made.flagged, made.restricted
      FROM unnest(
        \(averages.map(\.region))::text[], \(averages.map(\.fuelID))::smallint[],
        \(averages.map(\.day))::date[], \(averages.map(\.average))::integer[],
        \(averages.map(\.median))::integer[], \(averages.map(\.quarter))::integer[],
        \(averages.map(\.lowest))::integer[], \(averages.map(\.highest))::integer[],
        \(averages.map(\.stations))::integer[], \(averages.map(\.coverage))::integer[],
        \(averages.map(\.isEnded))::boolean[], \(averages.map(\.excludedStale))::integer[],
        \(averages.map(\.excludedFlagged))::integer[], \(averages.map(\.excludedRestricted))::integer[]
      ) AS made (
        region, fuel_id, day, average, median, quarter, lowest, highest, stations, coverage, is_ended,
        stale, flagged, restricted)
      """)
  }
}
