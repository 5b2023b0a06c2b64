/// When a piece of work must have ended, on a clock that nobody can set.
package struct Deadline: Sendable {
  /// `nil` means that there is no limit.
  package let instant: ContinuousClock.Instant?
  /// The seconds that the work was given, for messages.
  package let seconds: Int

  package static let never = Deadline(instant: nil, seconds: 0)

  private init(instant: ContinuousClock.Instant?, seconds: Int) {
    self.instant = instant
    self.seconds = seconds
  }

  /// Makes a deadline the given number of seconds after an instant; 0 means never.
  package init(seconds: Int, after began: ContinuousClock.Instant = .now) {
    self.init(instant: seconds == 0 ? nil : began + .seconds(seconds), seconds: seconds)
  }

  /// The milliseconds that are left: 0 where the deadline has passed, `nil` where there is none.
  package var millisecondsLeft: Int? {
    guard let instant else { return nil }
    let left = (instant - .now).components
    return max(0, Int(left.seconds) * 1_000 + Int(left.attoseconds / 1_000_000_000_000_000))
  }

  /// Returns the later of this deadline and the given number of seconds from now.
  func extended(toSeconds seconds: Int) -> Deadline {
    guard let left = millisecondsLeft, left < seconds * 1_000 else { return self }
    return Deadline(seconds: seconds)
  }
}
