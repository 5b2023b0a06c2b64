import CSandbox
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A process of this program that reads what strangers sent: limited memory and time, no network, no database, no key in
/// its environment. What it answers is believed no more than what it reads.
final class ConfinedProcess {
  /// What reading may cost.
  struct Limits: Sendable {
    var memoryMegabytes: Int
    /// Of the processor, for one document or one file.
    var seconds: Int
  }

  /// How it ended.
  enum Ending {
    case exit(Int32)
    /// It was ended, or broke; with words for people.
    case broken(String)
  }

  private let process = Process()
  private let output = Pipe()
  private let limits: Limits
  /// `nil`: it was not started.
  private var timer: (any DispatchSourceTimer)?

  /// - Parameters:
  ///   - arguments: the hidden command that it is, and what that one needs to know.
  ///   - input: what it reads from standard input.
  init(
    _ arguments: [String], environment: [String: String], limits: Limits, input request: [UInt8]
  ) throws {
    self.limits = limits
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.environment = environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { _, ours in ours }
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let writer = input.fileHandleForWriting
    // A thread of its own, because the other side answers only when it has everything. Where it dies first, its exit
    // tells.
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(request))
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
    // The process may outlive this, and holds the pipe.
    try? output.fileHandleForReading.close()
  }

  /// Beyond its processor time: one that waits for nothing would never use that up.
  func beginTurn() {
    timer?.schedule(deadline: .now() + .seconds(2 * limits.seconds + 10))
  }

  /// The next bytes of its answer, so many at most; `nil` at the end.
  func read(upTo count: Int) throws -> Data? {
    let piece = try output.fileHandleForReading.read(upToCount: count)
    return piece?.isEmpty ?? true ? nil : piece
  }

  func stop() { kill(process.processIdentifier, SIGKILL) }

  func ending() -> Ending {
    process.waitUntilExit()
    timer?.cancel()
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, let status): return .exit(status)
    case (_, SIGXCPU), (_, SIGKILL):
      return .broken("it took more than \(limits.seconds) s or \(limits.memoryMegabytes) MB")
    case (_, let signal):
      return .broken(
        "it ended by signal \(signal), or more than \(limits.memoryMegabytes) MB were needed")
    }
  }

  /// The reader itself failed, whatever it read: a fault of ours.
  struct Failed: Error, CustomStringConvertible {
    let status: Int32
    var description: String {
      "the reader of documents failed (\(status)); this is a fault of bowser"
    }
  }

  // MARK: The side that reads

  /// Takes from this process what reading needs not, for good.
  ///
  /// - Parameter startsPrograms: whether it unpacks files, by programs that are bound as it is.
  static func confine(_ limits: Limits, turns: Int = 1, startsPrograms: Bool = false) {
    func limit(_ resource: __rlimit_resource, _ value: Int) {
      var limits = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      setrlimit(__rlimit_resource_t(resource.rawValue), &limits)
    }
    limit(RLIMIT_CORE, 0)
    limit(RLIMIT_FSIZE, 0)
    limit(RLIMIT_DATA, limits.memoryMegabytes << 20)
    limit(RLIMIT_CPU, limits.seconds * turns)
    // Where the kernel has no such filter the other limits hold.
    _ = bowser_confine(startsPrograms)
  }
}
