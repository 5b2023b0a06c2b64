import FuelModel

/// Refuses what the decoder lets pass in silence: a key that stands twice in one object (it takes the
/// first, the database the last), a comma before a closing bracket, and absurd nesting.
///
/// Looks at structure only; whether the text is JSON at all is the decoder's to say.
func checkStructure(of document: Document) throws(FeedError) {
  struct Frame {
    var isObject: Bool
    var awaitsKey: Bool
    var keys: [Range<Int>] = []
  }
  let bytes = document.bytes
  func malformed(_ reason: String) -> FeedError {
    .malformed(document: document.name, reason: reason)
  }
  var frames: [Frame] = []
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
      let key = start..<min(index, bytes.count)
      if let top = frames.indices.last, frames[top].isObject, frames[top].awaitsKey {
        if frames[top].keys.contains(where: { bytes[$0].elementsEqual(bytes[key]) }) {
          let name = String(decoding: bytes[key].prefix(40), as: UTF8.self).plain
          throw malformed("«\(name)» stands twice in one object")
        }
        frames[top].keys.append(key)
        frames[top].awaitsKey = false
      }
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard frames.count < 64 else { throw malformed("nested too deeply") }
      let isObject = byte == UInt8(ascii: "{")
      frames.append(Frame(isObject: isObject, awaitsKey: isObject))
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard previous != UInt8(ascii: ",") else {
        throw malformed("a comma before a closing bracket")
      }
      _ = frames.popLast()
    case UInt8(ascii: ","):
      if let top = frames.indices.last { frames[top].awaitsKey = frames[top].isObject }
    default: break
    }
    previous = byte
    index += 1
  }
}
