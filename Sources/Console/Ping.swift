import Configuration
import Foundation
import HTTP
import Logging

/// Reports the end of a job to a watcher of cron jobs, such as healthchecks.io. The answer of the
/// watcher, or its absence, does not matter to the job. A missing ping is the watcher's alarm.
enum Ping {
  /// Sends a POST to the address after success, and to the address followed by the exit code after
  /// an end that needs a person. Exit code 75, which usually heals by itself, is sent only after
  /// three times in a row.
  static func send(_ code: ExitCode, of command: String, _ invocation: Invocation) async {
    let repeats = Repeats.note(code, of: command, invocation)
    guard code != .tryAgain || repeats >= Repeats.worthTelling else { return }
    do {
      let settings = try invocation.statedSettings()
      await post(
        settings.pingUrl, code, command, invocation.logger(settings),
        allowLoopback: settings.allowLoopback)
    } catch {
      // The configuration cannot be read. The watcher should learn of that in particular.
      let address =
        invocation.options["ping-url"] ?? invocation.environment["BOWSER_PING_URL"] ?? ""
      await post(
        address, code, command, Logger(.error),
        allowLoopback: invocation.environment["BOWSER_ALLOW_LOOPBACK"] == "true")
    }
  }

  /// What the address of a watcher must be.
  static let form = "an address such as https://watcher.example/check"

  /// Returns the URL of a web address; `nil` where a text is none.
  static func url(_ address: String) -> URL? {
    guard let url = URL(string: address), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty
    else { return nil }
    return url
  }

  private static func post(
    _ address: String, _ code: ExitCode, _ command: String, _ log: Logger, allowLoopback: Bool
  ) async {
    guard !address.isEmpty else { return }
    guard var url = Self.url(address) else { return log.warning("ping address unreadable") }
    if code != .done { url.append(path: String(code.rawValue)) }
    let limits = Limits(timeoutSeconds: 10, maxBodyBytes: 1 << 16, allowLoopback: allowLoopback)
    let request = Request(
      method: "POST", url: url, headers: ["User-Agent": "bowser/\(Version.number)"],
      body: Array("bowser \(command): exit \(code.rawValue)\n".utf8))
    do {
      let response = try await Client.session(limits).send(request)
      log.info("pinged", ["status": response.status])
    } catch {
      // The log names the host but never the path, which is a secret like a key.
      log.info("ping lost", ["error": "\(error)"])
    }
  }
}
