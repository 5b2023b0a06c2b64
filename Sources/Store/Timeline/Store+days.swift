package import FuelModel
import Postgres
package import Timeline

/// What averages need beside prices: the states, the regions, and where stations count.
package struct RegionContext: Sendable {
  package var places: [Int32: Place] = [:]
  /// Where station records last counted that have since been linked to another station.
  package var formerPlaces: [Int32: Place] = [:]
  package var regions: [AveragedRegion] = []
  /// The sets of regions in which stations lie, as positions among `regions`.
  package var regionSets: [[Int]] = []
  package var states: [String] = []

  /// Returns where a station's days were counted last.
  package func countedPlace(of stationID: Int32) -> Place? {
    places[stationID] ?? formerPlaces[stationID]
  }
}

/// One month of a station and fuel, with its days from the first on.
package struct StationMonth: Sendable {
  package var pair: Pair
  package var month: Month
  package var days: [StationDay]

  package init(pair: Pair, month: Month, days: [StationDay]) {
    self.pair = pair
    self.month = month
    self.days = days
  }
}

/// A range of months of a station and fuel whose days have to be made.
package struct MonthSpan: Sendable {
  package var pair: Pair
  package var first: Month
  package var last: Month
  /// Whether the averages of the changed days are made from all stations anyway. Otherwise they are
  /// changed by this station alone.
  package var isMarked: Bool

  package init(pair: Pair, first: Month, last: Month, isMarked: Bool) {
    self.pair = pair
    self.first = first
    self.last = last
    self.isMarked = isMarked
  }
}

extension Store {
  /// Reads the states and the regions, and where each station counts.
  package func regionContext() throws -> RegionContext {
    var context = RegionContext()
    context.states = try connection.query("SELECT state FROM fuel.state ORDER BY state")
      .map { try $0.text("state") }
    let states = Dictionary(
      uniqueKeysWithValues: context.states.enumerated().map { ($0.element, $0.offset) })
    var regions: [String: Int] = [:]
    for row in try connection.query(
      """
      SELECT region, state, nullif(valid_from, '-infinity') AS valid_from,
        nullif(valid_to, 'infinity') AS valid_to, kind = 'nation' AS is_nation, radius_km
      FROM fuel.region ORDER BY region
      """)
    {
      let code = try row.text("region")
      regions[code] = context.regions.count
      let isNation = try row.boolean("is_nation")
      context.regions.append(
        AveragedRegion(
          code: code, state: try row.optional("state").flatMap { states[$0] },
          validFrom: try row.optional("valid_from").flatMap { Day($0) },
          validTo: try row.optional("valid_to").flatMap { Day($0) },
          // A nation is never chosen as the smallest region.
          reach: isNation
            ? 1_000_000 : try row.optionalDouble("radius_km") ?? RegionDays.stateReach,
          isNation: isNation))
    }
    var sets: [String: Int] = [:]
    for row in try connection.query(
      """
      SELECT counted.station_id, counted.state, counted.is_public,
        array_to_string(counted.regions, ',') AS regions,
        station.place_id = station.station_id AS is_place
      FROM fuel.counted_place AS counted
      JOIN fuel.station USING (station_id)
      """)
    {
      guard let state = states[try row.text("state")] else { continue }
      let codes = try row.text("regions")
      if sets[codes] == nil {
        sets[codes] = context.regionSets.count
        context.regionSets.append(codes.split(separator: ",").compactMap { regions[String($0)] })
      }
      let stationID = Int32(try row.integer("station_id"))
      let place = Place(
        state: state, isPublic: try row.boolean("is_public"), regionSet: sets[codes] ?? 0)
      if try row.boolean("is_place") {
        context.places[stationID] = place
      } else {
        context.formerPlaces[stationID] = place
      }
    }
    return context
  }

  /// Returns the fuels for which averages are made.
  package func averagedFuels() throws -> [Int16] {
    try connection.query("SELECT fuel_id FROM fuel.fuel WHERE is_averaged ORDER BY fuel_id")
      .map { Int16(try $0.integer("fuel_id")) }
  }

  /// Returns the price days of some states between two dates, as far as they have begun.
  ///
  /// - Parameters:
  ///   - states: the states in the order of the calendar.
  ///   - needed: the states whose days are read; `nil` for all.
  ///   - now: the clock. Where every feed of a state publishes late, nothing is known of the last
  ///     hours before it.
  package func calendar(
    from first: Day, to last: Day, states: [String], needed: [String]? = nil, now: Instant
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
      WHERE day.begins_at < known.until_at AND known.state = ANY (\(needed ?? states))
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

  /// Returns whether a feed or an archive covers each day, by state and day.
  package func coveredDays(from first: Day, to last: Day, states: [String]) throws -> [[Bool]] {
    let count = last.sinceEpoch - first.sinceEpoch + 1
    var covered: [String: [Bool]] = [:]
    // A feed may report stations of another state, as it does those of the ACT.
    for row in try connection.query(
      """
      SELECT DISTINCT reported.state, told.day
      FROM (
        SELECT state, source_id FROM fuel.source
        UNION
        SELECT state, source_id FROM fuel.station
      ) AS reported
      JOIN fuel.source_day AS told USING (source_id)
      WHERE told.why IS NULL AND told.day BETWEEN \(first) AND \(last)
      """)
    {
      let state = try row.text("state")
      covered[state, default: Array(repeating: false, count: count)][
        try row.day("day").sinceEpoch - first.sinceEpoch] = true
    }
    return states.map { covered[$0] ?? Array(repeating: false, count: count) }
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
    try connection.transaction {
      try connection.query("SELECT fuel.refresh_source_days(\(now))")
    }
  }

  // MARK: Days of stations

  /// Records the price days that have ended since the last call.
  package func markEndedDays(now: Instant) throws {
    try connection.transaction {
      try connection.query("SELECT fuel.mark_ended_days(\(now))")
    }
  }

  /// Returns how many stations and fuels wait for their days to be made.
  package func staleDaysCount() throws -> Int {
    try connection.query("SELECT count(*) AS count FROM fuel.stale_days").only().integer("count")
  }

  /// Removes and returns notes about stations and fuels whose days have to be made again.
  ///
  /// - Parameters:
  ///   - count: the largest number of notes to take.
  ///   - isMarked: whether to take the notes for which the averages are made from all stations
  ///     anyway, or the others.
  ///   - share: which share of all stations to take, and of how many.
  ///   - span: if given, only notes about its fuels and its month are taken.
  package func takeStaleDays(
    atMost count: Int = .max, isMarked: Bool, share: (Int, of: Int) = (0, of: 1),
    in span: DirtySpan? = nil
  ) throws -> [MonthSpan] {
    try monthSpans(
      """
      WITH taken AS (
        SELECT noted.station_id, noted.fuel_id
        FROM fuel.stale_days AS noted
        JOIN fuel.station USING (station_id)
        LEFT JOIN fuel.counted_place AS counted USING (station_id)
        -- A station that has come since the aggregate began waits for the next one.
        WHERE (counted.station_id IS NOT NULL OR station.place_id <> station.station_id)
          AND noted.is_marked = \(isMarked)
          AND noted.station_id % \(share.of)::integer = \(share.0)::integer
          AND (\(optional: span?.fuelIDs)::smallint[] IS NULL OR (
            noted.fuel_id = ANY (\(optional: span?.fuelIDs)::smallint[])
            AND noted.first_month <= \(optional: span?.to)::date
            AND noted.last_month >= date_trunc('month', \(optional: span?.from)::timestamp)))
        ORDER BY noted.station_id, noted.fuel_id
        LIMIT \(count)
        FOR UPDATE OF noted
      )
      DELETE FROM fuel.stale_days
      USING taken
      WHERE stale_days.station_id = taken.station_id AND stale_days.fuel_id = taken.fuel_id
      RETURNING stale_days.station_id, stale_days.fuel_id, first_month, last_month, is_marked
      """)
  }

  /// Removes and returns the notes about some stations and fuels, for stations that count somewhere
  /// and days whose averages are made from all stations anyway.
  package func takeStaleDays(of pairs: [Pair]) throws -> [MonthSpan] {
    try monthSpans(
      """
      DELETE FROM fuel.stale_days
      USING unnest(\(pairs.map(\.stationID))::integer[], \(pairs.map(\.fuelID))::smallint[])
        AS pair (station_id, fuel_id)
      JOIN fuel.counted_place AS counted USING (station_id)
      WHERE stale_days.station_id = pair.station_id AND stale_days.fuel_id = pair.fuel_id AND is_marked
      RETURNING stale_days.station_id, stale_days.fuel_id, first_month, last_month, is_marked
      """)
  }

  private func monthSpans(_ statement: SQL) throws -> [MonthSpan] {
    try connection.query(statement).map { row in
      MonthSpan(
        pair: try row.pair(),
        first: Month(try row.day("first_month")), last: Month(try row.day("last_month")),
        isMarked: try row.boolean("is_marked"))
    }.sorted { $0.pair < $1.pair }
  }

  /// Replaces the stored months of stations.
  ///
  /// The number of stations expected in a month, and in the one after it, depends on the stations
  /// known in that month. Where this changes, the averages of both months are marked, except for
  /// stations whose days are changed one by one.
  ///
  /// - Parameters:
  ///   - spans: the months to be replaced.
  ///   - areMarksTaken: whether another connection may be making averages, so that an existing mark
  ///     may vanish at any instant.
  package func replace(
    _ spans: [MonthSpan], with months: [StationMonth], areMarksTaken: Bool = false, now: Instant
  ) throws {
    struct Known: Hashable {
      var pair: Pair
      var month: Int32
    }
    let removed = try connection.query(
      """
      DELETE FROM fuel.station_month
      USING unnest(
        \(spans.map(\.pair.stationID))::integer[], \(spans.map(\.pair.fuelID))::smallint[],
        \(spans.map(\.first.firstDay))::date[], \(spans.map(\.last.firstDay))::date[]
      ) AS made (station_id, fuel_id, first_month, last_month)
      WHERE station_month.station_id = made.station_id
        AND station_month.fuel_id = made.fuel_id
        AND station_month.month BETWEEN made.first_month AND made.last_month
      RETURNING station_month.station_id, station_month.fuel_id, station_month.month,
        station_month.known_days > 0 AS is_known
      """)
    var before: Set<Known> = []
    for row in removed where try row.boolean("is_known") {
      before.insert(
        Known(
          pair: try row.pair(), month: Month(try row.day("month")).number))
    }
    let after = Set(
      months.filter { $0.days.contains { $0.standing == .known } }
        .map { Known(pair: $0.pair, month: $0.month.number) })
    let unmarked = Set(spans.lazy.filter { !$0.isMarked }.map(\.pair))
    try markExpectations(
      Set(
        before.symmetricDifference(after).filter { !unmarked.contains($0.pair) }
          .map { [Int32($0.pair.fuelID), $0.month] }), areMarksTaken: areMarksTaken, now: now)
    try ensureSpanYears(Set(months.map { $0.month.firstDay.year }))
    try connection.copy(into: "fuel.station_month", columns: 5) { copy in
      for month in months {
        try copy.beginRow()
        copy.write(month.pair.stationID)
        copy.write(month.pair.fuelID)
        copy.write(month.month.firstDay)
        copy.write(Int32(month.days.count { $0.standing == .known }))
        copy.write(bytes: StationDay.bytes(of: month.days))
      }
    }
  }

  /// Marks the days of some months of fuels, and of the month after each.
  private func markExpectations(
    _ changed: Set<[Int32]>, areMarksTaken: Bool, now: Instant
  ) throws {
    guard !changed.isEmpty else { return }
    let changed = changed.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }
    try connection.query(
      """
      INSERT INTO fuel.dirty_day (fuel_id, day)
      SELECT changed.fuel_id, changed.day
      FROM (
        SELECT DISTINCT changed.fuel_id, series.day::date AS day
        FROM unnest(
          \(changed.map { Int16($0[0]) })::smallint[],
          \(changed.map { Month(number: $0[1]).firstDay })::date[]
        ) AS changed (fuel_id, month)
        CROSS JOIN LATERAL generate_series(
          changed.month::timestamp,
          least(
            changed.month + interval '2 months' - interval '1 day',
            \(now)::timestamptz AT TIME ZONE 'UTC' + interval '14 hours'), interval '1 day') AS series (day)
      ) AS changed
      -- Where nobody takes marks meanwhile, existing marks are left as they are.
      LEFT JOIN fuel.dirty_day AS known
        ON NOT \(areMarksTaken) AND known.fuel_id = changed.fuel_id AND known.day = changed.day
      WHERE known.day IS NULL
      ORDER BY 1, 2
      ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
      """)
  }

  /// Reads the days of stations within one month.
  ///
  /// - Parameter body: receives a station and fuel, whether a price is known on any day of the
  ///   whole month, and the days from `first` on, as far as they are made.
  package func stationDays(
    of fuelIDs: [Int16], from first: Day, to last: Day,
    _ body: (Pair, Bool, ArraySlice<StationDay>) -> Void
  ) throws {
    try connection.copy(
      from: """
        SELECT station_id, fuel_id, known_days, days
        FROM fuel.station_month
        WHERE month = \(Month(first).firstDay) AND fuel_id = ANY (\(fuelIDs)::smallint[])
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      let isKnown = try row.int32() > 0
      body(
        pair, isKnown,
        StationDay.days(from: try row.bytes()).prefix(last.day).dropFirst(first.day - 1))
    }
  }

  /// Returns the stations and fuels with a known price in a month.
  package func knownPairs(of fuelIDs: [Int16], in month: Month) throws -> Set<Pair> {
    var found: Set<Pair> = []
    try connection.copy(
      from: """
        SELECT station_id, fuel_id
        FROM fuel.station_month
        WHERE month = \(month.firstDay) AND fuel_id = ANY (\(fuelIDs)::smallint[]) AND known_days > 0
        """
    ) { row in
      found.insert(Pair(stationID: try row.int32(), fuelID: try row.int16()))
    }
    return found
  }

  /// Returns every station of some fuels that has validity spans, with the fuel.
  package func pairs(ofFuels fuelIDs: [Int16]) throws -> [Pair] {
    try connection.query(
      """
      SELECT station_id, fuel_id FROM fuel.present_span WHERE fuel_id = ANY (\(fuelIDs))
      ORDER BY station_id, fuel_id
      """
    ).map { try $0.pair() }
  }

  // MARK: Averages

  /// Removes the marks of a span of days. Whatever is marked after this concerns prices that the
  /// caller has not seen yet.
  ///
  /// This has to come before any reading. A run that commits later finds no row, waits for this
  /// transaction, and marks its days anew. A run that marked them earlier has committed by the time
  /// this transaction holds the rows. Deleting the marks at the end instead would drop the mark of
  /// a run that committed in between.
  package func takeMarks(of span: DirtySpan) throws {
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
