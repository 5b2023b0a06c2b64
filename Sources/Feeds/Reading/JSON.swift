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

/// Any key of an object.
struct JSONKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
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
    return "not JSON: \(cause ?? context.debugDescription)".plain
  @unknown default: return "not JSON"
  }
}
