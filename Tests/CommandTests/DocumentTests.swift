import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// The documents are correct: the commands, queries and links in them work.
struct DocumentTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(IntegrationTests.root)/\(path)", encoding: .utf8)
  }

  /// Returns the fenced blocks of a language, each with the last line of text above it.
  static func blocks(_ path: String, _ language: String) throws -> [(
    above: String, text: String
  )] {
    var blocks: [(above: String, text: String)] = []
    var open: [String]?
    var above = ""
    for line in try text(path).split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
    {
      if line == "```\(language)" {
        open = []
      } else if line.hasPrefix("```"), let lines = open {
        blocks.append((above, lines.joined(separator: "\n")))
        open = nil
      } else if open != nil {
        open?.append(line)
      } else if !line.isEmpty {
        above = line
      }
    }
    return blocks
  }

  private static func reader(_ market: PlayedMarket.Made) throws -> Connection {
    let connection = try Connection(market.target)
    try connection.execute("SET ROLE fuel_reader; SET statement_timeout = '20s'")
    return connection
  }

  /// Every query of the cookbook runs as a reader and returns rows.
  @Test func theCookbookCooks() async throws {
    let market = try await PlayedMarket.database()
    let recipes = try Self.blocks("docs/cookbook.md", "sql").filter {
      !$0.text.contains("CREATE ROLE")
    }
    #expect(recipes.count >= 15)
    let reader = try Self.reader(market)
    for recipe in recipes {
      let rows = try reader.query(SQL(stringLiteral: recipe.text))
      #expect(!rows.isEmpty || recipe.above.contains("may be empty"), "\(recipe.text)")
    }
  }

  /// F-O05: the server ends the query without an end of a login that was made as
  /// docs/operating.md shows. Only the limit is shorter here.
  @Test func anEndlessQueryIsEnded() async throws {
    let recipe = try #require(
      try Self.blocks("docs/operating.md", "sql").first { $0.text.contains("CREATE ROLE analyst") })
    // Rights on a database are not copied with a template, so this one is migrated from empty.
    try await TestDatabase.withEmpty { target in
      let owner = try Connection(target)
      try Migrator(owner).up()
      let login = "analyst_" + target.split(separator: "=")[1]
      let script = recipe.text.replacing("analyst", with: login).replacing("'30s'", with: "'300ms'")
      #expect(script.contains("SET statement_timeout = '300ms'"))
      try owner.execute(script)
      let result = try await tool(
        "psql",
        [
          "-X", "-v", "VERBOSITY=sqlstate", "-d", "\(target) user=\(login)", "-c",
          """
          WITH RECURSIVE endless AS (SELECT 1 AS number UNION ALL SELECT number FROM endless)
          SELECT count(*) FROM endless CROSS JOIN fuel_v1.fuels
          """,
        ])
      #expect(result.code != 0 && result.err.contains("57014"), "\(result)")
    }
  }

  /// F-O07: joins of a view with `fuel_v1.stations` use the index of stations, so that their time
  /// does not grow with all stations. The server reorders at most eight relations. It joins further
  /// ones in the order of the text, which would compute a whole view for each row. How long queries
  /// take at ten years of history is measured by `make bench`.
  @Test func viewsOfStationsAreJoinedByTheirIndex() async throws {
    let market = try await PlayedMarket.database()
    let reader = try Self.reader(market)
    // So that the few stations of the market are not read whole either.
    try reader.execute(
      "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off")
    for view in ["price_changes", "price_history", "station_days", "current_prices"] {
      let plan = try reader.lines(
        SQL(
          stringLiteral: """
            EXPLAIN (COSTS OFF)
            SELECT station.name, shown.*
            FROM fuel_v1.\(view) AS shown
            JOIN fuel_v1.stations AS station USING (station_id)
            WHERE shown.fuel = 'U91' AND shown.station_id = ANY (ARRAY(
              SELECT station_id FROM fuel_v1.region_stations WHERE region = 'sydney'))
            """))
      #expect(plan.count > 10)
      let beside = plan.filter { $0.contains("Join Filter") && $0.contains("place_id") }
      #expect(beside == [], "\(view)")
    }
  }

  /// F-O07: the telephone number of a station is looked up by its index, and only where a query
  /// asks for it.
  @Test func telephoneNumbersCostWhoAsksForThem() async throws {
    let market = try await PlayedMarket.database()
    let reader = try Self.reader(market)
    // So that the few descriptions of the market are not read whole.
    try reader.execute("SET enable_seqscan = off")
    let named = try reader.lines("EXPLAIN (COSTS OFF) SELECT name FROM fuel_v1.stations")
    let isLookedUp = named.contains { $0.contains("details") }
    #expect(named.count > 5 && !isLookedUp, "\(named)")
    let called = try reader.lines("EXPLAIN (COSTS OFF) SELECT phone FROM fuel_v1.stations")
    let filter = try #require(called.firstIndex { $0.contains("details ? 'phone'") })
    let condition = called[filter - 1]
    #expect(condition.contains("Cond: (station_id = "), "\(called)")
  }

  /// Every query of the dashboard runs as a reader and returns rows.
  @Test func everyPanelHasItsNumbers() async throws {
    let market = try await PlayedMarket.database()
    let reader = try Self.reader(market)
    let board = try JSONSerialization.jsonObject(
      with: Data(try Self.text("contrib/grafana/bowser.json").utf8))
    var queries: [String] = []
    func collect(_ value: Any) {
      if let table = value as? [String: Any] {
        if let query = table["rawSql"] as? String { queries.append(query) }
        for value in table.values { collect(value) }
      } else if let list = value as? [Any] {
        for value in list { collect(value) }
      }
    }
    collect(board)
    #expect(queries.count >= 15)
    for query in queries {
      let from = "'\(Instant.now - .seconds(86_400 * 40))'"
      let to = "'\(market.now[1])'"
      let text = query.replacing(/\$__timeFilter\(([a-z_.]+)\)/) {
        "\($0.1) BETWEEN \(from) AND \(to)"
      }
      .replacing("$__timeFrom()", with: from).replacing("$__timeTo()", with: to)
      .replacing("${region:sqlstring}", with: "'sydney'")
      .replacing("${fuel:sqlstring}", with: "'U91'")
      #expect(!text.contains("$"), "\(text)")
      let rows = try reader.query(SQL(stringLiteral: text))
      #expect(!rows.isEmpty, "\(text)")
    }
  }

  /// docs/views.md matches the comments in the database, from which docs/views.sql makes it. The
  /// sources of dbt are made of them too, also where dbt is not installed.
  @Test func theViewsAreDescribedAsTheyAre() async throws {
    try await TestDatabase.with { target in
      func made(_ statements: String) async throws -> [String] {
        let made = try await tool(
          "psql", ["-X", "-q", "-d", target, "-f", "\(IntegrationTests.root)/\(statements)"])
        #expect(made.code == 0, "\(made.err)")
        return made.out.split(separator: "\n").map(String.init)
      }
      let written = try await made("docs/views.sql")
      let kept = try Self.text("docs/views.md").split(separator: "\n").map(String.init)
      #expect(
        firstDifference(written, kept) == nil,
        "make docs brings docs/views.md up to date")
      let views = try Connection(target).lines(
        "SELECT relname FROM pg_class WHERE relnamespace = 'fuel_v1'::regnamespace AND relkind = 'v'"
      )
      let described = try await made("contrib/dbt/sources.sql").compactMap {
        $0.wholeMatch(of: #/ {6}- name: (\w+)/#)?.1
      }
      #expect(described.map(String.init).sorted() == views.sorted())
    }
  }

  /// The SQL statements that the documents give to operators and readers run.
  @Test func operatorsStatementsRun() async throws {
    let market = try await PlayedMarket.database()
    try await TestDatabase.withEmpty { target in
      try Migrator(try Connection(target)).up()
      let owner = try Connection(target)
      for block in try Self.blocks("docs/operating.md", "sql")
        + Self.blocks("docs/cookbook.md", "sql")
      // Statements on subscriptions need two servers. ReplicationTests runs them.
      where (block.text.contains("CREATE") || block.text.contains("LISTEN"))
        && !block.text.contains("SUBSCRIPTION")
      {
        try owner.execute("BEGIN; \(block.text); ROLLBACK")
      }
    }
    let reader = try Self.reader(market)
    var count = 0
    for path in ["docs/operating.md", "README.md", "docs/getting-started.md"] {
      // The pages hold statements in indented lines, ended by a semicolon.
      let lines = try Self.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      var statement = ""
      for line in lines {
        if line.hasPrefix("    "), !statement.isEmpty || line.hasPrefix("    SELECT") {
          statement += line.dropFirst(4) + "\n"
          guard line.hasSuffix(";") else { continue }
          if !statement.contains("pg_stat_activity") {
            do {
              try reader.query(SQL(stringLiteral: statement))
            } catch {
              Issue.record("\(path): \(statement) \(error)")
            }
          }
          count += 1
        }
        statement = ""
      }
    }
    #expect(count > 10)
  }

  /// The program understands every command in the documents. Commands that need nothing from
  /// outside are run.
  @Test func everyCommandIsUnderstood() async throws {
    let paths =
      ["README.md", "CONTRIBUTING.md"]
      + (try FileManager.default.contentsOfDirectory(atPath: IntegrationTests.root + "/docs")
        .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 })
      + ["contrib/cron/README.md", "contrib/systemd/README.md", "contrib/grafana/README.md"]
    var commands: Set<String> = []
    var targets: Set<String> = []
    for path in paths {
      let text = try Self.text(path)
      for match in text.matches(
        of: /(?m)(?:`|^    (?:.*(?:&& |; |\) ))?)(?:\.build\/release\/)?(bowser [a-z][^`\n#]*)/)
      {
        for part in match.1.split(separator: /&&|;|\||>/) {
          let words = part.replacing(".build/release/", with: "").trimmingCharacters(
            in: .whitespaces)
          if words.hasPrefix("bowser ") { commands.insert(words) }
        }
      }
      for match in text.matches(of: /(?m)(?:`|^    )make ([a-z-]+)/) {
        targets.insert(String(match.1))
      }
    }
    #expect(commands.count > 25, "\(commands.count)")
    let makefile = try Self.text("Makefile")
    for target in targets { #expect(makefile.contains("\n\(target):"), "make \(target)") }

    try await OutputTests().market { target, providers in
      let archive = try BackfillTests.archive(months: 1, rows: 50)
      let out = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      for command in commands.sorted() {
        // Each placeholder is replaced by a real value of its kind.
        var words = command.split(separator: " ").dropFirst().map { word -> String in
          switch word {
          case "FEED", "<feed>", "<feed": "qld-fpd"
          case "RUN", "RUN...", "RUN-RUN", "1200-1450", "120-180": "1"
          case "ARCHIVE": "nsw-fuelcheck"
          case "VIEW": "averages_now"
          case "[PLACE]", "PLACE": "brisbane"
          case "FILES", "FILE", "downloads/", "FuelWatchRetail-*.csv": archive
          case "DIR", "recordings": out
          case "ID", "ID...": "1"
          case "INSTANT", "2026-07-02T12:00:00Z": "2026-07-01T09:00:00Z"
          case "URL": "http://127.0.0.1:1/"
          case "NAME": "list"
          default: String(word)
          }
        }
        if words.last == "--record" { words.append(out) }
        if let index = words.firstIndex(of: "--out"), words.count > index + 1, words[0] != "report"
        {
          words[index + 1] = out + ".file"
        }
        // Commands that need other data than these, or that never end, are only asked for their
        // help.
        let isOnlyRead =
          ["simulate", "backfill", "migrate", "help", "withdraw", "hub"].contains(words[0])
          || words.contains("--replay")
          || words == ["ingest"] || words == ["export"] || words == ["report"]
          || words == ["stations"]
        let result = try CommandTests.run(
          isOnlyRead
            ? Array(words.prefix(1)) + ["--help"]
            : words + ["--now", "\(WorkerProcessTests.now + .seconds(7_200))"],
          on: words.contains("--db") ? "" : target, environment: providers.environment)
        #expect(
          ![64, 70, 78].contains(result.code) || words.contains("--db"),
          "\(command): \(result.err)  If a word of it stands for a value, this test needs a value."
        )
      }
    }
  }

  /// Every command has a row in README.md, and a line in docs/recipes.md if it prints JSON.
  @Test func everyCommandIsDescribed() throws {
    let overview = try CommandTests.run(["--help"]).out
    let names = overview.matches(of: /(?m)^[ ]{2}([a-z]+)[ ]/).map { String($0.1) }
    #expect(names.count >= 19)
    let table = try Self.text("README.md").matches(of: /(?m)^\| (`bowser .+?) \|/).map { $0.1 }
    let shapes = try Self.text("docs/recipes.md")
    for name in names {
      let isNamed = try table.contains { try $0.contains(Regex("`bowser \(name)\\b")) }
      #expect(isNamed, "the table of commands in README.md has no row for bowser \(name)")
      guard try CommandTests.run([name, "--help"]).out.contains("\n  --json ") else { continue }
      let isShaped = shapes.contains(try Regex("`bowser \(name)\\b[^`]* --json`"))
      #expect(
        isShaped,
        "docs/recipes.md and docs/json.schema.json have no shape for bowser \(name) --json")
    }
  }

  /// Links between the documents lead to existing files and headings.
  @Test func linksLeadSomewhere() throws {
    let root = IntegrationTests.root
    let paths =
      ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
      + (try FileManager.default.subpathsOfDirectory(atPath: root + "/docs").map { "docs/" + $0 })
      + (try FileManager.default.subpathsOfDirectory(atPath: root + "/contrib").map {
        "contrib/" + $0
      })
    var count = 0
    for path in paths where path.hasSuffix(".md") {
      let folder = URL(filePath: "\(root)/\(path)").deletingLastPathComponent()
      for match in try Self.text(path).matches(of: /\]\(([^)\s]+)\)/) {
        let parts = match.1.split(separator: "#", omittingEmptySubsequences: false)
        guard !match.1.contains("://") else { continue }
        let there =
          parts[0].isEmpty
          ? "\(root)/\(path)" : folder.appending(path: String(parts[0])).standardized.path
        #expect(FileManager.default.fileExists(atPath: there), "\(path): \(match.1)")
        count += 1
        guard parts.count == 2, there.hasSuffix(".md") else { continue }
        let headings = try String(contentsOfFile: there, encoding: .utf8).matches(
          of: /(?m)^#+ (.+)$/
        )
        .map { heading in
          heading.1.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            .replacing(" ", with: "-")
        }
        #expect(headings.contains(String(parts[1])), "\(path): \(match.1)")
      }
    }
    #expect(count > 25)
  }

  /// Each example of docs/changing-things.md applies to this tree, or is applied already, and
  /// changes as many files as the page states. The files that a table of the page lists exist.
  @Test func examplesOfChangesApply() async throws {
    let git = try await tool("git", ["--version"])
    try #require(git.code == 0, "git is not installed; config/cluster packages installs it")
    let page = try Self.text("docs/changing-things.md")
    let examples = page.matches(
      of: /(?m)^\| [^|]+ \| ([0-9]+) \| ([0-9]+) \| \[[^\]]+\]\(([^)]+)\) \|$/)
    #expect(examples.count == 8)
    for example in examples {
      let link = String(example.3)
      var files: [String] = []
      if link.hasSuffix(".diff") {
        let diff = try Self.text("docs/" + link)
        files = diff.matches(of: /(?m)^diff --git a\/([^ ]+)/).map { String($0.1) }
        let check = try await Self.check(diff)
        let isApplied = try await Self.check(diff, "--reverse").code == 0
        #expect(
          check.code == 0 || isApplied,
          "docs/\(link): a change beside its lines has moved them; docs/changing-things.md says how to renew it: \(check.err)"
        )
      } else {
        let section = try #require(
          page.components(separatedBy: "\n## ").first {
            "#" + $0.prefix { $0 != "\n" }.lowercased().replacing(" ", with: "-") == link
          }, "\(link)")
        files = section.matches(of: /(?m)^\| `([^`]+)` \|/).map { String($0.1) }
        let kept = /^(Sources|Tests|docs|Migrations\/(views|routines))\//
        for file in files where file.contains(kept) {
          let isThere = FileManager.default.fileExists(atPath: "\(IntegrationTests.root)/\(file)")
          #expect(isThere, "\(link): \(file)")
        }
      }
      let program = files.filter {
        $0.contains(/^(Sources|Migrations|config)\//) && $0 != "Migrations/migrations.c"
      }
      #expect(program.count == Int(example.1), "\(link): \(program)")
      #expect(files.count == Int(example.2), "\(link): \(files)")
    }
  }

  /// The server settings that docs/operating.md advises are those of the private cluster.
  @Test func serverSettingsAreThoseOfThePrivateCluster() throws {
    let rows = try Self.text("docs/operating.md").matches(
      of: /(?m)^\| `([a-z_]+)` \| [^|]+ \| `?([0-9A-Za-z. ]+?)`? \|/)
    let advised = rows.filter { $0.1 != "shared_buffers" }.map {
      "\($0.1) = \($0.2.replacing(" ", with: ""))"
    }
    #expect(advised.count == 5)
    let cluster = try Self.text("config/cluster").split(separator: "\n").map(String.init)
    #expect(advised.filter { !cluster.contains($0) } == [])
  }

  /// Every fault that a test names has a row in docs/faults.md, and every row has a test. The rows
  /// of a section stand in the order of their ids.
  @Test func everyFaultIsNamedByATest() throws {
    let rows = try Self.faults()
    #expect(rows.count > 200)
    let named = Set(
      try Self.tests().flatMap { $0.matches(of: /\bF-[A-Z][0-9]{2}\b/).map(\.0) })
    #expect(named.subtracting(rows).sorted() == [])
    #expect(rows.subtracting(named).sorted() == [])
    for section in try Self.text("docs/faults.md").components(separatedBy: "\n## ") {
      let ids = section.matches(of: /(?m)^\| (F-[A-Z][0-9]{2})\b/).map { $0.1 }
      #expect(ids == ids.sorted(), "rows out of order")
    }
  }

  /// The old lines of each mutant stand once in their file. It is named after a fault of
  /// docs/faults.md, and names a test that exists.
  @Test func everyMutantApplies() async throws {
    let program = "\(IntegrationTests.root)/config/mutants"
    let checked = try await tool(program, ["check"])
    #expect(checked.code == 0 && checked.out.isEmpty, "\(checked.out)")
    let faults = try Self.faults()
    let tests = try await Self.testNames()
    let mutants = try await tool(program, ["list"]).out.split(separator: "\n")
      .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(mutants.count > 200)
    for mutant in mutants {
      let test = mutant[2].split(separator: "/")
      let isThere = tests.contains { names in
        names.contains("func \(test[1])(")
          && ["struct", "extension"].contains { names.contains("\($0) \(test[0]) ") }
      }
      #expect(faults.contains(mutant[0]) && isThere, "\(mutant[0]): \(mutant[2])")
    }
  }

  /// Returns the ids of the rows of docs/faults.md.
  private static func faults() throws -> Set<Substring> {
    Set(try text("docs/faults.md").matches(of: /(?m)^\| (F-[A-Z][0-9]{2})\b/).map { $0.1 })
  }

  /// Returns the types and functions of each file of tests.
  private static func testNames() async throws -> some Collection<Set<String>> {
    let found = try await tool(
      "grep",
      [
        "-roE", "--include=*.swift", "(struct|extension) [A-Za-z0-9]+ |func [A-Za-z0-9]+[(]",
        "\(IntegrationTests.root)/Tests",
      ])
    var names: [Substring: Set<String>] = [:]
    for line in found.out.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      names[parts[0], default: []].insert(String(parts[1]))
    }
    return names.values
  }

  /// Returns the texts of all files of tests.
  private static func tests() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(IntegrationTests.root)/Tests")
      .filter { $0.hasSuffix(".swift") }.map { try text("Tests/" + $0) }
  }

  /// Asks git whether a diff applies to this tree: without a repository, because in a folder of a
  /// larger one git would skip every file and report success.
  private static func check(
    _ diff: String, _ options: String...
  ) async throws -> CommandTests.Result {
    let words = ["GIT_DIR=/nowhere", "git", "-C", IntegrationTests.root, "apply", "--check"]
    return try await tool("env", words + options, input: diff)
  }

  /// Every name among the terms occurs in the program or in the schema. Commands, options, feeds
  /// and paths are no names.
  @Test func theTermsNameWhatExists() throws {
    let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.".utf8)
    var known: Set<String> = []
    for folder in ["Sources", "Migrations"] {
      let root = "\(IntegrationTests.root)/\(folder)"
      let paths = try FileManager.default.subpathsOfDirectory(atPath: root).filter {
        $0.hasSuffix(".swift") || $0.hasSuffix(".sql")
      }
      for path in paths {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(root)/\(path)")))
        for word in bytes.split(whereSeparator: { !letters.contains($0) }) {
          let name = String(decoding: word, as: UTF8.self)
          known.insert(name)
          known.formUnion(name.split(separator: ".").map(String.init))
        }
      }
    }
    let rows = try Self.text("docs/numbers.md").split(separator: "\n").filter {
      $0.hasPrefix("| ")
    }
    let names = Set(
      rows.joined(separator: "\n").matches(of: /`([A-Za-z0-9_.]+)`/).map { String($0.1) })
    #expect(names.count > 50)
    #expect(names.subtracting(known).sorted() == [])
  }

  /// contrib/install refuses a `bowser-simulate` of another version than the given program, and
  /// leaves the folder as it was.
  @Test(arguments: [("bowser 9.9.9 (abc)", true), ("bowser 9.9.9 (abd)", false)])
  func programsOfOneVersionAreInstalled(version: String, isInstalled: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, line) in [("bowser", "bowser 9.9.9 (abc)"), ("bowser-simulate", version)] {
      let file = folder.appending(path: name).path
      try "#!/bin/sh\necho '\(line)'\n".write(toFile: file, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    }
    let made = try await tool(
      "\(IntegrationTests.root)/contrib/install",
      ["tree", folder.path + "/bowser", "/usr/local", folder.path + "/made"])
    let installed = FileManager.default.fileExists(
      atPath: folder.path + "/made/bin/bowser-simulate")
    #expect(installed == isInstalled, "\(made.err)")
    #expect((made.code == 65) == !isInstalled, "\(made.err)")
    #expect(made.err.contains("build both from one commit") == !isInstalled, "\(made.err)")
  }

  /// F-O23: installed documents lie as in a checkout, so that their links lead somewhere.
  @Test func linksOfInstalledDocumentsLeadSomewhere() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = CommandTests.process([], "", [:]).executableURL?.path ?? ""
    let made = try await tool(
      "\(IntegrationTests.root)/contrib/install", ["tree", program, "/usr", folder.path + "/made"])
    #expect(made.code == 0, "\(made.err)")
    let pages = folder.path + "/made/share/doc/bowser"
    var count = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: pages)
    where path.hasSuffix(".md") {
      let page = URL(filePath: "\(pages)/\(path)")
      let text = try String(contentsOf: page, encoding: .utf8)
      for match in text.matches(of: /\]\(([^)\s#]+)[^)\s]*\)/) where !match.1.contains("://") {
        let there = page.deletingLastPathComponent().appending(path: String(match.1))
        let isThere = FileManager.default.fileExists(atPath: there.standardized.path)
        #expect(isThere, "\(path): \(match.1)")
        count += 1
      }
    }
    #expect(count > 50)
  }

  /// Both programs print the same version, by which contrib/install compares them.
  @Test func bothProgramsStateTheirVersion() async throws {
    let program = CommandTests.process([], "", [:]).executableURL?.path ?? ""
    let own = try await tool(program, ["--version"])
    let companion = try await tool(program + "-simulate", ["--version"])
    #expect(own.code == 0 && companion.code == 0, "\(companion.err)")
    #expect(own.out.hasPrefix("bowser ") && companion.out == own.out)
  }

  /// docs/security.md prints the table of limits as the code defines it.
  @Test func limitsAreAsDocumented() throws {
    let page = try Self.text("docs/security.md")
    let format = NumberFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.numberStyle = .decimal
    format.groupingSeparator = ","
    format.usesGroupingSeparator = true
    for limit in InputLimit.all {
      let value = format.string(from: NSNumber(value: limit.value)) ?? ""
      #expect(page.contains("| \(limit.name) | \(value) | \(limit.more) |"), "\(limit.name)")
    }
    #expect(InputLimit.all.count > 20)
  }
}
