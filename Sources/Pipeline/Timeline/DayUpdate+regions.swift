package import FuelModel
package import Store
import Timeline

/// The days of regions, made from all their stations.
extension DayUpdate {
  /// Makes the averages of spans of days again, completely. Each span lies within one month.
  ///
  /// - Parameter progress: called with the number of spans done, and of all.
  package static func makeRegionDays(
    _ spans: [DueSpan], _ workers: Workers, now: Instant,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    // Opening another connection costs about as much as making a few small months.
    try workers.run(pieces: spans.count / 4, of: spans.count, progress: progress) {
      store, number, count in
      let share = spans[spans.count * number / count..<spans.count * (number + 1) / count]
      return Months(days: DayUpdate(store, now: now, areMarksTaken: true), left: share)
    } _: {
      try $0.makeNext()
    }
  }

  /// The part of the region days that one connection makes.
  private final class Months {
    let days: DayUpdate
    var left: ArraySlice<DueSpan>

    init(days: DayUpdate, left: ArraySlice<DueSpan>) {
      self.days = days
      self.left = left
    }

    func makeNext() throws -> Int {
      guard let span = left.first else { return 0 }
      try days.store.transaction {
        try days.store.due.takeAverages(of: span)
        // Where stations count is read after the marks are taken, so that every change from before
        // then is included. The same holds for station days that a list changed after they were
        // made: they are made again here.
        let context = try days.store.days.regionContext()
        let late = try days.store.due.takeDays(in: span)
        try days.make(late, context: context)
        try days.store.days.replace(span, with: days.averages(span, context: context))
      }
      left.removeFirst()
      return 1
    }
  }

  private func averages(_ span: DueSpan, context: RegionContext) throws -> [DailyAverage] {
    let calendar = try store.days.calendar(
      from: span.from, to: span.to, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    var regions = RegionDays(
      fuelIDs: span.fuelIDs, calendar: calendar, stations: context.stations,
      regions: context.regions, regionSets: context.regionSets,
      settled: try store.days.settledDays(from: span.from, to: span.to, states: context.states))
    var expected = try store.days.knownPairs(
      of: span.fuelIDs, in: Month(number: Month(span.from).number - 1))
    let ended = calendar.days.map { days in days.prefix { $0.isEnded }.count }
    try store.days.stationDays(of: span.fuelIDs, from: span.from, to: span.to) {
      pair, isKnown, days in
      if isKnown { expected.insert(pair) }
      guard let station = context.stations[pair.stationID] else { return }
      regions.take(days.prefix(ended[station.state]), of: pair.stationID, fuelID: pair.fuelID)
    }
    for pair in expected { regions.expect(pair.stationID, fuelID: pair.fuelID) }
    try takeRunningDays(of: span.fuelIDs, calendar: calendar, context: context, into: &regions)
    return regions.averages()
  }

  /// Adds the days that have not ended. They are not stored, and are made from spans each time.
  private func takeRunningDays(
    of fuelIDs: [Int16], calendar: PriceCalendar, context: RegionContext,
    into regions: inout RegionDays
  ) throws {
    let running = calendar.days.map { days in days.firstIndex { !$0.isEnded } }
    guard running.contains(where: { $0 != nil }) else { return }
    let countsFrom = try store.days.countsFrom()
    var windows: [Window] = []
    for pair in try store.days.pairs(ofFuels: fuelIDs) {
      guard let station = context.stations[pair.stationID], let first = running[station.state],
        let end = calendar.days[station.state].last?.endsAt
      else { continue }
      windows.append(
        Window(pair: pair, from: calendar.days[station.state][first].beginsAt, until: end))
    }
    for begin in stride(from: 0, to: windows.count, by: 10_000) {
      let chunk = Array(windows[begin..<min(begin + 10_000, windows.count)])
      for (pair, stored) in try store.spans.spans(of: chunk, before: 1) {
        guard let station = context.stations[pair.stationID],
          let first = running[station.state]
        else { continue }
        let days = Array(calendar.days[station.state][first...])
        let made = stationDays(of: stored.lazy.map(\.believed), in: days) {
          countsFrom[$0] ?? .distantPast
        }
        regions.take(made[...], of: pair.stationID, fuelID: pair.fuelID, from: first)
      }
    }
  }
}
