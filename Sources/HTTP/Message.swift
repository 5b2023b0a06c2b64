package import Foundation

/// One request. Headers can hold credentials, so it never prints itself.
package struct Request: Sendable {
  package var method: String
  package var url: URL
  package var headers: [String: String]
  package var body: [UInt8]
  /// Less than the client's own limit where less time is left; `nil`: that limit.
  package var timeoutSeconds: Int?

  package init(
    method: String = "GET", url: URL, headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// One complete answer, any status.
package struct Response: Sendable {
  package var status: Int
  /// Names in lower case.
  package var headers: [String: String]
  package var body: [UInt8]

  package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Why there is no answer. Messages name the host, never a header.
package enum HTTPError: Error, Equatable, CustomStringConvertible {
  case unreachable(host: String, reason: String)
  case tooSlow(host: String, seconds: Int)
  case tooLarge(host: String, limit: Int)
  /// Its header says two things.
  case contradictory(host: String, what: String)
  case redirected(host: String, status: Int, target: String)
  case addressRefused(String)

  /// Whether the same request may work in a moment.
  package var mayHeal: Bool {
    switch self {
    case .unreachable, .tooSlow: true
    case .tooLarge, .contradictory, .redirected, .addressRefused: false
    }
  }

  /// Whether the server's answer itself is refused.
  package var isRefusal: Bool {
    switch self {
    case .tooLarge, .contradictory: true
    case .unreachable, .tooSlow, .redirected, .addressRefused: false
    }
  }

  package var description: String {
    switch self {
    case .unreachable(let host, let reason): "\(host) cannot be reached: \(reason)"
    case .tooSlow(let host, let seconds): "\(host) gave no complete answer within \(seconds) s"
    case .tooLarge(let host, let limit): "the answer of \(host) is larger than \(limit) bytes"
    case .contradictory(let host, let what): "the answer of \(host) contradicts itself: \(what)"
    case .redirected(let host, let status, let target):
      "\(host) redirects (\(status)) to \(target); redirects are not followed"
    case .addressRefused(let reason): "address refused: \(reason)"
    }
  }
}
