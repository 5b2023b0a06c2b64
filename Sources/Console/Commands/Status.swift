import Configuration
import Feeds
import FuelModel
import Views

let statusCommand = Command(
  name: "status",
  summary: "Show how each feed is doing, what is late and why.",
  examples: [
    ("bowser status", "one line per feed; exits with 0 whatever it shows"),
    ("bowser status --json", "the same and more for programs"),
  ],
  options: [.init(name: "json", about: "one JSON object")],
  notes: """
    The JSON object has version (1), pipeline, feeds, not_set_up, last_runs, quarantined and
    last_aggregate; their members are columns of the views pipeline, feed_health, ingest_runs and
    aggregate_runs. As long as the version stays the same, members are only added. not_set_up lists the
    feeds that have no key and were never read, with the variable that is missing. quarantined lists the
    documents and files that broke their reader in the last thirty days and have not been read since.
    """
) { invocation in
  let settings = try invocation.settings()
  let views = try invocation.views(settings)
  let now = try invocation.clock().now()
  let health = try views.health()
  let notSetUp = try notSetUp(invocation, health)
  if invocation.flags.contains("json") {
    write(try views.statusJSON(notSetUp: notSetUp) + "\n")
    return .done
  }
  let feeds = health.filter { health in !notSetUp.contains { $0.feed == health.feed } }
  let style = Style(invocation.environment)
  if feeds.isEmpty {
    write("No feed has been read yet; the next step:\n  bowser ingest --all\n")
  } else {
    write(table(feeds, now, style))
  }
  for feed in notSetUp {
    let words = style.wrapped("not set up: set \(feed.missing)", after: padded("", 15))
    write(padded(feed.feed, 15) + style.dim(words) + "\n")
  }
  for run in try views.quarantined() {
    let advice =
      run.isKept
      ? "bowser ingest --reprocess \(run.run) tries again" : "load it again with bowser backfill"
    let words = "run \(run.run) of \(run.feed), \(age(run.at, now)): \(run.reason.asTerminalLine)"
    write(
      style.bad(padded("quarantined", 15)) + style.wrapped(words, after: padded("", 15)) + "\n"
        + padded("", 15) + advice + "\n")
  }
  let pipeline = try views.pipeline()
  write(
    padded("aggregate", 15) + "last good \(age(pipeline.aggregatedAt, now))"
      + (pipeline.daysDue > 0 ? ", \(pipeline.daysDue) days to be recomputed" : "") + "\n")
  return .done
}

/// One line for each feed, and below it what is late. The last columns are left out where the line
/// is too narrow for them.
private func table(_ feeds: [FeedHealth], _ now: Instant, _ style: Style) -> String {
  let all: [(head: String, width: Int, cell: (FeedHealth) -> String)] = [
    ("last good", 14, { age($0.lastSuccess, now) }),
    ("newest price", 14, { age($0.newestPrice, now) }),
    ("stations", 10, { String($0.stations) }),
    ("prices", 8, { String($0.prices) }),
    ("calls left", 12, { $0.quotaLeft.map { String($0) } ?? "" }),
  ]
  let left = max(15, (feeds.map(\.feed.columns).max() ?? 0) + 2)
  var room = style.width - left - 9
  let shown = all.prefix { column in
    room -= column.width
    return room >= 0
  }
  let head = shown.map { leftPadded($0.head, $0.width) }.joined()
  var text = style.dim(padded("feed", left) + padded("status", 9) + head) + "\n"
  for feed in feeds {
    let word = padded(feed.status, 9)
    text += padded(feed.feed, left) + (feed.status == "ok" ? word : style.bad(word))
    text += shown.map { leftPadded($0.cell(feed), $0.width) }.joined() + "\n"
    guard let why = feed.why else { continue }
    let since =
      feed.status == "ok"
      ? "" : feed.since.map { "for \(age($0, now).replacing(" ago", with: "")): " } ?? ""
    text += "  " + style.dim(style.wrapped(since + why.asTerminalLine, after: "  ")) + "\n"
  }
  return text
}

/// Returns the feeds of the configuration that lack a key and were never read, and the missing
/// variables of each.
func notSetUp(
  _ invocation: Invocation, _ health: [FeedHealth]
) throws -> [(feed: String, missing: String)] {
  let secrets = Secrets(environment: invocation.environment)
  let read = health.filter { $0.lastSuccess != nil }.map(\.feed)
  return try invocation.sources().compactMap { source in
    // A key that cannot be used is reported by `bowser doctor`.
    guard source.settings.enabled, !read.contains(source.feed),
      let missing = try? source.missingSecrets(in: secrets), !missing.isEmpty
    else { return nil }
    let variables = missing.map { error in
      if case .missingSecret(_, _, let variable) = error { variable } else { "" }
    }
    return (source.feed, variables.joined(separator: " and "))
  }
}
