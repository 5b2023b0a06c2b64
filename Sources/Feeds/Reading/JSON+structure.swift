import Foundation
import FuelModel

/// Refuses what the JSON decoder accepts silently, or would take too long to read: a key that
/// occurs twice in one object, however it is escaped (the decoder takes the first one, the database
/// the last), a comma before a closing bracket, and anything beyond `InputLimit`. Reads the bytes
/// once.
///
/// Checks the structure only. The decoder determines whether the text is JSON at all.
func checkStructure(of document: Document) throws(FeedError) {
  if let empty = document.emptiness {
    throw .malformed(document: document.name, reason: Document.isEmpty(empty))
  }
  let reason = document.bytes.withUnsafeBufferPointer { bytes in
    var check = StructureCheck(bytes: bytes)
    return check.fault()
  }
  if let reason { throw .malformed(document: document.name, reason: reason) }
}

private struct StructureCheck {
  let bytes: UnsafeBufferPointer<UInt8>

  private struct Frame {
    var isObject: Bool
    var awaitsKey: Bool
    /// The keys so far, without escapes.
    var keys: Set<[UInt8]> = []
  }

  private var frames: [Frame] = []
  private var values = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

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
        frames.append(Frame(isObject: isObject, awaitsKey: isObject))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard previous != UInt8(ascii: ",") else { return "a comma before a closing bracket" }
        _ = frames.popLast()
      case UInt8(ascii: ","):
        if let top = frames.indices.last { frames[top].awaitsKey = frames[top].isObject }
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

  private mutating func take(key: Range<Int>, of top: Int) -> String? {
    guard key.count <= InputLimit.keyBytes.value else {
      return "a key of more than \(InputLimit.keyBytes.value) bytes"
    }
    guard frames[top].keys.count < InputLimit.keys.value else {
      return "an object of more than \(InputLimit.keys.value) keys"
    }
    let text = unescaped(key)
    guard !frames[top].keys.insert(text).inserted else { return nil }
    let shown = String(decoding: text.prefix(40), as: UTF8.self).plain
    return "\"\(shown)\" appears twice in one object"
  }

  /// Returns the text of a key without its escapes, which are other ways to write the same text.
  private func unescaped(_ key: Range<Int>) -> [UInt8] {
    let text = Array(bytes[key])
    guard text.contains(UInt8(ascii: "\\")) else { return text }
    let quote = [UInt8(ascii: "\"")]
    // What is no text here is none in the document either, which the decoder refuses.
    let decoded = try? JSONDecoder().decode(String.self, from: Data(quote + text + quote))
    return decoded.map { Array($0.utf8) } ?? text
  }
}
