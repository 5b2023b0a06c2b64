import Configuration
package import Feeds
package import FuelModel
import HTTP
package import Logging
package import Store
import Timeline

/// One run of one feed: fetch, read, merge, record. Live runs and replays share everything from the
/// reading of documents on.
package struct Ingest {
  /// The result of a run.
  package struct Summary: Sendable {
    package var feed: String
    package var run: RunID
    package var takenAt: Instant
    package var counts: Counts
    package var requests: Int
  }

  /// A run that has begun, with the calls that it will make.
  package struct Visit: Sendable {
    fileprivate let source: SourceID
    fileprivate let run: RunID
    fileprivate let isFirstOfDay: Bool
    package let calls: [Call]
    fileprivate let counter = RequestCount()
  }

  private let source: Source
  private let store: Store
  private let clock: Clock
  private let leavesSpans: Bool
  private let reader: DocumentReader
  private let log: Logger

  /// Creates an ingest of one feed.
  ///
  /// - Parameters:
  ///   - leavesSpans: whether the next aggregate makes the spans, instead of the run.
  ///   - reader: where documents are read.
  package init(
    _ source: Source, store: Store, clock: Clock, leavesSpans: Bool = false,
    reader: DocumentReader = .here, log: Logger
  ) {
    self.source = source
    self.store = store
    self.clock = clock
    self.leavesSpans = leavesSpans
    self.reader = reader
    self.log = log.with("feed", source.feed)
  }

  /// Fetches the feed and stores what it reports.
  ///
  /// - Parameters:
  ///   - fetch: how the feed is fetched.
  ///   - recording: a folder that keeps the documents before they are read.
  ///   - isRehearsal: whether stored data is rolled back. The run itself is kept, because its
  ///     requests count.
  package func live(
    _ fetch: Fetch, recording: Recording? = nil, isRehearsal: Bool = false
  ) async throws -> Summary {
    let visit = try begin()
    return try finish(
      visit, await visit.fetched(by: fetch, clock: clock), recording: recording,
      isRehearsal: isRehearsal)
  }

  /// Begins a run: takes the lock of the feed, reads the documents that an interrupted run left,
  /// and checks whether the provider may be called. The caller must pass the returned visit to
  /// `finish`.
  package func begin() throws -> Visit {
    guard source.settings.boolean("enabled") else { throw IngestError.off }
    let id = try register()
    do {
      try adoptOrphans(of: id)
      let calls = try dueCalls(id)
      let requests = calls.count + (source.provider.keysExpire(source) ? 1 : 0)
      // Requests are counted and reserved under one lock, because several feeds may share a key.
      let isFirstOfDay = try isFirstOfDay(id)
      try store.lockAccount(source.account)
      let run = Result {
        try checkBudget(id, requests: requests)
        return try store.beginRun(id, at: clock.now(), requests: requests)
      }
      try store.unlockAccount(source.account)
      return Visit(
        source: id, run: try run.get(), isFirstOfDay: isFirstOfDay, calls: calls)
    } catch {
      end(id)
      throw error
    }
  }

  /// Stores the documents that were fetched, or records why there are none.
  package func finish(
    _ visit: Visit, _ fetched: Result<Fetch.Fetched, any Error>, recording: Recording? = nil,
    isRehearsal: Bool = false
  ) throws -> Summary {
    defer { end(visit.source) }
    if visit.isFirstOfDay, !isRehearsal { try prune(visit.source) }
    let requests = visit.counter.value
    let documents: [Document]
    var skew: Int?
    do {
      let fetched = try fetched.get()
      (documents, skew) = (fetched.documents, fetched.clockSkewSeconds)
      try checkClock(skew, for: visit.source)
      try store.setNotBefore(nil, of: visit.source)
      try recording?.keep(documents, of: source.feed)
    } catch {
      if case FeedError.comeBack(_, let seconds) = error {
        try store.setNotBefore(clock.now() + .seconds(seconds), of: visit.source)
      }
      try fail(visit.run, error, requests: requests)
      throw error
    }
    guard isRehearsal else {
      return try keepAndStore(
        documents, of: visit.source, run: visit.run, requests: requests, clockSkewSeconds: skew)
    }
    try store.beginRehearsal()
    let result = Result {
      try keepAndStore(documents, of: visit.source, run: visit.run, requests: requests)
    }
    try store.endRehearsal()
    try store.markRehearsed(visit.run, at: clock.now(), requests: requests)
    return try result.get()
  }

  /// Returns whether any answer of the feed was ever stored.
  package func wasRead() throws -> Bool { try store.history(of: source.feed).lastGood != nil }

  /// Returns whether the feed should be read now, by its own cadence and the wishes of its
  /// provider.
  ///
  /// - Parameter hasSecrets: whether the keys of the feed are available. If so, a last attempt that
  ///   failed before any request was made, as without a key, is repeated at once.
  package func isDue(hasSecrets: Bool = true) throws -> Bool {
    let now = clock.now()
    let history = try store.history(of: source.feed)
    if isLeftAlone(until: history.notBefore, at: now) { return false }
    if history.askedNobody, hasSecrets { return true }
    if history.failures > 0, let tried = history.lastTried, tried <= now {
      // Where calls are limited, an outage of days must not use up the calls of a month.
      let minutes = source.settings.integer("cadenceMinutes")
      let isCounted = source.settings.integer("callsPerMonth") > 0
      let wait = isCounted ? min(minutes << min(history.failures - 1, 8), max(minutes, 60)) : 10
      return now >= tried + .seconds(60 * wait - 30)
    }
    guard let taken = history.lastGood, taken <= now else { return true }
    if history.isAwaited { return now >= taken + .seconds(9 * 60) }
    return taken < source.provider.due(source, at: now)
  }

  /// Stores recorded documents as if they were fetched when they were recorded.
  ///
  /// - Parameter digest: digest of the files that held the documents, to recognize those files
  ///   later.
  package func replay(_ documents: [Document], digest: String? = nil) throws -> Summary {
    let id = try register()
    defer { end(id) }
    let run = try store.beginRun(id, at: clock.now(), kind: .replay, digest: digest)
    return try keepAndStore(documents, of: id, run: run, requests: 0)
  }

  /// Reads the kept documents of a run again, with today's program and configuration. The result
  /// takes the place of what the run had reported.
  package func reprocess(_ kept: KeptRun) throws -> Summary {
    let id = try register()
    defer { end(id) }
    return try reread(kept, of: id)
  }

  // MARK: Steps

  private func register() throws -> SourceID {
    let settings = source.settings
    let id = try store.register(
      SourceRecord(
        feed: source.feed, state: source.state,
        cadenceMinutes: settings.integer("cadenceMinutes"),
        priceLapsesHours: settings.integer("priceLapsesHours"),
        priceLapsesHoursByFuel: settings.integers("priceLapsesHoursByFuel"),
        sightLapsesHours: settings.integer("sightLapsesHours"),
        tellsWholeDays: settings.boolean("tellsWholeDays"), licence: settings.text("licence"),
        attribution: settings.text("attribution"), isEnabled: settings.boolean("enabled"),
        callsPerMonth: settings.integer("callsPerMonth"), account: source.account,
        delayHours: settings.integer("delayHours"),
        holdingConfirms: settings.boolean("holdingConfirms"),
        publishesTomorrowAt: source.publishesTomorrowAt),
      now: clock.now())
    guard try store.lock(id) else { throw IngestError.busy }
    return id
  }

  private func reread(_ kept: KeptRun, of id: SourceID) throws -> Summary {
    let run = try store.beginRun(id, at: clock.now(), kind: .reprocess(kept.run))
    return try store(
      kept.documents, fetchedAt: kept.fetchedAt, of: id, run: run, requests: 0)
  }

  /// Reads lists again that were refused because of what was known when they arrived and would be
  /// believed now.
  private func readAgain(_ runs: [RunID], of id: SourceID) {
    for run in runs {
      do {
        _ = try reread(try store.keptRun(run.number), of: id)
      } catch {
        log.info("not read again", ["run": run, "error": "\(error)"])
        store.giveUpReading(run.number, after: error)
      }
    }
  }

  /// Reads the documents of runs that died before reading them. They may hold news that the
  /// provider reports only once.
  private func adoptOrphans(of id: SourceID) throws {
    // Marks runs as interrupted whose process has died.
    try store.closeDeadRuns(of: id, at: clock.now())
    for number in try store.orphans(of: id) {
      do {
        _ = try reread(try store.keptRun(number), of: id)
      } catch  where error is FeedError || error is Refusal || error is BodyError {
        // The documents themselves are the reason for the refusal. The row of the run states it.
        log.info("interrupted run refused", ["run": number, "error": "\(error)"])
        store.giveUpReading(number, after: error)
      }
    }
  }

  /// Returns whether no request was made for the feed yet on this day in the time zone of its
  /// state. Daily work is done in the first run of the day, whatever its time.
  private func isFirstOfDay(_ id: SourceID) throws -> Bool {
    let now = clock.now()
    let zone = source.state.timeZone
    guard let last = try store.past(of: id, now: now).lastStart else { return true }
    return zone.local(last).day != zone.local(now).day
  }

  /// Deletes old documents and refused records. This runs once a day, because at every run it would
  /// cost more than it saves.
  private func prune(_ id: SourceID) throws {
    try store.pruneBodies(
      of: id,
      before: clock.now() - .seconds(86_400 * source.settings.integer("keepBodiesDays")))
    try store.pruneRejects(of: id)
  }

  private func end(_ id: SourceID) {
    do {
      try store.unlock(id)
    } catch {
      // The server releases the lock when the session ends, and this session has failed already.
      log.debug("lock left to the server", ["error": "\(error)"])
    }
  }

  // With a clock that is wrong by more than this, a run would store wrong times.
  private static let clockLimitSeconds = 600
  private static let farClockLimitSeconds = 86_400

  /// Compares this machine's clock with the provider's. If they differ by more than ten minutes,
  /// the database server or another provider of the last day decides which one is wrong. If they
  /// differ by more than a day, this machine's clock is not believed in any case. If only the
  /// provider's clock is wrong, the health of the feed states it and the run counts.
  ///
  /// - Throws: `IngestError.clockIsWrong` if this machine's clock is the wrong one.
  private func checkClock(_ skew: Int?, for id: SourceID) throws {
    guard let skew, abs(skew) > Self.clockLimitSeconds else { return }
    let isWrong =
      try abs(skew) > Self.farClockLimitSeconds
      || store.hasWitness(
        clockSkewSeconds: skew, within: Self.clockLimitSeconds, besides: id, now: clock.now())
    if isWrong { throw IngestError.clockIsWrong(seconds: skew) }
  }

  /// Returns whether the provider asked not to be called now. A request for a pause of more than a
  /// day is not believed.
  private func isLeftAlone(until instant: Instant?, at now: Instant) -> Bool {
    guard let instant else { return false }
    return now < instant && instant <= now + .seconds(86_400)
  }

  private func checkBudget(_ id: SourceID, requests: Int) throws {
    let now = clock.now()
    let past = try store.past(of: id, now: now)
    if let notBefore = past.notBefore, isLeftAlone(until: notBefore, at: now) {
      throw IngestError.notBefore(notBefore)
    }
    let pause = source.settings.integer("leastSecondsBetweenRuns")
    if pause > 0, let last = past.lastStart, now >= last, now < last + .seconds(pause) {
      throw IngestError.notBefore(last + .seconds(pause))
    }
    let perMonth = source.settings.integer("callsPerMonth")
    if perMonth > 0, past.callsThisMonth + requests > perMonth {
      throw IngestError.quotaSpent(allowed: perMonth)
    }
    let perMinute = source.settings.integer("callsPerMinute")
    if perMinute > 0, past.callsThisMinute + requests > perMinute {
      throw IngestError.notBefore(now + .seconds(60))
    }
  }

  /// Returns the calls of this run: reference lists only if the last ones are old enough, and
  /// either the complete list or only the news.
  private func dueCalls(_ id: SourceID) throws -> [Call] {
    let now = clock.now()
    let age = Duration.seconds(3600 * source.settings.integer("referenceHours"))
    let calls = source.provider.calls(source, at: now)
    let wantsSnapshot = try calls.contains { call in
      guard call.role == .snapshot else { return false }
      guard let last = try store.lastTaken(document: call.name, of: id).good else { return true }
      // The provider begins its news afresh each day and does not state in which time zone. So the
      // first call of a day asks for the complete list, both by the state's time zone and by UTC.
      let zone = source.state.timeZone
      return now >= last + .seconds(60 * source.settings.integer("snapshotMinutes") - 30)
        || now < last || zone.local(now).day != zone.local(last).day
        || now.seconds / 86_400 != last.seconds / 86_400
    }
    return try calls.filter { call in
      switch call.role {
      case .always: return true
      case .snapshot: return wantsSnapshot
      case .news: return !wantsSnapshot
      case .reference:
        let last = try store.lastTaken(document: call.name, of: id)
        if let good = last.good, now < good + age { return false }
        // After a run that was refused, a reference list is not asked for again within an hour.
        if let any = last.any, now < any + .seconds(3_600) { return false }
        return true
      }
    }
  }

  /// Keeps the documents before anything reads them, so that news is not lost if the run dies.
  private func keepAndStore(
    _ documents: [Document], of id: SourceID, run: RunID, requests: Int,
    clockSkewSeconds: Int? = nil
  ) throws -> Summary {
    let fetchedAt: Instant
    do {
      guard let last = documents.map(\.fetchedAt).max() else {
        throw FeedError.refused("no documents")
      }
      fetchedAt = last
      // A recording from a machine with a wrong clock would count as the newest run for years.
      guard fetchedAt <= clock.now() + .seconds(600) else {
        throw Refusal("fetched at \(fetchedAt), which is later than the clock")
      }
      try store.keep(
        documents, of: run, fetchedAt: fetchedAt, clockSkewSeconds: clockSkewSeconds)
    } catch {
      try fail(run, error, requests: requests)
      throw error
    }
    return try store(documents, fetchedAt: fetchedAt, of: id, run: run, requests: requests)
  }

  /// Reads documents that are kept already, and stores what they report.
  private func store(
    _ documents: [Document], fetchedAt: Instant, of id: SourceID, run: RunID, requests: Int
  ) throws -> Summary {
    let takenAt = fetchedAt - source.delay
    let payload = Payload(documents: documents, fetchedAt: fetchedAt, takenAt: takenAt)
    var settled: Reading.Settled?
    do {
      let reading = try reader.parse(documents, source).settled(
        takenAt: fetchedAt, horizon: source.horizon, in: source.country)
      settled = reading
      try checkRejects(reading)
      let merge = Merge(
        store, of: id, rules: source.listRules, now: clock.now(), leavesSpans: leavesSpans)
      let counts = try merge.take(
        reading, payload: payload, run: run, requests: requests,
        tellsWholeDays: source.settings.boolean("tellsWholeDays"))
      log.info(
        "stored",
        [
          "run": run, "received": counts.received, "stored": counts.stored,
          "unchanged": counts.unchanged, "duplicate": counts.duplicate,
          "rejected": counts.rejected, "flagged": counts.flagged,
        ])
      readAgain(counts.believedNow, of: id)
      for warning in counts.warnings { log.info("odd", ["run": run, "warning": warning]) }
      store.announce(run, log: log)
      return Summary(
        feed: source.feed, run: run, takenAt: takenAt, counts: counts, requests: requests)
    } catch {
      try fail(run, error, payload: payload, settled: settled, requests: requests)
      if let list = (error as? Refusal)?.list {
        readAgain(
          try Standings(store, of: id, rules: source.listRules, now: clock.now())
            .judgeAgain(beside: list), of: id)
      }
      throw error
    }
  }

  /// Refuses a reading in which many records are bad: the feed has changed its unit or its format,
  /// and no part of it is believed.
  private func checkRejects(_ settled: Reading.Settled) throws {
    let bad = settled.rejects.count { $0.reason.countsAgainstFeed }
    let share = source.settings.share("maxRejectShare")
    // A few bad records in a small list are no reason to lose the others.
    guard bad > 5, Double(bad) > share * Double(settled.received) else { return }
    let reasons = Dictionary(
      settled.rejects.filter { $0.reason.countsAgainstFeed }.map { ($0.reason.rawValue, 1) },
      uniquingKeysWith: +)
    let worst = reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }
    let example = settled.rejects.first { $0.reason.rawValue == worst?.key }?.raw ?? ""
    throw Refusal(
      "\(bad) of \(settled.received) records are bad, most of them \(worst?.key ?? "unknown"), "
        + "such as: \(example.prefix(200))")
  }

  private func fail(
    _ run: RunID, _ error: any Error, payload: Payload? = nil,
    settled: Reading.Settled? = nil, requests: Int
  ) throws {
    let isRefusal =
      switch error {
      case is Refusal: true
      case let error as FeedError:
        switch error {
        case .malformed, .refused: true
        case .unavailable, .notAllowed, .comeBack: false
        }
      default: false
      }
    do {
      try store.failRun(
        run, at: clock.now(), isRefusal: isRefusal, error: "\(error)", payload: payload,
        settled: settled, list: (error as? Refusal)?.list, requests: requests)
    } catch let second {
      // The first error is the one to report. The next run closes the row of this run.
      log.debug("run left open", ["run": run, "error": "\(second)"])
    }
  }
}

extension Ingest.Visit {
  /// Fetches the documents of this visit. Returns the error where that fails.
  package func fetched(by fetch: Fetch, clock: Clock) async -> Result<Fetch.Fetched, any Error> {
    do {
      return .success(try await fetch.documents(calls, clock: clock, counting: counter))
    } catch {
      return .failure(error)
    }
  }
}

extension Source {
  /// The rules by which the lists of the feed are judged.
  var listRules: ListRules {
    ListRules(
      window: Int64(settings.integer("sightLapsesHours")) * 3_600_000_000,
      refuseBelow: settings.share("refuseBelowShare"),
      partialBelow: settings.share("partialBelowShare"))
  }
}

extension Store {
  /// Forgets to read a run again if the documents themselves are the reason for the failure. After
  /// any other failure the next run tries again.
  func giveUpReading(_ run: Int, after error: any Error) {
    guard error is FeedError || error is Refusal || error is BodyError else { return }
    // If this fails as well, the next run tries once more.
    try? forgetToRead(run)
  }
}
