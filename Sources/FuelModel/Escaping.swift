extension String {
  /// Returns the text with some scalars replaced. It replaces scalars, not characters: a quote and
  /// a combining mark after it are one character to Swift, but two separate things to a reader of
  /// bytes, for whom that quote still is a quote.
  ///
  /// - Parameter replacement: returns the text that replaces a scalar; `nil` keeps the scalar.
  package func escaping(_ replacement: (Unicode.Scalar) -> String?) -> String {
    var text = ""
    text.reserveCapacity(utf8.count + 2)
    for scalar in unicodeScalars {
      if let replaced = replacement(scalar) {
        text += replaced
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

// MARK: The forms of a text in other formats

extension String {
  /// The text as a field of comma-separated values (RFC 4180).
  package var asCSVField: String {
    utf8.contains { [0x2C, 0x22, 0x0A, 0x0D].contains($0) }
      ? "\"\(escaping { $0 == "\"" ? "\"\"" : nil })\"" : self
  }

  /// The text as a label's value in the Prometheus text format, without the outer quotes.
  package var asPrometheusLabel: String {
    escaping { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] }
  }

  /// The text as a JSON5 literal in single quotes.
  package var asJSON5Literal: String {
    "'" + escaping { ["\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"][$0] } + "'"
  }

  /// The text as a JSON literal.
  package var asJSONLiteral: String {
    // Most texts need no escapes, and a large site has a million of them.
    guard !utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
      return "\"\(self)\""
    }
    return "\""
      + escaping { scalar in
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case "\n": return "\\n"
        // JavaScript takes the last two, U+2028 and U+2029, for ends of a line.
        case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
          let digits = String(scalar.value, radix: 16)
          return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: return nil
        }
      } + "\""
  }

  /// The text as one line for a terminal: blanks replace everything that moves the cursor or
  /// changes the direction of writing.
  package var asTerminalLine: String {
    escaping { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: " "
      default: nil
      }
    }
  }
}
