extension Reading {
  /// A reading in which each combination of station record, fuel and instant occurs once.
  package struct Settled: Sendable {
    package var stations: [Station]
    package var observations: [Observation]
    package var rejects: [Reject]
    package var coverage: Coverage
    package var warnings: [String] = []
    package var awaitsTomorrow = false
    /// Records that repeat another record of the same reading in every field.
    package var duplicates: Int
    /// Observations whose fuel code has not been mapped to a fuel yet.
    package var unmapped: Int {
      observations.count { if case .unmapped = $0.fuel { true } else { false } }
    }
    /// Station records that the same reading described in two ways; the later description is kept.
    package var contradictedStations = 0
    /// All price records of the reading: observations, duplicates and rejects.
    package var received: Int { observations.count + duplicates + rejects.count }
  }

  /// Merges repeated records and checks the stamps against the time of the fetch.
  ///
  /// Two prices for one station record, fuel and instant contradict each other. The one that comes
  /// later in the document is kept, because publishers append corrections; the other one becomes a
  /// reject. The rule depends on the documents only, so the order of their arrival does not matter.
  ///
  /// - Parameters:
  ///   - takenAt: when the documents were fetched.
  ///   - horizon: how far a stamp may lie after `takenAt`: minutes for clocks that differ, a day or
  ///     two for a feed that publishes tomorrow's prices.
  ///   - country: the country of the stations; a position outside of it is removed.
  package func settled(
    takenAt: Instant, horizon: Duration, in country: Country = .australia
  ) -> Settled {
    var settled = Settled(
      stations: [], observations: [], rejects: rejects, coverage: coverage, duplicates: 0)
    settled.warnings = warnings
    settled.awaitsTomorrow = awaitsTomorrow
    settle(observations, into: &settled, takenAt: takenAt, newest: takenAt + horizon)
    settle(stations, into: &settled, in: country)
    return settled
  }

  private struct Key: Hashable {
    let code: String
    let fuel: Fuel
    let effectiveAt: Instant?
  }

  private func settle(
    _ observations: [Observation], into settled: inout Settled, takenAt: Instant, newest: Instant
  ) {
    var positions: [Key: Int] = [:]
    positions.reserveCapacity(observations.count)
    settled.observations.reserveCapacity(observations.count)
    for observation in observations {
      let effectiveAt = observation.effectiveAt ?? takenAt
      if let reason = fault(of: observation, effectiveAt: effectiveAt, newest: newest) {
        settled.rejects.append(Reject(reason, raw: observation.asText))
        continue
      }
      let key = Key(
        code: observation.stationCode, fuel: observation.fuel,
        effectiveAt: observation.effectiveAt)
      guard let position = positions[key] else {
        positions[key] = settled.observations.count
        settled.observations.append(observation)
        continue
      }
      let earlier = settled.observations[position]
      if earlier == observation {
        settled.duplicates += 1
      } else {
        settled.rejects.append(Reject(.conflictingPrice, raw: earlier.asText))
        settled.observations[position] = observation
      }
    }
  }

  /// Returns why an observation is rejected, whatever the others are; `nil` where it is not.
  private func fault(
    of observation: Observation, effectiveAt: Instant, newest: Instant
  ) -> Reject.Reason? {
    guard Self.isUsable(code: observation.stationCode, .codeBytes) else { return .stationMissing }
    if case .unmapped(let code) = observation.fuel, !Self.isUsable(code: code, .fuelCodeBytes) {
      return .unknownFuel
    }
    if effectiveAt > newest { return .stampInFuture }
    // 2000-01-01: before any official scheme. Older stamps are placeholders such as 1970 or 0001.
    let oldest = Instant(seconds: 946_684_800)
    return effectiveAt < oldest ? .stampTooOld : nil
  }

  private func settle(
    _ stations: [Station], into settled: inout Settled, in country: Country
  ) {
    var stationPositions: [String: Int] = [:]
    for var station in stations where Self.isUsable(code: station.code, .codeBytes) {
      if let position = station.position, !country.contains(position) { station.position = nil }
      if let position = stationPositions[station.code] {
        if settled.stations[position] != station { settled.contradictedStations += 1 }
        settled.stations[position] = station
      } else {
        stationPositions[station.code] = settled.stations.count
        settled.stations.append(station)
      }
    }
  }

  /// Whether a code is not empty and short enough to be a key of the database's indexes.
  private static func isUsable(code: String, _ limit: InputLimit) -> Bool {
    !code.isEmpty && code.utf8.count <= limit.value
  }
}

extension Observation {
  /// The fields in one line, for the quarantine.
  package var asText: String {
    "station=\(stationCode) fuel=\(fuel.rawValue) price_cpl=\(price?.centsPerLitre ?? "none") "
      + "effective_at=\(effectiveAt.map { "\($0)" } ?? "none")"
  }
}
