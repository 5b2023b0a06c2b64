package import FuelModel
package import Store
package import Timeline
import Trends

/// Averages and verdicts of a past instant, made again from only what was known then. Nothing is
/// stored.
package struct AsKnown: Sendable {
  /// One region and fuel on the price day of that instant.
  package struct Line: Sendable {
    package var fuel: String
    /// The averages of the day so far; `nil`: there are none.
    package var average: DailyAverage?
    package var verdict: MarketVerdict
  }

  package let lines: [Line]

  /// Makes averages and verdicts as they were known at an instant.
  ///
  /// - Parameter progress: called with the number of stations and fuels done, and of all.
  package init(
    _ store: Store, at instant: Instant, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let facts = try store.verdicts.regionFacts(now: instant)
    let fuelIDs = try store.days.averagedFuels()
    guard let newest = facts.values.map(\.today).max() else {
      lines = []
      return
    }
    let known = KnownAverages(store: store, now: instant, known: instant)
    let made = Dictionary(
      grouping: try known.averages(
        of: fuelIDs, from: newest + -(MarketWalk.mostDays - 1), to: newest, progress: progress)
    ) { "\($0.region) \($0.fuelID)" }
    // Prices of tomorrow that were published by then. The clock is set two days ahead, so that
    // tomorrow's average is made as if that day had come.
    var ahead: [String: DailyAverage] = [:]
    for today in Set(facts.values.filter { $0.announced != nil }.map(\.today)) {
      let known = KnownAverages(store: store, now: instant + .seconds(172_800), known: instant)
      for average in try known.averages(of: fuelIDs, from: today + 1, to: today + 1) {
        ahead["\(average.region) \(average.fuelID)"] = average
      }
    }
    lines = made.sorted { $0.key < $1.key }.compactMap { key, averages -> Line? in
      guard let first = averages.first, let fact = facts[first.region],
        let fuel = fact.fuels[first.fuelID]
      else { return nil }
      let averages = averages.sorted { $0.day < $1.day }
      let today = averages.last { $0.day == fact.today }
      let tomorrow = fact.announced == nil ? nil : ahead[key]
      let now = RegionNow(
        region: first.region, regionName: fact.name, announced: fact.announced,
        fuelID: first.fuelID,
        fuelName: fuel.name, day: fact.today, dayEndsAt: fact.todayEndsAt,
        // Where a state publishes late, this is the count of the newest day that is known.
        stations: (today ?? averages.last)?.stations ?? 0,
        stationsWithNext: tomorrow?.stations ?? 0,
        today: today.map { Double($0.average) / 100 },
        tomorrow: tomorrow.map { Double($0.average) / 100 },
        tomorrowBeginsAt: tomorrow == nil ? nil : fact.todayEndsAt, isLate: fact.isLate)
      let series = DailySeries(
        averages.filter(\.isUsable).map {
          (day: $0.day, average: Double($0.average) / 100, stations: $0.stations)
        }, upTo: fact.isLate ? fact.today + -1 : fact.today)
      return Line(
        fuel: fuel.code, average: today,
        verdict: Verdict.judge(now, series: series, now: instant))
    }
  }
}
