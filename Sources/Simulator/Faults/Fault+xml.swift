/// Answers that are broken XML, or XML with a document type.
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

  static let xmlTexts: [Fault] = [
    xml("xml-truncated", ["F-X01", "F-Z07"]) { body, random in
      // Also served in place of JSON, which has none.
      let marks = body.indices.filter { body[$0] == UInt8(ascii: "<") }
      return marks.isEmpty ? cut(body, &random) : Array(body[..<random.pick(marks)])
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

  static let xmlDeclarations: [Fault] = [
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
