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

/// A day of a fuel in a state of which nothing that matters is unknown, so that an average over it can
/// be complete.
///
/// A feed and an archive of whole days state every price of a day that they cover. An archive of
/// changes is silent about a station until its price changes. After a gap, those that have changed
/// are not like those that have not, however many they are. So a day counts only where the archive
/// has covered the days before it for as long as a price of the fuel is believed: whatever has not
/// changed by then would have lapsed anyway.
package struct SettledDay: Hashable, Sendable {
  private let day: Day
  private let fuelID: Int16
  private let state: Int

  /// - Parameter state: the position of the state among the states of the calendar.
  package init(_ day: Day, fuelID: Int16, state: Int) {
    self.day = day
    self.fuelID = fuelID
    self.state = state
  }
}
