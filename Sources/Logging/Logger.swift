import Foundation

/// Writes one line of `key=value` pairs per event to standard error. The message is a fixed word or
/// two; everything that varies is a field.
///
/// A logger is passed as an argument. There is no global one, so a test can pass a logger that
/// collects the lines.
package struct Logger: Sendable {
  /// How serious a line is. Less serious lines than the configured level are left out.
  package enum Level: String, Sendable, CaseIterable {
    case debug, info, warning, error
  }

  private let least: Level
  private var fields: String
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - least: lines below this level are dropped.
  ///   - write: receives one complete line without its line break.
  package init(_ least: Level, write: @escaping @Sendable (String) -> Void = Logger.toStandardError)
  {
    self.least = least
    self.write = write
    fields = ""
  }

  /// Returns a logger that adds one more field to every line.
  package func with(_ key: String, _ value: any CustomStringConvertible) -> Logger {
    var logger = self
    logger.fields += " \(key)=\(Self.quoted(value.description))"
    return logger
  }

  /// Writes a line that `--verbose` shows.
  package func info(
    _ message: String, _ values: KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) {
    log(.info, message, values)
  }
  /// Writes a line about something that a person should look at.
  package func warning(
    _ message: String, _ values: KeyValuePairs<String, any CustomStringConvertible> = [:]
  ) {
    log(.warning, message, values)
  }

  /// Runs what may fail without harm, and writes a line where it does.
  package func tolerating(_ message: String, at level: Level = .info, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      log(level, message, ["error": "\(error)"])
    }
  }

  private func log(
    _ level: Level, _ message: String,
    _ values: KeyValuePairs<String, any CustomStringConvertible>
  ) {
    guard Level.allCases.drop(while: { $0 != least }).contains(level) else { return }
    let time = Date.now.formatted(.iso8601)
    var line = "time=\(time) level=\(level.rawValue) msg=\(Self.quoted(message))\(fields)"
    for (key, value) in values { line += " \(key)=\(Self.quoted(value.description))" }
    write(line)
  }

  package static let toStandardError: @Sendable (String) -> Void = { line in
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }

  /// Returns a value, quoted only where needed. Line breaks are escaped, so that no value can look
  /// like a line of its own. Values are cut after 1,000 scalars.
  private static func quoted(_ value: String) -> String {
    // Counts scalars, not characters: one character may have megabytes.
    let value = String(value.unicodeScalars.prefix(1_000))
    let isPlain =
      !value.isEmpty
      && value.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII && scalar.value > 0x20 && scalar.value != 0x7F && scalar != "\""
          && scalar != "="
      }
    if isPlain { return value }
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        if [.control, .format].contains(scalar.properties.generalCategory) {
          text += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text + "\""
  }
}
