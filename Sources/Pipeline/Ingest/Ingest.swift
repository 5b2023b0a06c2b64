import Configuration
package import Feeds
package import FuelModel
import HTTP
package import Logging
package import Store
package import Timeline

/// One run of one feed: fetch, read, merge, record. Live runs and replays share everything from the
/// keeping of documents on.
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
  package struct StartedRun: Sendable {
    fileprivate let source: SourceID
    fileprivate let run: RunID
    fileprivate let isFirstOfDay: Bool
    package let calls: [Call]
    fileprivate let counter = RequestCount()
  }

  let source: Source
  let store: Store
  let clock: Clock
  let leavesSpans: Bool
  let reader: DocumentReader
  let log: Logger

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
    let started = try begin()
    return try finish(
      started, await started.fetched(by: fetch, clock: clock), recording: recording,
      isRehearsal: isRehearsal)
  }

  /// Begins a run: takes the lock of the feed, reads the documents that an interrupted run left,
  /// and checks whether the provider may be called. The caller must pass the returned run to
  /// `finish`.
  package func begin() throws -> StartedRun {
    guard source.settings.enabled else {
      throw IngestError.off(by: source.settings.origin(of: "enabled"))
    }
    let id = try register()
    do {
      try readInterruptedRuns(of: id)
      let calls = try dueCalls(id)
      let requests = calls.count + (source.provider.keysExpire(source) ? 1 : 0)
      // Requests are counted and reserved under one lock, because several feeds may share a key.
      let isFirstOfDay = try isFirstOfDay()
      try store.ledger.lockAccount(source.account)
      let run = Result {
        try checkBudget(id, requests: requests)
        return try store.ledger.beginRun(id, at: clock.now(), requests: requests)
      }
      do {
        try store.ledger.unlockAccount(source.account)
      } catch {
        if case .success(let run) = run { fail(run, error, requests: 0) }
        throw error
      }
      return StartedRun(
        source: id, run: try run.get(), isFirstOfDay: isFirstOfDay, calls: calls)
    } catch {
      end(id)
      throw error
    }
  }

  /// Stores the documents that were fetched, or records why there are none.
  package func finish(
    _ started: StartedRun, _ fetched: consuming Result<Fetch.Fetched, any Error>,
    recording: Recording? = nil, isRehearsal: Bool = false
  ) throws -> Summary {
    defer { end(started.source) }
    let requests = started.counter.value
    let documents: [Document]
    var skew: Int?
    do {
      let fetched = try fetched.get()
      (documents, skew) = (fetched.documents, fetched.clockSkewSeconds)
      try checkClock(skew, for: started.source)
      try store.ledger.setNotBefore(nil, of: started.source)
      try recording?.keep(documents, of: source.feed)
    } catch {
      fail(started.run, error, requests: requests)
      if case FeedError.comeBack(_, let seconds) = error {
        try store.ledger.setNotBefore(clock.now() + .seconds(seconds), of: started.source)
      }
      throw error
    }
    guard isRehearsal else {
      // Also after a refusal, whose documents are kept.
      defer { if started.isFirstOfDay { prune(started.source) } }
      return try keepAndStore(
        documents, of: started.source, run: started.run, requests: requests, clockSkewSeconds: skew)
    }
    let result: Result<Summary, any Error>
    do {
      try store.beginRehearsal()
      result = Result {
        try keepAndStore(
          documents, of: started.source, run: started.run, requests: requests,
          clockSkewSeconds: skew)
      }
      try store.endRehearsal()
      try store.ledger.markRehearsed(started.run, at: clock.now(), requests: requests)
    } catch {
      fail(started.run, error, requests: requests)
      throw error
    }
    return try result.get()
  }

  /// Returns whether any answer of the feed was ever stored.
  package func wasRead() throws -> Bool { try history().lastGood != nil }

  /// Stores recorded documents as if they were fetched when they were recorded.
  ///
  /// - Parameter digest: digest of the files that held the documents, to recognize those files
  ///   later.
  package func replay(_ documents: consuming [Document], digest: String? = nil) throws -> Summary {
    let id = try register()
    defer { end(id) }
    let run = try store.ledger.beginRun(id, at: clock.now(), kind: .replay, digest: digest)
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
    try store.check(clock)
    let settings = source.settings
    let id = try store.ledger.register(
      SourceRecord(
        feed: source.feed, state: source.state,
        cadenceMinutes: settings.cadenceMinutes, priceLapsesHours: settings.priceLapsesHours,
        priceLapsesHoursByFuel: settings.priceLapsesHoursByFuel,
        sightLapsesHours: settings.sightLapsesHours,
        reportsWholeDays: settings.reportsWholeDays, licence: settings.licence,
        attribution: settings.attribution, isEnabled: settings.enabled,
        callsPerMonth: settings.callsPerMonth, account: source.account,
        delayHours: settings.delayHours, holdingConfirms: settings.holdingConfirms,
        publishesTomorrowAt: source.publishesTomorrowAt),
      now: clock.now())
    guard try store.ledger.lock(id) else { throw IngestError.busy }
    return id
  }

  /// Deletes old documents and refused records. This runs once a day, because at every run it would
  /// cost more than it saves. What cannot be deleted now is deleted another day.
  private func prune(_ id: SourceID) {
    log.tolerating("nothing old deleted") {
      try store.ledger.pruneBodies(
        of: id, before: clock.now() - .seconds(86_400 * source.settings.keepBodiesDays))
      try store.ledger.pruneRejects(of: id)
    }
  }

  private func end(_ id: SourceID) {
    // Where this fails, the session has ended, and the server has released the lock.
    log.tolerating("lock left to the server", at: .debug) { try store.ledger.unlock(id) }
  }
}

extension Ingest.StartedRun {
  /// Fetches the documents of this run. Returns the error where that fails.
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
  package var listRules: ListRules {
    ListRules(
      window: Int64(settings.sightLapsesHours) * 3_600_000_000,
      refuseBelow: settings.refuseBelowShare, partialBelow: settings.partialBelowShare,
      maxRejectShare: settings.maxRejectShare)
  }
}

/// Why a run did not begin, or stopped before it stored anything.
package enum IngestError: Error, Equatable, CustomStringConvertible {
  /// Another process works on this feed.
  case busy
  /// The provider asked for no call before an instant, or one of its limits forbids it.
  case notBefore(Instant, now: Instant)
  /// The calls of this month are spent.
  case quotaSpent(allowed: Int)
  /// The feed is disabled, by a variable or a key of a file.
  case off(by: String)
  /// The provider's clock is ahead of this machine's by this many seconds (behind it if negative),
  /// and this machine's clock is the wrong one.
  case clockIsWrong(seconds: Int)
  /// The database server's clock is ahead of this machine's by this many seconds (behind it if
  /// negative).
  case clocksDiffer(seconds: Int)
  /// A recording cannot be read or written.
  case recording(path: String, reason: String)

  package var description: String {
    switch self {
    case .busy: "another run of this feed is under way"
    case .notBefore(let instant, let now):
      "no request is allowed before \(instant), in "
        + waitText(seconds: Int((instant.microseconds - now.microseconds + 999_999) / 1_000_000))
        + ": the provider asked for a pause, or its limits ask for one"
    case .quotaSpent(let allowed):
      "the \(allowed) requests of this UTC month are used up: no run begins before the next month"
    case .off(let place): "switched off by \(place): set it to true"
    case .clockIsWrong(let seconds):
      "this machine's clock is wrong: the provider's clock is \(abs(seconds)) s "
        + "\(seconds > 0 ? "ahead of" : "behind") it: set it by NTP; nothing was stored"
    case .clocksDiffer(let seconds):
      "the database server's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") this "
        + "machine's: set both by NTP; nothing was stored"
    case .recording(let path, let reason): "\(path): \(reason)"
    }
  }
}
