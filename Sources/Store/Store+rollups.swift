package import FuelModel
import Postgres

/// A region over which averages are made.
package struct Region: Sendable, Equatable {
  package var code: String
  package var name: String
  /// nation, state, capital, area or rest (of a state).
  package var kind: String
  package var state: State?
  package var centre: Position?
  package var radiusKilometres: Double?
  /// Ranges such as `2000-2234`, for stations without a position.
  package var postcodes: [String]
  /// The first price day on which it is averaged, and the first on which it no longer is; `nil`
  /// where there is no limit.
  package var from: Day?
  package var until: Day?

  package init(
    code: String, name: String, kind: String, state: State?, centre: Position?,
    radiusKilometres: Double?, postcodes: [String] = [], from: Day? = nil, until: Day? = nil
  ) {
    self.postcodes = postcodes
    self.from = from
    self.until = until
    self.code = code
    self.name = name
    self.kind = kind
    self.state = state
    self.centre = centre
    self.radiusKilometres = radiusKilometres
  }
}

/// One way in which feeds write a brand's name.
package struct BrandName: Sendable, Equatable {
  /// The name as feeds write it, in lower case.
  package var written: String
  package var brand: String
  /// The first day on which the name means that brand; `nil` where it always has.
  package var from: Day?
  /// The first day on which the name no longer means it; `nil` where it still does.
  package var until: Day?

  package init(written: String, brand: String, from: Day? = nil, until: Day? = nil) {
    self.written = written
    self.brand = brand
    self.from = from
    self.until = until
  }
}

/// A span of price days of some fuels whose averages have to be made again.
package struct DirtySpan: Sendable, Equatable {
  package var fuelIDs: [Int16]
  package var from: Day
  package var to: Day

  package init(fuelIDs: [Int16], from: Day, to: Day) {
    self.fuelIDs = fuelIDs
    self.from = from
    self.to = to
  }
}

/// An event that affected the market as a whole.
package struct MarketEvent: Sendable, Equatable {
  package var day: Day
  /// A state's code; `nil` for the nation.
  package var state: String?
  /// A fuel's code; `nil` for all fuels.
  package var fuel: String?
  package var what: String
  /// By how much the event changed the cost of a litre, in cents; `nil` where that is not stated.
  package var cents: Double?

  package init(day: Day, state: String?, fuel: String?, what: String, cents: Double?) {
    self.day = day
    self.state = state
    self.fuel = fuel
    self.what = what
    self.cents = cents
  }
}

extension Store {
  /// Takes the aggregator's lock for this session. Returns false where another session has it.
  package func lockAggregate() throws -> Bool {
    try take("SELECT pg_try_advisory_lock(2, 0) AS taken")
  }

  /// Releases the aggregator's lock.
  package func unlockAggregate() throws {
    try connection.query("SELECT pg_advisory_unlock(2, 0)")
  }

  /// Records that an aggregate begins. Earlier ones that never ended are marked as interrupted: the
  /// caller holds the lock, so none of them can still be running.
  package func beginAggregate(at instant: Instant) throws -> RunID {
    try connection.transaction {
      try connection.query(
        """
        UPDATE fuel.aggregate_run SET outcome = 'interrupted', finished_at = \(instant)
        WHERE outcome = 'running'
        """)
      let row = try connection.query(
        """
        INSERT INTO fuel.aggregate_run (started_at, outcome, days, verdicts, new_verdicts)
        VALUES (\(instant), 'running', 0, 0, 0)
        RETURNING aggregate_run_id
        """
      ).only()
      return RunID(number: try row.integer("aggregate_run_id"))
    }
  }

  /// Records how an aggregate ended well.
  package func finishAggregate(
    _ run: RunID, at instant: Instant, days: Int, verdicts: Int, newVerdicts: Int
  ) throws {
    try connection.query(
      """
      UPDATE fuel.aggregate_run SET
        outcome = 'done',
        finished_at = \(instant),
        days = \(days),
        verdicts = \(verdicts),
        new_verdicts = \(newVerdicts)
      WHERE aggregate_run_id = \(run)
      """)
  }

  /// Notifies listeners on the channel `fuel_v1` that averages and verdicts are up to date.
  package func announceAggregate(_ run: RunID, newVerdicts: Int) throws {
    try connection.query(
      """
      SELECT pg_notify('fuel_v1', jsonb_build_object(
        'version', 1, 'kind', 'aggregate', 'run', \(run)::integer,
        'new_verdicts', \(newVerdicts)::integer)::text)
      """)
  }

  /// Replaces the regions in the database by those of the configuration.
  ///
  /// - Returns: whether any region changed.
  package func refreshRegions(_ regions: [Region]) throws -> Bool {
    var changed = 0
    try connection.transaction {
      let codes = regions.map(\.code)
      // Regions to remove are looked for first, because a region is seldom removed and its averages
      // are many.
      let gone = try connection.query(
        "SELECT region FROM fuel.region WHERE NOT region = ANY (\(codes))"
      ).map { try $0.text("region") }
      if !gone.isEmpty { try remove(gone) }
      changed += gone.count
      for region in regions {
        // If the days for which a region is averaged change, where its stations count has to be
        // worked out anew.
        try connection.query(
          """
          DELETE FROM fuel.counted_place
          WHERE \(region.code) = ANY (regions) AND EXISTS (
            SELECT
            FROM fuel.region AS known
            WHERE known.region = \(region.code)
              AND (known.valid_from, known.valid_to) IS DISTINCT FROM (
                coalesce(\(optional: region.from)::date, '-infinity'),
                coalesce(\(optional: region.until)::date, 'infinity')))
          """)
        changed += try connection.query(
          """
          INSERT INTO fuel.region AS known (
            region, name, kind, state, latitude, longitude, radius_km, postcodes, valid_from,
            valid_to)
          VALUES (
            \(region.code), \(region.name), \(region.kind), \(optional: region.state?.code),
            \(optional: region.centre?.latitude), \(optional: region.centre?.longitude), \(optional: region.radiusKilometres),
            \(region.postcodes), coalesce(\(optional: region.from)::date, '-infinity'),
            coalesce(\(optional: region.until)::date, 'infinity'))
          ON CONFLICT ON CONSTRAINT region_pk DO UPDATE SET
            name = excluded.name, kind = excluded.kind, state = excluded.state,
            latitude = excluded.latitude, longitude = excluded.longitude,
            radius_km = excluded.radius_km, postcodes = excluded.postcodes,
            valid_from = excluded.valid_from, valid_to = excluded.valid_to
          WHERE (known.name, known.kind, known.state, known.latitude, known.longitude,
              known.radius_km, known.postcodes, known.valid_from, known.valid_to)
            IS DISTINCT FROM (excluded.name, excluded.kind, excluded.state, excluded.latitude,
              excluded.longitude, excluded.radius_km, excluded.postcodes, excluded.valid_from,
              excluded.valid_to)
          RETURNING 1
          """
        ).count
      }
    }
    return changed > 0
  }

  /// Removes regions with their averages, but never the verdicts that were given.
  private func remove(_ codes: [String]) throws {
    try connection.query("DELETE FROM fuel.region_station WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.region_change WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.daily_rollup WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.market WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.cycle WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.station_habit WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.average_kept WHERE region = ANY (\(codes))")
    try connection.query("DELETE FROM fuel.region WHERE region = ANY (\(codes))")
  }

  /// Brings up to date in which regions each station counts.
  package func countStations(now: Instant) throws {
    try connection.transaction {
      try connection.query("SELECT fuel.refresh_regions()")
      try connection.query("SELECT fuel.count_places(\(now))")
    }
  }

  /// Whether an aggregate that has begun has anything to make that the one before it has not made.
  package func isAggregateDue(_ run: RunID, now: Instant) throws -> Bool {
    try connection.transaction {
      try connection.query("SELECT set_config('bowser.now', \(now.description), true)")
      return try connection.query("SELECT fuel.is_aggregate_due(\(run)::integer) AS is_due").only()
        .boolean("is_due")
    }
  }

  /// Replaces the brand names in the database by those of the configuration.
  package func refreshBrands(_ names: [BrandName]) throws {
    try connection.transaction {
      try connection.query(
        """
        CREATE TEMPORARY TABLE wanted_brand ON COMMIT DROP AS
        SELECT
          wanted.written, wanted.brand, coalesce(wanted.valid_from, '-infinity') AS valid_from,
          coalesce(wanted.valid_to, 'infinity') AS valid_to
        FROM unnest(
          \(names.map(\.written))::text[], \(names.map(\.brand))::text[],
          \(names.map(\.from))::date[], \(names.map(\.until))::date[]
        ) AS wanted (written, brand, valid_from, valid_to)
        """)
      try connection.execute(
        """
        DELETE FROM fuel.brand_name
        WHERE NOT EXISTS (
          SELECT FROM pg_temp.wanted_brand AS wanted
          WHERE (wanted.written, wanted.brand, wanted.valid_from, wanted.valid_to)
            = (brand_name.written, brand_name.brand, brand_name.valid_from, brand_name.valid_to));
        INSERT INTO fuel.brand_name (written, brand, valid_from, valid_to)
        SELECT wanted.written, wanted.brand, wanted.valid_from, wanted.valid_to
        FROM pg_temp.wanted_brand AS wanted
        ON CONFLICT DO NOTHING;
        DROP TABLE pg_temp.wanted_brand
        """)
    }
  }

  /// Replaces the market events in the database by those of the configuration.
  package func refreshEvents(_ events: [MarketEvent]) throws {
    try connection.transaction {
      try connection.execute(
        "CREATE TEMPORARY TABLE wanted_event (LIKE fuel.market_event) ON COMMIT DROP")
      try connection.query(
        """
        INSERT INTO pg_temp.wanted_event (day, state, fuel, what, cpl)
        SELECT * FROM unnest(
          \(events.map(\.day.description))::date[], \(events.map(\.state))::text[], \(events.map(\.fuel))::text[],
          \(events.map(\.what))::text[], \(events.map(\.cents))::numeric(6, 2)[])
        """)
      try connection.execute(
        """
        DELETE FROM fuel.market_event
        WHERE NOT EXISTS (
          SELECT FROM pg_temp.wanted_event AS wanted WHERE wanted IS NOT DISTINCT FROM market_event);
        INSERT INTO fuel.market_event (day, state, fuel, what, cpl)
        SELECT wanted.day, wanted.state, wanted.fuel, wanted.what, wanted.cpl FROM pg_temp.wanted_event AS wanted
        ON CONFLICT DO NOTHING
        """)
    }
  }

  /// Marks everything to be made again: the spans, days and averages of all stations, or, from a
  /// given day on, the averages alone.
  package func markAllDirty(from day: Day?, now: Instant) throws {
    if day == nil {
      try connection.query(
        """
        INSERT INTO fuel.touched AS known (station_id, fuel_id, from_at)
        SELECT pair.station_id, pair.fuel_id, '-infinity'::timestamptz FROM fuel.present_span AS pair
        UNION
        SELECT pair.station_id, pair.fuel_id, '-infinity'::timestamptz FROM fuel.current_price AS pair
        ON CONFLICT ON CONSTRAINT touched_pk DO UPDATE SET from_at = excluded.from_at, is_made = false
        """)
      try connection.query(
        """
        INSERT INTO fuel.touched_month (source_id, month)
        SELECT source_id, month FROM fuel.archive_coverage
        ON CONFLICT DO NOTHING
        """)
      try connection.query("UPDATE fuel.state SET days_made_until = NULL")
    }
    try connection.query(
      """
      INSERT INTO fuel.dirty_day (fuel_id, day)
      SELECT DISTINCT pair.fuel_id, day.day::date
      FROM (
        SELECT DISTINCT fuel_id FROM fuel.present_span
        UNION
        SELECT DISTINCT fuel_id FROM fuel.current_price
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

  /// Computes how every region's average moved over a day and a week, and stores the averages of
  /// now.
  package func refreshChanges(now: Instant) throws {
    try connection.transaction {
      try connection.query("SELECT set_config('bowser.now', \(now.description), true)")
      try connection.query("SELECT fuel.refresh_changes(\(now))")
      try connection.query("SELECT fuel.keep_averages(\(now))")
    }
  }
}
