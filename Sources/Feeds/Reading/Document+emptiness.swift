import FuelModel

extension Document {
  /// What an answer without content consists of, such as `{}` or nothing at all; `nil` for any
  /// other answer. White space and a byte order mark are no content.
  var emptiness: String? {
    let blanks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
    let text = String(
      decoding: bytes.lazy.filter { !blanks.contains($0) }.prefix(5), as: UTF8.self)
    return ["", "{}", "[]", "null", "\"\""].contains(text) ? text : nil
  }

  /// Returns what a message says about an empty answer.
  static func isEmpty(_ text: String) -> String {
    "the answer is empty" + (text.isEmpty ? "" : ": \(text)")
  }
}
