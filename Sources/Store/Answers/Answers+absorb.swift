package import FuelModel
import Postgres
package import Timeline

extension Answers {
  /// What a reading reports, with the database's numbers for its stations.
  package struct Reported: Sendable {
    /// Sorted, each once.
    package var lines: [Answer.Line]
    /// The number of stations and fuels for which it reports a price.
    package var pairs: Int
    /// The number of stations for which it reports a price.
    package var stations: Int
    /// The number of its prices by fuel, such as `U91`.
    package var fuels: [String: Int]
    /// The number of its stations by brand.
    package var brands: [String: Int]
    /// Earlier readings of the same documents, which no longer count.
    package var superseded: [ChangedRun] = []
    /// When the newest list before was taken that confirms prices.
    package var lastListed: Instant?
  }

  /// Begins to absorb a reading and stores its stations. This is the first step of a run's
  /// transaction.
  ///
  /// - Throws: `Refusal` where too many fuel codes are unknown.
  package func beginAbsorbing(
    _ distinct: Reading.Distinct, payload: Payload, run: RunID, of source: SourceID
  ) throws -> Reported {
    let (superseded, isBehind, lastListed) = try store.ledger.take(
      run, takenAt: payload.takenAt, fetchedAt: payload.fetchedAt)
    if !superseded.isEmpty {
      try store.ledger.forgetDescriptions(of: superseded[0].run)
      for earlier in superseded { try store.ledger.forgetToRead(earlier.run.number) }
    }
    let isLate = isBehind || !superseded.isEmpty
    let stations = try storeStations(
      distinct, payload: payload, run: run, of: source, isLate: isLate)
    var reported = try self.reported(
      distinct, stations: stations,
      unmapped: try store.stations.unmappedFuels(distinct, of: source))
    (reported.superseded, reported.lastListed) = (superseded, lastListed)
    if isLate {
      let listed = Set(reported.lines.map(\.pair.stationID))
      let described = distinct.stations.compactMap { stations[$0.code]?.id }
      try store.stations.note(listed.union(described), seenAt: payload.takenAt)
    }
    return reported
  }

  /// Stores the new stations of a reading and its descriptions, and returns all records of the feed
  /// by their codes.
  private func storeStations(
    _ distinct: Reading.Distinct, payload: Payload, run: RunID, of source: SourceID, isLate: Bool
  ) throws -> [String: Stations.CodedRecord] {
    var stations = try store.stations.records(of: source)
    let new = distinct.stationCodes().subtracting(stations.keys)
    if !new.isEmpty {
      try connection.query(
        "SELECT fuel.add_stations(\(source), \(new.sorted()), \(payload.takenAt))")
      stations = try store.stations.records(of: source)
    }
    if !distinct.stations.isEmpty {
      stations = [:]  // They may be many, and are read again.
      try store.stations.stage(distinct.stations)
      try describeStaged(takenAt: payload.takenAt, run: run, isLate: isLate)
      stations = try store.stations.records(of: source)
    }
    return stations
  }

  private func reported(
    _ distinct: Reading.Distinct, stations: [String: Stations.CodedRecord], unmapped: [Fuel: Int16]
  ) throws -> Reported {
    var lines: [Answer.Line] = []
    lines.reserveCapacity(distinct.observations.count)
    var fuels: [Int16: Fuel] = [:]
    var counts: [Int16: Int] = [:]
    // Lists mostly keep the prices of one station together.
    var code: String?
    var stationID: Int32 = 0
    var listed: Set<Int32> = []
    for observation in distinct.observations {
      if observation.stationCode != code {
        guard let station = stations[observation.stationCode] else {
          throw PostgresError.unexpectedResult("no station \(observation.stationCode)")
        }
        code = observation.stationCode
        stationID = station.id
        listed.insert(stationID)
      }
      let pair = Pair(
        stationID: stationID, fuelID: observation.fuel.id ?? unmapped[observation.fuel] ?? 0)
      lines.append(
        Answer.Line(
          pair: pair, stamp: observation.effectiveAt ?? Answer.Line.unstamped,
          tenths: observation.price?.tenths ?? 0))
      if counts[pair.fuelID, default: 0] == 0 { fuels[pair.fuelID] = observation.fuel }
      counts[pair.fuelID, default: 0] += 1
    }
    var brands: [String: Int] = [:]
    for station in stations.values where listed.contains(station.id) {
      if let brand = station.brand { brands[brand, default: 0] += 1 }
    }
    lines.sort()
    let isFirst = lines.indices.map { $0 == 0 || lines[$0] != lines[$0 - 1] }
    lines = zip(lines, isFirst).filter(\.1).map(\.0)
    return Reported(
      lines: lines, pairs: lines.indices.count { $0 == 0 || lines[$0].pair != lines[$0 - 1].pair },
      stations: listed.count,
      // An unmapped code may equal the code of a known fuel. Both are then counted together.
      fuels: Dictionary(
        fuels.map { ($1.rawValue, counts[$0] ?? 0) }, uniquingKeysWith: +),
      brands: brands)
  }

  /// Stores the descriptions of stations that are in the temporary table.
  private func describeStaged(takenAt: Instant, run: RunID, isLate: Bool) throws {
    try store.ledger.markDescribing(run)
    try connection.query(
      """
      SELECT fuel.describe_stations(
        source_id, coalesce(replaces_run_id, run_id), \(takenAt), \(isLate))
      FROM fuel.run
      WHERE run_id = \(run)
      """)
    // One transaction may absorb several runs.
    try connection.execute("DROP TABLE pg_temp.staged_station")
  }
}

extension Reading.Distinct {
  /// Returns the codes of the stations that the reading describes or for which it reports a price.
  package func stationCodes() -> Set<String> {
    Set(stations.lazy.map(\.code)).union(observations.lazy.map(\.stationCode))
  }
}
