import FuelModel
import Store

let statusCommand = Command(
  name: "status",
  summary: "Show how each feed is doing.",
  operands: "",
  examples: [("bowser status", "a line a feed; exit 0 whatever it says")],
  options: []
) { invocation in
  guard invocation.operands.isEmpty else { throw UsageError.message("status takes no operands") }
  let store = try invocation.readerStore(try invocation.settings())
  if invocation.options["now"] != nil {
    try store.setViewClock(try invocation.clock().now().description)
  }
  let feeds = try store.health()
  if feeds.isEmpty { write("No feed was read yet.\n") }
  for feed in feeds {
    write(
      padded(feed.feed, 15) + padded(feed.status, 9)
        + "last good \(feed.lastSuccess ?? "never")  \(feed.stations) stations, \(feed.prices) prices"
        + (feed.quotaLeft.map { "  \($0) calls left" } ?? "")
        + (feed.why.map { "  since \(feed.since ?? "ever"): \($0)" } ?? "") + "\n")
  }
  return .done
}
