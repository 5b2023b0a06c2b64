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

  /// What was read of a document, as text; `nil` where it is refused.
  private func whole(_ text: String) -> [String]? {
    guard let whole = try? decodeJSON(Whole.self, from: Sample.document("prices", text)) else {
      return nil
    }
    return (whole.a + whole.b).map { "\($0)" }
  }

  private func inPieces(_ text: String, of bytes: Int) -> (rows: [String], parts: Int)? {
    let parts = Mutex(0)
    var reading = Reading(coverage: .complete) { _ in parts.withLock { $0 += 1 } }
    var rows: [String] = []
    do {
      let lists = try JSONLists(Sample.document("prices", text), pieceBytes: bytes)
      for key in ["a", "b"] {
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
  /// JSON stays none wherever the pieces are cut.
  @Test func piecesAreTheWhole() throws {
    var random = Random(seed: 13, "pieces")
    var (read, refused) = (0, 0)
    for _ in 0..<4_000 {
      var text = Array(Self.document(&random).utf8)
      if random.chance(0.5) {
        let position = random.integer(0...text.count - 1)
        switch random.integer(0...2) {
        case 0: text.remove(at: position)
        case 1: text.insert(random.pick(Array("[]{},:\"1 ".utf8)), at: position)
        default: text[position] = random.pick(Array("[]{},:\"1 ".utf8))
        }
      }
      let document = String(decoding: text, as: UTF8.self)
      let size = random.integer(0...60)
      let expected = whole(document)
      #expect(inPieces(document, of: size)?.rows == expected, "\(document) in pieces of \(size)")
      if expected == nil { refused += 1 } else { read += 1 }
    }
    #expect(read > 1_000 && refused > 500, "\(read) read, \(refused) refused")
  }

  /// What was read of a piece is handed on before the next one is read.
  @Test func piecesAreHandedOn() {
    let rows = (0..<100).map { "{\"number\":\($0)}" }.joined(separator: ",")
    let text = "{\"a\":[\(rows)],\"b\":[]}"
    #expect(inPieces(text, of: 100)?.parts ?? 0 > 10)
    #expect(inPieces(text, of: .max)?.parts == 2)
    #expect(inPieces(text, of: 100)?.rows == whole(text))
  }

  /// A missing list is named, and so is a value that is none.
  @Test(arguments: [
    ("{}", "the document: 'a' is missing"), ("{\"a\":null}", "'a' is not a list"),
    ("{\"a\":{\"a\":[]}}", "'a' is not a list"), ("[]", "the document: 'a' is missing"),
    ("null", "the document: 'a' is missing"),
  ])
  func whatIsNoListIsRefused(text: String, reason: String) throws {
    let lists = try JSONLists(Sample.document("prices", text))
    var reading = Reading(coverage: .complete)
    #expect(throws: FeedError.malformed(document: "prices", reason: reason)) {
      try lists.read("a", of: Row.self, into: &reading) { _, _ in }
    }
  }
}
