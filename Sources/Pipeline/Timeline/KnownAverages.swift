import FuelModel
import Store
import Timeline

/// Makes daily averages as they were known at an instant, with the functions that make all averages
/// and only from what had been reported by then. Nothing is stored.
struct KnownAverages {
  let store: Store
  /// The clock: later days and parts of days do not exist.
  let now: Instant
  /// Reports that were learnt after this instant do not count.
  let known: Instant

  /// Makes the averages of some fuels and days.
  ///
  /// - Parameter progress: called with the number of stations and fuels done, and of all.
  func averages(
    of fuelIDs: [Int16], from first: Day, to last: Day,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> [DailyAverage] {
    let context = try store.regionContext()
    let rules = try store.reportRules()
    // The stations expected in a month are those with a price in it or in the month before.
    let begin = Month(number: Month(first).number - 1).firstDay
    let calendar = try store.calendar(from: begin, to: last, states: context.states, now: now)
    guard calendar.beginsAt < calendar.endsAt else { return [] }
    // Older evidence is not needed: a price that began before has lapsed, and so have the prices
    // that a suspect is compared with.
    let memory =
      (rules.values.flatMap { $0.values.map(\.priceLapse) }.max() ?? 0) + Plausibility.memory
    let from = calendar.beginsAt.after(-memory)
    let sightings = try store.sightings(from: from.after(-memory), now: now, known: known)
    let confirmed = try store.confirmedPrices(known: known)
    let neighbourhood = try store.neighbourhood()

    func spans(of pairs: [Pair]) throws -> [Pair: [Span]] {
      let evidence = try store.evidence(
        of: pairs.map { Window(pair: $0, from: from) }, known: known)
      var made: [Pair: [Span]] = [:]
      for (pair, lines) in evidence {
        let rules = rules.compactMapValues { $0[pair.fuelID] }
        var spans = Timeline.spans(of: lines, rules: rules, sightings: sightings)
        Plausibility.markSuspects(&spans)
        made[pair] = spans.map { $0.believed(rules: rules, sightings: sightings) }
      }
      return made
    }

    var days: [Pair: [StationDay]] = [:]
    func keep(_ spans: [Span], of pair: Pair) {
      guard let station = context.stations[pair.stationID] else { return }
      days[pair] = stationDays(of: spans, in: calendar.days[station.state]) { source in
        rules[source]?[pair.fuelID]?.countsFrom ?? .distantPast
      }
    }
    var suspected: [Pair: [Span]] = [:]
    let pairs = Dictionary(
      grouping: try store.pairs(ofFuels: try store.averagedFuels()), by: \.stationID
    ).sorted { $0.key < $1.key }.map(\.value)
    for begin in stride(from: 0, to: pairs.count, by: 200) {
      let chunk = pairs[begin..<min(begin + 200, pairs.count)]
      var made = try spans(of: Array(chunk.joined()))
      for station in chunk {
        let byFuel = Dictionary(
          uniqueKeysWithValues: station.compactMap { pair in made[pair].map { (pair.fuelID, $0) } })
        for (fuel, found) in Plausibility.placeholders(byFuel) {
          let pair = Pair(stationID: station[0].stationID, fuelID: fuel)
          for (position, placeholder) in found {
            guard let span = made[pair]?[position] else { continue }
            made[pair]?[position].doubt = Plausibility.doubt(
              about: span, placeholder: placeholder,
              isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
              holdingConfirms: rules[span.seenBy]?[pair.fuelID]?.holdingConfirms ?? true)
          }
        }
        for pair in station where fuelIDs.contains(pair.fuelID) {
          guard let spans = made[pair] else { continue }
          if spans.contains(where: { $0.isSuspect && $0.doubt == nil }) {
            suspected[pair] = spans
          } else {
            keep(spans, of: pair)
          }
        }
      }
      progress(min(begin + 200, pairs.count), pairs.count)
    }
    for (pair, original) in suspected {
      let near = neighbourhood.neighbours(of: pair.stationID)
        .map { Pair(stationID: $0, fuelID: pair.fuelID) }
      let around = try spans(of: near)
      keep(
        original.map { span in
          guard span.isSuspect, span.doubt == nil else { return span }
          var span = span
          span.doubt = Plausibility.doubt(
            about: span,
            hasCompany: around.values.contains { Plausibility.isCompany($0, of: span) },
            isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
            holdingConfirms: rules[span.seenBy]?[pair.fuelID]?.holdingConfirms ?? true)
          return span
        }, of: pair)
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
        covered: try store.coveredDays(from: from, to: to, states: context.states))
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
