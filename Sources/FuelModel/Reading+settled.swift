extension Reading {
  /// A reading in which every station, fuel and instant occurs once.
  package struct Settled: Sendable {
    package var stations: [Station]
    package var observations: [Observation]
    package var rejects: [Reject]
    package var coverage: Coverage
    package var warnings: [String] = []
    package var awaitsTomorrow = false
    /// Records that said the same as another record of the same reading.
    package var duplicates: Int
    /// Observations under a fuel code that nobody has mapped yet.
    package var unmapped: Int {
      observations.count { if case .unmapped = $0.fuel { true } else { false } }
    }
    /// Stations that the same reading described in two ways; the later one is kept.
    package var contradictedStations = 0
    /// Every price record that came: observations, duplicates and rejects.
    package var received: Int { observations.count + duplicates + rejects.count }
  }

  /// Folds repeated records and holds the stamps against the clock.
  ///
  /// Two prices for one station, fuel and instant contradict each other. The later one in the
  /// document is kept, because publishers append corrections; the other is a reject. The rule looks
  /// at the documents only, so that it does not matter when they arrive.
  ///
  /// - Parameters:
  ///   - takenAt: when the documents were fetched.
  ///   - horizon: how far ahead a stamp may lie: minutes for clocks that differ, a day or two for a
  ///     feed that publishes tomorrow's prices.
  ///   - country: outside of which no station can be: such a position is left out.
  package func settled(
    takenAt: Instant, horizon: Duration, in country: Country = .australia
  ) -> Settled {
    struct Key: Hashable {
      let code: String
      let fuel: Fuel
      let effectiveAt: Instant?
    }
    var settled = Settled(
      stations: [], observations: [], rejects: rejects, coverage: coverage, duplicates: 0)
    settled.warnings = warnings
    settled.awaitsTomorrow = awaitsTomorrow
    // 2000-01-01: before any scheme; older stamps are placeholders such as 1970 or 0001.
    let oldest = Instant(seconds: 946_684_800)
    let newest = takenAt + horizon

    var positions: [Key: Int] = [:]
    positions.reserveCapacity(observations.count)
    settled.observations.reserveCapacity(observations.count)
    for observation in observations {
      guard Self.isUsable(code: observation.stationCode, .codeBytes) else {
        settled.rejects.append(Reject(.stationMissing, raw: observation.asText))
        continue
      }
      if case .unmapped(let code) = observation.fuel, !Self.isUsable(code: code, .fuelCodeBytes) {
        settled.rejects.append(Reject(.unknownFuel, raw: observation.asText))
        continue
      }
      let effectiveAt = observation.effectiveAt ?? takenAt
      if effectiveAt > newest {
        settled.rejects.append(Reject(.stampInFuture, raw: observation.asText))
        continue
      }
      if effectiveAt < oldest {
        settled.rejects.append(Reject(.stampTooOld, raw: observation.asText))
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
    return settled
  }

  /// Whether the database can know something by a code: an index takes no more bytes.
  private static func isUsable(code: String, _ limit: InputLimit) -> Bool {
    !code.isEmpty && code.utf8.count <= limit.value
  }
}

extension Observation {
  /// The fields in one line, for the reject store.
  package var asText: String {
    "station=\(stationCode) fuel=\(fuel.rawValue) price_cpl=\(price?.centsPerLitre ?? "none") "
      + "effective_at=\(effectiveAt.map { "\($0)" } ?? "none")"
  }
}
