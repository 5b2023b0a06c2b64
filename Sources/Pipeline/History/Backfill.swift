package import Archives
import Configuration
import Foundation
package import FuelModel
package import Logging
package import Store

/// Loads the files of one archive. One thread reads the next file while the previous one is written
/// to the database. Files that were loaded already are left out. Stations are matched after the
/// last file.
package struct Backfill {
  /// Why a load did not begin, or left a file out.
  package enum Failure: Error, CustomStringConvertible {
    case busy(String)
    /// A folder has no files to load: perhaps others, and perhaps folders that have some.
    case noFiles(String, endings: [String], other: String?, below: String?)
    case noFile(String, near: String?)
    case noRegularFile(String)
    case unreadable(String, reason: String)
    package var description: String {
      switch self {
      case .busy(let archive): "another backfill of \(archive) is under way"
      case .noFiles(let path, let endings, let other, let below):
        "\(path): no \(endings.dropLast().joined(separator: ", ")) or \(endings.last ?? "") files"
          + (other.map { " (it has others, such as \($0))" } ?? "")
          + (below.map { ", but \($0) has some: name that folder, or add --recursive" }
            ?? "; bowser gaps says where they are published")
      case .noFile(let path, let near):
        "\(path): no such file" + (near.map { "; did you mean '\($0)'?" } ?? "")
      case .noRegularFile(let path):
        "\(path): not a regular file; use - and send it to standard input"
      case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
      }
    }
  }

  /// The outcome of one file.
  package enum Outcome: Sendable {
    case loaded(Counts)
    /// The file was loaded before.
    case known
    case refused(String)
    /// The file does not hold prices, which is no error.
    case passedOver(String)
  }

  /// What became of one file.
  package struct Result: Sendable {
    package var file: String
    package var outcome: Outcome
  }

  private let archive: Archive
  private let store: Store
  private let connections: [Store]
  private let decisions: [StationDecision]
  private let clock: Clock
  private let log: Logger
  private let read: Read

  /// Starts to read files. No price in them may begin after the instant.
  package typealias Read = @Sendable (ArchiveFormat, [ArchiveFile], Instant) -> any ArchiveSource

  /// Creates a backfill of one archive.
  ///
  /// - Parameters:
  ///   - connections: connections over which months are loaded in parallel; if empty, `store` is
  ///     used.
  ///   - decisions: decisions of a person about which station records are one station.
  ///   - read: how files are read; by default in this process.
  package init(
    _ archive: Archive, store: Store, connections: [Store] = [], decisions: [StationDecision],
    clock: Clock, log: Logger,
    read: @escaping Read = { ArchiveReader($0, files: $1, now: $2) }
  ) {
    self.archive = archive
    self.store = store
    self.connections = connections.isEmpty ? [store] : connections
    self.decisions = decisions
    self.clock = clock
    self.read = read
    self.log = log.with("archive", archive.id)
  }

  /// Loads the files that are not loaded yet, then matches the stations.
  ///
  /// - Parameters:
  ///   - paths: files and folders. Files are loaded in the given order, those of a folder by name.
  ///   - given: how folders are read.
  ///   - again: loads files again that were loaded before, such as after a fix or for a new fuel.
  ///   - progress: called after each file with its result, the number of files done and of all
  ///     files.
  package func run(
    _ paths: [String], given: GivenFiles = GivenFiles(), again: Bool = false,
    progress: @escaping (Result, Int, Int) -> Void = { _, _, _ in }
  ) async throws -> [Result] {
    let (found, companions) = try given.files(paths, ending: [".csv", ".csv.gz", ".xlsx", ".zip"])
    let files = found.map { ArchiveFile($0.path) }
    try store.check(clock)
    let now = clock.now()
    let source = try register()
    guard try store.ledger.lock(source) else { throw Failure.busy(archive.id) }
    defer {
      // Where this fails, the session has ended, and the server has released the lock.
      log.tolerating("lock left to the server", at: .debug) { try store.ledger.unlock(source) }
    }

    let digests = try Self.digests(files.map(\.path))
    var loaded = again ? [] : try store.ledger.loadedDigests(of: archive.source)
    var load = Load(
      backfill: self, source: source, now: now, fileCount: files.count, progress: progress)
    // Two files with the same bytes count as one file, whatever their names.
    var new: [(file: ArchiveFile, digest: String)] = []
    for file in files {
      guard let digest = digests[file.path] else {
        load.tell(file.name, .refused("cannot be read"))
        continue
      }
      if loaded.insert(digest).inserted {
        new.append((file, digest))
      } else {
        load.tell(file.name, .known)
      }
    }

    try await load.read(new)
    try Identity.match(store, decisions: decisions, now: now, log: log)
    return Self.passedOver(companions) + load.results
  }

  static func passedOver(_ companions: [String]) -> [Result] {
    companions.map {
      Result(file: $0, outcome: .passedOver("the desktop keeps it beside another file"))
    }
  }

  /// A batch of a file that is being written to the database.
  private struct PendingBatch {
    var file: String
    var digest: String
    var months: Set<Month>
    var received: Int
    var task: Task<ArchiveLoader.Loaded?, any Error>
  }

  /// One run: the results so far, and the batches that are being written, by connection.
  private struct Load {
    private(set) var results: [Result] = []
    private let backfill: Backfill
    private let source: SourceID
    private let now: Instant
    private let fileCount: Int
    private let progress: (Result, Int, Int) -> Void
    private let stations = ArchiveStations()
    private let threads: [LoaderThread]
    private var turn = 0
    private var pending: [Int: PendingBatch] = [:]

    init(
      backfill: Backfill, source: SourceID, now: Instant, fileCount: Int,
      progress: @escaping (Result, Int, Int) -> Void
    ) {
      self.backfill = backfill
      self.source = source
      self.now = now
      self.fileCount = fileCount
      self.progress = progress
      threads = backfill.connections.map { [stations] store in
        LoaderThread(
          ArchiveLoader(
            store, source: source, stations: stations, now: now,
            maxRejectShare: backfill.archive.settings.maxRejectShare,
            expectation: backfill.archive.format.expectation))
      }
    }

    mutating func tell(_ file: String, _ outcome: Outcome) {
      results.append(Result(file: file, outcome: outcome))
      progress(results[results.count - 1], results.count, fileCount)
    }

    /// Reads files one after another, and writes them in parallel where they hold different months.
    mutating func read(_ files: [(file: ArchiveFile, digest: String)]) async throws {
      let reader = backfill.read(backfill.archive.format, files.map(\.file), now)
      var position = 0
      var isPassingOver = false
      // Records received so far of the file that is being read.
      var received = 0
      var nextBatch = Task { try await reader.next() }
      while position < files.count {
        let (file, digest) = files[position]
        do {
          guard let batch = try await nextBatch.value else { break }
          // The next part of a file is read while this one is stored.
          nextBatch = Task { try await reader.next() }
          stations.number(batch)
          if batch.isFirst {
            isPassingOver = false
            received = 0
          }
          received += batch.received
          if batch.isLast { position += 1 }
          if isPassingOver { continue }
          isPassingOver = try await !write(
            batch, of: file.name, digest: digest, received: received)
        } catch let refusal as ArchiveRefusal {
          try await finishAll()
          threads[0].loader.abandon()
          try backfill.refuse(file.name, digest, source, refusal.received, refusal.reason)
          tell(file.name, .refused(refusal.reason))
          position += 1
          nextBatch = Task { try await reader.next() }
        }
      }
      try await finishAll()
    }

    /// Begins to write a batch over the connection whose turn it is. Batches of the same months are
    /// written before it. A batch of a file with other batches or months is written alone.
    ///
    /// - Parameter received: the records of the file up to the end of this batch.
    /// - Returns: `false` where a batch that is written alone refuses its file.
    private mutating func write(
      _ batch: ArchiveBatch, of file: String, digest: String, received: Int
    ) async throws -> Bool {
      let months = Set(batch.months.keys)
      let isAlone = !(batch.isFirst && batch.isLast && months.count == 1)
      if isAlone || pending.values.contains(where: { !$0.months.isDisjoint(with: months) }) {
        try await finishAll()
      }
      // All parts of one file use the same connection.
      turn = isAlone ? 0 : (turn + 1) % threads.count
      _ = try await finish(turn)
      let thread = threads[turn]
      pending[turn] = PendingBatch(
        file: file, digest: digest, months: months, received: received,
        task: Task { try await thread.load(batch, digest: digest) })
      return isAlone ? try await finish(turn) : true
    }

    /// Waits for the batch that a connection writes, and tells what became of its file.
    ///
    /// - Returns: `false` where the file is refused.
    private mutating func finish(_ thread: Int) async throws -> Bool {
      guard let batch = pending.removeValue(forKey: thread) else { return true }
      do {
        guard let done = try await batch.task.value else { return true }
        backfill.log.info(
          "loaded", ["run": done.run, "file": batch.file, "received": done.counts.received])
        backfill.log.tolerating("listeners not notified") {
          try backfill.store.ledger.announceRun(done.run)
        }
        tell(batch.file, .loaded(done.counts))
        return true
      } catch let refusal as Refusal {
        try await finishAll()
        try backfill.refuse(
          batch.file, batch.digest, source, batch.received, refusal.description)
        tell(batch.file, .refused(refusal.description))
        return false
      }
    }

    private mutating func finishAll() async throws {
      for thread in pending.keys.sorted() { _ = try await finish(thread) }
    }
  }

  /// An archive loader with a thread of its own, which waits for the answers of the database.
  private final class LoaderThread: Sendable {
    let loader: ArchiveLoader
    private let queue = DispatchQueue(label: "bowser.backfill")

    init(_ loader: ArchiveLoader) { self.loader = loader }

    func load(_ batch: ArchiveBatch, digest: String) async throws -> ArchiveLoader.Loaded? {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [loader] in
          continuation.resume(with: Swift.Result { try loader.load(batch, digest: digest) })
        }
      }
    }
  }

  /// Registers the archive in the database, or updates its row.
  package func register() throws -> SourceID {
    try store.ledger.register(
      SourceRecord(
        feed: archive.source, state: archive.state, cadenceMinutes: 44_640,
        priceLapsesHours: archive.settings.priceLapsesHours,
        priceLapsesHoursByFuel: archive.settings.priceLapsesHoursByFuel,
        sightLapsesHours: archive.settings.priceLapsesHours,
        reportsWholeDays: archive.settings.reportsWholeDays,
        licence: archive.settings.licence, attribution: archive.settings.attribution,
        isEnabled: true, callsPerMonth: 0, isArchive: true,
        scheme: archive.feed, hasCodes: archive.format.hasCodes),
      now: clock.now())
  }

  private func refuse(
    _ file: String, _ digest: String, _ source: SourceID, _ received: Int, _ reason: String
  ) throws {
    try store.ledger.refuseFile(
      file, digest: digest, of: source, received: received, reason: reason, at: clock.now())
    log.info("refused", ["file": file, "reason": reason])
  }
}

/// The digests of files, by which a load recognises them.
extension Backfill {
  /// Computes the BLAKE2 digest of each file in hex. A file that cannot be read has none. BLAKE2 is
  /// the quickest of the digests that every machine has a program for.
  static func digests(_ all: [String]) throws -> [String: String] {
    var digests: [String: String] = [:]
    // Two processes run at a time, each with no more names than any command line allows.
    let size = min(200, max(1, (all.count + 1) / 2))
    let batches = stride(from: 0, to: all.count, by: size).map { begin in
      Array(all[begin..<min(begin + size, all.count)])
    }
    for begin in stride(from: 0, to: batches.count, by: 2) {
      let running = try batches[begin..<min(begin + 2, batches.count)].map { paths in
        // Lines end with NUL, so that no name needs escaping.
        try ByteStream(["b2sum", "--length=256", "--zero", "--"] + paths)
      }
      for stream in running {
        let lines = String(decoding: try stream.all(), as: UTF8.self)
        // A file that cannot be read has no line; the other files have theirs.
        _ = try stream.finish()
        for line in lines.split(separator: "\0") {
          let parts = line.split(separator: " ", maxSplits: 1)
          guard parts.count == 2 else { continue }
          digests[String(parts[1].dropFirst())] = String(parts[0])
        }
      }
    }
    return digests
  }
}
