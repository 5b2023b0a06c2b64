import Archives
import Feeds
import Foundation
import FuelModel
import Pipeline
import Store

let backfillCommand = Command(
  name: "backfill",
  summary: "Load historical archives; resumes by itself.",
  operands: "ARCHIVE FILE...",
  examples: [
    ("bowser backfill wa-fuelwatch downloads/", "the files of a folder"),
    ("bowser backfill nsw-fuelcheck price_history_*.xlsx --summary", "with one line per file"),
    ("bowser backfill qld-fuel-prices --dry-run july.csv.gz", "try it without storing anything"),
    ("curl -s URL | bowser backfill wa-fuelwatch -", "from standard input"),
    ("bowser backfill vic-servo-saver prices/", "daily files of Victoria"),
    ("bowser backfill recordings recordings/", "answers of any feed that ingest --record kept"),
  ],
  options: [
    .init(name: "summary", about: "print what became of each file on standard output"),
    .init(name: "dry-run", about: "do everything, then roll it back"),
    .init(name: "recursive", about: "also read the folders in a folder"),
    .init(
      name: "again", about: "also load files that were loaded before, for instance after a fix"),
  ],
  notes: """
    Archives: nsw-fuelcheck, nt-myfuel, qld-fuel-prices, vic-servo-saver, wa-fuelwatch, and recordings.
    The beginning of a name is enough. Files may be .csv, .csv.gz, .xlsx or .zip, in any order. Their
    content shows which kind they are, and their rows show which months they hold. A file is loaded
    completely or not at all. A file that was loaded before, under whatever name, is known and not read
    again, so the same command continues where it was interrupted. A file that was withdrawn is known
    too: `bowser withdraw RUN --undo` makes it count. Of a folder only files with these endings are read
    (.json and .json.gz for vic-servo-saver), and no folders in it unless --recursive is given.

    `bowser gaps` lists what is missing. `bowser aggregate` then brings the averages up to date.
    """,
  deadlineSeconds: 86_400
) { invocation in
  guard let word = invocation.operands.first, invocation.operands.count > 1 else {
    throw UsageError.message(
      "name an archive and its files, such as wa-fuelwatch downloads/; bowser backfill --help lists "
        + "the archives")
  }
  let settings = try invocation.settings()
  let folder = try invocation.configurationFolder()
  let sources = try invocation.sources()
  let archives = try invocation.archives(beside: sources)
  let kept = sources.compactMap { $0.provider.keptAnswers?.name }
  let names = archives.map(\.id) + kept + ["recordings"]
  let name = try UsageError.meant(by: word, "archive", among: names)
  // Standard input is copied to a file, because it is read twice, once for its digest.
  var spooled: String?
  defer { if let spooled { try? FileManager.default.removeItem(atPath: spooled) } }
  let paths = try invocation.operands.dropFirst().map { path -> String in
    guard !path.hasPrefix("http://"), !path.hasPrefix("https://") else {
      throw UsageError.message(
        "backfill reads no addresses: download the file first, or type curl -s URL | bowser "
          + "backfill \(name) -")
    }
    guard path == "-" else { return path }
    guard spooled == nil else { throw UsageError.message("- may be given only once") }
    let folder = try spoolFolder()
    spooled = folder
    // Messages name the file.
    let copy = folder + "/standard input"
    try spool(into: copy)
    return copy
  }
  let decided = try decisions(file: folder + "/stations.json5")
  let store = try invocation.store(settings)
  let clock = try invocation.clock()
  let log = invocation.logger(settings)
  let progress = Progress(what: "files")
  let began = ContinuousClock.now
  var rows = 0
  func show(_ result: Backfill.Result, _ done: Int, _ all: Int) {
    if case .loaded(let counts) = result.outcome { rows += counts.received }
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    let rate = Double(rows) / (Double(seconds) + Double(attoseconds) / 1e18 + 0.001)
    progress.show(done, of: all, ", \(rows) rows, \(Int(rate)) a second")
    if invocation.flags.contains("summary") {
      progress.end()
      write(line(result) + "\n")
    }
  }
  let isRehearsal = invocation.flags.contains("dry-run")
  if isRehearsal { try store.beginRehearsal() }
  let reader = try invocation.reader(settings)
  let archiveReader = invocation.archiveReader(settings)
  let given = GivenFiles(
    isRecursive: invocation.flags.contains("recursive"), say: { writeError($0) })
  let results: [Backfill.Result]
  switch name {
  case "recordings":
    results = try Replays(sources, store: store, clock: clock, reader: reader, log: log)
      .recordings(paths, say: { writeError($0) }, progress: show)
  case _ where kept.contains(name):
    results = try Replays(sources, store: store, clock: clock, reader: reader, log: log)
      .keptAnswers(name, paths, given: given, progress: show)
  default:
    guard let archive = archives.first(where: { $0.id == name }) else { return .ourBug }
    // Two connections load months side by side, because the database takes rows of one month while
    // it builds the key of another. A dry run is a single transaction, so it has one connection.
    let connections =
      isRehearsal ? [] : [try invocation.store(settings), try invocation.store(settings)]
    results = try await Backfill(
      archive, store: store, connections: connections, decisions: decided, clock: clock,
      log: log, read: archiveReader
    ).run(paths, given: given, again: invocation.flags.contains("again"), progress: show)
  }
  if isRehearsal { try store.endRehearsal() }
  progress.end()
  return tell(results, invocation)
}

private func line(_ result: Backfill.Result) -> String {
  let outcome =
    switch result.outcome {
    case .known: "known"
    case .refused(let reason): "refused: \(reason)"
    case .passedOver(let reason): "passed over: \(reason)"
    case .loaded(let counts):
      counts.words + counts.reasons + counts.warnings.map { " (\($0))" }.joined()
    }
  // The name of a file may contain control characters for terminals.
  return "\(result.file) \(outcome)".line(ofBytes: 4_096)
}

extension Counts {
  /// The counts in a summary.
  var words: String {
    "received=\(received) stored=\(stored) unchanged=\(unchanged) duplicate=\(duplicate) "
      + "rejected=\(rejected)"
  }

  /// How many records were rejected for each reason, in a summary.
  var reasons: String {
    rejectedByReason.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
  }
}

/// Reports the result of all files: on standard output if a summary was requested, and refused
/// files and rejected rows on standard error in any case.
private func tell(_ results: [Backfill.Result], _ invocation: Invocation) -> ExitCode {
  var total = Counts()
  var known = 0
  var refused = 0
  var passedOver = 0
  for result in results {
    switch result.outcome {
    case .loaded(let counts):
      total.stored += counts.stored
      total.unchanged += counts.unchanged
      total.duplicate += counts.duplicate
      total.rejectedByReason.merge(counts.rejectedByReason, uniquingKeysWith: +)
      total.examples.merge(counts.examples.mapValues { "\(result.file): \($0)" }) { first, _ in
        first
      }
      if !invocation.flags.contains("summary") {
        for warning in counts.warnings { writeError("\(result.file): \(warning)") }
      }
    case .known: known += 1
    case .refused(let reason):
      refused += 1
      writeError("\(result.file): \(reason)")
    case .passedOver:
      passedOver += 1
      if invocation.flags.contains("summary") { write(line(result) + "\n") }
    }
  }
  for (reason, count) in total.rejectedByReason.sorted(by: { $0.key < $1.key }) {
    writeError(
      "\(count) \(count == 1 ? "row" : "rows") rejected: \(reason), such as "
        + "\(total.examples[reason].map { String($0.prefix(160)) } ?? "")")
  }
  if invocation.flags.contains("summary") {
    write(
      "total files=\(results.count) known=\(known) refused=\(refused) passed_over=\(passedOver) "
        + "\(total.words)\n")
  }
  return refused > 0 ? .refused : .done
}

/// Makes a temporary folder for standard input, which nobody else can have made.
private func spoolFolder() throws -> String {
  var template = Array("\(NSTemporaryDirectory())/bowser-XXXXXX".utf8CString)
  guard let folder = mkdtemp(&template) else {
    let reason = String(cString: strerror(errno))
    throw FileOutput.Failure(
      description: "no temporary folder can be created in \(NSTemporaryDirectory()): \(reason); "
        + "TMPDIR names another folder")
  }
  return String(cString: folder)
}

private func spool(into path: String) throws {
  do {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw CocoaError(.fileWriteUnknown) }
    var bytes = 0
    while let part = try FileHandle.standardInput.read(upToCount: 1 << 20), !part.isEmpty {
      bytes += part.count
      // A stream without an end would fill the disk.
      guard bytes <= ArchiveFile.mostBytes else {
        throw ArchiveRefusal(
          file: "standard input", "more than \(ArchiveFile.mostBytes >> 30) GiB")
      }
      try file.write(contentsOf: part)
    }
    try file.close()
  } catch let error as ArchiveRefusal {
    throw error
  } catch {
    throw FileOutput.Failure(description: "standard input cannot be read or copied to a file")
  }
}
