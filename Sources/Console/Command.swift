import Configuration

/// One command: its name, its help, its options and what it does.
package struct Command: Sendable {
  struct Option: Sendable {
    var name: String
    /// The placeholder of the option's value, or `nil` if the option is a flag.
    var value: String?
    var about: String

    /// Options without a description are for calls of this program by itself, and are not listed.
    var helpLine: String {
      if about.isEmpty { return "" }
      return padded("  --\(name)\(value.map { " \($0)" } ?? "")  ", 22) + about + "\n"
    }

    /// Refuses an empty path. A variable that is not set leaves one, and it would mean another folder.
    func refuseEmptyPath(_ given: String?) throws {
      guard given == "", let value, ["DIR", "FILE", "TARGET"].contains(value) else { return }
      throw UsageError.message("--\(name) needs \(value), and got an empty one: \(about)")
    }
  }

  var name: String
  var summary: String
  var operands = ""
  var examples: [(String, String)]
  var options: [Option] = []
  /// Paragraphs of the help text after the options.
  var notes: String = ""
  /// Whether it may store or read private tables where the database is a hub of others. Commands
  /// that read the views alone always work there.
  var worksOnHub = false
  /// The deadline in seconds, after which the command ends with 75, unless the configuration or
  /// `--deadline` sets another. 0 means never.
  var deadlineSeconds = 300
  /// What the command does, or `nil` if a program `bowser-NAME` beside this one does it.
  var run: (@Sendable (Invocation) async throws -> ExitCode)?

  /// The options that every command has.
  static let common: [Option] = [
    Option(name: "config", value: "DIR", about: "the configuration folder"),
    Option(
      name: "db", value: "TARGET",
      about: "a libpq connection string or URI (default: PG* variables)"),
    Option(
      name: "now", value: "INSTANT",
      about: "the instant taken as now, for replays and tests: 2026-07-02T12:00:00Z"),
    Option(
      name: "deadline", value: "SECONDS",
      about: "exit with 75 after so many seconds (0: never); or `deadlines` in bowser.json5"),
    Option(name: "verbose", about: "report what happens on standard error"),
    Option(name: "help", about: "show this text"),
  ]

  /// The error for an option that this command does not have.
  func unknown(option: String) -> UsageError {
    // Options without a description are for calls of this program by itself.
    let own = options.filter { !$0.about.isEmpty }.map { "--\($0.name)" }
    let takes = own.isEmpty ? "" : "\(name) takes \(own.joined(separator: ", ")); "
    return .unknown(
      "option", option, among: own + Self.common.map { "--\($0.name)" },
      hint: "\(takes)bowser \(name) --help describes them")
  }

  var help: String {
    let width = examples.map(\.0.count).max() ?? 0
    let lines = examples.map { "  \(padded($0.0, width))  \($0.1)\n" }
    return """
      \(summary)

      \(lines.joined())
      usage: bowser \(name) [OPTIONS]\(operands.isEmpty ? "" : " \(operands)")

      \((options + Self.common).map(\.helpLine).joined())\(notes.isEmpty ? "" : "\n\(notes)\n")
      """
  }
}

/// An error in the words on the command line.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  package let description: String

  /// An error with this text.
  package static func message(_ text: String) -> UsageError { UsageError(description: text) }

  /// - Parameter hint: advice for a name that is neither similar to another nor a part of a few.
  ///   `nil` lists the names if there are at most 24.
  package static func unknown(
    _ what: String, _ name: String, among names: [String], hint: String? = nil
  ) -> UsageError {
    let list = names.count <= 24 ? "one of \(names.joined(separator: ", "))" : nil
    let longer = name.count < 3 ? [] : names.filter { $0.lowercased().contains(name.lowercased()) }
    // A name may be meant by a part of it between dashes.
    let parts = names.flatMap { whole in
      whole.split(separator: "-").map { (text: String($0), whole: whole) }
    }
    let part = nearest(to: name, in: parts.map(\.text))
    let similar = nearest(to: name, in: names) ?? parts.first { $0.text == part }?.whole
    let likely = similar.map { [$0] } ?? (longer.count < 5 ? longer : [])
    let advice =
      likely.isEmpty
      ? hint ?? list
      : "did you mean \(likely.map { "'\($0)'" }.joined(separator: " or "))?"
    return .message("no \(what) '\(name)'" + (advice.map { "; \($0)" } ?? ""))
  }

  /// Returns the name that a word means: the name that equals the word, otherwise the only name that
  /// begins with the word. Upper and lower case are equal.
  ///
  /// - Parameter what: what has these names, such as "feed".
  static func meant(by word: String, _ what: String, among all: [String]) throws -> String {
    let wanted = word.lowercased()
    if let equal = all.first(where: { $0.lowercased() == wanted }) { return equal }
    let longer = wanted.isEmpty ? [] : all.filter { $0.lowercased().hasPrefix(wanted) }
    if longer.count == 1 { return longer[0] }
    throw longer.isEmpty
      ? unknown(what, word, among: all)
      : UsageError.message("'\(word)' is ambiguous: \(longer.joined(separator: " or "))")
  }
}
