/// Text of an HTML or SVG document. What is interpolated is escaped, unless it is HTML itself: names
/// of stations come from outside and may hold anything.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
  package private(set) var text: String

  package init(stringLiteral value: String) { text = value }

  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  private init(text: String) { self.text = text }

  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity * 2)
    }

    /// Letters of ASCII that mean themselves.
    private static func isPlain(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x22, 0x26, 0x27, 0x3C, 0x3E: false
      default: (0x20...0x7E).contains(byte)
      }
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ value: HTML) { text += value.text }

    package mutating func appendInterpolation(_ parts: [HTML]) {
      for part in parts { text += part.text }
    }

    package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      let description = value.description
      // Most names need nothing, and there are a million of them on a large site.
      guard !description.utf8.allSatisfy(Self.isPlain) else {
        text += description
        return
      }
      for character in description.unicodeScalars {
        switch character {
        case "&": text += "&amp;"
        case "<": text += "&lt;"
        case ">": text += "&gt;"
        case "\"": text += "&quot;"
        case "'": text += "&#39;"
        // What HTML does not allow, and what turns the direction of the text around it.
        case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{7F}"..."\u{9F}",
          "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
          text += "\u{FFFD}"
        default: text.unicodeScalars.append(character)
        }
      }
    }
  }
}
