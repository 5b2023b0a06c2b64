/// A value as JSON. What is not known is null.
package func json(_ value: String?) -> String { value?.asJSONLiteral ?? "null" }

/// A number or a truth value as JSON; null where it is not known.
package func json(_ value: (some LosslessStringConvertible)?) -> String {
  value.map { "\($0)" } ?? "null"
}

/// An instant as JSON; null where it is not known.
package func json(_ value: Instant?) -> String { json(value?.description) }

/// A day as JSON; null where it is not known.
package func json(_ value: Day?) -> String { json(value?.description) }

/// A JSON object with members in the given order. The values are already JSON.
package func jsonObject(_ members: KeyValuePairs<String, String>) -> String {
  var text = "{"
  for (key, value) in members {
    text += text.utf8.count > 1 ? ",\"" : "\""
    text += key
    text += "\":"
    text += value
  }
  return text + "}"
}

/// A JSON list. The elements are already JSON. A list of many has each on a line of its own.
package func jsonList(_ elements: [String], isLong: Bool = false) -> String {
  isLong
    ? "[\n\(elements.joined(separator: ",\n"))\n]" : "[\(elements.joined(separator: ","))]"
}

/// Any key of a JSON object.
package struct JSONKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }
  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}
