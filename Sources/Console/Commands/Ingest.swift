import Configuration
import Feeds
import Foundation
import FuelModel
import Logging
import Pipeline
import Store

let ingestCommand = Command(
  name: "ingest",
  summary: "Fetch feeds, normalise them and store what is new.",
  operands: "FEED... | --all | --reprocess RUN...",
  examples: [
    ("bowser ingest --all", "every feed that is due; silent when all is well"),
    ("bowser ingest wa-fuelwatch --summary", "one feed, with one line on what was read"),
    ("bowser ingest qld-fpd --record recordings", "also write the answers to a folder"),
    ("bowser ingest qld-fpd --replay recordings", "store recorded answers instead of fetching"),
    ("bowser ingest --reprocess 120-180", "read kept documents again after a fix or a new mapping"),
  ],
  options: [
    .init(name: "all", about: "every feed that is switched on and due by its cadence"),
    .init(name: "summary", about: "print one line per run on standard output"),
    .init(name: "record", value: "DIR", about: "also write the answers to DIR/FEED/INSTANT/"),
    .init(
      name: "replay", value: "DIR",
      about: "read the answers in DIR/FEED/INSTANT/; each run counts as fetched at its INSTANT"),
    .init(name: "isolated", about: ""),
    .init(
      name: "reprocess",
      about:
        "read kept documents again; the operands are runs of fuel_v1.ingest_runs, such as 120-180"),
    .init(
      name: "dry-run",
      about: "do everything, then roll back what was stored; requests still count"),
  ],
  notes: """
    Keys come from the environment (BOWSER_QLD_FPD_TOKEN), from a file that only you can read
    (BOWSER_QLD_FPD_TOKEN_FILE), or from a systemd credential (qld-fpd.token). docs/feeds.md lists
    the names for every feed, and `bowser doctor` checks them.

    Exit codes: 0 done or nothing new; 65 refused; 69 feed unavailable; 75 try again; 77 not allowed;
    78 configuration. With several feeds the worst code counts, and each failing feed is named.
    """,
  // This deadline is for answers kept on this machine. Fetching has `deadlineSeconds` of the
  // configuration.
  deadlineSeconds: 86_400
) { invocation in
  let settings = try invocation.settings()
  let sources = try invocation.sources()
  let work = IngestWork(invocation: invocation, settings: settings, clock: try invocation.clock())
  try invocation.refuse("all", "replay", "record", beside: "reprocess")
  try invocation.refuse("record", beside: "replay")
  if invocation.flags.contains("reprocess") {
    let runs = try runNumbers(invocation.operands)
    return work.reprocess(runs, sources, try invocation.store(settings))
  }
  let chosen = try choose(sources, invocation)
  if invocation.options["replay"] != nil {
    return work.replay(chosen, try invocation.store(settings))
  }
  // A provider is not asked for answers that cannot be kept.
  var isFolder: ObjCBool = true
  if let folder = invocation.options["record"],
    FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue
  {
    throw IngestError.recording(path: folder, reason: "is a file: name a folder")
  }
  guard invocation.flags.contains("isolated"), let source = chosen.first else {
    return try work.inProcesses(chosen)
  }
  WorkerProcess.endWithParent()
  return await work.live(source, try invocation.store(settings))
}

/// The numbers of runs that are given one by one or as ranges: `7 12-15`.
func runNumbers(_ operands: [String]) throws -> [Int] {
  guard !operands.isEmpty else { throw UsageError.message("name the runs, such as 120 or 120-180") }
  return try operands.flatMap { operand -> [Int] in
    let ends = operand.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2,
      first <= last, last - first < 1_000_000
    else {
      throw UsageError.message(
        "'\(operand)' must be a run such as 120, or a range of at most a million runs such as 120-180"
      )
    }
    return Array(first...last)
  }
}

private func choose(_ sources: [Source], _ invocation: Invocation) throws -> [Source] {
  if invocation.flags.contains("all") {
    guard invocation.operands.isEmpty else {
      throw UsageError.message("--all and names of feeds cannot be combined")
    }
    let enabled = sources.filter { $0.settings.enabled }
    guard !enabled.isEmpty else { throw ConfigurationError.noFeeds }
    return enabled
  }
  guard !invocation.operands.isEmpty else {
    throw UsageError.message(
      "which feed? one of \(sources.map(\.feed).joined(separator: ", ")), or --all")
  }
  return try invocation.operands.flatMap { word in
    let feed = try UsageError.meant(by: word, "feed", among: sources.map(\.feed))
    return sources.filter { $0.feed == feed }
  }
}

/// The work of one `bowser ingest`, for all its feeds.
private struct IngestWork {
  let invocation: Invocation
  let settings: Settings<Invocation.Table>
  let clock: Clock

  /// Fetches one feed in this process.
  func live(_ source: Source, _ store: Store) async -> ExitCode {
    var worst = ExitCode.done
    do {
      // No attempt is recorded with a key that cannot be used.
      _ = try source.missingSecrets(in: secrets)
      let summary = try await ingest(source, store).live(
        try invocation.fetch(source, settings, until: try invocation.deadline(settings)),
        recording: invocation.options["record"].map { Recording(folder: $0) },
        isRehearsal: invocation.flags.contains("dry-run"))
      tell(source.feed, .success(summary), &worst)
    } catch {
      tell(source.feed, .failure(error), &worst)
    }
    return worst
  }

  /// Fetches each feed in a process of its own, all at the same time. A failure of one, even a
  /// crash in the platform's networking, does not affect the others.
  func inProcesses(_ sources: [Source]) throws -> ExitCode {
    // The connection is opened here, so that an unavailable database is reported once.
    let store = try invocation.store(settings)
    // `--all` is meant for cron and skips a feed that is not due.
    guard !invocation.flags.contains("all") else {
      return WorkerProcess.run(
        try sources.filter { try isDue($0, store) }.map(\.feed), like: invocation)
    }
    var worst = ExitCode.done
    let ready = sources.filter { hasKeys($0, &worst) }
    return WorkerProcess.run(ready.map(\.feed), like: invocation).worse(than: worst)
  }

  /// Whether a feed that was named has its keys. If not, that is reported here and no attempt is
  /// recorded, because its provider is not asked.
  private func hasKeys(_ source: Source, _ worst: inout ExitCode) -> Bool {
    // The run itself reports a key that cannot be used, and a feed that is switched off.
    guard source.settings.enabled, let missing = try? source.missingSecrets(in: secrets) else {
      return true
    }
    for error in missing { tell(source.feed, .failure(error), &worst) }
    return missing.isEmpty
  }

  /// Whether a feed is due. A feed that was never read and has no key is not set up, which is no
  /// error.
  private func isDue(_ source: Source, _ store: Store) throws -> Bool {
    let ingest = try ingest(source, store)
    // The run itself reports a key that cannot be used.
    let isKeyMissing = (try? source.missingSecrets(in: secrets))?.isEmpty == false
    if try isKeyMissing && !ingest.wasRead() { return false }
    return try ingest.isDue(hasSecrets: !isKeyMissing)
  }

  private var secrets: Secrets { Secrets(environment: invocation.environment) }

  func replay(_ sources: [Source], _ store: Store) -> ExitCode {
    withoutNetwork(store) { worst in
      for source in sources {
        do {
          let recording = Recording(folder: invocation.options["replay"] ?? "")
          for run in try recording.runs(of: source.feed) {
            let result = Result { try ingest(source, store).replay(run.documents()) }
            // What stops one run for now, such as a lost connection, stops all the others.
            if tell(source.feed, result, &worst) == .tryAgain { break }
          }
        } catch {
          tell(source.feed, .failure(error), &worst)
        }
      }
    }
  }

  func reprocess(_ runs: [Int], _ sources: [Source], _ store: Store) -> ExitCode {
    withoutNetwork(store) { worst in
      var done: Set<Int> = []
      var feeds: Set<String> = []
      for number in runs {
        do {
          let kept = try store.ledger.keptRun(number)
          // A run that reprocessed the documents of another run stands for that run.
          guard done.insert(kept.run.number).inserted else { continue }
          guard let source = sources.first(where: { $0.feed == kept.feed }) else {
            throw ConfigurationError.unknownFeed(kept.feed)
          }
          let result = Result { try ingest(source, store).reprocess(kept) }
          if case .success = result { feeds.insert(kept.feed) }
          if tell(kept.feed, result, &worst) == .tryAgain { return }
        } catch is BodyError where runs.count > 1 {
          // A range may contain numbers of no run, runs without documents, and withdrawn runs. They
          // are skipped.
          continue
        } catch {
          if tell("run \(number)", .failure(error), &worst) == .tryAgain { return }
        }
      }
      do {
        for feed in feeds.sorted() {
          let left = try store.ledger.keptRuns(of: feed, notIn: Array(done))
          guard !left.isEmpty else { continue }
          talk(
            "bowser: \(feed): later runs with kept documents were not read again: "
              + "\(left.count), from \(left[0]) to \(left[left.count - 1]). "
              + "They count as they were read before.\n")
        }
      } catch {
        tell("kept runs", .failure(error), &worst)
      }
    }
  }

  /// Does work that needs no network. A dry run takes it back at the end.
  private func withoutNetwork(
    _ store: Store, _ body: (inout ExitCode) -> Void
  ) -> ExitCode {
    var worst = ExitCode.done
    let isRehearsal = invocation.flags.contains("dry-run")
    do {
      if isRehearsal { try store.beginRehearsal() }
      body(&worst)
      if isRehearsal { try store.endRehearsal() }
    } catch {
      tell("dry run", .failure(error), &worst)
    }
    return worst
  }

  private func ingest(_ source: Source, _ store: Store) throws -> Ingest {
    Ingest(
      source, store: store, clock: clock, reader: try invocation.reader(settings),
      log: invocation.logger(settings))
  }

  /// Reports the result of a feed in one line: on standard output if a summary was requested, on
  /// standard error if the run failed.
  ///
  /// - Returns: the exit code for this result alone.
  @discardableResult
  private func tell(
    _ feed: String, _ result: Result<Ingest.Summary, any Error>, _ worst: inout ExitCode
  ) -> ExitCode {
    switch result {
    case .failure(var error):
      // An instant that was given is not the clock of this machine.
      if case IngestError.clockIsWrong(let seconds) = error, invocation.options["now"] != nil {
        error = UsageError.message(
          "--now is \(abs(seconds)) s \(seconds > 0 ? "behind" : "ahead of") the provider's clock: "
            + "leave it out; nothing was stored")
      }
      writeError("\(feed): \(error)")
      let code = ExitCode(for: error)
      worst = code.worse(than: worst)
      return code
    case .success(let summary):
      guard invocation.flags.contains("summary") else { return .done }
      let counts = summary.counts
      write(
        "\(summary.feed) run=\(summary.run) taken_at=\(summary.takenAt) \(counts.words)"
          + counts.reasons + (counts.flagged > 0 ? " flagged=\(counts.flagged)" : "")
          + (counts.unmapped > 0 ? " unmapped=\(counts.unmapped)" : "")
          + counts.warnings.map { " (\($0))" }.joined() + "\n")
      return .done
    }
  }
}
