import FuelModel
import Postgres

/// What the pages and files of stations show besides prices.
extension Views {
  /// Adds the stations themselves, their last thirty days, what changed today, and whose data these
  /// are. The offers must be filled in before.
  func addStations(to market: inout MarketReport) throws {
    try addDescriptions(to: &market)
    try addStationDays(to: &market)
    try addPriceChanges(to: &market)
    try addOrigins(to: &market)
  }

  /// Whether the prices of this database are simulated, as `make demo` notes of its own.
  package func isSimulated() throws -> Bool {
    try connection.query(
      "SELECT current_setting('bowser.simulated', true) IS NOT DISTINCT FROM 'on' AS is_simulated"
    ).only().boolean("is_simulated")
  }

  /// Returns the station with a number, open or not.
  package func station(numbered number: Int) throws -> NamedPlace? {
    try connection.query(
      """
      SELECT station_id, concat_ws(', ', name, suburb) AS name, state, suburb, latitude, longitude
      FROM fuel_v1.stations
      WHERE station_id = \(number)
      """
    ).first.map { row in
      NamedPlace(
        kind: .station, code: "\(number)", name: try row.text("name"),
        state: try row.text("state"),
        position: try row.position(), suburb: try row.optional("suburb"))
    }
  }

  private func addDescriptions(to market: inout MarketReport) throws {
    for row in try connection.query("SELECT station_id, address, phone FROM fuel_v1.stations") {
      market.descriptions[try row.integer("station_id")] = MarketReport.StationDescription(
        address: try row.optional("address"), phone: try row.optional("phone"))
    }
    for row in try connection.query(
      "SELECT station_id, fuel, verdict, basis, reason FROM fuel_v1.station_fill_up")
    {
      market.descriptions[try row.integer("station_id")]?.advice[try row.text("fuel")] = (
        try row.text("verdict"), try row.text("basis"), try row.text("reason")
      )
    }
  }

  /// Adds the days of each station's first fuel: a chart of every fuel would make a site several
  /// times as large. The row of a station is one text, because a row for each day would cost more
  /// than everything else that a report reads.
  private func addStationDays(to market: inout MarketReport) throws {
    var first: [Int: String] = [:]
    for offer in market.offers
    where first[offer.station].map({ Fuel.precedes(offer.fuel, $0) }) ?? true {
      first[offer.station] = offer.fuel
    }
    let stations = Array(first)
    for row in try connection.query(
      """
      WITH span AS (SELECT max(day) - 30 AS first_on, max(day) AS last_on FROM fuel_v1.trend_30d)
      SELECT station_id, string_agg(days.day || ' ' || days.average_cpl, ' ') AS days
      FROM unnest(\(stations.map(\.key))::integer[], \(stations.map(\.value))::text[]) AS wanted (station_id, fuel)
      JOIN fuel_v1.station_days AS days USING (station_id, fuel)
      JOIN span ON days.day BETWEEN span.first_on AND span.last_on
      WHERE days.month_on >= date_trunc('month', (SELECT first_on FROM span))::date
      GROUP BY station_id
      """)
    {
      let words = try row.text("days").split(separator: " ")
      var days: [Day: Double] = [:]
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        if let day = Day(String(words[index])) { days[day] = Double(words[index + 1]) }
      }
      market.stationDays[try row.integer("station_id")] = days
    }
  }

  private func addPriceChanges(to market: inout MarketReport) throws {
    market.priceChanges = try connection.query(
      """
      SELECT changes.station_id, fuel, before_cpl, after_cpl, changed_at
      FROM fuel_v1.price_changes AS changes
      WHERE changed_at > (SELECT now_at FROM fuel_v1.pipeline) - interval '24 hours'
        AND NOT is_flagged AND after_cpl > 0
      ORDER BY changed_at, station_id, fuel
      """
    ).map { row in
      MarketReport.PriceChange(
        station: try row.integer("station_id"), fuel: try row.text("fuel"),
        before: try row.optionalDouble("before_cpl"), after: try row.double("after_cpl"),
        at: try row.instant("changed_at"))
    }
  }

  private func addOrigins(to market: inout MarketReport) throws {
    for row in try connection.query(
      """
      SELECT sources.state, string_agg(DISTINCT sources.attribution, '; ') AS attribution,
        max(feed_health.last_success_at) AS read_at
      FROM fuel_v1.sources
      JOIN fuel_v1.feed_health USING (source)
      WHERE sources.kind = 'feed'
      GROUP BY sources.state
      """)
    {
      market.origins[try row.text("state")] = MarketReport.Origin(
        attribution: try row.text("attribution"), readAt: try row.optionalInstant("read_at"))
    }
  }
}
