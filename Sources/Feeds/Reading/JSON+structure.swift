import FuelModel

/// Refuses what the JSON decoder accepts silently, or would take too long to read: a key that
/// occurs twice in one object, however it is escaped (the decoder takes the first one, the database
/// the last), a comma before a closing bracket, and anything beyond `InputLimit`. Reads the bytes
/// once.
///
/// Checks the structure only. The decoder determines whether the text is JSON at all.
///
/// - Parameter wanted: the lists to find.
/// - Returns: where these lists are.
@discardableResult
func checkStructure(
  of document: Document, lists wanted: JSONLists.Wanted? = nil
) throws(FeedError) -> [JSONLists.Place] {
  // A list that is the document may be empty: its reader decides.
  if let empty = document.emptiness, empty != "[]" || wanted == nil || wanted?.keys != nil {
    throw .malformed(document: document.name, reason: Document.isEmpty(empty))
  }
  let (reason, lists) = document.bytes.withUnsafeBufferPointer { bytes in
    var check = StructureCheck(bytes: bytes, wanted: wanted)
    return (check.fault(), check.lists)
  }
  if let reason { throw .malformed(document: document.name, reason: reason) }
  return lists
}

private struct StructureCheck {
  let bytes: UnsafeBufferPointer<UInt8>
  let wanted: JSONLists.Wanted?

  private struct Frame {
    var isObject: Bool
    var awaitsKey: Bool
    var keys: [Range<Int>] = []
    // The same keys as a set, for quick search. Filled only where there are many or escaped keys.
    var known: Set<[UInt8]> = []
  }

  private var frames: [Frame] = []
  private var values = 0
  /// The wanted lists that have begun, in their order.
  private(set) var lists: [JSONLists.Place] = []
  /// How many brackets are open inside the newest of these lists; `nil` outside of all.
  private var listDepth: Int?

  init(bytes: UnsafeBufferPointer<UInt8>, wanted: JSONLists.Wanted?) {
    self.bytes = bytes
    self.wanted = wanted
  }

  /// Returns the first fault; `nil` where there is none.
  mutating func fault() -> String? {
    var previous: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D:
        index += 1
        continue
      case UInt8(ascii: "\""):
        let start = index + 1
        index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        let text = start..<min(index, bytes.count)
        guard text.count <= InputLimit.textBytes.value else {
          return "a text of more than \(InputLimit.textBytes.value) bytes"
        }
        if let top = frames.indices.last, frames[top].isObject, frames[top].awaitsKey {
          if let fault = take(key: text, of: top) { return fault }
          frames[top].awaitsKey = false
        } else if let fault = countValue() {
          return fault
        }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard frames.count < InputLimit.depth.value else { return "nested too deeply" }
        if let fault = countValue() { return fault }
        let isObject = byte == UInt8(ascii: "{")
        if !isObject { beginList(at: index + 1) }
        frames.append(Frame(isObject: isObject, awaitsKey: isObject))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard previous != UInt8(ascii: ",") else { return "a comma before a closing bracket" }
        if frames.count == listDepth { endList(at: index) }
        _ = frames.popLast()
      case UInt8(ascii: ","):
        if let top = frames.indices.last { frames[top].awaitsKey = frames[top].isObject }
        // A comma after a comma or a bracket stays in the piece, so that the decoder refuses it.
        if frames.count == listDepth, previous != byte, previous != UInt8(ascii: "[") {
          endPiece(at: index)
        }
      case UInt8(ascii: ":"): break
      default:
        let start = index
        while index + 1 < bytes.count, Self.isPartOfWord(bytes[index + 1]) { index += 1 }
        guard index - start < InputLimit.numberBytes.value else {
          return "a number of more than \(InputLimit.numberBytes.value) bytes"
        }
        if let fault = countValue() { return fault }
      }
      previous = byte
      index += 1
    }
    return nil
  }

  private mutating func beginList(at start: Int) {
    guard let wanted else { return }
    var key: String?
    if let keys = wanted.keys {
      guard frames.count == 1, let last = frames[0].keys.last else { return }
      let text = String(decoding: unescaped(last), as: UTF8.self)
      guard keys.contains(text) else { return }
      key = text
    } else {
      guard frames.isEmpty, lists.isEmpty else { return }
    }
    lists.append(JSONLists.Place(key: key, begins: start))
    listDepth = frames.count + 1
  }

  /// Ends a piece of a list before the comma at an index, if the piece is long enough.
  private mutating func endPiece(at index: Int) {
    let last = lists.count - 1
    guard let wanted, index - lists[last].begins >= wanted.pieceBytes else { return }
    lists[last].endPiece(at: index)
  }

  private mutating func endList(at index: Int) {
    lists[lists.count - 1].end(at: index)
    listDepth = nil
  }

  private mutating func countValue() -> String? {
    values += 1
    return values > InputLimit.values.value ? "more than \(InputLimit.values.value) values" : nil
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"),
      UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""):
      false
    default: true
    }
  }

  // Up to this number of keys are compared one by one; the objects of providers have about a dozen.
  private static let few = 16

  private mutating func take(key: Range<Int>, of top: Int) -> String? {
    guard key.count <= InputLimit.keyBytes.value else {
      return "a key of more than \(InputLimit.keyBytes.value) bytes"
    }
    guard frames[top].keys.count < InputLimit.keys.value else {
      return "an object of more than \(InputLimit.keys.value) keys"
    }
    let isEscaped = bytes[key].contains(UInt8(ascii: "\\"))
    let isKnown: Bool
    if frames[top].keys.count < Self.few, !isEscaped, frames[top].known.isEmpty {
      isKnown = frames[top].keys.contains { known in
        known.count == key.count && bytes[known].elementsEqual(bytes[key])
      }
    } else {
      if frames[top].known.isEmpty { frames[top].known = Set(frames[top].keys.map(unescaped)) }
      isKnown = !frames[top].known.insert(unescaped(key)).inserted
    }
    frames[top].keys.append(key)
    guard isKnown else { return nil }
    return
      "\"\(String(decoding: unescaped(key).prefix(40), as: UTF8.self).plain)\" appears twice in one object"
  }

  /// Returns the text of a key without its escapes, which are other ways to write the same text.
  private func unescaped(_ range: Range<Int>) -> [UInt8] {
    var text: [UInt8] = []
    var index = range.lowerBound
    while index < range.upperBound {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
        text.append(bytes[index])
        index += 1
        continue
      }
      let escape = bytes[index + 1]
      index += 2
      switch escape {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"):
        guard let unit = unit(at: index, before: range.upperBound) else { break }
        index += 4
        // Two surrogates form one scalar. The decoder refuses an unpaired surrogate.
        if unit & 0xFC00 == 0xD800, index + 1 < range.upperBound,
          bytes[index] == UInt8(ascii: "\\"),
          bytes[index + 1] == UInt8(ascii: "u"),
          let low = self.unit(at: index + 2, before: range.upperBound),
          low & 0xFC00 == 0xDC00,
          let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
        {
          index += 6
          text += Array(String(scalar).utf8)
        } else if let scalar = Unicode.Scalar(unit) {
          text += Array(String(scalar).utf8)
        }
      default: text.append(escape)
      }
    }
    return text
  }

  private func unit(at start: Int, before end: Int) -> UInt32? {
    guard start + 4 <= end else { return nil }
    return UInt32(String(decoding: bytes[start..<start + 4], as: UTF8.self), radix: 16)
  }
}
