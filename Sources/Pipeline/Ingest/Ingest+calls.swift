import Configuration
import Feeds
import FuelModel
import Store

/// When a provider is called, and for what.
extension Ingest {
  /// Returns whether the feed should be read now, by its own cadence and the wishes of its
  /// provider.
  ///
  /// - Parameter hasSecrets: whether the keys of the feed are available. If so, a last attempt that
  ///   failed before any request was made, as without a key, is repeated at once.
  package func isDue(hasSecrets: Bool = true) throws -> Bool {
    // By a clock that is behind, nothing might be due for a long time.
    try store.check(clock)
    let now = clock.now()
    let history = try history()
    if isLeftAlone(until: history.notBefore, at: now) { return false }
    if history.sentNoRequest, hasSecrets { return true }
    if history.failures > 0, let tried = history.lastTried {
      // Where calls are limited, an outage of days must not use up the calls of a month.
      let minutes = source.settings.cadenceMinutes
      let isCounted = source.settings.callsPerMonth > 0
      let wait = isCounted ? min(minutes << min(history.failures - 1, 8), max(minutes, 60)) : 10
      return now >= tried + .seconds(60 * wait - 30)
    }
    guard let taken = history.lastGood, taken <= now else { return true }
    return taken < source.provider.due(source, at: now, isAwaiting: history.awaitsTomorrow)
  }

  func history() throws -> FeedHistory { try store.ledger.history(of: source.feed, until: latest) }

  /// Returns whether the feed was not tried yet on this day in the time zone of its state. Daily work
  /// is done after the first answer of the day, whatever its time.
  func isFirstOfDay() throws -> Bool {
    let zone = source.state.timeZone
    let history = try history()
    guard let last = [history.lastGood, history.lastTried].compactMap({ $0 }).max() else {
      return true
    }
    return zone.local(last).day != zone.local(clock.now()).day
  }

  /// A run that began later than this began on a machine whose clock was ahead. Once the clock is
  /// right, such a run says nothing about when a provider was called, or may be called again.
  var latest: Instant { clock.now() + .seconds(Self.clockLimitSeconds) }

  // With a clock that is wrong by more than this, a run would store wrong times.
  fileprivate static let clockLimitSeconds: Int64 = 600
  private static let farClockLimitSeconds = 86_400

  /// Compares this machine's clock with the provider's. If they differ by more than ten minutes,
  /// the database server or another provider of the last day decides which one is wrong. If they
  /// differ by more than a day, this machine's clock is not believed in any case. If only the
  /// provider's clock is wrong, the health of the feed states it and the run counts.
  ///
  /// - Throws: `IngestError.clockIsWrong` if this machine's clock is the wrong one.
  func checkClock(_ skew: Int?, for id: SourceID) throws {
    guard let skew, abs(skew) > Int(Self.clockLimitSeconds) else { return }
    let isWrong =
      try abs(skew) > Self.farClockLimitSeconds
      || store.ledger.isSkewConfirmed(
        clockSkewSeconds: skew, within: Int(Self.clockLimitSeconds), besides: id,
        now: clock.now())
    if isWrong { throw IngestError.clockIsWrong(seconds: skew) }
  }

  /// Returns how far the stamps of an answer run ahead, by the provider's clock. A feed with prices of
  /// tomorrow has stamps ahead whatever its clock shows, so its stamps stay as they are.
  ///
  /// Whole minutes are taken, so that a price has the same stamp in two answers although the measured
  /// difference varies by a second.
  func lead(_ clockSkewSeconds: Int?) -> Duration {
    guard let skew = clockSkewSeconds, skew > 0, source.publishesTomorrowAt == nil,
      source.horizon < .seconds(Self.farClockLimitSeconds)
    else { return .zero }
    return .seconds((skew + 59) / 60 * 60)
  }

  /// Returns whether the provider asked not to be called now. A request for a pause of more than a
  /// day is not believed.
  private func isLeftAlone(until instant: Instant?, at now: Instant) -> Bool {
    guard let instant else { return false }
    return now < instant && instant <= now + .seconds(86_400)
  }

  func checkBudget(_ id: SourceID, requests: Int) throws {
    let now = clock.now()
    let limits = try store.ledger.callLimits(of: id, now: now, until: latest)
    if let notBefore = limits.notBefore, isLeftAlone(until: notBefore, at: now) {
      throw IngestError.notBefore(notBefore, now: now)
    }
    let pause = source.settings.leastSecondsBetweenRuns
    if pause > 0, let last = limits.lastStart, now < last + .seconds(pause) {
      throw IngestError.notBefore(last + .seconds(pause), now: now)
    }
    let perMonth = source.settings.callsPerMonth
    if perMonth > 0, limits.callsThisMonth + requests > perMonth {
      throw IngestError.quotaSpent(allowed: perMonth)
    }
    let perMinute = source.settings.callsPerMinute
    if perMinute > 0, limits.callsThisMinute + requests > perMinute {
      throw IngestError.notBefore(now + .seconds(60), now: now)
    }
  }

  /// Returns the calls of this run: reference lists only if the last ones are old enough, and
  /// either the complete list or only the update.
  func dueCalls(_ id: SourceID) throws -> [Call] {
    let now = clock.now()
    let age = Duration.seconds(3600 * source.settings.referenceHours)
    let calls = source.provider.calls(source, at: now)
    let wantsSnapshot = try calls.contains { call in
      guard call.role == .snapshot else { return false }
      guard let last = try store.ledger.lastTaken(document: call.name, of: id, until: latest).good
      else {
        return true
      }
      // The provider begins its updates afresh each day and does not state in which time zone. So
      // the first call of a day asks for the complete list, both by the state's time zone and by
      // UTC.
      let zone = source.state.timeZone
      return now >= last + .seconds(60 * source.settings.snapshotMinutes - 30)
        || now < last || zone.local(now).day != zone.local(last).day
        || now.seconds / 86_400 != last.seconds / 86_400
    }
    return try calls.filter { call in
      switch call.role {
      case .always: return true
      case .snapshot: return wantsSnapshot
      case .update: return !wantsSnapshot
      case .reference:
        let last = try store.ledger.lastTaken(document: call.name, of: id, until: latest)
        if let good = last.good, now < good + age { return false }
        // After a run that was refused, a reference list is not asked for again within an hour.
        if let any = last.any, now < any + .seconds(3_600) { return false }
        return true
      }
    }
  }
}

extension Store {
  /// Compares the clock of this machine with the server's. What is stored by a wrong clock stays: the
  /// instants of runs, and verdicts. An instant that was given on purpose is not compared.
  ///
  /// - Throws: `IngestError.clocksDiffer` where they differ by more than ten minutes.
  func check(_ clock: Clock) throws {
    guard !clock.isGiven else { return }
    let skew = try clockSkewSeconds(of: clock)
    if abs(skew) > Ingest.clockLimitSeconds { throw IngestError.clocksDiffer(seconds: skew) }
  }
}
