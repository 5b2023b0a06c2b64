import Foundation

/// Answers that are broken JSON, or JSON of another shape.
extension Fault {
  /// Inserts one more field at the beginning of the outermost object.
  private static func field(
    _ name: String, _ ids: [String], _ text: String, _ result: Result = .refused
  ) -> Fault {
    json(name, ids, result) { body, _ in inserting(text, after: "{", in: body) }
  }

  /// A fault of the body that only JSON can have.
  static func json(
    _ name: String, _ ids: [String], _ result: Result = .refused,
    _ change: @escaping @Sendable (_ body: [UInt8], _ random: inout Random) -> [UInt8]
  ) -> Fault {
    body(name, ids, result, format: "json", change)
  }

  static let jsonTexts: [Fault] = [
    json("json-truncated", ["F-J01"]) { body, random in cut(body, &random) },
    json("json-trailing-text", ["F-J02"]) { body, _ in body + Array("\nend of data".utf8) },
    json("json-two-documents", ["F-J02"]) { body, _ in body + body },
    field("json-comment", ["F-J02"], "/* prices */"),
    field("json-not-a-number", ["F-J02"], "\"extra\":NaN,"),
    field("json-infinity", ["F-J02"], "\"extra\":-Infinity,"),
    field("json-plus-sign", ["F-J02"], "\"extra\":+1,"),
    field("json-hexadecimal", ["F-J02"], "\"extra\":0x1F,"),
    field("json-unquoted-key", ["F-J02"], "extra:1,"),
    json("json-trailing-comma", ["F-J02"]) { body, _ in
      guard let end = body.lastIndex(of: UInt8(ascii: "}")) else { return body }
      return body[..<end] + [UInt8(ascii: ",")] + body[end...]
    },
    // This changes all numbers. If only one record were bad, the run would reject that record and
    // keep the others.
    json("json-leading-zeros", ["F-J02"]) { body, _ in replacingNumbers(in: body) { "0" + $0 } },
    json("json-numbers-1e400", ["F-J08"]) { body, _ in
      replacingNumbers(in: body) { _ in "1e400" }
    },
    json("json-numbers-beyond-64-bits", ["F-J08"]) { body, _ in
      replacingNumbers(in: body) { _ in "9223372036854775808" }
    },
    // JSON allows a NUL in a string only as an escape sequence.
    field("json-raw-nul", ["F-P08", "F-Z12"], "\"extra\":\"a\u{0}b\","),
    json("json-raw-nul-in-texts", ["F-P08", "F-Z12"]) { body, _ in
      replacing("\":\"", by: "\":\"\u{0}", in: body)
    },
  ]

  static let jsonShapes: [Fault] = [
    json("json-list-for-object", ["F-J03"]) { body, _ in
      [UInt8(ascii: "[")] + body + [UInt8(ascii: "]")]
    },
    text("json-null", ["F-J03"], .refused, format: "json", "null"),
    text("json-text", ["F-J03"], .refused, format: "json", "\"no data\""),
    text("json-number", ["F-J03"], .refused, format: "json", "0"),
    text("json-empty-list", ["F-J03"], .refused, format: "json", "[]"),
    json("list-null", ["F-J04"]) { body, _ in changingList(in: body, to: NSNull()) },
    json("list-object", ["F-J04"]) { body, _ in changingList(in: body, to: [String: String]()) },
    json("list-empty", ["F-F01"]) { body, _ in changingList(in: body, to: [String]()) },
    json("list-missing", ["F-J04"]) { body, _ in changingList(in: body, to: nil) },
    json("duplicate-key", ["F-J07"]) { body, _ in
      guard let key = String(decoding: body, as: UTF8.self).firstMatch(of: /"[^"]*"/) else {
        return body
      }
      return inserting("\(key.0):null,", after: "{", in: body)
    },
    field("duplicate-key-nested", ["F-J07"], "\"extra\":{\"a\":1,\"a\":2},"),
    field(
      "deep-nesting", ["F-J08"],
      "\"extra\":" + String(repeating: "[", count: 100_000)
        + String(repeating: "]", count: 100_000) + ","),
    // Unknown fields must not stop a run.
    field("unknown-field", ["F-J05"], "\"extra\":{\"since\":2031,\"why\":null},", .harmless),
    field(
      "unknown-field-of-a-megabyte", ["F-J05", "F-P09"],
      "\"extra\":\"" + String(repeating: "x", count: 1 << 20) + "\",", .harmless),
  ]
}

/// Changes the first list of the outermost object, by the order of its keys; `nil` removes it. An
/// answer without one, such as FuelCheck's token, is unchanged.
private func changingList(in body: [UInt8], to value: Any?) -> [UInt8] {
  guard var object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
    let key = object.keys.sorted().first(where: { object[$0] is [Any] })
  else { return body }
  object[key] = value
  return (try? JSONSerialization.data(withJSONObject: object)).map { [UInt8]($0) } ?? body
}

/// Changes every number of a JSON document, and some digits of its texts.
private func replacingNumbers(
  in body: [UInt8], _ change: (_ number: Substring) -> String
) -> [UInt8] {
  let text = String(decoding: body, as: UTF8.self)
  return Array(text.replacing(/([:,\[])(-?[0-9][0-9.eE+-]*)/) { $0.1 + change($0.2) }.utf8)
}
