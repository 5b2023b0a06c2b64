import Archives
import Foundation
import FuelModel

/// Reads the files of an archive in a confined process, batch by batch, and checks each batch when
/// it arrives.
///
/// A file that breaks its reader is refused (65), and a new process goes on with the next file.
actor ArchiveProcess: ArchiveSource {
  /// The hidden command that starts the reading process.
  static let command = "read-archive"

  private let format: ArchiveFormat
  private let now: Instant
  private let path: String
  private let limits: ConfinedProcess.Limits
  private var files: ArraySlice<ArchiveFile>
  private var process: ConfinedProcess?
  /// How many records and descriptions the earlier processes have numbered. Each process begins at
  /// zero.
  private var before = ArchiveNumbers()
  private var known = ArchiveNumbers()
  /// How many rows of the current file have been received.
  private var received = 0

  /// - Parameter path: the PATH in which the programs that unpack files are found.
  init(
    _ format: ArchiveFormat, files: [ArchiveFile], now: Instant, path: String,
    limits: ConfinedProcess.Limits
  ) {
    self.format = format
    self.files = files[...]
    self.now = now
    self.path = path
    self.limits = limits
  }

  func next() throws -> ArchiveBatch? {
    guard !files.isEmpty else { return nil }
    let process = try process ?? begin()
    process.beginTurn()
    do {
      guard let answer = try process.frame() else { throw end(of: process) }
      var frame = FrameReader(answer)
      switch try frame.integer(UInt8.self) {
      case 0:
        var batch = try ArchiveBatch(from: &frame, known: &known, zone: format.zone)
        guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of a batch") }
        batch.number(after: before)
        received = batch.isFirst ? batch.received : received + batch.received
        if batch.isLast { files.removeFirst() }
        return batch
      case 1:
        let reason = try frame.line(ofBytes: InputLimit.rejectBytes.value)
        let received = Int(try frame.integer(Int32.self))
        guard frame.isAtEnd, received >= 0 else { throw FrameReader.Broken("a malformed refusal") }
        throw ArchiveRefusal(file: files.removeFirst().name, reason, received: received)
      case 2:
        guard let missing = MissingProgram(known: try frame.plain()), frame.isAtEnd else {
          throw FrameReader.Broken("an unknown program")
        }
        throw missing
      default: throw FrameReader.Broken("an unknown kind of answer")
      }
    } catch let error as FrameReader.Broken {
      process.stop()
      throw quarantined("its reader returned a malformed answer: \(error)", process)
    }
  }

  private func begin() throws -> ConfinedProcess {
    var frame = FrameWriter()
    frame.write(format.id)
    frame.write(now.microseconds)
    frame.write(each: Array(files)) { $0.write(bytes: Array($1.path.utf8)) }
    let process = try ConfinedProcess(
      [Self.command, "\(limits.memoryMegabytes)", "\(limits.seconds)"],
      environment: ["PATH": path], limits: limits, input: frame.bytes)
    self.process = process
    return process
  }

  private func end(of process: ConfinedProcess) -> any Error {
    switch process.ending() {
    case .exit(let status): ConfinedProcess.Failed(status: status)
    case .broken(let cause): quarantined("the file broke its reader: \(cause)", process)
    }
  }

  private func quarantined(_ reason: String, _ process: ConfinedProcess) -> ArchiveRefusal {
    self.process = nil
    before.descriptions += known.descriptions
    before.records += known.records
    known = ArchiveNumbers()
    defer { received = 0 }
    return ArchiveRefusal(
      file: files.removeFirst().name, "quarantined: \(reason)", received: received)
  }

  // MARK: The reading process

  /// Reads the names of files from standard input and writes batches to standard output.
  static func serve(_ arguments: [String]) async -> ExitCode {
    guard arguments.count == 2, let megabytes = Int(arguments[0]), let seconds = Int(arguments[1])
    else { return .usage }
    do {
      let request = try FileHandle.standardInput.readToEnd() ?? Data()
      var frame = FrameReader([UInt8](request))
      let id = try frame.plain()
      guard let format = ArchiveFormat.all.first(where: { $0.id == id }) else { return .usage }
      let now = Instant(microseconds: try frame.integer())
      let files = try frame.each { ArchiveFile(String(decoding: try $0.rawBytes(), as: UTF8.self)) }
      guard ByteStream.nothing >= 0 else { return .ourBug }
      ConfinedProcess.confine(
        .init(memoryMegabytes: megabytes, seconds: seconds), turns: files.count,
        startsPrograms: true)
      let reader = ArchiveReader(format, files: files, now: now)
      while true {
        // The parent stops this process earlier, unless the parent has died.
        Watchdog.arm(seconds: 2 * seconds + 20)
        var answer = FrameWriter()
        do {
          guard let batch = try await reader.next() else { return .done }
          answer.write(UInt8(0))
          batch.write(to: &answer)
        } catch let refusal as ArchiveRefusal {
          answer.write(UInt8(1))
          answer.write(refusal.reason.line(ofBytes: InputLimit.rejectBytes.value))
          answer.write(Int32(clamping: refusal.received))
        } catch let missing as MissingProgram {
          answer.write(UInt8(2))
          answer.write(missing.name)
        }
        // The parent takes a batch only after it has stored the previous one, so writing may wait
        // without a limit.
        Watchdog.arm(seconds: 0)
        try ConfinedProcess.answer(answer.bytes)
      }
    } catch {
      return .ourBug
    }
  }
}
