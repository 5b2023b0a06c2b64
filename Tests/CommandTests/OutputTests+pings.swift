import Foundation
import FuelModel
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

/// Pings of a monitoring service.
extension OutputTests {
  /// F-O12: whatever the monitoring service answers to a ping, the result and output of the job
  /// stay the same, and the job ends in time.
  @Test(arguments: ["plain", "error", "redirect", "slow", "away"])
  func aPingChangesNothing(kind: String) async throws {
    try await TestDatabase.with { target in
      let server = try Server { request in
        switch kind {
        case "error": .text(500, "no")
        case "redirect": .text(302, "", headers: ["Location": "http://127.0.0.1:1/away"])
        case "slow": .silence(seconds: 30)
        default: .text(200, "OK")
        }
      }
      defer { server.stop() }
      let port = kind == "away" ? 1 : server.port
      let environment = [
        "BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_PING_URL": "http://127.0.0.1:\(port)/check/CANARY",
      ]
      let good = try CommandTests.run(["aggregate"], on: target, environment: environment)
      #expect(good.code == 0 && good.out.isEmpty && good.err.isEmpty, "\(good)")
      // An answer that does not come takes as long the second time.
      if kind == "slow" { return }
      let bad = try CommandTests.run(
        ["aggregate", "--config", "/nowhere"], on: target, environment: environment)
      #expect(bad.code == 78 && !bad.err.contains("CANARY"))
    }
  }

  /// F-N09: a ping reports success at the address itself, and a failure that needs a person at the
  /// address with the exit code. A failure that may pass by itself (75) is reported from the third
  /// in a row on.
  @Test func aPingTellsHowItEnded() async throws {
    try await TestDatabase.with { target in
      let asked = Mutex<[String]>([])
      let server = try Server { request in
        let line =
          "\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))"
        asked.withLock { $0.append(line) }
        return .text(200, "OK")
      }
      defer { server.stop() }
      let words = ["--ping-url", "http://127.0.0.1:\(server.port)/check"]
      let environment = [
        "BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_STATE_FOLDER": temporary(),
        "BOWSER_PING_URL": "http://127.0.0.1:\(server.port)/environment",
      ]
      let away = (["aggregate"], "host=/nowhere")
      for (command, target) in [
        (["aggregate"], target), (["report", "--out", "/proc/x"], target), away, away,
        (["aggregate"], target), away, away, away,
      ] {
        _ = try CommandTests.run(command + words, on: target, environment: environment)
      }
      // A command that is no job reports nothing.
      #expect(try CommandTests.run(["status"], on: target, environment: environment).code == 0)
      #expect(
        asked.withLock { $0 } == [
          "POST /check bowser aggregate: exit 0\n", "POST /check/74 bowser report: exit 74\n",
          "POST /check bowser aggregate: exit 0\n", "POST /check/75 bowser aggregate: exit 75\n",
        ])
    }
  }

  /// The watcher of the configuration learns that a variable was refused.
  @Test func aPingTellsOfAMisspeltVariable() throws {
    let asked = Mutex<[String]>([])
    let server = try Server { request in
      asked.withLock { $0.append(request.path) }
      return .text(200, "OK")
    }
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/bowser.json5"
    try String(contentsOfFile: file, encoding: .utf8)
      .replacing("pingUrl: ''", with: "pingUrl: 'http://127.0.0.1:\(server.port)/check'")
      .write(toFile: file, atomically: false, encoding: .utf8)
    let refused = try CommandTests.run(
      ["aggregate", "--config", folder], on: "host=/nowhere",
      environment: ["BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_LOGLEVEL": "debug"])
    #expect(refused.code == 78 && refused.err.contains("BOWSER_LOGLEVEL"), "\(refused)")
    #expect(asked.withLock { $0 } == ["/check/78"])
  }
}
