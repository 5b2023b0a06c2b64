package import FuelModel

/// Why a run did not begin.
package enum IngestError: Error, Equatable, CustomStringConvertible {
  /// Another process works on this feed.
  case busy
  /// The provider, or its rule, wants no call before this instant.
  case notBefore(Instant)
  /// The month's calls are spent.
  case quotaSpent(allowed: Int)
  /// The feed is switched off.
  case off
  /// The provider's clock stands this many seconds after ours, and ours is the wrong one.
  case clockIsWrong(seconds: Int)
  /// A recording cannot be read or written.
  case recording(path: String, reason: String)

  package var description: String {
    switch self {
    case .busy: "another run of this feed is under way"
    case .notBefore(let instant): "no call before \(instant), by the provider's rule"
    case .quotaSpent(let allowed): "the \(allowed) calls of this month are spent"
    case .off: "switched off in the configuration"
    case .clockIsWrong(let seconds):
      "this machine's clock is wrong: the provider's stands \(abs(seconds)) s "
        + "\(seconds > 0 ? "after" : "before") it; nothing was stored"
    case .recording(let path, let reason): "\(path): \(reason)"
    }
  }
}
