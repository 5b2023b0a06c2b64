import FuelModel
import Postgres

extension Store {
  /// Loads descriptions of stations into `pg_temp.staged_station`, which ends with the transaction.
  /// They are numbered from 1 on.
  ///
  /// A description without details has the digest that it had before there were details, so that
  /// nothing is stored a second time.
  func stage(_ stations: [Station]) throws {
    func column(_ value: (Station) -> String?) -> [String?] { stations.map(value) }
    let details: [String?] = try stations.map { station in
      try station.details.isEmpty ? nil : jsonText(station.details)
    }
    try connection.query(
      """
      CREATE TEMPORARY TABLE staged_station ON COMMIT DROP AS
      SELECT
        given.*,
        md5(
          ROW(
            given.state, given.time_zone, given.name, given.brand, given.address, given.suburb,
            given.postcode, given.latitude, given.longitude, given.is_public)::text
          || coalesce(given.details::text, ''))::uuid AS wording_md5
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
    // Without ANALYZE the planner knows nothing about a temporary table. It only needs the table's
    // size, so little sampling is enough.
    try connection.execute(
      """
      SET LOCAL default_statistics_target = 10;
      ANALYZE pg_temp.staged_station;
      SET LOCAL default_statistics_target = DEFAULT
      """)
  }
}
