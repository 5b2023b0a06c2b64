/// The text of an HTML or SVG document. Interpolated values are escaped unless they are HTML
/// themselves, because names of stations come from outside and may contain anything.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
  package private(set) var text: String

  package init(stringLiteral value: String) { text = value }

  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// Collects a page. A text is escaped, and HTML is not.
  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity * 2)
    }

    /// Whether a byte is printable ASCII that needs no escape in HTML.
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
      // Most names need no escapes. A large site has a million of them, so this check comes first.
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
        // Control characters, which HTML does not allow, and characters that change the direction
        // of the text around them.
        case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{7F}"..."\u{9F}",
          "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
          text += "\u{FFFD}"
        default: text.unicodeScalars.append(character)
        }
      }
    }
  }
}
