package import FuelModel
import Postgres
package import Timeline

/// The documents as a whole contradict what is known so much that nothing of them is stored.
package struct Refusal: Error, Equatable, CustomStringConvertible {
  package let description: String
  /// What the list is made of that was refused; `nil`: it was refused for something else.
  package let list: ListSummary?

  package init(_ description: String, list: ListSummary? = nil) {
    self.description = description
    self.list = list
  }

  package static func == (left: Refusal, right: Refusal) -> Bool {
    left.description == right.description
  }
}

extension Store {
  /// Loads a reading beside the history, and stores its stations: the first step of a run's transaction.
  ///
  /// - Parameter now: the run's clock; prices whose instant lies after it are next prices.
  /// - Returns: what its list is made of; `nil`: it is none.
  package func stage(
    _ settled: Reading.Settled, payload: Payload, run: RunID, of source: SourceID, now: Instant
  ) throws -> ListSummary? {
    try stage(settled, of: run)
    try connection.query("SELECT fuel.take_stations(\(run), \(payload.takenAt))")
    guard settled.coverage == .complete else { return nil }
    let stations = try stagedStations(of: source)
    return ListSummary(
      of: settled, takenAt: payload.takenAt, stations: stations.count,
      brands: stations.brands)
  }

  /// Merges what was staged into the history. Which stations and fuels that changes is noted.
  ///
  /// - Parameters:
  ///   - list: what its list is made of; `nil`: it is none.
  ///   - isComplete: whether the gaps of the list mean "not offered".
  /// - Returns: how many facts were new.
  package func absorb(
    _ payload: Payload, run: RunID, list: ListSummary?, isComplete: Bool, now: Instant
  ) throws -> Int {
    // First: whether it stamps its prices is asked of what it is made of.
    if let list { try keep(list, of: run) }
    let stored = try connection.query(
      """
      SELECT fuel.absorb(
        \(run), \(payload.takenAt), \(payload.fetchedAt), \(list != nil), \(isComplete), \(now)) AS stored
      """
    ).only().integer("stored")
    try connection.execute("DROP TABLE pg_temp.staged_price, pg_temp.staged_station")
    return stored
  }

  /// Writes down how a run ended well: the last step of its transaction.
  package func finish(
    _ run: RunID, _ settled: Reading.Settled, payload: Payload, counts: Counts,
    isComplete: Bool, requests: Int, now: Instant
  ) throws {
    try keep(settled.rejects, of: run, at: now)
    try finishRun(
      run, at: now, payload: payload, isComplete: isComplete,
      describesStations: !settled.stations.isEmpty, counts: counts, requests: requests)
    try numberChange(run)
  }

  /// Loads a reading into temporary tables that end with the transaction.
  private func stage(_ settled: Reading.Settled, of run: RunID) throws {
    try connection.execute(
      """
      CREATE TEMPORARY TABLE staged_price (
        station_code text        NOT NULL,
        fuel_id      smallint    NOT NULL,
        -- NULL: the feed stamps nothing.
        effective_at timestamptz,
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
    let unmapped = try unmappedFuels(settled, of: run)
    try connection.copy(
      into: "pg_temp.staged_price (station_code, fuel_id, effective_at, price_tenths)", columns: 4
    ) { copy in
      for observation in settled.observations {
        try copy.beginRow()
        copy.write(observation.stationCode)
        copy.write(observation.fuel.id ?? unmapped[observation.fuel] ?? 0)
        copy.write(observation.effectiveAt?.sinceMillennium)
        copy.write(observation.price?.tenths ?? 0)
      }
    }
    if !settled.stations.isEmpty { try stage(settled.stations) }
    // The planner knows nothing of a temporary table until it is told; how large it is will do.
    try connection.execute(
      """
      SET LOCAL default_statistics_target = 10;
      ANALYZE pg_temp.staged_price, pg_temp.staged_station;
      SET LOCAL default_statistics_target = DEFAULT
      """)
  }

  /// The numbers of codes that nobody has mapped yet: fuels of their own, named by feed and code, so
  /// that no join loses their prices.
  private func unmappedFuels(_ settled: Reading.Settled, of run: RunID) throws -> [Fuel: Int16] {
    var codes: Set<String> = []
    for case .unmapped(let code) in settled.observations.lazy.map(\.fuel) { codes.insert(code) }
    guard !codes.isEmpty else { return [:] }
    // A new fuel now and then is one; dozens are a field that means something else now.
    guard codes.count <= 20 else {
      throw Refusal(
        "\(codes.count) fuel codes that nobody knows, such as \(codes.sorted().prefix(3).joined(separator: ", "))"
      )
    }
    let rows = try connection.query(
      """
      WITH wanted AS (
        SELECT source.source || ':' || code.code AS fuel, code.code, source.source
        FROM fuel.run
        JOIN fuel.source USING (source_id)
        CROSS JOIN unnest(\(codes.sorted())::text[]) AS code (code)
        WHERE run.run_id = \(run)
      ),
      added AS (
        INSERT INTO fuel.fuel (
          fuel_id, fuel, name, unit, lowest_tenths, highest_tenths, is_averaged, is_mapped)
        SELECT
          greatest((SELECT max(fuel_id) FROM fuel.fuel), 999)
            + row_number() OVER (ORDER BY wanted.fuel),
          wanted.fuel, wanted.code || ' of ' || wanted.source || ', not mapped yet', 'unknown', 1,
          30000, false, false
        FROM wanted
        WHERE NOT EXISTS (SELECT FROM fuel.fuel WHERE fuel.fuel = wanted.fuel)
        RETURNING fuel_id, fuel
      )
      SELECT wanted.code, known.fuel_id
      FROM (SELECT fuel_id, fuel FROM fuel.fuel UNION SELECT fuel_id, fuel FROM added) AS known
      JOIN wanted USING (fuel)
      """)
    var numbers: [Fuel: Int16] = [:]
    for row in rows {
      numbers[.unmapped(try row.text("code"))] = Int16(try row.integer("fuel_id"))
    }
    return numbers
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
