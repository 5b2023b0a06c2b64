import Foundation

/// A named way in which a provider's answer can be wrong.
package struct Fault: Sendable {
  /// The correct answer of a provider.
  package typealias Sound = (status: Int, body: [UInt8], type: String)

  /// The required result of a run whose every answer has the fault. The numbers are exit codes of
  /// bowser.
  package enum Result: Sendable {
    /// No usable answer after all tries, which includes redirects: 69.
    case unavailable
    /// An answer that is not the expected data: 65.
    case refused
    /// The provider asks to be left alone for a while: 75.
    case comeBack
    /// The provider does not accept the key: 77.
    case notAllowed
    /// The run succeeds with the true data. A client must not be stricter than this.
    case harmless
  }

  /// In lower case, with hyphens.
  package let name: String
  /// The entries of the fault catalogue (docs/faults.md) that the fault stands for.
  package let ids: [String]
  package let result: Result
  /// The only format to which the fault applies, `json` or `xml`, or `nil` for any format.
  package let format: String?
  /// Makes the faulty answer from the correct one.
  package let spoil: @Sendable (_ sound: Sound, _ random: inout Random) -> Server.Answer

  package static let all: [Fault] = [
    statuses, waits, pages, redirects, lengths, connections, compressions, sizes, types, encodings,
    jsonTexts, jsonShapes, xmlTexts, xmlDeclarations,
  ].flatMap { $0 }

  package static func named(_ name: String) -> Fault? { all.first { $0.name == name } }

  private init(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil,
    spoil: @escaping @Sendable (_ sound: Sound, _ random: inout Random) -> Server.Answer
  ) {
    self.name = name
    self.ids = ids
    self.result = result
    self.format = format
    self.spoil = spoil
  }

  /// A fault of the body only. The rest of the answer is correct.
  private static func body(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil,
    _ change: @escaping @Sendable (_ body: [UInt8], _ random: inout Random) -> [UInt8]
  ) -> Fault {
    Fault(name, ids, result, format: format) { sound, random in
      whole(change(sound.body, &random), type: sound.type)
    }
  }

  /// A fault that replaces the answer with a short text.
  private static func text(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil, status: Int = 200,
    type: String = "application/json", headers: [String: String] = [:], _ text: String = "{}"
  ) -> Fault {
    Fault(name, ids, result, format: format) { _, _ in
      .text(status, text, type: type, headers: headers)
    }
  }
}

// MARK: - Statuses

extension Fault {
  private static let denied = "{\"Message\":\"Authorization has been denied for this request.\"}"

  // All feeds that need a key use JSON. FuelWatch uses XML and needs no key. Without a key there is
  // nothing to renew or correct, so that a 401 counts as any other fault of the server.
  private static let statuses: [Fault] = [
    text("server-error-500", ["F-H05"], .unavailable, status: 500, "Internal Server Error"),
    text("server-error-502", ["F-H05"], .unavailable, status: 502, type: "text/html", htmlPage),
    text("server-error-503", ["F-H05"], .unavailable, status: 503, type: "text/html", htmlPage),
    text("server-error-504", ["F-H05"], .unavailable, status: 504, type: "text/html", ""),
    text("request-timeout-408", ["F-H05"], .unavailable, status: 408),
    text("unauthorised-401", ["F-H08"], .notAllowed, format: "json", status: 401, denied),
    text("unauthorised-401-without-key", ["F-H08"], .unavailable, format: "xml", status: 401),
    text("forbidden-403", ["F-H09"], .notAllowed, format: "json", status: 403, denied),
    text("forbidden-403-without-key", ["F-H09"], .unavailable, format: "xml", status: 403),
    text("not-found-404", ["F-H10"], .unavailable, status: 404),
    text("gone-410", ["F-H10"], .unavailable, status: 410),
    text("not-modified-304", ["F-H11"], .refused, status: 304, ""),
  ]

  /// A 429 whose `Retry-After` header says when to come back, if it has one.
  private static func wait(_ name: String, _ result: Result, _ after: String?) -> Fault {
    text(
      "too-many-429-\(name)", ["F-H06"], result, status: 429,
      headers: after.map { ["Retry-After": $0] } ?? [:])
  }

  private static let waits: [Fault] = [
    wait("for-a-second", .comeBack, "1"),
    wait("for-an-hour", .comeBack, "3600"),
    wait("for-a-year", .comeBack, "31536000"),
    // A number larger than 64 bits can hold.
    wait("for-ever", .comeBack, "99999999999999999999999"),
    wait("until-past-date", .comeBack, "Wed, 21 Oct 2015 07:28:00 GMT"),
    wait("until-date", .comeBack, "Wed, 21 Oct 2099 07:28:00 GMT"),
    wait("negative", .comeBack, "-60"),
    wait("unparsable", .comeBack, "soon"),
    wait("without-word", .comeBack, nil),
    text(
      "server-error-503-for-a-second", ["F-H05"], .unavailable, status: 503,
      headers: ["Retry-After": "1"]),
    text(
      "server-error-503-for-an-hour", ["F-H05"], .comeBack, status: 503,
      headers: ["Retry-After": "3600"]),
  ]
}

// MARK: - Something else with status 200

private let htmlPage = """
  <!DOCTYPE html>
  <html><head><title>Scheduled maintenance</title></head>
  <body><h1>We will be back soon</h1></body></html>
  """

extension Fault {
  private static let pages: [Fault] = [
    text("html-page", ["F-H12", "F-X02"], .refused, type: "text/html", htmlPage),
    // Templates of login pages often begin with blank lines that their instructions leave behind.
    text(
      "login-page", ["F-H12"], .refused, type: "text/html",
      "\r\n\r\n\t  <HTML><body><form action=\"/login\"><input name=\"user\"></form></body></HTML>"),
    text("ok-false", ["F-H12"], .refused, "{\"ok\":false}"),
    text(
      "error-details", ["F-H12"], .refused,
      "{\"errorDetails\":{\"code\":\"E0014\",\"message\":\"Invalid request\"}}"),
    text(
      "error-details-list", ["F-H12"], .refused,
      "{\"errorDetails\":[{\"code\":\"E0014\",\"message\":\"Invalid request\"}]}"),
    text("empty", ["F-H12", "F-P07"], .refused, ""),
    text("blank", ["F-P07"], .refused, " \r\n\t\r\n"),
    text("only-byte-order-mark", ["F-P07"], .refused, "\u{FEFF}"),
  ]
}

// MARK: - Redirects

extension Fault {
  /// No redirect may be followed. Most of the targets are on the same server, whose log would show
  /// a redirect that was followed.
  private static func redirect(_ name: String, _ status: Int, _ location: String?) -> Fault {
    text(
      "redirect-\(name)", ["F-H13"], .unavailable, status: status,
      headers: location.map { ["Location": $0] } ?? [:], "")
  }

  private static let redirects: [Fault] = [
    redirect("301", 301, "/elsewhere"),
    redirect("302", 302, "/elsewhere"),
    redirect("303", 303, "/elsewhere"),
    redirect("307", 307, "/elsewhere"),
    redirect("308", 308, "/elsewhere"),
    redirect("to-other-host", 302, "https://redirected.invalid/elsewhere"),
    redirect("to-plain-http", 301, "http://redirected.invalid/elsewhere"),
    redirect("to-metadata-service", 307, "http://169.254.169.254/latest/meta-data/"),
    redirect("to-file", 302, "file:///etc/hostname"),
    redirect("relative", 302, "elsewhere?page=2"),
    redirect("to-nowhere", 302, ""),
    redirect("without-location", 302, nil),
    // A fragment alone refers to the same address again.
    redirect("loop", 302, "#again"),
  ]
}

// MARK: - Transfer

extension Fault {
  /// An answer that announces a false or malformed length.
  private static func length(
    _ name: String, _ result: Result,
    _ fields: @escaping @Sendable (_ count: Int) -> [String]
  ) -> Fault {
    Fault("length-\(name)", ["F-H15"], result) { sound, _ in
      .raw([head(["Content-Type: \(sound.type)"] + fields(sound.body.count)) + sound.body])
    }
  }

  /// An answer in chunked encoding. `change` receives the encoded chunks.
  private static func chunks(
    _ name: String, _ result: Result, _ fields: [String] = [],
    _ change: @escaping @Sendable (_ chunks: [[UInt8]], _ random: inout Random) -> [[UInt8]]
  ) -> Fault {
    Fault(name, ["F-H15"], result) { sound, random in
      let fields = ["Content-Type: \(sound.type)", "Transfer-Encoding: chunked"] + fields
      let parts = change(chunked(sound.body, &random), &random)
      return .raw([head(fields) + parts.joined()])
    }
  }

  private static let lengths: [Fault] = [
    length("too-large", .unavailable) { ["Content-Length: \($0 + 100)"] },
    // The client ignores the rest of the body.
    length("too-small", .refused) { ["Content-Length: \($0 / 2)"] },
    length("zero", .refused) { _ in ["Content-Length: 0"] },
    length("negative", .unavailable) { _ in ["Content-Length: -5"] },
    length("no-number", .unavailable) { _ in ["Content-Length: many"] },
    length("twice", .unavailable) { ["Content-Length: \($0)", "Content-Length: \($0 + 100)"] },
    chunks("chunked", .harmless) { chunks, _ in chunks },
    // By the protocol the chunks determine the body, and the length is ignored.
    chunks("chunked-and-length", .harmless, ["Content-Length: 1"]) { chunks, _ in chunks },
    chunks("chunk-cut", .unavailable) { chunks, random in
      let last = random.integer(0...chunks.count - 2)
      return chunks[..<last] + [Array(chunks[last].dropLast(3))]
    },
    // All data arrive. Only the mark of their end is missing.
    chunks("chunk-end-missing", .unavailable) { chunks, _ in chunks.dropLast() },
    chunks("chunk-size-garbage", .unavailable) { chunks, random in
      let at = random.integer(0...chunks.count - 2)
      return chunks[..<at] + [Array("zz\r\n".utf8)] + chunks[at...]
    },
    Fault("unannounced-length", ["F-H16"], .harmless) { sound, _ in
      .raw([head(["Content-Type: \(sound.type)"]) + sound.body])
    },
    Fault("unannounced-length-cut", ["F-H16"], .refused) { sound, random in
      .raw([head(["Content-Type: \(sound.type)"]) + cut(sound.body, &random)])
    },
  ]

  private static let connections: [Fault] = [
    Fault("closed-at-once", ["F-H15"], .unavailable) { _, _ in .raw([]) },
    Fault("head-garbage", ["F-H15"], .unavailable) { _, random in
      let letters = (0..<200).map { _ in UInt8(random.integer(0x21...0x7E)) }
      return .raw([letters + Array("\r\n\r\n".utf8)])
    },
    // If the head ends at certain bytes, URLSession of Swift 6.3 on Linux ends the whole process
    // ("Transfer completed, but there's no response"). A run that meets this fault needs a process
    // of its own.
    Fault("head-cut", ["F-H15"], .unavailable) { sound, random in
      let head = head(["Content-Type: \(sound.type)"])
      return .raw([Array(head.prefix(random.integer(1...head.count - 3)))])
    },
    Fault("interim-head-only", ["F-H15"], .unavailable) { _, _ in .raw([interimHead]) },
    Fault("interim-head", ["F-H15"], .harmless) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw([interimHead + head(fields) + sound.body])
    },
    Fault("head-of-unknown-version", ["F-H15"], .unavailable) { sound, _ in
      .raw([Array("HTTP/7.3 200 OK\r\n\r\n".utf8) + sound.body])
    },
    // The silence lasts longer than any client of the tests waits.
    Fault("silence", ["F-H03"], .unavailable) { _, _ in .silence(seconds: 30) },
    Fault("trickle", ["F-H04"], .unavailable) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw([head(fields)] + sound.body.prefix(60).map { [$0] }, pauseMilliseconds: 500)
    },
    Fault("stall", ["F-H04"], .unavailable) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw(
        [head(fields) + sound.body.prefix(sound.body.count / 2)], pauseMilliseconds: 30_000)
    },
    // Slow, but complete within a moment.
    Fault("pieces", ["F-H04"], .harmless) { sound, random in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      let first = random.integer(0...sound.body.count)
      let second = random.integer(first...sound.body.count)
      let body = sound.body
      return .raw(
        [head(fields), Array(body[..<first]), Array(body[first..<second]), Array(body[second...])],
        pauseMilliseconds: 20)
    },
  ]
}

// MARK: - Compression

extension Fault {
  /// An answer with a content encoding. `change` receives the body as gzip.
  private static func gzip(
    _ name: String, _ result: Result, encoding: String = "gzip",
    _ change: @escaping @Sendable (_ zipped: [UInt8], _ random: inout Random) throws -> [UInt8]
  ) -> Fault {
    Fault(name, ["F-H17"], result) { sound, random in
      do {
        let body = try change(try zipped(sound.body), &random)
        return whole(body, type: sound.type, ["Content-Encoding: \(encoding)"])
      } catch {
        return .text(501, "this fault needs gzip: \(error)")
      }
    }
  }

  /// An answer with a plain body whose header names a content encoding.
  private static func mislabelled(_ name: String, _ encoding: String) -> Fault {
    Fault(name, ["F-H17"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, ["Content-Encoding: \(encoding)"])
    }
  }

  private static let compressions: [Fault] = [
    gzip("gzip", .harmless) { zipped, _ in zipped },
    // Raw deflate without header and trailer. Some servers send it as "deflate", against the
    // standard.
    gzip("deflate-raw", .harmless, encoding: "deflate") { zipped, _ in
      Array(zipped.dropFirst(10).dropLast(8))
    },
    // The client delivers the part as if it were the whole body. Only the document shows that it is
    // cut.
    gzip("gzip-truncated", .refused) { zipped, random in
      Array(zipped.prefix(random.integer(zipped.count / 4...zipped.count * 3 / 4)))
    },
    gzip("gzip-bad-checksum", .unavailable) { zipped, _ in
      var zipped = zipped
      zipped[zipped.count - 8] ^= 0xFF
      return zipped
    },
    gzip("gzip-trailing-junk", .unavailable) { zipped, _ in zipped + Array("junk after it".utf8) },
    gzip("gzip-twice", .refused) { zipped, _ in try Simulator.zipped(zipped) },
    gzip("gzip-unnamed", .refused, encoding: "identity") { zipped, _ in zipped },
    mislabelled("gzip-in-name-only", "gzip"),
    mislabelled("brotli-in-name-only", "br"),
    mislabelled("unknown-encoding", "shrunk"),
    gzip("gzip-bomb", .refused) { _, _ in try bomb.get() },
  ]
}

// MARK: - Sizes

extension Fault {
  private static let sizes: [Fault] = [
    Fault("huge-body", ["F-H18"], .refused) { sound, _ in
      // One part is sent many times, so that only the client needs much memory.
      let part = [UInt8](repeating: 0x20, count: 1 << 20)
      let parts = Array(repeating: part, count: hugeMegabytes)
      return .raw([head(["Content-Type: \(sound.type)"])] + parts)
    },
    Fault("huge-length", ["F-H18"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, announcing: hugeMegabytes << 20)
    },
    Fault("header-of-a-megabyte", ["F-H18"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, ["X-Long: " + String(repeating: "x", count: 1 << 20)])
    },
    Fault("ten-thousand-headers", ["F-H18"], .harmless) { sound, _ in
      whole(sound.body, type: sound.type, (0..<10_000).map { "X-\($0): y" })
    },
  ]
}

// MARK: - Types

extension Fault {
  private static let types: [Fault] = [
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

  private static let encodings: [Fault] = [
    body("byte-order-mark", ["F-P01"], .harmless, format: "json") { body, _ in mark + body },
    body("byte-order-mark-twice", ["F-P01"], .refused, format: "json") { body, _ in
      mark + mark + body
    },
    body("utf-16-with-mark", ["F-P01"], .refused) { body, _ in [0xFF, 0xFE] + utf16(body) },
    // If the text is all ASCII, this is also valid UTF-8, with a NUL after each character.
    body("utf-16-without-mark", ["F-P01"], .refused) { body, _ in utf16(body) },
    body("utf-16-big-end-first", ["F-P01"], .refused) { body, _ in [0] + utf16(body).dropLast() },
    badBytes("utf-8-invalid-byte", ["F-P02"], [0xFF]),
    badBytes("utf-8-lone-continuation", ["F-P02"], [0xA9]),
    badBytes("utf-8-overlong", ["F-P02"], [0xC0, 0xAF]),
    badBytes("utf-8-surrogate", ["F-P02"], [0xED, 0xA0, 0x80]),
    body("latin-1-undeclared", ["F-P03"], .refused) { body, _ in latin1(body) },
    // Decoding the text would be right too. Refusing it is safe, because the refusal is reported.
    Fault("latin-1-declared", ["F-P03"], .refused) { sound, _ in
      let body = replacing("UTF-8", by: "ISO-8859-1", in: latin1(sound.body))
      let type = sound.type.prefix { $0 != ";" }
      return whole(body, type: "\(type); charset=iso-8859-1")
    },
    body("trailing-blank-lines", ["F-P05"], .harmless) { body, _ in
      body + Array("\r\n\r\n \n".utf8)
    },
  ]
}

// MARK: - JSON

extension Fault {
  /// Inserts one more field at the beginning of the outermost object.
  private static func field(
    _ name: String, _ ids: [String], _ text: String, _ result: Result = .refused
  ) -> Fault {
    body(name, ids, result, format: "json") { body, _ in inserting(text, after: "{", in: body) }
  }

  private static let jsonTexts: [Fault] = [
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

  private static let jsonShapes: [Fault] = [
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

// MARK: - XML

extension Fault {
  private static func xml(
    _ name: String, _ ids: [String], _ result: Result = .refused,
    _ change: @escaping @Sendable (_ body: [UInt8], _ random: inout Random) -> [UInt8]
  ) -> Fault {
    body(name, ids, result, format: "xml", change)
  }

  /// Inserts a document type before the root, and text that uses it into the first title.
  private static func documentType(
    _ name: String, _ ids: [String], _ declaration: String, use: String = ""
  ) -> Fault {
    xml(name, ids) { body, _ in declaring(declaration, use: use, in: body) }
  }

  private static let xmlTexts: [Fault] = [
    xml("xml-truncated", ["F-X01", "F-Z07"]) { body, random in
      Array(body[..<random.pick(body.indices.filter { body[$0] == UInt8(ascii: "<") })])
    },
    xml("xml-truncated-anywhere", ["F-X01", "F-Z07"]) { body, random in cut(body, &random) },
    xml("xml-two-roots", ["F-X02", "F-Z07"]) { body, _ in
      body + Array("<rss version=\"2.0\"><channel></channel></rss>".utf8)
    },
    xml("xml-text-after-root", ["F-X02"]) { body, _ in body + Array("end of data".utf8) },
    xml("xml-root-renamed", ["F-X03"]) { body, _ in
      replacing("</rss>", by: "</html>", in: replacing("<rss", by: "<html", in: body))
    },
    xml("xml-unbalanced", ["F-X03"]) { body, _ in replacing("</channel>", by: "", in: body) },
    xml("xml-raw-nul", ["F-P08"]) { body, _ in inserting("\u{0}", after: "<title>", in: body) },
    xml("xml-unknown-entity", ["F-Z08"]) { body, _ in
      inserting("&nbsp;", after: "<title>", in: body)
    },
    xml("xml-deep-nesting", ["F-X07"]) { body, _ in
      let count = 100_000
      let nest =
        String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
      return inserting(nest, after: "<channel>", in: body)
    },
    // The XML parser fails above 10 MB, but only after it has delivered every element.
    xml("xml-over-ten-megabytes", ["F-X09", "F-Z08"]) { body, _ in
      body + [UInt8](repeating: 0x0A, count: 10_000_000)
    },
    xml("xml-comment-and-instruction", ["F-X09"], .harmless) { body, _ in
      inserting("<!-- <item> --><?pause no?>", after: "<channel>", in: body)
    },
  ]

  private static let xmlDeclarations: [Fault] = [
    documentType("xml-document-type", ["F-X05"], "<!DOCTYPE rss>"),
    documentType(
      "xml-internal-entity", ["F-X05", "F-X08"],
      "<!DOCTYPE rss [<!ENTITY brand \"Liberty\">]>", use: "&brand;"),
    documentType(
      "xml-external-entity", ["F-X05", "F-X06"],
      "<!DOCTYPE rss [<!ENTITY secret SYSTEM \"file:///etc/hostname\">]>", use: "&secret;"),
    documentType(
      "xml-external-document-type", ["F-X05", "F-X06"],
      "<!DOCTYPE rss SYSTEM \"http://redirected.invalid/rss.dtd\">"),
    documentType(
      "xml-billion-laughs", ["F-X05", "F-X07"], billionLaughs, use: "&l9;"),
    // A check that searches the bytes for the document type must also find it in another encoding.
    xml("xml-document-type-in-utf-16", ["F-X05"]) { body, _ in
      utf16(declaring("<!DOCTYPE rss [<!ENTITY brand \"X\">]>", use: "&brand;", in: body))
    },
    xml("xml-declares-utf-16", ["F-X10"]) { body, _ in
      replacing("encoding=\"UTF-8\"", by: "encoding=\"UTF-16\"", in: body)
    },
  ]

  private static let billionLaughs: String = {
    let entities = (1...9).map { level in
      "<!ENTITY l\(level) \"" + String(repeating: "&l\(level - 1);", count: 10) + "\">"
    }
    return "<!DOCTYPE rss [<!ENTITY l0 \"laugh\">\(entities.joined())]>"
  }()

  private static func declaring(_ declaration: String, use: String, in body: [UInt8]) -> [UInt8] {
    inserting(use, after: "<title>", in: inserting(declaration, after: "?>", in: body))
  }
}

// MARK: - Answers byte by byte

/// More than the client's default limit of 16 MB.
private let hugeMegabytes = 80

private let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

/// The status "Continue". Another head must follow.
private let interimHead = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

/// The head of an answer with status 200. The connection closes after the body.
private func head(_ fields: [String]) -> [UInt8] {
  let lines = ["HTTP/1.1 200 OK", "Connection: close"] + fields
  return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

private func whole(
  _ body: [UInt8], type: String?, _ fields: [String] = [], announcing length: Int? = nil
) -> Server.Answer {
  let type = type.map { ["Content-Type: \($0)"] } ?? []
  return .raw([head(type + ["Content-Length: \(length ?? body.count)"] + fields) + body])
}

/// A body in chunks of random size. The empty last chunk ends it.
private func chunked(_ body: [UInt8], _ random: inout Random) -> [[UInt8]] {
  var chunks: [[UInt8]] = []
  var rest = body[...]
  while !rest.isEmpty {
    let part = rest.prefix(random.integer(1...16_384))
    rest = rest.dropFirst(part.count)
    let size = String(part.count, radix: 16)
    chunks.append(Array("\(size)\r\n".utf8) + part + Array("\r\n".utf8))
  }
  return chunks + [Array("0\r\n\r\n".utf8)]
}

/// Cuts a body at a random position before its last byte that is not blank. Without its trailing
/// blank lines alone, a document would still be complete.
private func cut(_ body: [UInt8], _ random: inout Random) -> [UInt8] {
  let last = body.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
  return Array(body[..<random.integer(0...last)])
}

// MARK: - Changed documents

/// Inserts text after the first occurrence of a mark. A body without the mark is unchanged.
private func inserting(_ text: String, after mark: String, in body: [UInt8]) -> [UInt8] {
  guard let place = body.firstRange(of: Array(mark.utf8)) else { return body }
  return body[..<place.upperBound] + Array(text.utf8) + body[place.upperBound...]
}

private func replacing(_ old: String, by new: String, in body: [UInt8]) -> [UInt8] {
  body.replacing(Array(old.utf8), with: Array(new.utf8))
}

/// UTF-16 in little-endian order, without a byte order mark.
private func utf16(_ body: [UInt8]) -> [UInt8] {
  let bytes = body.starts(with: mark) ? body.dropFirst(mark.count) : body[...]
  let text = String(decoding: bytes, as: UTF8.self)
  return text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
}

/// Inserts text with one letter in Latin-1, in a new JSON field or in the first title.
private func latin1(_ body: [UInt8]) -> [UInt8] {
  let isObject = body.first == UInt8(ascii: "{")
  let spoiled = inserting(
    isObject ? "\"extra\":\"caf#\"," : "caf#", after: isObject ? "{" : "<title>", in: body)
  guard let place = spoiled.firstRange(of: Array("caf#".utf8)) else { return spoiled }
  return spoiled[..<(place.upperBound - 1)] + [0xE9] + spoiled[place.upperBound...]
}

/// Returns the offsets of a JSON document's bytes outside its strings. The quotes belong to the
/// strings.
private func structure(of body: [UInt8]) -> [Int] {
  var places: [Int] = []
  var isInString = false
  var isEscaped = false
  for (place, byte) in body.enumerated() {
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
      places.append(place)
    }
  }
  return places
}

/// Returns the range of the first list that is a value of the outermost object, brackets included.
/// Not every answer has one. FuelCheck's token answer has none and is not changed.
private func firstList(in body: [UInt8]) -> Range<Int>? {
  var depth = 0
  var start: Int?
  for place in structure(of: body) {
    switch body[place] {
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      depth += 1
      if depth == 2, body[place] == UInt8(ascii: "[") { start = place }
    case UInt8(ascii: "]"), UInt8(ascii: "}"):
      if depth == 2, let start { return start..<place + 1 }
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
  func isPart(_ place: Int) -> Bool {
    if let number, number.upperBound == place { return inside.contains(body[place]) }
    return digits.contains(body[place]) || body[place] == UInt8(ascii: "-")
  }
  func take() {
    guard let found = number else { return }
    result += body[copied..<found.lowerBound] + change(Array(body[found]))
    copied = found.upperBound
    number = nil
  }
  for place in structure(of: body) {
    if isPart(place) {
      number = (number?.lowerBound ?? place)..<place + 1
    } else {
      take()
    }
  }
  take()
  return result + body[copied...]
}

// MARK: - gzip

/// A body as gzip without name and date, so that the bytes are always the same.
private func zipped(_ body: [UInt8]) throws -> [UInt8] {
  // The input is a file. With pipes at both ends, this process and gzip could wait for each other.
  let plain = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try Data(body).write(to: plain)
  defer {
    // If this fails, a small file remains in a folder that the system empties.
    try? FileManager.default.removeItem(at: plain)
  }
  return try output(of: "gzip -9 -n -c '\(plain.path)'")
}

/// Zeros that decompress to more than any client accepts. Made once, on first use.
private let bomb = Result {
  try output(of: "head -c \(hugeMegabytes << 20) /dev/zero | gzip -9 -n")
}

private func output(of command: String) throws -> [UInt8] {
  let shell = Process()
  shell.executableURL = URL(filePath: "/bin/sh")
  shell.arguments = ["-c", command]
  let pipe = Pipe()
  shell.standardOutput = pipe
  try shell.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  shell.waitUntilExit()
  guard shell.terminationStatus == 0 else {
    throw Server.Failure(description: "status \(shell.terminationStatus) of: \(command)")
  }
  return [UInt8](data)
}
