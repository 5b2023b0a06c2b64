package import FuelModel
package import Store
package import Timeline

/// Stores what one run reports, in one transaction: its answer, the judgement on it, the facts,
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
  private func bounded(_ distinct: Reading.Distinct) throws -> Reading.Distinct {
    try withBoundedFuels(withBoundedStations(distinct))
  }

  /// Drops stations beyond the limit. Stations come and go, so a feed knows more of them than one
  /// answer names, but not many times more.
  private func withBoundedStations(_ distinct: Reading.Distinct) throws -> Reading.Distinct {
    let named = distinct.stationCodes()
    let most = max(InputLimit.stations.value, 4 * named.count)
    guard try store.stations.stationCount(of: source) + named.count > most else { return distinct }
    var known = try store.stations.stationCodes(of: source)
    for code in named.sorted() where known.count < most { known.insert(code) }
    var bounded = distinct
    bounded.stations.removeAll { !known.contains($0.code) }
    bounded.observations = []
    for observation in distinct.observations {
      if known.contains(observation.stationCode) {
        bounded.observations.append(observation)
      } else {
        bounded.rejects.append(Reject(.stationBeyondLimit, raw: observation.asText))
      }
    }
    let leftOut = distinct.stations.count - bounded.stations.count
    if leftOut > 0 {
      bounded.warnings.append(
        "stations left out, beyond the \(most) that a feed may have: \(leftOut)")
    }
    return bounded
  }

  /// Drops unmapped fuel codes beyond the limit, because the numbers for fuels are limited and
  /// shared by all feeds.
  private func withBoundedFuels(_ distinct: Reading.Distinct) throws -> Reading.Distinct {
    guard distinct.unmapped > 0 else { return distinct }
    var known = Set(try store.stations.unmappedCodes(of: source).keys)
    var bounded = distinct
    bounded.observations = []
    for observation in distinct.observations {
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
  /// - Parameter reportsWholeDays: whether the feed repeats prices of whole days.
  /// - Throws: `Refusal` where the list is not believed.
  package func take(
    _ reading: consuming Reading.Distinct, payload: Payload, run: RunID, requests: Int,
    reportsWholeDays: Bool
  ) throws -> Counts {
    var distinct = reading
    return try store.transaction {
      distinct = try bounded(distinct)
      // Feeds are fetched in parallel and stored one by one, so that no two wait for each other's
      // rows.
      try store.spans.lockTimeline()
      let reported = try store.answers.beginAbsorbing(
        distinct, payload: payload, run: run, of: source)
      var counts = Counts()
      counts.note(distinct)
      counts.unchanged = distinct.observations.count
      counts.pairs = reported.pairs
      let stamps = ListSummary.stamps(of: distinct.observations)
      // A long list takes much memory, and is not needed any more.
      (distinct.stations, distinct.observations) = ([], [])
      if reportsWholeDays {
        try store.ledger.keep(days: Set(reported.lines.map(\.stamp)), of: run)
      }
      let isList = distinct.coverage == .complete
      var refold = Refold(store, of: source)
      let before = reportsWholeDays ? nil : try refold.before(payload.takenAt)
      let (list, judgement, isNewest, isStill) = try judged(
        reported, stamps: isList ? stamps : nil, beside: before?.shown, payload, run,
        counts.rejectedByReason, reportsWholeDays: reportsWholeDays)
      let isComplete = list != nil && judgement.isComplete
      if let list {
        try store.ledger.keep(
          list, of: run, isComplete: isComplete, isRepeat: judgement.isRepeat)
      }
      try refold.keep(reported.lines, of: run, documents: payload.documents)
      let answer = KeptAnswer(
        run: run, takenAt: payload.takenAt, learntAt: payload.fetchedAt,
        kind: isComplete ? .complete : isList ? .partial : .update, counts: !judgement.isRepeat)
      // Where it is newer than all others, nothing is judged again.
      let isAppended = isNewest && reported.superseded.isEmpty && before?.isNewest == true
      if isAppended, isStill {
        _ = try Standings.judgeFrozen(
          store, of: source, from: payload.takenAt, until: payload.takenAt)
      }
      let windows = try fold(
        answer, to: isAppended ? before?.shown : nil, with: &refold, reported, &counts)
      counts.flagged = try makeSpans(windows)
      counts.shortcomings = judgement.shortcomings
      try store.ledger.finishRun(
        run, at: now, payload: payload, counts: counts, rejects: distinct.rejects,
        isComplete: isComplete, requests: requests)
      return counts
    }
  }

  /// Makes the facts follow from an answer that is kept. Returns what changes with them.
  ///
  /// - Parameter shown: what the feed shows before an answer that is newer than all others; `nil`:
  ///   others follow it, or are judged again because of it.
  private func fold(
    _ answer: KeptAnswer, to shown: Shown?, with refold: inout Refold,
    _ reported: Answers.Reported, _ counts: inout Counts
  ) throws -> [Window] {
    let (facts, windows): (FactChanges, [Window])
    if let shown {
      (facts, windows) = try refold.append(answer, to: shown, now: now)
    } else {
      let judged =
        answer.kind == .update ? nil : try standings.judgeAgain(around: answer.takenAt)
      counts.believedNow = judged?.unread ?? []
      (facts, windows) = try refold.follow(
        reported.superseded + [ChangedRun(answer.run, takenAt: answer.takenAt)]
          + (judged?.changed ?? []),
        turnedFrom: judged?.turnedFrom, now: now)
    }
    counts.stored = facts.news(of: answer.run)
    counts.unchanged -= counts.stored
    return windows
  }

  private var standings: Standings { Standings(store, of: source, rules: rules, now: now) }

  /// Judges what a run reports by what earlier runs reported. Also returns the summary of its list,
  /// whether no list was taken later, and whether the lists before it state the same.
  ///
  /// - Parameters:
  ///   - stamps: those of a list; `nil`: the run reports no list.
  ///   - shown: what the feed shows before it.
  /// - Throws: `Refusal` where the list is not believed.
  private func judged(
    _ reported: Answers.Reported, stamps: [Int]?, beside shown: Shown?, _ payload: Payload,
    _ run: RunID, _ rejected: [String: Int], reportsWholeDays: Bool
  ) throws -> (ListSummary?, ListJudgement, isNewest: Bool, isStill: Bool) {
    guard let stamps else {
      guard reportsWholeDays else { return (nil, ListJudgement(), true, false) }
      var judgement = ListJudgement()
      if let before = try store.ledger.pairsBefore(run, takenAt: payload.takenAt) {
        judgement = rules.judgement(ofDays: reported.pairs, after: before)
      }
      judgement.shortcomings += rules.broken(rejected, beside: reported.pairs)
      if let refusal = judgement.refusal { throw Refusal(refusal) }
      return (nil, judgement, true, false)
    }
    if reported.superseded.isEmpty, let shown,
      let strange = strangeness(of: reported, shown, payload)
    {
      throw Refusal(strange)
    }
    let list = summary(of: reported, stamps, payload, rejected)
    let (judgement, isNewest, isStill) = try standings.judgement(of: list)
    if let refusal = judgement.refusal { throw Refusal(refusal, list: list) }
    return (list, judgement, isNewest, isStill)
  }

  /// Returns what is strange about the stations of a list, while a complete list is believed.
  private func strangeness(
    of reported: Answers.Reported, _ shown: Shown, _ payload: Payload
  ) -> String? {
    // An older answer is not compared with stations of later days.
    guard let lastListed = reported.lastListed, lastListed <= payload.takenAt,
      lastListed > payload.takenAt.after(-rules.window)
    else { return nil }
    return rules.strangeness(
      of: Set(reported.lines.map(\.pair.stationID)), beside: shown.listedStations)
  }

  private func summary(
    of reported: Answers.Reported, _ stamps: [Int], _ payload: Payload, _ rejected: [String: Int]
  ) -> ListSummary {
    ListSummary(
      takenAt: payload.takenAt, pairs: reported.pairs, stations: reported.stations,
      fuels: reported.fuels, brands: reported.brands, stamps: stamps,
      content: reported.lines.content, rejected: rejected)
  }

  /// Makes the spans of what changed, or notes that they are due. Returns how many of the changed
  /// prices are doubtful.
  private func makeSpans(_ windows: [Window]) throws -> Int {
    guard !windows.isEmpty else { return 0 }
    guard leavesSpans else {
      return try TimelineUpdate(store, now: now).make(windows)
    }
    try store.due.touch(windows)
    return 0
  }
}

extension Counts {
  /// Notes what is odd about a reading itself, whatever became of it.
  fileprivate mutating func note(_ distinct: Reading.Distinct) {
    duplicate = distinct.duplicates
    unmapped = distinct.unmapped
    rejectedByReason = distinct.rejectedByReason
    takeExamples(distinct.rejects)
    oddities = distinct.warnings
    awaitsTomorrow = distinct.awaitsTomorrow
    if distinct.contradictedStations > 0 {
      oddities.append("stations described in two ways: \(distinct.contradictedStations)")
    }
  }
}
