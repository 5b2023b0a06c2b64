import Configuration
package import Feeds
package import FuelModel
import HTTP
package import Logging
package import Store

/// One run on one feed: fetch, read, stage, merge, record. Live runs and replays meet at reading;
/// from there on they are the same.
package struct Ingest {
  /// What a run did.
  package struct Summary: Sendable {
    package var feed: String
    package var run: RunID
    package var takenAt: Instant
    package var counts: Counts
    package var requests: Int
  }

  private let source: Source
  private let store: Store
  private let clock: Clock
  private let log: Logger

  package init(_ source: Source, store: Store, clock: Clock, log: Logger) {
    self.source = source
    self.store = store
    self.clock = clock
    self.log = log.with("feed", source.feed)
  }

  /// Fetches the feed and stores what it says.
  ///
  /// - Parameters:
  ///   - fetch: how to reach it.
  ///   - recording: a folder that keeps the documents before anything reads them.
  ///   - isRehearsal: takes back what was stored. The run itself stays, because its requests count.
  package func live(
    _ fetch: Fetch, recording: Recording? = nil, isRehearsal: Bool = false
  ) async throws -> Summary {
    guard source.settings.boolean("enabled") else { throw IngestError.off }
    let id = try begin()
    defer { end(id) }
    try checkBudget(id)
    let calls = try dueCalls(id)
    let run = try store.beginRun(id, at: clock.now())
    let counter = RequestCount()
    let documents: [Document]
    do {
      documents = try await fetch.documents(calls, clock: clock, counting: counter)
      try store.setNotBefore(nil, of: id)
      try recording?.keep(documents, of: source.feed)
    } catch {
      if case FeedError.comeBack(_, let seconds) = error {
        try store.setNotBefore(clock.now() + .seconds(seconds), of: id)
      }
      try fail(run, error, requests: counter.value)
      throw error
    }
    guard isRehearsal else {
      return try store(documents, run: run, requests: counter.value)
    }
    try store.beginRehearsal()
    let result = Result { try store(documents, run: run, requests: counter.value) }
    try store.endRehearsal()
    try store.markRehearsed(run, at: clock.now(), requests: counter.value)
    return try result.get()
  }

  /// Whether the feed should be read now, by its own cadence and its provider's wishes.
  package func isDue() throws -> Bool {
    let now = clock.now()
    let last = try store.lastTaken(feed: source.feed)
    if let notBefore = last.notBefore, now < notBefore { return false }
    guard let taken = last.at, taken <= now else { return true }
    return taken < source.provider.due(source, at: now)
  }

  /// Stores what recorded documents say, as if they had been fetched when they were recorded.
  package func replay(_ documents: [Document]) throws -> Summary {
    let id = try begin()
    defer { end(id) }
    let run = try store.beginRun(id, at: clock.now())
    return try store(documents, run: run, requests: 0)
  }

  // MARK: Steps

  private func begin() throws -> SourceID {
    let settings = source.settings
    let id = try store.register(
      SourceRecord(
        feed: source.feed, state: source.state,
        cadenceMinutes: settings.integer("cadenceMinutes"),
        priceLapsesHours: settings.integer("priceLapsesHours"),
        sightLapsesHours: settings.integer("sightLapsesHours"),
        tellsWholeDays: settings.boolean("tellsWholeDays"),
        attribution: settings.text("attribution"), isEnabled: settings.boolean("enabled"),
        callsPerMonth: settings.integer("callsPerMonth")))
    guard try store.lock(id) else { throw IngestError.busy }
    return id
  }

  private func end(_ id: SourceID) {
    do {
      try store.unlock(id)
    } catch {
      // The lock dies with the session; the session is in trouble already.
      log.debug("lock left to the server", ["error": "\(error)"])
    }
  }

  private func checkBudget(_ id: SourceID) throws {
    let now = clock.now()
    let past = try store.past(of: id, now: now)
    if let notBefore = past.notBefore, now < notBefore { throw IngestError.notBefore(notBefore) }
    let pause = source.settings.integer("leastSecondsBetweenRuns")
    if pause > 0, let last = past.lastStart, now >= last, now < last + .seconds(pause) {
      throw IngestError.notBefore(last + .seconds(pause))
    }
    let allowed = source.settings.integer("callsPerMonth")
    if allowed > 0 {
      let needed =
        source.provider.calls(source, at: now).count + (source.provider.keysExpire ? 1 : 0)
      if past.callsThisMonth + needed > allowed { throw IngestError.quotaSpent(allowed: allowed) }
    }
  }

  /// The calls of this run: reference lists only when the last ones have aged.
  private func dueCalls(_ id: SourceID) throws -> [Call] {
    let now = clock.now()
    let age = Duration.seconds(3600 * source.settings.integer("referenceHours"))
    return try source.provider.calls(source, at: now).filter { call in
      guard call.isReference else { return true }
      let last = try store.lastTaken(document: call.name, of: id)
      if let good = last.good, now < good + age { return false }
      // A run that was refused does not give the right to ask again at once.
      if let any = last.any, now < any + .seconds(3_600) { return false }
      return true
    }
  }

  private func store(_ documents: [Document], run: RunID, requests: Int) throws -> Summary {
    var payload: Payload?
    var settled: Reading.Settled?
    do {
      guard let takenAt = documents.map(\.fetchedAt).max() else {
        throw FeedError.refused("no documents")
      }
      // A recording from a machine with a wrong clock would count as the newest for years.
      guard takenAt <= clock.now() + .seconds(600) else {
        throw Refusal("fetched at \(takenAt), which lies ahead of the clock")
      }
      let received = Payload(documents: documents, takenAt: takenAt)
      payload = received
      let reading = try source.provider.parse(documents, of: source)
        .settled(takenAt: takenAt, horizon: source.horizon)
      settled = reading
      try checkRejects(reading)
      let counts = try store.absorb(
        reading, payload: received, run: run, now: clock.now(), requests: requests,
        refuseBelow: source.settings.share("refuseBelowShare"),
        partialBelow: source.settings.share("partialBelowShare"))
      log.info(
        "stored",
        [
          "run": run, "received": counts.received, "stored": counts.stored,
          "unchanged": counts.unchanged, "duplicate": counts.duplicate,
          "rejected": counts.rejected,
        ])
      return Summary(
        feed: source.feed, run: run, takenAt: takenAt, counts: counts, requests: requests)
    } catch {
      try fail(run, error, payload: payload, settled: settled, requests: requests)
      throw error
    }
  }

  /// A feed in which many records are bad has changed its unit or its shape; none of it is believed.
  private func checkRejects(_ settled: Reading.Settled) throws {
    let bad = settled.rejects.count { $0.reason.countsAgainstFeed }
    let share = source.settings.share("maxRejectShare")
    // A handful of bad records in a small list is no reason to lose the rest.
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
        settled: settled, requests: requests)
    } catch let second {
      // The first error is the one to tell; the run's row is closed by the next run.
      log.debug("run left open", ["run": run, "error": "\(second)"])
    }
  }
}
