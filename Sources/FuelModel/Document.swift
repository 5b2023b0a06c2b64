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

extension Document {
  /// What an answer without content consists of, such as `{}` or nothing at all; `nil` for any
  /// other answer. White space and a byte order mark are no content.
  package var emptiness: String? {
    let blanks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
    let text = String(
      decoding: bytes.lazy.filter { !blanks.contains($0) }.prefix(5), as: UTF8.self)
    return ["", "{}", "[]", "null", "\"\""].contains(text) ? text : nil
  }

  /// Returns what a message says about an empty answer.
  package static func isEmpty(_ text: String) -> String {
    "the answer is empty" + (text.isEmpty ? "" : ": \(text)")
  }
}
