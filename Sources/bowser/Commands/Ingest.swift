import Configuration
import Feeds
import Foundation
import FuelModel
import HTTP
import Pipeline
import Store

let ingestCommand = Command(
  name: "ingest",
  summary: "Fetch feeds, normalise them and store what is new.",
  operands: "FEED... | --all",
  examples: [
    ("bowser ingest --all", "every feed that is due; silent when all is well"),
    ("bowser ingest wa-fuelwatch --summary", "one feed, with a line on what came"),
    ("bowser ingest qld-fpd --record recordings", "keep what came as well"),
    ("bowser ingest qld-fpd --replay recordings", "store recorded answers instead of fetching"),
  ],
  options: [
    .init(name: "all", value: nil, about: "every feed that is switched on and due by its cadence"),
    .init(name: "summary", value: nil, about: "one line a run on standard output"),
    .init(name: "record", value: "DIR", about: "keep the answers in DIR/FEED/INSTANT/"),
    .init(
      name: "replay", value: "DIR", about: "read such a folder; each run counts as fetched then"),
    .init(
      name: "dry-run", value: nil,
      about: "do everything, then take back what was stored; requests still count"),
  ],
  notes: """
    Keys come from the environment (BOWSER_QLD_FPD_TOKEN), from a file that only you can read
    (BOWSER_QLD_FPD_TOKEN_FILE), or from a systemd credential (qld-fpd.token); the same for sa-fpd,
    and for nsw-fuelcheck with «key» and «secret». wa-fuelwatch needs none.

    Exit codes: 0 done or nothing new; 65 refused; 69 feed unavailable; 75 try again; 77 not allowed;
    78 configuration. Over several feeds the worst counts, and each is named.
    """
) { invocation in
  let settings = try invocation.settings()
  let sources = try invocation.sources()
  let chosen = try choose(sources, invocation)
  let clock = try invocation.clock()
  let deadline = ContinuousClock.now + .seconds(settings.integer("deadlineSeconds"))
  // A replay is work of this machine alone and may take as long as it takes.
  if invocation.options["replay"] == nil {
    Watchdog.start(seconds: settings.integer("deadlineSeconds") + 10)
  }
  let store = try invocation.store(settings)
  let run = IngestRun(
    invocation: invocation, settings: settings, store: store, clock: clock,
    client: invocation.client(settings))
  var worst = ExitCode.done
  for (position, source) in chosen.enumerated() {
    // What is left is shared by those still to come, so that one that hangs starves none.
    let left = deadline - .now
    let share = ContinuousClock.now + left / (chosen.count - position)
    do {
      if invocation.options["replay"] != nil {
        try run.replay(source)
      } else {
        try await run.live(source, until: share)
      }
    } catch {
      talk("bowser: \(source.feed): \(error)\n")
      let code = ExitCode(for: error)
      if code.badness > worst.badness { worst = code }
    }
  }
  return worst
}

private func choose(_ sources: [Source], _ invocation: Invocation) throws -> [Source] {
  if invocation.flags.contains("all") {
    guard invocation.operands.isEmpty else {
      throw UsageError.message("--all and names of feeds do not go together")
    }
    let enabled = sources.filter { $0.settings.boolean("enabled") }
    guard !enabled.isEmpty else { throw ConfigurationError.noFeeds }
    return enabled
  }
  guard !invocation.operands.isEmpty else {
    throw UsageError.message(
      "which feed? one of \(sources.map(\.feed).joined(separator: ", ")), or --all")
  }
  return try invocation.operands.map { name in
    guard let source = sources.first(where: { $0.feed == name }) else {
      throw ConfigurationError.unknownFeed(
        name, suggestion: nearest(to: name, in: sources.map(\.feed)))
    }
    return source
  }
}

/// What all feeds of one call share.
private struct IngestRun {
  let invocation: Invocation
  let settings: Settings
  let store: Store
  let clock: Clock
  let client: Client

  func live(_ source: Source, until deadline: ContinuousClock.Instant) async throws {
    let ingest = self.ingest(source)
    // «Every feed» is for cron: one that has nothing to tell yet is left alone.
    if invocation.flags.contains("all"), try !ingest.isDue() { return }
    tell(
      try await ingest.live(
        fetch(source, until: deadline),
        recording: invocation.options["record"].map { Recording(folder: $0) },
        isRehearsal: invocation.flags.contains("dry-run")))
  }

  func replay(_ source: Source) throws {
    let isRehearsal = invocation.flags.contains("dry-run")
    if isRehearsal { try store.beginRehearsal() }
    let result = Result {
      for documents in try Recording(folder: invocation.options["replay"] ?? "").runs(
        of: source.feed)
      {
        tell(try ingest(source).replay(documents))
      }
    }
    if isRehearsal { try store.endRehearsal() }
    try result.get()
  }

  private func ingest(_ source: Source) -> Ingest {
    Ingest(source, store: store, clock: clock, log: invocation.logger(settings))
  }

  private func fetch(_ source: Source, until deadline: ContinuousClock.Instant) -> Fetch {
    Fetch(
      source, client: client,
      retry: Retry(
        attempts: settings.integer("attempts"), deadline: deadline,
        leastSeconds: source.settings.integer("leastSecondsBetweenRuns")),
      secrets: Secrets(environment: invocation.environment), contact: settings.text("contact"))
  }

  private func tell(_ summary: Ingest.Summary) {
    guard invocation.flags.contains("summary") else { return }
    let counts = summary.counts
    write(
      "\(summary.feed) run=\(summary.run) taken_at=\(summary.takenAt) received=\(counts.received) "
        + "stored=\(counts.stored) unchanged=\(counts.unchanged) duplicate=\(counts.duplicate) "
        + "rejected=\(counts.rejected)"
        + counts.rejectedByReason.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        .joined()
        + "\n")
  }
}
