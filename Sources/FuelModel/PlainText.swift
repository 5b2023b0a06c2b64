import Foundation

extension String {
  /// The text in the form in which it is stored and shown: composed (NFC), with single blanks,
  /// without control, bidi or zero-width characters, with at most 200 scalars and at most four
  /// combining marks on a letter. A text that has this form already is returned unchanged.
  ///
  /// Names come from outside. A NUL would end a database parameter early, a line break would split
  /// a log line, and a bidi override makes one name look like another. The limits count scalars,
  /// not characters: one character may have megabytes of marks, and the time to compose them grows
  /// with the square of their number.
  package var plain: String {
    if isSimple, utf8.count <= InputLimit.scalars.value { return self }
    // Composition merges some marks with their letters, so more marks are kept before it than
    // after.
    let composed = unicodeScalars.kept(
      atMost: InputLimit.scalarsRead.value, marks: 4 * InputLimit.marks.value
    ).precomposedStringWithCanonicalMapping
    let text = composed.unicodeScalars.kept(
      atMost: InputLimit.scalars.value, marks: InputLimit.marks.value)
    return text.last == " " ? String(text.dropLast()) : text
  }

  /// The text in its plain form; `nil` where that form is empty.
  package var plainOrNil: String? {
    let text = plain
    return text.isEmpty ? nil : text
  }

  /// Returns as many whole scalars from the beginning as fit into the given number of bytes.
  package func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return String(self[..<end])
  }

  /// Returns one line of at most the given number of bytes, without characters that a terminal or a
  /// database would interpret.
  package func line(ofBytes limit: Int) -> String {
    isSimple && utf8.count <= limit
      ? self : cut(toBytes: limit).unicodeScalars.kept(atMost: limit, marks: limit)
  }
}

extension String {
  /// Whether the text is printable ASCII without a leading, trailing or double blank, as most are.
  private var isSimple: Bool {
    var previous = UInt8(ascii: " ")
    for byte in utf8 {
      guard (0x20...0x7E).contains(byte), byte != 0x20 || previous != 0x20 else { return false }
      previous = byte
    }
    return previous != 0x20 || utf8.isEmpty
  }
}

extension String.UnicodeScalarView {
  /// Replaces separators and control characters by single blanks, and removes invisible scalars and
  /// surplus marks.
  fileprivate func kept(atMost limit: Int, marks mostMarks: Int) -> String {
    var result = String.UnicodeScalarView()
    var (read, count, marks) = (0, 0, 0)
    var isBlankPending = false
    for scalar in self {
      read += 1
      guard count < limit, read <= InputLimit.scalarsRead.value else { break }
      switch scalar.properties.generalCategory {
      case .format, .privateUse, .surrogate, .unassigned: continue
      case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator:
        isBlankPending = true
        continue
      case .nonspacingMark, .spacingMark, .enclosingMark:
        marks += 1
        if marks > mostMarks { continue }
      default: marks = 0
      }
      if isBlankPending, count > 0 {
        // Append the blank together with the scalar after it, or neither.
        guard count + 2 <= limit else { break }
        result.append(" ")
        count += 1
      }
      isBlankPending = false
      result.append(scalar)
      count += 1
    }
    return String(result)
  }
}
