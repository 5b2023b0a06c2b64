package import FuelModel
import Postgres

/// What verdicts need to know about a region beside its averages, as of the clock of the session.
package struct RegionFacts: Sendable {
  package var name: String
  /// The code and the name of every fuel.
  package var fuels: [Int16: (code: String, name: String)]
  /// The present price day, and when it ends.
  package var today: Day
  package var todayEndsAt: Instant
  /// Whether prices are published so late that today's average is not known.
  package var isLate: Bool
  /// When tomorrow's prices are published, and the same as local time; `nil` where they are not
  /// published ahead.
  package var announced: (at: Instant, clock: String)?
}

extension Store {
  /// Reads the facts of every region, by its code.
  package func regionFacts(now: Instant) throws -> [String: RegionFacts] {
    let fuels = Dictionary(
      uniqueKeysWithValues: try connection.query("SELECT fuel_id, fuel, name FROM fuel.fuel").map {
        (Int16(try $0.integer("fuel_id")), (try $0.text("fuel"), try $0.text("name")))
      })
    return Dictionary(
      uniqueKeysWithValues: try connection.query(
        """
        SELECT region.region, region.name, region.state, market_day.today,
          fuel.price_day_begin(market_day.today + 1, market_day.time_zone, market_day.starts)
            AS today_ends_at,
          region_delay.is_late,
          fuel.tomorrow_published_at(region.state, market_day.today) AS announced_at,
          to_char(
            fuel.tomorrow_published_at(region.state, market_day.today)
              AT TIME ZONE market_day.time_zone,
            'HH24:MI') AS announced_clock
        FROM fuel.region
        JOIN fuel.region_delay USING (region)
        JOIN fuel.region_clock USING (region)
        CROSS JOIN LATERAL (
          SELECT
            region_clock.time_zone, region_clock.starts,
            fuel.price_day(\(now), region_clock.time_zone, region_clock.starts) AS today
        ) AS market_day
        """
      ).map { row in
        (
          try row.text("region"),
          RegionFacts(
            name: try row.text("name"),
            fuels: fuels, today: try row.day("today"),
            todayEndsAt: try row.instant("today_ends_at"),
            isLate: try row.boolean("is_late"),
            announced: try announcement(row))
        )
      })
  }

  /// Returns the days about which a feed's price was learnt more than six hours after the day had
  /// ended in the feed's state, not counting the feed's own delay. Feeds that report whole days are
  /// left out. Each day comes with the fuels of these prices, and with its morning: six hours after
  /// it has ended in the last state, plus the longest delay of any source.
  package func lateDays() throws -> [(day: Day, fuelIDs: [Int16], morning: Instant)] {
    try connection.query(
      """
      SELECT
        late.day,
        late.fuel_ids,
        (
          SELECT max(fuel.price_day_begin(late.day + 1, time_zone, price_day_starts))
            + interval '6 hours' + coalesce((SELECT max(delay) FROM fuel.source), '0')
          FROM fuel.state
        ) AS morning
      FROM (
        SELECT day.day::date AS day, string_agg(DISTINCT price.fuel_id::text, ',') AS fuel_ids
        FROM fuel.price
        JOIN fuel.source USING (source_id)
        JOIN fuel.state USING (state)
        CROSS JOIN LATERAL generate_series(
          fuel.price_day(price.effective_at, state.time_zone, state.price_day_starts),
          fuel.price_day(
            price.learnt_at - source.delay - interval '6 hours', state.time_zone, state.price_day_starts) - 1,
          interval '1 day') AS day (day)
        WHERE price.learnt_at > price.effective_at + interval '6 hours' + source.delay
          AND price.effective_at >= source.first_taken_at
          AND NOT source.tells_whole_days
        GROUP BY day.day
      ) AS late
      ORDER BY late.day
      """
    ).map { row in
      (
        day: try row.day("day"),
        fuelIDs: try row.text("fuel_ids").split(separator: ",").compactMap { Int16($0) },
        morning: try row.instant("morning")
      )
    }
  }

  /// Replaces the stored scores by those of a backtest.
  ///
  /// - Parameter rows: the columns of `fuel.fill_up_score`, with `fuel` for `fuel_id` and without
  ///   `computed_at`.
  package func keepScores(_ rows: [Columns], now: Instant) throws {
    try refuseSubscriber()
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.fill_up_score")
      try connection.query(
        """
        INSERT INTO fuel.fill_up_score
        SELECT made.*
        FROM jsonb_array_elements(\(try objects(rows))::jsonb) AS given
        JOIN fuel.fuel ON fuel.fuel = given ->> 'fuel'
        CROSS JOIN LATERAL jsonb_populate_record(
          NULL::fuel.fill_up_score,
          given || jsonb_build_object(
            'computed_at', \(now.description)::text, 'fuel_id', fuel.fuel_id)) AS made
        """)
    }
  }
}

/// How good the verdicts were that were given for one market. Amounts are cents per litre;
/// intervals are 90 % intervals.
package struct GivenRecord: Sendable {
  package var region: String
  package var fuel: String
  package var days: Int
  package var perfect: Double?
  package var saving: Double?
  package var low: Double?
  package var high: Double?
  package var direction: Double?
  package var weekday: Double?
  package var always: Double?
}

extension Store {
  /// Returns the records of a method's verdicts, for drivers who may choose among `horizon` days.
  package func givenRecords(method: String, horizon: Int) throws -> [GivenRecord] {
    try connection.query(
      """
      SELECT region, fuel, n, perfect_cpl, saving_cpl, saving_low_cpl, saving_high_cpl, direction_cpl, weekday_cpl,
        always_cpl
      FROM fuel_v1.verdict_record
      WHERE method = \(method) AND horizon = \(horizon) AND n > 0
      ORDER BY region, fuel
      """
    ).map { row in
      GivenRecord(
        region: try row.text("region"), fuel: try row.text("fuel"), days: try row.integer("n"),
        perfect: try row.optionalDouble("perfect_cpl"),
        saving: try row.optionalDouble("saving_cpl"),
        low: try row.optionalDouble("saving_low_cpl"),
        high: try row.optionalDouble("saving_high_cpl"),
        direction: try row.optionalDouble("direction_cpl"),
        weekday: try row.optionalDouble("weekday_cpl"), always: try row.optionalDouble("always_cpl")
      )
    }
  }
}
