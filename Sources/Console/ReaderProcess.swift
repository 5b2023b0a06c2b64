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
      parse: { documents, source in
        let answer = try ask(ReadingRequest.bytes(.reading, documents), of: source)
        return try believed { try ReadingRequest.reading(from: answer, of: source) }
      },
      calls: { documents, source in
        let answer = try ask(ReadingRequest.bytes(.calls, documents), of: source)
        return try believed { try ReadingRequest.calls(from: answer) }
      })
  }

  /// Refuses a malformed answer like a bad document, since a document may have taken over its
  /// reader.
  private func believed<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FrameReader.Broken {
      throw FeedError.refused("quarantined: its reader returned a malformed answer: \(error)")
    }
  }

  private func ask(_ request: [UInt8], of source: Source) throws -> [UInt8] {
    // The process gets the settings of its feed only, and no key of a provider or of the database.
    let settings = Set(Source.variables(of: source.feed))
    let process = try ConfinedProcess(
      [
        Self.command, source.feed, configuration, "\(limits.memoryMegabytes)", "\(limits.seconds)",
      ],
      environment: environment.filter { settings.contains($0.key) }, limits: limits, input: request)
    // A record takes less space in the answer than in its document, except for texts that were
    // converted.
    let most = 2 * request.count + (1 << 20)
    var answer: [UInt8] = []
    while let piece = try process.read(upTo: 1 << 20) {
      answer += piece
      guard answer.count <= most else {
        process.stop()
        _ = process.ending()
        throw FeedError.refused("quarantined: its reader returned more than the documents can hold")
      }
    }
    switch process.ending() {
    case .exit(0): return answer
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
      ConfinedProcess.confine(.init(memoryMegabytes: megabytes, seconds: seconds))
      let request = try FileHandle.standardInput.readToEnd() ?? Data()
      let answer = try ReadingRequest.answer([UInt8](request), of: source)
      try FileHandle.standardOutput.write(contentsOf: Data(answer))
      return .done
    } catch {
      return .ourBug
    }
  }
}
