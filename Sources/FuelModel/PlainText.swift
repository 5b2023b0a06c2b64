import Foundation

extension String {
  /// The text as it may be stored and shown: composed form, single blanks, no control, bidi or
  /// zero-width characters, at most 200 characters.
  ///
  /// Names come from outside. A NUL would end a database parameter early, a line break would split
  /// a log line, and a bidi override makes one name look like another.
  package var plain: String {
    var result = String.UnicodeScalarView()
    var isBlankPending = false
    for scalar in precomposedStringWithCanonicalMapping.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .format, .privateUse, .surrogate, .unassigned: continue
      case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator: isBlankPending = true
      default:
        if isBlankPending, !result.isEmpty { result.append(" ") }
        isBlankPending = false
        result.append(scalar)
      }
    }
    return String(String(result).prefix(200))
  }

  /// `nil` where nothing is left of the text once it is plain.
  package var plainOrNil: String? {
    let text = plain
    return text.isEmpty ? nil : text
  }
}
