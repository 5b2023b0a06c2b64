import Archives
import Feeds
import FuelModel
import Pipeline
import Store

let gapsCommand = Command(
  name: "gaps",
  summary: "List the days without data, and how to fill them.",
  operands: "[FEED...]",
  examples: [
    ("bowser gaps", "every feed"),
    ("bowser gaps nsw", "one feed and its archive; the beginning of a name is enough"),
  ]
) { invocation in
  let sources = try invocation.sources()
  let meant = try invocation.operands.map {
    try UsageError.meant(by: $0, "feed", among: sources.map(\.feed))
  }
  let archives = try invocation.archives(beside: sources)
  let store = try invocation.store(try invocation.settings())
  let wanted = sources.filter { meant.isEmpty || meant.contains($0.feed) }
  let now = try invocation.clock().now()
  let found = gaps(
    try store.stations.knownDays(now: now),
    feeds: wanted.map { ($0.feed, $0.state.timeZone, $0.provider.keptAnswers?.name) },
    archives: archives,
    now: now)
  for gap in found {
    let span = gap.from == gap.to ? "\(gap.from)" : "\(gap.from) to \(gap.to)"
    write(
      padded(gap.feed, 15) + padded(span, 26)
        + padded("\(gap.dayCount) day\(gap.dayCount == 1 ? "" : "s")", 12)
        + (gap.command ?? "no published file can fill it") + "\n")
  }
  if found.isEmpty { write("Nothing is missing.\n") }
  return .done
}
