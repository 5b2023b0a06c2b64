/// One answer of a feed, exactly as it was received.
package struct Document: Hashable, Sendable {
  /// The name of the request, unique within a run: `prices`, `sites`, `today-1`. It consists of
  /// letters, digits and dashes.
  package var name: String
  package var bytes: [UInt8]
  /// When the last byte of the answer was received.
  package var fetchedAt: Instant

  package init(name: String, bytes: [UInt8], fetchedAt: Instant) {
    self.name = name
    self.bytes = bytes
    self.fetchedAt = fetchedAt
  }
}
