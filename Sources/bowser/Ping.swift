import Configuration
import Foundation
import HTTP
import Logging

/// Tells a watcher of cron jobs (healthchecks.io and its like) how a job ended. What the watcher
/// answers, or whether it does, is no matter to the job: a ping that does not come is its alarm.
enum Ping {
  /// POST to the address for success, and to the address with the exit code behind it for what needs a
  /// person. What heals by itself is told when it has not, three times in a row.
  static func send(_ code: ExitCode, of command: String, _ invocation: Invocation) async {
    let repeats = Repeats.note(code, of: command, invocation)
    guard code != .tryAgain || repeats >= Repeats.worthTelling else { return }
    do {
      let settings = try invocation.settings()
      await post(
        settings.text("pingUrl"), code, command, invocation.logger(settings),
        allowLoopback: settings.boolean("allowLoopback"))
    } catch {
      // The configuration cannot be read, which is just what a watcher should hear of.
      let address =
        invocation.options["ping-url"] ?? invocation.environment["BOWSER_PING_URL"] ?? ""
      await post(
        address, code, command, Logger(.error),
        allowLoopback: invocation.environment["BOWSER_ALLOW_LOOPBACK"] == "true")
    }
  }
  private static func post(
    _ address: String, _ code: ExitCode, _ command: String, _ log: Logger, allowLoopback: Bool
  ) async {
    guard !address.isEmpty else { return }
    guard var url = URL(string: address) else { return log.warning("ping address unreadable") }
    if code != .done { url.append(path: String(code.rawValue)) }
    let limits = Limits(timeoutSeconds: 10, maxBodyBytes: 1 << 16, allowLoopback: allowLoopback)
    let request = Request(
      method: "POST", url: url, headers: ["User-Agent": "bowser/\(Version.number)"],
      body: Array("bowser \(command): exit \(code.rawValue)\n".utf8))
    do {
      let response = try await Client.session(limits).send(request)
      log.info("pinged", ["status": response.status])
    } catch {
      // Names the host and never the path, which is as good as a key.
      log.info("ping lost", ["error": "\(error)"])
    }
  }
}
