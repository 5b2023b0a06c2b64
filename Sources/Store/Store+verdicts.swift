import Foundation
package import FuelModel
import Postgres

/// What is known about a region and fuel when a verdict has to be given.
package struct RegionNow: Sendable {
  package var region: String
  package var regionName: String
  /// When the prices of the next price day are published, and the same as local time; `nil` where
  /// they are not published ahead.
  package var announced: (at: Instant, clock: String)?
  package var fuelID: Int16
  package var fuelName: String
  /// The price day for which the verdict is given, and when it ends.
  package var day: Day
  package var dayEndsAt: Instant
  /// The number of stations with a believed price now.
  package var stations: Int
  /// The number of these whose next price is known too, and the means of today's and tomorrow's
  /// price over just them, in c/L.
  package var stationsWithNext: Int
  package var today: Double?
  package var tomorrow: Double?
  package var tomorrowBeginsAt: Instant?
  /// Whether prices are published so late (half a day or more) that today's average is not known.
  package var isLate: Bool

  package init(
    region: String, regionName: String, announced: (at: Instant, clock: String)?, fuelID: Int16,
    fuelName: String, day: Day,
    dayEndsAt: Instant, stations: Int, stationsWithNext: Int, today: Double?, tomorrow: Double?,
    tomorrowBeginsAt: Instant?, isLate: Bool = false
  ) {
    self.region = region
    self.regionName = regionName
    self.announced = announced
    self.fuelID = fuelID
    self.fuelName = fuelName
    self.day = day
    self.dayEndsAt = dayEndsAt
    self.stations = stations
    self.stationsWithNext = stationsWithNext
    self.today = today
    self.tomorrow = tomorrow
    self.tomorrowBeginsAt = tomorrowBeginsAt
    self.isLate = isLate
  }
}

/// The verdict that was given last for a region and fuel, reduced to what decides whether the next
/// one is news. Averages are in c/L.
package struct LastVerdict: Sendable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var verdict: String
  package var basis: String
  package var rule: String?
  package var method: String
  package var reason: String
  package var today: Double?
  package var tomorrow: Double?
  package var average: Double?
  package var validUntil: Instant
}

/// The daily averages of one region and fuel on which verdicts may rest.
package struct RegionSeries: Sendable {
  package var region: String
  package var fuelID: Int16
  /// The averages in c/L with the numbers of their stations, oldest first.
  package var averages: [(day: Day, average: Double, stations: Int)]
}

extension Store {
  /// Reads every region and fuel with a believed price now, with today's prices beside tomorrow's.
  /// Means are rounded to two decimals, so that equal means compare as equal everywhere.
  package func regionsNow(now: Instant) throws -> [RegionNow] {
    let rows = try connection.transaction {
      try connection.query("SELECT set_config('bowser.now', \(now.description), true)")
      return try connection.query(
        """
        SELECT
          region.region,
          region.name,
          region.state,
          price.fuel_id,
          fuel.name AS fuel_name,
          market_day.day,
          fuel.price_day_begin(market_day.day + 1, market_day.time_zone, market_day.starts)
            AS day_ends_at,
          region_delay.is_late,
          price.stations,
          price.stations_with_next,
          price.today_cpl,
          price.tomorrow_cpl,
          price.tomorrow_begins_at,
          market_day.announced_at,
          to_char(market_day.announced_at AT TIME ZONE market_day.time_zone, 'HH24:MI')
            AS announced_clock
        -- Prices are grouped first, so that everything else is looked up for each region and not for each
        -- price.
        FROM (
          SELECT
            region_station.region,
            present.fuel_id,
            count(*) AS stations,
            count(next.next_tenths) AS stations_with_next,
            round(avg(present.price_tenths) FILTER (WHERE next.next_tenths > 0) / 10, 2) AS today_cpl,
            round(avg(next.next_tenths) / 10, 2) AS tomorrow_cpl,
            min(next.next_effective_at) AS tomorrow_begins_at
          FROM fuel.region_station
          -- OFFSET 0 is a fence: the server cannot estimate how many prices count.
          JOIN (SELECT * FROM fuel.price_now WHERE price_now.is_counted OFFSET 0) AS present USING (station_id)
          LEFT JOIN LATERAL (
            SELECT present.next_tenths, present.next_effective_at
            WHERE present.next_tenths > 0
              AND present.next_effective_at < present.now_at + interval '36 hours'
          ) AS next ON true
          GROUP BY region_station.region, present.fuel_id
        ) AS price
        JOIN fuel.region USING (region)
        JOIN fuel.region_delay USING (region)
        JOIN fuel.fuel ON fuel.fuel_id = price.fuel_id AND fuel.is_averaged
        JOIN fuel.region_clock USING (region)
        CROSS JOIN LATERAL (
          SELECT
            region_clock.time_zone, region_clock.starts,
            fuel.price_day(fuel.clock(), region_clock.time_zone, region_clock.starts) AS day
        ) AS local
        CROSS JOIN LATERAL (
          SELECT local.*, fuel.tomorrow_published_at(region.state, local.day) AS announced_at
        ) AS market_day
        ORDER BY region.region, price.fuel_id
        """)
    }
    return try rows.map { row in
      RegionNow(
        region: try row.text("region"), regionName: try row.text("name"),
        announced: try announcement(row), fuelID: Int16(try row.integer("fuel_id")),
        fuelName: try row.text("fuel_name"), day: try row.day("day"),
        dayEndsAt: try row.instant("day_ends_at"), stations: try row.integer("stations"),
        stationsWithNext: try row.integer("stations_with_next"),
        today: try row.optionalDouble("today_cpl"),
        tomorrow: try row.optionalDouble("tomorrow_cpl"),
        tomorrowBeginsAt: try row.optionalInstant("tomorrow_begins_at"),
        isLate: try row.boolean("is_late"))
    }
  }

  /// Reads when tomorrow's prices are published, from a row with `announced_at` and
  /// `announced_clock`.
  func announcement(_ row: Row) throws -> (at: Instant, clock: String)? {
    try row.optionalInstant("announced_at").map { ($0, try row.text("announced_clock")) }
  }

  /// Reads the daily averages on which verdicts may rest: those over enough stations and for most
  /// of the day so far.
  ///
  /// - Parameter days: how many days before `now` are read, with the days still under way; `nil`
  ///   for all days that are over.
  package func regionSeries(days: Int?, until now: Instant) throws -> [RegionSeries] {
    try connection.query(
      """
      SELECT
        daily_rollup.region,
        daily_rollup.fuel_id,
        string_agg(
          (daily_rollup.day - date '1970-01-01') || ' ' || daily_rollup.average_cpl || ' '
            || daily_rollup.stations,
          ',' ORDER BY daily_rollup.day) AS averages
      FROM fuel.daily_rollup
      JOIN fuel.fuel USING (fuel_id)
      WHERE fuel.is_averaged
        AND daily_rollup.is_usable
        AND (daily_rollup.is_ended OR \(optional: days)::integer IS NOT NULL)
        AND daily_rollup.day > coalesce((\(now)::timestamptz)::date - \(optional: days)::integer, '-infinity')
        AND daily_rollup.day <= (\(now)::timestamptz + interval '14 hours')::date
      GROUP BY daily_rollup.region, daily_rollup.fuel_id
      ORDER BY daily_rollup.region, daily_rollup.fuel_id
      """
    ).map { row in
      RegionSeries(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        averages: try row.text("averages").split(separator: ",").compactMap { entry in
          let parts = entry.split(separator: " ")
          guard parts.count == 3, let day = Int(parts[0]), let average = Double(parts[1]),
            let stations = Int(parts[2])
          else { return nil }
          return (Day(sinceEpoch: day), average, stations)
        })
    }
  }

  /// Returns the newest verdicts of some regions and fuels. Verdicts with a later instant than
  /// `now`, which a clock that was ahead has left, are ignored.
  ///
  /// - Parameters:
  ///   - regions: codes, one for each entry of `fuelIDs`.
  ///   - fuelIDs: the fuel that belongs to each region.
  package func lastVerdicts(
    regions: [String], fuelIDs: [Int16], now: Instant
  ) throws -> [LastVerdict] {
    try connection.query(
      """
      SELECT last.*
      FROM unnest(\(regions)::text[], \(fuelIDs)::smallint[]) AS given (region, fuel_id)
      CROSS JOIN LATERAL (
        SELECT verdict.*
        FROM fuel.verdict
        WHERE verdict.region = given.region AND verdict.fuel_id = given.fuel_id
          AND verdict.computed_at <= \(now)
        ORDER BY verdict.computed_at DESC
        LIMIT 1
      ) AS last
      """
    ).map { row in
      LastVerdict(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        day: try row.day("day"), verdict: try row.text("verdict"), basis: try row.text("basis"),
        rule: try row.optional("rule"), method: try row.text("method"),
        reason: try row.text("reason"), today: try row.optionalDouble("today_cpl"),
        tomorrow: try row.optionalDouble("tomorrow_cpl"),
        average: try row.optionalDouble("average_cpl"),
        validUntil: try row.instant("valid_until_at"))
    }
  }

  /// Stores verdicts. One that is stored already is left as it is.
  ///
  /// - Parameter rows: objects whose keys are the columns of `fuel.verdict`, without `computed_at`.
  ///   `change_cpl` is stored as `change_1d_cpl`. `inputs`, by which the verdict was judged, is
  ///   stored as a digest.
  /// - Returns: the number of verdicts that were added.
  package func keepVerdicts(_ rows: [some Encodable], now: Instant) throws -> Int {
    try connection.query(
      """
      INSERT INTO fuel.verdict
      SELECT made.*
      FROM jsonb_array_elements(\(try objects(rows))::jsonb) AS given
      -- A function in FROM is called once a row; `(f()).*` would call it once a column.
      CROSS JOIN LATERAL jsonb_populate_record(
        NULL::fuel.verdict,
        given || jsonb_build_object(
          'computed_at', \(now.description)::text, 'change_1d_cpl', given -> 'change_cpl',
          'inputs_md5', md5(given ->> 'inputs'))) AS made
      ON CONFLICT ON CONSTRAINT verdict_pk DO NOTHING
      """
    ).affected
  }

  /// Stores the models on which verdicts rest, each once.
  package func keepModels(_ rows: [some Encodable]) throws {
    try connection.query(
      """
      INSERT INTO fuel.verdict_model
      SELECT *
      FROM jsonb_populate_recordset(NULL::fuel.verdict_model, \(try objects(rows))::jsonb)
      ON CONFLICT ON CONSTRAINT verdict_model_pk DO NOTHING
      """)
  }

  /// Replaces the stored state of every market and its last cycles.
  ///
  /// - Parameters:
  ///   - markets: objects whose keys are the columns of `fuel.market`.
  ///   - cycles: objects whose keys are the columns of `fuel.cycle`.
  package func keepMarkets(_ markets: [some Encodable], cycles: [some Encodable]) throws {
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.market; DELETE FROM fuel.cycle")
      try connection.query(
        """
        INSERT INTO fuel.market
        SELECT * FROM jsonb_populate_recordset(NULL::fuel.market, \(try objects(markets))::jsonb)
        """)
      try connection.query(
        """
        INSERT INTO fuel.cycle
        SELECT * FROM jsonb_populate_recordset(NULL::fuel.cycle, \(try objects(cycles))::jsonb)
        """)
    }
  }

  /// Returns objects as a JSON array. Property names are converted to snake case, as columns are
  /// named.
  func objects(_ rows: [some Encodable]) throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(rows), as: UTF8.self)
  }
}
