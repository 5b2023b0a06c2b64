import Foundation
import FuelModel
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

/// Notices are sent at least once and in order, even if the program dies between sending one and
/// recording that.
struct NotifyTests {
  private struct Received: Sendable, Equatable {
    var id: Int
    var kind: String
    var text: String
    var isRepeat: Bool
    var at: String
  }

  /// A receiver that answers with a chosen status and keeps what it received.
  private final class Receiver: Sendable {
    let status = Mutex(200)
    let got = Mutex<[Received]>([])
    let onReceipt = Mutex<(@Sendable () -> Void)?>(nil)
    let server: Mutex<Server?> = Mutex(nil)

    func start() throws -> Int {
      let started = try Server { request in
        let object =
          (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any] ?? [:]
        self.got.withLock {
          $0.append(
            Received(
              id: object["id"] as? Int ?? -1, kind: object["kind"] as? String ?? "",
              text: object["text"] as? String ?? "", isRepeat: object["repeat"] as? Bool ?? true,
              at: object["at"] as? String ?? ""))
        }
        self.onReceipt.withLock { $0 }?()
        return .text(self.status.withLock { $0 }, "")
      }
      server.withLock { $0 = started }
      return started.port
    }
  }

  private static let now = "2026-07-01T10:05:00Z"

  /// Makes a database with the market of Queensland and a configuration folder with these rules.
  private func withMarket(
    _ rules: String, _ body: (_ target: String, _ folder: String) throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(rules.utf8).write(to: URL(filePath: folder + "/notify.json5"))
    try await TestDatabase.with { target in
      for words in [["ingest", "qld-fpd", "--replay", CommandTests.recording], ["aggregate"]] {
        let result = try CommandTests.run(words + ["--now", Self.now], on: target)
        #expect(result.code == 0, "\(result)")
      }
      try body(target, folder)
    }
  }

  private func environment(_ folder: String, _ port: Int) -> [String: String] {
    [
      "BOWSER_CONFIG": folder, "BOWSER_ALLOW_LOOPBACK": "true",
      "BOWSER_NOTIFY_PHONE_URL": "http://127.0.0.1:\(port)/CANARY",
    ]
  }

  private func notify(
    _ target: String, _ environment: [String: String], _ words: [String] = [],
    now: String = Self.now
  ) throws -> CommandTests.Result {
    try CommandTests.run(["notify", "--now", now] + words, on: target, environment: environment)
  }

  private static let rules = """
    [
      { name: 'brisbane-turns', region: 'brisbane', address: 'phone' },
      { name: 'cheap', place: 'brisbane', belowCents: 300, address: 'phone' },
    ]
    """

  /// Makes the rule remember another verdict than the present one.
  private func turn(_ target: String) throws {
    try Connection(target).execute(
      "UPDATE fuel.notice_rule SET seen = seen || '{\"verdict\":\"wait\",\"market_state\":\"falling\"}' WHERE rule = 'brisbane-turns'"
    )
  }

  @Test func whatTurnsIsToldOnce() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    try await withMarket(Self.rules) { target, folder in
      let environment = environment(folder, port)
      #expect(try notify(target, environment, ["--test"]).code == 0)
      #expect(receiver.got.withLock { $0.map(\.kind) } == ["test", "test"])
      #expect(receiver.got.withLock { $0.map(\.at) } == [Self.now, Self.now])
      // The first verdict that a rule sees sends no notice. A price below the limit of its rule
      // sends one.
      let first = try notify(target, environment)
      #expect(first.code == 0 && first.out.isEmpty && first.err.isEmpty, "\(first)")
      #expect(receiver.got.withLock { $0.dropFirst(2).map(\.kind) } == ["price"])
      #expect(try notify(target, environment).code == 0)
      #expect(receiver.got.withLock { $0.count } == 3)
      try turn(target)
      #expect(try notify(target, environment).code == 0)
      #expect(try notify(target, environment).code == 0)
      let notices = receiver.got.withLock { $0 }
      try #require(notices.count == 4)
      #expect(notices[3].kind == "verdict" && !notices[3].isRepeat, "\(notices)")
      #expect(notices[3].text.hasPrefix("Brisbane U91: "), "\(notices[3])")
    }
  }

  /// F-O73: a rule that keeps its name and watches something else has not seen that yet. F-O74: a
  /// verdict that lapsed, since no aggregate ran, is no change of the market.
  @Test func anotherPlaceIsSeenForTheFirstTime() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    try await withMarket(Self.rules) { target, folder in
      let environment = environment(folder, port)
      func told(_ rule: String, now: String = Self.now) throws -> [String] {
        receiver.got.withLock { $0 = [] }
        try Data("[{ name: 'brisbane-turns', \(rule), address: 'phone' }]".utf8)
          .write(to: URL(filePath: folder + "/notify.json5"))
        let result = try notify(target, environment, now: now)
        #expect(result.code == 0 && result.err.isEmpty, "\(result)")
        return receiver.got.withLock { $0.map(\.kind) }
      }
      #expect(try told("region: 'brisbane'") == [])
      try turn(target)
      #expect(try told("region: 'qld'") == [])
      #expect(try told("region: 'qld', fuel: 'DL'") == [])
      #expect(try told("place: 'qld', belowCents: 300") == ["price"])
      #expect(try told("place: 'brisbane', belowCents: 300") == ["price"])
      #expect(try told("place: 'brisbane', belowCents: 299") == [])
      #expect(try told("region: 'brisbane'") == [])
      try turn(target)
      #expect(try told("region: 'brisbane'", now: "2026-07-09T10:05:00Z") == [])
      #expect(try told("region: 'brisbane'") == ["verdict"])
    }
  }

  /// F-O22: an address that is refused stays refused. A receiver that is away may be back soon.
  @Test func aTestTellsARefusedAddressFromAReceiverThatIsAway() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    try await withMarket(Self.rules) { target, folder in
      var environment = environment(folder, port)
      receiver.status.withLock { $0 = 503 }
      #expect(try notify(target, environment, ["--test"]).code == 75)
      environment["BOWSER_NOTIFY_PHONE_URL"] = "http://192.168.1.5/CANARY"
      let refused = try notify(target, environment, ["--test"])
      #expect(refused.code == 78 && refused.err.contains("does not use https"), "\(refused)")
      #expect(!refused.err.contains("CANARY"), "\(refused)")
      environment["BOWSER_NOTIFY_PHONE_URL"] = "https://192.168.1.5/CANARY"
      let inside = try notify(target, environment, ["--test"])
      #expect(
        inside.code == 78
          && inside.err.contains(
            "is a private address; a receiver in your own network needs command in place of address"
          ),
        "\(inside)")
    }
  }

  /// A rule that no price can meet is named by `--test`, `doctor` and `--summary`, with the reason.
  /// Without them `notify` is silent about it, as cron needs it.
  @Test func aRuleThatCanSendNothingIsNamed() async throws {
    let rules = """
      [
        { name: 'sea', place: '-30.0,100.0', nearKilometres: 5, belowCents: 170, command: '/bin/true' },
        { name: 'unsold', region: 'brisbane', fuel: 'H2', command: '/bin/true' },
        { name: 'tenth', place: 'brisbane', belowCents: 17.5, command: '/bin/true' },
        { name: 'nation', region: 'AU', command: '/bin/true' },
        { name: 'good', region: 'brisbane', command: '/bin/true' },
      ]
      """
    let reasons = [
      ("sea", "no station with a price within 5 km of -30.0, 100.0"),
      ("unsold", "no H2 is sold in Brisbane"),
      ("tenth", "its limit, 17.5, is less than half of the lowest U91 in Brisbane, "),
      ("nation", "Australia has no verdict on U91: it is a nation, "),
    ]
    try await withMarket(rules) { target, folder in
      var environment = environment(folder, 1)
      environment["BOWSER_QLD_FPD_TOKEN"] = "x"
      let test = try notify(target, environment, ["--test"])
      let summary = try notify(target, environment, ["--summary"])
      let silent = try notify(target, environment)
      let doctor = try CommandTests.run(
        ["doctor", "--now", Self.now], on: target, environment: environment)
      #expect(test.code == 0 && summary.code == 0 && doctor.code == 0, "\(test) \(doctor)")
      #expect(silent.code == 0 && silent.out.isEmpty && silent.err.isEmpty, "\(silent)")
      for (name, reason) in reasons {
        #expect(test.err.contains("bowser: \(name) can send nothing: \(reason)"), "\(test)")
        #expect(summary.out.contains("\(name) told=0 (\(reason)"), "\(summary)")
        #expect(
          doctor.out.contains(
            "warn  notices                 \(name) can send nothing: \(reason)"), "\(doctor)")
      }
      #expect(summary.out.contains("good told=0\n"), "\(summary)")
      #expect(!test.err.contains("good ") && !doctor.out.contains("good can"), "\(test) \(doctor)")
    }
  }

  /// A receiver that was away gets every notice made meanwhile, in order. Only a notice that was
  /// tried before is marked as a repetition.
  @Test func aReceiverThatWasAwayMissesNothing() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    try await withMarket(Self.rules) { target, folder in
      let environment = environment(folder, port)
      receiver.status.withLock { $0 = 503 }
      let away = try notify(target, environment)
      #expect(away.code == 75 && away.err.contains("answered 503"), "\(away)")
      #expect(!away.err.contains("CANARY"))
      for _ in 0..<3 {
        try turn(target)
        #expect(try notify(target, environment).code == 75)
      }
      receiver.got.withLock { $0 = [] }
      receiver.status.withLock { $0 = 204 }
      #expect(try notify(target, environment).code == 0)
      let notices = receiver.got.withLock { $0 }
      #expect(notices.filter { $0.kind == "verdict" }.count == 3, "\(notices)")
      #expect(notices.filter { $0.kind == "verdict" }.map(\.isRepeat) == [true, false, false])
      #expect(notices.map(\.id) == notices.filter { $0.kind == "verdict" }.map(\.id).sorted() + [1])
    }
  }

  /// When the program is killed between sending a notice and recording that, the next run sends the
  /// notice again with the same number and marks it as a repetition.
  @Test func aKilledNotifyRepeatsItself() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    try await withMarket("[{ name: 'cheap', place: 'qld', belowCents: 300, address: 'phone' }]") {
      target, folder in
      let environment = environment(folder, port)
      let process = CommandTests.process(["notify", "--now", Self.now], target, environment)
      process.standardError = FileHandle.nullDevice
      let number = Mutex<pid_t>(0)
      receiver.onReceipt.withLock {
        $0 = {
          // The kill comes before the program receives the answer.
          let pid = number.withLock { $0 }
          if pid > 0 { kill(pid, SIGKILL) }
        }
      }
      try number.withLock {
        try process.run()
        $0 = process.processIdentifier
      }
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal)
      receiver.onReceipt.withLock { $0 = nil }
      let next = try notify(target, environment)
      #expect(next.code == 0, "\(next)")
      let notices = receiver.got.withLock { $0 }
      #expect(
        notices.map(\.id) == [1, 1] && notices.map(\.isRepeat) == [false, true], "\(notices)")
      #expect(try notify(target, environment).code == 0)
      #expect(receiver.got.withLock { $0.count } == 2)
    }
  }

  /// Notices wait during quiet hours. At most a hundred wait for a rule, and the newest are kept.
  @Test func quietHoursAndFlapping() async throws {
    let receiver = Receiver()
    let port = try receiver.start()
    // The clock of the test stands at 20:05 in Brisbane.
    let rules = """
      [{ name: 'brisbane-turns', region: 'brisbane', address: 'phone', quiet: '19:00-07:00' }]
      """
    try await withMarket(rules) { target, folder in
      let environment = environment(folder, port)
      #expect(try notify(target, environment).code == 0)
      for _ in 0..<3 {
        try turn(target)
        #expect(try notify(target, environment).code == 0)
      }
      #expect(receiver.got.withLock { $0.isEmpty })
      try Connection(target).execute(
        "INSERT INTO fuel.notice (rule, made_at, content) SELECT 'brisbane-turns', now(), '{}' FROM generate_series(1, 150)"
      )
      try turn(target)
      #expect(try notify(target, environment).code == 0)
      #expect(
        try Connection(target).lines(
          "SELECT count(*), max(dropped) FROM fuel.notice JOIN fuel.notice_rule USING (rule)")
          == ["100|54"])
      try Connection(target).execute("DELETE FROM fuel.notice WHERE content = '{}'")
      let morning = try notify(target, environment, now: "2026-07-01T21:10:00Z")
      #expect(morning.code == 0, "\(morning)")
      #expect(receiver.got.withLock { $0.map(\.kind) } == ["verdict"])
    }
  }

  /// A program receives the notice on standard input and accepts it with exit code 0. It gets no
  /// argument and no key.
  @Test func aProgramIsTold() async throws {
    let out = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data("#!/bin/sh\n[ -e \(out).down ] && exit 3\n{ cat; env; echo \"$#\"; } >\(out)\n".utf8)
      .write(
        to: URL(filePath: out + ".sh"))
    defer {
      for end in ["", ".sh", ".down", ".left"] {
        try? FileManager.default.removeItem(atPath: out + end)
      }
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: out + ".sh")
    let rules = "[{ name: 'cheap', place: 'qld', belowCents: 300, command: '\(out).sh' }]"
    try await withMarket(rules) { target, folder in
      let environment = environment(folder, 1)
      _ = FileManager.default.createFile(atPath: out + ".down", contents: nil)
      let down = try notify(target, environment)
      #expect(down.code == 75 && down.err.contains("exited with 3"), "\(down)")
      try FileManager.default.removeItem(atPath: out + ".down")
      #expect(try notify(target, environment).code == 0)
      let output = try String(contentsOfFile: out, encoding: .utf8)
      // The command does not wait for processes that the program leaves behind.
      try Data("#!/bin/sh\nsleep 600 &\necho $! >\(out).left\n".utf8)
        .write(to: URL(filePath: out + ".sh"))
      try Connection(target).execute("UPDATE fuel.notice SET told_at = NULL")
      #expect(try notify(target, environment).code == 0)
      let left = try String(contentsOfFile: out + ".left", encoding: .utf8)
      let number = try #require(pid_t(left.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(kill(number, SIGKILL) == 0)
      #expect(
        output.contains("\"repeat\":true") && output.contains("\"kind\":\"price\""), "\(output)")
      #expect(!output.contains("CANARY") && output.hasSuffix("0\n"), "\(output)")
    }
  }

  /// A program that is not there, and an address without TLS, are mistakes of the configuration. They
  /// are reported before there is a notice to send, and the other rules are followed.
  @Test func aReceiverThatCannotBeIsNamed() async throws {
    let rules = """
      [
        { name: 'lost', region: 'qld', command: '/nowhere/tell-me' },
        { name: 'folder', region: 'qld', command: '/' },
        { name: 'words', region: 'qld', command: '/bin/cat -u' },
        { name: 'good', region: 'qld', command: '/bin/true' },
      ]
      """
    try await withMarket(rules) { target, folder in
      let environment = environment(folder, 1)
      for words in [["--summary"], ["--test"]] {
        let result = try notify(target, environment, words)
        #expect(result.code == 78 && result.out.contains("good "), "\(result)")
        let programs = [("words", "/bin/cat -u"), ("lost", "/nowhere/tell-me"), ("folder", "/")]
        for (rule, program) in programs {
          let told =
            "\(rule): notify.json5: 'command' must be a program that can be started without "
            + "arguments, and '\(program)' is none"
          #expect(result.err.contains(told), "\(result)")
        }
      }
      let doctor = try CommandTests.run(["doctor"], on: target, environment: environment)
      #expect(
        doctor.out.contains("FAIL  notices                 notify.json5: 'command'"), "\(doctor)")
      try Data("[{ name: 'x', region: 'qld', address: 'phone' }]".utf8)
        .write(to: URL(filePath: folder + "/notify.json5"))
      for address in ["http://phone.example/CANARY", "ftp://phone.example/CANARY", "https://"] {
        let open = ["BOWSER_CONFIG": folder, "BOWSER_NOTIFY_PHONE_URL": address]
        for words in [[], ["--test"]] {
          let result = try notify(target, open, words)
          #expect(
            result.code == 78
              && result.err.contains("BOWSER_NOTIFY_PHONE_URL: must begin with https://")
              && !result.err.contains("CANARY"), "\(result)")
        }
      }
    }
  }

  @Test(arguments: [
    ("[{ name: 'x', region: 'brisbane' }]", "address"),
    ("[{ name: 'x', region: 'brisbane', place: 'qld', address: 'phone' }]", "region"),
    ("[{ name: 'x', place: 'qld', address: 'phone' }]", "belowCents"),
    ("[{ name: 'x', region: 'qld', command: 'tell me' }]", "command"),
    ("[{ name: 'x', region: 'qld', belowCents: 170, command: '/bin/cat' }]", "beside region"),
    ("[{ name: 'x', region: 'qld', nearKilometres: 5, command: '/bin/cat' }]", "beside region"),
    ("[{ name: 'x', place: 'qld', belowCents: 1.7, command: '/bin/cat' }]", "from 10.0 to"),
    (
      "[{ name: 'x', region: 'qld', command: '/bin/cat' }, { name: 'y', region: 'qld' }]",
      "notify.json5:1, entry 2: 'address'"
    ),
    ("[{ name: 'x', region: 'qld', address: 'phone', quiet: 'night' }]", "quiet"),
    ("[{ name: 'x', region: 'qld', address: 'pager' }]", "BOWSER_NOTIFY_PAGER_URL"),
  ])
  func aWrongRuleIsNamed(rule: String, word: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(rule.utf8).write(to: URL(filePath: folder + "/notify.json5"))
    let result = try CommandTests.run(
      ["notify"], on: "host=/nowhere", environment: environment(folder, 1))
    #expect(result.code == 78 && result.err.contains(word), "\(result)")
  }
}
