import FuelModel

/// Why a fetch, a document or a whole run was refused. Messages name documents, never secrets.
package enum FeedError: Error, Equatable, CustomStringConvertible {
  /// The provider could not be reached, or answered with an error, after all attempts. `status` is
  /// that of its answer; `nil` where none came.
  case unavailable(document: String, reason: String, status: Int? = nil)
  /// The address of the feed is none that may be called.
  case addressRefused(document: String, reason: String)
  /// The provider denies access (401, 403, or 400 for a refused password). `keys` are the variables
  /// or credentials that the keys came from.
  case notAllowed(document: String, status: Int, keys: [String] = [])
  /// The provider asked for a pause that lasts beyond the end of this run.
  case comeBack(document: String, afterSeconds: Int)
  /// The deadline of this run passed before the provider had answered.
  case outOfTime(document: String)
  /// The answer does not have the form that the provider's interface specifies.
  case malformed(document: String, reason: String)
  /// Each document is valid, but together they are not credible.
  case refused(String)

  package var description: String {
    switch self {
    case .unavailable(let document, let reason, _): "\(document): \(reason)"
    case .addressRefused(let document, let reason):
      "\(document): \(reason); 'url' in the file of the feed or the variable that ends with _URL "
        + "sets it, and allowLoopback in bowser.json5 admits a simulator on this machine"
    case .notAllowed(let document, let status, let keys):
      "\(document): the provider refused the key"
        + (keys.isEmpty ? "" : " of \(keys.joined(separator: " and "))")
        + " (\(status)); check that it is valid and active"
    case .comeBack(let document, let seconds):
      "\(document): the provider asks for a pause of \(waitText(seconds: seconds))"
    case .outOfTime(let document):
      "\(document): the deadline passed before the provider had answered; --deadline, or "
        + "deadlineSeconds in bowser.json5, sets a later one"
    case .malformed(let document, let reason): "\(document): \(reason)"
    case .refused(let reason): reason
    }
  }
}
