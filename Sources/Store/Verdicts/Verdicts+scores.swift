package import FuelModel
import Postgres
import Views

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
  /// How late the slowest source of its own states publishes, where it is late.
  package var delay: Duration
  /// When tomorrow's prices are published, and the same as local time; `nil` where they are not
  /// published ahead.
  package var announced: (at: Instant, clock: String)?
}

/// The verdicts that one method gave for one region and fuel: the last of each day.
package struct DailyVerdicts: Sendable {
  package var region: String
  package var fuelID: Int16
  package var fuel: String
  package var verdicts: [(day: Day, verdict: String)]
}

/// Which verdicts a score is of: those that were given, or those that the method would have given on
/// the stored history.
package enum Scored: String, Sendable {
  case given
  case replayed
}

extension Verdicts {
  /// Reads the facts of every region, by its code.
  package func regionFacts(now: Instant) throws -> [String: RegionFacts] {
    let fuels = Dictionary(
      uniqueKeysWithValues: try connection.query("SELECT fuel_id, fuel, name FROM fuel.fuel").map {
        (Int16(try $0.integer("fuel_id")), (try $0.text("fuel"), try $0.text("name")))
      })
    return Dictionary(
      uniqueKeysWithValues: try connection.query(
        """
        SELECT today.*,
          CASE WHEN today.is_late THEN (
            SELECT coalesce(extract(epoch FROM max(source.delay)), 0)::integer
            FROM fuel.source
            WHERE source.state = today.state OR today.state IS NULL AND source.state IN (
              SELECT station.state
              FROM fuel.region_station AS member
              JOIN fuel.station USING (station_id)
              WHERE member.region = today.region)
          ) ELSE 0 END AS delay_seconds
        FROM fuel.region_today(\(now)) AS today
        """
      ).map { row in
        (
          try row.text("region"),
          RegionFacts(
            name: try row.text("region_name"),
            fuels: fuels, today: try row.day("day"),
            todayEndsAt: try row.instant("day_ends_at"),
            isLate: try row.boolean("is_late"),
            delay: .seconds(try row.integer("delay_seconds")),
            announced: try announcement(row))
        )
      })
  }

  /// Returns the days about which a feed's price was learnt more than six hours after the day had
  /// ended in the feed's state, not counting the feed's own delay. Feeds that report whole days are
  /// left out. Each day comes with the fuels of these prices, and with its morning, six hours after
  /// it has ended in the last state.
  package func lateDays() throws -> [(day: Day, fuelIDs: [Int16], morning: Instant)] {
    try connection.query(
      """
      SELECT late.day, late.fuel_ids,
        (
          SELECT max(fuel.price_day_begin(late.day + 1, time_zone, price_day_starts)) + interval '6 hours' FROM fuel.state
        ) AS at
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
        morning: try row.instant("at")
      )
    }
  }

  /// Returns the last verdict of each day that a method gave, by region and fuel.
  package func givenVerdicts(method: String) throws -> [DailyVerdicts] {
    try connection.query(
      """
      SELECT given.region, given.fuel_id, given.fuel,
        string_agg((given.day - date '1970-01-01') || ' ' || given.verdict, ',' ORDER BY given.day) AS verdicts
      FROM (
        SELECT DISTINCT ON (verdict.region, verdict.fuel_id, verdict.day)
          verdict.region, verdict.fuel_id, fuel.fuel, verdict.day, verdict.verdict
        FROM fuel.verdict
        JOIN fuel.fuel USING (fuel_id)
        WHERE verdict.method = \(method)
        ORDER BY verdict.region, verdict.fuel_id, verdict.day, verdict.computed_at DESC
      ) AS given
      GROUP BY given.region, given.fuel_id, given.fuel
      """
    ).map { row in
      DailyVerdicts(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        fuel: try row.text("fuel"),
        verdicts: try row.text("verdicts").split(separator: ",").compactMap { line in
          let parts = line.split(separator: " ")
          guard parts.count == 2, let day = Int(parts[0]) else { return nil }
          return (Day(sinceEpoch: day), String(parts[1]))
        })
    }
  }

  /// Returns the last day up to which a method's verdicts were scored as they were given; `nil`
  /// where they never were.
  package func givenScoreDay(method: String) throws -> Day? {
    try connection.query(
      "SELECT max(until_on) AS day FROM fuel.verdict_score WHERE scored = 'given' AND method = \(method)"
    ).only().optional("day").flatMap { Day($0) }
  }

  /// Replaces the stored scores of the verdicts as they were given, or those of a backtest.
  ///
  /// - Parameter rows: the columns of `fuel.verdict_score`, with `fuel` for `fuel_id` and without
  ///   `computed_at`.
  package func keepScores(_ rows: [Columns], of scored: Scored, now: Instant) throws {
    try store.refuseSubscriber()
    try connection.transaction {
      try connection.query("DELETE FROM fuel.verdict_score WHERE scored = \(scored.rawValue)")
      try connection.query(
        """
        INSERT INTO fuel.verdict_score
        SELECT made.*
        FROM jsonb_array_elements(\(try Columns.objects(rows))::jsonb) AS given
        JOIN fuel.fuel ON fuel.fuel = given ->> 'fuel'
        CROSS JOIN LATERAL jsonb_populate_record(
          NULL::fuel.verdict_score,
          given || jsonb_build_object(
            'computed_at', \(now.description)::text, 'fuel_id', fuel.fuel_id)) AS made
        """)
    }
  }

  /// Replaces the calibration: how often the events that were stated as likely came.
  package func keepCalibration() throws { try connection.execute("SELECT fuel.keep_calibration()") }
}
