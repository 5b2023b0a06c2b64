import Configuration
import Feeds
import Foundation

/// How many times in a row a job has ended with 75. A single such end heals by itself, repeated
/// ones do not.
///
/// The count is kept in a file of the state folder, because the database may be what is
/// unavailable.
enum Repeats {
  /// From this number on, the end of the job is reported to the watcher.
  static let worthTelling = 3

  /// Counts one more end of a job with 75. Any other exit code resets the count.
  ///
  /// - Returns: how many ends with 75 there were in a row.
  static func note(_ code: ExitCode, of command: String, _ invocation: Invocation) -> Int {
    guard let settings = try? invocation.statedSettings(),
      let folder = TokenCache.folder(
        configured: settings.stateFolder, environment: invocation.environment)
    else { return 0 }
    let words = [command] + invocation.operands + invocation.flags.sorted()
    let name = words.joined(separator: "-").lowercased().utf8.prefix(80).filter {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
    }
    let path = "\(folder)/\(String(decoding: name, as: UTF8.self)).again"
    guard code == .tryAgain else {
      try? FileManager.default.removeItem(atPath: path)
      return 0
    }
    let before = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0.prefix(9)) }
    let count = min((before ?? 0) + 1, 1_000_000)
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try? "\(count)".write(toFile: path, atomically: true, encoding: .utf8)
    return count
  }
}
