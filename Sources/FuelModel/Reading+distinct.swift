extension Reading {
  /// A reading in which each combination of station record, fuel and instant occurs once.
  package struct Distinct: Sendable {
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

    /// Adds a warning about prices at stations that no answer has described: nothing tells where
    /// these are.
    ///
    /// - Parameter known: the codes of the stations that earlier answers described.
    package mutating func tellUndescribed(among known: Set<String>) {
      let unknown = Set(observations.lazy.map(\.stationCode)).subtracting(known)
        .subtracting(stations.lazy.map(\.code))
      guard let example = unknown.min() else { return }
      warnings.append(
        "stations that have prices and were never described: \(unknown.count), such as \(example)")
    }
  }

  /// Whether the reading describes every station of which it has a price.
  package var describesItsStations: Bool {
    let codes = Set(stations.lazy.map(\.code))
    return observations.allSatisfy { codes.contains($0.stationCode) }
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
  ///   - lead: how far the clock that made the stamps is ahead. Stamps after `takenAt` are put back by
  ///     it. Earlier ones stay, because the clock may have been right when it made them.
  ///   - states: the states whose stations the feed has; empty: those of any state.
  ///   - elsewhere: the codes of stations that earlier answers described in other states.
  package consuming func distinct(
    takenAt: Instant, horizon: Duration, lead: Duration = .zero, of states: [State] = [],
    elsewhere: Set<String> = []
  ) -> Distinct {
    var reading = self
    if lead > .zero {
      for index in reading.observations.indices {
        if let stamp = reading.observations[index].effectiveAt, stamp > takenAt {
          reading.observations[index].effectiveAt = stamp - lead
        }
      }
    }
    if !states.isEmpty { reading.leaveOutOthers(than: states, elsewhere) }
    let duplicates = reading.keepDistinctObservations(takenAt: takenAt, newest: takenAt + horizon)
    let contradictions = reading.keepDistinctStations()
    return Distinct(
      stations: reading.stations, observations: reading.observations, rejects: reading.rejects,
      coverage: reading.coverage, warnings: reading.warnings,
      awaitsTomorrow: reading.awaitsTomorrow, duplicates: duplicates,
      contradictedStations: contradictions)
  }

  /// Takes out the stations that lie in other states, by what is stated of them or by their
  /// addresses, and the prices at them. Codes of states overlap, so a code that is also described in
  /// one of the states keeps that description and its prices.
  private mutating func leaveOutOthers(than states: [State], _ elsewhere: Set<String>) {
    var own: Set<String> = []
    var others: [String: State] = [:]
    stations.removeAll { station in
      guard let other = station.stateOutside(of: states) else {
        own.insert(station.code)
        return false
      }
      others[station.code] = other
      return true
    }
    let counts = Dictionary(others.map { ($1.code, 1) }, uniquingKeysWith: +)
    for (state, count) in counts.sorted(by: { $0.key < $1.key }) {
      warnings.append("stations of \(state), which are not of this feed: \(count)")
    }
    let codes = elsewhere.union(others.keys).subtracting(own)
    guard !codes.isEmpty else { return }
    var strange: Set<String> = []
    observations.removeAll { observation in
      guard codes.contains(observation.stationCode) else { return false }
      if others[observation.stationCode] == nil { strange.insert(observation.stationCode) }
      rejects.append(Reject(.otherState, raw: observation.asText))
      return true
    }
    if !strange.isEmpty {
      warnings.append(
        "stations with prices that were described in other states and are not of this feed: \(strange.count)"
      )
    }
  }

  /// Leaves one observation of each station record, fuel and instant, in the order of their first
  /// reports. Returns the number of observations that repeat another one.
  private mutating func keepDistinctObservations(takenAt: Instant, newest: Instant) -> Int {
    var duplicates = 0
    var kept: [Observation] = []
    // Where the observation of each station record, fuel and instant is, by itself without a price.
    var places: [Observation: Int] = [:]
    for observation in observations {
      let effectiveAt = observation.effectiveAt ?? takenAt
      if let reason = Self.fault(of: observation, effectiveAt: effectiveAt, newest: newest) {
        rejects.append(Reject(reason, raw: observation.asText))
        continue
      }
      var subject = observation
      subject.price = nil
      guard let place = places[subject] else {
        places[subject] = kept.count
        kept.append(observation)
        continue
      }
      if kept[place] == observation {
        duplicates += 1
      } else {
        rejects.append(Reject(.conflictingPrice, raw: kept[place].asText))
        kept[place] = observation
      }
    }
    observations = kept
    return duplicates
  }

  /// Returns why an observation is rejected, whatever the others are; `nil` where it is not.
  private static func fault(
    of observation: Observation, effectiveAt: Instant, newest: Instant
  ) -> Reject.Reason? {
    guard isUsable(code: observation.stationCode, .codeBytes) else { return .stationMissing }
    if case .unmapped(let code) = observation.fuel, !isUsable(code: code, .fuelCodeBytes) {
      return .unknownFuel
    }
    if effectiveAt > newest { return .stampInFuture }
    // 2000-01-01: before any official scheme. Older stamps are placeholders such as 1970 or 0001.
    let oldest = Instant(seconds: 946_684_800)
    return effectiveAt < oldest ? .stampTooOld : nil
  }

  /// Leaves the last description of each station record, without a position outside of the country.
  /// Returns how many were described in different ways.
  private mutating func keepDistinctStations() -> Int {
    var contradictions = 0
    var positions: [String: Int] = [:]
    var end = 0
    for index in stations.indices where Self.isUsable(code: stations[index].code, .codeBytes) {
      var station = stations[index]
      if let position = station.position, !Australia.contains(position) { station.position = nil }
      if let position = positions[station.code] {
        if stations[position] != station { contradictions += 1 }
        stations[position] = station
      } else {
        positions[station.code] = end
        stations[end] = station
        end += 1
      }
    }
    stations.removeLast(stations.count - end)
    return contradictions
  }

  /// Whether a code is not empty and short enough to be a key of the database's indexes.
  private static func isUsable(code: String, _ limit: InputLimit) -> Bool {
    !code.isEmpty && code.utf8.count <= limit.value
  }
}

extension Station {
  /// Returns the state of the station if it is none of the given ones: as it is stated or as its
  /// address names it. Without a state in the address its postcode tells, unless it is one at a
  /// border, and then its position, where it lies more than a degree from all of them.
  package func stateOutside(of states: [State]) -> State? {
    let named = Australia.state(named: address)
    if let other = [state, named ?? state].first(where: { !states.contains($0) }) { return other }
    guard named == nil else { return nil }
    let last = address.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).last
    if let code = postcode ?? last.map(String.init), code.isPostcode {
      if states.contains(where: { $0.postcodesBegin.first == code.first }) { return nil }
      if !states.contains(where: { $0.mayHave(postcode: code) }) {
        return Australia.states.first { $0.postcodesBegin.first == code.first }
      }
    }
    guard let position, !states.contains(where: { $0.mayHave(position, within: 1) }) else {
      return nil
    }
    return Australia.states.first { $0.mayHave(position) }
  }
}

extension Observation {
  /// The fields in one line, for the quarantine.
  package var asText: String {
    "station=\(stationCode) fuel=\(fuel.rawValue) price_cpl=\(price?.centsPerLitre ?? "none") "
      + "effective_at=\(effectiveAt.map { "\($0)" } ?? "none")"
  }
}
