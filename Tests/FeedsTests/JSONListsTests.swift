import FuelModel
import Simulator
import Synchronization
import Testing

@testable import Feeds

/// Lists that are decoded in pieces.
struct JSONListsTests {
  private struct Row: Decodable, Equatable {
    let number: Int
    let text: String?
  }

  private struct Whole: Decodable {
    let a: [Lenient<Row>]
    let b: [Lenient<Row>]
  }

  private struct First: Decodable {
    let a: [Lenient<Row>]
  }

  /// What was read of the lists with some keys, as text; `nil` where the document is refused.
  private func whole(_ document: Document, _ keys: [String]) -> [String]? {
    guard keys.count > 1 else {
      return (try? decodeJSON(First.self, from: document))?.a.map { "\($0)" }
    }
    return (try? decodeJSON(Whole.self, from: document)).map { ($0.a + $0.b).map { "\($0)" } }
  }

  private func inPieces(
    _ document: Document, _ keys: [String], of bytes: Int
  ) -> (rows: [String], parts: Int)? {
    let parts = Mutex(0)
    var reading = Reading(coverage: .complete) { _ in parts.withLock { $0 += 1 } }
    var rows: [String] = []
    do {
      let lists = try JSONLists(document, of: Set(keys), pieceBytes: bytes)
      for key in keys {
        try lists.read(key, of: Row.self, into: &reading) { row, _ in rows.append("\(row)") }
      }
    } catch {
      return nil
    }
    return (rows, parts.withLock { $0 })
  }

  private static let texts = [
    "plain", "a],[b", "}{", "\\\"],", "\\u005d", "é€😀", ",", "\\\\", "[1,2]",
  ]

  private static func document(_ random: inout Random) -> String {
    let blanks = ["", "", " ", "\n\t"]
    func list(_ random: inout Random) -> String {
      let rows = (0..<random.integer(0...6)).map { number in
        let row =
          switch random.integer(0...4) {
          case 0: "[\(number),[]]"
          case 1: "null"
          default: "{\"number\":\(number),\"text\":\"\(random.pick(texts))\"}"
          }
        return random.pick(blanks) + row + random.pick(blanks)
      }
      return "[" + rows.joined(separator: ",") + "]"
    }
    let members = [
      "\"a\":" + list(&random), "\"\\u0062\":" + list(&random),
      "\"c\":{\"a\":" + list(&random) + "}", "\"d\": 1.5",
    ]
    return "{" + members.shuffled(using: &random).joined(separator: random.pick(blanks) + ",") + "}"
  }

  /// A list in pieces of any size is the list that the decoder reads at once, and a text that is no
  /// JSON stays none, wherever the pieces are cut and whichever lists are read.
  @Test func piecesAreTheWhole() throws {
    var random = Random(seed: 13, "pieces")
    var (read, refused) = (0, 0)
    let bytes = Array("[]{},:\"1\\ \n\u{1}é".utf8) + [0xFF]
    for _ in 0..<6_000 {
      var document = Sample.document("prices", Self.document(&random))
      if random.chance(0.5) {
        let position = random.integer(0...document.bytes.count - 1)
        switch random.integer(0...2) {
        case 0: document.bytes.remove(at: position)
        case 1: document.bytes.insert(random.pick(bytes), at: position)
        default: document.bytes[position] = random.pick(bytes)
        }
      }
      let size = random.chance(0.3) ? 0 : random.integer(0...60)
      let keys = random.chance(0.3) ? ["a"] : ["a", "b"]
      let expected = whole(document, keys)
      #expect(
        inPieces(document, keys, of: size)?.rows == expected,
        "\(String(decoding: document.bytes, as: UTF8.self)) in pieces of \(size)")
      if expected == nil { refused += 1 } else { read += 1 }
    }
    #expect(read > 1_000 && refused > 500, "\(read) read, \(refused) refused")
  }

  /// F-J10: what the decoder would refuse is refused where it is not read: a key that is no text, a list
  /// that nobody asks for, and a comma before the first element.
  @Test(arguments: [
    "{\"a\":[],\"\\q\":1}", "{\"\\a\":[]}", "{\"a\":[],\"\n\":1}", "{\"a\":[],\"\\ud800\":1}",
    "{\"a\":[],\"x\":[<html>]}", "{\"a\":[],\"x\":[1,,2]}", "{\"a\":[   ,{\"number\":1}]}",
    "[]{\"a\":[]}", "{\"a\":[]}[]",
  ])
  func whatIsNotReadIsJSONToo(text: String) {
    let document = Sample.document("prices", text)
    #expect(inPieces(document, ["a"], of: 1) == nil)
    #expect(whole(document, ["a"]) == nil)
  }

  /// What was read of a piece is handed on before the next one is read.
  @Test func piecesAreHandedOn() {
    let rows = (0..<100).map { "{\"number\":\($0)}" }.joined(separator: ",")
    let document = Sample.document("prices", "{\"a\":[\(rows)],\"b\":[]}")
    #expect(inPieces(document, ["a", "b"], of: 100)?.parts ?? 0 > 10)
    #expect(inPieces(document, ["a", "b"], of: .max)?.parts == 2)
    #expect(inPieces(document, ["a", "b"], of: 100)?.rows == whole(document, ["a", "b"]))
  }

  /// A missing list is named, and so is a value that is none.
  @Test(arguments: [
    ("{\"b\":1}", "the document: 'a' is missing"), ("{\"a\":null}", "'a' is not a list"),
    ("{\"a\":{\"a\":[]}}", "'a' is not a list"), ("[1]", "the document is not an object"),
    ("1", "the document is not an object"),
  ])
  func whatIsNoListIsRefused(text: String, reason: String) throws {
    let lists = try JSONLists(Sample.document("prices", text), of: ["a"])
    var reading = Reading(coverage: .complete)
    #expect(throws: FeedError.malformed(document: "prices", reason: reason)) {
      try lists.read("a", of: Row.self, into: &reading) { _, _ in }
    }
  }
}
