import Foundation

/// The part of JSON Schema that docs/json.schema.json uses. Members that the schema does not name
/// are faults.
struct JSONSchema {
  private let definitions: [String: Any]

  init(path: String) throws {
    let whole =
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
      as? [String: Any]
    definitions = whole?["$defs"] as? [String: Any] ?? [:]
  }

  var names: Set<String> { Set(definitions.keys) }

  /// Returns where a value violates the definition `name`, one text with its path for each fault.
  func faults(of value: Any, as name: String) -> [String] {
    guard let definition = definitions[name] as? [String: Any] else { return ["no \(name)"] }
    return faults(of: value, definition, at: name)
  }

  private func faults(of value: Any, _ schema: [String: Any], at path: String) -> [String] {
    if let name = (schema["$ref"] as? String)?.split(separator: "/").last {
      return faults(of: value, definitions[String(name)] as? [String: Any] ?? [:], at: path)
    }
    if let wanted = schema["const"] {
      return (wanted as? NSObject) == (value as? NSObject) ? [] : ["\(path) is \(value)"]
    }
    if let named = schema["type"] {
      let types = (named as? [String]) ?? [named as? String ?? ""]
      guard types.contains(where: { Self.fits(value, $0) }) else {
        return ["\(path) is \(value) and not \(types)"]
      }
    }
    if let object = value as? [String: Any], let properties = schema["properties"] as? [String: Any]
    {
      let missing = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }
      return missing.map { "\(path).\($0) is missing" }
        + object.sorted { $0.key < $1.key }.flatMap { name, member in
          (properties[name] as? [String: Any]).map {
            faults(of: member, $0, at: "\(path).\(name)")
          } ?? ["\(path).\(name) is not in the schema"]
        }
    }
    if let array = value as? [Any], let items = schema["items"] as? [String: Any] {
      return array.flatMap { faults(of: $0, items, at: path + "[]") }
    }
    return []
  }

  private static func fits(_ value: Any, _ type: String) -> Bool {
    switch type {
    case "null": return value is NSNull
    case "object": return value is [String: Any]
    case "array": return value is [Any]
    case "string": return value is String
    default: break
    }
    guard let number = value as? NSNumber else { return false }
    let isBoolean = ["c", "B"].contains(String(cString: number.objCType))
    return switch type {
    case "boolean": isBoolean
    case "integer": !isBoolean && number.doubleValue == number.doubleValue.rounded()
    case "number": !isBoolean
    default: false
    }
  }
}
