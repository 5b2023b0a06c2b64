/// One answer of a feed, exactly as it came.
package struct Document: Hashable, Sendable {
  /// What was asked for, unique within a run: `prices`, `sites`, `today-1`. Letters, digits, dashes.
  package var name: String
  package var bytes: [UInt8]
  /// When the answer was complete.
  package var fetchedAt: Instant

  package init(name: String, bytes: [UInt8], fetchedAt: Instant) {
    self.name = name
    self.bytes = bytes
    self.fetchedAt = fetchedAt
  }
}
