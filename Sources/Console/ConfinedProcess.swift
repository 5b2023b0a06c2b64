import CSandbox
import Foundation
import FuelModel
import Glibc

/// A process of this program that reads data of strangers. It has limited memory and time, and no
/// network, no database and no key in its environment. Its answer is trusted no more than the data
/// that it reads.
final class ConfinedProcess {
  /// How much memory and time the reading may take.
  struct Limits: Sendable {
    var memoryMegabytes: Int
    /// Seconds of processor time for one document or one file.
    var seconds: Int
  }

  /// How the process ended.
  enum Ending {
    case exit(Int32)
    /// The process was killed or crashed. The text gives the cause.
    case broken(String)
  }

  private let process = Process()
  private let output = Pipe()
  private let limits: Limits
  /// How many bytes the frames to come may have.
  private var remaining: Int
  /// `nil` until the process has started.
  private var timer: (any DispatchSourceTimer)?

  /// - Parameters:
  ///   - arguments: the hidden command, and the arguments that it needs.
  ///   - input: what the process reads from standard input.
  ///   - most: how many bytes all its frames together may have.
  init(
    _ arguments: [String], environment: [String: String], limits: Limits,
    input bytes: [UInt8], answersUpTo most: Int = .max
  ) throws {
    self.limits = limits
    remaining = most
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { _, ours in ours }
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let writer = input.fileHandleForWriting
    // The input is written by another thread, because the process answers only when it has read
    // everything. If the process ends earlier, its exit status is the error to report, not the
    // failed write.
    Thread.detachNewThread {
      try? writer.write(contentsOf: bytes)
      try? writer.close()
    }
    let number = process.processIdentifier
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { kill(number, SIGKILL) }
    self.timer = timer
    beginTurn()
    timer.resume()
  }

  deinit {
    timer?.cancel()
    if process.isRunning { stop() }
    // The process may outlive this object. It holds the other end of the pipe.
    try? output.fileHandleForReading.close()
  }

  /// Restarts the timer that kills the process, at more than twice its limit of processor time. A
  /// process that only waits never reaches that limit.
  func beginTurn() {
    timer?.schedule(deadline: .now() + .seconds(2 * limits.seconds + 10))
  }

  /// Returns the bytes of the next frame that the process writes; `nil` where it writes no more.
  ///
  /// - Throws: `FrameReader.Broken` for more bytes than it may answer.
  func frame() throws -> [UInt8]? {
    let file = output.fileHandleForReading
    guard let head = try Self.bytes(8, from: file) else { return nil }
    let length = head.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    // 1 GiB is enough for a million prices and for all stations and rejected rows that a file may
    // have.
    guard length <= min(1 << 30, remaining) else {
      throw FrameReader.Broken("an answer that is too long")
    }
    remaining -= Int(length)
    return try Self.bytes(Int(length), from: file)
  }

  private static func bytes(_ count: Int, from file: FileHandle) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      guard let piece = try file.read(upToCount: min(count - bytes.count, 1 << 20)),
        !piece.isEmpty
      else { return nil }
      bytes += piece
    }
    return bytes
  }

  func stop() { kill(process.processIdentifier, SIGKILL) }

  func ending() -> Ending {
    let end = process.end()
    timer?.cancel()
    switch (end.reason, end.status) {
    case (.exit, let status): return .exit(status)
    case (_, SIGXCPU), (_, SIGKILL):
      return .broken("it took more than \(limits.seconds) s or \(limits.memoryMegabytes) MB")
    case (_, let signal):
      return .broken(
        "it was ended by signal \(signal), or needed more than \(limits.memoryMegabytes) MB")
    }
  }

  /// The reader itself failed, whatever it read. This is a bug of this program.
  struct Failed: Error, CustomStringConvertible {
    let status: Int32
    var description: String {
      "the reader of documents failed (\(status)); this is a bug of bowser"
    }
  }

  // MARK: The reading process

  /// Takes from this process, for good, all rights that reading does not need.
  ///
  /// - Parameter startsPrograms: whether the process starts programs that unpack files. They have
  ///   the same limits.
  static func confine(_ limits: Limits, turns: Int = 1, startsPrograms: Bool = false) {
    func limit(_ resource: __rlimit_resource, _ value: Int) {
      var limits = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
    }
    limit(RLIMIT_CORE, 0)
    limit(RLIMIT_FSIZE, 0)
    limit(RLIMIT_DATA, limits.memoryMegabytes << 20)
    limit(RLIMIT_CPU, limits.seconds * turns)
    // If the kernel has no such filter, the other limits still apply.
    _ = bowser_confine(startsPrograms)
  }

  /// Writes a frame for the other process, preceded by its length.
  static func answer(_ frame: [UInt8]) throws {
    var length = FrameWriter()
    length.write(UInt64(frame.count))
    try FileHandle.standardOutput.write(contentsOf: length.bytes)
    try FileHandle.standardOutput.write(contentsOf: frame)
  }
}
