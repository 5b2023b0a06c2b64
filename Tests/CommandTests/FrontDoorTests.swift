import Foundation
import FuelModel
import Postgres
import Simulator
import TestDatabase
import Testing

/// What a new user meets first: `setup`, feeds without keys, the places of `show`, and lenient
/// arguments.
struct FrontDoorTests {
  /// F-N38: a feed without a key is not set up. `ingest --all` skips it without output and ends
  /// with 0, and `status` and `doctor` print one line for it. The feed is read at once when its key
  /// is there.
  @Test func aFeedWithoutAKeyIsSilent() async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      var environment = providers.environment.merging([
        "BOWSER_WA_FUELWATCH_ENABLED": "false", "BOWSER_NT_MYFUEL_ENABLED": "false",
        "BOWSER_VIC_FAIRFUEL_ENABLED": "false", "BOWSER_TAS_FUELCHECK_ENABLED": "false",
        "BOWSER_NSW_FUELCHECK_ENABLED": "false", "BOWSER_SA_FPD_ENABLED": "false",
      ]) { _, new in new }
      let token = environment.removeValue(forKey: "BOWSER_QLD_FPD_TOKEN")
      func run(_ words: [String], after seconds: Int = 0) throws -> CommandTests.Result {
        try CommandTests.run(
          words + ["--now", "\(WorkerProcessTests.now + .seconds(seconds))"], on: target,
          environment: environment)
      }
      let silent = try run(["ingest", "--all"])
      #expect(silent.code == 0 && silent.out.isEmpty && silent.err.isEmpty, "\(silent)")
      let status = try run(["status"])
      #expect(status.out.contains("not set up: set BOWSER_QLD_FPD_TOKEN"), "\(status.out)")
      let json = try run(["status", "--json"])
      #expect(
        json.out.contains("{\"source\" : \"qld-fpd\", \"missing\" : \"BOWSER_QLD_FPD_TOKEN\"}"),
        "\(json.out)")
      let doctor = try run(["doctor"])
      #expect(doctor.code == 0 && doctor.out.contains("off   qld-fpd"), "\(doctor)")
      // A command that names the feed ends with 78 and records no run, also where the feed was read
      // before.
      let named = try run(["ingest", "qld"])
      #expect(named.code == 78 && named.err.contains("BOWSER_QLD_FPD_TOKEN"), "\(named)")
      #expect(try Connection(target).lines("SELECT run_id FROM fuel.run").isEmpty)
      environment["BOWSER_QLD_FPD_TOKEN"] = token
      let read = try run(["ingest", "--all", "--summary"], after: 60)
      #expect(read.code == 0 && read.out.hasPrefix("qld-fpd run="), "\(read)")
      // A feed that was read before and has lost its key is reported, at the interval at which it
      // is due. Once the key is back, the feed is read at once.
      environment["BOWSER_QLD_FPD_TOKEN"] = nil
      let lost = try run(["ingest", "--all"], after: 86_400)
      #expect(lost.code == 78 && lost.err.contains("BOWSER_QLD_FPD_TOKEN"), "\(lost)")
      #expect(try run(["ingest", "--all"], after: 86_460).code == 0)
      let before = try Connection(target).lines("SELECT run_id, outcome FROM fuel.run ORDER BY 1")
      let lostByName = try run(["ingest", "qld"], after: 86_470)
      #expect(lostByName.code == 78 && lostByName.err.contains("BOWSER_QLD_FPD_TOKEN"))
      let after = try Connection(target).lines("SELECT run_id, outcome FROM fuel.run ORDER BY 1")
      #expect(after == before)
      environment["BOWSER_QLD_FPD_TOKEN"] = token
      let again = try run(["ingest", "--all", "--summary"], after: 86_520)
      #expect(again.code == 0 && again.out.hasPrefix("qld-fpd run="), "\(again)")
    }
  }

  /// F-N37: `config/cluster` ignores variables that point to a server of the caller.
  @Test func theCallersServerIsNoMatter() throws {
    let cluster = try Cluster()
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.currentDirectoryURL = URL(filePath: cluster.folder)
    process.arguments = [
      "-c",
      """
      set -eu
      config/cluster create other
      eval "$(config/cluster env other)"
      [ "$(psql -X -qAtc 'SELECT current_database()')" = other ]
      """,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "PGSERVICE": "nosuch", "PGPORT": "7777", "PGOPTIONS": "--nonsense", "PGHOST": "nowhere",
      "PGHOSTADDR": "192.0.2.1", "PGUSER": "nobody", "PGPASSWORD": "x", "PGSSLMODE": "verify-full",
      "PGDATABASE": "nothing", "PGTZ": "Mars/Olympus", "PGCLIENTENCODING": "LATIN1",
    ]) { _, new in new }
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// `setup` makes the database with its roles and schema, prints which feeds are set up, and can
  /// be repeated. F-O17: its lines for cron are those of the package.
  @Test func setupMakesWhatIsMissing() throws {
    let name = "fresh \(UUID().uuidString.prefix(8))"
    let target = "dbname='\(name)'"
    let folder = try Self.configuration()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let environment = ["BOWSER_CONFIG": folder]
    let first = try CommandTests.run(["setup"], on: target, environment: environment)
    #expect(first.code == 0, "\(first)")
    #expect(
      first.out.contains("created\n") && first.out.contains("nt-myfuel, wa-fuelwatch"),
      "\(first.out)")
    #expect(first.out.contains("qld-fpd is not set up: set BOWSER_QLD_FPD_TOKEN"), "\(first.out)")
    let packaged = try Self.linesForCron(Self.crontab)
    #expect(packaged.count == 2 && Self.linesForCron(first.out) == packaged, "\(first.out)")
    let second = try CommandTests.run(["setup"], on: target, environment: environment)
    #expect(second.code == 0 && second.out.contains("found\n"), "\(second)")
    #expect(second.out.contains("schema         up to date"), "\(second.out)")
    #expect(try CommandTests.run(["migrate", "verify"], on: target).code == 0)
    try Connection("dbname=postgres").execute("DROP DATABASE \"\(name)\"")
    let own = try CommandTests.run(["setup"], on: "dbname=template1")
    #expect(own.code == 78 && own.err.contains("server's own database"), "\(own)")
    let away = try CommandTests.run(["setup"], on: "host=/nowhere password=CANARY")
    #expect(away.code == 75 && !away.err.contains("CANARY"), "\(away)")
  }

  /// F-O17: `setup`, the package and the documents have the same lines for cron. The first line is
  /// silent about what the next start may heal. The line of the morning names what has not healed.
  @Test func linesForCronAreSilentAboutWhatHeals() async throws {
    let document = IntegrationTests.root + "/docs/getting-started.md"
    let lines = try Self.linesForCron(Self.crontab)
    #expect(try Self.linesForCron(String(contentsOfFile: document, encoding: .utf8)) == lines)
    let often = try #require(lines.first { $0.hasPrefix("*/5 * * * * for what in ") })
    for code in [0, 64, 65, 69, 70, 74, 75, 77, 78] {
      let program = "bowser() { echo words; return \(code); }; "
      let mail = try await tool("sh", ["-c", "\(program)\(often.dropFirst(12))"])
      let told = ["ingest --all", "aggregate"].map { "bowser \($0) ended with \(code): words\n" }
      #expect(mail.out == ([0, 69, 75].contains(code) ? "" : told.joined()), "\(mail)")
    }
    let daily = try #require(lines.first { $0.hasPrefix("30 7 * * * export feed_health ") })
    let health = "bowser() { printf '%s\\n' feed,status,why nt,ok, sa,late,late wa,off,late; }; "
    let mail = try await tool("sh", ["-c", "\(health)bowser \(daily.dropFirst(11))"])
    #expect(mail.out == "sa,late,late\n", "\(mail)")
  }

  /// A copy of the configuration, beside which `setup` writes a file.
  static func configuration() throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    unlink(folder + "/environment")
    return folder
  }

  private static var crontab: String {
    get throws {
      let path = IntegrationTests.root + "/contrib/cron/bowser.crontab"
      return try String(contentsOfFile: path, encoding: .utf8)
    }
  }

  /// The lines for cron in a text, each with its hours and with what it runs. What leads to the
  /// program and its database is left out, since it differs between installations. Each line reads
  /// a file with keys and settings first.
  private static func linesForCron(_ text: String) -> [String] {
    text.matches(
      of: /(?m)((?:[0-9*\/]+ ){5}).*?set -a; \. \/.*?(for what in .*|export feed_health .*)$/
    ).map {
      "\($0.1)\($0.2)".replacing(/\$\([^ ]+ \$what/, with: "$(bowser $what")
    }
  }

  /// An owner that made the roles is no member of them. `setup` prints what it lacks for the
  /// commands that come next.
  @Test func setupNamesTheRightsThatItsLoginLacks() throws {
    let server = try Connection("dbname=postgres")
    // From 16 on an owner may not describe roles that somebody else has made.
    let isOlder = try server.lines(
      "SELECT current_setting('server_version_num')::integer < 160000")
    guard isOlder == ["t"] else { return }
    let name = "owner_\(UUID().uuidString.prefix(8).lowercased())"
    try server.execute("CREATE ROLE \(name) LOGIN CREATEROLE CREATEDB")
    let target = "dbname=\(name) user=\(name)"
    let folder = try Self.configuration()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let environment = ["BOWSER_CONFIG": folder]
    let lacking = try CommandTests.run(["setup"], on: target, environment: environment)
    let grant = "GRANT fuel_writer, fuel_reader TO \"\(name)\""
    #expect(lacking.code == 0 && lacking.out.contains(grant), "\(lacking)")
    let refused = try CommandTests.run(["status"], on: target)
    #expect(refused.code == 77 && refused.err.contains("run GRANT fuel_reader TO"), "\(refused)")
    try Connection(target).execute(grant)
    let able = try CommandTests.run(["setup"], on: target, environment: environment)
    #expect(able.code == 0 && !able.out.contains("GRANT"), "\(able)")
    #expect(try CommandTests.run(["status"], on: target).code == 0)
    try server.execute("DROP DATABASE \(name)")
    try server.execute("DROP ROLE \(name)")
  }

  /// `show` accepts a region, a suburb, a postcode, a station or a point. The beginning of a name
  /// is enough.
  @Test func placesAreFound() async throws {
    try await TestDatabase.with { target in
      let now = "2026-07-01T10:05:00Z"
      func run(_ words: [String], width: Int = 100) throws -> CommandTests.Result {
        try CommandTests.run(
          words + ["--now", now], on: target, environment: ["COLUMNS": "\(width)"])
      }
      let empty = try run(["show"])
      #expect(empty.code == 0 && empty.out.contains("bowser setup"), "\(empty)")
      for feed in ["qld-fpd", "nsw-fuelcheck"] {
        let stored = try run(["ingest", feed, "--replay", CommandTests.recording])
        #expect(stored.code == 0, "\(stored)")
      }
      #expect(try run(["aggregate"]).code == 0)
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(now), false)")
      let station = try #require(
        try connection.lines(
          """
          SELECT concat_ws('|', station_id, latitude, longitude, suburb, postcode, price_cpl)
          FROM fuel_v1.current_prices WHERE state = 'QLD' AND fuel = 'U91'
          ORDER BY price_cpl, station_id LIMIT 1
          """
        ).first
      ).split(separator: "|").map(String.init)
      for words in [
        ["brisbane"], ["bris"], ["QLD"], ["\(station[1]),\(station[2])"],
        [station[3], "--near", "4"],
        [station[4]], ["brisbane", "--near", "20"], ["\(station[3]), QLD"],
        ["\(station[1])", "\(station[2])"], [station[3].lowercased(), "qld"],
        ["brisbane", "qld"], ["brisbane, QLD"],
      ] {
        let shown = try run(["show"] + words)
        #expect(shown.code == 0 && shown.out.contains("cheapest U91"), "\(words) \(shown)")
        #expect(shown.out.contains("in Brisbane") || shown.out.contains("average now"), "\(words)")
      }
      let near = try run(["show", "\(station[1]),\(station[2])", "--near", "0.5"])
      #expect(near.out.contains("  \(station[5])  ") && near.out.contains("0.0 km"), "\(near.out)")
      // The number of a station stands on its page.
      let numbered = try run(["show", station[0]])
      #expect(numbered.out.contains("prices, c/L"), "\(numbered)")
      #expect(numbered.out.contains("  \(station[5])  "), "\(numbered)")
      let json = try run(["show", "brisbane", "--fuel", "dl", "--days", "7", "--json"])
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: Any])
      #expect(object["version"] as? Int == 1 && object["fuel"] as? String == "DL")
      #expect((object["place"] as? [String: Any])?["state"] as? String == "QLD")
      // F-O14: seven days and today so far, and fuels in their one order.
      let averaged = try #require(object["days"] as? [[String: Any]])
      let days = averaged.compactMap { $0["day"] as? String }
      let trend = try connection.lines("SELECT day FROM fuel_v1.trend('brisbane', 'DL', 7)")
      #expect(days.count == 8 && days == trend)
      let averages = try #require(object["averages"] as? [[String: Any]])
      let fuels = averages.compactMap { $0["fuel"] as? String }
      let order = Fuel.allCases.map(\.rawValue).filter { fuels.contains($0) }
      #expect(fuels.count > 3 && fuels == order)
      let stations = try #require(object["stations"] as? [[String: Any]])
      #expect(stations.count > 3 && stations.allSatisfy { $0["fuel"] as? String == "DL" })
      let market = try run(["show", "--json"])
      #expect(market.out.contains("\"averages\"") && market.out.contains("\"verdicts\""))
      for words in [["show"], ["show", "brisbane"], ["show", station[4]], ["status"]] {
        let narrow = try run(words, width: 60)
        let widest = narrow.out.split(separator: "\n").map { String($0).columns }.max() ?? 0
        #expect(widest <= 60, "\(words) \(widest): \(narrow.out)")
      }
      // F-O15: a wide line does not put a price far from what belongs to it.
      try Connection(target).execute(
        """
        UPDATE fuel.station SET
          name = 'Service 1234567890123456789012345678901234567890', suburb = 'O''CONNOR'
        WHERE station_id = \(station[0])
        """)
      let point = ["show", "\(station[1]),\(station[2])", "--near", "0.5"]
      let wide = try run(point, width: 200)
      let lines = wide.out.split(separator: "\n").map { String($0) }
      let line = try #require(lines.first { $0.contains("7890, O'Connor ") })
      #expect(line.columns < 101, "\(wide.out)")
      let narrow = try run(point, width: 60)
      #expect(narrow.out.contains("  Service… "), "\(narrow.out)")
      let stale = try CommandTests.run(
        ["show", "brisbane", "--now", "2026-07-04T10:05:00Z"], on: target)
      #expect(stale.out.contains("the prices are too old to believe"), "\(stale)")
      for (words, hint) in [
        (["nowhere at all"], "no place"), (["brisbaen"], "did you mean 'Brisbane'?"),
        (["oconnor"], "did you mean 'O'Connor'?"),
        (["brisbane", "wa"], "no place"),
        (["27.47,153.03"], "did you mean -27.47,153.03?"),
        (["brisbane", "--fuel", "U95"], "did you mean"), (["brisbane", "--near", "x"], "--near"),
        (["--near", "3"], "needs a place"), (["qld", "--near", "3"], "with a position"),
      ] {
        let refused = try run(["show"] + words)
        #expect(refused.code == 64 && refused.err.contains(hint), "\(words) \(refused)")
      }
    }
  }

  /// The beginning of a name is enough for every command that takes feeds or archives. One that is
  /// ambiguous lists the candidates, and an unknown name lists the nearest or all names.
  @Test(arguments: [
    (["ingest", "n"], "'n' is ambiguous: nsw-fuelcheck or nt-myfuel"),
    (["ingest", "nws"], "no feed 'nws'; did you mean 'nsw-fuelcheck'?"),
    (["ingest", "fuelwach"], "no feed 'fuelwach'; did you mean 'wa-fuelwatch'?"),
    (["ingest", "xx"], "no feed 'xx'; one of "),
    (["gaps", "n"], "'n' is ambiguous: nsw-fuelcheck or nt-myfuel"),
    (["gaps", "nws"], "no feed 'nws'; did you mean 'nsw-fuelcheck'?"),
    (["backfill", "n", "x.csv"], "'n' is ambiguous: nsw-fuelcheck or nt-myfuel"),
    (["backfill", "nws", "x.csv"], "no archive 'nws'; did you mean 'nsw-fuelcheck'?"),
  ])
  func aWrongNameListsWhatThereIs(words: [String], answer: String) throws {
    let refused = try CommandTests.run(words, on: "host=/nowhere")
    #expect(refused.code == 64 && refused.err.hasPrefix("bowser: " + answer), "\(refused)")
    if answer.hasSuffix("one of ") {
      #expect(refused.err.contains("nt-myfuel, qld-fpd, sa-fpd, "), "\(refused)")
    }
  }

  /// `gaps` and `backfill` take beginnings of names as `ingest` does.
  @Test func beginningsOfNamesAreEnough() async throws {
    try await TestDatabase.with { target in
      #expect(try CommandTests.run(["gaps", "NSW"], on: target).code == 0)
      let whole = try CommandTests.run(["gaps", "nsw-fuelcheck"], on: target)
      let begun = try CommandTests.run(["gaps", "nsw"], on: target)
      #expect(whole.out.hasPrefix("nsw-fuelcheck ") && whole.out == begun.out, "\(begun)")
      let loaded = try CommandTests.run(["backfill", "wa", "/nowhere.csv"], on: target)
      #expect(loaded.code == 74 && loaded.err.contains("/nowhere.csv: no such file"), "\(loaded)")
    }
  }

  /// Typical mistakes, each with what to do about it in the answer.
  @Test func mistakesSayWhatToDo() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let empty = folder.appending(path: "empty").path
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("x".utf8).write(to: folder.appending(path: "july.csv"))
    let (full, misspelt) = (folder.path, folder.path + "/jul.csv")
    let file = full + "/july.csv"
    let taken = try Server { _ in .text(200, "") }
    defer { taken.stop() }
    let mistakes: [([String], Int32, String)] = [
      (["ingest"], 64, "or --all"),
      (["ingest", "wa"], 78, "switched off by BOWSER_WA_FUELWATCH_ENABLED: set it to true"),
      (["simulate", "play"], 78, "'BOWSER_WA_FUELWATCH_ENABLED' must be true, because play plays"),
      (["ingest", "qld", "--replay", empty], 74, "--record DIR makes one"),
      (["ingest", "qld", "--replay", "/nowhere"], 74, "qld-fpd: /nowhere: no such folder"),
      (["ingest", "--reprocess", "7"], 64, "fuel_v1.ingest_runs lists them"),
      (["withdraw", "7", "--reason", "x"], 64, "fuel_v1.ingest_runs lists them"),
      (["ingest", "nt", "--record", file], 74, "july.csv: is a file: name a folder"),
      (["ingest", "--reprocess", "1-2000000"], 64, "a range of at most a million runs"),
      (["backfill", "wa"], 64, "such as wa-fuelwatch downloads/"),
      (["backfill", file], 64, "bowser backfill --help lists the archives"),
      (["backfill", "wa", "-"], 65, "bowser: standard input: no header of wa-fuelwatch: "),
      (["aggregate", "--from", "2026-07-01"], 64, "--from needs --rebuild"),
      (["aggregate", "--rebuild", "--from", "1.7.2026"], 64, "must be a day such as 2026-07-01"),
      (["aggregate", "--workers", "0"], 64, "--workers must be a whole number from 1 to 64"),
      (["status", "--config", ""], 64, "--config needs DIR, and got an empty one"),
      (["report", "--out="], 64, "--out needs DIR, and got an empty one"),
      (["export", "regions", "--out", ""], 64, "--out needs FILE, and got an empty one"),
      (["backfill", "sa", file], 64, "no archive 'sa'; one of nsw-fuelcheck, "),
      (["backfill", "wa", "https://data.example/july.csv"], 64, "backfill wa-fuelwatch -"),
      (["backfill", "wa", empty], 74, "bowser gaps says where"),
      (["backfill", "wa", misspelt], 74, "did you mean 'july.csv'?"),
      (["report"], 64, "--out DIR, such as"),
      (["report", "--out", full], 74, "name a new or an empty folder"),
      (["report", "--out", empty], 0, "bowser ingest --all && bowser aggregate"),
      (["backtest"], 0, "bowser backfill, then bowser aggregate"),
      (["export"], 64, "--list lists them"),
      (["export", "regions", "stations"], 64, "name one view"),
      (["export", "averages"], 64, "did you mean 'averages_now' or 'daily_averages'?"),
      (["export", "price"], 64, "did you mean 'current_prices' or 'price_changes'"),
      (["export", "regions", "--from", "2026-07-01"], 64, "export takes --format, --since, "),
      (["export", "regions", "--out", "--list"], 64, "--out needs FILE"),
      (["export", "regions", "--out", "a", "--out", "b"], 64, "--out may be given only once"),
      (["export", "regions", "--out", full + "/a/b.csv"], 74, "No such file or directory"),
      (["config"], 64, "bowser config show"),
      (["migrate", "down"], 64, "one of up, status, verify"),
      (["status", "perth"], 64, "takes no operands; bowser status --help"),
      (["status", "--deadline", "5m"], 64, "--deadline must be a whole number"),
      (["status", "--now", "2026-07-01T12:00:00"], 64, "with its zone, such as"),
      (["status"], 0, "the next step:\n  bowser ingest --all"),
      (["notify", "--test"], 0, "its comments show two"),
      (["--all", "ingest"], 64, "must follow a command"),
      (["backfill", file, file], 64, "july.csv'; one of nsw-fuelcheck"),
      (["config", "set", "workers", "3"], 64, "changed in bowser.json5"),
      (["stations", "--explain", "BP Perth"], 64, "bowser show NAME --json shows the station_id"),
      (["show", "--now", "2020-01-01T00:00:00Z"], 0, "give another --now"),
      (["status", "--config", file], 78, "is a file: name the folder"),
      (["status", "--config", empty], 78, "no such file: name the folder that has it"),
      (["export", "averages_now", "--out", empty], 74, "is a folder: name a file in it"),
      (["migrate", "up", "down"], 64, "takes one action"),
      (["ingest", "--reprocess", "7", "--all"], 64, "--all cannot be combined with --reprocess"),
      (["ingest", "nt", "--replay", empty, "--record", empty], 64, "combined with --replay"),
      (["verify", "--log", "--head", "5f2c09ab41d7"], 64, "--head cannot be combined with --log"),
      (["aggregate", "--rebuild", "--from", "2026-02-30"], 64, "must be a day such as"),
      (["status", "--now", "2026-02-30T12:00:00Z"], 64, "must be an instant"),
      (["export", "--list", "--since", "2026-01-01"], 64, "cannot be combined with --list"),
      (["show", "perth"], 64, "there are no prices yet: run bowser ingest --all"),
      (["backfill", "recordings", "/nowhere"], 74, "no such folder"),
      (["simulate", "play", "--fault", "server-error-503"], 64, "--fault belongs to serve"),
      (["simulate", "play", "serve"], 64, "name one simulation"),
      (["simulate", "plya"], 64, "did you mean 'play'?"),
      (["simulate", "serve", "--fault", "slow"], 64, "bowser simulate --fault list lists them"),
      (["simulate", "serve", "--port", "\(taken.port)"], 69, "in use; choose another --port"),
      (["simulate", "archive", "--days", "2", "--out", empty], 64, "give more --days"),
    ]
    let off = ["BOWSER_WA_FUELWATCH_ENABLED": "false"]
    try await TestDatabase.with { target in
      for (words, code, advice) in mistakes {
        let answer = try CommandTests.run(words, on: target, environment: off)
        let said = answer.out + answer.err
        #expect(answer.code == code && said.contains(advice), "\(words) \(answer)")
      }
      let unspooled = try CommandTests.run(
        ["backfill", "wa", "-"], on: target, environment: ["TMPDIR": "/nowhere"])
      #expect(
        unspooled.code == 74 && unspooled.err.contains("TMPDIR names another folder"),
        "\(unspooled)")
      let other = try CommandTests.run(["status"], on: "dbname=postgres")
      #expect(other.code == 78 && other.err.contains("check that it is the right one"), "\(other)")
      let missing = try CommandTests.run(["migrate"], on: "dbname=no_such_database")
      #expect(missing.code == 78 && missing.err.contains("bowser setup creates it"), "\(missing)")
      #expect(missing.err.contains("--db or PGDATABASE names another one"), "\(missing)")
      let stranger = try CommandTests.run(["status"], on: target + " user=no_such_login")
      #expect(
        stranger.code == 77 && stranger.err.contains("--db or PGUSER names another login"),
        "\(stranger)")
      let service = try CommandTests.run(["status"], on: "service=no_such_service")
      #expect(service.code == 78 && service.err.contains("definition of service"), "\(service)")
    }
  }

  /// F-O19: a station in `stations.json5` that no feed or archive has reported is named by `doctor`
  /// and `stations`, and by the first `aggregate` after the file was changed. That is no error,
  /// because the station may come later.
  @Test func aStationThatNobodyReportedIsNamed() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      func run(_ words: [String]) throws -> CommandTests.Result {
        try CommandTests.run(
          words + ["--config", folder, "--now", "2026-07-01T10:05:00Z"], on: target)
      }
      let stored = try run(["ingest", "wa-fuelwatch", "--replay", CommandTests.recording])
      #expect(stored.code == 0, "\(stored)")
      let code = try #require(
        try Connection(target).lines(
          "SELECT station_code FROM fuel.station WHERE station_code NOT LIKE '%''%' ORDER BY 1"
        ).first)
      try Data(
        """
        [
          { on: '2026-07-01', station: 'wa-fulwatch 1', is: 'same', as: 'wa-fuelwatch \(code)X', why: '' },
          { on: '2026-07-01', station: 'wa-fuelwatch \(code)', is: 'another', as: 'wa-fuelwatch 7', why: '' },
        ]
        """.utf8
      ).write(to: URL(filePath: folder + "/stations.json5"))
      let sentences = [
        "entry 1: 'station' names 'wa-fulwatch', from which no station has come yet",
        "entry 1: 'as' names '\(code)X', a station that wa-fuelwatch has not reported",
        "entry 2: 'as' names '7', a station that wa-fuelwatch has not reported",
      ]
      let first = try run(["aggregate"])
      let next = try run(["aggregate"])
      let stations = try run(["stations", "--doubtful"])
      for sentence in sentences {
        #expect(first.code == 0 && first.err.contains(sentence), "\(first)")
        #expect(stations.code == 0 && stations.err.contains(sentence), "\(stations)")
      }
      #expect(next.code == 0 && next.err.isEmpty, "\(next)")
    }
  }

  /// The program accepts several spellings of `--version`, and arguments that begin with a minus,
  /// such as southern latitudes.
  @Test func theCommandLineForgives() async throws {
    for words in [["version"], ["-v"], ["--version"]] {
      #expect(try CommandTests.run(words).out.hasPrefix("bowser "))
    }
    try await TestDatabase.with { target in
      let south = try CommandTests.run(["show", "-27.47,153.03"], on: target)
      #expect(south.code == 0 && south.out.contains("No station with a price"), "\(south)")
    }
  }
}
