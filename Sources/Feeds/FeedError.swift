/// Why a fetch, a document or a whole run was refused. Messages name feed documents, never secrets.
package enum FeedError: Error, Equatable, CustomStringConvertible {
  /// The provider could not be reached or answered with a fault, after all retries.
  case unavailable(document: String, reason: String)
  /// The provider does not let us in (401, 403).
  case notAllowed(document: String, status: Int)
  /// The provider asked us to stay away for longer than this run may last.
  case comeBack(document: String, afterSeconds: Int)
  /// The answer is not what the provider's interface promises.
  case malformed(document: String, reason: String)
  /// The documents are sound one by one but cannot be believed as a whole.
  case refused(String)

  package var description: String {
    switch self {
    case .unavailable(let document, let reason): "\(document): \(reason)"
    case .notAllowed(let document, let status):
      "\(document): the provider refused the key (\(status)); check that it is valid and active"
    case .comeBack(let document, let seconds):
      "\(document): the provider asks to wait \(seconds) s"
    case .malformed(let document, let reason): "\(document): \(reason)"
    case .refused(let reason): reason
    }
  }
}
