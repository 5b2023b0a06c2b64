package import FuelModel
package import Store
import Timeline

/// Makes days from spans: first the days of stations, then those of regions from them.
package struct DayUpdate {
  let store: Store
  let now: Instant
  private let areMarksTaken: Bool
  private let calendars = Calendars()

  /// Creates an update of days.
  ///
  /// - Parameter areMarksTaken: whether other connections may take marks of days at the same time.
  package init(_ store: Store, now: Instant, areMarksTaken: Bool = false) {
    self.store = store
    self.now = now
    self.areMarksTaken = areMarksTaken
  }

  // How many months of stations and fuels one batch makes. A day takes about forty bytes.
  private static let atOnce = 20_000
  private static let leastNotes = 50

  /// Makes the days of stations that have ended or changed since the last run.
  ///
  /// - Parameter progress: called with the number of stations and fuels done, and of all.
  package static func makeStationDays(
    _ workers: Workers, now: Instant, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    try workers.first.due.markEndedDays(now: now)
    let all = try workers.first.due.daysDue()
    guard all > 0 else { return }
    func tell(_ count: Int, of _: Int) { progress(min(count, all), all) }
    try workers.run(pieces: all / leastNotes, of: all, progress: tell) { store, number, count in
      let update = DayUpdate(store, now: now)
      let context = try store.days.regionContext()
      // How many notes the next batch takes. A note covers few months or many, so each batch sets
      // this number by the notes that it took itself.
      var notes = 200
      var waiting = try store.due.waiting(for: .days, share: (number, of: count))[...]
      return {
        let part = waiting.prefix(notes)
        let taken = try store.transaction {
          let taken = try store.due.takeDays(of: part)
          try update.make(taken, context: context)
          return taken
        }
        waiting = waiting.dropFirst(part.count)
        let months = taken.reduce(0) { $0 + Int($1.last.number - $1.first.number) + 1 }
        notes = max(leastNotes, atOnce * taken.count / max(1, months))
        return part.count
      }
    }
  }

  /// Makes the days of stations whose spans were just made from their beginning, without reading
  /// those spans again. Stations with an open span, which later lists extend, are left to
  /// `makeStationDays`.
  func make(_ whole: [Pair: [Span]]) throws {
    let closed = whole.filter { !$0.value.isEmpty && !$0.value.contains(where: \.isOpen) }
    guard !closed.isEmpty else { return }
    let context = try store.days.regionContext()
    let noted = try store.due.takeDays(
      of: closed.keys.filter { context.stations[$0.stationID] != nil })
    try make(noted, of: closed, context: context)
  }

  func make(_ spans: [MonthSpan], context: RegionContext) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let calendar = try calendar(from: first, to: last, context: context)
    var windows: [Window] = []
    for span in spans {
      guard let station = context.stations[span.pair.stationID] else { continue }
      let days = Self.days(of: station.state, from: span.first, to: span.last, calendar)
      guard let begin = days.first?.beginsAt, let end = days.last?.endsAt else { continue }
      windows.append(Window(pair: span.pair, from: begin, until: end))
    }
    let found = try store.spans.spans(of: windows, before: 1)
    try make(spans, of: found.mapValues { $0.map(\.believed) }, context: context)
  }

  /// Makes the days of months from spans.
  ///
  /// - Parameter believed: spans in order of time, with their ends as they are believed now.
  private func make(
    _ spans: [MonthSpan], of believed: [Pair: [Span]], context: RegionContext
  ) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let calendar = try calendar(from: first, to: last, context: context)
    let countsFrom = try store.days.countsFrom()
    var made: [StationMonth] = []
    for span in spans {
      guard let station = context.stations[span.pair.stationID], let believed = believed[span.pair]
      else {
        continue
      }
      var next = 0
      for number in span.first.number...span.last.number {
        let month = Month(number: number)
        let days = Array(Self.days(of: station.state, from: month, to: month, calendar))
        guard let begin = days.first?.beginsAt, let end = days.last?.endsAt else { continue }
        while next < believed.count, believed[next].lapsesAt <= begin { next += 1 }
        let here = believed[next...].prefix { $0.from < end }
        let stationDays = stationDays(of: here, in: days) { countsFrom[$0] ?? .distantPast }
        if stationDays.contains(where: { $0.standing != .unknown }) {
          made.append(StationMonth(pair: span.pair, month: month, days: stationDays))
        }
      }
    }
    try store.days.replace(spans, with: made, areMarksTaken: areMarksTaken, now: now)
  }

  private final class Calendars {
    var widest: PriceCalendar?
  }

  /// Returns a calendar with the days of some months: the widest that was needed so far, because
  /// consecutive batches need mostly the same days.
  private func calendar(
    from first: Month, to last: Month, context: RegionContext
  ) throws -> PriceCalendar {
    var from = first.firstDay
    var to = Month(number: last.number + 1).firstDay + -1
    if let widest = calendars.widest {
      if widest.first <= from, to <= widest.last { return widest }
      (from, to) = (min(from, widest.first), max(to, widest.last))
    }
    let calendar = try store.days.calendar(from: from, to: to, states: context.states, now: now)
    calendars.widest = calendar
    return calendar
  }

  /// Returns those price days of some months that have ended.
  static func days(
    of state: Int, from first: Month, to last: Month, _ calendar: PriceCalendar
  ) -> ArraySlice<PriceCalendar.PriceDay> {
    let from = first.firstDay.sinceEpoch - calendar.first.sinceEpoch
    let until = Month(number: last.number + 1).firstDay.sinceEpoch - calendar.first.sinceEpoch
    return calendar.days[state].prefix(until).dropFirst(from).prefix { $0.isEnded }
  }
}

/// The days of regions, made from all their stations.
extension DayUpdate {
  /// Makes the averages of spans of days again, completely. Each span lies within one month.
  ///
  /// - Parameter progress: called with the number of spans done, and of all.
  /// - Returns: the spans with the days of their months that were listed meanwhile.
  @discardableResult
  package static func makeRegionDays(
    _ spans: [DueSpan], _ workers: Workers, now: Instant,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> [DueSpan] {
    var shares: [Made] = []
    // Opening another connection costs about as much as making a few small months.
    try workers.run(pieces: spans.count / 4, of: spans.count, progress: progress) {
      store, number, count in
      let update = DayUpdate(store, now: now, areMarksTaken: true)
      var left = spans[spans.count * number / count..<spans.count * (number + 1) / count]
      let made = Made()
      shares.append(made)
      return {
        guard let span = left.first else { return 0 }
        made.spans.append(try store.transaction { try update.makeRegionDays(of: span) })
        left.removeFirst()
        return 1
      }
    }
    return shares.flatMap(\.spans)
  }

  /// What a connection has made.
  private final class Made {
    var spans: [DueSpan] = []
  }

  private func makeRegionDays(of listed: DueSpan) throws -> DueSpan {
    let span = try store.due.takeAverages(of: listed)
    // Where stations count is read after the marks are taken, so that every change from before then
    // is included. The same holds for station days that a list changed after they were made: they
    // are made again here.
    let context = try store.days.regionContext()
    try make(
      store.due.takeDays(of: store.due.waiting(for: .days, in: span)), context: context)
    try store.days.replace(span, with: averages(span, context: context))
    return span
  }

  private func averages(_ span: DueSpan, context: RegionContext) throws -> [DailyAverage] {
    let calendar = try store.days.calendar(
      from: span.from, to: span.to, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    var regions = RegionDays(
      fuelIDs: span.fuelIDs, calendar: calendar, stations: context.stations,
      regions: context.regions,
      settled: try store.days.settledDays(
        of: span.fuelIDs, from: span.from, to: span.to, states: context.states))
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
