import FuelModel
import Postgres

/// The codes by which feeds name their stations.
extension Stations {
  /// Notes that stations were seen at an instant, where it is the first.
  func note(_ stations: Set<Int32>, seenAt instant: Instant) throws {
    try connection.query(
      """
      UPDATE fuel.station SET first_seen_at = \(instant)
      WHERE station_id = ANY (\(Array(stations))) AND first_seen_at > \(instant)
      """)
  }

  /// A station record of a feed, with the brand that the feed states.
  struct CodedRecord {
    var id: Int32
    var brand: String?
  }

  /// Reads the station records of a feed by their codes.
  func records(of source: SourceID) throws -> [String: CodedRecord] {
    var records: [String: CodedRecord] = [:]
    try connection.copy(
      from: """
        SELECT station_id, station_code, coalesce(brand, '')
        FROM fuel.station
        WHERE source_id = \(source)
        """
    ) { row in
      let (id, code, brand) = (try row.int32(), try row.text(), try row.text())
      records[code] = CodedRecord(id: id, brand: brand.isEmpty ? nil : brand)
    }
    return records
  }

  /// Returns the number of stations that a feed has reported.
  package func stationCount(of source: SourceID) throws -> Int {
    try connection.query(
      "SELECT count(*) AS stations FROM fuel.station WHERE source_id = \(source)"
    ).only().integer("stations")
  }

  /// Returns the codes of the stations whose prices were rejected because an answer described them
  /// in another state than the feed's, if no later answer describes them otherwise. An answer with
  /// prices need not describe their stations.
  package func codesElsewhere(of source: SourceID) throws -> Set<String> {
    Set(
      try connection.query(
        """
        SELECT other.code
        FROM (
          SELECT substring(reject.raw FROM '^station=(.*) fuel=') AS code, max(run.taken_at) AS at
          FROM fuel.reject
          JOIN fuel.run USING (run_id)
          WHERE reject.source_id = \(source)
            AND reject.reason = \(Reject.Reason.otherState.rawValue)
            AND run.outcome <> 'withdrawn'
          GROUP BY 1
        ) AS other
        WHERE other.code IS NOT NULL
          AND NOT EXISTS (
            SELECT
            FROM fuel.station
            JOIN fuel.station_description AS description USING (station_id)
            WHERE station.source_id = \(source)
              AND station.station_code = other.code
              AND description.last_seen_at > other.at)
        """
      ).map { try $0.text("code") })
  }

  /// Returns the codes of the stations that a feed has described.
  package func describedCodes(of source: SourceID) throws -> Set<String> {
    Set(
      try connection.query(
        "SELECT station_code FROM fuel.station WHERE source_id = \(source) AND name IS NOT NULL"
      ).map { try $0.text("station_code") })
  }

  /// Returns the codes of the stations that a feed has reported.
  package func stationCodes(of source: SourceID) throws -> Set<String> {
    Set(try records(of: source).keys)
  }
}
