import Feeds
import Foundation
import FuelModel

/// Reads documents of strangers in a process that can do no harm.
///
/// A document that crashes its reader, or takes it too long, is refused (65) and kept; the next one is read by another
/// process.
struct ReaderProcess: Sendable {
  /// The hidden command that it is started by.
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

  /// What a reader answers that was taken over by its document is refused like the document.
  private func believed<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as FrameReader.Broken {
      throw FeedError.refused("quarantined: what its reader answered is no reading: \(error)")
    }
  }

  private func ask(_ request: [UInt8], of source: Source) throws -> [UInt8] {
    // Its settings and nothing else: no key of a provider or of the database.
    let settings = Set(Source.variables(of: source.feed))
    let process = try ConfinedProcess(
      [
        Self.command, source.feed, configuration, "\(limits.memoryMegabytes)", "\(limits.seconds)",
      ],
      environment: environment.filter { settings.contains($0.key) }, limits: limits, input: request)
    // Each record of an answer is smaller than it was in its document, but for texts that became others.
    let most = 2 * request.count + (1 << 20)
    var answer: [UInt8] = []
    while let piece = try process.read(upTo: 1 << 20) {
      answer += piece
      guard answer.count <= most else {
        process.stop()
        _ = process.ending()
        throw FeedError.refused("quarantined: its reader answered more than the documents can say")
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
