/// The place at which a file stops being valid JSON5.
struct SyntaxFault: Error, Equatable {
  /// The line, counted from 1.
  let line: Int
  /// The column in characters, counted from 1.
  let column: Int
  let expected: String
}

/// Reads a file by the grammar of JSON5. On Linux the platform's parser says that a file is not valid,
/// but not where, and drops a value where a key occurs twice in one table.
struct JSON5 {
  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0
  private var entries: [Int] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The line of each entry that was read of a file that is a list, counted from 1.
  var lines: [Int] { entries.map { line(at: $0) } }

  mutating func file() throws(SyntaxFault) -> Value {
    try blanks()
    guard next == 0x7B || next == 0x5B else {
      throw fault(next == nil ? "{ ... }, but the file is empty" : "{ ... } or [ ... ], in JSON5")
    }
    let value = try value()
    try blanks()
    if offset < bytes.count { throw fault("the end of the file") }
    return value
  }

  private func line(at offset: Int) -> Int { 1 + bytes[..<offset].count { $0 == 0x0A } }

  private func fault(_ expected: String, at place: Int? = nil) -> SyntaxFault {
    let place = min(place ?? offset, bytes.count)
    let before = bytes[..<place].split(separator: 0x0A, omittingEmptySubsequences: false)
    let isShell = next == Character("#").asciiValue
    return SyntaxFault(
      line: before.count, column: String(decoding: before.last ?? [], as: UTF8.self).count + 1,
      expected: expected + (isShell ? "; a comment begins with //, not with #" : ""))
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character.asciiValue else { return false }
    offset += 1
    return true
  }

  /// Skips blanks and comments.
  private mutating func blanks() throws(SyntaxFault) {
    while let byte = next {
      if byte <= 0x20 || byte >= 0x80 {
        offset += 1
      } else if bytes[offset...].starts(with: Array("//".utf8)) {
        while next ?? 0x0A != 0x0A { offset += 1 }
      } else if bytes[offset...].starts(with: Array("/*".utf8)) {
        let begin = offset
        offset += 2
        while !bytes[offset...].starts(with: Array("*/".utf8)) {
          guard offset < bytes.count else {
            throw fault("the end of the comment that begins here", at: begin)
          }
          offset += 1
        }
        offset += 2
      } else {
        return
      }
    }
  }

  private mutating func value() throws(SyntaxFault) -> Value {
    try blanks()
    guard depth < 64 else { throw fault("fewer nested tables") }
    depth += 1
    defer { depth -= 1 }
    if take("{") {
      var table: [String: Value] = [:]
      try items(until: "}") { file throws(SyntaxFault) in
        let begin = file.offset
        let key = try file.key()
        guard table[key] == nil else {
          throw file.fault("another key: this one is in the table already", at: begin)
        }
        try file.blanks()
        guard file.take(":") else { throw file.fault("a colon after the key") }
        table[key] = try file.value()
      }
      return .table(table)
    }
    if take("[") {
      var list: [Value] = []
      try items(until: "]") { file throws(SyntaxFault) in
        if file.depth == 1 { file.entries.append(file.offset) }
        list.append(try file.value())
      }
      return .list(list)
    }
    return isAtText ? .text(try text()) : try plainValue()
  }

  /// Reads a value without quotes, such as `true` or a number. A text without quotes is a fault.
  private mutating func plainValue() throws(SyntaxFault) -> Value {
    let begin = offset
    let word = word()
    if word.isEmpty { throw fault("a value") }
    if word == "null" { return .null }
    if let value = Bool(word) { return .boolean(value) }
    guard let number = Double(word) else {
      throw fault("a number, true, false, null or a text in straight quotes", at: begin)
    }
    return .number(number)
  }

  /// Reads items with commas between them. The bracket before the first one has just been read.
  private mutating func items(
    until end: Character, _ item: (inout JSON5) throws(SyntaxFault) -> Void
  ) throws(SyntaxFault) {
    let begin = offset - 1
    while true {
      try blanks()
      if take(end) { return }
      if isUnclosed(end) { throw unclosed(end, since: begin) }
      try item(&self)
      try blanks()
      if take(end) { return }
      if isUnclosed(end) { throw unclosed(end, since: begin) }
      guard take(",") else { throw fault("a comma or \(end)") }
    }
  }

  /// Whether what comes next can only follow a closing bracket that is missing, as in an example of
  /// which half is a comment.
  private func isUnclosed(_ end: Character) -> Bool {
    switch next {
    case nil: true
    case 0x7B, 0x5B, 0x5D: end == "}"
    case 0x7D: end == "]"
    default: false
    }
  }

  private func unclosed(_ end: Character, since begin: Int) -> SyntaxFault {
    fault("a closing \(end) of the \(end == "}" ? "{" : "[") in line \(line(at: begin))")
  }

  private mutating func key() throws(SyntaxFault) -> String {
    if isAtText { return try text() }
    let key = word()
    if key.isEmpty { throw fault("a key") }
    return key
  }

  private var isAtText: Bool { next == 0x22 || next == 0x27 }

  /// Reads a text in quotes.
  private mutating func text() throws(SyntaxFault) -> String {
    let (begin, quote) = (offset, bytes[offset])
    var text = ""
    offset += 1
    while let byte = next, byte != quote, byte != 0x0A {
      if byte == 0x5C {
        text.unicodeScalars += escaped()
      } else {
        let part = bytes[offset...].prefix { $0 != quote && $0 != 0x5C && $0 != 0x0A }
        text += String(decoding: part, as: UTF8.self)
        offset = part.endIndex
      }
    }
    guard next == quote else { throw fault("the end of the text that begins here", at: begin) }
    offset += 1
    return text
  }

  /// Reads a backslash and the character that it escapes. At the end of a line it escapes nothing.
  private mutating func escaped() -> [Unicode.Scalar] {
    let letter = offset + 1 < bytes.count ? bytes[offset + 1] : 0x0A
    // A letter of several bytes follows.
    if letter >= 0x80 {
      offset += 1
      return []
    }
    let digits = letter == UInt8(ascii: "u") ? 4 : letter == UInt8(ascii: "x") ? 2 : 0
    offset = min(offset + 2 + digits, bytes.count)
    if digits > 0 {
      let number = UInt32(
        String(decoding: bytes[..<offset].suffix(digits), as: UTF8.self), radix: 16)
      return [number.flatMap { Unicode.Scalar($0) } ?? "\u{FFFD}"]
    }
    switch letter {
    case UInt8(ascii: "n"): return ["\n"]
    case UInt8(ascii: "r"): return ["\r"]
    case UInt8(ascii: "t"): return ["\t"]
    case 0x0A: return []
    default: return [Unicode.Scalar(letter)]
    }
  }

  /// Reads a number, an unquoted key, or `true`, `false`, `null`.
  private mutating func word() -> String {
    let begin = offset
    while let byte = next,
      byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter
        || (0x30...0x39).contains(byte) || [0x24, 0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
    { offset += 1 }
    return String(decoding: bytes[begin..<offset], as: UTF8.self)
  }
}
