/// When a work must have ended, by a clock that nobody can set.
package struct Deadline: Sendable {
  /// `nil`: it may take as long as it takes.
  package let instant: ContinuousClock.Instant?
  /// How long the work was given, for messages.
  package let seconds: Int

  package static let never = Deadline(instant: nil, seconds: 0)

  private init(instant: ContinuousClock.Instant?, seconds: Int) {
    self.instant = instant
    self.seconds = seconds
  }

  /// So many seconds after an instant; 0: never.
  package init(seconds: Int, after began: ContinuousClock.Instant = .now) {
    self.init(instant: seconds == 0 ? nil : began + .seconds(seconds), seconds: seconds)
  }

  /// How many milliseconds are left: 0 where it has passed, `nil` where there is no end.
  package var millisecondsLeft: Int? {
    guard let instant else { return nil }
    let left = (instant - .now).components
    return max(0, Int(left.seconds) * 1_000 + Int(left.attoseconds / 1_000_000_000_000_000))
  }

  /// The later of this and so many seconds from now.
  func extended(toSeconds seconds: Int) -> Deadline {
    guard let left = millisecondsLeft, left < seconds * 1_000 else { return self }
    return Deadline(seconds: seconds)
  }
}
