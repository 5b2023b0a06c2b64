package import Archives
import Configuration
import Foundation
package import FuelModel
package import Logging
package import Store

/// Loads the files of one archive: reads them on one thread while the one before goes to the database,
/// leaves out those that are loaded already, and matches the stations when all are in.
package struct Backfill {
  package enum Failure: Error, CustomStringConvertible {
    case busy(String)
    case noFiles(String)
    case noFile(String)
    case digest(String)
    package var description: String {
      switch self {
      case .busy(let archive): "another backfill of \(archive) is under way"
      case .noFiles(let path): "\(path): no .csv, .csv.gz, .xlsx or .zip files"
      case .noFile(let path): "\(path): no such file"
      case .digest(let path): "\(path): cannot be read"
      }
    }
  }

  /// What became of one file.
  package enum Outcome: Sendable {
    case loaded(Counts)
    /// It was loaded before.
    case known
    case refused(String)
    /// It is no file of prices, and nothing is wrong with that.
    case passedOver(String)
  }

  package struct Result: Sendable {
    package var file: String
    package var outcome: Outcome
  }

  private let archive: Archive
  private let store: Store
  private let decisions: [StationDecision]
  private let clock: Clock
  private let log: Logger

  /// - Parameter decisions: what a person decided about stations.
  package init(
    _ archive: Archive, store: Store, decisions: [StationDecision], clock: Clock, log: Logger
  ) {
    self.archive = archive
    self.store = store
    self.decisions = decisions
    self.clock = clock
    self.log = log.with("archive", archive.id)
  }

  /// - Parameters:
  ///   - paths: files and folders; files are loaded in the order given, those of a folder by name.
  ///   - progress: called after each file with its result, the files done and the files in all.
  package func run(
    _ paths: [String], progress: (Result, Int, Int) -> Void = { _, _, _ in }
  ) async throws -> [Result] {
    let files = try Self.files(paths)
    let now = clock.now()
    let source = try register()
    guard try store.lock(source) else { throw Failure.busy(archive.id) }
    defer {
      do {
        try store.unlock(source)
      } catch {
        // The lock dies with the session; the session is in trouble already.
        log.debug("lock left to the server", ["error": "\(error)"])
      }
    }

    let digests = try Self.digests(files.map(\.path))
    var loaded = try store.loadedDigests(of: archive.source)
    var results: [Result] = []
    func tell(_ file: String, _ outcome: Outcome) {
      results.append(Result(file: file, outcome: outcome))
      progress(results[results.count - 1], results.count, files.count)
    }
    // The same bytes under two names are one file.
    var new: [(file: ArchiveFile, digest: String)] = []
    for file in files {
      guard let digest = digests[file.path] else { throw Failure.digest(file.path) }
      if loaded.insert(digest).inserted {
        new.append((file, digest))
      } else {
        tell(file.name, .known)
      }
    }

    let reader = ArchiveReader(archive.format, files: new.map(\.file), now: now)
    let loader = ArchiveLoader(
      store, source: source, now: now,
      maxRejectShare: archive.settings.share("maxRejectShare"))
    var position = 0
    var pending = Task { try await reader.next() }
    while position < new.count {
      let (file, digest) = new[position]
      do {
        guard let piece = try await pending.value else { break }
        // The next piece is read while this one is stored.
        pending = Task { try await reader.next() }
        let done = try loader.load(piece, digest: digest)
        guard let done else { continue }
        log.info("loaded", ["file": file.name, "received": done.counts.received])
        tell(file.name, .loaded(done.counts))
      } catch let refusal as ArchiveRefusal {
        loader.abandon()
        try refuse(file, digest, source, refusal.received, refusal.reason)
        tell(file.name, .refused(refusal.reason))
        pending = Task { try await reader.next() }
      } catch let refusal as Refusal {
        try refuse(file, digest, source, 0, refusal.description)
        tell(file.name, .refused(refusal.description))
        // Later pieces of the same file are read and thrown away.
        while let next = try await pending.value, !next.isFirst {
          pending = Task { try await reader.next() }
        }
      }
      position += 1
    }
    try Identity.match(store, decisions: decisions, now: now, log: log)
    return results
  }

  /// Makes the archive known to the database.
  package func register() throws -> SourceID {
    try store.register(
      SourceRecord(
        feed: archive.source, state: archive.state, cadenceMinutes: 44_640,
        priceLapsesHours: archive.settings.integer("priceLapsesHours"),
        sightLapsesHours: archive.settings.integer("priceLapsesHours"),
        tellsWholeDays: archive.settings.boolean("tellsWholeDays"),
        licence: archive.settings.text("licence"),
        attribution: archive.settings.text("attribution"), isEnabled: true, callsPerMonth: 0,
        isArchive: true, scheme: archive.feed),
      now: clock.now())
  }

  private func refuse(
    _ file: ArchiveFile, _ digest: String, _ source: SourceID, _ received: Int, _ reason: String
  ) throws {
    try store.refuseFile(
      file.name, digest: digest, of: source, received: received, reason: reason, at: clock.now())
    log.info("refused", ["file": file.name, "reason": reason])
  }

  // MARK: Files

  /// The files that some names stand for; `-` is what comes on standard input.
  static func files(_ paths: [String]) throws -> [ArchiveFile] {
    try paths.flatMap { path -> [ArchiveFile] in
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw Failure.noFile(path)
      }
      guard isFolder.boolValue else { return [ArchiveFile(path)] }
      let names = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
      let files = names.filter { name in
        [".csv", ".csv.gz", ".xlsx", ".zip"].contains { name.lowercased().hasSuffix($0) }
      }.map { ArchiveFile("\(path)/\($0)") }
      guard !files.isEmpty else { throw Failure.noFiles(path) }
      return files
    }
  }

  /// The BLAKE2 digest of each file in hex. Of the digests that every machine has it is the quickest.
  static func digests(_ all: [String]) throws -> [String: String] {
    var digests: [String: String] = [:]
    // As many names as a command line surely takes.
    for begin in stride(from: 0, to: all.count, by: 200) {
      let paths = Array(all[begin..<min(begin + 200, all.count)])
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      // Ended by NUL, so that no name needs escaping.
      process.arguments = ["b2sum", "--length=256", "--zero", "--"] + paths
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      for line in text.split(separator: "\0") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { continue }
        digests[String(parts[1].dropFirst())] = String(parts[0])
      }
      if process.terminationStatus != 0 {
        let missing = paths.first { digests[$0] == nil } ?? paths[0]
        throw Failure.digest(missing)
      }
    }
    return digests
  }
}
