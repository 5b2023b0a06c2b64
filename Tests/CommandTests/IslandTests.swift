import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Processes that run at the same time: feeds that do not affect each other, crashes, signals, and
/// hostile environments.
struct IslandTests {
  static let now = Instant(seconds: 1_782_900_000)

  /// One server that simulates all providers, and the environment variables that point to it.
  final class Providers: Sendable {
    let feeds: SimulatedFeeds
    let server: Server
    let environment: [String: String]
    let asked = Mutex<[String]>([])

    init(spoil: @escaping @Sendable (Server.Request, SimulatedFeeds) -> Server.Answer?) throws {
      let today = Zone.sydney.local(IslandTests.now).day
      let feeds = SimulatedFeeds(
        Market(seed: 3, stations: 120, days: (today + -3)...(today + 2)), at: IslandTests.now)
      self.feeds = feeds
      let log = Log()
      server = try Server { request in
        log.lines.withLock { $0.append(request.path) }
        return spoil(request, feeds) ?? feeds.answer(request)
      }
      self.log = log
      var environment = SimulatedFeeds.settings(port: server.port)
      environment["BOWSER_ATTEMPTS"] = "1"
      self.environment = environment
    }

    private let log: Log
    private final class Log: Sendable { let lines = Mutex<[String]>([]) }
    var paths: [String] { log.lines.withLock { $0 } }
    deinit { server.stop() }
  }

  private func text(_ answer: Server.Answer) -> (Int, [UInt8], String) {
    guard case .text(let status, let body, let type, _) = answer else { return (200, [], "") }
    return (status, Array(body.utf8), type)
  }

  /// F-Z14, F-H15, F-K02: a connection that closes inside the head of an answer ends the process on
  /// this platform. Each feed has a process of its own, so the failure is reported and counted for
  /// that feed and does not affect the others.
  @Test func aCrashIsOneFeedsAlone() async throws {
    let isBroken = Mutex(true)
    let providers = try Providers { request, feeds in
      guard isBroken.withLock({ $0 }), request.path.contains("/qld-fpd/") else { return nil }
      var random = Random(seed: 1, "cut")
      let (status, body, type) = self.text(feeds.answer(request))
      return Fault.named("head-cut")?.spoil((status, body, type), &random)
    }
    try await TestDatabase.with { target in
      let result = try CommandTests.run(
        ["ingest", "--all", "--now", "\(Self.now)"], on: target,
        environment: providers.environment)
      #expect(result.code == 69, "\(result.err)")
      #expect(result.err.contains("bowser: qld-fpd: "))
      #expect(!result.err.contains("sa-fpd"))
      let stored = try Connection(target).lines(
        "SELECT feed FROM fuel_v1.ingest_runs WHERE outcome = 'stored' ORDER BY feed")
      #expect(stored == SimulatedFeeds.feeds.filter { $0 != "qld-fpd" })
      isBroken.withLock { $0 = false }
      let healed = try CommandTests.run(
        ["ingest", "--all", "--now", "\(Self.now + .seconds(900))"], on: target,
        environment: providers.environment)
      #expect(healed.code == 0 && healed.err == "", "\(healed.err)")
      #expect(
        try Connection(target).lines(
          "SELECT outcome FROM fuel_v1.ingest_runs WHERE feed = 'qld-fpd' ORDER BY run_id DESC LIMIT 1"
        )
          == ["stored"])
    }
  }

  /// F-K02: all feeds run at once, round after round, and none waits for the rows of another.
  @Test func roundsOfAllFeeds() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for round in 0..<4 {
        let at = Self.now + .seconds(round * 46_000)
        providers.feeds.set(at)
        let result = try CommandTests.run(
          ["ingest", "--all", "--summary", "--now", "\(at)"], on: target,
          environment: providers.environment)
        #expect(result.code == 0 && result.err == "", "\(result.err)")
        #expect(result.out.split(separator: "\n").count == 7)
      }
    }
  }

  /// F-K01, F-K09: when one feed is started many times at once, one process works and the others
  /// end with 75 without waiting for it.
  @Test func startsDoNotPileUp() async throws {
    let isHeld = Mutex(true)
    let providers = try Providers { request, feeds in
      guard request.path.hasSuffix("GetSitesPrices") else { return nil }
      while isHeld.withLock({ $0 }) { usleep(10_000) }
      return feeds.answer(request)
    }
    defer { isHeld.withLock { $0 = false } }
    try await TestDatabase.with { target in
      let began = ContinuousClock.now
      var processes: [Process] = []
      for _ in 0..<10 {
        let process = CommandTests.process(
          ["ingest", "qld-fpd", "--now", "\(Self.now)"], target, providers.environment)
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        processes.append(process)
      }
      while processes.count(where: \.isRunning) > 1, ContinuousClock.now - began < .seconds(60) {
        usleep(10_000)
      }
      isHeld.withLock { $0 = false }
      for process in processes { process.waitUntilExit() }
      let codes = processes.map(\.terminationStatus).sorted()
      #expect(codes == [0] + Array(repeating: 75, count: 9), "\(codes)")
      #expect(ContinuousClock.now - began < .seconds(60))
      #expect(try Connection(target).lines("SELECT count(*) FROM fuel.run") == ["1"])
    }
  }

  /// F-K05, F-K04: a signal that arrives while a provider is silent ends both processes of the run.
  /// The next run is normal.
  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGKILL])
  func signalsEndTheRun(signal: Int32) async throws {
    let isSilent = Mutex(true)
    let providers = try Providers { request, _ in
      isSilent.withLock { $0 } && request.path.hasSuffix("GetSitesPrices")
        ? .silence(seconds: 20) : nil
    }
    try await TestDatabase.with { target in
      let process = CommandTests.process(
        ["ingest", "qld-fpd", "--now", "\(Self.now)"], target, providers.environment)
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
      try await waitUntil { providers.paths.contains { $0.hasSuffix("GetSitesPrices") } }
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
      isSilent.withLock { $0 = false }
      let connection = try Connection(target)
      // The database session of the run ends with its process.
      let isGone = try await waitUntil(within: .seconds(10)) {
        try connection.lines(
          """
          SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
          WHERE locktype = 'advisory' AND classid = 1 AND datname = current_database()
          """
        ).isEmpty
      }
      #expect(isGone)
      let next = try CommandTests.run(
        ["ingest", "qld-fpd", "--now", "\(Self.now + .seconds(60))"], on: target,
        environment: providers.environment)
      #expect(next.code == 0 && next.err == "")
      let outcomes = try connection.lines("SELECT outcome FROM fuel_v1.ingest_runs ORDER BY run_id")
      // If the signal leaves it time, the program records itself that the run failed.
      #expect(outcomes.count == 2 && ["interrupted", "failed"].contains(outcomes[0]))
      #expect(outcomes.last == "stored")
    }
  }

  /// F-K07: a process that holds the lock of a feed and hangs blocks other runs only as long as its
  /// database session lives.
  @Test func aHangingLockHolderDiesWithItsSession() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let run = { (seconds: Int) in
        try CommandTests.run(
          ["ingest", "sa-fpd", "--now", "\(Self.now + .seconds(seconds))"], on: target,
          environment: providers.environment)
      }
      #expect(try run(0).code == 0)
      let holder = try Connection(target)
      let process = try holder.lines("SELECT pg_backend_pid()")[0]
      try holder.execute("SELECT pg_advisory_lock(1, source_id::integer) FROM fuel.source")
      let busy = try run(700)
      #expect(busy.code == 75 && busy.err.contains("another run of this feed is under way"))
      try Connection(target).execute("SELECT pg_terminate_backend(\(process))")
      #expect(try run(1_400).code == 0)
    }
  }

  /// F-K03: live runs, replays and aggregations of the same feeds at once lead to the same result
  /// as one after the other.
  @Test func everythingAtOnce() async throws {
    let feeds = ["nsw-fuelcheck", "qld-fpd", "wa-fuelwatch", "sa-fpd"]
    func words(_ target: String) -> [[String]] {
      let now = "\(Self.now + .seconds(600))"
      return feeds.map { ["ingest", $0, "--replay", CommandTests.recording, "--now", now] }
        + [["aggregate", "--now", now], ["aggregate", "--now", now]]
    }
    func published(_ target: String) throws -> [String] {
      _ = try CommandTests.run(["aggregate", "--now", "\(Self.now + .seconds(600))"], on: target)
      let connection = try Connection(target)
      try connection.query(
        "SELECT set_config('bowser.now', \((Self.now + .seconds(600)).description), false)")
      return try connection.lines("SELECT * FROM fuel_v1.daily_averages ORDER BY region, fuel, day")
        + connection.lines(
          "SELECT region, fuel, average_cpl, stations FROM fuel_v1.averages_now ORDER BY 1, 2")
        + connection.lines(
          "SELECT feed_station_code, feed, fuel, price_cpl, effective_at FROM fuel_v1.current_prices JOIN fuel_v1.stations USING (station_id) ORDER BY 1, 2, 3"
        )
    }
    let plain = try await TestDatabase.with { target in
      for words in words(target) { #expect(try CommandTests.run(words, on: target).code == 0) }
      return try published(target)
    }
    let atOnce = try await TestDatabase.with { target in
      for _ in 0..<3 {
        let processes = try (words(target) + words(target)).map { words in
          let process = CommandTests.process(words, target, [:])
          process.standardError = FileHandle.nullDevice
          process.standardInput = FileHandle.nullDevice
          try process.run()
          return process
        }
        for process in processes {
          process.waitUntilExit()
          #expect([0, 75].contains(process.terminationStatus))
        }
      }
      return try published(target)
    }
    #expect(plain.count > 100)
    #expect(firstDifference(atOnce, plain) == nil)
  }

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
          "SELECT feed, requests FROM fuel_v1.ingest_runs WHERE run_id > 1 ORDER BY feed")
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

  /// F-K11: with too few file descriptors a run exits without a crash and stores nothing in part.
  /// The next run is normal.
  @Test func fewFilesToOpen() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for limit in [20, 24, 32] {
        let process = CommandTests.process([], target, providers.environment)
        let program = process.executableURL?.path ?? ""
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
          "-c", "ulimit -n \(limit); exec \(program) ingest sa-fpd --now \(Self.now) 2>/dev/null",
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit, "\(limit)")
        let counts = try Connection(target).lines(
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

  /// F-H20: proxies that the environment names receive no request, and so no credential.
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

struct DoctorTests {
  /// `doctor` prints one line for each check and names what is missing and how to supply it. With
  /// `--online` it asks each provider once with its key.
  @Test func theDoctorLooksAtEverything() async throws {
    let away = try CommandTests.run(["doctor"], on: "host=/nowhere password=CANARY")
    #expect(away.code == 78 && away.out.contains("FAIL  database") && !away.out.contains("CANARY"))
    #expect(away.out.contains("BOWSER_VIC_FAIRFUEL_CONSUMER_ID"))
    #expect(away.out.contains("ok    wa-fuelwatch"))
    let today = Zone.sydney.local(.now).day
    let feeds = SimulatedFeeds(Market(seed: 3, stations: 60, days: (today + -3)...(today + 2)))
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    try await TestDatabase.with { target in
      var environment = SimulatedFeeds.keys
      environment["BOWSER_ALLOW_LOOPBACK"] = "true"
      for feed in SimulatedFeeds.feeds {
        let prefix = "BOWSER_" + feed.uppercased().replacing("-", with: "_")
        environment["\(prefix)_URL"] = "http://127.0.0.1:\(server.port)/\(feed)"
      }
      let well = try CommandTests.run(["doctor", "--online"], on: target, environment: environment)
      #expect(well.code == 0 && !well.out.contains("FAIL"), "\(well.out)")
      for feed in SimulatedFeeds.feeds { #expect(well.out.contains("ok    \(feed) online")) }
      environment["BOWSER_SA_FPD_TOKEN"] = "CANARY-wrong"
      environment["BOWSER_SA_FPD_LEAST_SECONDS_BETWEEN_RUNS"] = "0"
      let wrong = try CommandTests.run(
        ["doctor", "--online"], on: target, environment: environment)
      #expect(wrong.code == 78 && wrong.out.contains("FAIL  sa-fpd online"))
      #expect(!wrong.out.contains("CANARY"))
    }
  }

  /// F-N06: a read-only database is reported as such, by jobs and by `doctor`, with 78 and not with
  /// a code that means "try again".
  @Test func aLoginThatOnlyReadsIsTold() async throws {
    let providers = try IslandTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let name = target.split(separator: "=")[1]
      try Connection(target).execute(
        "ALTER DATABASE \(name) SET default_transaction_read_only = on")
      for words in [["ingest", "qld-fpd"], ["aggregate"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(IslandTests.now)"], on: target, environment: providers.environment)
        #expect(result.code == 78 && result.err.contains("read only"), "\(words) \(result)")
      }
      let doctor = try CommandTests.run(["doctor"], on: target, environment: providers.environment)
      #expect(doctor.code == 78 && doctor.out.contains("read only"), "\(doctor.out)")
    }
  }

  /// F-N06: every command reports a database that is not in UTF-8.
  @Test func anotherEncodingIsTold() async throws {
    let name = "latin_\(UUID().uuidString.prefix(8).lowercased())"
    try Connection("dbname=postgres").execute(
      "CREATE DATABASE \(name) ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    for words in [["migrate"], ["ingest", "wa-fuelwatch"], ["aggregate"], ["status"], ["doctor"]] {
      let result = try CommandTests.run(words, on: "dbname=\(name)")
      #expect(
        result.code == 78 && (result.err + result.out).contains("LATIN1"), "\(words) \(result)")
    }
  }

  /// F-N06: a connection pooler in transaction mode is reported, and no lock is left in its
  /// sessions. In session mode everything works.
  @Test(
    .enabled(if: IntegrationTests.has("/usr/sbin/pgbouncer"), IntegrationTests.advice),
    arguments: ["transaction", "session"])
  func poolersAreTold(mode: String) async throws {
    let providers = try IslandTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let environment = ProcessInfo.processInfo.environment
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let port = try Proxy(.drops)
      port.close()
      let user = environment["PGUSER"] ?? NSUserName()
      try """
      [databases]
      * = host=\(environment["PGHOST"] ?? "") port=\(environment["PGPORT"] ?? "5432") user=\(user)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port.port)
      unix_socket_dir =
      auth_type = any
      pool_mode = \(mode)
      query_wait_timeout = 10
      logfile = \(folder)/log
      """.write(toFile: folder + "/pool.ini", atomically: false, encoding: .utf8)
      let pooler = Process()
      pooler.executableURL = URL(filePath: "/usr/sbin/pgbouncer")
      pooler.arguments = (getuid() == 0 ? ["-u", "postgres"] : []) + ["-q", folder + "/pool.ini"]
      pooler.standardError = FileHandle.nullDevice
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
      try pooler.run()
      defer { kill(pooler.processIdentifier, SIGKILL) }
      let pooled =
        "\(target) host=127.0.0.1 port=\(port.port) user=\(user) sslmode=disable gssencmode=disable"
      try await waitUntil {
        do { _ = try Connection(pooled) } catch { return !"\(error)".contains("refused") }
        return true
      }
      for words in [["ingest", "qld-fpd"], ["aggregate"], ["status"], ["doctor"], ["migrate"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(IslandTests.now)"], on: pooled, environment: providers.environment)
        if mode == "transaction" {
          #expect(
            result.code == 78 && (result.err + result.out).contains("pooler"), "\(words) \(result)")
        } else {
          #expect(
            result.code == 0,
            "\(words) \(result) \((try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "")"
          )
        }
      }
      #expect(
        try Connection(target).lines(
          "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ) == ["0"])
    }
  }

  /// F-N27: recordings are readable only by their owner, whatever the umask.
  @Test func recordingsAreTheirOwners() async throws {
    let providers = try IslandTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let process = CommandTests.process([], target, providers.environment)
      let program = process.executableURL?.path ?? ""
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = [
        "-c",
        "umask 000; exec '\(program)' ingest qld-fpd --record '\(folder)' --now \(IslandTests.now)",
      ]
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      var (files, folders) = (0, 0)
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
        let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
        let mode = (attributes[.posixPermissions] as? Int ?? 0) & 0o777
        #expect(mode == (isFolder ? 0o700 : 0o600), "\(path) \(String(mode, radix: 8))")
        if isFolder { folders += 1 } else { files += 1 }
      }
      #expect(files >= 4 && folders >= 2)
    }
  }
}
