package import FuelModel
package import Store
import Timeline

/// Which spans are doubtful: placeholders of a station, and prices far from its others.
extension TimelineUpdate {
  private func holdingConfirms(_ span: Span, _ pair: Pair) -> Bool {
    rules[pair.fuelID]?[span.seenBy]?.holdingConfirms ?? true
  }

  /// Returns the stations that may have a placeholder, or had one in the time that changed, with
  /// their fuels. Few stations sell two grades at one price, so mostly the newest spans show that
  /// there is none.
  private func stationsWithPlaceholders(
    _ made: [Pair: [Span]], windows: [Window], old: [Pair: [StoredSpan]],
    present: [Int32: [Int16: PresentSpan]]
  ) -> [Int32: Set<Int16>] {
    /// Removes the doubt, so that only what is believed is compared.
    func forgetDoubt(_ span: inout Span) {
      span.doubt = nil
      span.isSuspect = false
    }
    var changedFrom: [Int32: Instant] = [:]
    var fuels: [Int32: [Int16: [Span]]] = [:]
    var found: Set<Int32> = []
    for window in windows {
      let pair = window.pair
      var before = (old[pair] ?? []).filter { $0.span.from >= window.from }
      if before.contains(where: { $0.span.doubt?.reason == .placeholder }) {
        found.insert(pair.stationID)
      }
      var after = made[pair] ?? []
      for position in before.indices { forgetDoubt(&before[position].span) }
      for position in after.indices { forgetDoubt(&after[position]) }
      changedFrom[pair.stationID] = min(
        changedFrom[pair.stationID] ?? .distantFuture,
        Self.difference(before, after, now: now)?.from ?? .distantFuture)
      fuels[pair.stationID, default: [:]][pair.fuelID] = after
    }
    // Where one fuel changed earlier than the window of another, the other's older spans may stand
    // beside it. They are not at hand here, so the station is kept.
    for window in windows where window.from > changedFrom[window.pair.stationID] ?? .distantPast {
      found.insert(window.pair.stationID)
    }
    for (station, others) in present {
      for (fuel, newest) in others where fuels[station]?[fuel] == nil {
        if newest.hasNext || newest.span.from > changedFrom[station] ?? .distantPast {
          found.insert(station)
        }
        fuels[station]?[fuel] = [newest.span]
      }
    }
    return fuels.filter { found.contains($0.key) || Plausibility.mayHavePlaceholders($0.value) }
      .mapValues { Set($0.keys) }
  }

  /// Sets and clears the doubts of placeholders, in `made` and in stored spans beside them.
  ///
  /// - Parameters:
  ///   - present: the newest stored spans of the stations.
  ///   - whole: the stations and fuels of which no stored span stays.
  /// - Returns: the stored spans whose doubt changed and which were not made again.
  func doubtPlaceholders(
    _ made: inout [Pair: [Span]], windows: [Window], old: [Pair: [StoredSpan]],
    present: [Int32: [Int16: PresentSpan]], whole: Set<Pair>
  ) throws -> [Window] {
    let stations = stationsWithPlaceholders(made, windows: windows, old: old, present: present)
    guard !stations.isEmpty else { return [] }
    let begins = Dictionary(windows.map { ($0.pair.stationID, $0.from) }, uniquingKeysWith: min)
    let pairs = Set(
      stations.flatMap { station, fuels in
        fuels.map { Pair(stationID: station, fuelID: $0) }
      })
    // Few stations sell two grades at one price.
    let near = try fuels(of: pairs, from: begins, made, windows, whole: whole).filter {
      Plausibility.mayHavePlaceholders($0.value.mapValues(\.all))
    }
    guard !near.isEmpty else { return [] }
    // A span that began earlier is judged by all prices charged beside it, so reading starts where
    // it began.
    let anchors = near.reduce(into: [Int32: Instant]()) { anchors, station in
      let begin = begins[station.key] ?? .distantPast
      anchors[station.key] = station.value.values.flatMap(\.all)
        .reduce(begin) { $1.latestEnd > begin ? min($0, $1.from) : $0 }
    }
    let found = try fuels(
      of: pairs.filter { anchors[$0.stationID] != nil }, from: anchors, made, windows, whole: whole)
    let changed = try doubtPlaceholders(&made, among: found, from: anchors)
    guard !changed.isEmpty else { return [] }
    // These spans belong to other fuels or to earlier times and are not written again. Only their
    // doubts are changed.
    try store.spans.setDoubts(changed.map { ($0.pair, $0.span.from, $0.doubt) })
    try mark(
      changed.map { Window(pair: $0.pair, from: $0.span.from, until: $0.span.latestEnd) })
    return changed.map { Window(pair: $0.pair, from: $0.span.from) }
  }

  /// The spans of a fuel: the stored ones that stay, and these followed by those made anew.
  private typealias Kept = (kept: [Span], all: [Span])

  /// Returns the spans of stations and fuels. The stored ones are read from an instant of each
  /// station on, with one span before it.
  ///
  /// - Parameter whole: stations and fuels of which no stored span stays.
  private func fuels(
    of pairs: Set<Pair>, from: [Int32: Instant], _ made: [Pair: [Span]], _ windows: [Window],
    whole: Set<Pair>
  ) throws -> [Int32: [Int16: Kept]] {
    let begins = Dictionary(windows.map { ($0.pair, $0.from) }, uniquingKeysWith: min)
    let stored = try store.spans.spans(
      of: pairs.subtracting(whole).map {
        Window(pair: $0, from: from[$0.stationID] ?? .distantPast)
      }, before: 1)
    var found: [Int32: [Int16: Kept]] = [:]
    for pair in pairs {
      let end = made[pair] == nil ? .distantFuture : begins[pair] ?? .distantPast
      let kept = (stored[pair] ?? []).map(\.span).filter { $0.from < end }
      found[pair.stationID, default: [:]][pair.fuelID] = (kept, kept + (made[pair] ?? []))
    }
    return found
  }

  /// Sets and clears the doubts of placeholders in `made`.
  ///
  /// - Parameters:
  ///   - found: the spans of stations and fuels.
  ///   - anchors: the instant of each station from which on its spans are judged.
  /// - Returns: the stored spans whose doubt is another one now, with that doubt.
  private func doubtPlaceholders(
    _ made: inout [Pair: [Span]], among found: [Int32: [Int16: Kept]],
    from anchors: [Int32: Instant]
  ) throws -> [(pair: Pair, span: Span, doubt: Doubt?)] {
    let confirmed = try store.spans.confirmedPrices()
    var changed: [(pair: Pair, span: Span, doubt: Doubt?)] = []
    for (station, byFuel) in found {
      let placeholders = Plausibility.placeholders(byFuel.mapValues(\.all))
      for (fuel, spans) in byFuel {
        let pair = Pair(stationID: station, fuelID: fuel)
        for (position, span) in spans.all.enumerated()
        where span.from >= anchors[station] ?? .distantPast {
          let placeholder = placeholders[fuel]?[position]
          guard placeholder != nil || span.doubt?.reason == .placeholder else { continue }
          let doubt = placeholder.flatMap {
            Plausibility.doubt(
              about: span, placeholder: $0,
              isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
              holdingConfirms: holdingConfirms(span, pair))
          }
          if position >= spans.kept.count {
            made[pair]?[position - spans.kept.count].doubt = doubt
          } else if span.doubt != doubt {
            changed.append((pair, span, doubt))
          }
        }
      }
    }
    return changed
  }

  /// Judges all suspects of some fuels from an instant on. A suspect lies far from the station's
  /// other prices; it is doubtful unless a neighbour charges about as much or a person confirmed the
  /// price.
  func judgeSuspects(fuelIDs: [Int16], from first: Instant) throws -> [Window] {
    let suspects = try store.spans.suspects(fuelIDs: fuelIDs, from: first)
    return suspects.isEmpty
      ? [] : try judge(store.spans.suspects(at: suspects), among: store.spans.neighbourhood())
  }

  /// Judges the suspects that were written, and those whose neighbours' prices changed.
  ///
  /// - Parameter written: where the suspects begin that were written.
  func judgeSuspects(_ written: [Window], beside changes: [Window]) throws -> [Window] {
    let first = changes.map(\.from).min()
    let others =
      try first.map {
        try store.spans.suspects(fuelIDs: Set(changes.map(\.pair.fuelID)).sorted(), from: $0)
      } ?? []
    guard !written.isEmpty || !others.isEmpty else { return [] }
    let neighbourhood = try store.spans.neighbourhood()
    let changed = Dictionary(changes.map { ($0.pair, $0.from) }, uniquingKeysWith: min)
    let stirred = others.filter { suspect in
      neighbourhood.hasNeighbour(of: suspect.pair.stationID) { other in
        changed[Pair(stationID: other, fuelID: suspect.pair.fuelID)].map {
          $0 < suspect.from + .seconds(86_400)
        } ?? false
      }
    }
    return try judge(store.spans.suspects(at: Array(Set(written + stirred))), among: neighbourhood)
  }

  /// Brings up to date where stations count, and judges those suspects again that have other
  /// neighbours than before. This is the first step of an aggregate.
  package static func countStations(_ store: Store, now: Instant) throws {
    try store.transaction {
      try store.spans.lockTimeline()
      let moved = try store.stations.countStations(now: now)
      guard !moved.isEmpty else { return }
      let neighbourhood = try store.spans.neighbourhood()
      var changes: [Int32: Instant?] = [:]
      let stirred = try store.spans.suspects(in: Set(moved.map(\.station.state)).sorted()).filter {
        let id = $0.pair.stationID
        if changes[id] == nil { changes[id] = .some(neighbourhood.changes(of: id, where: moved)) }
        guard let from = changes[id] ?? nil else { return false }
        return $0.from + .seconds(86_400) > from
      }
      let update = try TimelineUpdate(store, now: now, isAggregate: true)
      try update.mark(update.judge(store.spans.suspects(at: stirred), among: neighbourhood))
    }
  }

  private func judge(
    _ suspects: [Pair: [StoredSpan]], among neighbourhood: Neighbourhood
  ) throws -> [Window] {
    guard !suspects.isEmpty else { return [] }
    let confirmed = try store.spans.confirmedPrices()
    let sorted = suspects.flatMap { pair, spans in
      spans.filter { $0.span.doubt?.reason != .placeholder }
        .map { (pair: pair, span: $0.span) }
    }.sorted {
      ($0.pair.fuelID, $0.span.from, $0.pair.stationID)
        < ($1.pair.fuelID, $1.span.from, $1.pair.stationID)
    }
    var judged: [(pair: Pair, from: Instant, doubt: Doubt?)] = []
    var changed: [Window] = []
    var rest = sorted[...]
    while !rest.isEmpty {
      // In parts, because thousands of suspects may have a thousand neighbours each.
      var part: [Suspect] = []
      var asked: [Window] = []
      while asked.count < Self.askedAtOnce, let day = Self.day(of: rest) {
        part += day
        asked += Self.windows(around: day, among: neighbourhood)
        rest = rest.dropFirst(day.count)
      }
      let around = try store.spans.spans(of: asked, before: 1)
      for (pair, span) in part {
        let hasCompany = neighbourhood.hasNeighbour(of: pair.stationID) { other in
          around[Pair(stationID: other, fuelID: pair.fuelID)].map {
            Plausibility.isCompany($0.map(\.span), of: span)
          } ?? false
        }
        let doubt = Plausibility.doubt(
          about: span, hasCompany: hasCompany,
          isConfirmed: confirmed[pair]?.contains(span.price) ?? false,
          holdingConfirms: holdingConfirms(span, pair))
        guard doubt != span.doubt else { continue }
        judged.append((pair, span.from, doubt))
        changed.append(Window(pair: pair, from: span.from, until: min(span.latestEnd, now)))
      }
    }
    try store.spans.setDoubts(judged)
    return changed
  }

  private typealias Suspect = (pair: Pair, span: Span)

  // About how many windows of neighbours are read at a time.
  private static let askedAtOnce = 20_000
  // So many suspects of a day have nearly all stations of their state as neighbours.
  private static let manySuspects = 50

  /// Returns the first suspects of one fuel that begin within a day of each other; `nil` where
  /// none is left.
  private static func day(of suspects: ArraySlice<Suspect>) -> ArraySlice<Suspect>? {
    suspects.first.map { first in
      suspects.prefix {
        $0.pair.fuelID == first.pair.fuelID && $0.span.from < first.span.from + .seconds(86_400)
      }
    }
  }

  /// Returns the windows in which the neighbours of suspects of a day may keep them company: one
  /// for each neighbour, however many suspects it has.
  private static func windows(
    around day: ArraySlice<Suspect>, among neighbourhood: Neighbourhood
  ) -> [Window] {
    guard let first = day.first, let last = day.last else { return [] }
    var neighbours: Set<Int32> = []
    for suspect in day.prefix(manySuspects) {
      neighbours.formUnion(neighbourhood.neighbours(of: suspect.pair.stationID))
    }
    var states: Set<String> = []
    for suspect in day.dropFirst(manySuspects) {
      guard let state = neighbourhood.state(of: suspect.pair.stationID),
        states.insert(state).inserted
      else { continue }
      neighbours.formUnion(neighbourhood.stations(in: state))
    }
    return neighbours.map {
      Window(
        pair: Pair(stationID: $0, fuelID: first.pair.fuelID), from: first.span.from,
        until: last.span.from + .seconds(86_400))
    }
  }
}
