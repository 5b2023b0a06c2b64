/// Changes input at random, by a seed, towards what readers stumble over.
package struct Mutation {
  private var state: UInt64

  package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  private mutating func number(below limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(max(1, limit)))
  }

  /// What stands for nothing, for too much, or for something else.
  private static let words: [[UInt8]] =
    [
      "", "\"", "\\", "{", "}", "[", "]", ",", ":", "null", "true", "-1", "0", "1e999",
      "99999999999999999999", "1.5",
      "189.9", "\\u0000", "\\ud800", "\\udc00\\ud800", "\u{301}", "\u{202E}", "\u{0}", "\u{FEFF}",
      "<", ">", "&", "&a;",
      "<!DOCTYPE a>", "<![CDATA[", "]]>", "<!--", "-->", "&#0;", "&#x110000;", "\n", "\r", "\"\"",
      "\t", ";",
      "2024-02-30", "31/12/9999 24:00", "0001-01-01T00:00:00Z", "NaN", "Infinity", "\u{1F600}",
    ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5], [0x80]]

  /// One to four changes of some input.
  package mutating func change(_ seed: [UInt8]) -> [UInt8] {
    var bytes = seed
    for _ in 0...number(below: 4) {
      let offset = number(below: bytes.count + 1)
      let length = min(number(below: 2 + number(below: 40)), bytes.count - offset)
      switch number(below: 24) {
      case 0...4 where !bytes.isEmpty:
        bytes[min(offset, bytes.count - 1)] ^= 1 << UInt8(number(below: 8))
      case 5...7: bytes.removeSubrange(offset..<offset + length)
      case 8...13: bytes.insert(contentsOf: Self.words[number(below: Self.words.count)], at: offset)
      case 14...18:
        bytes.replaceSubrange(
          offset..<offset + length, with: Self.words[number(below: Self.words.count)])
      case 19...20:
        bytes.insert(
          contentsOf: Array(bytes[offset..<offset + length]), at: number(below: bytes.count + 1))
      case 21...22:
        let other = number(below: bytes.count + 1)
        let piece = Array(bytes[other..<min(bytes.count, other + 200)])
        bytes.insert(contentsOf: piece, at: offset)
      default: bytes.removeSubrange(offset..<bytes.count)
      }
    }
    return bytes
  }
}
