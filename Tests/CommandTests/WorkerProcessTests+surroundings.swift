import Foundation
import FuelModel
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Hostile environments: little to open, nothing to write to, proxies.
extension WorkerProcessTests {
  /// F-K10, F-M04: the result is the same without environment, home or standard input, in a working
  /// directory that was deleted, and with any umask and locale. The file with the token is readable
  /// only by its owner.
  @Test func poorSurroundings() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let state = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      let host = ProcessInfo.processInfo.environment["PGHOST"] ?? ""
      let port = ProcessInfo.processInfo.environment["PGPORT"] ?? "5432"
      let user = ProcessInfo.processInfo.environment["PGUSER"] ?? ""
      var variables = providers.environment
      variables["BOWSER_DATABASE"] =
        "host=\(host) port=\(port)\(user.isEmpty ? "" : " user=\(user)") \(target)"
      variables["BOWSER_CONFIG"] = CommandTests.config
      variables["BOWSER_STATE_FOLDER"] = state
      variables["LC_ALL"] = "th_TH.UTF-8"
      let program = CommandTests.process([], target, [:]).executableURL?.path ?? ""
      func shell(_ command: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let assignments = variables.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        process.arguments = [
          "-c",
          "d=$(mktemp -d); cd $d; rmdir $d; umask 000; exec env -i \(assignments) \(program) \(command)",
        ]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
      }
      #expect(try shell("ingest nsw-fuelcheck --now \(Self.now) <&-") == 0)
      #expect(
        try Connection(target).lines("SELECT outcome, requests FROM fuel_v1.ingest_runs")
          == ["stored|2"])
      let file = state + "/nsw-fuelcheck.token"
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      // The next run needs no new token. Neither does the feed of Tasmania, which shares the token.
      #expect(
        try shell("ingest nsw-fuelcheck tas-fuelcheck --now \(Self.now + .seconds(3_600))") == 0)
      #expect(
        try Connection(target).lines(
          "SELECT source, requests FROM fuel_v1.ingest_runs WHERE run_id > 1 ORDER BY source")
          == ["nsw-fuelcheck|1", "tas-fuelcheck|1"])
      // A token file that is broken, readable by others or made for another key counts as missing.
      for spoil in [
        "echo '{' > \(file)", "chmod 644 \(file)",
        "chmod 600 \(file); sed -i 's/\"keys\":\"/&x/' \(file)",
      ] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", spoil]
        try process.run()
        process.waitUntilExit()
        let count = providers.paths.count { $0.hasSuffix("accesstoken") }
        let runs = Int(try Connection(target).lines("SELECT count(*) FROM fuel.run")[0]) ?? 0
        #expect(try shell("ingest nsw-fuelcheck --now \(Self.now + .seconds(3_600 * runs))") == 0)
        #expect(providers.paths.count { $0.hasSuffix("accesstoken") } == count + 1, "\(spoil)")
      }
      variables["BOWSER_STATE_FOLDER"] = "/proc/nowhere"
      #expect(try shell("ingest tas-fuelcheck --now \(Self.now + .seconds(90_000))") == 0)
    }
  }

  /// F-K11, F-N55: with too few file descriptors a run exits at once and without a crash, with an
  /// error, and stores nothing in part. The next run is normal.
  @Test func fewFilesToOpen() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let good =
        "SELECT count(*) FROM fuel_v1.ingest_runs WHERE outcome IN ('stored', 'unchanged')"
      for limit in [20, 24, 32] {
        let before = try connection.lines(SQL(stringLiteral: good))
        let process = CommandTests.process([], target, providers.environment)
        let program = process.executableURL?.path ?? ""
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = [
          "-c",
          CommandTests.ownFiles
            + "ulimit -n \(limit); exec \(program) ingest sa-fpd --now \(Self.now) 2>/dev/null",
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(limit)")
        // A run that stored nothing ends with an error.
        let isDone = try connection.lines(SQL(stringLiteral: good)) != before
        #expect(isDone || process.terminationStatus != 0, "\(limit)")
        let counts = try connection.lines(
          "SELECT count(*) FROM fuel.price WHERE run_id NOT IN (SELECT run_id FROM fuel.run WHERE outcome = 'stored')"
        )
        #expect(counts == ["0"])
      }
      let next = try CommandTests.run(
        ["ingest", "sa-fpd", "--now", "\(Self.now + .seconds(3_600))"], on: target,
        environment: providers.environment)
      #expect(next.code == 0)
    }
  }

  /// F-K12: when output cannot be written or is not read, the stored rows stay, and the exit code
  /// reports a failed write.
  @Test func lostOutput() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for (step, (redirect, code)) in [
        (">/dev/full", 74), ("| true", 0), (">&-", 74), ("2>/dev/full", 0),
      ].enumerated() {
        let process = CommandTests.process([], target, providers.environment)
        let program = process.executableURL?.path ?? ""
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = [
          "-c",
          "set -o pipefail; \(program) ingest sa-fpd --summary --now \(Self.now + .seconds(step * 3_600)) \(redirect)",
        ]
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == Int32(code), "\(redirect)")
        #expect(
          try Connection(target).lines(
            "SELECT count(*) FROM fuel_v1.ingest_runs WHERE outcome IN ('stored', 'unchanged')")
            == ["\(step + 1)"], "\(redirect)")
      }
    }
  }

  /// F-M03: the command line of the process that reads a feed does not contain the connection
  /// string, which may hold a password. The caller chose to show it in his own.
  @Test func noPasswordIsPassedOnInACommandLine() async throws {
    let parent = Mutex<pid_t>(0)
    let children = Mutex<[String]>([])
    let providers = try Providers { request, _ in
      // The process that asks is there now, whenever this test gets its turn again.
      if request.path.hasSuffix("GetSitesPrices") {
        let lines = try? Self.commandLines(ofChildrenOf: parent.withLock { $0 })
        children.withLock { $0 += lines ?? [] }
      }
      return nil
    }
    try await TestDatabase.with { target in
      let process = CommandTests.process(
        ["ingest", "qld-fpd", "--now", "\(Self.now)", "--db", "\(target) password=CANARY"], "",
        providers.environment)
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
      parent.withLock { $0 = process.processIdentifier }
      try await process.ended()
      let seen = children.withLock { $0 }
      #expect(process.terminationStatus == 0)
      #expect(seen.contains { $0.contains("--isolated") }, "\(seen)")
      #expect(!seen.contains { $0.contains("CANARY") }, "\(seen)")
    }
  }

  /// Returns the command lines of the processes that a process has started, with spaces between the
  /// words.
  private static func commandLines(ofChildrenOf parent: pid_t) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
      .compactMap { number in
        // A process may end while this one reads.
        guard let stat = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
          let words = try? String(contentsOfFile: "/proc/\(number)/cmdline", encoding: .utf8)
        else { return nil }
        // The name of the program is in brackets. After it come the state and the parent.
        let fields = (stat.split(separator: ") ").last ?? "").split(separator: " ")
        guard fields.count > 1, fields[1] == String(parent) else { return nil }
        return words.replacing("\0", with: " ")
      }
  }

  /// F-H03: a provider that is silent until the deadline of the run ends it with 75, and the message
  /// names the deadline.
  @Test func aDeadlineIsNamed() async throws {
    let providers = try Providers { _, _ in .silence(seconds: 20) }
    try await TestDatabase.with { target in
      let late = try CommandTests.run(
        ["ingest", "sa-fpd", "--now", "\(Self.now)", "--deadline", "6"], on: target,
        environment: providers.environment)
      let words = ": the deadline passed before the provider had answered; --deadline, or "
      #expect(late.code == 75 && late.err.contains(words), "\(late)")
    }
  }

  /// F-N02: if the provider's clock contradicts `--now`, the instant is wrong and not the clock of
  /// this machine.
  @Test func anInstantThatIsGivenIsNoClock() async throws {
    let providers = try Providers { request, feeds in
      guard case .text(let status, let body, let type, _) = feeds.answer(request) else {
        return nil
      }
      // Two days after the instant of the tests.
      return .text(status, body, type: type, headers: ["Date": "Fri, 03 Jul 2026 10:00:00 GMT"])
    }
    try await TestDatabase.with { target in
      for (days, words) in [(0, "behind"), (4, "ahead of")] {
        let wrong = try CommandTests.run(
          ["ingest", "sa-fpd", "--now", "\(Self.now + .seconds(days * 86_400))"], on: target,
          environment: providers.environment)
        let reason = "sa-fpd: --now is 172800 s \(words) the provider's clock: leave it out"
        #expect(wrong.code == 64 && wrong.err.contains(reason), "\(wrong)")
      }
    }
  }

  /// A market is not played into a database that has answers of real providers, which state the
  /// time.
  @Test func simulatedPricesDoNotMixWithOthers() async throws {
    let providers = try Providers { request, feeds in
      guard case .text(let status, let body, let type, _) = feeds.answer(request) else {
        return nil
      }
      return .text(status, body, type: type, headers: ["Date": "Wed, 01 Jul 2026 10:00:00 GMT"])
    }
    try await TestDatabase.with { target in
      let fetched = try CommandTests.run(
        ["ingest", "sa-fpd", "--now", "\(Self.now)"], on: target,
        environment: providers.environment)
      #expect(fetched.code == 0, "\(fetched)")
      let played = try CommandTests.run(["simulate", "play", "--days", "2"], on: target)
      let refusal = "bowser: the database has answers of real providers, "
      #expect(played.code == 78 && played.err.hasPrefix(refusal), "\(played)")
      #expect(try Connection(target).lines("SELECT count(*) FROM fuel.run") == ["1"])
    }
  }

  /// F-H20: HTTPS goes through a proxy of the environment as a tunnel. The proxy is told the host
  /// and nothing of the request inside: no path and no key.
  @Test func aProxyCarriesATunnel() async throws {
    let seen = Mutex<[String]>([])
    let proxy = try Server { request in
      seen.withLock {
        $0.append(
          "\(request.method) \(request.headers["host"] ?? "") \(request.path) \(request.query) "
            + "\(request.headers) \(String(decoding: request.body, as: UTF8.self))")
      }
      return .text(502, "")
    }
    defer { proxy.stop() }
    try await TestDatabase.with { target in
      var environment = [
        "BOWSER_QLD_FPD_URL": "https://feed.invalid/secret-path",
        "BOWSER_QLD_FPD_TOKEN": "CANARY", "BOWSER_ATTEMPTS": "1", "no_proxy": "", "NO_PROXY": "",
      ]
      for name in ["https_proxy", "HTTPS_PROXY"] {
        environment[name] = "http://127.0.0.1:\(proxy.port)"
      }
      let result = try CommandTests.run(
        ["ingest", "qld-fpd", "--now", "\(Self.now)"], on: target, environment: environment)
      let reason = "no whole answer from feed.invalid: "
      #expect(result.code == 69 && result.err.contains(reason), "\(result)")
      let told = seen.withLock { $0 }
      #expect(!told.isEmpty)
      for line in told {
        #expect(line.hasPrefix("CONNECT feed.invalid:443 "))
        #expect(!line.contains("CANARY") && !line.contains("secret-path"), "\(line)")
      }
    }
  }

  /// F-H20: plain HTTP goes to this machine only and past the proxies that the environment names,
  /// which could read it.
  @Test func proxiesOfTheEnvironmentAreNotUsed() async throws {
    let seen = Mutex<[String]>([])
    let proxy = try Server { request in
      seen.withLock { $0.append("\(request.path) \(request.headers)") }
      return .text(502, "")
    }
    defer { proxy.stop() }
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      var environment = providers.environment
      for name in [
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
      ] {
        environment[name] = "http://127.0.0.1:\(proxy.port)"
      }
      environment["no_proxy"] = ""
      let result = try CommandTests.run(
        ["ingest", "sa-fpd", "--now", "\(Self.now)"], on: target, environment: environment)
      #expect(result.code == 0, "\(result.err)")
      #expect(seen.withLock { $0 } == [])
    }
  }
}
