package import FuelModel
package import Store
package import Timeline

/// Makes days from spans: first the days of stations, then those of regions from them.
package struct DayUpdate {
  private let store: Store
  private let now: Instant
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

  // MARK: Stations

  // How many months of stations and fuels one batch makes. A day takes about forty bytes.
  private static let atOnce = 20_000

  /// Makes the days of stations that have ended or changed since the last run.
  ///
  /// - Parameter progress: called with the number of stations and fuels done, and of all.
  package static func makeStationDays(
    _ workers: Workers, now: Instant, progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    try workers.first.markEndedDays(now: now)
    let all = try workers.first.staleDaysCount()
    guard all > 0 else { return }
    var before = 0
    func make(_ workers: Workers, isMarked: Bool) throws {
      var done = before
      func tell(_ count: Int, of _: Int) {
        done = min(before + count, all)
        progress(done, all)
      }
      try workers.run(pieces: all / Batches.least, of: all, progress: tell) {
        store, number, count in
        Batches(
          days: DayUpdate(store, now: now), places: try store.regionContext(),
          share: (number, of: count))
      } _: {
        try $0.makeNext(isMarked: isMarked)
      }
      before = done
    }
    try make(workers, isMarked: true)
    // Notes without the mark change stored averages in place, so one connection makes them all.
    try make(Workers(workers.first), isMarked: false)
  }

  /// The batches of station days that one connection makes.
  private final class Batches {
    let days: DayUpdate
    let places: RegionContext
    let share: (Int, of: Int)
    // How many notes the next batch takes. A note covers few months or many, so each batch sets
    // this number by the notes that it took itself.
    var count = 200

    static let least = 50

    init(days: DayUpdate, places: RegionContext, share: (Int, of: Int)) {
      self.days = days
      self.places = places
      self.share = share
    }

    func makeNext(isMarked: Bool) throws -> Int {
      let taken = try days.store.transaction {
        let taken = try days.store.takeStaleDays(atMost: count, isMarked: isMarked, share: share)
        try days.make(taken, places: places)
        return taken
      }
      let months = taken.reduce(0) { $0 + Int($1.last.number - $1.first.number) + 1 }
      count = max(Self.least, DayUpdate.atOnce * taken.count / max(1, months))
      return taken.count
    }
  }

  /// Makes the days of stations whose spans were just made from their beginning, without reading
  /// those spans again. Stations with an open span, which later lists extend, are left to
  /// `makeStationDays`.
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
      guard let place = places.places[span.pair.stationID] else { continue }
      let days = Self.days(of: place.state, from: span.first, to: span.last, calendar)
      guard let begin = days.first?.beginsAt, let end = days.last?.endsAt else { continue }
      windows.append(Window(pair: span.pair, from: begin, until: end))
    }
    let found = try store.spans(of: windows, before: 1)
    try make(spans, of: found.mapValues { $0.map(\.believed) }, places: places)
  }

  /// Makes the days of months from spans.
  ///
  /// - Parameter believed: spans in order of time, with their ends as they are believed now.
  private func make(
    _ spans: [MonthSpan], of believed: [Pair: [Span]], places: RegionContext
  ) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let calendar = try calendar(of: spans, from: first, to: last, places: places)
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
        let days = Array(Self.days(of: place.state, from: month, to: month, calendar))
        guard let begin = days.first?.beginsAt, let end = days.last?.endsAt else { continue }
        while next < believed.count, believed[next].lapsesAt <= begin { next += 1 }
        let here = believed[next...].prefix { $0.from < end }
        let stationDays = stationDays(of: here, in: days) { countsFrom[$0] ?? .distantPast }
        if stationDays.contains(where: { $0.standing != .unknown }) {
          made.append(StationMonth(pair: span.pair, month: month, days: stationDays))
        }
      }
    }
    let single = spans.filter { !$0.isMarked }
    let before = try store.stationMonths(of: single)
    try store.replace(spans, with: made, areMarksTaken: areMarksTaken, now: now)
    try edit(single, before: before, after: made, places: places)
  }

  /// Changes averages of regions by single stations: takes out the earlier days of each station and
  /// puts in its new days.
  ///
  /// Days whose averages are due anyway, or of which too little is stored, are left out here and
  /// made from all stations later.
  private func edit(
    _ spans: [MonthSpan], before: [StationMonth], after: [StationMonth], places: RegionContext
  ) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    struct Key: Hashable {
      var pair: Pair
      var month: Int32
    }
    func byMonth(_ months: [StationMonth]) -> [Key: [StationDay]] {
      Dictionary(
        months.map { (Key(pair: $0.pair, month: $0.month.number), $0.days) },
        uniquingKeysWith: { $1 })
    }
    let before = byMonth(before)
    let after = byMonth(after)
    var widest = spans
    // A station with a price is also expected in the following month.
    for position in widest.indices { widest[position].last = Month(number: last.number + 1) }
    let calendar = try calendar(
      of: widest, from: first, to: Month(number: last.number + 1), places: places)
    let from = first.firstDay
    let to = Month(number: last.number + 2).firstDay + -1
    let covered = try store.coveredDays(from: from, to: to, states: places.states)
    var edit = RegionEdit(regions: places.regions, regionSets: places.regionSets) { state, day in
      covered[state][day.sinceEpoch - from.sinceEpoch]
    }
    func isKnown(_ days: [StationDay]?) -> Bool {
      days?.contains { $0.standing == .known } ?? false
    }
    for span in spans {
      guard let place = places.countedPlace(of: span.pair.stationID) else { continue }
      let fuelID = span.pair.fuelID
      func old(_ month: Int32) -> [StationDay]? { before[Key(pair: span.pair, month: month)] }
      // Months outside the span have not changed.
      func new(_ month: Int32) -> [StationDay]? {
        month < span.first.number || month > span.last.number
          ? old(month) : after[Key(pair: span.pair, month: month)]
      }
      for number in span.first.number...span.last.number + 1 {
        let month = Month(number: number)
        let days = Self.days(of: place.state, from: month, to: month, calendar)
        let (out, into) = (old(number), new(number))
        let wasExpected = isKnown(out) || isKnown(old(number - 1))
        let isExpected = isKnown(into) || isKnown(new(number - 1))
        for (position, day) in days.enumerated() {
          let date = month.firstDay + position
          if wasExpected != isExpected {
            edit.expect(at: place, fuelID: fuelID, on: date, isNew: isExpected)
          }
          let was = out.flatMap { position < $0.count ? $0[position] : nil } ?? .unknown
          let now = into.flatMap { position < $0.count ? $0[position] : nil } ?? .unknown
          guard !was.countsAs(now) else { continue }
          edit.count(
            was, at: place, fuelID: fuelID, on: date, lasting: day.microseconds, isNew: false)
          edit.count(
            now, at: place, fuelID: fuelID, on: date, lasting: day.microseconds, isNew: true)
        }
      }
    }
    let fuelIDs = Set(spans.map(\.pair.fuelID)).sorted()
    try edit.leave(store.dirtyDays(of: fuelIDs, from: from, to: to))
    guard let (begin, end) = edit.range else { return }
    let (made, left) = edit.averages(
      of: try store.regionDays(
        of: edit.changedRegions.map { ($0, places.regions[$0].code) }, fuelIDs: fuelIDs,
        from: begin, to: end))
    try store.replace(with: made)
    try store.markDirty(left)
  }

  /// The widest calendar that was needed so far. Consecutive batches need mostly the same days.
  private final class Calendars {
    var states: Set<Int> = []
    var widest: PriceCalendar?
  }

  private func calendar(
    of spans: [MonthSpan], from first: Month, to last: Month, places: RegionContext
  ) throws -> PriceCalendar {
    let states = Set(spans.compactMap { places.countedPlace(of: $0.pair.stationID)?.state })
    var from = first.firstDay
    var to = Month(number: last.number + 1).firstDay + -1
    if let widest = calendars.widest {
      if states.isSubset(of: calendars.states), widest.first <= from, to <= widest.last {
        return widest
      }
      (from, to) = (min(from, widest.first), max(to, widest.last))
    }
    calendars.states.formUnion(states)
    let calendar = try store.calendar(
      from: from, to: to, states: places.states,
      needed: calendars.states.sorted().map { places.states[$0] }, now: now)
    calendars.widest = calendar
    return calendar
  }

  /// Returns those price days of some months that have ended.
  private static func days(
    of state: Int, from first: Month, to last: Month, _ calendar: PriceCalendar
  ) -> ArraySlice<PriceCalendar.PriceDay> {
    let from = first.firstDay.sinceEpoch - calendar.first.sinceEpoch
    let until = Month(number: last.number + 1).firstDay.sinceEpoch - calendar.first.sinceEpoch
    return calendar.days[state].prefix(until).dropFirst(from).prefix { $0.isEnded }
  }

  // MARK: Regions

  /// Makes the averages of spans of days again, completely. Each span lies within one month.
  ///
  /// - Parameter progress: called with the number of spans done, and of all.
  package static func makeRegionDays(
    _ spans: [DirtySpan], _ workers: Workers, now: Instant,
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
    var left: ArraySlice<DirtySpan>

    init(days: DayUpdate, left: ArraySlice<DirtySpan>) {
      self.days = days
      self.left = left
    }

    func makeNext() throws -> Int {
      guard let span = left.first else { return 0 }
      try days.store.transaction {
        try days.store.takeMarks(of: span)
        // Where stations count is read after the marks are taken, so that every change from before
        // then is included. The same holds for station days that a list changed after they were
        // made: they are made again here.
        let context = try days.store.regionContext()
        let late = try days.store.takeStaleDays(isMarked: true, in: span)
        try days.make(late, places: context)
        try days.store.replace(span, with: days.averages(span, context: context))
      }
      left.removeFirst()
      return 1
    }
  }

  private func averages(_ span: DirtySpan, context: RegionContext) throws -> [DailyAverage] {
    let calendar = try store.calendar(
      from: span.from, to: span.to, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    var regions = RegionDays(
      fuelIDs: span.fuelIDs, calendar: calendar, places: context.places, regions: context.regions,
      regionSets: context.regionSets,
      covered: try store.coveredDays(from: span.from, to: span.to, states: context.states))
    var expected = try store.knownPairs(
      of: span.fuelIDs, in: Month(number: Month(span.from).number - 1))
    let ended = calendar.days.map { days in days.prefix { $0.isEnded }.count }
    try store.stationDays(of: span.fuelIDs, from: span.from, to: span.to) { pair, isKnown, days in
      if isKnown { expected.insert(pair) }
      guard let place = context.places[pair.stationID] else { return }
      regions.take(days.prefix(ended[place.state]), of: pair.stationID, fuelID: pair.fuelID)
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
        regions.take(made[...], of: pair.stationID, fuelID: pair.fuelID, from: first)
      }
    }
  }

  // MARK: Habits

  /// Returns the usual difference of each station to its smallest region, over days that have
  /// ended.
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
