import Foundation
import Synchronization

/// The command line: finds the command, runs it, and turns what went wrong into one line and an exit
/// code.
@main
enum Bowser {
  static let version = "0.1.0"

  static let commands: [Command] = [
    migrateCommand, ingestCommand, backfillCommand, aggregateCommand, backtestCommand, showCommand,
    statusCommand,
    stationsCommand, gapsCommand, agreementCommand, simulateCommand, doctorCommand, configCommand,
  ]

  static func main() async {
    // A reader that has gone away is not our failure: writing then fails with an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    let arguments = Array(CommandLine.arguments.dropFirst())
    exit(await run(arguments, environment: ProcessInfo.processInfo.environment).rawValue)
  }

  static func run(_ arguments: [String], environment: [String: String]) async -> ExitCode {
    guard let name = arguments.first else {
      talk(overview)
      return .usage
    }
    if ["-h", "--help", "help"].contains(name) {
      if arguments.count > 1, let command = commands.first(where: { $0.name == arguments[1] }) {
        write(command.help)
      } else {
        write(overview)
      }
      return .done
    }
    if name == "--version" {
      write("bowser \(version)\n")
      return .done
    }
    do {
      guard let command = commands.first(where: { $0.name == name }) else {
        throw UsageError.unknown("command", name, among: commands.map(\.name))
      }
      let rest = Array(arguments.dropFirst())
      if rest.contains("-h") || rest.contains("--help") {
        write(command.help)
        return .done
      }
      let invocation = try Invocation(rest, of: command, environment: environment)
      let code = try await command.run(invocation)
      if code == .done, let lost = OutputLost.seen.withLock({ $0 }) { throw lost }
      return code
    } catch {
      talk("bowser: \(error)\n")
      return ExitCode(for: error)
    }
  }

  static let overview: String = {
    let width = commands.map(\.name.count).max() ?? 0
    let lines = commands.map { command in
      "  \(command.name)\(String(repeating: " ", count: width - command.name.count))  \(command.summary)\n"
    }
    return """
      Australian retail fuel prices: feeds into PostgreSQL, averages, trends and verdicts out.

      usage: bowser COMMAND [OPTIONS] [OPERANDS]

      \(lines.joined())
      bowser COMMAND --help tells more. Options of every command:
      \(Command.common.map(\.helpLine).joined())
      """
  }()
}

/// Data that could not be written.
struct OutputLost: Error, CustomStringConvertible {
  let description: String
  static let seen = Mutex<OutputLost?>(nil)
}

/// Writes to standard output: data. Where nobody reads any more, the rest is dropped; a full disk is
/// told at the end.
func write(_ text: String) {
  do {
    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  } catch {
    let reason = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard reason?.code != Int(EPIPE) else { return }
    OutputLost.seen.withLock { $0 = OutputLost(description: "standard output cannot be written") }
  }
}

/// Writes to standard error: talk.
func talk(_ text: String) {
  // A closed or full stream cannot be told about it; the exit code still says how the work went.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}
