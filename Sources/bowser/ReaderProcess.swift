import CSandbox
import Feeds
import Foundation
import FuelModel

#if canImport(Glibc)
  import Glibc
#endif

/// Reads documents of strangers in a process that can do no harm: limited memory and time, no network, no database, no
/// other program, no key in its environment. What it answers is believed no more than the documents were.
///
/// A document that crashes its reader, or takes it too long, is refused (65) and kept; the next one is read by another
/// process.
struct ReaderProcess: Sendable {
  /// What one reading may cost.
  struct Limits: Sendable {
    var memoryMegabytes: Int
    var seconds: Int
  }

  /// The hidden command that it is started by.
  static let command = "read-documents"

  let configuration: String
  let environment: [String: String]
  let limits: Limits

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

  // MARK: The side that asks

  private func ask(_ request: [UInt8], of source: Source) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      Self.command, source.feed, configuration, "\(limits.memoryMegabytes)", "\(limits.seconds)",
    ]
    // Its settings and nothing else: no key of a provider or of the database.
    let settings = Set(Source.variables(of: source.feed))
    process.environment = environment.filter { settings.contains($0.key) }
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { _, ours in ours }
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let writer = input.fileHandleForWriting
    // A thread of its own, because the other side answers only when it has everything. Where the reader dies first,
    // its exit tells.
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(request))
      try? writer.close()
    }
    // Beyond its processor time: a reader that waits for nothing would never use that up.
    let number = process.processIdentifier
    let isLate = Late()
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + .seconds(2 * limits.seconds + 10))
    timer.setEventHandler {
      isLate.set()
      kill(number, SIGKILL)
    }
    timer.resume()
    defer { timer.cancel() }
    // Each record of an answer is smaller than it was in its document, but for texts that became others.
    let most = 2 * request.count + (1 << 20)
    var answer: [UInt8] = []
    while let piece = try output.fileHandleForReading.read(upToCount: 1 << 20), !piece.isEmpty {
      answer += piece
      if answer.count > most {
        kill(number, SIGKILL)
        break
      }
    }
    process.waitUntilExit()
    if answer.count > most {
      throw FeedError.refused("quarantined: its reader answered more than the documents can say")
    }
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, 0): return answer
    case (.exit, let status): throw Failed(status: status)
    case (_, let signal):
      let cause =
        isLate.isSet || signal == SIGXCPU || signal == SIGKILL
        ? "it took more than \(limits.seconds) s or \(limits.memoryMegabytes) MB"
        : "it ended by signal \(signal)"
      throw FeedError.refused("quarantined: the answer broke its reader: \(cause)")
    }
  }

  private final class Late: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false
    func set() { lock.withLock { value = true } }
    var isSet: Bool { lock.withLock { value } }
  }

  /// The reader itself failed, whatever the documents are: a fault of ours.
  struct Failed: Error, CustomStringConvertible {
    let status: Int32
    var description: String {
      "the reader of documents failed (\(status)); this is a fault of bowser"
    }
  }

  // MARK: The side that reads

  /// Reads a request from standard input and writes the answer to standard output.
  static func serve(_ arguments: [String], environment: [String: String]) -> ExitCode {
    guard arguments.count == 4, let megabytes = UInt64(arguments[2]),
      let seconds = UInt64(arguments[3])
    else { return .usage }
    do {
      let sources = try Catalogue.sources(in: arguments[1], environment: environment)
      guard let source = sources.first(where: { $0.feed == arguments[0] }) else { return .usage }
      limit(RLIMIT_CORE, 0)
      limit(RLIMIT_DATA, megabytes << 20)
      limit(RLIMIT_CPU, seconds)
      // Where the kernel has no such filter the other limits hold.
      _ = bowser_confine()
      let request = try FileHandle.standardInput.readToEnd() ?? Data()
      let answer = try ReadingRequest.answer([UInt8](request), of: source)
      try FileHandle.standardOutput.write(contentsOf: Data(answer))
      return .done
    } catch {
      return .ourBug
    }
  }

  private static func limit(_ resource: __rlimit_resource, _ value: UInt64) {
    var limits = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
    setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
  }
}
