import Feeds
import FuelModel
import Testing

/// F-J60: an answer without content is called empty, whoever reads it.
struct EmptinessTests {
  @Test(
    arguments: [
      ("nsw-fuelcheck", "prices"), ("qld-fpd", "prices"), ("vic-fairfuel", "prices"),
      ("nt-myfuel", "page"), ("wa-fuelwatch", "today-1"),
    ], ["", " \n\t", "\u{FEFF}", "{}", "[ ]", "{\r\n}", "null"])
  func nothingIsCalledEmpty(feed: (String, String), text: String) throws {
    let error = #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document(feed.1, text)], feed.0)
    }
    guard case .malformed(feed.1, let reason)? = error else {
      Issue.record("\(feed.0): \(error.map { "\($0)" } ?? "")")
      return
    }
    let blanks: Set<Character> = [" ", "\n", "\t", "\u{FEFF}", "\r\n"]
    let rest = String(text.filter { !blanks.contains($0) })
    #expect(reason == "the answer is empty" + (rest.isEmpty ? "" : ": \(rest)"), "\(reason)")
  }
}
