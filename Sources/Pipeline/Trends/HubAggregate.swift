import FuelModel
import Store
import Timeline
import Trends

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
    let spans = try store.due.dueSpans(now: now)
    try DayUpdate.makeRegionDays(spans, workers, now: now) { progress(.averages, $0, $1) }
    let markets = try store.verdicts.withPricesNow(now: nil) {
      try store.verdicts.refreshChanges(of: run, now: clock.now())
      return try Verdict.all(store, now: now, areSharesNeeded: false)
    }
    try keepMarkets(markets, spans, isDue: isRebuild, now: now)
    return Summary(run: run, spans: spans.count, days: days(of: spans), verdicts: 0, newVerdicts: 0)
  }
}
