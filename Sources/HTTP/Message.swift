package import Foundation

/// One request. Its headers, body and address can contain credentials, so it prints as method and host.
package struct Request: Sendable {
  package var method: String
  package var url: URL
  package var headers: [String: String]
  package var body: [UInt8]
  /// A limit below the client's own, where less time is left; `nil` means the client's limit.
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

extension Request: CustomStringConvertible {
  package var description: String { "\(method) \(url.host ?? "")" }
}

/// One complete answer with any status.
package struct Response: Sendable {
  package var status: Int
  /// The headers by name, in lower case.
  package var headers: [String: String] = [:]
  package var body: [UInt8] = []
}

/// Why there is no answer. Messages name the host, but never a header.
package enum HTTPError: Error, Equatable, CustomStringConvertible {
  case unreachable(host: String, reason: String)
  case tooSlow(host: String, seconds: Int)
  case tooLarge(host: String, limit: Int)
  /// The headers of the answer contradict each other.
  case contradictory(host: String, what: String)
  case redirected(host: String, status: Int, target: String)
  case addressRefused(String)

  /// Whether the same request may succeed a moment later.
  package var mayHeal: Bool {
    switch self {
    case .unreachable, .tooSlow: true
    case .tooLarge, .contradictory, .redirected, .addressRefused: false
    }
  }

  /// Whether the content of the answer is refused: it is too large or contradicts itself.
  package var isRefusal: Bool {
    switch self {
    case .tooLarge, .contradictory: true
    case .unreachable, .tooSlow, .redirected, .addressRefused: false
    }
  }

  package var description: String {
    switch self {
    case .unreachable(let host, let reason): "no whole answer from \(host): \(reason)"
    case .tooSlow(let host, let seconds): "\(host) gave no complete answer within \(seconds) s"
    case .tooLarge(let host, let limit): "the answer of \(host) is larger than \(limit) bytes"
    case .contradictory(let host, let what): "the answer of \(host) contradicts itself: \(what)"
    case .redirected(let host, let status, let target):
      "\(host) redirects (\(status)) to \(target); redirects are not followed: if the provider has moved, "
        + "set the new address as 'url' of the feed"
    case .addressRefused(let reason): "address refused: \(reason)"
    }
  }
}
