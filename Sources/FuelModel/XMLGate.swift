/// Checks the bytes of an XML document before a parser reads them. The bytes may arrive in pieces
/// of any size.
///
/// The gate protects a parser with four weaknesses. Its time grows with the square of the number of
/// attributes. It drops, fetches or expands without limit what a document type defines. It crashes
/// on a name that is not UTF-8. It crashes on a processing instruction without content (`<?a?>`).
///
/// The gate compares bytes, not strings: a combining mark after a word merges with the word's last
/// letter, so that a comparison of Swift strings would not find the word.
package struct XMLGate {
  private enum State {
    case text
    /// After `<`.
    case opening
    case tag
    case quoted(UInt8)
    /// After `<?`; `isNamed` is true once a blank has ended the name.
    case instruction(isNamed: Bool)
    /// After `<!`.
    case declaration
    case comment
    case data
  }

  private let mostElements: Int
  private var state = State.text
  /// The last eight bytes of the current markup; the newest is the lowest byte.
  private var recent: UInt64 = 0
  private var hasElement = false
  private var isEnd = false
  private var elements = 0
  private var depth = 0
  /// The length in bytes of the current text, tag or other markup.
  private var length = 0
  private var prologBytes = 0
  /// The bytes of the current instruction before the first element. It may be an XML declaration
  /// with an encoding in which all other bytes have another meaning.
  private var instruction: [UInt8] = []
  /// The first bytes of a scalar whose remaining bytes come with the next piece.
  private var pending: [UInt8] = []

  /// - Parameter elements: how many elements a document may have.
  package init(elements: Int) { mostElements = elements }

  /// Whether an element has begun and no scalar is incomplete.
  package var isWhole: Bool { hasElement && pending.isEmpty }

  /// Takes the next bytes of the document.
  ///
  /// - Returns: why the document is refused; `nil` where the parser may read these bytes.
  package mutating func refusal(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard isUTF8(bytes) else { return "not UTF-8" }
    for byte in bytes {
      if let reason = take(byte) { return reason }
    }
    return nil
  }

  private mutating func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let all = pending + bytes
    // A scalar has at most four bytes, so an incomplete one begins in the last three bytes.
    let end = (max(0, all.count - 3)..<all.count).last { all[$0] >= 0xC0 } ?? all.count
    let isCut = end < all.count && all.count - end < Self.length(ofScalarFrom: all[end])
    pending = isCut ? Array(all[end...]) : []
    return String(validating: isCut ? all[..<end] : all[...], as: UTF8.self) != nil
  }

  private static func length(ofScalarFrom byte: UInt8) -> Int {
    byte > 0xF4 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
  }

  /// Whether the declaration names UTF-8 or no encoding at all.
  private var isDeclaredUTF8: Bool {
    let words = String(decoding: instruction, as: UTF8.self).lowercased()
    guard let start = words.firstRange(of: "encoding") else { return true }
    let value = words[start.upperBound...].filter { !$0.isWhitespace }
    return ["=\"utf-8\"", "='utf-8'"].contains { value.hasPrefix($0) }
  }

  private mutating func take(_ byte: UInt8) -> String? {
    length += 1
    if !hasElement {
      prologBytes += 1
      guard prologBytes <= InputLimit.prologBytes.value else {
        return "no element in the first \(InputLimit.prologBytes.value) bytes"
      }
    }
    switch state {
    case .text: return inText(byte)
    case .opening: return inOpening(byte)
    case .tag: return inTag(byte)
    case .quoted(let quote):
      if byte == quote { state = .tag }
      return byte == UInt8(ascii: "<") ? Self.tagInTag : tooLong
    case .instruction(let isNamed): return inInstruction(byte, isNamed: isNamed)
    case .declaration: return inDeclaration(byte)
    case .comment:
      remember(byte)
      if recent & 0xFF_FFFF == Self.commentEnd { become(.text) }
    case .data:
      guard length <= InputLimit.textBytes.value else {
        return "a text of more than \(InputLimit.textBytes.value) bytes"
      }
      remember(byte)
      if recent & 0xFF_FFFF == Self.dataEnd { become(.text) }
    }
    return nil
  }

  private mutating func inText(_ byte: UInt8) -> String? {
    if byte == UInt8(ascii: "<") {
      become(.opening)
    } else if !hasElement {
      // Only a byte order mark of UTF-8 and blanks are allowed here.
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let isMark = prologBytes <= 3 && byte == mark[prologBytes - 1]
      guard isMark || [0x20, 0x09, 0x0A, 0x0D].contains(byte) else {
        return "text before the first element"
      }
    } else if length > InputLimit.textBytes.value {
      return "a text of more than \(InputLimit.textBytes.value) bytes"
    }
    return nil
  }

  private mutating func inOpening(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "?"): become(.instruction(isNamed: false))
    case UInt8(ascii: "!"): become(.declaration)
    default:
      isEnd = byte == UInt8(ascii: "/")
      if !isEnd { hasElement = true }
      state = .tag
      return inTag(byte)
    }
    return nil
  }

  private mutating func inInstruction(_ byte: UInt8, isNamed: Bool) -> String? {
    if [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
      state = .instruction(isNamed: true)
    } else if byte == UInt8(ascii: ">"), recent & 0xFF == UInt8(ascii: "?") {
      guard isNamed else { return "a processing instruction without content" }
      guard hasElement || isDeclaredUTF8 else {
        return "declares an encoding other than UTF-8"
      }
      instruction = []
      become(.text)
      return nil
    } else if byte == UInt8(ascii: ">"), instruction.starts(with: "xml".utf8) {
      // The parser ends a broken declaration here, and would read an instruction in what follows.
      return "an XML declaration that does not end with ?>"
    }
    if !hasElement { instruction.append(byte) }
    remember(byte)
    return tooLong
  }

  private mutating func inDeclaration(_ byte: UInt8) -> String? {
    remember(byte)
    if recent == Self.commentWord {
      become(.comment)
    } else if recent == Self.dataWord {
      become(.data)
    } else if recent != Self.commentWord >> 8, recent != Self.dataWord >> (8 * UInt64(7 - length)) {
      return "a document type is refused"
    }
    return nil
  }

  private mutating func inTag(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .quoted(byte)
    case UInt8(ascii: ">"):
      let isEmpty = recent & 0xFF == UInt8(ascii: "/")
      if isEnd {
        depth -= 1
      } else {
        elements += 1
        if !isEmpty { depth += 1 }
      }
      become(.text)
      guard elements <= mostElements else { return "more than \(mostElements) elements" }
      guard depth <= InputLimit.depth.value else {
        return "more than \(InputLimit.depth.value) nested elements"
      }
      return nil
    case UInt8(ascii: "<"): return Self.tagInTag
    default: break
    }
    remember(byte)
    return tooLong
  }

  // A parser that continues after its first error would read a tag where the gate sees an
  // attribute.
  private static let tagInTag = "a tag inside a tag"

  private var tooLong: String? {
    length <= InputLimit.tagBytes.value
      ? nil : "a tag of more than \(InputLimit.tagBytes.value) bytes"
  }

  private mutating func become(_ next: State) {
    state = next
    length = 0
    recent = 0
  }

  private mutating func remember(_ byte: UInt8) { recent = recent << 8 | UInt64(byte) }

  private static let commentWord: UInt64 = 0x2D2D  // --
  private static let commentEnd: UInt64 = 0x2D2D3E  // -->
  private static let dataWord: UInt64 = 0x5B_43_44_41_54_41_5B  // [CDATA[
  private static let dataEnd: UInt64 = 0x5D5D3E  // ]]>
}
