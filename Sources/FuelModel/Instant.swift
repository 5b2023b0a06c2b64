import Foundation

/// A moment in time in whole microseconds since 1970-01-01 00:00 UTC, the precision of PostgreSQL.
///
/// `Foundation.Date` holds a `Double`. The identity of a price includes its stamp, so stamps must
/// compare exactly.
package struct Instant: Hashable, Comparable, Sendable {
  package var microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }

  package init(seconds: Int64) { microseconds = seconds * 1_000_000 }

  /// Stands for an instant before all others.
  package static let distantPast = Instant(microseconds: .min / 4)
  /// Stands for an instant after all others.
  package static let distantFuture = Instant(microseconds: .max / 4)

  /// The current time, rounded down to the microsecond.
  package static var now: Instant {
    Instant(microseconds: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
  }

  package static func < (left: Instant, right: Instant) -> Bool {
    left.microseconds < right.microseconds
  }

  package static func + (left: Instant, right: Duration) -> Instant {
    let (seconds, attoseconds) = right.components
    return Instant(
      microseconds: left.microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }

  package static func - (left: Instant, right: Duration) -> Instant {
    left + (.zero - right)
  }

  /// Whole seconds since 1970-01-01 00:00 UTC, rounded down.
  package var seconds: Int64 { floorDivide(microseconds, by: 1_000_000) }

  /// The calendar day in UTC, and how many seconds of it have passed.
  package var utc: (day: Day, secondsOfDay: Int) {
    let day = floorDivide(seconds, by: 86_400)
    return (Day(sinceEpoch: Int(day)), Int(seconds - day * 86_400))
  }
}

/// Seconds as people count a wait: `42 s`, `12 min`, `5 h`, rounded up.
package func waitText(seconds: Int) -> String {
  switch seconds {
  case ...120: "\(seconds) s"
  case ...7_200: "\((seconds + 59) / 60) min"
  default: "\((seconds + 3_599) / 3_600) h"
  }
}

/// The source of the current time. Tests and replays pass their own clock.
package struct Clock: Sendable {
  package var now: @Sendable () -> Instant
  /// Whether it shows an instant that was given, such as by `--now`, and not the time of a machine,
  /// which can be wrong.
  package var isGiven = false

  package init(now: @escaping @Sendable () -> Instant) { self.now = now }

  package static let system = Clock { .now }

  /// Returns a clock that always shows the same instant.
  package static func fixed(_ instant: Instant) -> Clock {
    var clock = Clock { instant }
    clock.isGiven = true
    return clock
  }
}
