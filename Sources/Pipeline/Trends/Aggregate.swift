package import FuelModel
package import Logging
package import Store
import Timeline
import Trends

/// Updates averages, trends and verdicts. Its cost is that of what changed since the last run; once
/// a day it also looks for cycles in all stored averages.
package struct Aggregate {
  /// Why an aggregate did not begin.
  package enum Failure: Error, CustomStringConvertible {
    case busy
    package var description: String { "another aggregate run is under way" }
  }

  /// The result of a run.
  package struct Summary: Sendable {
    package var run: RunID
    package var spans: Int
    package var days: Int
    package var verdicts: Int
    package var newVerdicts: Int
  }

  /// A part of the work, with a progress of its own.
  package enum Step: String {
    case spans
    case stationDays = "station days"
    case averages
  }

  let store: Store
  let workers: Workers
  let regions: [Region]
  let brands: [BrandName]
  let events: [Columns]
  private let decisions: [StationDecision]
  let clock: Clock
  private let log: Logger

  /// Creates an aggregate.
  ///
  /// - Parameter workers: connections that share the making of spans and days; `nil`: `store` does
  ///   it alone.
  package init(
    store: Store, workers: Workers? = nil, regions: [Region], brands: [BrandName] = [],
    events: [Columns] = [],
    decisions: [StationDecision] = [],
    clock: Clock, log: Logger
  ) {
    self.store = store
    self.workers = workers ?? Workers(store)
    self.regions = regions
    self.brands = brands
    self.events = events
    self.decisions = decisions
    self.clock = clock
    self.log = log
  }

  /// Runs the aggregate.
  ///
  /// - Parameters:
  ///   - rebuild: makes every day again, not only those that changed.
  ///   - from: with `rebuild`, the first day; `nil`: the beginning.
  ///   - progress: called with the number done and of all, for each step in turn.
  /// - Throws: `Failure.busy` if another aggregate is running.
  package func run(
    rebuild: Bool = false, from: Day? = nil,
    progress: (Step, Int, Int) -> Void = { _, _, _ in }
  ) throws -> Summary {
    try store.check(clock)
    guard try store.ledger.lockAggregate() else { throw Failure.busy }
    defer {
      // Where this fails, the session has ended, and the server has released the lock.
      log.tolerating("lock left to the server", at: .debug) { try store.ledger.unlockAggregate() }
    }
    let now = clock.now()
    let run = try store.ledger.beginAggregate(at: now)
    let log = log.with("run", run)
    if try store.members.isHub() {
      return try finish(
        makeNation(of: run, rebuild: rebuild, from: from, progress: progress), log: log)
    }
    // Who sells to members only is part of what is known of a station.
    try store.stations.refreshBrands(brands)
    if rebuild {
      try Workers.patiently {
        try Standings.restoreFrozen(in: store, now: now)
        try Refold.restore(store, now: now)
        try store.stations.renewFeeds(now: now)
      }
    }
    try Identity.match(store, decisions: decisions, now: now, log: log)
    if rebuild {
      try store.due.listAllDays(from: from, now: now)
      try Workers.patiently { try store.spans.copyPresent(now: now) }
    }
    let isConfiguredAnew = try store.stations.refreshRegions(regions)
    try store.stations.refreshEvents(events)
    guard try rebuild || isConfiguredAnew || store.ledger.isAggregateDue(run, now: now) else {
      return try finish(
        Summary(run: run, spans: 0, days: 0, verdicts: 0, newVerdicts: 0), log: log)
    }
    let spans = try makeDays(now: now, progress: progress)
    try refreshHabits(isDue: rebuild, now: now)
    try Workers.patiently { try store.spans.advancePresent(now: now) }
    let markets = try store.verdicts.withPricesNow(now: now) {
      try store.verdicts.refreshChanges(of: run, now: now)
      return try Verdict.all(store, now: now)
    }
    try keepMarkets(markets, spans, isDue: rebuild || isConfiguredAnew, now: now)
    // Nobody buys fuel in a nation as a whole: its mean mixes markets.
    let verdicts = markets.filter { $0.region != Australia.code }
    let newVerdicts = try store.verdicts.keep(verdicts, now: now)
    try GivenVerdicts.score(
      store, method: Adviser.verdicts.rawValue, upTo: Self.lastDay(regions, now: now), now: now)
    return try finish(
      Summary(
        run: run, spans: spans.count, days: days(of: spans), verdicts: verdicts.count,
        newVerdicts: newVerdicts), log: log)
  }

  /// Returns how many days spans have together.
  func days(of spans: [DueSpan]) -> Int {
    Set(spans.lazy.flatMap { $0.from.sinceEpoch...$0.to.sinceEpoch }).count
  }

  /// Makes the validity spans that are due, then the days of stations and regions that follow from
  /// them.
  ///
  /// - Returns: the days that were made again.
  private func makeDays(
    now: Instant, progress: (Step, Int, Int) -> Void
  ) throws -> [DueSpan] {
    // The days of a station are made and counted in the state and regions that it belongs to now.
    try Workers.patiently { try TimelineUpdate.countStations(store, now: now) }
    try TimelineUpdate.makeAll(workers, now: now) { progress(.spans, $0, $1) }
    try Workers.patiently { try store.days.refreshSourceDays(now: now) }
    try DayUpdate.makeStationDays(workers, now: now) { progress(.stationDays, $0, $1) }
    return try DayUpdate.makeRegionDays(
      try store.due.dueSpans(now: now), workers, now: now
    ) { progress(.averages, $0, $1) }
  }

  private func finish(_ summary: Summary, log: Logger) throws -> Summary {
    try store.ledger.finishAggregate(
      summary.run, at: clock.now(), days: summary.days, verdicts: summary.verdicts,
      newVerdicts: summary.newVerdicts)
    // Listeners need not read averages again that were not made again.
    if summary.spans > 0 {
      log.tolerating("listeners not notified") {
        try store.ledger.announceAggregate(summary.run, newVerdicts: summary.newVerdicts)
      }
    }
    log.info(
      "aggregated",
      ["days": summary.days, "verdicts": summary.verdicts, "new_verdicts": summary.newVerdicts])
    return summary
  }

  // A station's usual difference is taken over so many days, at least so many of which need prices.
  private static let (habitDays, leastHabitDays) = (60, 20)

  /// Updates the usual difference of stations to their region, a median over sixty days, once a
  /// day.
  private func refreshHabits(isDue: Bool, now: Instant) throws {
    let last = Self.lastDay(regions, now: now)
    guard try isDue || store.days.lastHabitDay() != last else { return }
    try store.days.refreshHabits(
      from: last + (1 - Self.habitDays), to: last, leastDays: Self.leastHabitDays)
  }

  /// Stores where every market is in its cycle, and the cycles of all stored averages, once a day;
  /// otherwise those of the fuels of which days of the past were made again.
  ///
  /// - Parameter spans: the days that were made again.
  func keepMarkets(
    _ markets: [MarketVerdict], _ spans: [DueSpan], isDue: Bool, now: Instant
  ) throws {
    let last = Self.lastDay(regions, now: now)
    let before = try store.ledger.lastAggregate().map { Self.lastDay(regions, now: $0) }
    let fuelIDs =
      isDue || before != last
      ? nil : Set(spans.filter { $0.from < last }.flatMap(\.fuelIDs)).sorted()
    let past =
      fuelIDs == [] ? [] : try store.verdicts.regionSeries(of: fuelIDs, days: nil, until: now)
    try store.verdicts.keepMarkets(
      markets.map(\.marketRow),
      cycles: past.flatMap { found -> [Columns] in
        guard let newest = found.averages.last?.day,
          let series = DailySeries(found.averages, upTo: newest)
        else { return [] }
        return MarketPosition.pastCycles(series).map {
          $0.row(region: found.region, fuelID: found.fuelID)
        }
      }, allOf: fuelIDs)
  }

  /// Returns the last price day that has ended in all states of the regions.
  package static func lastDay(_ regions: [Region], now: Instant) -> Day {
    let running = regions.compactMap { $0.state?.priceDay(at: now) }
    return (running.min() ?? Zone.utc.local(now).day) + -1
  }
}

extension Aggregate {
  /// Makes what belongs to no member of a hub: the averages, changes and cycles of the nation and of
  /// areas that lie in several members, from the members' days.
  ///
  /// The clock of the days is the oldest of the members' aggregates. A member that has not made its
  /// last day yet would otherwise be missing from the nation without a word.
  func makeNation(
    of run: RunID, rebuild: Bool, from: Day?, progress: (Step, Int, Int) -> Void
  ) throws -> Summary {
    try store.stations.refreshBrands(brands)
    let isConfiguredAnew = try store.stations.refreshRegions(regions)
    try store.stations.refreshEvents(events)
    let isRebuild = rebuild || isConfiguredAnew
    let madeUntil = try store.members.take(isRebuild: isRebuild, from: rebuild ? from : nil)
    let now = min(clock.now(), madeUntil)
    try TimelineUpdate.countStations(store, now: now)
    let spans = try DayUpdate.makeRegionDays(
      try store.due.dueSpans(now: now), workers, now: now
    ) { progress(.averages, $0, $1) }
    let markets = try store.verdicts.withPricesNow(now: nil) {
      try store.verdicts.refreshChanges(of: run, now: clock.now())
      return try Verdict.all(store, now: now, areSharesNeeded: false)
    }
    try keepMarkets(markets, spans, isDue: isRebuild, now: now)
    return Summary(run: run, spans: spans.count, days: days(of: spans), verdicts: 0, newVerdicts: 0)
  }
}
