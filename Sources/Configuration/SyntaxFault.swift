/// The position at which a file stops being valid JSON5. On Linux the platform's parser reports
/// that a file is not valid, but not where. This type finds the position once the parser has
/// refused a file. It also finds a key that occurs twice in one table, of which the parser would
/// drop a value.
struct SyntaxFault: Error, Equatable {
  /// The line, counted from 1.
  let line: Int
  /// The column in characters, counted from 1.
  let column: Int
  let expected: String
  let isRepeatedKey: Bool

  /// Finds the first fault of a text; `nil` where it finds none.
  init?(in bytes: [UInt8]) {
    var walk = Walk(bytes: bytes)
    do {
      try walk.file()
      return nil
    } catch {
      isRepeatedKey = error.isRepeatedKey
      let before = bytes[..<min(error.offset, bytes.count)]
      let lines = before.split(separator: 0x0A, omittingEmptySubsequences: false)
      line = lines.count
      column = String(decoding: lines.last ?? [], as: UTF8.self).count + 1
      expected = error.expected
    }
  }

  /// Returns the line of each entry of a list, counted from 1. What follows a fault is not read.
  static func linesOfEntries(in bytes: [UInt8]) -> [Int] {
    var walk = Walk(bytes: bytes)
    var (line, offset) = (1, 0)
    return walk.beginningsOfEntries().map { beginning in
      line += bytes[offset..<beginning].count { $0 == 0x0A }
      offset = beginning
      return line
    }
  }

  private struct Stop: Error {
    var offset: Int
    var expected: String
    var isRepeatedKey = false
  }

  /// Reads the text once, by the grammar of JSON5.
  private struct Walk {
    let bytes: [UInt8]
    var offset = 0
    var depth = 0

    mutating func file() throws(Stop) {
      try blanks()
      guard next == 0x7B || next == 0x5B else {
        throw stop(next == nil ? "{ ... }, but the file is empty" : "{ ... } or [ ... ], in JSON5")
      }
      try value()
      try blanks()
      if offset < bytes.count { throw stop("the end of the file") }
    }

    /// Reads a list, and returns the offset of each of its entries.
    mutating func beginningsOfEntries() -> [Int] {
      var beginnings: [Int] = []
      do {
        try blanks()
        guard take("[") else { return [] }
        try items(until: "]") { walk throws(Stop) in
          beginnings.append(walk.offset)
          try walk.value()
        }
      } catch {}
      return beginnings
    }

    private func stop(_ expected: String) -> Stop {
      let isShell = next == Character("#").asciiValue
      return Stop(
        offset: offset,
        expected: expected + (isShell ? "; a comment begins with //, not with #" : ""))
    }
    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Character) -> Bool {
      guard next == character.asciiValue else { return false }
      offset += 1
      return true
    }

    /// Skips blanks and comments.
    private mutating func blanks() throws(Stop) {
      while let byte = next {
        if byte <= 0x20 || byte >= 0x80 {
          offset += 1
        } else if bytes[offset...].starts(with: "//".utf8) {
          while next ?? 0x0A != 0x0A { offset += 1 }
        } else if bytes[offset...].starts(with: "/*".utf8) {
          let begin = offset
          offset += 2
          while !bytes[offset...].starts(with: "*/".utf8) {
            guard offset < bytes.count else {
              throw Stop(offset: begin, expected: "the end of the comment that begins here")
            }
            offset += 1
          }
          offset += 2
        } else {
          return
        }
      }
    }

    private mutating func value() throws(Stop) {
      try blanks()
      guard depth < 64 else { throw stop("fewer nested tables") }
      depth += 1
      defer { depth -= 1 }
      if take("{") {
        var keys: Set<ArraySlice<UInt8>> = []
        try items(until: "}") { walk throws(Stop) in
          let begin = walk.offset
          guard try keys.insert(walk.key()).inserted else {
            throw Stop(
              offset: begin, expected: "another key: this one is in the table already",
              isRepeatedKey: true)
          }
          try walk.blanks()
          guard walk.take(":") else { throw walk.stop("a colon after the key") }
          try walk.value()
        }
      } else if take("[") {
        try items(until: "]") { walk throws(Stop) in try walk.value() }
      } else if next == 0x22 || next == 0x27 {
        try text()
      } else {
        try plainValue()
      }
    }

    /// Reads a value without quotes, such as `true` or a number. A text without quotes is a fault.
    private mutating func plainValue() throws(Stop) {
      let begin = offset
      let word = String(decoding: self.word(), as: UTF8.self)
      guard !word.isEmpty else { throw stop("a value") }
      guard ["true", "false", "null"].contains(word) || Double(word) != nil else {
        throw Stop(
          offset: begin, expected: "a number, true, false, null or a text in straight quotes")
      }
    }

    /// Reads items with commas between them.
    private mutating func items(
      until end: Character, _ item: (inout Walk) throws(Stop) -> Void
    ) throws(Stop) {
      while true {
        try blanks()
        if take(end) { return }
        try item(&self)
        try blanks()
        if take(end) { return }
        guard take(",") else { throw stop("a comma or \(end)") }
      }
    }

    /// Reads a key, and returns it without its quotes.
    private mutating func key() throws(Stop) -> ArraySlice<UInt8> {
      let begin = offset
      if next == 0x22 || next == 0x27 {
        try text()
        return bytes[(begin + 1)..<(offset - 1)]
      }
      let key = word()
      if key.isEmpty { throw stop("a key or }") }
      return key
    }

    private mutating func text() throws(Stop) {
      let (begin, quote) = (offset, bytes[offset])
      offset += 1
      while let byte = next, byte != quote {
        guard byte != 0x0A else { break }
        offset += byte == 0x5C ? 2 : 1
      }
      guard next == quote else {
        throw Stop(offset: begin, expected: "the end of the text that begins here")
      }
      offset += 1
    }

    /// Reads a number, an unquoted key, or `true`, `false`, `null`.
    private mutating func word() -> ArraySlice<UInt8> {
      let begin = offset
      while let byte = next,
        byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter
          || (0x30...0x39).contains(byte) || [0x24, 0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
      { offset += 1 }
      return bytes[begin..<offset]
    }
  }
}
