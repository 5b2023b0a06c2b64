package import FuelModel
import Postgres
package import Timeline
import Views

/// A region over which averages are made.
package struct Region: Sendable, Equatable {
  package var code: String
  package var name: String
  /// nation, state, capital, area or rest (of a state).
  package var kind: String
  package var state: State?
  package var centre: Position?
  package var radiusKilometres: Double?
  /// Ranges such as `2000-2234`, for stations without a position.
  package var postcodes: [String]
  /// The first price day on which it is averaged, and the first on which it no longer is; `nil`
  /// where there is no limit.
  package var from: Day?
  package var until: Day?

  package init(
    code: String, name: String, kind: String, state: State?, centre: Position?,
    radiusKilometres: Double?, postcodes: [String] = [], from: Day? = nil, until: Day? = nil
  ) {
    self.postcodes = postcodes
    self.from = from
    self.until = until
    self.code = code
    self.name = name
    self.kind = kind
    self.state = state
    self.centre = centre
    self.radiusKilometres = radiusKilometres
  }
}

extension Stations {
  /// Replaces the regions in the database by those of the configuration.
  ///
  /// - Returns: whether any region changed.
  package func refreshRegions(_ regions: [Region]) throws -> Bool {
    let wanted = try Columns.objects(
      regions.map { region in
        [
          "region": region.code, "name": region.name, "kind": region.kind,
          "state": region.state?.code,
          "latitude": region.centre.map { String($0.latitude) },
          "longitude": region.centre.map { String($0.longitude) },
          "radius_km": region.radiusKilometres, "postcodes": region.postcodes,
          "valid_from": region.from?.description ?? "-infinity",
          "valid_to": region.until?.description ?? "infinity",
        ]
      })
    return try connection.transaction {
      // What hangs on a region goes with it, but never the verdicts that were given.
      let gone = try connection.query(
        "DELETE FROM fuel.region WHERE NOT region = ANY (\(regions.map(\.code))) RETURNING region"
      ).map { try $0.text("region") }
      // A region is seldom removed, and the averages are many.
      if !gone.isEmpty { try store.days.remove(regions: gone) }
      // If the days for which a region is averaged change, where its stations count has to be
      // worked out anew.
      try connection.query(
        """
        DELETE FROM fuel.counted_place
        USING jsonb_populate_recordset(NULL::fuel.region, \(wanted)::jsonb) AS wanted
        JOIN fuel.region AS known USING (region)
        WHERE (known.valid_from, known.valid_to) <> (wanted.valid_from, wanted.valid_to)
          AND known.region = ANY (counted_place.regions)
        """)
      let written = try connection.query(
        """
        INSERT INTO fuel.region AS known
        SELECT * FROM jsonb_populate_recordset(NULL::fuel.region, \(wanted)::jsonb)
        ON CONFLICT ON CONSTRAINT region_pk DO UPDATE SET
          name = excluded.name, kind = excluded.kind, state = excluded.state,
          latitude = excluded.latitude, longitude = excluded.longitude,
          radius_km = excluded.radius_km, postcodes = excluded.postcodes,
          valid_from = excluded.valid_from, valid_to = excluded.valid_to
        WHERE known.* <> excluded.*
        """
      ).affected
      return written > 0 || !gone.isEmpty
    }
  }

  /// Brings up to date where each station counts. Belongs to a transaction with the lock of the
  /// timeline, so that no ingest compares a price with neighbours of before.
  ///
  /// - Returns: the stations that came, went or moved as neighbours.
  package func countStations(now: Instant) throws -> [Neighbourhood.Moved] {
    try connection.query("SELECT fuel.refresh_regions()")
    return try connection.query(
      """
      SELECT station_id, state, latitude, longitude, known_from_at
      FROM fuel.count_places(\(now))
      """
    ).compactMap { row in
      try row.neighbour().map {
        Neighbourhood.Moved(
          $0, knownFrom: try row.optionalInstant("known_from_at") ?? .distantFuture)
      }
    }
  }
}

/// One way in which feeds write a brand's name.
package struct BrandName: Sendable, Equatable {
  /// The name as feeds write it, in lower case.
  package var written: String
  package var brand: String
  /// The first day on which the name means that brand; `nil` where it always has.
  package var from: Day?
  /// The first day on which the name no longer means it; `nil` where it still does.
  package var until: Day?
  /// Whether only members may buy where a station's brand or name contains these words.
  package var isMembersOnly = false

  package init(
    written: String, brand: String, from: Day? = nil, until: Day? = nil, isMembersOnly: Bool = false
  ) {
    self.written = written
    self.brand = brand
    self.from = from
    self.until = until
    self.isMembersOnly = isMembersOnly
  }
}

extension Stations {
  /// Replaces the brand names in the database by those of the configuration. Where any differs,
  /// other stations may sell to members only than before. Stations are then described again: those
  /// of feeds at once, those of archives when they are matched next.
  package func refreshBrands(_ names: [BrandName]) throws {
    try connection.transaction {
      let (areGone, areNew) = try replaceRows(
        of: "fuel.brand_name",
        by: names.map { name in
          [
            "written": name.written, "brand": name.brand,
            "valid_from": name.from?.description ?? "-infinity",
            "valid_to": name.until?.description ?? "infinity",
            "is_members_only": name.isMembersOnly,
          ]
        })
      guard areGone || areNew else { return }
      try renewFeedStations()
      try connection.execute(
        "UPDATE fuel.source SET are_links_due = true WHERE kind = 'archive' AND NOT are_links_due")
    }
  }
}

extension Stations {
  /// Replaces the market events in the database by those of the configuration.
  ///
  /// - Parameter events: the columns of `fuel.market_event`.
  package func refreshEvents(_ events: [Columns]) throws {
    try replaceRows(of: "fuel.market_event", by: events)
  }
}

extension Stations {
  /// Makes the rows of a small table those that are given. Rows that are there already are not
  /// written.
  ///
  /// - Returns: whether a row went, and whether one came.
  @discardableResult
  func replaceRows(of table: String, by rows: [Columns]) throws -> (gone: Bool, added: Bool) {
    let row = try connection.query(
      "SELECT gone, added FROM fuel.replace_rows(\(table)::regclass, \(Columns.objects(rows))::jsonb)"
    ).only()
    return (try row.integer("gone") > 0, try row.integer("added") > 0)
  }
}
