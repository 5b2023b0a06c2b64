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
  /// tomorrow's prices.
  package func regionsNow() throws -> [RegionNow] {
    try connection.query(
      """
      SELECT market.*, today.*, fuel.name AS fuel_name
      FROM fuel.regions_now() AS market
      JOIN fuel.region_today(fuel.clock()) AS today USING (region)
      JOIN fuel.fuel USING (fuel_id)
      WHERE fuel.is_averaged
      ORDER BY market.region, market.fuel_id
      """
    ).map { row in
      RegionNow(
        region: try row.text("region"), regionName: try row.text("region_name"),
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
      SELECT * FROM fuel.shares_raised(
        \(markets.map(\.region)), \(markets.map(\.fuelID)), \(markets.map(\.troughOn)))
      """)
    return Dictionary(
      uniqueKeysWithValues: try rows.map {
        ("\(try $0.text("region")) \(try $0.integer("fuel_id"))", try $0.double("share"))
      })
  }
}
