package import FuelModel

/// A list of a feed that counts, by what it states.
package struct StatedList: Sendable, Equatable {
  package var takenAt: Instant
  /// A digest of all that it states.
  package var content: Int64
  /// Since when lists have stated the same, if they have for so long that this one is frozen.
  package var frozenSince: Instant?

  package init(takenAt: Instant, content: Int64, frozenSince: Instant? = nil) {
    self.takenAt = takenAt
    self.content = content
    self.frozenSince = frozenSince
  }
}

/// Decides which lists of a feed are frozen: they have changed nothing for a day, and for three times
/// as long as the feed ever went without a change in the four weeks before. Freezes of the past are
/// no habit.
///
/// In recorded answers and archives of a year, no state went without a change for more than eight
/// hours, at Easter and Christmas either. Thirty stations alone did for up to two days. They never
/// did for three times as long as in the weeks before, but now and then for twice as long.
package enum Freeze {
  /// How far back the habit of a feed is known, in microseconds.
  package static let memory = 28 * day
  /// For how long lists may always state the same, in microseconds.
  package static let least = day
  private static let day: Int64 = 86_400_000_000
  private static let leastChanges = 10

  /// Judges lists.
  ///
  /// - Parameters:
  ///   - lists: in order of their instants, and of their content where these are equal. They begin
  ///     four weeks before the first list that states what the one before `instant` does, or
  ///     earlier.
  ///   - instant: lists that were taken earlier are judged already.
  package static func judged(_ lists: [StatedList], from instant: Instant) -> [StatedList] {
    var judged = lists
    // The times without a change up to here, and how long the last one may be.
    var stills: [Range<Int>] = []
    var patience: Int64?
    for (index, list) in lists.enumerated() {
      if let last = stills.last, lists[last.lowerBound].content == list.content {
        stills[stills.count - 1] = last.lowerBound..<index + 1
      } else {
        stills.append(index..<index + 1)
        patience = nil
      }
      guard list.takenAt >= instant else { continue }
      judged[index].frozenSince = nil
      let begins = lists[stills[stills.count - 1].lowerBound].takenAt
      let lasts = list.takenAt.microseconds - begins.microseconds
      guard lasts >= least else { continue }
      let limit = patience ?? limit(after: stills.dropLast(), in: judged, until: begins)
      patience = limit
      if lasts >= limit { judged[index].frozenSince = begins }
    }
    return judged
  }

  /// Returns for how long lists may state the same from an instant on.
  private static func limit(
    after stills: ArraySlice<Range<Int>>, in lists: [StatedList], until begins: Instant
  ) -> Int64 {
    let since = begins.after(-memory)
    let known = stills.reversed().prefix { lists[$0.upperBound - 1].takenAt > since }
      .filter { lists[$0.upperBound - 1].frozenSince == nil }
    // A feed of which few changes are known has no habit yet.
    guard known.count >= leastChanges else { return .max }
    let longest = known.map { still in
      let first = still.first { lists[$0].takenAt > since } ?? still.lowerBound
      let last = lists[still.upperBound - 1].takenAt
      let next = lists[still.upperBound].takenAt
      // Where nobody read the feed for a day, it is not known when it changed.
      let ends = next > last.after(day) ? last : next
      return ends.microseconds - lists[first].takenAt.microseconds
    }.max()
    return max(least, 3 * (longest ?? 0))
  }
}
