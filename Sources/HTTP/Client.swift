import Foundation

/// The one door to the network. A test hands in another.
package struct Client: Sendable {
  package var send: @Sendable (Request) async throws(HTTPError) -> Response

  package init(send: @escaping @Sendable (Request) async throws(HTTPError) -> Response) {
    self.send = send
  }
}

/// What one request may cost.
package struct Limits: Sendable {
  /// From the first byte sent to the last byte received.
  package var timeoutSeconds: Int
  /// Of the body, after decompression.
  package var maxBodyBytes: Int
  /// Whether plain HTTP to this machine is allowed, for simulators and tests.
  package var allowLoopback: Bool

  package init(timeoutSeconds: Int, maxBodyBytes: Int, allowLoopback: Bool) {
    self.timeoutSeconds = timeoutSeconds
    self.maxBodyBytes = maxBodyBytes
    self.allowLoopback = allowLoopback
  }
}
