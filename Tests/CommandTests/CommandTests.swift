import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// The program as cron and people run it: arguments in, exit code and output out.
struct CommandTests {
  struct Result {
    var code: Int32
    var out: String
    var err: String
  }

  static let program = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "bowser")
  static let config = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../config").standardized.path

  /// Returns a copy of that folder in which one text of a file is replaced by another.
  static func config(
    replacing right: String, with wrong: String, in file: String
  ) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: config, toPath: folder)
    let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    #expect(text.contains(right))
    try text.replacing(right, with: wrong)
      .write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
    return folder
  }

  /// The state folder, which holds tokens. It replaces the one in the tester's home.
  static let state = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

  static func process(_ arguments: [String], _ target: String, _ environment: [String: String])
    -> Process
  {
    let process = Process()
    let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "bowser")
    process.executableURL =
      FileManager.default.isExecutableFile(atPath: program.path) ? program : beside
    process.arguments = arguments
    // Neither the tester's settings and proxies, nor the no_proxy that a client of this process sets.
    var all = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("BOWSER_") && !$0.key.lowercased().hasSuffix("_proxy")
    }
    all["BOWSER_CONFIG"] = config
    all["BOWSER_DATABASE"] = target
    all["BOWSER_STATE_FOLDER"] = state
    process.environment = all.merging(environment) { _, new in new }
    return process
  }

  static func run(
    _ arguments: [String], on target: String = "", environment: [String: String] = [:]
  ) throws -> Result {
    let process = process(arguments, target, environment)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let out = folder + ".out"
    let err = folder + ".err"
    for path in [out, err] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: out)
    process.standardError = FileHandle(forWritingAtPath: err)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    defer { for path in [out, err] { try? FileManager.default.removeItem(atPath: path) } }
    return Result(
      code: process.terminationStatus, out: try String(contentsOfFile: out, encoding: .utf8),
      err: try String(contentsOfFile: err, encoding: .utf8))
  }

  /// The folder of a recording with one run of every simulated feed.
  static let recording: String = {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let now = Instant(seconds: 1_782_900_000)
    let today = Zone.sydney.local(now).day
    let feeds = SimulatedFeeds(Market(seed: 3, stations: 120, days: (today + -3)...(today + 2)))
    for feed in SimulatedFeeds.feeds {
      for document in feeds.documents(of: feed, at: now) {
        let path = "\(folder)/\(feed)/20260701T100000Z"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(
          atPath: "\(path)/\(document.name).\(feed.hasPrefix("wa") ? "xml" : "json")",
          contents: Data(document.bytes))
      }
    }
    return folder
  }()

  private func isOneLine(_ text: String) -> Bool {
    text.hasSuffix("\n") && text.dropLast().allSatisfy { !$0.isNewline }
      && text.hasPrefix("bowser: ")
  }

  static let wordings: [([String], Int32)] = [
    ([], 64), (["nonsense"], 64), (["ingset"], 64), (["ingest"], 64), (["ingest", "qld-fdp"], 64),
    (["ingest", "--al"], 64), (["ingest", "--all", "qld-fpd"], 64), (["aggregate", "x"], 64),
    (["ingest", "qld-fpd", "--now", "yesterday"], 64), (["migrate", "down"], 64),
    (["ingest", "qld-fpd", "--record"], 64), (["--help"], 0), (["ingest", "--help"], 0),
    (["help", "simulate"], 0), (["--version"], 0), (["config", "show"], 0), (["simulate"], 64),
    (["simulate", "serve", "--fault", "nonsense"], 64), (["simulate", "--fault", "list"], 0),
  ]

  @Test(arguments: wordings)
  func words(arguments: [String], code: Int32) throws {
    let result = try Self.run(arguments, on: "host=/nowhere")
    #expect(result.code == code, "\(result.err)")
    #expect(result.out.isEmpty == (code != 0) && result.err.isEmpty == (code == 0))
  }

  /// `bowser-simulate` runs the command `simulate`. Where it is missing, the help is still there.
  @Test func simulateNamesTheMissingProgram() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = try #require(Self.process([], "", [:]).executableURL)
    let alone = folder.appending(path: "bowser")
    try FileManager.default.copyItem(at: program.resolvingSymlinksInPath(), to: alone)
    func answer(_ arguments: [String]) async throws -> Result {
      let process = Self.process(arguments, "", [:])
      process.executableURL = alone
      return try await finished(process)
    }
    let missing = try await answer(["simulate", "--fault", "list"])
    #expect(missing.code == 78 && isOneLine(missing.err) && missing.out.isEmpty)
    #expect(missing.err.contains("bowser-simulate: not installed"), "\(missing.err)")
    let help = try await answer(["simulate", "--help"])
    #expect(help.code == 0 && help.out.contains("bowser simulate play"), "\(help.err)")
  }

  /// The program that runs `simulate` ends on the signals that end any other command.
  @Test func aSimulationEndsWhenItIsTold() async throws {
    let process = Self.process(["simulate", "serve", "--port", "0"], "", [:])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // The settings are printed when the server listens.
    let settings = try output.fileHandleForReading.read(upToCount: 1)
    #expect(settings?.isEmpty == false)
    process.terminate()
    try await waitUntil { !process.isRunning }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try await process.ended()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
  }

  /// F-M03: no option of any command takes a key, a token or a password. One that is tried is
  /// refused, and its value is not repeated.
  @Test func noOptionTakesASecret() throws {
    let names = try Self.run(["help"]).out.matches(of: #/\n  ([a-z]+)  /#).map { String($0.1) }
    #expect(names.count > 15)
    for name in names {
      let options = try Self.run(["help", name]).out.matches(of: /\n  --([a-z-]+)/).map {
        String($0.1)
      }
      #expect(options.contains("config"), "\(name)")
      let taking = options.filter { $0.contains(/key|token|secret|pass|credential/) }
      #expect(taking == [], "\(name)")
    }
    for words in [["--token", "CANARY"], ["--key=CANARY"], ["--password=CANARY"]] {
      let refused = try Self.run(["ingest", "qld-fpd"] + words)
      #expect(refused.code == 64 && !refused.err.contains("CANARY"), "\(refused)")
    }
  }

  @Test func aNearMissIsSuggested() throws {
    #expect(try Self.run(["ingset"]).err == "bowser: no command 'ingset'; did you mean 'ingest'?\n")
    #expect(
      try Self.run(["nonsense"]).err
        == "bowser: no command 'nonsense'; bowser help lists the commands; bowser show PLACE shows prices\n"
    )
    #expect(
      try Self.run(["ingest", "qld-fdp"]).err
        == "bowser: no feed 'qld-fdp'; did you mean 'qld-fpd'?\n")
    #expect(
      try Self.run(["ingest", "--recrod", "x", "qld-fpd"]).err
        == "bowser: no option '--recrod'; did you mean '--record'?\n")
  }

  /// F-M01: each fault prints one line and ends with its exit code.
  @Test func everyFaultIsOneLine() async throws {
    let away = try Self.run(["ingest", "wa-fuelwatch"], on: "host=/nowhere password=CANARY")
    #expect(away.code == 75 && isOneLine(away.err) && !away.err.contains("CANARY"))
    let unknown = try Self.run(["ingest", "wa-fuelwatch"], on: "dbname=no_such_database")
    #expect(unknown.code == 78 && isOneLine(unknown.err))
    let stranger = try Self.run(["ingest", "wa-fuelwatch"], on: "dbname=postgres user=nobody_here")
    #expect(stranger.code == 77 && isOneLine(stranger.err))
    try await TestDatabase.withEmpty { target in
      let old = try Self.run(["ingest", "wa-fuelwatch"], on: target)
      #expect(old.code == 78 && isOneLine(old.err) && old.err.contains("bowser migrate"))
    }
    try await TestDatabase.with { target in
      let missing = try Self.run(["ingest", "qld-fpd"], on: target)
      #expect(missing.code == 78 && isOneLine(missing.err))
      #expect(missing.err.contains("BOWSER_QLD_FPD_TOKEN"))
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      try FileManager.default.copyItem(atPath: Self.config, toPath: folder)
      try "{ logLevle: 'debug' }".write(
        toFile: folder + "/bowser.json5", atomically: false, encoding: .utf8)
      let key = try Self.run(["ingest", "qld-fpd", "--config", folder], on: target)
      #expect(key.code == 78)
      #expect(
        key.err == "bowser: bowser.json5: unknown key 'logLevle'; did you mean 'logLevel'?\n")
      let loopback = try Self.run(
        ["ingest", "wa-fuelwatch"], on: target,
        environment: ["BOWSER_WA_FUELWATCH_URL": "http://127.0.0.1:9/"])
      #expect(loopback.code == 78 && isOneLine(loopback.err))
      let nothing = try Self.run(["ingest", "qld-fpd", "--replay", "/nowhere"], on: target)
      #expect(nothing.code == 74 && isOneLine(nothing.err))
    }
  }

  /// F-M05: a URI where libpq expects a name is refused before the name, and the password in it, can
  /// get into a message or become the name of a new database.
  @Test(arguments: ["PGDATABASE", "PGHOST"])
  func aURIIsNoName(variable: String) throws {
    for words in [["status"], ["setup"]] {
      let refused = try Self.run(
        words, environment: [variable: "postgresql://u:CANARY@localhost/x"])
      #expect(refused.code == 78 && isOneLine(refused.err), "\(refused)")
      #expect(refused.err.contains("\(variable) takes a name and no URI"), "\(refused)")
      #expect(!refused.err.contains("CANARY") && !refused.out.contains("CANARY"), "\(refused)")
    }
  }

  /// A wrong key is refused by a server that follows the protocol of the feed. The run ends with 77
  /// and does not print the key.
  @Test func aBadKeyIsNotAllowed() async throws {
    let today = Zone.sydney.local(.now).day
    let feeds = SimulatedFeeds(Market(seed: 1, stations: 20, days: (today + -1)...(today + 1)))
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    try await TestDatabase.with { target in
      var environment = [
        "BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_QLD_FPD_TOKEN": "CANARY",
        "BOWSER_QLD_FPD_URL": "http://127.0.0.1:\(server.port)/qld-fpd",
      ]
      let bad = try Self.run(["ingest", "qld-fpd"], on: target, environment: environment)
      #expect(bad.code == 77 && isOneLine(bad.err) && !bad.err.contains("CANARY"))
      #expect(bad.err.contains("refused the key of BOWSER_QLD_FPD_TOKEN (401)"), "\(bad.err)")
      environment["BOWSER_QLD_FPD_TOKEN"] = SimulatedFeeds.keys["BOWSER_QLD_FPD_TOKEN"]
      environment["BOWSER_QLD_FPD_LEAST_SECONDS_BETWEEN_RUNS"] = "0"
      let good = try Self.run(["ingest", "qld-fpd"], on: target, environment: environment)
      #expect(good.code == 0 && good.out.isEmpty && good.err.isEmpty)
    }
  }

  /// A truncated recording is refused with 65 and one line. The other feed of the same call is
  /// stored.
  @Test func feedsDoNotAffectEachOther() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: Self.recording, toPath: folder)
    let path = folder + "/nsw-fuelcheck/20260701T100000Z/prices.json"
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
    try await TestDatabase.with { target in
      let result = try Self.run(
        ["ingest", "nsw-fuelcheck", "qld-fpd", "--replay", folder, "--summary"], on: target)
      #expect(result.code == 65 && isOneLine(result.err))
      #expect(result.err.hasPrefix("bowser: nsw-fuelcheck: prices: not JSON"))
      #expect(result.out.hasPrefix("qld-fpd run=") && result.out.split(separator: "\n").count == 1)
      let silent = try Self.run(["ingest", "qld-fpd", "--replay", Self.recording], on: target)
      #expect(silent.code == 0 && silent.out.isEmpty && silent.err.isEmpty)
    }
  }

  /// F-O34: what keeps one recorded run from being stored for now keeps the others too. One line
  /// says so, and not one for each of them.
  @Test func oneLineSaysWhyNoRunIsStored() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: Self.recording, toPath: folder)
    for hour in 11...13 {
      try FileManager.default.copyItem(
        atPath: folder + "/qld-fpd/20260701T100000Z",
        toPath: folder + "/qld-fpd/20260701T\(hour)0000Z")
    }
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      #expect(try feed.store.ledger.lock(feed.id))
      let result = try Self.run(["ingest", "qld-fpd", "--replay", folder], on: target)
      #expect(result.code == 75 && isOneLine(result.err), "\(result)")
      try feed.store.ledger.unlock(feed.id)
      #expect(try Self.run(["ingest", "qld-fpd", "--replay", folder], on: target).code == 0)
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel.run") == ["4"])
    }
  }

  /// F-K01: of two runs of a feed at once, the second ends with 75 within five seconds, and the
  /// first ends as if it had been alone.
  @Test func twoRunsAtOnce() async throws {
    try await TestDatabase.with { target in
      // The first run has the lock of the feed and waits here, because it cannot store its documents.
      let holder = try Connection(target)
      try holder.execute("BEGIN; LOCK TABLE fuel.body IN EXCLUSIVE MODE")
      let words = ["ingest", "qld-fpd", "--replay", Self.recording]
      let first = Self.process(words, target, [:])
      first.standardError = FileHandle.nullDevice
      first.standardInput = FileHandle.nullDevice
      try first.run()
      let watcher = try Connection(target)
      // A run waits for a lock for twenty seconds. Another test may hold this thread for as long if
      // it is given up here.
      var waits = false
      for _ in 0..<900 where !waits {
        usleep(20_000)
        waits = try !watcher.lines(
          """
          SELECT FROM pg_locks
          WHERE relation = 'fuel.body'::regclass AND database IN (
            SELECT oid FROM pg_database WHERE datname = current_database()) AND NOT granted
          """
        ).isEmpty
      }
      #expect(waits)
      // The second one ends although the first one cannot go on before ROLLBACK.
      let second = try Self.run(words, on: target)
      #expect(second.code == 75 && isOneLine(second.err))
      try holder.execute("ROLLBACK")
      try await first.ended()
      #expect(first.terminationStatus == 0)
      #expect(
        try watcher.lines("SELECT source, outcome FROM fuel_v1.ingest_runs") == ["qld-fpd|stored"])
    }
  }

  private func dump(_ target: String) throws -> [String] {
    let connection = try Connection(target)
    return try connection.lines(
      """
      SELECT station_code, price.fuel_id, effective_at, price_tenths, min(learnt_at)
      FROM fuel.counted_price AS price JOIN fuel.station USING (station_id)
      GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
      """)
      + connection.lines(
        "SELECT station_code, fuel_id, changed_at, is_listed FROM fuel.listing JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3"
      )
      + connection.lines(
        """
        SELECT station_code, fuel_id, price_tenths, stamped_at, is_listed
        FROM fuel.shown_price JOIN fuel.station USING (station_id) ORDER BY 1, 2
        """)
      + connection.lines("SELECT source, reason, raw FROM fuel_v1.rejects ORDER BY 1, 2, 3")
      + connection.lines("SELECT part, from_on FROM fuel.due WHERE step = 'averages' ORDER BY 1, 2")
  }

  /// F-K04: a run may be killed at any moment. The next run ends as if the killed one had never
  /// begun.
  @Test(.longer) func aKilledRunLeavesNoTrace() async throws {
    let arguments = ["ingest", "nsw-fuelcheck", "--replay", Self.recording]
    let expected = try await TestDatabase.with { target in
      _ = try Self.run(arguments, on: target)
      return try dump(target)
    }
    #expect(expected.count > 300)
    try await TestDatabase.with { target in
      // Kills fall anywhere in a run. `length` adapts to the time in milliseconds that a run takes
      // here.
      var random = Random(seed: 4)
      var length = 200.0
      let kills = Long.count(short: 4, long: 30)
      var interrupted = 0
      for _ in 0..<200 where interrupted < kills {
        let process = Self.process(arguments, target, [:])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try await Task.sleep(for: .milliseconds(Int(length * random.real(0.1...1))))
        kill(process.processIdentifier, SIGKILL)
        try await process.ended()
        let stored = try dump(target)
        // Either nothing is stored or everything.
        #expect(stored.isEmpty || firstDifference(stored, expected) == nil)
        if process.terminationReason == .uncaughtSignal {
          interrupted += 1
          length *= 1.1
        } else {
          length *= 0.8
        }
      }
      #expect(interrupted == kills)
      var last = try Self.run(arguments, on: target)
      for _ in 0..<20 where last.code == 75 {
        // The server may not yet have ended the session of the process killed last.
        try await Task.sleep(for: .milliseconds(100))
        last = try Self.run(arguments, on: target)
      }
      #expect(last.code == 0, "\(last.err)")
      #expect(firstDifference(try dump(target), expected) == nil)
      #expect(
        try Connection(target).lines("SELECT DISTINCT outcome FROM fuel_v1.ingest_runs ORDER BY 1")
          .allSatisfy { ["interrupted", "stored", "unchanged"].contains($0) })
      let verified = try Self.run(["verify"], on: target)
      #expect(verified.code == 0, "\(verified.out)")
    }
  }

  /// `config show` prints each setting with its origin, and secrets as stars.
  @Test func configShowTellsOrigins() throws {
    let result = try Self.run(
      ["config", "show"], on: "password=CANARY",
      environment: ["BOWSER_QLD_FPD_TOKEN": "CANARY", "BOWSER_LOG_LEVEL": "error"])
    #expect(result.code == 0 && !result.out.contains("CANARY"))
    #expect(result.out.contains("  logLevel = error  (environment BOWSER_LOG_LEVEL)"))
    #expect(result.out.contains("  deadlineSeconds = 300  (bowser.json5)"))
    #expect(result.out.contains("  enabled = true  (default)"))
    #expect(result.out.contains("  secret token = ***"))
    #expect(result.out.contains("  secret key = missing: a key is missing: set BOWSER_"))
  }

  /// Replay, `aggregate`, `show` and `status` on one database.
  @Test func theWholeJob() async throws {
    try await TestDatabase.with { target in
      let now = ["--now", "2026-07-01T10:05:00Z"]
      _ = try Self.run(
        [
          "ingest", "wa-fuelwatch", "qld-fpd", "nsw-fuelcheck", "sa-fpd", "--replay",
          Self.recording,
        ]
          + now, on: target)
      let aggregate = try Self.run(["aggregate", "--summary"] + now, on: target)
      #expect(aggregate.code == 0 && aggregate.out.hasPrefix("aggregate run="))
      let show = try Self.run(["show"] + now, on: target)
      #expect(show.code == 0 && show.out.contains("Perth") && show.out.contains("Tomorrow"))
      #expect(!show.out.contains("\u{1B}"))
      let status = try Self.run(["status"] + now, on: target)
      #expect(status.out.contains("\nqld-fpd ") && status.out.contains("\naggregate "))
      let dry = try Self.run(
        ["ingest", "qld-fpd", "--replay", Self.recording, "--dry-run", "--summary"] + now,
        on: target)
      #expect(dry.code == 0 && dry.out.contains("stored=0"))
    }
  }
}
