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
    let context = try store.days.regionContext()
    // The stations expected in a month are those with a price in it or in the month before.
    let begin = Month(number: Month(first).number - 1).firstDay
    let calendar = try store.days.calendar(from: begin, to: last, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    let spans = try KnownSpans(store, from: calendar.beginsAt, now: now, known: known)
    var days: [Pair: [StationDay]] = [:]
    try spans.forEach(of: fuelIDs, progress: progress) { made, pair in
      guard let station = context.stations[pair.stationID] else { return }
      days[pair] = stationDays(of: made, in: calendar.days[station.state]) { source in
        spans.rules[pair.fuelID]?[source]?.countsFrom ?? .distantPast
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
        calendar: try store.days.calendar(from: from, to: to, states: context.states, now: now),
        stations: context.stations, regions: context.regions,
        settled: try store.days.settledDays(
          of: fuelIDs, from: from, to: to, states: context.states))
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

/// Makes validity spans as they were known at an instant, with their doubts, by the functions that
/// make all spans. Nothing is stored.
struct KnownSpans {
  /// By fuel and source.
  let rules: [Int16: [Int16: ReportRules]]
  private let store: Store
  /// Reports that were learnt after this instant do not count.
  private let known: Instant
  /// Earlier reports are not read.
  private let from: Instant
  private let sightings: [Int16: Coverage]
  private let lists: [Int16: [Instant]]
  private let confirmed: [Pair: Set<Int32>]
  private let neighbourhood: Neighbourhood

  /// How many stations are read at once.
  private static let chunk = 200

  /// Reads what all stations share.
  ///
  /// - Parameter begin: spans are right from this instant on.
  init(_ store: Store, from begin: Instant, now: Instant, known: Instant) throws {
    self.store = store
    self.known = known
    rules = try store.spans.reportRules()
    // Older evidence is not needed: a price that began before has lapsed, and so have the prices
    // that a suspect is compared with.
    let memory =
      (rules.values.flatMap { $0.values.map(\.priceLapse) }.max() ?? 0) + Plausibility.memory
    from = begin.after(-memory)
    sightings = try store.spans.sightings(from: from.after(-memory), now: now, known: known)
    lists = try store.spans.lists(
      of: Set(rules.values.flatMap(\.keys)), from: from, until: now, known: known)
    confirmed = try store.spans.confirmedPrices(known: known)
    neighbourhood = try store.spans.neighbourhood()
  }

  /// Makes the spans of all stations.
  ///
  /// - Parameters:
  ///   - progress: called with the number of stations done, and of all.
  ///   - keep: called once for each station and fuel.
  func forEach(
    of fuelIDs: [Int16], progress: (Int, Int) -> Void, keep: ([Span], Pair) -> Void
  ) throws {
    // Placeholders are found by all fuels of a station.
    let stations = Dictionary(
      grouping: try store.days.pairs(ofFuels: try store.days.averagedFuels()), by: \.stationID
    ).sorted { $0.key < $1.key }.map(\.value)
    for begin in stride(from: 0, to: stations.count, by: Self.chunk) {
      let end = min(begin + Self.chunk, stations.count)
      var made = try spans(of: Array(stations[begin..<end].joined()))
      for pairs in stations[begin..<end] {
        doubtPlaceholders(&made, of: pairs)
        for pair in pairs where fuelIDs.contains(pair.fuelID) {
          if let spans = made[pair] { keep(try judged(spans, of: pair), pair) }
        }
      }
      progress(end, stations.count)
    }
  }

  private func spans(of pairs: [Pair]) throws -> [Pair: [Span]] {
    let evidence = try store.spans.evidence(
      of: pairs.map { Window(pair: $0, from: from) }, known: known)
    var made: [Pair: [Span]] = [:]
    for (pair, lines) in evidence {
      let rules = rules[pair.fuelID] ?? [:]
      var spans = Timeline.spans(of: lines, rules: rules, sightings: sightings, lists: lists)
      Plausibility.markSuspects(&spans)
      made[pair] = spans.map { $0.believed(rules: rules, sightings: sightings) }
    }
    return made
  }

  private func isConfirmed(_ span: Span, _ pair: Pair) -> Bool {
    confirmed[pair]?.contains(span.price) ?? false
  }

  private func holdingConfirms(_ span: Span, _ pair: Pair) -> Bool {
    rules[pair.fuelID]?[span.seenBy]?.holdingConfirms ?? true
  }

  /// Sets the doubts of placeholders among the fuels of one station.
  private func doubtPlaceholders(_ made: inout [Pair: [Span]], of pairs: [Pair]) {
    let byFuel = Dictionary(
      uniqueKeysWithValues: pairs.compactMap { pair in made[pair].map { (pair.fuelID, $0) } })
    for (fuel, found) in Plausibility.placeholders(byFuel) {
      let pair = Pair(stationID: pairs[0].stationID, fuelID: fuel)
      for (position, placeholder) in found {
        guard let span = made[pair]?[position] else { continue }
        made[pair]?[position].doubt = Plausibility.doubt(
          about: span, placeholder: placeholder, isConfirmed: isConfirmed(span, pair),
          holdingConfirms: holdingConfirms(span, pair))
      }
    }
  }

  /// Returns the spans of a station and fuel with the doubts of those that are far from the others.
  private func judged(_ spans: [Span], of pair: Pair) throws -> [Span] {
    guard spans.contains(where: { $0.isSuspect && $0.doubt == nil }) else { return spans }
    let near = neighbourhood.neighbours(of: pair.stationID)
      .map { Pair(stationID: $0, fuelID: pair.fuelID) }
    let around = try self.spans(of: near)
    return spans.map { span in
      guard span.isSuspect, span.doubt == nil else { return span }
      var span = span
      span.doubt = Plausibility.doubt(
        about: span,
        hasCompany: around.values.contains { Plausibility.isCompany($0, of: span) },
        isConfirmed: isConfirmed(span, pair), holdingConfirms: holdingConfirms(span, pair))
      return span
    }
  }
}
