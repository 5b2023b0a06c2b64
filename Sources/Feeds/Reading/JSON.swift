import Foundation
import FuelModel

/// Decodes a whole JSON document; a document that cannot be decoded is refused.
func decodeJSON<Content: Decodable>(
  _ type: Content.Type, from document: Document
) throws(FeedError) -> Content {
  try checkStructure(of: document)
  // The decoder repairs broken UTF-8 silently, so a name could change without a trace.
  guard String(validating: document.bytes, as: UTF8.self) != nil else {
    throw .malformed(document: document.name, reason: "not UTF-8")
  }
  do {
    return try JSONDecoder().decode(type, from: Data(document.bytes))
  } catch let error as DecodingError {
    throw .malformed(document: document.name, reason: describe(error))
  } catch {
    throw .malformed(document: document.name, reason: "not JSON")
  }
}

/// A record of a list that is a value of a document's outermost object.
protocol Listed: Decodable {
  /// The key of the list.
  static var listKey: String { get }
}

/// Decodes a document's list of such records.
///
/// - Throws: where there is no such list, or where it is empty and may not be: an empty list of
///   stations or prices does not mean that all stations closed.
func decodeList<Record: Listed>(
  of type: Record.Type, from document: Document, mayBeEmpty: Bool = false
) throws(FeedError) -> [Lenient<Record>] {
  let records = try decodeJSON(List<Record>.self, from: document).records
  guard mayBeEmpty || !records.isEmpty else {
    throw .malformed(document: document.name, reason: "\(Record.listKey) is empty")
  }
  return records
}

private struct List<Record: Listed>: Decodable {
  let records: [Lenient<Record>]

  init(from decoder: any Decoder) throws {
    records = try decoder.container(keyedBy: JSONKey.self)
      .decode([Lenient<Record>].self, forKey: JSONKey(stringValue: Record.listKey))
  }
}

/// A record of a list: decoded, or kept as text where it has another shape. One bad record does not
/// invalidate the list.
enum Lenient<Content: Decodable>: Decodable {
  case read(Content)
  case unread(raw: String)

  init(from decoder: any Decoder) throws {
    do {
      self = .read(try Content(from: decoder))
    } catch is DecodingError {
      self = .unread(raw: try RawJSON(from: decoder).description)
    }
  }
}

extension Reading {
  /// Returns the content of a decoded record. Appends a reject for any other record and returns
  /// `nil`.
  mutating func take<Content>(_ record: Lenient<Content>) -> Content? {
    switch record {
    case .read(let content): return content
    case .unread(let raw):
      rejects.append(Reject(.recordUnreadable, raw: raw))
      return nil
    }
  }
}

/// A record that gives the name of an id by which other records mention it.
protocol NamedRecord: Decodable {
  associatedtype ID: Hashable
  var id: ID { get }
  var name: String { get }
}

/// Returns the names in a list, by their ids.
func names<Record: NamedRecord>(_ records: [Lenient<Record>]?) -> [Record.ID: String] {
  var names: [Record.ID: String] = [:]
  for case .read(let record) in records ?? [] { names[record.id] = record.name.plain }
  return names
}

/// Decodes a document's list of such names; empty where the run has no such document.
func decodeNames<Record: NamedRecord & Listed>(
  of type: Record.Type, from document: Document?
) throws(FeedError) -> [Record.ID: String] {
  guard let document else { return [:] }
  return names(try decodeList(of: type, from: document, mayBeEmpty: true))
}

/// A JSON value that is needed only as text.
struct RawJSON: Decodable, CustomStringConvertible {
  let description: String

  init(from decoder: any Decoder) throws {
    // Not a table: try the next type.
    if let table = try? decoder.container(keyedBy: JSONKey.self) {
      let entries = try table.allKeys.sorted { $0.stringValue < $1.stringValue }.map { key in
        "\"\(key.stringValue)\":\(try table.decode(RawJSON.self, forKey: key))"
      }
      description = "{" + entries.joined(separator: ",") + "}"
    } else if var list = try? decoder.unkeyedContainer() {  // not a list: try the next type
      var elements: [String] = []
      while !list.isAtEnd { elements.append(try list.decode(RawJSON.self).description) }
      description = "[" + elements.joined(separator: ",") + "]"
    } else {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        description = "null"
      } else if let boolean = try? value.decode(Bool.self) {  // try the next type
        description = String(boolean)
      } else if let number = try? value.decode(Decimal.self) {  // try the next type
        description = "\(number)"
      } else if let number = try? value.decode(Double.self) {  // try the next type
        description = "\(number)"
      } else {
        description = "\"\(try value.decode(String.self))\""
      }
    }
  }
}

/// An id that some answers contain as a number and others as a text.
struct LooseID: Decodable, Hashable {
  let text: String

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(Int64.self) {  // not a number: it must be a text
      text = String(number)
    } else {
      let given = try value.decode(String.self)
      // A code that is too long becomes empty. Cut to size, it could equal the code of another
      // station.
      text = given.utf8.count <= InputLimit.codeBytes.value ? given.plain : ""
    }
  }
}

private func describe(_ error: DecodingError) -> String {
  func path(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
    return path.isEmpty ? "the document" : path.joined(separator: ".")
  }
  switch error {
  case .keyNotFound(let key, let context):
    return "\(path(context)): '\(key.stringValue)' is missing"
  case .valueNotFound(_, let context): return "\(path(context)) is null"
  case .typeMismatch(let type, let context):
    let name = type == [Any].self ? "a list" : type == [String: Any].self ? "an object" : "\(type)"
    return "\(path(context)) is not \(name)"
  case .dataCorrupted(let context):
    let cause = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
    return (cause.map { "not JSON: \($0)" } ?? "not JSON, or cut off").plain
  @unknown default: return "not JSON"
  }
}

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

  struct Frame {
    var isObject: Bool
    var awaitsKey: Bool
    /// The keys so far, without escapes.
    var keys: Set<[UInt8]> = []
  }

  var frames: [Frame] = []
  var values = 0

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
