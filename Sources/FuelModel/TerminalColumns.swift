extension String {
  /// The number of columns that the text takes in a terminal.
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text, or as much of its beginning as fits into a number of columns, with an ellipsis in
  /// place of the rest. A number is kept whole or left out, because a part of it is another number.
  package func shortened(to width: Int) -> String {
    guard columns > width else { return self }
    var kept: [Character] = []
    var used = 1
    for character in self {
      used += character.columns
      guard used <= width else { break }
      kept.append(character)
    }
    // The first character that is left out may continue a number.
    if let next = dropFirst(kept.count).first, next.isPartOfNumber {
      while let last = kept.last, last.isPartOfNumber { kept.removeLast() }
    }
    while let last = kept.last, last == " " || last == "," { kept.removeLast() }
    return String(kept) + "…"
  }
}

extension Character {
  /// Two for the wide characters of East Asia and for pictures, one for all others.
  fileprivate var columns: Int {
    switch unicodeScalars.first?.value ?? 0 {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x2_0000...0x3_FFFD:
      2
    default: 1
    }
  }

  fileprivate var isPartOfNumber: Bool { isNumber || self == "." || self == "," }
}
