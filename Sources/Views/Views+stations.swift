import FuelModel
import Postgres

/// What the pages and files of stations show besides prices.
extension Views {
  /// Whether the prices of this database are simulated, as `make demo` notes of its own.
  package func isSimulated() throws -> Bool {
    try connection.query(
      "SELECT current_setting('bowser.simulated', true) IS NOT DISTINCT FROM 'on' AS is_simulated"
    ).only().boolean("is_simulated")
  }

  func addDescriptions(to market: inout MarketReport) throws {
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
  func addStationDays(to market: inout MarketReport) throws {
    var first: [Int: String] = [:]
    for offer in market.offers
    where first[offer.station].map({ Fuel.precedes(offer.fuel, $0) }) ?? true {
      first[offer.station] = offer.fuel
    }
    let stations = Array(first)
    guard let today = market.today else { return }
    for row in try connection.query(
      """
      SELECT station_id, string_agg(days.day || ' ' || days.average_cpl, ' ') AS days
      FROM unnest(\(stations.map(\.key))::integer[], \(stations.map(\.value))::text[]) AS wanted (station_id, fuel)
      JOIN fuel_v1.station_days AS days USING (station_id, fuel)
      WHERE days.day BETWEEN \(today + -30)::date AND \(today)::date
        AND days.month_on >= date_trunc('month', \(today + -30)::date)::date
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

  func addPriceChanges(to market: inout MarketReport) throws {
    market.priceChanges = try connection.query(
      """
      SELECT json_build_array(
          changes.station_id, fuel, before_cpl, after_cpl,
          replace(to_json(changed_at) #>> '{}', '+00:00', 'Z'))::text AS change
      FROM fuel_v1.price_changes AS changes
      WHERE changed_at > (SELECT now_at FROM fuel_v1.pipeline) - interval '24 hours'
        AND NOT is_flagged AND after_cpl > 0
        AND changes.station_id = ANY (\(Array(Set(market.offers.map(\.station))))::integer[])
      ORDER BY changed_at, station_id, fuel
      """
    ).map { try $0.text("change") }
  }

  func addOrigins(to market: inout MarketReport) throws {
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
      market.origins[try row.text("state")] = (
        try row.text("attribution"), try row.optionalInstant("read_at")
      )
    }
  }
}
