package import FuelModel
import Postgres
package import Timeline

/// What decides whether prices are doubtful, and which of them are.
extension Spans {
  /// Returns where the suspect spans of some fuels, or of the stations of some states, begin. Their
  /// prices lie far from their stations' own prices. Only those are returned whose first day ends
  /// after an instant.
  package func suspects(
    fuelIDs: [Int16]? = nil, in states: [String]? = nil, from: Instant = .distantPast
  ) throws -> [Window] {
    try connection.query(
      """
      SELECT station_id, fuel_id, from_at
      FROM fuel.span
      JOIN fuel.station USING (station_id)
      WHERE is_suspect
        AND from_at > \(from)::timestamptz - interval '24 hours'
        AND (\(optional: fuelIDs)::smallint[] IS NULL OR fuel_id = ANY (\(optional: fuelIDs)::smallint[]))
        AND (\(optional: states)::text[] IS NULL OR state = ANY (\(optional: states)::text[]))
      """
    ).map { try $0.window() }
  }

  /// Reads the spans that begin where some windows do.
  package func suspects(at windows: [Window]) throws -> [Pair: [StoredSpan]] {
    try spans(
      of: windows.map {
        Window(pair: $0.pair, from: $0.from, until: Instant(microseconds: $0.from.microseconds + 1))
      })
  }

  /// Stores which spans are doubtful.
  ///
  /// - Parameter doubts: the spans by station, fuel and beginning. `nil` removes the doubt.
  package func setDoubts(_ doubts: [(pair: Pair, from: Instant, doubt: Doubt?)]) throws {
    guard !doubts.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.set_doubts(
        \(doubts.map(\.pair.stationID)), \(doubts.map(\.pair.fuelID)), \(doubts.map(\.from)),
        \(doubts.map { $0.doubt?.reason.rawValue }), \(doubts.map { $0.doubt?.from }),
        \(doubts.map { $0.doubt?.until }))
      """)
  }

  /// Returns how many of some stations and fuels have a doubtful price at an instant.
  package func presentDoubts(of pairs: [Pair], at now: Instant) throws -> Int {
    try connection.query(
      """
      SELECT count(*) AS count
      FROM (
        SELECT DISTINCT pair.station_id, pair.fuel_id
        FROM unnest(\(pairs.map(\.stationID))::integer[], \(pairs.map(\.fuelID))::smallint[])
          AS pair (station_id, fuel_id)
      ) AS pair
      JOIN fuel.present_span USING (station_id, fuel_id)
      WHERE doubt_from_at <= \(now) AND doubt_until_at > \(now)
      """
    ).only().integer("count")
  }

  /// Reads the positions of the stations where anybody may buy, without those that only withdrawn
  /// runs name.
  package func neighbourhood() throws -> Neighbourhood {
    Neighbourhood(
      try connection.query(
        """
        SELECT station_id, state, latitude, longitude
        FROM fuel.station
        WHERE place_id = station_id AND is_public AND latitude IS NOT NULL
          AND first_seen_at < 'infinity'
        """
      ).compactMap { try $0.neighbour() })
  }

  /// Returns the prices that a person has confirmed, in tenths of a cent.
  ///
  /// - Parameter known: later confirmations do not count; `nil` where all count.
  package func confirmedPrices(known: Instant? = nil) throws -> [Pair: Set<Int32>] {
    var found: [Pair: Set<Int32>] = [:]
    for row in try connection.query(
      """
      SELECT station.place_id AS station_id, confirmed.fuel_id, confirmed.price_tenths
      FROM fuel.price_confirmation AS confirmed
      JOIN fuel.station USING (station_id)
      WHERE confirmed.confirmed_at <= \(known ?? .distantFuture)
      """)
    {
      let pair = try row.pair()
      found[pair, default: []].insert(Int32(try row.integer("price_tenths")))
    }
    return found
  }
}
