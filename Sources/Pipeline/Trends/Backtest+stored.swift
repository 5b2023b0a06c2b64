package import FuelModel
package import Store
import Timeline
import Trends

/// The markets of the stored history: every region and fuel by its daily averages as they were known the
/// morning after each day.
package func storedMarkets(_ store: Store, now: Instant) throws -> [Backtest.Market] {
  let late = try lateAverages(store, now: now)
  let facts = try store.regionFacts(now: now)
  return try store.regionSeries(days: nil, until: now).compactMap { found in
    // A day on which something was learnt late is what it was the next morning, or missing as it was then.
    let averages = found.averages.compactMap {
      average -> (day: Day, average: Double, stations: Int)? in
      guard late.days.contains("\(found.fuelID) \(average.day)") else { return average }
      return late.averages["\(found.region) \(found.fuelID) \(average.day)"].map {
        (average.day, $0.average, $0.stations)
      }
    }
    guard let fact = facts[found.region], let fuel = fact.fuels[found.fuelID]?.code,
      // Today is not over: it cannot be scored by.
      let last = averages.last(where: { $0.day < fact.today })?.day,
      let series = DailySeries(averages, upTo: last)
    else { return nil }
    return Backtest.Market(
      region: found.region, fuel: fuel, series: series, isLate: fact.isLate,
      isTomorrowKnown: fact.announced != nil)
  }
}

/// The averages of days on which something was learnt late, as they were known the morning after: six hours past
/// the end of the day in the last state.
///
/// - Returns: the fuels and days that were, and of them by region, fuel and day those that verdicts may rest on.
private func lateAverages(
  _ store: Store, now: Instant
) throws -> (days: Set<String>, averages: [String: (average: Double, stations: Int)]) {
  var days: Set<String> = []
  var averages: [String: (average: Double, stations: Int)] = [:]
  for late in try store.lateDays() {
    for fuelID in late.fuelIDs { days.insert("\(fuelID) \(late.day)") }
    let known = KnownAverages(store: store, now: min(late.morning, now), known: late.morning)
    for average in try known.averages(of: late.fuelIDs, from: late.day, to: late.day)
    where average.isUsable {
      averages["\(average.region) \(average.fuelID) \(average.day)"] = (
        Double(average.average) / 100, average.stations
      )
    }
  }
  return (days, averages)
}
