/// Answers with a wrong content type, and answers with text in a wrong encoding.
extension Fault {
  static let types: [Fault] = [
    Fault("type-html", ["F-H14"], .harmless) { sound, _ in whole(sound.body, type: "text/html") },
    Fault("type-missing", ["F-H14"], .harmless) { sound, _ in whole(sound.body, type: nil) },
    Fault("type-garbage", ["F-H14"], .harmless) { sound, _ in whole(sound.body, type: ";;=/") },
    body("zip-file", ["F-P06"], .refused) { body, _ in Array("PK\u{3}\u{4}\u{14}".utf8) + body },
    body("pdf-file", ["F-P06"], .refused) { body, _ in Array("%PDF-1.7\n".utf8) + body },
    Fault("gzip-file", ["F-P06"], .refused) { sound, _ in
      do {
        return whole(try zipped(sound.body), type: "application/gzip")
      } catch {
        return .text(501, "this fault needs gzip: \(error)")
      }
    },
  ]
}

// MARK: - Encodings

extension Fault {
  /// Inserts bytes at a random position between two characters.
  private static func badBytes(_ name: String, _ ids: [String], _ bytes: [UInt8]) -> Fault {
    body(name, ids, .refused) { body, random in
      let starts = body.indices.filter { body[$0] & 0xC0 != 0x80 }
      let at = random.pick(starts)
      return body[..<at] + bytes + body[at...]
    }
  }

  static let encodings: [Fault] = [
    json("byte-order-mark", ["F-P01"], .harmless) { body, _ in mark + body },
    json("byte-order-mark-twice", ["F-P01"]) { body, _ in mark + mark + body },
    body("utf-16-with-mark", ["F-P01"], .refused) { body, _ in [0xFF, 0xFE] + utf16(body) },
    // If the text is all ASCII, these bytes are valid UTF-8 too, with a NUL after each character.
    body("utf-16-without-mark", ["F-P01"], .refused) { body, _ in utf16(body) },
    body("utf-16-big-end-first", ["F-P01"], .refused) { body, _ in [0] + utf16(body).dropLast() },
    badBytes("utf-8-invalid-byte", ["F-P02"], [0xFF]),
    badBytes("utf-8-lone-continuation", ["F-P02"], [0xA9]),
    badBytes("utf-8-overlong", ["F-P02"], [0xC0, 0xAF]),
    badBytes("utf-8-surrogate", ["F-P02"], [0xED, 0xA0, 0x80]),
    body("latin-1-undeclared", ["F-P03"], .refused) { body, _ in withLatin1(body) },
    // To decode the text would be right too. Refusing it is safe, because the refusal is reported.
    Fault("latin-1-declared", ["F-P03"], .refused) { sound, _ in
      let body = replacing("UTF-8", by: "ISO-8859-1", in: withLatin1(sound.body))
      let type = sound.type.prefix { $0 != ";" }
      return whole(body, type: "\(type); charset=iso-8859-1")
    },
    body("trailing-blank-lines", ["F-P05"], .harmless) { body, _ in
      body + Array("\r\n\r\n \n".utf8)
    },
  ]
}

/// Inserts 'café' with its last letter in Latin-1: in a new JSON field, or in the first title.
private func withLatin1(_ body: [UInt8]) -> [UInt8] {
  let isObject = body.first == UInt8(ascii: "{")
  let spoiled = inserting(
    isObject ? "\"extra\":\"caf#\"," : "caf#", after: isObject ? "{" : "<title>", in: body)
  guard let found = spoiled.firstRange(of: Array("caf#".utf8)) else { return spoiled }
  return spoiled[..<(found.upperBound - 1)] + [0xE9] + spoiled[found.upperBound...]
}
