import Foundation

/// The only access to the network. Tests pass another client.
package struct Client: Sendable {
  package var send: @Sendable (Request) async throws(HTTPError) -> Response

  package init(send: @escaping @Sendable (Request) async throws(HTTPError) -> Response) {
    self.send = send
  }
}

/// The limits of one request.
package struct Limits: Sendable {
  /// Seconds from the first byte sent to the last byte received.
  package var timeoutSeconds: Int
  /// The size of the body after decompression.
  package var maxBodyBytes: Int
  /// Whether plain HTTP to this machine is allowed, for simulators and tests.
  package var allowLoopback: Bool

  package init(timeoutSeconds: Int, maxBodyBytes: Int, allowLoopback: Bool) {
    self.timeoutSeconds = timeoutSeconds
    self.maxBodyBytes = maxBodyBytes
    self.allowLoopback = allowLoopback
  }
}
