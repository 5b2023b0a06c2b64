package import FuelModel

/// Why a run did not begin, or stopped before it stored anything.
package enum IngestError: Error, Equatable, CustomStringConvertible {
  /// Another process works on this feed.
  case busy
  /// The provider asked for no call before an instant, or one of its limits forbids it.
  case notBefore(Instant, now: Instant)
  /// The calls of this month are spent.
  case quotaSpent(allowed: Int)
  /// The feed is disabled, by a variable or a key of a file.
  case off(by: String)
  /// The provider's clock is ahead of this machine's by this many seconds (behind it if negative),
  /// and this machine's clock is the wrong one.
  case clockIsWrong(seconds: Int)
  /// The database server's clock is ahead of this machine's by this many seconds (behind it if
  /// negative).
  case clocksDiffer(seconds: Int)
  /// A recording cannot be read or written.
  case recording(path: String, reason: String)

  package var description: String {
    switch self {
    case .busy: "another run of this feed is under way"
    case .notBefore(let instant, let now):
      "the next request is allowed in "
        + waitText(seconds: Int((instant.microseconds - now.microseconds + 999_999) / 1_000_000))
    case .quotaSpent(let allowed): "the \(allowed) requests of this month are used up"
    case .off(let place): "switched off by \(place): set it to true"
    case .clockIsWrong(let seconds):
      "this machine's clock is wrong: the provider's clock is \(abs(seconds)) s "
        + "\(seconds > 0 ? "ahead of" : "behind") it; nothing was stored"
    case .clocksDiffer(let seconds):
      "the database server's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") this "
        + "machine's: set both by NTP; nothing was stored"
    case .recording(let path, let reason): "\(path): \(reason)"
    }
  }
}
