/// Answers that are broken JSON, or JSON of another shape.
extension Fault {
  /// Inserts one more field at the beginning of the outermost object.
  private static func field(
    _ name: String, _ ids: [String], _ text: String, _ result: Result = .refused
  ) -> Fault {
    body(name, ids, result, format: "json") { body, _ in inserting(text, after: "{", in: body) }
  }

  static let jsonTexts: [Fault] = [
    body("json-truncated", ["F-J01"], .refused, format: "json") { body, random in
      cut(body, &random)
    },
    body("json-trailing-text", ["F-J02"], .refused, format: "json") { body, _ in
      body + Array("\nend of data".utf8)
    },
    body("json-two-documents", ["F-J02"], .refused, format: "json") { body, _ in body + body },
    field("json-comment", ["F-J02"], "/* prices */"),
    field("json-not-a-number", ["F-J02"], "\"extra\":NaN,"),
    field("json-infinity", ["F-J02"], "\"extra\":-Infinity,"),
    field("json-plus-sign", ["F-J02"], "\"extra\":+1,"),
    field("json-hexadecimal", ["F-J02"], "\"extra\":0x1F,"),
    field("json-unquoted-key", ["F-J02"], "extra:1,"),
    body("json-trailing-comma", ["F-J02"], .refused, format: "json") { body, _ in
      guard let end = body.lastIndex(of: UInt8(ascii: "}")) else { return body }
      return body[..<end] + [UInt8(ascii: ",")] + body[end...]
    },
    // This changes all numbers. If only one record were bad, the run would reject that record and
    // keep the others.
    body("json-leading-zeros", ["F-J02"], .refused, format: "json") { body, _ in
      replacingNumbers(in: body) { [UInt8(ascii: "0")] + $0 }
    },
    body("json-numbers-1e400", ["F-J08"], .refused, format: "json") { body, _ in
      replacingNumbers(in: body) { _ in Array("1e400".utf8) }
    },
    body("json-numbers-beyond-64-bits", ["F-J08"], .refused, format: "json") { body, _ in
      replacingNumbers(in: body) { _ in Array("9223372036854775808".utf8) }
    },
    // JSON allows a NUL in a string only as an escape sequence.
    field("json-raw-nul", ["F-P08", "F-Z12"], "\"extra\":\"a\u{0}b\","),
    body("json-raw-nul-in-texts", ["F-P08", "F-Z12"], .refused, format: "json") { body, _ in
      replacing("\":\"", by: "\":\"\u{0}", in: body)
    },
  ]

  static let jsonShapes: [Fault] = [
    body("json-list-for-object", ["F-J03"], .refused, format: "json") { body, _ in
      [UInt8(ascii: "[")] + body + [UInt8(ascii: "]")]
    },
    text("json-null", ["F-J03"], .refused, format: "json", "null"),
    text("json-text", ["F-J03"], .refused, format: "json", "\"no data\""),
    text("json-number", ["F-J03"], .refused, format: "json", "0"),
    text("json-empty-list", ["F-J03"], .refused, format: "json", "[]"),
    body("list-null", ["F-J04"], .refused, format: "json") { body, _ in
      replacingList(in: body, by: "null")
    },
    body("list-object", ["F-J04"], .refused, format: "json") { body, _ in
      replacingList(in: body, by: "{}")
    },
    body("list-empty", ["F-F01"], .refused, format: "json") { body, _ in
      replacingList(in: body, by: "[]")
    },
    body("list-missing", ["F-J04"], .refused, format: "json") { body, _ in removingList(in: body) },
    body("duplicate-key", ["F-J07"], .refused, format: "json") { body, _ in
      guard let key = firstKey(in: body) else { return body }
      return inserting("\(key):null,", after: "{", in: body)
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

/// Returns the offsets of a JSON document's bytes outside its strings. The quotes belong to the
/// strings.
private func structure(of body: [UInt8]) -> [Int] {
  var offsets: [Int] = []
  var isInString = false
  var isEscaped = false
  for (offset, byte) in body.enumerated() {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
    } else if byte == UInt8(ascii: "\"") {
      isInString = true
    } else {
      offsets.append(offset)
    }
  }
  return offsets
}

/// Returns the range of the first list that is a value of the outermost object, brackets included.
/// Not every answer has one. FuelCheck's token answer has none and is not changed.
private func firstList(in body: [UInt8]) -> Range<Int>? {
  var depth = 0
  var start: Int?
  for offset in structure(of: body) {
    switch body[offset] {
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      depth += 1
      if depth == 2, body[offset] == UInt8(ascii: "[") { start = offset }
    case UInt8(ascii: "]"), UInt8(ascii: "}"):
      if depth == 2, let start { return start..<offset + 1 }
      depth -= 1
    default: break
    }
  }
  return nil
}

private func replacingList(in body: [UInt8], by text: String) -> [UInt8] {
  guard let list = firstList(in: body) else { return body }
  return body[..<list.lowerBound] + Array(text.utf8) + body[list.upperBound...]
}

/// Removes the first list and its key from a body.
private func removingList(in body: [UInt8]) -> [UInt8] {
  let quote = UInt8(ascii: "\"")
  guard let list = firstList(in: body),
    let closing = body[..<list.lowerBound].lastIndex(of: quote),
    let opening = body[..<closing].lastIndex(of: quote)
  else { return body }
  let rest = body[list.upperBound...]
  return Array(body[..<opening] + (rest.first == UInt8(ascii: ",") ? rest.dropFirst() : rest))
}

/// The first key of the outermost object, with its quotes.
private func firstKey(in body: [UInt8]) -> String? {
  let quote = UInt8(ascii: "\"")
  guard let opening = body.firstIndex(of: quote),
    let closing = body[(opening + 1)...].firstIndex(of: quote)
  else { return nil }
  return String(decoding: body[opening...closing], as: UTF8.self)
}

/// Changes every number of a JSON document outside its strings.
private func replacingNumbers(
  in body: [UInt8], _ change: (_ number: [UInt8]) -> [UInt8]
) -> [UInt8] {
  let digits = Set("0123456789".utf8)
  let inside = digits.union("+-.eE".utf8)
  var result: [UInt8] = []
  var copied = 0
  var number: Range<Int>?
  func isPart(_ offset: Int) -> Bool {
    if let number, number.upperBound == offset { return inside.contains(body[offset]) }
    return digits.contains(body[offset]) || body[offset] == UInt8(ascii: "-")
  }
  func take() {
    guard let found = number else { return }
    result += body[copied..<found.lowerBound] + change(Array(body[found]))
    copied = found.upperBound
    number = nil
  }
  for offset in structure(of: body) {
    if isPart(offset) {
      number = (number?.lowerBound ?? offset)..<offset + 1
    } else {
      take()
    }
  }
  take()
  return result + body[copied...]
}
