package import FuelModel
package import Store
import Timeline
import Trends

/// Returns the markets of the stored history: for every region and fuel the daily averages as they
/// were known the morning after each day.
package func storedMarkets(_ store: Store, now: Instant) throws -> [Backtest.Market] {
  let facts = try store.regionFacts(now: now)
  let late = try lateAverages(store, facts, now: now)
  return try store.regionSeries(days: nil, until: now).compactMap { found in
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
/// after; in regions whose prices are published late, as much later.
///
/// - Returns: the fuels and days concerned, and by region, fuel and day those averages that
///   verdicts may rest on.
private func lateAverages(
  _ store: Store, _ facts: [String: RegionFacts], now: Instant
) throws -> (days: Set<String>, averages: [String: (average: Double, stations: Int)]) {
  var days: Set<String> = []
  var averages: [String: (average: Double, stations: Int)] = [:]
  for late in try store.lateDays() {
    for fuelID in late.fuelIDs { days.insert("\(fuelID) \(late.day)") }
    for isLate in Set(facts.values.map(\.isLate)) {
      let morning = isLate ? late.lateMorning : late.morning
      let known = KnownAverages(store: store, now: min(morning, now), known: morning)
      for average in try known.averages(of: late.fuelIDs, from: late.day, to: late.day)
      where average.isUsable && facts[average.region]?.isLate == isLate {
        averages["\(average.region) \(average.fuelID) \(average.day)"] = (
          Double(average.average) / 100, average.stations
        )
      }
    }
  }
  return (days, averages)
}
