package import FuelModel
package import Store
package import Trends

/// Averages and verdicts of a past instant, made again with only what was known then. Nothing is stored.
package struct AsKnown: Sendable {
  /// A region and fuel on the price day of that instant.
  package struct Line: Sendable {
    package var fuel: String
    /// The averages of the day so far; `nil`: none.
    package var average: DailyAverage?
    package var verdict: VerdictRecord
  }

  package let lines: [Line]

  /// - Parameter progress: called after each month with how many of how many are done.
  package init(
    _ store: Store, at instant: Instant, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let bearings = try store.bearings()
    let facts = try store.regionFacts(now: instant)
    let fuelIDs = try store.averagedFuels()
    // The price day that has begun in the east is the newest there is.
    let newest = Zone.sydney.local(instant).day
    var spans: [DirtySpan] = []
    var from = newest + -(Outlook.mostDays - 1)
    while from <= newest {
      spans.append(DirtySpan(fuelIDs: fuelIDs, from: from, to: min(from + 30, newest)))
      from = from + 31
    }
    var made: [String: [DailyAverage]] = [:]
    for (position, span) in spans.enumerated() {
      for average in try store.averages(span, bearings: bearings, now: instant, knownAt: instant) {
        made["\(average.region) \(average.fuelID)", default: []].append(average)
      }
      progress(position + 1, spans.count)
    }
    // What was published of tomorrow, as if tomorrow had come.
    var ahead: [String: DailyAverage] = [:]
    for fact in Set(facts.values.filter(\.isTomorrowKnown).map(\.today)) {
      let span = DirtySpan(fuelIDs: fuelIDs, from: fact + 1, to: fact + 1)
      for average in try store.averages(
        span, bearings: bearings, now: instant + .seconds(172_800), knownAt: instant)
      {
        ahead["\(average.region) \(average.fuelID)"] = average
      }
    }
    lines = made.sorted { $0.key < $1.key }.compactMap { key, averages -> Line? in
      guard let first = averages.first, let fact = facts[first.region],
        let fuel = fact.fuels[first.fuelID]
      else { return nil }
      let averages = averages.sorted { $0.day < $1.day }
      let today = averages.last { $0.day == fact.today }
      let tomorrow = fact.isTomorrowKnown ? ahead[key] : nil
      let now = RegionNow(
        region: first.region, regionName: fact.name, state: fact.state, fuelID: first.fuelID,
        fuelName: fuel.name, day: fact.today, dayEndsAt: fact.todayEndsAt,
        // Of a state that publishes late, those of the newest day that is known.
        stations: (today ?? averages.last)?.stations ?? 0,
        stationsWithNext: tomorrow?.stations ?? 0,
        today: today.map { Double($0.average) / 100 },
        tomorrow: tomorrow.map { Double($0.average) / 100 },
        tomorrowBeginsAt: tomorrow == nil ? nil : fact.todayEndsAt, isLate: fact.isLate,
        series: DailySeries(
          averages.filter(\.isUsable).map {
            (day: $0.day, average: Double($0.average) / 100, stations: $0.stations)
          }, upTo: fact.isLate ? fact.today + -1 : fact.today))
      return Line(
        fuel: fuel.code, average: today, verdict: Verdict.judge(now, now: instant))
    }
  }
}
