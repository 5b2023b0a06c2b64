import Foundation
import Glibc
import Synchronization

/// Runs each feed in a process of its own.
///
/// URLSession on Linux ends the whole process if a server closes the connection inside the head of
/// its answer ("Transfer completed, but there's no response"). Code of the same process cannot
/// catch that.
enum WorkerProcess {
  private static let held = Mutex<[Pipe]>([])

  /// - Returns: the worst of the exit codes.
  static func run(_ feeds: [String], like invocation: Invocation) -> ExitCode {
    var worst = ExitCode.done
    let running = feeds.map { feed in
      let errorOutput = Pipe()
      return (feed: feed, process: start(feed, invocation, errorOutput), errorOutput: errorOutput)
    }
    for worker in running {
      guard let process = worker.process else {
        writeError("\(worker.feed): the process could not be started")
        worst = ExitCode.inputOutput.worse(than: worst)
        continue
      }
      // The standard error of the process is passed on, unless the process crashed: then it would
      // hold the platform's crash message.
      let output = worker.errorOutput.fileHandleForReading.readDataToEndOfFile()
      let end = process.end()
      guard end.reason == .uncaughtSignal else {
        let code = ExitCode(rawValue: end.status) ?? .ourBug
        worst = code.worse(than: worst)
        talk(String(decoding: output, as: UTF8.self))
        continue
      }
      talk(
        "bowser: \(worker.feed): the run was ended by signal \(end.status); "
          + "the provider broke off its answer, or the machine is out of memory\n")
      worst = ExitCode.unavailable.worse(than: worst)
    }
    return worst
  }

  /// Ends this process when its parent has ended. The parent holds the other end of standard input.
  static func endWithParent() {
    Thread.detachNewThread {
      var byte: UInt8 = 0
      while read(STDIN_FILENO, &byte, 1) > 0 {}
      exit(ExitCode.tryAgain.rawValue)
    }
  }

  private static func start(
    _ feed: String, _ invocation: Invocation, _ errorOutput: Pipe
  ) -> Process? {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    var arguments = ["ingest", feed, "--isolated"]
    for (name, value) in invocation.options where name != "db" {
      arguments.append("--\(name)=\(value)")
    }
    for flag in invocation.flags where flag != "all" { arguments.append("--\(flag)") }
    process.arguments = arguments
    var environment = invocation.environment
    // The connection string is not passed on the command line, which other users can read.
    if let target = invocation.options["db"] { environment["BOWSER_DATABASE"] = target }
    environment["SWIFT_BACKTRACE"] = "enable=no"
    process.environment = environment
    let pipe = Pipe()
    process.standardInput = pipe
    process.standardError = errorOutput
    do {
      try process.run()
    } catch {
      return nil
    }
    // The write end of the child's standard input stays open as long as this process lives.
    held.withLock { $0.append(pipe) }
    return process
  }
}

extension Process {
  /// Waits until the program has ended, and returns how. The platform waits by a run loop, which
  /// needs files of its own and waits for ever where no more can be opened.
  func end() -> (reason: TerminationReason, status: Int32) {
    var info = siginfo_t()
    var result: Int32
    // The platform collects the program, so it is left as it is.
    repeat {
      result = waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT)
    } while result == -1 && errno == EINTR
    guard result == 0 else {
      // The platform has collected it already.
      while isRunning { usleep(1_000) }
      return (terminationReason, terminationStatus)
    }
    return (
      info.si_code == CLD_EXITED ? .exit : .uncaughtSignal, info._sifields._sigchld.si_status
    )
  }
}
