package import FuelModel
import Postgres

/// Station records and their descriptions, links between records of one station, regions and
/// brands.
package struct Stations {
  let store: Store
  var connection: Connection { store.connection }
}

extension Stations {
  /// Brings the station records of all feeds up to date with their descriptions and runs, and the
  /// feeds with their runs and facts.
  package func renewFeeds(now: Instant) throws {
    try connection.transaction {
      try renewFeedStations()
      try connection.query(
        """
        SELECT fuel.span_of_feed(source_id, \(now)), fuel.renew_shown(source_id),
          fuel.renew_first_sights(ARRAY(
            SELECT station_id FROM fuel.station WHERE station.source_id = source.source_id))
        FROM fuel.source
        WHERE kind = 'feed'
        """)
    }
  }

  /// Brings the station records of all feeds up to date, as part of a transaction.
  func renewFeedStations() throws {
    // A list that describes stations meanwhile holds this lock.
    try store.spans.lockTimeline()
    try connection.query(
      """
      SELECT fuel.renew_stations(array_agg(station.station_id))
      FROM fuel.station
      JOIN fuel.source USING (source_id)
      WHERE source.kind = 'feed'
      """)
  }

  /// Loads descriptions of stations into `pg_temp.staged_station`, which ends with the transaction.
  /// They are numbered from 1 on.
  ///
  /// A description without details has the digest that it had before there were details, so that
  /// nothing is stored a second time.
  func stage(_ stations: [Station]) throws {
    try connection.execute(
      """
      CREATE TEMPORARY TABLE staged_station (
        station_code text          NOT NULL,
        state        text          NOT NULL,
        time_zone    text          NOT NULL,
        name         text          NOT NULL,
        brand        text,
        address      text          NOT NULL,
        suburb       text,
        postcode     text,
        latitude     numeric(9, 6),
        longitude    numeric(9, 6),
        is_public    boolean       NOT NULL,
        details      jsonb,
        number       bigint        NOT NULL,
        wording_md5  uuid          NOT NULL
      ) ON COMMIT DROP
      """)
    // In parts, because parameters take several times as much memory as the stations.
    for begin in stride(from: 0, to: stations.count, by: 10_000) {
      try insert(stations[begin..<min(begin + 10_000, stations.count)])
    }
    // Without ANALYZE the planner knows nothing about a temporary table. It only needs the table's
    // size, so little sampling is enough.
    try connection.execute(
      """
      SET LOCAL default_statistics_target = 10;
      ANALYZE pg_temp.staged_station;
      SET LOCAL default_statistics_target = DEFAULT
      """)
  }

  /// Adds descriptions to the temporary table.
  private func insert(_ stations: ArraySlice<Station>) throws {
    func column(_ value: (Station) -> String?) -> [String?] { stations.map(value) }
    let details: [String?] = try stations.map { station in
      try station.details.isEmpty ? nil : store.ledger.jsonText(station.details)
    }
    try connection.query(
      """
      INSERT INTO pg_temp.staged_station
      SELECT
        given.station_code, given.state, given.time_zone, given.name, given.brand, given.address,
        given.suburb, given.postcode, given.latitude, given.longitude, given.is_public,
        given.details, \(stations.startIndex)::bigint + given.number,
        md5(ROW(
          given.state, given.time_zone, given.name, given.brand, given.address, given.suburb,
          given.postcode, given.latitude, given.longitude, given.is_public)::text
          || coalesce(given.details::text, ''))::uuid
      FROM unnest(
        \(column(\.code))::text[], \(column(\.state.code))::text[],
        \(column(\.timeZone.rawValue))::text[], \(column(\.name))::text[],
        \(column(\.brand))::text[], \(column(\.address))::text[], \(column(\.suburb))::text[],
        \(column(\.postcode))::text[],
        \(column { $0.position.map { String($0.latitude) } })::numeric(9, 6)[],
        \(column { $0.position.map { String($0.longitude) } })::numeric(9, 6)[],
        \(column { String($0.isPublic) })::boolean[], \(details)::jsonb[]
      ) WITH ORDINALITY AS given (
        station_code, state, time_zone, name, brand, address, suburb, postcode, latitude,
        longitude, is_public, details, number)
      """)
  }
}
