package import FuelModel

/// The price days of some states over a range of dates: when each day begins, and when it ends or
/// how far it has passed.
package struct PriceCalendar: Sendable {
  /// One price day of one state.
  package struct PriceDay: Sendable {
    package var beginsAt: Instant
    /// The end of the day, or the instant up to which prices of the state are known if that is
    /// earlier.
    package var endsAt: Instant
    package var isEnded: Bool

    package init(beginsAt: Instant, endsAt: Instant, isEnded: Bool) {
      self.beginsAt = beginsAt
      self.endsAt = endsAt
      self.isEnded = isEnded
    }

    package var microseconds: Int64 { endsAt.microseconds - beginsAt.microseconds }
  }

  package let first: Day
  package let count: Int
  /// The days by state. Days that have not begun in a state are left out.
  package let days: [[PriceDay]]

  package var last: Day { first + (count - 1) }

  package init(first: Day, count: Int, days: [[PriceDay]]) {
    self.first = first
    self.count = count
    self.days = days
  }

  /// Whether a day has ended in a state, or in all states for `nil`.
  ///
  /// - Parameter day: its position in the calendar.
  func isEnded(_ day: Int, in state: Int?) -> Bool {
    (state.map { [$0] } ?? Array(days.indices)).allSatisfy { state in
      day < days[state].count && days[state][day].isEnded
    }
  }

  package var beginsAt: Instant { days.compactMap(\.first?.beginsAt).min() ?? .distantPast }
  package var endsAt: Instant { days.compactMap(\.last?.endsAt).max() ?? .distantPast }
}

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
