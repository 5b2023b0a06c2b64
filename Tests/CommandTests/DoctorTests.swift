import Foundation
import FuelModel
import Postgres
import Simulator
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

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

  /// A demo has no keys, and needs none to be well.
  @Test func theDoctorKnowsADemo() async throws {
    let market = try await PlayedMarket.database()
    let real = try CommandTests.run(["doctor"], on: market.target)
    #expect(real.code == 78 && real.out.contains("FAIL  qld-fpd"), "\(real)")
    let demo = try CommandTests.run(
      ["doctor"], on: market.target, environment: ["PGOPTIONS": "-c bowser.simulated=on"])
    #expect(demo.out.contains("ok    demo") && demo.out.contains("off   qld-fpd"), "\(demo)")
    #expect(demo.code == 0 && !demo.out.contains("FAIL"), "\(demo)")
  }

  /// `doctor` reads the lists that only some commands read, so that no mistake in one waits for an
  /// aggregate at night.
  @Test(arguments: [
    (
      "regions.json5", "state: 'NSW'", "state: 'NWS'",
      "entry 1: 'state' must be one of NSW, ACT, VIC, QLD, SA, WA, TAS, NT, or empty"
    ),
    ("brands.json5", "brand: 'AGL'", "band: 'AGL'", "entry 2: unknown key 'band'"),
    ("events.json5", "'2015-02-02'", "'2015-02-30'", "entry 2: 'on' must be a day"),
    ("stations.json5", "[]", "[{ is: 'sam' }]", "entry 1: "),
  ])
  func theDoctorReadsTheLists(file: String, right: String, wrong: String, answer: String) throws {
    let folder = try CommandTests.config(replacing: right, with: wrong, in: file)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let text = try String(contentsOfFile: "\(CommandTests.config)/\(file)", encoding: .utf8)
    let doctor = try CommandTests.run(["doctor", "--config", folder], on: "host=/nowhere")
    // Each of these entries is in one line.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let line = try #require(lines.firstIndex { $0.contains(right) }) + 1
    #expect(
      doctor.code == 78
        && doctor.out.contains("FAIL  lists                   \(file):\(line), \(answer)"),
      "\(doctor)")
  }

  /// A login that is no member of a role is told the role that its command needs, with its name.
  @Test func aLoginWithoutARoleIsToldWhatToGrant() async throws {
    try await TestDatabase.with { target in
      let login = "stranger_\(target.split(separator: "=")[1])"
      let owner = try Connection(target)
      try owner.execute("CREATE ROLE \(login) LOGIN")
      for (words, role) in [
        (["show"], "fuel_reader"), (["export", "averages_now"], "fuel_reader"),
        (["aggregate"], "fuel_writer"), (["gaps"], "fuel_writer"),
      ] {
        let refused = try CommandTests.run(words, on: target + " user=\(login)")
        #expect(
          refused.code == 77
            && refused.err.contains("run GRANT \(role) TO \"\(login)\", see Roles"),
          "\(words) \(refused)")
      }
      try owner.execute("DROP ROLE \(login)")
    }
  }

  /// F-M06: a view that somebody dropped is named, and `migrate` makes it again.
  @Test func aDroppedViewIsNamedAndMended() async throws {
    try await TestDatabase.with { target in
      try Connection(target).execute("DROP VIEW fuel_v1.fuels CASCADE")
      try Connection(target).execute("DROP VIEW IF EXISTS fuel_v1.averages_now CASCADE")
      let shown = try CommandTests.run(["show"], on: target)
      #expect(
        shown.code == 78 && shown.err.contains("bowser migrate verify says what the schema lacks"),
        "\(shown)")
      let verified = try CommandTests.run(["migrate", "verify"], on: target)
      #expect(
        verified.code == 78 && verified.err.contains("the schema is damaged: ")
          && verified.err.contains("view fuel_v1.averages_now")
          && verified.err.contains("missing: run bowser migrate"), "\(verified)")
      let doctor = try CommandTests.run(["doctor"], on: target)
      #expect(
        doctor.code == 78
          && doctor.out.contains("FAIL  database                the schema is damaged: "),
        "\(doctor)")
      let mended = try CommandTests.run(["migrate"], on: target)
      #expect(mended.code == 0, "\(mended)")
      for words in [["migrate", "verify"], ["show"]] {
        let whole = try CommandTests.run(words, on: target)
        #expect(whole.code == 0, "\(words) \(whole)")
      }
    }
  }

  /// A misspelt variable is read by nobody, and `doctor` names the one that may be meant. It warns of
  /// others that nothing reads, says nothing of those that are read, and never says a value.
  @Test func theDoctorNamesMisspeltVariables() throws {
    let slips = [
      "BOWSER_WORKER": "BOWSER_WORKERS", "BOWSER_NT_MYFUEL_ENABELD": "BOWSER_NT_MYFUEL_ENABLED",
      "BOWSER_QLD_FPD_TOKN": "BOWSER_QLD_FPD_TOKEN",
    ]
    let right = ["BOWSER_NOTIFY_PHONE_URL", "BOWSER_SA_FPD_TOKEN", "BOWSER_COMMIT"]
    var environment = slips.mapValues { _ in "CANARY" }
    for variable in right + ["BOWSER_X"] { environment[variable] = "CANARY" }
    let doctor = try CommandTests.run(["doctor"], on: "host=/nowhere", environment: environment)
    for (slip, meant) in slips {
      #expect(
        doctor.out.contains(
          "FAIL  environment             nothing reads \(slip); did you mean \(meant)?"),
        "\(doctor)")
    }
    #expect(doctor.out.contains("warn  environment             nothing reads BOWSER_X\n"))
    for variable in right {
      #expect(!doctor.out.contains("nothing reads \(variable)"), "\(doctor)")
    }
    #expect(!doctor.out.contains("CANARY") && !doctor.err.contains("CANARY"), "\(doctor)")
  }

  /// F-M61: a collation version that does not match is one line of `doctor` with what to run, and
  /// jobs say nothing about it.
  @Test func anotherCollationVersionIsTold() async throws {
    try await TestDatabase.with { target in
      let name = target.split(separator: "=")[1]
      try Connection(target).execute(
        "UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()")
      for words in [["aggregate"], ["status"], ["migrate"]] {
        let job = try CommandTests.run(words, on: target)
        #expect(job.code == 0 && job.err.isEmpty, "\(words) \(job)")
      }
      let doctor = try CommandTests.run(["doctor"], on: target)
      let lines = doctor.out.split(separator: "\n").filter { $0.contains("collation") }
      #expect(
        doctor.code == 0 && doctor.err.isEmpty && lines.count == 1
          && lines[0].hasPrefix("warn  collation ")
          && lines[0].hasSuffix(
            "Run as its owner: REINDEX DATABASE \(name); "
              + "ALTER DATABASE \(name) REFRESH COLLATION VERSION"),
        "\(doctor)")
    }
  }

  /// F-N06: a read-only database is reported as such, by jobs and by `doctor`, with 78 and not with
  /// a code that means "try again".
  @Test func aLoginThatOnlyReadsIsTold() async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let name = target.split(separator: "=")[1]
      try Connection(target).execute(
        "ALTER DATABASE \(name) SET default_transaction_read_only = on")
      for words in [["ingest", "qld-fpd"], ["aggregate"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(WorkerProcessTests.now)"], on: target,
          environment: providers.environment)
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
    .enabled(if: IntegrationTests.isOn, IntegrationTests.advice),
    arguments: ["transaction", "session"])
  func poolersAreTold(mode: String) async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
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
          words + ["--now", "\(WorkerProcessTests.now)"], on: pooled,
          environment: providers.environment)
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
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let process = CommandTests.process([], target, providers.environment)
      let program = process.executableURL?.path ?? ""
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = [
        "-c",
        "umask 000; exec '\(program)' ingest qld-fpd --record '\(folder)' "
          + "--now \(WorkerProcessTests.now)",
      ]
      try process.run()
      try await process.ended()
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
