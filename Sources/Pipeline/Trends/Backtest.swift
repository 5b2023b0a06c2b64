package import FuelModel
package import Store
import Timeline
package import Trends

/// Judges every day of a market's past by what was known on that day, and scores the verdicts in
/// hindsight.
package struct Backtest: Sendable {
  /// One region and fuel with its past.
  package struct Market: Sendable {
    package var region: String
    package var fuel: String
    package var series: DailySeries
    /// Whether the average of a day is not known on that day yet.
    package var isLate: Bool
    /// Whether the prices of the next day are published on each day.
    package var isTomorrowKnown: Bool

    package init(
      region: String, fuel: String, series: DailySeries, isLate: Bool = false,
      isTomorrowKnown: Bool = false
    ) {
      self.region = region
      self.fuel = fuel
      self.series = series
      self.isLate = isLate
      self.isTomorrowKnown = isTomorrowKnown
    }
  }

  /// The days that are scored; `nil`: no limit. Habits also learn from the days before `from`.
  package var from: Day?
  package var until: Day?

  package init(from: Day? = nil, until: Day? = nil) {
    self.from = from
    self.until = until
  }

  /// Scores advisers on markets, as many at a time as this machine has cores.
  package func scores(
    _ markets: [Market], advisers: [Adviser], progress: (Int, Int) -> Void
  ) async -> [MarketScore] {
    await withTaskGroup(of: (Int, [MarketScore]).self) { group in
      for (position, market) in markets.enumerated() {
        group.addTask { (position, scores(market, advisers: advisers)) }
      }
      var scored: [(Int, [MarketScore])] = []
      for await scores in group {
        scored.append(scores)
        progress(scored.count, markets.count)
      }
      return scored.sorted { $0.0 < $1.0 }.flatMap(\.1)
    }
  }

  private func scores(_ market: Market, advisers: [Adviser]) -> [MarketScore] {
    let first = max(from ?? market.series.first, market.series.first)
    let last = min(until ?? market.series.last, market.series.last)
    guard first <= last else { return [] }
    let walk = MarketWalk(market.series, isLate: market.isLate)
    return advisers.flatMap { adviser in
      let verdicts = walk.advice(of: adviser, isTomorrowKnown: market.isTomorrowKnown)
      func score(_ year: Int?, _ from: Day, _ until: Day) -> MarketScore {
        MarketScore(
          scored: .replayed, method: adviser.rawValue, region: market.region, fuel: market.fuel,
          year: year, score: Score(market.series, verdicts: verdicts, days: from..<(until + 1)),
          from: from, until: until)
      }
      let years = (first.year...last.year).compactMap { year -> MarketScore? in
        guard let begin = Day(year: year, month: 1, day: 1),
          let end = Day(year: year, month: 12, day: 31)
        else { return nil }
        return score(year, max(begin, first), min(end, last))
      }
      return [score(nil, first, last)] + years
    }
  }
}

/// Returns the markets of the stored history: for every region and fuel the daily averages as they
/// were known the morning after each day.
package func storedMarkets(_ store: Store, now: Instant) throws -> [Backtest.Market] {
  let facts = try store.verdicts.regionFacts(now: now)
  let late = try lateAverages(store, facts, now: now)
  return try store.verdicts.regionSeries(days: nil, until: now).compactMap { found in
    // A day for which something was learnt late has the average of the next morning. If there was
    // none then, the day is missing.
    let averages = found.averages.compactMap {
      average -> (day: Day, average: Double, stations: Int)? in
      guard late.days.contains("\(found.fuelID) \(average.day)") else { return average }
      return late.averages["\(found.region) \(found.fuelID) \(average.day)"].map {
        (average.day, $0.average, $0.stations)
      }
    }
    guard let fact = facts[found.region], let fuel = fact.fuels[found.fuelID]?.code,
      // Today has not ended, so it cannot be used to score verdicts.
      let last = averages.last(where: { $0.day < fact.today })?.day,
      let series = DailySeries(averages, upTo: last)
    else { return nil }
    return Backtest.Market(
      region: found.region, fuel: fuel, series: series, isLate: fact.isLate,
      isTomorrowKnown: fact.announced != nil)
  }
}

/// Returns the averages of days for which something was learnt late, as they were known the morning
/// after; in a region whose prices are published late, as much later as its own states publish.
///
/// - Returns: the fuels and days concerned, and by region, fuel and day those averages that
///   verdicts may rest on.
private func lateAverages(
  _ store: Store, _ facts: [String: RegionFacts], now: Instant
) throws -> (days: Set<String>, averages: [String: (average: Double, stations: Int)]) {
  var days: Set<String> = []
  var averages: [String: (average: Double, stations: Int)] = [:]
  for late in try store.verdicts.lateDays() {
    for fuelID in late.fuelIDs { days.insert("\(fuelID) \(late.day)") }
    for delay in Set(facts.values.map(\.delay)) {
      let morning = late.morning + delay
      let known = KnownAverages(store: store, now: min(morning, now), known: morning)
      for average in try known.averages(of: late.fuelIDs, from: late.day, to: late.day)
      where average.isUsable && facts[average.region]?.delay == delay {
        averages["\(average.region) \(average.fuelID) \(average.day)"] = (
          Double(average.average) / 100, average.stations
        )
      }
    }
  }
  return (days, averages)
}
