package import FuelModel

/// The days of which nothing that matters is unknown, so that an average over them can be complete.
///
/// A feed and an archive of whole days state every price of a day that they cover. An archive of
/// changes is silent about a station until its price changes. After a gap, those that have changed
/// are not like those that have not, however many they are. So a day counts only where the archive
/// has covered the days before it for as long as a price of the fuel is believed: whatever has not
/// changed by then would have lapsed anyway.
package struct SettledDays: Sendable {
  private let first: Day
  private var sources: [Source] = []

  private struct Source {
    let state: Int
    /// By day: how many days in a row the source has covered, that day included.
    let run: [Int32]
    /// How many days an archive of changes has to cover before, by fuel; `nil` where the source
    /// states every price.
    let silence: [Int16: Int32]?
  }

  /// - Parameter first: the first day that can be asked about.
  package init(from first: Day) { self.first = first }

  /// Adds what one source covers in one state.
  ///
  /// - Parameters:
  ///   - state: the position of the state among the states of the calendar.
  ///   - covered: whether each day up to the last one is covered. The days before `first` count for
  ///     the silence, and the last element is the last day that can be asked about.
  ///   - silence: how many days an archive of changes has to cover before, by fuel; `nil` where the
  ///     source states every price of a day.
  package mutating func add(
    state: Int, covered: [Bool], from begin: Day, silence: [Int16: Int32]?
  ) {
    var run: Int32 = 0
    var runs: [Int32] = []
    for (offset, isCovered) in covered.enumerated() {
      run = isCovered ? run + 1 : 0
      if begin + offset >= first { runs.append(run) }
    }
    sources.append(Source(state: state, run: runs, silence: silence))
  }

  /// Whether a day of a state is settled for a fuel.
  package func contains(_ day: Day, of fuelID: Int16, in state: Int) -> Bool {
    let offset = day.sinceEpoch - first.sinceEpoch
    return sources.contains { source in
      guard source.state == state, source.run.indices.contains(offset), source.run[offset] > 0
      else { return false }
      return source.silence.map { source.run[offset] > $0[fuelID] ?? 0 } ?? true
    }
  }
}
