import Foundation
import FuelModel
import Postgres

/// The stations of an archive and their descriptions.
extension ArchiveLoader {
  /// Stores the new stations and descriptions of a batch. Descriptions without a valid price are
  /// left out.
  func learn(_ batch: ArchiveBatch) throws {
    known = stations.snapshot
    for (number, station, md5) in current?.learnt ?? [] {
      known.learn(number, station: station, md5: md5)
    }
    let mentioned = Set(batch.sightings.map(\.stationDescription))
    let new = mentioned.filter { known.descriptions[$0].md5.isEmpty }.sorted()
    guard !new.isEmpty, let run = current?.run else { return }
    try store.stations.stage(new.map { known.descriptions[$0].content.station })
    try addStations()
    for row in try describeStations(run: run) {
      let number = new[try row.integer("number") - 1]
      let station = Int32(try row.integer("station_id"))
      let md5 = UUID(uuidString: try row.text("wording_md5")).map {
        withUnsafeBytes(of: $0.uuid) { Array($0) }
      }
      known.learn(number, station: station, md5: md5 ?? [])
      current?.learnt.append((number, station, md5 ?? []))
    }
    try store.connection.execute("DROP TABLE pg_temp.staged_station")
  }

  /// Adds the staged stations that the archive did not have before.
  private func addStations() throws {
    // Another loader may be adding the same stations. This statement then waits for it, and the
    // next statement sees them.
    try store.connection.query(
      """
      INSERT INTO fuel.station (
        source_id, station_code, state, time_zone, name, brand, address, suburb, postcode,
        latitude, longitude, is_public, first_seen_at)
      SELECT DISTINCT ON (staged.station_code)
        \(source)::smallint, staged.station_code, staged.state, staged.time_zone, staged.name,
        staged.brand, staged.address, staged.suburb, staged.postcode, staged.latitude,
        staged.longitude, staged.is_public, \(now)::timestamptz
      FROM pg_temp.staged_station AS staged
      WHERE NOT EXISTS (
        SELECT
        FROM fuel.station
        WHERE station.source_id = \(source) AND station.station_code = staged.station_code)
      ORDER BY staged.station_code, staged.number
      ON CONFLICT ON CONSTRAINT station_code_uq DO NOTHING
      """)
  }

  /// Stores the staged descriptions that the archive did not have before.
  ///
  /// - Returns: number, station and digest of every staged description.
  private func describeStations(run: RunID) throws -> Rows {
    try store.connection.query(
      """
      INSERT INTO fuel.station_description (
        station_id, wording_md5, state, time_zone, name, brand, address, suburb, postcode,
        latitude, longitude, is_public, details, run_id, first_seen_at, last_seen_at)
      SELECT DISTINCT ON (station.station_id, staged.wording_md5)
        station.station_id, staged.wording_md5, staged.state, staged.time_zone, staged.name,
        staged.brand, staged.address, staged.suburb, staged.postcode, staged.latitude,
        staged.longitude, staged.is_public, staged.details, \(run)::integer, \(now)::timestamptz,
        \(now)::timestamptz
      FROM pg_temp.staged_station AS staged
      JOIN fuel.station USING (station_code)
      WHERE station.source_id = \(source)
      ORDER BY station.station_id, staged.wording_md5
      ON CONFLICT DO NOTHING
      """)
    return try store.connection.query(
      """
      SELECT staged.number, station.station_id, staged.wording_md5
      FROM pg_temp.staged_station AS staged
      JOIN fuel.station USING (station_code)
      WHERE station.source_id = \(source)
      ORDER BY staged.number
      """)
  }

  func keep(_ sightings: [ArchiveBatch.Sighting]) throws {
    try store.connection.copy(into: "pg_temp.staged_sighting", columns: 4) { copy in
      for sighting in sightings {
        let description = known.descriptions[sighting.stationDescription]
        try copy.beginRow()
        copy.write(description.station)
        copy.write(bytes: description.md5)
        copy.write(sighting.month.firstDay)
        copy.write(Int32(bitPattern: sighting.days))
      }
    }
  }
}
