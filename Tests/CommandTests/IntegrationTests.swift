import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// Output of the program in other software: browsers, dbt, pandas, DuckDB, Prometheus, systemd,
/// man, shells.
///
/// `make integrations` installs the tools and requires all of them. Elsewhere these tests are
/// skipped, because they take longer than all others.
struct IntegrationTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..").standardized.path
  static let python = root + "/.build/tools/python/bin/python"
  static let promtool = root + "/.build/tools/promtool"

  static let isOn = ProcessInfo.processInfo.environment["REQUIRE_TOOLS"] != nil
  static let advice: Comment = "with other programs: make integrations"

  static func scripts() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root + "/contrib").map { "contrib/" + $0 }
      .filter {
        guard let data = FileManager.default.contents(atPath: "\(root)/\($0)") else { return false }
        return data.starts(with: Data("#!".utf8))
      } + ["config/cluster", "config/tests", ".ci/run"]
  }

  private func temporary() -> String {
    FileManager.default.temporaryDirectory.appending(path: "tools-\(UUID().uuidString)").path
  }

  @Test(.enabled(if: isOn, advice))
  func manualsAreClean() async throws {
    let folder = temporary()
    let program = CommandTests.process([], "", [:]).executableURL?.path ?? ""
    let made = try await tool("\(Self.root)/contrib/manual", [program, folder])
    #expect(made.code == 0, "\(made.err)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(names.count > 16)
    let result = try await tool(
      "mandoc", ["-T", "lint", "-W", "warning"] + names.map { "\(folder)/\($0)" })
    #expect(result.code == 0, "\(result.out)\(result.err)")
  }

  @Test(.enabled(if: isOn, advice))
  func shellsAreContent() async throws {
    let scripts = try Self.scripts().map { "\(Self.root)/\($0)" }
    #expect(scripts.count >= 5)
    let check = try await tool("shellcheck", scripts)
    #expect(check.code == 0, "\(check.out)")
  }

  @Test(.enabled(if: isOn, advice))
  func unitsAreSoundAndConfined() async throws {
    let prefix = temporary()
    let install = try await tool(
      "make",
      [
        "-C", Self.root, "install", "PREFIX=\(prefix)",
        "PROGRAM=\(CommandTests.process([], "", [:]).executableURL?.path ?? "")",
      ])
    #expect(install.code == 0, "\(install.out)\(install.err)")
    let units = prefix + "/lib/systemd/system"
    let names = try FileManager.default.contentsOfDirectory(atPath: units).filter {
      $0.hasSuffix(".service") || $0.hasSuffix(".timer") || $0.hasSuffix(".target")
    }
    #expect(names.count >= 9)
    let instances = names.filter { !$0.contains("@.") } + ["bowser-ingest@all.service"]
    let verify = try await tool(
      "env", ["SYSTEMD_UNIT_PATH=\(units):", "systemd-analyze", "verify", "--man=no"] + instances)
    let complaints = (verify.out + verify.err).split(separator: "\n").filter {
      $0.contains("bowser")
    }
    #expect(complaints == [])
    for name in instances where name.hasSuffix(".service") {
      let security = try await tool(
        "env",
        [
          "SYSTEMD_UNIT_PATH=\(units):", "systemd-analyze", "security", "--offline=true",
          "--threshold=20", "--no-pager", name,
        ])
      #expect(
        security.code == 0,
        "\(name): \(security.out.split(separator: "\n").last ?? "")\(security.err)")
    }
    let before = try FileManager.default.subpathsOfDirectory(atPath: prefix).count
    #expect(before > 40)
    let remove = try await tool("make", ["-C", Self.root, "uninstall", "PREFIX=\(prefix)"])
    #expect(remove.code == 0, "\(remove.err)")
    let left =
      FileManager.default.fileExists(atPath: prefix)
      ? try FileManager.default.subpathsOfDirectory(atPath: prefix) : []
    #expect(left == [])
  }

  @Test(.enabled(if: isOn, advice))
  func prometheusTakesMetricsAndRules() async throws {
    let market = try await PlayedMarket.database()
    let metrics = try CommandTests.run(["metrics"] + market.now, on: market.target)
    let check = try await tool(
      "bash", ["-c", "'\(Self.promtool)' check metrics"], input: metrics.out)
    // promtool expects durations in seconds and therefore objects to `bowser_dirty_days`. It must
    // object to nothing else.
    let complaints = (check.out + check.err).split(separator: "\n").filter {
      !$0.contains("bowser_dirty_days")
    }
    #expect(complaints == [])
    let folder = Self.root + "/contrib/prometheus"
    let rules = try await tool(Self.promtool, ["check", "rules", "\(folder)/bowser-alerts.yml"])
    #expect(rules.code == 0, "\(rules.out)\(rules.err)")
    let tests = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      $0.hasSuffix(".test.yml")
    }
    let result = try await tool(Self.promtool, ["test", "rules"] + tests.map { "\(folder)/\($0)" })
    #expect(result.code == 0, "\(result.out)\(result.err)")
    // Every alert has a section in the operators' manual, and every metric in the alerts is one
    // that the program writes.
    let manual = try String(contentsOfFile: Self.root + "/docs/operating.md", encoding: .utf8)
    let alerts = try String(contentsOfFile: "\(folder)/bowser-alerts.yml", encoding: .utf8)
    let named = alerts.matches(of: /alert: ([A-Za-z]+)/).map { $0.1.lowercased() }
    #expect(named.count >= 12)
    for name in named { #expect(manual.contains("\n### \(name)\n"), "\(name)") }
    for match in alerts.matches(of: /bowser_[a-z_]+/) {
      let isWritten =
        metrics.out.contains("\(match.0)") || match.0 == "bowser_feed_quota_left_requests"
      #expect(isWritten, "\(match.0)")
    }
  }

  @Test(.enabled(if: isOn, advice))
  func pandasAndDuckDBReadEverything() async throws {
    let market = try await PlayedMarket.database()
    let folder = temporary()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let list = try CommandTests.run(["export", "--list"], on: market.target).out
    for view in list.split(separator: "\n").map({ $0.split(separator: " ")[0] }) {
      for format in ["csv", "ndjson"] {
        let result = try CommandTests.run(
          ["export", String(view), "--format", format, "--out", "\(folder)/\(view).\(format)"]
            + market.now, on: market.target)
        #expect(result.code == 0, "\(view) \(result.err)")
      }
    }
    let result = try await tool(
      "env",
      market.variables + [
        Self.python, Self.root + "/Tests/IntegrationTests/readers.py", "--exports", folder,
      ])
    #expect(result.code == 0, "\(result.out.suffix(600))\(result.err.suffix(600))")
    #expect(result.out.contains("exports agree") && result.out.hasSuffix("views read\n"))
  }

  /// What `make bench` compares averages with are the right averages.
  @Test(.enabled(if: isOn, advice))
  func peersMakeTheRightAverages() async throws {
    let result = try await tool(
      Self.python,
      [Self.root + "/Tests/IntegrationTests/peers.py", Self.root + "/Sources/bench/Peers"])
    #expect(result.code == 0, "\(result.out)\(result.err.suffix(800))")
    #expect(result.out == "duckdb agrees\n")
  }

  @Test(.enabled(if: isOn, advice))
  func dbtBuilds() async throws {
    let market = try await PlayedMarket.database()
    let folder = temporary()
    try FileManager.default.copyItem(atPath: Self.root + "/contrib/dbt", toPath: folder)
    let sources = try await tool(
      "psql", ["-X", "-q", "-d", market.target, "-f", folder + "/sources.sql"])
    try sources.out.write(
      toFile: folder + "/models/sources.yml", atomically: true, encoding: .utf8)
    let connection = try Connection(market.target)
    try connection.execute("CREATE SCHEMA IF NOT EXISTS fuel_dbt")
    defer {
      do {
        try connection.execute("DROP SCHEMA fuel_dbt CASCADE")
      } catch {
        Issue.record(error)
      }
    }
    let dbt = Self.root + "/.build/tools/python/bin/dbt"
    for words in [["parse"], ["build"]] {
      let result = try await tool(
        "env",
        market.variables + [
          "DBT_SEND_ANONYMOUS_USAGE_STATS=false", dbt, "--no-use-colors", "--warn-error",
        ] + words
          + [
            "--project-dir", folder, "--profiles-dir", folder,
          ])
      let bad = result.out.split(separator: "\n").filter { line in
        ["FAIL", "ERROR", "WARN", "rror"].contains { line.contains($0) }
      }
      #expect(result.code == 0, "\(words) \(bad) \(result.err.suffix(500))")
      #expect(words == ["parse"] || result.out.contains("ERROR=0"))
    }
  }

  @Test(.enabled(if: isOn, advice))
  func reportsLookRightInABrowser() async throws {
    let market = try await PlayedMarket.database()
    let folder = temporary()
    let result = try CommandTests.run(["report", "--out", folder] + market.now, on: market.target)
    #expect(result.code == 0, "\(result.err)")
    // The browser takes long for each page, so the test looks at some pages of each kind.
    func first(_ kind: String) throws -> String {
      let pages = try FileManager.default.subpathsOfDirectory(atPath: "\(folder)/\(kind)")
      return "\(kind)/\(try #require(pages.filter { $0.hasSuffix(".html") }.min()))"
    }
    let looked = try await tool(
      Self.python,
      [
        Self.root + "/Tests/IntegrationTests/report.py", folder, "", "index.html", "dl/index.html",
        "u91/sydney.html", "u91/perth.html", "dl/nt.html", "region/melbourne.html",
        try first("places"), try first("place"), try first("station"), "feeds.html",
        "method.html",
      ])
    #expect(looked.code == 0, "\(looked.out.suffix(1_500))\(looked.err.suffix(800))")
  }

  /// The recipes of docs/recipes.md work: Home Assistant, PostgREST, GDAL, readers of Atom and of
  /// Arrow.
  @Test(.enabled(if: isOn, advice))
  func otherProgramsReadIt() async throws {
    let market = try await PlayedMarket.database()
    let folder = temporary()
    let report = try CommandTests.run(
      ["report", "--out", folder + "/report"] + market.now, on: market.target)
    #expect(report.code == 0, "\(report.err)")
    let program = CommandTests.process([], "", [:]).executableURL?.path ?? ""
    let result = try await tool(
      "env",
      market.variables + [
        Self.python, Self.root + "/Tests/IntegrationTests/recipes.py", Self.root + "/docs",
        folder + "/report", program,
      ])
    #expect(result.code == 0, "\(result.out)\(result.err.suffix(1_500))")
    #expect(result.out.split(separator: "\n").count == 5, "\(result.out)")
  }

  @Test(.enabled(if: isOn && debianPackage != nil, "no package built: make deb"))
  func thePackageIsClean() async throws {
    let result = try await tool("lintian", ["--fail-on", "error", Self.debianPackage ?? ""])
    #expect(result.code == 0, "\(result.out)")
  }

  static var debianPackage: String? {
    let folder = root + "/.build/deb"
    let names = FileManager.default.subpaths(atPath: folder) ?? []
    return names.first { $0.hasSuffix(".deb") }.map { "\(folder)/\($0)" }
  }
}

/// A simulated market of 35 days. The first process of a server makes it while the others wait, and
/// tests only read it.
enum PlayedMarket {
  struct Made: Sendable {
    var target: String
    /// Arguments that set the program's clock to the present of the market.
    var now: [String]
    /// Variables, as arguments of `env`, with which other programs connect to the database.
    var variables: [String]
  }

  private static let made = Task { try await make() }

  private static func make() async throws -> Made {
    let name = "played_market"
    let target = "dbname=\(name)"
    let server = try Connection("dbname=postgres")
    while try server.lines("SELECT pg_try_advisory_lock(hashtext(\(name)))") == ["f"] {
      try await Task.sleep(for: .seconds(1))
    }
    let known = try server.lines(
      "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = \(name)")
    let instant = known.first ?? "\(Instant(seconds: Instant.now.seconds))"
    if known.isEmpty { try await play(until: instant, name, server) }
    try server.query("SELECT pg_advisory_unlock(hashtext(\(name)))")
    let environment = ProcessInfo.processInfo.environment
    return Made(
      target: target, now: ["--now", instant],
      variables: ["PGHOST", "PGPORT", "PGUSER"].compactMap { key in
        environment[key].map { "\(key)=\($0)" }
      } + ["PGDATABASE=\(name)", "PGOPTIONS=-c bowser.now=\(instant)"])
  }

  /// - Parameter instant: today, because queries in the documents ask for the last weeks.
  private static func play(
    until instant: String, _ name: String, _ server: Connection
  ) async throws {
    // A market with the last name is whole, and its comment is its present.
    try server.execute("DROP DATABASE IF EXISTS new_\(name)")
    try server.execute("CREATE DATABASE new_\(name)")
    for words in [
      ["migrate"],
      ["simulate", "play", "--days", "35", "--stations", "150", "--every", "24", "--now", instant],
    ] {
      let result = try await finished(CommandTests.process(words, "dbname=new_\(name)", [:]))
      guard result.code == 0 else { throw PostgresError.unexpectedResult(result.err) }
    }
    // The server would do this by itself, a while later.
    try Connection("dbname=new_\(name)").execute("ANALYZE")
    try server.execute("COMMENT ON DATABASE new_\(name) IS '\(instant)'")
    try server.execute("ALTER DATABASE new_\(name) RENAME TO \(name)")
  }

  static func database() async throws -> Made { try await made.value }
}
