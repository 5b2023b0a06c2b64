import Archives
package import Feeds
import Foundation
package import FuelModel
package import Logging
package import Store

/// Loads answers of feeds that somebody kept, as if they were fetched at that time: folders written
/// by `ingest --record` for any feed, and the daily files of Victoria, whose scheme has no archive.
///
/// As with archives, the next aggregate makes the spans, once for all answers.
package struct Replays {
  private let sources: [Source]
  private let store: Store
  private let clock: Clock
  private let reader: DocumentReader
  private let log: Logger

  /// Creates a loader of kept answers.
  ///
  /// - Parameter reader: where documents are read.
  package init(
    _ sources: [Source], store: Store, clock: Clock, reader: DocumentReader = .here, log: Logger
  ) {
    self.sources = sources
    self.store = store
    self.clock = clock
    self.reader = reader
    self.log = log
  }

  /// One answer: its feed, its documents, and the files that hold them.
  private struct Answer {
    var source: Source
    var name: String
    var files: [String]
    /// When the answer was fetched, if the documents do not state it. The same bytes at a later
    /// instant are a different answer.
    var instant: Instant?
    var documents: () throws -> [Document]
  }

  /// Loads the folders that `ingest --record` wrote, the oldest answer first.
  ///
  /// - Parameters:
  ///   - folders: each holds `<feed>/<instant>/`, or is the folder of one feed.
  ///   - say: receives a sentence about each folder before any answer is read.
  /// - Throws: `IngestError.recording` where a folder holds no answer of a feed.
  package func recordings(
    _ folders: [String], say: (String) -> Void = { _ in },
    progress: (Backfill.Result, Int, Int) -> Void = { _, _, _ in }
  ) throws -> [Backfill.Result] {
    var answers: [(Instant, Answer)] = []
    for folder in folders {
      guard FileManager.default.fileExists(atPath: folder) else {
        throw IngestError.recording(path: folder, reason: "no such folder")
      }
      let found = try sources.flatMap { try self.answers(in: folder, of: $0) }
      guard !found.isEmpty else {
        throw IngestError.recording(
          path: folder, reason: "contains no answers of a feed, such as qld-fpd/20260702T235701Z")
      }
      say("\(folder): \(found.count) \(found.count == 1 ? "answer" : "answers") to read")
      answers += found
    }
    return try load(
      answers.sorted { ($0.0, $0.1.name) < ($1.0, $1.1.name) }.map(\.1), progress: progress)
  }

  private func answers(in folder: String, of source: Source) throws -> [(Instant, Answer)] {
    let isFeedFolder = URL(filePath: folder).lastPathComponent == source.feed
    return try Recording.runs(in: isFeedFolder ? folder : "\(folder)/\(source.feed)").map { run in
      let name = "\(source.feed)/\(URL(filePath: run.path).lastPathComponent)"
      return (
        run.takenAt,
        Answer(
          source: source, name: name, files: try run.files(), instant: run.takenAt,
          documents: run.documents)
      )
    }
  }

  /// Loads complete answers of a provider that somebody kept, gzipped or not. The time of fetching
  /// comes from the content of the files, not from their names.
  ///
  /// - Parameters:
  ///   - name: the provider's name for such files, such as `vic-servo-saver`.
  ///   - given: how folders are read.
  package func keptAnswers(
    _ name: String, _ paths: [String], given: GivenFiles = GivenFiles(),
    progress: (Backfill.Result, Int, Int) -> Void = { _, _, _ in }
  ) throws -> [Backfill.Result] {
    guard let source = sources.first(where: { $0.provider.keptAnswers?.name == name }),
      let kept = source.provider.keptAnswers
    else { return [] }
    var references: [Document] = []
    let (files, companions) = try given.files(paths, ending: [".json", ".json.gz"])
    var others = Backfill.passedOver(companions)
    var answers: [Answer] = []
    for (path, isNamed) in files {
      let name = URL(filePath: path).lastPathComponent
      let bytes: [UInt8]
      do {
        bytes = try Recording.bytes(path)
      } catch is IngestError {
        others.append(.init(file: name, outcome: .refused("cannot be read or unpacked")))
        continue
      }
      let head = String(decoding: bytes.prefix(200), as: UTF8.self)
      switch kept.document(head) {
      case "prices":
        answers.append(Answer(source: source, name: name, files: [path], instant: nil) { [] })
      case let document?:
        references.removeAll { $0.name == document }
        references.append(Document(name: document, bytes: bytes, fetchedAt: Instant(seconds: 0)))
      case nil:
        // Other lists of the scheme lie beside its prices.
        let reason =
          head.plain.isEmpty
          ? "the file is empty"
          : "no list of prices: expected \(kept.expected), seen: '\(head.plain.prefix(80))'"
        others.append(
          .init(file: name, outcome: isNamed ? .refused(reason) : .passedOver(reason)))
      }
    }
    for position in answers.indices {
      let path = answers[position].files[0]
      answers[position].documents = { [references] in
        let bytes = try Recording.bytes(path)
        guard let shownAt = kept.shownAt(String(decoding: bytes, as: UTF8.self)) else {
          throw Refusal("no readable stamp")
        }
        let fetchedAt = shownAt + source.delay
        return [Document(name: "prices", bytes: bytes, fetchedAt: fetchedAt)]
          + references.map { Document(name: $0.name, bytes: $0.bytes, fetchedAt: fetchedAt) }
      }
    }
    return try others + load(answers, progress: progress)
  }

  private func load(
    _ answers: [Answer], progress: (Backfill.Result, Int, Int) -> Void
  ) throws -> [Backfill.Result] {
    let digests = try Backfill.digests(answers.flatMap(\.files))
    var known: [String: Set<String>] = [:]
    var results: [Backfill.Result] = []
    for answer in answers {
      let feed = answer.source.feed
      if known[feed] == nil { known[feed] = try store.ledger.loadedDigests(of: feed) }
      let stamp = answer.instant.map { String(format: "%016lx", $0.microseconds) } ?? ""
      let digest = answer.files.compactMap { digests[$0] }.joined() + stamp
      let outcome: Backfill.Outcome
      if known[feed]?.insert(digest).inserted == false {
        outcome = .known
      } else {
        do {
          let ingest = Ingest(
            answer.source, store: store, clock: clock, leavesSpans: true, reader: reader, log: log)
          let summary = try ingest.replay(try answer.documents(), digest: digest)
          outcome = .loaded(summary.counts)
        } catch let refusal as Refusal {
          outcome = .refused(refusal.description)
        } catch IngestError.recording(_, let reason) {
          outcome = .refused(reason)
        } catch FeedError.malformed(let document, let reason) {
          outcome = .refused("\(document): \(reason)")
        } catch FeedError.refused(let reason) {
          outcome = .refused(reason)
        }
      }
      results.append(.init(file: answer.name, outcome: outcome))
      progress(results[results.count - 1], results.count, answers.count)
    }
    return results
  }
}
