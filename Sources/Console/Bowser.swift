import Configuration
import Dispatch
import Foundation
import FuelModel
import Synchronization

/// The command line. Finds the command, runs it, and reports an error as one line and an exit code.
package enum Bowser {
  static let commands: [Command] = [
    setupCommand, ingestCommand, aggregateCommand, backfillCommand, showCommand, reportCommand,
    exportCommand,
    statusCommand, metricsCommand, doctorCommand, configCommand, migrateCommand, backtestCommand,
    gapsCommand, stationsCommand, withdrawCommand, verifyCommand, notifyCommand, hubCommand,
    simulateCommand,
  ]

  /// Runs the command that the arguments name.
  package static func main() {
    begin(Array(CommandLine.arguments.dropFirst()), among: commands)
  }

  /// Runs one command in a program of its own. Its arguments do not name the command, and
  /// `--version` alone prints what it prints of the main program.
  package static func main(
    as command: Command, run: @escaping @Sendable (Invocation) async throws -> ExitCode
  ) {
    var command = command
    command.run = run
    let words = Array(CommandLine.arguments.dropFirst())
    begin(words == ["--version"] ? words : [command.name] + words, among: [command])
  }

  private static func begin(_ arguments: [String], among known: [Command]) {
    // A standard stream that was closed is opened on /dev/null. Otherwise the next file or
    // connection would get its number, and output for the user would go there.
    for stream in 0...2 as ClosedRange<Int32> where fcntl(stream, F_GETFD) < 0 {
      _ = open("/dev/null", O_RDONLY)
    }
    // A reader of the output that has gone away is no failure of this program. Without the signal,
    // writing fails with an error.
    signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    if let code = answer(arguments, among: known, environment: environment) { end(code) }
    // Without memory for a thread, the task below never begins.
    Watchdog.arm(seconds: 20)
    Task {
      if arguments.first == ArchiveProcess.command {
        end(await ArchiveProcess.serve(Array(arguments.dropFirst())))
      }
      end(await run(arguments, among: known, environment: environment))
    }
    dispatchMain()
  }

  private static func end(_ code: ExitCode) -> Never {
    var code = code
    if code == .done, let lost = lostOutput.withLock({ $0 }) { code = failed(lost) }
    exit(code.rawValue)
  }

  /// Runs what needs no thread and no configuration. Returns `nil` if the arguments name a command
  /// to run.
  private static func answer(
    _ arguments: [String], among known: [Command], environment: [String: String]
  ) -> ExitCode? {
    guard let name = arguments.first else {
      talk(overview)
      return .usage
    }
    if name == ReaderProcess.command {
      return ReaderProcess.serve(Array(arguments.dropFirst()), environment: environment)
    }
    if name == ArchiveProcess.command { return nil }
    if ["--version", "version", "-v", "-V"].contains(name) {
      write("bowser \(Version.number) (\(Version.commit))\n")
      return .done
    }
    // What `help` is to explain: the command behind it, or everything.
    let isHelp = ["-h", "--help", "help"].contains(name)
    guard let word = isHelp ? arguments.dropFirst().first : name else {
      write(overview)
      return .done
    }
    guard let command = known.first(where: { $0.name == word }) else {
      return failed(noCommand(word))
    }
    if isHelp || arguments.contains("-h") || arguments.contains("--help") {
      write(command.help)
      return .done
    }
    if command.run == nil {
      // This comes before there are threads, because the other program would inherit the signals
      // that a thread blocks.
      return failed(Companion.become("bowser-\(name)", Array(arguments.dropFirst())))
    }
    return nil
  }

  /// The error for a first word that names no command.
  private static func noCommand(_ word: String) -> UsageError {
    // What follows a `=` may be a secret.
    let name = String(word.prefix { $0 != "=" })
    if name.hasPrefix("-") {
      return .message("\(name) must follow a command: bowser help lists the commands")
    }
    return .unknown(
      "command", name, among: commands.map(\.name),
      hint: "bowser help lists the commands; bowser show PLACE shows prices")
  }

  private static func run(
    _ arguments: [String], among known: [Command], environment: [String: String]
  ) async -> ExitCode {
    guard let command = known.first(where: { $0.name == arguments[0] }), let body = command.run
    else { return .ourBug }
    do {
      let invocation = try Invocation(
        Array(arguments.dropFirst()), of: command, environment: environment)
      invocation.watch()
      return try await body(invocation)
    } catch {
      return failed(error)
    }
  }

  private static func failed(_ error: any Error) -> ExitCode {
    writeError("\(error)")
    return ExitCode(for: error)
  }

  static let overview: String = {
    let width = commands.map(\.name.count).max() ?? 0
    let lines = commands.map { "  \(padded($0.name, width))  \($0.summary)\n" }
    return """
      Australian retail fuel prices: stores feeds in PostgreSQL; computes averages, trends and verdicts.

      usage: bowser COMMAND [OPTIONS] [OPERANDS]

      \(lines.joined())
      For more, see bowser COMMAND --help or man bowser-COMMAND. Options of every command:
      \(Command.common.map(\.helpLine).joined())
      """
  }()
}

/// A program beside this one that runs one of its commands, so that this one need not contain what
/// only that command needs.
enum Companion {
  /// Makes this process run the companion. Returns only if it cannot, and then says why.
  static func become(_ name: String, _ arguments: [String]) -> ConfigurationError {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let path = folder.appending(path: name).path
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    execv(path, words)
    let code = errno
    return .unreadable(
      file: path,
      reason: code == ENOENT
        ? "not installed; it belongs beside bowser, where make build, make install and the Debian "
          + "package put it"
        : "cannot be started: \(String(cString: strerror(code)))")
  }
}

/// Why standard output could not be written.
private let lostOutput = Mutex<FileOutput.Failure?>(nil)

/// Writes data to standard output. If the reader has gone away, the rest is dropped. A full disk is
/// reported at the end.
package func write(_ text: String) {
  var text = text
  text.withUTF8 { writeBytes(UnsafeRawBufferPointer($0)) }
}

func writeBytes(_ bytes: UnsafeRawBufferPointer) {
  do {
    try FileHandle.standardOutput.write(contentsOf: Data(bytes))
  } catch {
    let reason = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard reason?.code != Int(EPIPE) else { return }
    let why = reason.map { ": " + String(cString: strerror(Int32($0.code))) } ?? ""
    let lost = FileOutput.Failure(description: "standard output cannot be written" + why)
    lostOutput.withLock { $0 = lost }
  }
}

/// Writes an error to standard error as one line. File names and answers of providers may contain
/// anything, so control and format characters are replaced by spaces.
package func writeError(_ text: String) {
  talk("bowser: \(text.asTerminalLine)\n")
}

/// Writes messages to standard error.
func talk(_ text: String) {
  // A failure to write cannot be reported on the same stream. The exit code still states the
  // result.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}
