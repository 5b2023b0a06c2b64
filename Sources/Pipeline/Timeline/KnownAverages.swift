import FuelModel
import Store
import Timeline

/// Makes daily averages as they were known at an instant, by the functions that make all averages
/// and only from what had been reported by then. Nothing is stored.
struct KnownAverages {
  let store: Store
  /// The clock: later days and parts of days do not exist.
  let now: Instant
  /// Reports that were learnt after this instant do not count.
  let known: Instant

  /// Makes the averages of some fuels and days.
  ///
  /// - Parameter progress: called with the number of stations done, and of all.
  func averages(
    of fuelIDs: [Int16], from first: Day, to last: Day,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> [DailyAverage] {
    let context = try store.regionContext()
    // The stations expected in a month are those with a price in it or in the month before.
    let begin = Month(number: Month(first).number - 1).firstDay
    let calendar = try store.calendar(from: begin, to: last, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    let spans = try KnownSpans(store, from: calendar.beginsAt, now: now, known: known)
    var days: [Pair: [StationDay]] = [:]
    try spans.forEach(of: fuelIDs, progress: progress) { made, pair in
      guard let station = context.stations[pair.stationID] else { return }
      days[pair] = stationDays(of: made, in: calendar.days[station.state]) { source in
        spans.rules[source]?[pair.fuelID]?.countsFrom ?? .distantPast
      }
    }
    return try averages(of: days, fuelIDs: fuelIDs, from: begin, to: last, context: context)
      .filter { $0.day >= first }
  }

  /// Makes the averages month by month.
  private func averages(
    of days: [Pair: [StationDay]], fuelIDs: [Int16], from first: Day, to last: Day,
    context: RegionContext
  ) throws -> [DailyAverage] {
    var averages: [DailyAverage] = []
    var before: Set<Pair> = []
    var from = first
    while from <= last {
      let to = min(last, Month(number: Month(from).number + 1).firstDay + -1)
      let offset = from.sinceEpoch - first.sinceEpoch
      var regions = RegionDays(
        fuelIDs: fuelIDs,
        calendar: try store.calendar(from: from, to: to, states: context.states, now: now),
        stations: context.stations, regions: context.regions, regionSets: context.regionSets,
        settled: try store.settledDays(from: from, to: to, states: context.states))
      var here: Set<Pair> = []
      for (pair, stationDays) in days {
        let days = stationDays.dropFirst(offset).prefix(to.sinceEpoch - from.sinceEpoch + 1)
        regions.take(days, of: pair.stationID, fuelID: pair.fuelID)
        if days.contains(where: { $0.standing == .known }) { here.insert(pair) }
      }
      for pair in here.union(before) { regions.expect(pair.stationID, fuelID: pair.fuelID) }
      averages += regions.averages()
      before = here
      from = to + 1
    }
    return averages
  }
}
