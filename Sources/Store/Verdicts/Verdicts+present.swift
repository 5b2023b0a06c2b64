package import FuelModel
import Postgres
import Views

/// What is known about a region and fuel when a verdict has to be given.
package struct RegionNow: Sendable {
  package var region: String
  package var regionName: String
  /// When the prices of the next price day are published, as an instant and as a local time such as
  /// `14:30`; `nil` where they are not published ahead.
  package var announced: (at: Instant, clock: String)?
  package var fuelID: Int16
  package var fuelName: String
  /// The price day for which the verdict is given, and when it ends.
  package var day: Day
  package var dayEndsAt: Instant
  /// The number of stations with a believed price now.
  package var stations: Int
  /// How many of these stations have a known next price too.
  package var stationsWithNext: Int
  /// The mean prices of today and of tomorrow in c/L, over the stations of which both are known;
  /// `nil` if there are none.
  package var today: Double?
  package var tomorrow: Double?
  /// When the first of tomorrow's prices begins.
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

/// The present market, which an aggregate reads once: `pg_temp.price_now`.
extension Verdicts {
  /// Runs `body` in one transaction that has copied the prices in effect at `now` (`nil`: by the
  /// server's clock, as a hub's members answer) to `pg_temp.price_now`. Only `body` may call `refreshChanges`, `regionsNow` and `sharesRaised`.
  ///
  /// All of it reads one snapshot. What an ingest stores meanwhile is in none of the results, and
  /// `refreshChanges` does not count it as seen.
  @discardableResult
  package func withPricesNow<Value>(now: Instant?, _ body: () throws -> Value) throws -> Value {
    try connection.transaction {
      try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
      if let now {
        try connection.query("SELECT set_config('bowser.now', \(now.description), true)")
      }
      try connection.execute("SELECT fuel.take_present()")
      return try body()
    }
  }

  /// Stores how every region's average moved over a day and over a week, and what the aggregate has
  /// seen, by which the next one knows whether anything is due.
  package func refreshChanges(of run: RunID, now: Instant) throws {
    try connection.query(
      "SELECT fuel.refresh_changes(\(now)), fuel.note_present(\(run)::integer, \(now))")
  }

  /// Reads every region and fuel that has a believed price now, with the means of today's and of
  /// tomorrow's prices. Means are rounded to two decimals, so that equal means compare as equal on
  /// every machine.
  package func regionsNow() throws -> [RegionNow] {
    try connection.query(regionsNowStatement).map { row in
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

  /// Returns for each region the share of stations whose price has risen by at least five cents
  /// since the end of a price day. Only stations with a price at both times count.
  ///
  /// - Parameter markets: regions and fuels, each with the day of its last trough.
  /// - Returns: shares from 0 to 1, keyed by region and fuel number with a space between. Regions
  ///   with too few such stations are left out.
  package func sharesRaised(
    _ markets: [(region: String, fuelID: Int16, troughOn: Day)]
  ) throws -> [String: Double] {
    guard !markets.isEmpty else { return [:] }
    let rows = try connection.query(
      """
      WITH market AS (
        SELECT
          asked.region,
          asked.fuel_id,
          fuel.price_day_begin(asked.trough_on + 1, region_clock.time_zone, region_clock.starts) AS since
        FROM unnest(
          \(markets.map(\.region))::text[], \(markets.map(\.fuelID))::smallint[],
          \(markets.map(\.troughOn))::date[]
        ) AS asked (region, fuel_id, trough_on)
        JOIN fuel.region_clock USING (region)
      ),
      -- Neighbouring regions often rise from the same day on. The prices of an instant are read once for
      -- all of them.
      before AS MATERIALIZED (
        SELECT moment.since, before.station_id, before.fuel_id, before.price_tenths
        FROM (SELECT DISTINCT market.since, market.fuel_id FROM market) AS moment
        CROSS JOIN LATERAL fuel.held_at(moment.since, NULL, moment.fuel_id) AS before
        WHERE before.is_counted AND before.price_tenths > 0
      )
      SELECT market.region, market.fuel_id,
        round(avg((present.price_tenths >= before.price_tenths + 50)::integer), 3) AS share
      FROM market
      JOIN before USING (since, fuel_id)
      JOIN fuel.region_station USING (region, station_id)
      JOIN pg_temp.price_now AS present USING (station_id, fuel_id)
      WHERE present.is_counted
      GROUP BY market.region, market.fuel_id
      HAVING count(*) >= fuel.minimum_stations()
      """)
    return Dictionary(
      uniqueKeysWithValues: try rows.map {
        ("\(try $0.text("region")) \(try $0.integer("fuel_id"))", try $0.double("share"))
      })
  }
}

/// One row for each region and fuel that has a believed price now. Prices are grouped first, so that
/// everything else is looked up for each region and not for each price.
private var regionsNowStatement: SQL {
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
    JOIN fuel.region_delay USING (region)
    JOIN pg_temp.price_now AS present USING (station_id)
    LEFT JOIN LATERAL (
      SELECT present.next_tenths, present.next_effective_at
      WHERE present.next_tenths > 0
        AND present.next_effective_at < present.now_at + interval '36 hours'
    ) AS next ON true
    WHERE present.is_counted AND present.delay <= region_delay.delay
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
  """
}
