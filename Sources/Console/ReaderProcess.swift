import Feeds
import Foundation
import FuelModel

/// Reads documents of providers in a confined process.
///
/// A document that crashes its reader, or that takes too long to read, is refused (65) and kept.
/// The next document is read by another process.
struct ReaderProcess: Sendable {
  /// The hidden command that starts the reading process.
  static let command = "read-documents"

  let configuration: String
  let environment: [String: String]
  let limits: ConfinedProcess.Limits

  var documentReader: DocumentReader {
    DocumentReader(
      parse: { (documents: consuming [Document], source) in
        let process = try begin(ReadingRequest(.reading, documents), of: source)
        return try answer(of: process) { try ReadingRequest.reading(from: try frame(of: process)) }
      },
      codes: { documents, source in
        let process = try begin(ReadingRequest(.codes, documents), of: source)
        return try answer(of: process) { try ReadingRequest.codes(from: try frame(of: process)) }
      })
  }

  /// Returns what a process answers, once it has ended as it should. Refuses a malformed answer like
  /// a bad document, since a document may have taken over its reader.
  private func answer<Value>(of process: ConfinedProcess, _ body: () throws -> Value) throws
    -> Value
  {
    do {
      let value: Value
      do {
        value = try body()
      } catch let error as FeedError {
        // What is wrong with the documents is an answer too.
        try finish(process)
        throw error
      }
      try finish(process)
      return value
    } catch let error as FrameReader.Broken {
      process.stop()
      _ = process.ending()
      throw FeedError.refused("quarantined: its reader returned a malformed answer: \(error)")
    }
  }

  private func begin(_ request: ReadingRequest, of source: Source) throws -> ConfinedProcess {
    // The process gets the settings of its feed only, and no key of a provider or of the database.
    let settings = Set(Source.variables(of: source.feed))
    let frame = request.frame
    return try ConfinedProcess(
      [
        Self.command, source.feed, configuration, "\(limits.memoryMegabytes)", "\(limits.seconds)",
      ],
      environment: environment.filter { settings.contains($0.key) }, limits: limits, input: frame,
      // A record takes less space in the answer than in its document, except for texts that were
      // converted and for refused records.
      answersUpTo: 2 * frame.count + (1 << 20))
  }

  private func frame(of process: ConfinedProcess) throws -> [UInt8] {
    if let frame = try process.frame() { return frame }
    try finish(process)
    throw FrameReader.Broken("it ends too early")
  }

  /// - Throws: where the process did not end as it should.
  private func finish(_ process: ConfinedProcess) throws {
    guard try process.frame() == nil else {
      throw FrameReader.Broken("bytes after the end of an answer")
    }
    switch process.ending() {
    case .exit(0): break
    case .exit(let status): throw ConfinedProcess.Failed(status: status)
    case .broken(let cause):
      throw FeedError.refused("quarantined: the answer broke its reader: \(cause)")
    }
  }

  /// Reads a request from standard input and writes the answer to standard output.
  static func serve(_ arguments: [String], environment: [String: String]) -> ExitCode {
    guard arguments.count == 4, let megabytes = Int(arguments[2]), let seconds = Int(arguments[3])
    else { return .usage }
    do {
      let sources = try Catalogue.sources(in: arguments[1], environment: environment)
      guard let source = sources.first(where: { $0.feed == arguments[0] }) else { return .usage }
      let input = try FileHandle.standardInput.readToEnd() ?? Data()
      let request = try ReadingRequest(from: [UInt8](input))
      ConfinedProcess.confine(.init(memoryMegabytes: megabytes, seconds: seconds))
      try ConfinedProcess.answer(request.answer(of: source))
      return .done
    } catch {
      return .ourBug
    }
  }
}
