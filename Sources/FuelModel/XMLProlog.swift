/// What may stand before the first element of an XML document: a declaration, comments, instructions. A document type
/// may not: it can define entities, which parsers leave out, fetch or blow up.
///
/// Compared by bytes: a mark behind a word makes another letter of its last one, and hides it from any comparison of
/// texts.
package enum XMLProlog {
  package enum Finding: Equatable, Sendable {
    /// The first element begins here.
    case element(at: Int)
    case refused(String)
    /// It goes on behind these bytes.
    case unfinished
  }

  /// - Parameter bytes: the document from its beginning, as many as there are.
  package static func check(_ bytes: UnsafeBufferPointer<UInt8>) -> Finding {
    var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func stands(_ text: StaticString) -> Bool {
      index + text.utf8CodeUnitCount <= bytes.count
        && (0..<text.utf8CodeUnitCount).allSatisfy { bytes[index + $0] == text.utf8Start[$0] }
    }
    func skip(to end: StaticString) -> Bool {
      while index < bytes.count {
        if stands(end) {
          index += end.utf8CodeUnitCount
          return true
        }
        index += 1
      }
      return false
    }
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      case UInt8(ascii: "<"):
        guard index + 3 < bytes.count else { return .unfinished }
        if stands("<?") {
          guard skip(to: "?>") else { return .unfinished }
        } else if stands("<!--") {
          guard skip(to: "-->") else { return .unfinished }
        } else if bytes[index + 1] == UInt8(ascii: "!") {
          return .refused("a document type is refused")
        } else {
          return .element(at: index)
        }
      default: return .refused("text before the first element")
      }
    }
    return .unfinished
  }
}
