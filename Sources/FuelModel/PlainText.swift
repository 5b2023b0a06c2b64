import Foundation

extension String {
  /// The text as it may be stored and shown: composed form, single blanks, no control, bidi or
  /// zero-width characters, at most 200 scalars, at most four marks on a letter. Plain text stays as it is.
  ///
  /// Names come from outside. A NUL would end a database parameter early, a line break would split
  /// a log line, and a bidi override makes one name look like another. Scalars and not characters are counted: one
  /// character may have megabytes of marks, and composing them takes the square of their number.
  package var plain: String {
    if isSimple, utf8.count <= InputLimit.scalars.value { return self }
    // Marks that are composed with their letters are none afterwards: a few more are let through before.
    let composed = unicodeScalars.kept(
      atMost: InputLimit.scalarsRead.value, marks: 4 * InputLimit.marks.value
    ).precomposedStringWithCanonicalMapping
    let text = composed.unicodeScalars.kept(
      atMost: InputLimit.scalars.value, marks: InputLimit.marks.value)
    return text.last == " " ? String(text.dropLast()) : text
  }

  /// `nil` where nothing is left of the text once it is plain.
  package var plainOrNil: String? {
    let text = plain
    return text.isEmpty ? nil : text
  }

  /// The first so many bytes, whole scalars.
  package func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end > startIndex, UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
    return String(self[..<end])
  }

  /// One line of at most so many bytes, without what a terminal or a database would take for something else.
  package func line(ofBytes limit: Int) -> String {
    isSimple && utf8.count <= limit
      ? self : cut(toBytes: limit).unicodeScalars.kept(atMost: limit, marks: limit)
  }
}

extension String {
  /// Whether it has nothing but signs of ASCII and single blanks between them, as most texts do.
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
  /// Single blanks for whatever separates, nothing for what does not show.
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
        // A blank and what it separates, or neither.
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
