import FuelModel
import Store
import Timeline

/// The spans of stations and fuels of which a list only goes on with a newer price, as nearly all
/// changes of a list do. Their evidence need not be read.
extension TimelineUpdate {
  /// Makes the newest spans where they are level, so that not even the spans before them are read.
  ///
  /// - Parameter present: the newest stored spans of the stations.
  /// - Returns: the newest span as it is stored, and what takes its place.
  func followed(
    _ present: [Int32: [Int16: PresentSpan]], by successions: [Pair: Succession]
  ) throws -> [Pair: (last: Span, made: [Span])] {
    guard !successions.isEmpty else { return [:] }
    let sightings = try sightings(
      from: successions.keys.lazy.compactMap { present[$0.stationID]?[$0.fuelID]?.span })
    var following: [Pair: (last: Span, made: [Span])] = [:]
    following.reserveCapacity(successions.count)
    for (pair, succession) in successions {
      guard let newest = present[pair.stationID]?[pair.fuelID], newest.isLevel, !newest.hasNext,
        newest.span.doubt == nil,
        let made = spans(after: newest.span, succession, of: pair, sightings: sightings),
        made.count == 1 || Plausibility.areNear(made[0], made[1])
      else { continue }
      following[pair] = (newest.span, made)
    }
    return following
  }

  /// Makes the spans of windows, of which all stored spans are read. Those before the last one stay
  /// as they are.
  func continued(
    _ windows: [Window], old: [Pair: [StoredSpan]], by successions: [Pair: Succession]
  ) throws -> [Pair: [Span]] {
    guard !successions.isEmpty, !windows.isEmpty else { return [:] }
    let sightings = try sightings(from: windows.lazy.compactMap { old[$0.pair]?.last?.span })
    var made: [Pair: [Span]] = [:]
    for window in windows {
      guard let succession = successions[window.pair], let stored = old[window.pair],
        let last = stored.last?.span,
        let spans = spans(after: last, succession, of: window.pair, sightings: sightings)
      else { continue }
      let kept = stored.dropLast().map(\.span).filter { $0.from >= window.from }
      made[window.pair] = Self.marked(kept + spans, window, old: stored)
    }
    return made
  }

  /// Returns whether the last of some spans is level: no price that follows and lies near it makes
  /// a price suspect.
  ///
  /// - Parameter isWhole: whether these are all spans of the station and fuel.
  static func isLevel(_ spans: [Span], isWhole: Bool) -> Bool {
    guard let last = spans.last, !last.isSuspect else { return false }
    guard let before = spans.dropLast().last else { return isWhole }
    return Plausibility.areNear(before, last)
  }

  private func spans(
    after last: Span, _ succession: Succession, of pair: Pair, sightings: [Int16: Coverage]
  ) -> [Span]? {
    Timeline.spans(
      after: last, succession, rules: rulesOfFuels[pair.fuelID] ?? [:], sightings: sightings)
  }

  /// Reads when lists followed one another since the oldest of some spans was stated.
  private func sightings(from spans: some Sequence<Span>) throws -> [Int16: Coverage] {
    try store.sightings(
      from: spans.lazy.map(\.statedAt).min() ?? now, now: .distantFuture)
  }
}
