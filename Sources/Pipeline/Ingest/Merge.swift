package import FuelModel
package import Store
package import Timeline

/// Stores what one run reports, in one transaction: its facts, its list with the judgement on it,
/// the spans of what changed or a note that they are due, and the row of the run.
package struct Merge {
  private let store: Store
  private let source: SourceID
  private let rules: ListRules
  private let now: Instant
  private let leavesSpans: Bool

  /// Creates a merge into the history of one feed.
  ///
  /// - Parameters:
  ///   - now: the clock of the run. Prices that take effect after it are next prices.
  ///   - leavesSpans: whether the next aggregate makes the spans of what changed.
  package init(
    _ store: Store, of source: SourceID, rules: ListRules, now: Instant, leavesSpans: Bool = false
  ) {
    self.store = store
    self.source = source
    self.rules = rules
    self.now = now
    self.leavesSpans = leavesSpans
  }

  /// Returns a reading without station and fuel codes beyond the limits. Every code is kept for
  /// ever, so a feed must not be able to invent new ones without end.
  private func bounded(_ settled: Reading.Settled) throws -> Reading.Settled {
    try withBoundedFuels(withBoundedStations(settled))
  }

  /// Drops stations beyond the limit. Stations come and go, so a feed knows more of them than one
  /// answer names, but not many times more.
  private func withBoundedStations(_ settled: Reading.Settled) throws -> Reading.Settled {
    let named = settled.stationCodes()
    let most = max(InputLimit.stations.value, 4 * named.count)
    guard try store.stationCount(of: source) + named.count > most else { return settled }
    var known = try store.stationCodes(of: source)
    for code in named.sorted() where known.count < most { known.insert(code) }
    var bounded = settled
    bounded.stations.removeAll { !known.contains($0.code) }
    bounded.observations = []
    for observation in settled.observations {
      if known.contains(observation.stationCode) {
        bounded.observations.append(observation)
      } else {
        bounded.rejects.append(Reject(.stationBeyondLimit, raw: observation.asText))
      }
    }
    let leftOut = settled.stations.count - bounded.stations.count
    if leftOut > 0 {
      bounded.warnings.append("\(leftOut) stations more than the \(most) that a feed may have")
    }
    return bounded
  }

  /// Drops unmapped fuel codes beyond the limit, because the numbers for fuels are limited and
  /// shared by all feeds.
  private func withBoundedFuels(_ settled: Reading.Settled) throws -> Reading.Settled {
    guard settled.unmapped > 0 else { return settled }
    var known = try store.unmappedCodes(of: source)
    var bounded = settled
    bounded.observations = []
    for observation in settled.observations {
      if case .unmapped(let code) = observation.fuel, !known.contains(code) {
        guard known.count < InputLimit.fuelCodes.value else {
          bounded.rejects.append(Reject(.unknownFuel, raw: observation.asText))
          continue
        }
        known.insert(code)
      }
      bounded.observations.append(observation)
    }
    return bounded
  }

  /// Stores a reading.
  ///
  /// - Parameter reportsWholeDays: whether the reading is compared with the last answer that had
  ///   the same documents.
  /// - Throws: `Refusal` where the list is too short to be believed.
  package func take(
    _ reading: consuming Reading.Settled, payload: Payload, run: RunID, requests: Int,
    reportsWholeDays: Bool
  ) throws -> Counts {
    var settled = reading
    return try store.transaction {
      settled = try bounded(settled)
      // Feeds are fetched in parallel and stored one by one, so that no two wait for each other's
      // rows.
      try store.lockTimeline()
      let lastListed = try store.lastListed(of: source)
      let reported = try stamped(settled, payload: payload, run: run)
      var counts = Counts()
      counts.note(settled)
      counts.unchanged = settled.observations.count
      let stamps = ListSummary.stamps(of: settled.observations)
      // A long list takes much memory, and is not needed any more.
      (settled.stations, settled.observations) = ([], [])
      if reportsWholeDays {
        try store.keep(days: Set(reported.prices.compactMap(\.effectiveAt)), of: run)
      }
      let shown = try store.shown(by: source)
      let isList = settled.coverage == .complete
      if isList, let strange = strangeness(of: reported, shown, lastListed, payload) {
        throw Refusal(strange)
      }
      let difference = Difference(
        of: reported.prices, from: shown, isList: isList,
        reportsWholeDays: reportsWholeDays, isDirect: reported.isDirect)
      let list = isList ? summary(of: reported, stamps, payload, pairs: difference.pairs) : nil
      let standings = Standings(store, of: source, rules: rules, now: now)
      var judgement = ListJudgement()
      var isNewest = true
      if let list {
        (judgement, isNewest) = try standings.judgement(of: list)
      } else if reportsWholeDays,
        let before = try store.pairsBefore(run, takenAt: payload.takenAt)
      {
        judgement = rules.judgement(ofDays: difference.pairs, after: before)
      }
      if let refusal = judgement.refusal { throw Refusal(refusal, list: list) }
      let isComplete = list != nil && judgement.isComplete

      counts.stored = try store.absorb(
        difference.prices, payload: payload, run: run, list: list, isComplete: isComplete, now: now)
      counts.unchanged -= counts.stored
      if let list, !isNewest {
        counts.believedNow = try standings.judgeAgain(
          around: list.takenAt, lastListed: lastListed)
      }
      counts.flagged = try makeSpans(
        isComplete && isNewest
          ? successions(difference, payload: payload, lastListed: lastListed) : [:])
      counts.pairs = difference.pairs
      counts.shortcomings = judgement.shortcomings
      try store.finish(
        run, payload: payload, counts: counts, rejects: settled.rejects, isComplete: isComplete,
        requests: requests, now: now)
      return counts
    }
  }

  /// Begins to store a reading, and stamps its prices where the feed does not.
  private func stamped(
    _ settled: Reading.Settled, payload: Payload, run: RunID
  ) throws -> Store.Reported {
    var reported = try store.beginAbsorbing(settled, payload: payload, run: run, of: source)
    if reported.prices.contains(where: { $0.effectiveAt == nil }) {
      reported.prices.stamp(
        from: try store.heldPrices(of: source, at: payload.takenAt), at: payload.takenAt)
    }
    return reported
  }

  /// Returns what is strange about the stations of a list, while a complete list is believed.
  private func strangeness(
    of reported: Store.Reported, _ shown: [ShownPrice], _ lastListed: Instant?, _ payload: Payload
  ) -> String? {
    // An older answer is not compared with stations of later days.
    guard let lastListed, lastListed <= payload.takenAt,
      lastListed > payload.takenAt.after(-rules.window)
    else { return nil }
    return rules.strangeness(
      of: Set(reported.prices.map(\.pair.stationID)),
      beside: Set(shown.lazy.filter(\.isListed).map(\.pair.stationID)))
  }

  private func summary(
    of reported: Store.Reported, _ stamps: [Int], _ payload: Payload, pairs: Int
  ) -> ListSummary {
    ListSummary(
      takenAt: payload.takenAt, pairs: pairs, stations: reported.stations, fuels: reported.fuels,
      brands: reported.brands, stamps: stamps)
  }

  /// Returns how a complete list that is the newest one goes on with newer prices, by station record
  /// and fuel.
  private func successions(
    _ difference: Difference, payload: Payload, lastListed: Instant?
  ) -> [Pair: Succession] {
    guard let lastListed else { return [:] }
    var found: [Pair: Succession] = [:]
    for one in difference.prices {
      // A price that begins later is the next one.
      guard let stampedBefore = one.follows, let price = one.price, let at = price.effectiveAt,
        at <= now
      else { continue }
      found[one.pair] = Succession(
        stampedBefore: stampedBefore, listedAt: lastListed,
        report: Evidence(
          kind: .price, recordID: one.pair.stationID, sourceID: source.number, at: at,
          price: price.tenths, learntAt: payload.fetchedAt))
    }
    return found
  }

  /// Makes the spans of what changed, or notes that they are due. Returns how many of the changed
  /// prices are doubtful.
  private func makeSpans(_ successions: [Pair: Succession]) throws -> Int {
    let changed = try store.takeChanged()
    guard leavesSpans else {
      return try TimelineUpdate(store, now: now).make(changed, after: successions)
    }
    try store.touch(changed)
    return 0
  }
}

extension Counts {
  /// Notes what is odd about a reading itself, whatever became of it.
  fileprivate mutating func note(_ settled: Reading.Settled) {
    duplicate = settled.duplicates
    unmapped = settled.unmapped
    rejectedByReason = settled.rejectedByReason
    takeExamples(settled.rejects)
    oddities = settled.warnings
    awaitsTomorrow = settled.awaitsTomorrow
    if settled.contradictedStations > 0 {
      oddities.append("\(settled.contradictedStations) stations described in two ways")
    }
  }
}
