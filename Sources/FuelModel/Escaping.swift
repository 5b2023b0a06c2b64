extension String {
  /// The text with some scalars written in another way. One by one: a mark behind a quote makes another letter of it for
  /// Swift, and the same quote for whoever reads the text as bytes.
  ///
  /// - Parameter replacement: what stands for a scalar; `nil`: itself.
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

// MARK: What texts become for whoever reads them

extension String {
  /// A field of comma-separated values, as RFC 4180 has it.
  package var asCSVField: String {
    utf8.contains { [0x2C, 0x22, 0x0A, 0x0D].contains($0) }
      ? "\"\(escaping { $0 == "\"" ? "\"\"" : nil })\"" : self
  }

  /// The text of a label in the Prometheus text format.
  package var asPrometheusLabel: String {
    escaping { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] }
  }

  /// A literal of JSON5 in single quotes.
  package var asJSON5Literal: String {
    "'" + escaping { ["\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"][$0] } + "'"
  }

  /// A literal of JSON.
  package var asJSONLiteral: String {
    "\""
      + escaping { scalar in
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case "\n": return "\\n"
        // The last two end a line where JSON is read as a script.
        case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
          let digits = String(scalar.value, radix: 16)
          return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: return nil
        }
      } + "\""
  }

  /// One line without anything that moves a cursor or turns the direction of letters.
  package var asTerminalLine: String {
    escaping { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: " "
      default: nil
      }
    }
  }
}
