import FuelModel
import Store

let statusCommand = Command(
  name: "status",
  summary: "Show how each feed is doing, what is late and why.",
  operands: "",
  examples: [
    ("bowser status", "a line a feed; exit 0 whatever it says"),
    ("bowser status --json", "the same and more for programs"),
  ],
  options: [.init(name: "json", value: nil, about: "one JSON object")],
  notes: """
    The JSON object has version (1), pipeline, feeds, last_runs, quarantined and last_aggregate; their
    members are columns of the views pipeline, feed_health, ingest_runs and aggregate_runs. Members
    are only ever added while the version stays. What is quarantined broke its reader in the last
    thirty days, and was not read since.
    """
) { invocation in
  guard invocation.operands.isEmpty else { throw UsageError.message("status takes no operands") }
  let store = try invocation.readerStore(try invocation.settings())
  let now = try invocation.clock().now()
  if invocation.flags.contains("json") {
    write(try store.statusJSON() + "\n")
    return .done
  }
  let feeds = try store.health()
  guard !feeds.isEmpty else {
    write("No feed was read yet.\n")
    return .done
  }
  let style = Style(invocation.environment)
  write(
    style.dim(
      padded("feed", 15) + padded("status", 9) + leftPadded("last good", 14)
        + leftPadded("newest price", 14) + leftPadded("stations", 10) + leftPadded("prices", 8)
        + leftPadded("calls left", 12)) + "\n")
  for feed in feeds {
    let word = padded(feed.status, 9)
    write(
      padded(feed.feed, 15) + (feed.status == "ok" ? word : style.bad(word))
        + leftPadded(age(feed.lastSuccess, now), 14) + leftPadded(age(feed.newestPrice, now), 14)
        + leftPadded(String(feed.stations), 10) + leftPadded(String(feed.prices), 8)
        + leftPadded(feed.quotaLeft.map(String.init) ?? "", 12) + "\n")
    if let why = feed.why {
      let since =
        feed.status == "ok"
        ? "" : feed.since.map { "for \(age($0, now).replacing(" ago", with: "")): " } ?? ""
      write("  " + style.dim(since + why) + "\n")
    }
  }
  for run in try store.quarantined() {
    let advice =
      run.isKept ? "bowser ingest --reprocess \(run.run) tries again" : "load it again by backfill"
    write(
      padded("quarantined", 15) + style.bad("run \(run.run) of \(run.feed)")
        + ", \(age(run.at, now)): \(run.reason.asTerminalLine); \(advice)\n")
  }
  let pipeline = try store.pipeline()
  write(
    padded("aggregate", 15) + "last good \(age(pipeline.aggregatedAt, now))"
      + (pipeline.dirtyDays > 0 ? ", \(pipeline.dirtyDays) days wait to be made again" : "") + "\n")
  return .done
}

/// How long ago something was, in the unit that suits it.
private func age(_ instant: Instant?, _ now: Instant) -> String {
  guard let instant else { return "never" }
  let seconds = now.seconds - instant.seconds
  return switch seconds {
  case ..<0: "ahead"
  case ..<120: "\(seconds) s ago"
  case ..<7_200: "\(seconds / 60) min ago"
  case ..<172_800: "\(seconds / 3_600) h ago"
  default: "\(seconds / 86_400) days ago"
  }
}
