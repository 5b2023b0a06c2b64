package import FuelModel
package import Store
package import Timeline

/// Makes days from spans: first those of stations, then those of regions from them.
package struct DayUpdate {
  private let store: Store
  private let now: Instant

  package init(_ store: Store, now: Instant) {
    self.store = store
    self.now = now
  }

  // MARK: Stations

  // Months of stations that are made at once: some forty bytes a day.
  private static let atOnce = 20_000

  /// Makes the days of stations that have ended or changed since the last time.
  ///
  /// - Parameter progress: called with how many stations and fuels of how many are done.
  package func makeStationDays(progress: (Int, Int) -> Void = { _, _ in }) throws {
    try store.markEndedDays(now: now)
    let all = try store.staleDaysCount()
    guard all > 0 else { return }
    let places = try store.regionContext()
    var done = 0
    // Notes cover few months or many; the first ones tell how many to take at once.
    var count = 200
    while true {
      let taken = try store.transaction {
        let taken = try store.takeStaleDays(atMost: count)
        try make(taken, places: places)
        return taken
      }
      if taken.isEmpty { break }
      done += taken.count
      progress(min(done, all), all)
      let months = taken.reduce(0) { $0 + Int($1.last.number - $1.first.number) + 1 }
      count = max(50, Self.atOnce * taken.count / max(1, months))
    }
  }

  /// Makes the days of stations whose spans have just been made whole, without reading them again. Those that
  /// lists to come keep alive are left to `makeStationDays`.
  func make(_ whole: [Pair: [Span]]) throws {
    let closed = whole.filter { !$0.value.isEmpty && !$0.value.contains(where: \.isOpen) }
    guard !closed.isEmpty else { return }
    let noted = try store.takeStaleDays(of: Array(closed.keys))
    try make(noted, of: closed, places: store.regionContext())
  }

  private func make(_ spans: [MonthSpan], places: RegionContext) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let calendar = try calendar(of: spans, from: first, to: last, places: places)
    var windows: [Window] = []
    for span in spans {
      guard let place = places.places[span.pair.stationID],
        let begin = Self.days(of: place.state, in: span.first, calendar).first?.beginsAt,
        let end = calendar.days[place.state].last(where: \.isEnded)?.endsAt
      else { continue }
      windows.append(Window(pair: span.pair, from: begin, until: end))
    }
    let found = try store.spans(of: windows, before: 1)
    try make(spans, of: found.mapValues { $0.map(\.believed) }, places: places, calendar: calendar)
  }

  /// - Parameter believed: spans with their ends as they are believed now, in order of time.
  private func make(
    _ spans: [MonthSpan], of believed: [Pair: [Span]], places: RegionContext,
    calendar known: PriceCalendar? = nil
  ) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let calendar = try known ?? calendar(of: spans, from: first, to: last, places: places)
    let countsFrom = try store.countsFrom()
    var made: [StationMonth] = []
    for span in spans {
      guard let place = places.places[span.pair.stationID], let believed = believed[span.pair]
      else {
        continue
      }
      var next = 0
      for number in span.first.number...span.last.number {
        let month = Month(number: number)
        let days = Array(Self.days(of: place.state, in: month, calendar))
        guard let begin = days.first?.beginsAt, let end = days.last?.endsAt else { continue }
        while next < believed.count, believed[next].lapsesAt <= begin { next += 1 }
        let here = believed[next...].prefix { $0.from < end }
        let stationDays = stationDays(of: here, in: days) { countsFrom[$0] ?? .distantPast }
        if stationDays.contains(where: { $0.standing != .unknown }) {
          made.append(StationMonth(pair: span.pair, month: month, days: stationDays))
        }
      }
    }
    try store.replace(spans, with: made, now: now)
  }

  private func calendar(
    of spans: [MonthSpan], from first: Month, to last: Month, places: RegionContext
  ) throws -> PriceCalendar {
    let states = Set(spans.compactMap { places.places[$0.pair.stationID]?.state })
    return try store.calendar(
      from: first.firstDay, to: Month(number: last.number + 1).firstDay + -1, states: places.states,
      needed: states.sorted().map { places.states[$0] }, now: now)
  }

  /// The days of a month that have ended.
  private static func days(
    of state: Int, in month: Month, _ calendar: PriceCalendar
  ) -> ArraySlice<PriceCalendar.PriceDay> {
    let from = month.firstDay.sinceEpoch - calendar.first.sinceEpoch
    let until = Month(number: month.number + 1).firstDay.sinceEpoch - calendar.first.sinceEpoch
    return calendar.days[state].prefix(until).dropFirst(from).prefix { $0.isEnded }
  }

  // MARK: Regions

  /// Makes the averages of a span of days within one month again, whole.
  package func makeRegionDays(_ span: DirtySpan) throws {
    try store.transaction {
      try store.takeMarks(of: span)
      // Who counts where is read here too: what changed it before we had the marks counts.
      try store.replace(span, with: averages(span))
    }
  }

  private func averages(_ span: DirtySpan) throws -> [DailyAverage] {
    let context = try store.regionContext()
    let calendar = try store.calendar(
      from: span.from, to: span.to, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    var regions = RegionDays(
      fuelIDs: span.fuelIDs, calendar: calendar, places: context.places, regions: context.regions,
      regionSets: context.regionSets,
      covered: try store.coveredDays(from: span.from, to: span.to, states: context.states))
    var expected = try store.knownPairs(
      of: span.fuelIDs, in: Month(number: Month(span.from).number - 1))
    try store.stationDays(of: span.fuelIDs, from: span.from, to: span.to) { pair, isKnown, days in
      if isKnown { expected.insert(pair) }
      guard let place = context.places[pair.stationID] else { return }
      for (position, day) in days.enumerated()
      where position < calendar.days[place.state].count
        && calendar.days[place.state][position].isEnded
      {
        regions.take(day, of: pair.stationID, fuelID: pair.fuelID, day: position)
      }
    }
    for pair in expected { regions.expect(pair.stationID, fuelID: pair.fuelID) }
    try takeRunningDays(of: span.fuelIDs, calendar: calendar, context: context, into: &regions)
    return regions.averages()
  }

  /// Days that have not ended are made from spans each time.
  private func takeRunningDays(
    of fuelIDs: [Int16], calendar: PriceCalendar, context: RegionContext,
    into regions: inout RegionDays
  ) throws {
    let running = calendar.days.map { days in days.firstIndex { !$0.isEnded } }
    guard running.contains(where: { $0 != nil }) else { return }
    let countsFrom = try store.countsFrom()
    var windows: [Window] = []
    for pair in try store.pairs(ofFuels: fuelIDs) {
      guard let place = context.places[pair.stationID], let first = running[place.state],
        let end = calendar.days[place.state].last?.endsAt
      else { continue }
      windows.append(
        Window(pair: pair, from: calendar.days[place.state][first].beginsAt, until: end))
    }
    for begin in stride(from: 0, to: windows.count, by: 10_000) {
      let chunk = Array(windows[begin..<min(begin + 10_000, windows.count)])
      for (pair, stored) in try store.spans(of: chunk, before: 1) {
        guard let place = context.places[pair.stationID], let first = running[place.state] else {
          continue
        }
        let days = Array(calendar.days[place.state][first...])
        let made = stationDays(of: stored.lazy.map(\.believed), in: days) {
          countsFrom[$0] ?? .distantPast
        }
        for (position, day) in made.enumerated() {
          regions.take(day, of: pair.stationID, fuelID: pair.fuelID, day: first + position)
        }
      }
    }
  }

  // MARK: Habits

  /// Where stations usually stand beside their smallest region, over a run of days that have ended.
  package func habits(
    of fuelIDs: [Int16], from first: Day, to last: Day, leastDays: Int
  ) throws -> [StationHabit] {
    let context = try store.regionContext()
    var days: [Pair: [(day: Day, mean: Int32)]] = [:]
    var from = first
    while from <= last {
      let to = min(last, Month(number: Month(from).number + 1).firstDay + -1)
      try store.stationDays(of: fuelIDs, from: from, to: to) { pair, _, made in
        for (position, day) in made.enumerated() where day.standing == .known {
          days[pair, default: []].append((from + position, day.mean))
        }
      }
      from = to + 1
    }
    let averages = try store.regionAverages(of: fuelIDs, from: first, to: last)
    return days.sorted { $0.key < $1.key }.compactMap { pair, days -> StationHabit? in
      guard let place = context.places[pair.stationID],
        let region = context.regionSets[place.regionSet].map({ context.regions[$0] }).min(by: {
          ($0.reach, $0.code) < ($1.reach, $1.code)
        })
      else { return nil }
      return StationHabit(
        of: pair.stationID, fuelID: pair.fuelID, region: region.code, days: days,
        averages: averages[region.code]?[pair.fuelID] ?? [:], leastDays: leastDays)
    }
  }
}
