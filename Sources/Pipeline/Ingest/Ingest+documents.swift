import Configuration
import Feeds
import FuelModel
import Logging
import Store
import Timeline

/// The documents of a run: kept, read, merged, or refused.
extension Ingest {
  func reread(_ kept: KeptRun, of id: SourceID) throws -> Summary {
    let documents = try store.ledger.documents(of: kept)
    let run = try store.ledger.beginRun(id, at: clock.now(), kind: .reprocess(kept.run))
    return try store(
      consume documents, fetchedAt: kept.fetchedAt, of: id, run: run, requests: 0,
      clockSkewSeconds: kept.clockSkewSeconds)
  }

  /// Reads the kept documents of runs again. A run that cannot be read again is logged, and does
  /// not hold up the others.
  ///
  /// - Parameter read: reads one run; a run that is under way has the lock of the feed already.
  func readAgain(_ runs: [RunID], _ read: (KeptRun) throws -> Summary) {
    for run in runs {
      do {
        _ = try read(try store.ledger.keptRun(run.number))
      } catch {
        noteUnread(run.number, after: error)
      }
    }
  }

  /// Reads the documents of runs that died before reading them. They may be updates, which the
  /// provider reports only once. Where one cannot be read because the store fails, the run goes on:
  /// the next one tries again.
  func readInterruptedRuns(of id: SourceID) throws {
    // Marks runs as interrupted whose process has died.
    try store.ledger.closeDeadRuns(of: id, at: clock.now())
    for number in try store.ledger.unreadRuns(of: id) {
      do {
        _ = try reread(try store.ledger.keptRun(number), of: id)
      } catch {
        // The others would hardly fare better, and are tried first by the next run.
        guard noteUnread(number, after: error) else { break }
      }
    }
  }

  /// Notes that kept documents were not read again. If they themselves are the reason, they are not
  /// tried again, and the row of the reading states why.
  ///
  /// - Returns: whether they are the reason. After any other failure the next run tries again.
  @discardableResult
  private func noteUnread(_ run: Int, after error: any Error) -> Bool {
    guard error is FeedError || error is Refusal || error is BodyError else {
      log.warning(
        "documents not read, the next run tries again", ["run": run, "error": "\(error)"])
      return false
    }
    log.info("documents refused again", ["run": run, "error": "\(error)"])
    // If this fails as well, the next run tries once more.
    try? store.ledger.forgetToRead(run)
    return true
  }

  /// Keeps the documents before their prices are read, so that a run that dies loses no update.
  func keepAndStore(
    _ documents: consuming [Document], of id: SourceID, run: RunID, requests: Int,
    clockSkewSeconds: Int? = nil
  ) throws -> Summary {
    let fetchedAt: Instant
    do {
      guard let last = documents.map(\.fetchedAt).max() else {
        throw FeedError.refused("no documents")
      }
      fetchedAt = last
      // A recording from a machine with a wrong clock would count as the newest run for years.
      guard fetchedAt <= latest else {
        throw Refusal("fetched at \(fetchedAt), which is later than the clock")
      }
      try store.ledger.keep(
        documents, of: run, fetchedAt: fetchedAt, clockSkewSeconds: clockSkewSeconds)
    } catch {
      fail(run, error, requests: requests)
      throw error
    }
    return try store(
      documents, fetchedAt: fetchedAt, of: id, run: run, requests: requests,
      clockSkewSeconds: clockSkewSeconds)
  }

  /// Reads documents that are kept already, and stores what they report.
  private func store(
    _ documents: consuming [Document], fetchedAt: Instant, of id: SourceID, run: RunID,
    requests: Int, clockSkewSeconds: Int?
  ) throws -> Summary {
    let takenAt = fetchedAt - source.delay
    let payload = Payload(documents: copy documents, fetchedAt: fetchedAt, takenAt: takenAt)
    // What the row of a failed run tells of the reading.
    var (counts, rejects) = (Counts(), [Reject]())
    do {
      let parsed = try reader.parse(documents, source)
      let isDescribed = parsed.describesItsStations
      let elsewhere = isDescribed ? [] : try store.stations.codesElsewhere(of: id)
      var reading = (consume parsed).distinct(
        takenAt: fetchedAt, horizon: source.horizon, lead: lead(clockSkewSeconds),
        of: source.states, elsewhere: elsewhere)
      if !isDescribed { reading.tellUndescribed(among: try store.stations.describedCodes(of: id)) }
      (counts, rejects) = (Counts(refusing: reading), reading.rejects)
      try checkRejects(reading)
      let merge = Merge(
        store, of: id, rules: source.listRules, now: clock.now(), leavesSpans: leavesSpans)
      counts = try merge.take(
        consume reading, payload: payload, run: run, requests: requests,
        reportsWholeDays: source.settings.reportsWholeDays)
      log.info(
        "stored",
        [
          "run": run, "received": counts.received, "stored": counts.stored,
          "unchanged": counts.unchanged, "duplicate": counts.duplicate,
          "rejected": counts.rejected, "flagged": counts.flagged,
        ])
      // Lists that were refused because of what was known when they arrived.
      readAgain(counts.believedNow) { try reread($0, of: id) }
      for warning in counts.warnings { log.info("odd", ["run": run, "warning": warning]) }
      log.tolerating("listeners not notified") { try store.ledger.announceRun(run) }
      return Summary(
        feed: source.feed, run: run, takenAt: takenAt, counts: counts, requests: requests)
    } catch {
      let believed = fail(
        run, error, payload: payload, counts: counts, rejects: rejects, requests: requests
      ) {
        try Standings(store, of: id, rules: source.listRules, now: clock.now())
          .judgeAgain(beside: $0, of: run)
      }
      log.tolerating("listeners not notified") { try store.ledger.announceRun(run) }
      readAgain(believed) { try reread($0, of: id) }
      throw error
    }
  }

  /// Refuses a reading in which nearly all records are bad, and an answer that is another state's.
  /// Where fewer are bad, the sound ones count (`ListRules`).
  private func checkRejects(_ distinct: Reading.Distinct) throws {
    let strange = distinct.rejects.count { $0.reason == .otherState }
    if strange > 0, distinct.observations.isEmpty {
      throw Refusal(
        "the answer is of another state: \(strange) of \(distinct.received) prices, and none of "
          + "\(source.states.map(\.code).joined(separator: " or "))")
    }
    guard
      let (reason, bad) = Reject.worst(
        of: distinct.rejectedByReason, among: distinct.received, share: Reject.nearlyAll)
    else { return }
    let example = distinct.rejects.first { $0.reason.rawValue == reason }?.raw ?? ""
    throw Refusal(
      "\(bad) of \(distinct.received) records are bad, most of them \(reason)"
        + (reason == Reject.Reason.stampInFuture.rawValue
          ? " (is the clock, or --now, right?)" : "")
        + ", such as: \(example.prefix(200))")
  }

  /// Records why a run stored nothing.
  ///
  /// - Parameter judge: called with the list, where the list is why it was refused.
  /// - Returns: what `judge` returns.
  @discardableResult
  func fail(
    _ run: RunID, _ error: any Error, payload: Payload? = nil, counts: Counts = Counts(),
    rejects: [Reject] = [], requests: Int, judge: (ListSummary) throws -> [RunID] = { _ in [] }
  ) -> [RunID] {
    let isRefusal =
      switch error {
      case is Refusal: true
      case let error as FeedError:
        switch error {
        case .malformed, .refused: true
        case .unavailable, .addressRefused, .notAllowed, .comeBack, .outOfTime: false
        }
      default: false
      }
    func note(in store: Store, _ rejects: [Reject], _ list: ListSummary?) throws -> [RunID] {
      try store.ledger.failRun(
        run, at: clock.now(), isRefusal: isRefusal, error: "\(error)", payload: payload,
        counts: counts, rejects: rejects, list: list, requests: requests, judge: judge)
    }
    let list = (error as? Refusal)?.list
    do {
      return try note(in: store, rejects, list)
    } catch let unstored {
      if list != nil { log.info("refused list not kept", ["run": run, "error": "\(unstored)"]) }
      // What cannot be stored beside the first error may be why this failed, and so may the session.
      do {
        return try store.inAnotherSession { try note(in: $0, [], nil) }
      } catch let last {
        // The next run closes the row of this run.
        log.info("run left open", ["run": run, "error": "\(error); \(last)"])
        return []
      }
    }
  }
}
