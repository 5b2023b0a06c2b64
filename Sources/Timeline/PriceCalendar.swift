package import FuelModel

/// The price days of some states over a run of dates: when each begins, and when it ends as far as it has
/// passed.
package struct PriceCalendar: Sendable {
  package struct PriceDay: Sendable {
    package var beginsAt: Instant
    /// Not later than what is known of the state.
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
  /// By state; only days that have begun there.
  package let days: [[PriceDay]]

  package var last: Day { first + (count - 1) }

  package init(first: Day, count: Int, days: [[PriceDay]]) {
    self.first = first
    self.count = count
    self.days = days
  }

  /// Whether a day has ended in a state, or in all of them.
  func isEnded(_ day: Int, in state: Int?) -> Bool {
    (state.map { [$0] } ?? Array(days.indices)).allSatisfy { state in
      day < days[state].count && days[state][day].isEnded
    }
  }

  package var beginsAt: Instant { days.compactMap(\.first?.beginsAt).min() ?? .distantPast }
  package var endsAt: Instant { days.compactMap(\.last?.endsAt).max() ?? .distantPast }
}
