package import FuelModel
import Postgres

/// A place that a user names: a region, a suburb, a postcode, a station or a point.
package struct NamedPlace: Sendable, Equatable {
  /// What a place is.
  package enum Kind: String, Sendable {
    case region, suburb, postcode, station, point
  }

  package var kind: Kind
  /// The region's code, the suburb, the postcode, the station's number, or `LAT,LON`.
  package var code: String
  package var name: String
  package var state: String?
  /// Its centre; `nil` where it is unknown.
  package var position: Position?
  /// The suburb with which the name of a station ends; `nil` where it ends otherwise.
  package var suburb: String?

  package init(
    kind: Kind, code: String, name: String, state: String? = nil, position: Position? = nil,
    suburb: String? = nil
  ) {
    self.kind = kind
    self.code = code
    self.name = name
    self.state = state
    self.position = position
    self.suburb = suburb
  }

  /// The name as people are shown it, with a suburb as `asPlaceName` shows it.
  package var shownName: String {
    // The view `localities` has its own capitals, as in `St Mary'S`.
    if kind == .suburb { return name.uppercased().asPlaceName }
    guard let suburb, name.hasSuffix(suburb) else { return name }
    return String(name.dropLast(suburb.count)) + suburb.asPlaceName
  }
}

/// The current price of a fuel at a station. Prices are cents per litre.
package struct Offer: Sendable {
  package var station: Int
  package var name: String
  package var brand: String?
  package var suburb: String?
  package var postcode: String?
  package var state: String
  package var position: Position?
  package var fuel: String
  package var price: Double
  /// Since when the price holds without a change.
  package var since: Instant
  /// When a feed last reported the price.
  package var confirmed: Instant?
  /// By how many hours its state publishes prices late.
  package var delayHours: Int
  package var isFresh: Bool
  package var isFlagged: Bool
  /// Whether anybody may buy there, and not members only.
  package var isPublic: Bool
  package var next: Double?
  package var nextAt: Instant?
  /// The distance from the place that was asked for; `nil` where that place has no centre.
  package var kilometres: Double?
}

extension Views {
  /// Finds places by name. Suburbs and postcodes whose name begins with the word come first, the
  /// larger first; then open stations whose name contains it, in alphabetical order. Within both
  /// groups an exact match comes first.
  ///
  /// - Parameters:
  ///   - word: as a person writes it, in upper or lower case.
  ///   - limit: the largest number of places in each of the two groups.
  package func places(named word: String, limit: Int) throws -> [NamedPlace] {
    try connection.query(
      """
      (
        SELECT kind, name AS code, name, state, latitude, longitude, NULL AS suburb
        FROM fuel_v1.localities
        WHERE starts_with(lower(name), lower(\(word)))
        ORDER BY lower(name) <> lower(\(word)), stations DESC, name, state
        LIMIT \(limit)
      )
      UNION ALL
      (
        SELECT 'station', station_id::text, concat_ws(', ', name, suburb), state, latitude, longitude,
          suburb
        FROM fuel_v1.stations
        WHERE is_open AND strpos(lower(name), lower(\(word))) > 0
        ORDER BY lower(name) <> lower(\(word)), name, station_id
        LIMIT \(limit)
      )
      """
    ).map { try NamedPlace($0) }
  }

  /// Returns the station with a number, open or not.
  package func station(numbered number: Int) throws -> NamedPlace? {
    try connection.query(
      """
      SELECT 'station' AS kind, station_id::text AS code, concat_ws(', ', name, suburb) AS name, state,
        latitude, longitude, suburb
      FROM fuel_v1.stations
      WHERE station_id = \(number)
      """
    ).first.map { try NamedPlace($0) }
  }

  /// Returns the names of all suburbs where a station has had a price, as people are shown them.
  package func suburbs() throws -> [String] {
    try connection.query(
      "SELECT DISTINCT name FROM fuel_v1.localities WHERE kind = 'suburb' ORDER BY name"
    ).map { try $0.text("name").uppercased().asPlaceName }
  }

  /// Returns the current prices of a fuel at the stations of a region, suburb or postcode, or all
  /// prices of one station: cheapest first. Prices that are stale or doubtful come last.
  ///
  /// - Parameters:
  ///   - kilometres: if given, the stations within this distance of the place's centre are taken
  ///     instead of those that lie in the place.
  ///   - fuel: the fuel's code; `nil` for all fuels.
  package func offers(
    at place: NamedPlace, within kilometres: Double?, fuel: String?, limit: Int
  ) throws -> [Offer] {
    let middle = place.position
    let isNear = kilometres != nil || place.kind == .point
    return try connection.query(
      """
      SELECT price.*, near.distance_km
      FROM fuel_v1.current_prices AS price
      LEFT JOIN fuel_v1.stations_near(
        \(optional: middle?.latitude)::numeric, \(optional: middle?.longitude)::numeric,
        \(kilometres ?? 5_000)::numeric) AS near USING (station_id)
      -- Whoever names a station for members wants to see it. In a list it would be nobody else's price.
      WHERE (price.is_public OR \(place.kind == .station && !isNear))
        AND (\(optional: fuel)::text IS NULL OR price.fuel = \(optional: fuel))
        AND CASE
          WHEN \(isNear)::boolean THEN near.station_id IS NOT NULL
          WHEN \(place.kind.rawValue) = 'region' THEN price.station_id IN (
            SELECT station_id FROM fuel_v1.region_stations WHERE region = \(place.code))
          WHEN \(place.kind.rawValue) = 'suburb' THEN
            lower(price.suburb) = lower(\(place.code)) AND price.state = \(optional: place.state)
          WHEN \(place.kind.rawValue) = 'postcode' THEN
            price.postcode = \(place.code) AND price.state = \(optional: place.state)
          ELSE price.station_id::text = \(place.code)
        END
      ORDER BY NOT price.is_fresh OR price.is_flagged, price.price_cpl, near.distance_km, price.station_id
      LIMIT \(limit)
      """
    ).map { row in
      var offer = try Offer(row)
      offer.kilometres = try row.optionalDouble("distance_km")
      return offer
    }
  }

  /// Returns the region that contains most of a place's stations, and of several such regions the
  /// smallest; `nil` where there is none. Nations do not count.
  package func region(around place: NamedPlace) throws -> String? {
    if place.kind == .region { return place.code }
    return try connection.query(
      """
      SELECT region_stations.region
      FROM fuel_v1.region_stations
      JOIN fuel_v1.regions USING (region)
      JOIN fuel_v1.stations USING (station_id)
      WHERE regions.kind <> 'nation'
        AND CASE \(place.kind.rawValue)
          WHEN 'suburb' THEN lower(stations.suburb) = lower(\(place.code)) AND stations.state = \(optional: place.state)
          WHEN 'postcode' THEN stations.postcode = \(place.code) AND stations.state = \(optional: place.state)
          WHEN 'station' THEN stations.station_id::text = \(place.code)
          ELSE stations.station_id = (
            SELECT near.station_id
            FROM fuel_v1.stations_near(
              \(optional: place.position?.latitude)::numeric, \(optional: place.position?.longitude)::numeric, 50) AS near
            LIMIT 1)
        END
      GROUP BY region_stations.region, regions.kind, regions.stations
      ORDER BY count(*) DESC, regions.stations
      LIMIT 1
      """
    ).first?.text("region")
  }

  /// Returns the daily averages of a region and fuel, oldest first: those of the last days, and that
  /// of today so far. Gaps are `nil`. These are the days that `trend_30d` has, where `days` is 30.
  package func trend(
    region: String, fuel: String, days: Int
  ) throws -> [(day: Day, average: Double?)] {
    try connection.query(
      "SELECT day, average_cpl FROM fuel_v1.trend(\(region), \(fuel), \(days)) ORDER BY day"
    ).map { (day: try $0.day("day"), average: try $0.optionalDouble("average_cpl")) }
  }

  /// Returns the whole market as JSON: the rows of `averages_now`, `fill_up` and `trend_summary`.
  package func marketJSON() throws -> String {
    try connection.query(
      """
      SELECT json_build_object(
        'version', 1,
        'averages', (
          SELECT coalesce(json_agg(averages_now ORDER BY averages_now.region, averages_now.fuel), '[]')
          FROM fuel_v1.averages_now),
        'verdicts', (
          SELECT coalesce(json_agg(fill_up ORDER BY fill_up.region, fill_up.fuel), '[]')
          FROM fuel_v1.fill_up),
        'trends', (
          SELECT coalesce(json_agg(trend_summary ORDER BY trend_summary.region, trend_summary.fuel), '[]')
          FROM fuel_v1.trend_summary))::text AS text
      """
    ).only().text("text")
  }
}

extension NamedPlace {
  /// Reads a row of a place.
  fileprivate init(_ row: Row) throws {
    self.init(
      kind: Kind(rawValue: try row.text("kind")) ?? .station, code: try row.text("code"),
      name: try row.text("name"), state: try row.text("state"), position: try row.position(),
      suburb: try row.optional("suburb"))
  }
}

extension Offer {
  /// Reads a row of `current_prices`.
  init(_ row: Row) throws {
    self.init(
      station: try row.integer("station_id"), name: try row.optional("name") ?? "not described yet",
      brand: try row.optional("brand"), suburb: try row.optional("suburb"),
      postcode: try row.optional("postcode"), state: try row.text("state"),
      position: try row.position(), fuel: try row.text("fuel"), price: try row.double("price_cpl"),
      since: try row.instant("effective_at"), confirmed: try row.optionalInstant("confirmed_at"),
      delayHours: try row.integer("delay_hours"),
      isFresh: try row.boolean("is_fresh"),
      isFlagged: try row.boolean("is_flagged"), isPublic: try row.boolean("is_public"),
      next: try row.optionalDouble("next_price_cpl"),
      nextAt: try row.optionalInstant("next_effective_at"))
  }
}

extension Row {
  /// The position of a row with a latitude and a longitude; `nil` where it is not known.
  func position() throws -> Position? {
    Position(
      latitude: try optionalDouble("latitude"), longitude: try optionalDouble("longitude"))
  }
}
