package import FuelModel
import Postgres

/// The documents as a whole contradict what is known so much that nothing of them is stored.
package struct Refusal: Error, Equatable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

extension Store {
  /// Stores one reading: one binary COPY into staging, one merge, and the run's record, in one
  /// transaction.
  ///
  /// - Parameters:
  ///   - now: the run's clock; prices whose instant lies after it are next prices.
  ///   - refuseBelow: the least share of the formerly listed prices that is believed at all.
  ///   - partialBelow: below this share absence proves nothing.
  /// - Throws: `Refusal` where the list is too short to be believed.
  package func absorb(
    _ settled: Reading.Settled, payload: Payload, run: RunID, now: Instant, requests: Int,
    refuseBelow: Double, partialBelow: Double
  ) throws -> Counts {
    try connection.transaction {
      try stage(settled)
      let row = try connection.query(
        """
        SELECT stored, is_complete, refusal
        FROM fuel.absorb(
          \(run), \(payload.takenAt), \(settled.coverage == .complete), \(refuseBelow),
          \(partialBelow), \(now))
        """
      ).only()
      try connection.execute("DROP TABLE pg_temp.staged_price, pg_temp.staged_station")
      if let refusal = try row.optional("refusal") { throw Refusal(refusal) }
      var counts = Counts()
      counts.stored = try row.integer("stored")
      counts.unchanged = settled.observations.count - counts.stored
      counts.duplicate = settled.duplicates
      counts.rejectedByReason = settled.rejectedByReason
      try keep(settled.rejects, of: run, at: now)
      try finishRun(
        run, at: now, payload: payload, isComplete: try row.boolean("is_complete"),
        describesStations: !settled.stations.isEmpty, counts: counts, requests: requests)
      return counts
    }
  }

  /// Loads a reading into temporary tables that end with the transaction.
  private func stage(_ settled: Reading.Settled) throws {
    try connection.execute(
      """
      CREATE TEMPORARY TABLE staged_price (
        station_code text        NOT NULL,
        fuel_id      smallint    NOT NULL,
        effective_at timestamptz NOT NULL,
        price_tenths integer     NOT NULL
      ) ON COMMIT DROP;
      CREATE TEMPORARY TABLE staged_station (
        station_code text NOT NULL,
        state        text NOT NULL,
        time_zone    text NOT NULL,
        name         text NOT NULL,
        brand        text,
        address      text NOT NULL,
        suburb       text,
        postcode     text,
        latitude     numeric(9, 6),
        longitude    numeric(9, 6),
        is_public    boolean NOT NULL
      ) ON COMMIT DROP
      """)
    try connection.copy(into: "pg_temp.staged_price", columns: 4) { copy in
      for observation in settled.observations {
        try copy.beginRow()
        copy.write(observation.stationCode)
        copy.write(observation.fuel.id)
        copy.write(observation.effectiveAt.sinceMillennium)
        copy.write(observation.price?.tenths ?? 0)
      }
    }
    if !settled.stations.isEmpty { try stage(settled.stations) }
    // The planner knows nothing of a temporary table until it is told.
    try connection.execute("ANALYZE pg_temp.staged_price")
  }

  private func stage(_ stations: [Station]) throws {
    func column(_ value: (Station) -> String?) -> [String?] { stations.map(value) }
    try connection.query(
      """
      INSERT INTO pg_temp.staged_station (
        station_code, state, time_zone, name, brand, address, suburb, postcode, latitude,
        longitude, is_public)
      SELECT * FROM unnest(
        \(column(\.code))::text[], \(column(\.state.rawValue))::text[],
        \(column(\.timeZone.rawValue))::text[], \(column(\.name))::text[],
        \(column(\.brand))::text[], \(column(\.address))::text[], \(column(\.suburb))::text[],
        \(column(\.postcode))::text[],
        \(column { $0.position.map { String($0.latitude) } })::numeric(9, 6)[],
        \(column { $0.position.map { String($0.longitude) } })::numeric(9, 6)[],
        \(column { $0.isPublic.sqlText })::boolean[])
      """)
  }
}

extension Instant {
  /// PostgreSQL's own count: microseconds since 2000-01-01 UTC.
  fileprivate var sinceMillennium: Int64 { microseconds - 946_684_800_000_000 }
}
