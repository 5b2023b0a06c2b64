import FuelModel
import Testing

@testable import Feeds

/// Lists that are values of a document's outermost object.
struct JSONListsTests {
  private struct Row: Listed {
    static let listKey = "a"
    let number: Int
  }

  private func rows(_ text: String) throws -> [Lenient<Row>] {
    try decodeList(of: Row.self, from: Sample.document("prices", text), mayBeEmpty: true)
  }

  /// F-J10: what nobody reads is JSON too: a key that is no text, a list that nobody asks for, and a
  /// comma before the first element.
  @Test(arguments: [
    "{\"a\":[],\"\\q\":1}", "{\"\\a\":[]}", "{\"a\":[],\"\n\":1}", "{\"a\":[],\"\\ud800\":1}",
    "{\"a\":[],\"x\":[<html>]}", "{\"a\":[],\"x\":[1,,2]}", "{\"a\":[   ,{\"number\":1}]}",
    "[]{\"a\":[]}", "{\"a\":[]}[]",
  ])
  func whatIsNotReadIsJSONToo(text: String) {
    #expect(throws: FeedError.self) { try rows(text) }
  }

  /// A missing list is named, and so is a value that is none.
  @Test(arguments: [
    ("{\"b\":1}", "the document: 'a' is missing"), ("{\"a\":null}", "a is null"),
    ("{\"a\":{\"a\":[]}}", "a is not a list"), ("[1]", "the document is not an object"),
    ("1", "the document is not an object"),
  ])
  func whatIsNoListIsRefused(text: String, reason: String) {
    #expect(throws: FeedError.malformed(document: "prices", reason: reason)) { try rows(text) }
  }
}
