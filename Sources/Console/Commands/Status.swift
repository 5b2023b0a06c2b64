import Configuration
import Feeds
import FuelModel
import Store

let statusCommand = Command(
  name: "status",
  summary: "Show how each feed is doing, what is late and why.",
  operands: "",
  examples: [
    ("bowser status", "one line per feed; exits with 0 whatever it shows"),
    ("bowser status --json", "the same and more for programs"),
  ],
  options: [.init(name: "json", value: nil, about: "one JSON object")],
  notes: """
    The JSON object has version (1), pipeline, feeds, not_set_up, last_runs, quarantined and
    last_aggregate; their members are columns of the views pipeline, feed_health, ingest_runs and
    aggregate_runs. As long as the version stays the same, members are only added. not_set_up lists the
    feeds that have no key and were never read, with the variable that is missing. quarantined lists the
    documents and files that broke their reader in the last thirty days and have not been read since.
    """
) { invocation in
  guard invocation.operands.isEmpty else { throw UsageError.message("status takes no operands") }
  let store = try invocation.readerStore(try invocation.settings())
  let now = try invocation.clock().now()
  let health = try store.health()
  let notSetUp = try notSetUp(
    invocation, read: Set(health.filter { $0.lastSuccess != nil }.map(\.feed)))
  if invocation.flags.contains("json") {
    write(try store.statusJSON(notSetUp: notSetUp) + "\n")
    return .done
  }
  let feeds = health.filter { health in !notSetUp.contains { $0.feed == health.feed } }
  let style = Style(invocation.environment)
  if feeds.isEmpty {
    write("No feed has been read yet: bowser ingest --all reads those that are set up.\n")
  } else {
    write(
      style.dim(
        padded("feed", 15) + padded("status", 9) + leftPadded("last good", 14)
          + leftPadded("newest price", 14) + leftPadded("stations", 10) + leftPadded("prices", 8)
          + leftPadded("calls left", 12)) + "\n")
  }
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
  for feed in notSetUp {
    write(padded(feed.feed, 15) + style.dim("not set up: set \(feed.missing)") + "\n")
  }
  for run in try store.quarantined() {
    let advice =
      run.isKept
      ? "bowser ingest --reprocess \(run.run) tries again" : "load it again with bowser backfill"
    write(
      padded("quarantined", 15) + style.bad("run \(run.run) of \(run.feed)")
        + ", \(age(run.at, now)): \(run.reason.asTerminalLine); \(advice)\n")
  }
  let pipeline = try store.pipeline()
  write(
    padded("aggregate", 15) + "last good \(age(pipeline.aggregatedAt, now))"
      + (pipeline.dirtyDays > 0 ? ", \(pipeline.dirtyDays) days to be recomputed" : "") + "\n")
  return .done
}

/// Returns the feeds of the configuration that have no key and were never read, and the missing
/// variable of each.
func notSetUp(
  _ invocation: Invocation, read: Set<String>
) throws -> [(feed: String, missing: String)] {
  let secrets = Secrets(environment: invocation.environment)
  return try invocation.sources().compactMap { source in
    // A key that cannot be used is reported by `bowser doctor`.
    guard source.settings.enabled, !read.contains(source.feed),
      case .missingSecret(_, _, let variable)? = try? source.missingSecret(in: secrets)
    else { return nil }
    return (source.feed, variable)
  }
}
