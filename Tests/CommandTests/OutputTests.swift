import Foundation
import FoundationXML
import FuelModel
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

/// What people and other programs receive: reports, exports, metrics, JSON, pings.
struct OutputTests {
  static let now = IslandTests.now

  /// Passes a database with one aggregated run of every feed, and the providers of these runs.
  private func market(
    _ body: (String, IslandTests.Providers) async throws -> Void
  ) async throws {
    let providers = try IslandTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for words in [["ingest", "--all"], ["aggregate"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now)"], on: target, environment: providers.environment)
        #expect(result.code == 0 && result.out.isEmpty && result.err.isEmpty, "\(result)")
      }
      try await body(target, providers)
    }
  }

  private func run(_ words: [String], _ target: String) throws -> CommandTests.Result {
    try CommandTests.run(words + ["--now", "\(Self.now)"], on: target)
  }

  private func temporary() -> String {
    FileManager.default.temporaryDirectory.appending(path: "out-\(UUID().uuidString)").path
  }

  /// F-S08, F-O10: text that a spreadsheet would take for a formula is made harmless. Cells with
  /// quotes or line breaks are quoted, so every value stays in its column.
  @Test func exportsAreSafeToOpen() async throws {
    try await market { target, _ in
      let hostile = ["=1+1", "+61", "@x", "-5", "a,\"b\"\nc", "<b>&", "''"]
      for (place, name) in hostile.enumerated() {
        try Connection(target).query(
          "UPDATE fuel.station SET name = \(name) WHERE station_id = \(place + 1)")
      }
      let result = try run(["export", "stations"], target)
      #expect(result.code == 0, "\(result.err)")
      let count = try Connection(target).lines("SELECT count(*) FROM fuel_v1.stations")[0]
      for cell in ["'=1+1", "+61", "'@x", "-5", "\"a,\"\"b\"\"\nc\"", "<b>&", "''"] {
        #expect(result.out.contains(",\(cell),"), "\(cell)")
      }
      let objects = try run(["export", "stations", "--format", "ndjson"], target).out
        .split(separator: "\n")
      #expect(objects.count == Int(count))
      var names: Set<String> = []
      for object in objects {
        let value = try JSONSerialization.jsonObject(with: Data(object.utf8)) as? [String: Any]
        if let name = value?["name"] as? String { names.insert(name) }
        #expect((value?["first_seen_at"] as? String)?.hasSuffix("Z") == true)
      }
      #expect(names.isSuperset(of: hostile))
    }
  }

  /// F-O10: every view can be exported. An existing file is replaced as a whole or kept, and
  /// failures are reported.
  @Test func exportsReplaceFilesWhole() async throws {
    try await market { target, _ in
      let views = try run(["export", "--list"], target).out.split(separator: "\n").map {
        String($0.split(separator: " ")[0])
      }
      #expect(views.count >= 24 && views.contains("averages_now"))
      for view in views {
        for format in ["csv", "ndjson"] {
          let result = try run(["export", view, "--format", format], target)
          #expect(result.code == 0 && result.err.isEmpty, "\(view) \(result.err)")
          let rows = try Connection(target + " options='-c bowser.now=\(Self.now)'").lines(
            SQL(stringLiteral: "SELECT count(*) FROM fuel_v1.\(view)"))[0]
          let breaks = result.out.count { $0 == "\n" }
          #expect(breaks == (Int(rows) ?? -1) + (format == "csv" ? 1 : 0), "\(view) \(format)")
        }
      }
      let file = temporary()
      try Data("old".utf8).write(to: URL(filePath: file))
      let folder = try run(["export", "averages_now", "--out", "/nowhere/x.csv"], target)
      #expect(folder.code == 74 && folder.err.contains("/nowhere/x.csv"), "\(folder.err)")
      try Connection(target).execute("REVOKE SELECT ON fuel_v1.averages_now FROM fuel_reader")
      let refused = try run(["export", "averages_now", "--out", file], target)
      #expect(refused.code == 77, "\(refused)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
      let done = try run(["export", "fuels", "--out", file], target)
      #expect(done.code == 0 && done.out.isEmpty)
      #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("fuel,name,unit,"))
      #expect(
        try FileManager.default.contentsOfDirectory(
          atPath: (file as NSString).deletingLastPathComponent
        )
        .filter { $0.contains((file as NSString).lastPathComponent) }.count == 1)
      // A device is not replaced by a file.
      let device = try run(["export", "fuels", "--out", "/dev/null"], target)
      #expect(device.code == 74 && device.err.contains("not an ordinary file"), "\(device)")
      let full = try await tool(
        "bash",
        [
          "-c",
          "BOWSER_CONFIG=\(CommandTests.config) \(CommandTests.process([], "", [:]).executableURL?.path ?? "") export fuels --db '\(target)' > /dev/full",
        ])
      #expect(full.code == 74, "\(full)")
      for (words, text) in [
        (["export", "avrages_now"], "did you mean 'averages_now'?"),
        (["export"], "--list"),
        (["export", "averages_now", "--since", "2026-01-01"], "only the present"),
        (["export", "averages_now", "--format", "xml"], "csv or ndjson"),
      ] {
        let wrong = try run(words, target)
        #expect(wrong.code == 64 && wrong.err.contains(text), "\(wrong)")
      }
      let day = Zone.sydney.local(Self.now).day
      let later = try run(["export", "ingest_runs", "--since", "\(day + 2)"], target)
      #expect(later.out.split(separator: "\n").count == 1)
      let earlier = try run(["export", "ingest_runs", "--until", "\(day + 2)"], target)
      #expect(earlier.out.split(separator: "\n").count > 5)
    }
  }

  /// F-O09, F-S08: a report shows names as text, whatever they contain, and loads nothing from
  /// other servers.
  @Test func reportsHoldNamesAsText() async throws {
    try await market { target, _ in
      try Connection(target).execute(
        """
        UPDATE fuel.station SET
          name = '<script>alert(1)</script>"''&' || U&'\\202E' || station_id,
          suburb = '<img src=//x.example>'
        """)
      let folder = temporary()
      let result = try run(["report", "--out", folder], target)
      #expect(result.code == 0 && result.out.isEmpty && result.err.isEmpty, "\(result)")
      let pages = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".html")
      }
      #expect(pages.count > 10)
      var named = 0
      for page in pages {
        let text = try String(contentsOfFile: "\(folder)/\(page)", encoding: .utf8)
        let own = text.matches(
          of: /<script src="([.\/]*)site.js" data-home="([.\/]*)" defer><\/script>/)
        #expect(own.count == 1 && own.allSatisfy { $0.1 == $0.2 })
        let rest = text.replacing(/<script src="[.\/]*site.js"/, with: "")
        for forbidden in ["<script", "<img", "\u{202E}", "http:", "https:", "@import", "url("] {
          #expect(!rest.contains(forbidden), "\(page) holds \(forbidden)")
        }
        named += text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;") ? 1 : 0
        // Links lead to existing files.
        let base = URL(filePath: "\(folder)/\(page)")
        for match in text.matches(of: /href="([^"#]*)/)
        where !match.1.isEmpty && match.1 != "data:," && !match.1.hasPrefix("geo:") {
          let there = base.deletingLastPathComponent().appending(path: String(match.1)).standardized
          #expect(FileManager.default.fileExists(atPath: there.path), "\(page): \(match.1)")
        }
      }
      #expect(named > 5)
      // A second report into the same folder removes its own pages of regions that are gone, and no
      // other file.
      let list = "\(folder)/.bowser-report"
      for name in ["gone", "mine"] {
        try Data().write(to: URL(filePath: "\(folder)/region/\(name).html"))
      }
      try (String(contentsOfFile: list, encoding: .utf8) + "region/gone.html\n../../etc/x\n").write(
        toFile: list, atomically: false, encoding: .utf8)
      #expect(try run(["report", "--out", folder], target).code == 0)
      #expect(!FileManager.default.fileExists(atPath: "\(folder)/region/gone.html"))
      #expect(FileManager.default.fileExists(atPath: "\(folder)/region/mine.html"))
      #expect(
        try FileManager.default.subpathsOfDirectory(atPath: folder).allSatisfy {
          !$0.contains("partial")
        })
      // Of several reports at once, one works. The others end with 75 or work after it. Partial
      // files that a killed report left are reused.
      try Data("left".utf8).write(to: URL(filePath: "\(folder)/index.html.partial"))
      let both = try (0..<4).map { _ in
        let process = CommandTests.process(
          ["report", "--out", folder, "--now", "\(Self.now)"], target, [:])
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
      }
      for process in both { process.waitUntilExit() }
      let codes = both.map(\.terminationStatus)
      #expect(codes.contains(0) && codes.allSatisfy { [0, 75].contains($0) }, "\(codes)")
      #expect(
        try FileManager.default.subpathsOfDirectory(atPath: folder).allSatisfy {
          !$0.contains("partial")
        })
      let foreign = temporary()
      try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(filePath: "\(foreign)/index.html"))
      let refused = try run(["report", "--out", foreign], target)
      #expect(
        refused.code == 74 && refused.err.contains("other than a report of bowser"), "\(refused)")
      #expect(try String(contentsOfFile: "\(foreign)/index.html", encoding: .utf8) == "mine")
    }
  }

  /// A report is a website. Every station and every suburb has a page and a link to it, programs
  /// get prices as points of GeoJSON, and files whose content did not change keep their
  /// modification time.
  @Test func aReportIsASite() async throws {
    try await market { target, _ in
      try Connection(target).execute(
        "UPDATE fuel.station SET suburb = 'A \"quoted\" \\ place' WHERE station_id = 1")
      let folder = temporary()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      #expect(try run(["report", "--out", folder], target).code == 0)
      func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
      }
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Self.now.description), false)")
      let stations = try connection.lines(
        "SELECT DISTINCT station_id FROM fuel_v1.current_prices WHERE is_public ORDER BY 1")
      #expect(stations.count > 50)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      let places = try files.filter { $0.hasPrefix("place/") && $0.hasSuffix(".html") }.map(text)
        .joined()
      for station in stations {
        #expect(files.contains("station/\(station).html"), "\(station)")
        #expect(places.contains("station/\(station).html"), "\(station)")
      }
      // There are as many points as prices with a position.
      var points = 0
      for path in files where path.hasSuffix(".geojson") {
        let object =
          try JSONSerialization.jsonObject(with: Data(try text(path).utf8)) as? [String: Any]
        points += (object?["features"] as? [Any])?.count ?? 0
      }
      #expect(
        try connection.lines(
          "SELECT count(*) FROM fuel_v1.current_prices WHERE is_public AND latitude IS NOT NULL")
          == ["\(points)"])
      let market = try text("api/v1/market.json")
      #expect(try JSONSerialization.jsonObject(with: Data(market.utf8)) is [String: Any])
      for path in files where path.hasSuffix(".atom") {
        #expect(XMLParser(data: Data(try text(path).utf8)).parse(), "\(path)")
      }
      #expect(try text("u91/nsw.html").contains("<svg class=\"map\""))
      // Each fuel has an address of its own, and the page of a region links to every fuel.
      for fuel in ["dl", "p98"] {
        #expect(try text("\(fuel)/index.html").contains("href=\"../\(fuel)/sydney.html\""))
        #expect(try text("region/sydney.html").contains("href=\"../\(fuel)/sydney.html\""))
      }
      // The list for the search is JSON in a script, and every page in it exists.
      let list = try text("places.js")
      let prefix = "window.bowserPlaces = "
      #expect(list.hasPrefix(prefix) && list.hasSuffix(";\n"))
      let listed =
        try JSONSerialization.jsonObject(
          with: Data(list.dropFirst(prefix.count).dropLast(2).utf8)) as? [[String]] ?? []
      #expect(listed.count > stations.count)
      for place in listed { #expect(place.count == 3 && files.contains(place[2]), "\(place)") }
      for station in stations {
        #expect(listed.contains { $0[2] == "station/\(station).html" }, "\(station)")
      }
      #expect(!files.contains("sitemap.xml"))
      let named = temporary()
      defer { try? FileManager.default.removeItem(atPath: named) }
      let found = try run(["report", "--out", named, "--site", "https://fuel.example/x"], target)
      #expect(found.code == 0, "\(found)")
      let siteMap = try String(contentsOfFile: "\(named)/sitemap.xml", encoding: .utf8)
      #expect(XMLParser(data: Data(siteMap.utf8)).parse())
      #expect(siteMap.matches(of: /<loc>/).count == files.count { $0.hasSuffix(".html") })
      #expect(siteMap.contains("<loc>https://fuel.example/x/u91/sydney.html</loc>"))
      #expect(
        try String(contentsOfFile: "\(named)/u91/sydney.html", encoding: .utf8).contains(
          "<link rel=\"canonical\" href=\"https://fuel.example/x/u91/sydney.html\">"))
      #expect(try run(["report", "--out", named], target).code == 0)
      #expect(!FileManager.default.fileExists(atPath: "\(named)/sitemap.xml"))
      #expect(try run(["report", "--out", named, "--site", "fuel.example"], target).code == 64)
      #expect(try text("index.html").contains("<polygon class=\"land\""))
      // A minute later only files that contain the time have changed.
      func times() throws -> [String: Date] {
        var times: [String: Date] = [:]
        for path in files where path.contains(".") && !path.hasPrefix(".") {
          times[path] =
            try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")[.modificationDate]
            as? Date
        }
        return times
      }
      let before = try times()
      let again = try CommandTests.run(
        ["report", "--out", folder, "--now", "\(Self.now + .seconds(60))"], on: target)
      #expect(again.code == 0)
      let changed = try times().filter { before[$0.key] != $0.value }.map(\.key)
      #expect(
        !changed.isEmpty
          && changed.allSatisfy {
            !$0.hasPrefix("station/") && !$0.hasPrefix("place") && !$0.hasPrefix("feed/")
              && !$0.hasPrefix("api/v1/prices")
          }, "\(changed)")
    }
  }

  /// JSON output fits its schema: no member is missing, and none is unknown.
  @Test func everyJSONFitsItsSchema() async throws {
    let schema = try JSONSchema(path: IntegrationTests.root + "/docs/json.schema.json")
    try await market { target, _ in
      let folder = temporary()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let station =
        try Connection(target).lines("SELECT min(station_id) FROM fuel.station").first ?? ""
      for (name, words) in [
        ("market", ["show"]), ("place", ["show", "perth"]), ("place", ["show", "-27.5,153.0"]),
        ("status", ["status"]), ("doctor", ["doctor"]),
        ("config", ["config", "show"]), ("gaps", ["gaps"]),
        ("agreement", ["agreement", "--differences"]), ("lapses", ["lapses"]),
        ("explained_stations", ["stations", "--explain", station]),
        ("doubtful_stations", ["stations", "--doubtful"]), ("verify", ["verify"]),
        ("log", ["verify", "--log"]), ("scores", ["backtest"]),
      ] {
        let result = try run(words + ["--json"], target)
        #expect([0, 78].contains(result.code), "\(result.code) \(result.err)")
        let value = try JSONSerialization.jsonObject(
          with: Data(result.out.utf8), options: .fragmentsAllowed)
        #expect(schema.faults(of: value, as: name).prefix(5) == [], "\(words)")
      }
      #expect(try run(["report", "--out", folder], target).code == 0)
      var points = 0
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder + "/api") {
        let isMarket = path.hasSuffix("market.json")
        guard isMarket || path.hasSuffix(".geojson") else { continue }
        let value = try JSONSerialization.jsonObject(
          with: Data(contentsOf: URL(filePath: "\(folder)/api/\(path)")))
        #expect(
          schema.faults(of: value, as: isMarket ? "market" : "points").prefix(5) == [], "\(path)")
        points += isMarket ? 0 : 1
      }
      #expect(points > 10)
    }
    let text = try String(contentsOfFile: IntegrationTests.root + "/docs/json.md", encoding: .utf8)
    #expect(
      Set(text.matches(of: /(?m)^\| `([a-z_]+)` \|/).map { String($0.1) }) == schema.names)
    // The check itself finds faults.
    let wrong: [String: Any] = ["version": 2, "gaps": [["feed": 1, "more": 1]]]
    #expect(schema.faults(of: wrong, as: "gaps").count == 7)
  }

  /// F-O09: a database without prices yields a valid report that states this.
  @Test func nothingMakesAReportToo() async throws {
    try await TestDatabase.with { target in
      let folder = temporary()
      let result = try run(["report", "--out", folder], target)
      #expect(result.code == 0, "\(result.err)")
      #expect(
        try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8).contains(
          "There are no averages yet"))
      #expect(try run(["report"], target).code == 64)
    }
  }

  /// F-O11: a file of metrics is replaced as a whole, labels are escaped, and an unwritable folder
  /// is reported.
  @Test func metricsAreWrittenWhole() async throws {
    try await market { target, _ in
      try Connection(target).execute(
        "UPDATE fuel.source SET source = 'odd\"\\' || E'\\n' WHERE source = 'sa-fpd'")
      let result = try run(["metrics"], target)
      #expect(result.code == 0, "\(result.err)")
      let lines = result.out.split(separator: "\n").map(String.init)
      for line in lines where !line.hasPrefix("#") {
        #expect(
          line.wholeMatch(
            of: /[a-z0-9_]+(\{([a-z_]+="([^"\\]|\\.)*",?)+\})? -?[0-9.]+(e[+-]?[0-9]+)?/)
            != nil, "\(line)")
      }
      #expect(lines.contains("bowser_feed_status{feed=\"qld-fpd\",status=\"ok\"} 1"))
      #expect(lines.contains { $0.hasPrefix("bowser_feed_prices{feed=\"odd\\\"\\\\\\n\"}") })
      let seconds = Double(Self.now.seconds)
      #expect(
        lines.contains { line in
          line.hasPrefix("bowser_aggregated_timestamp_seconds ")
            && Double(line.split(separator: " ")[1]) == seconds
        })
      let types = lines.filter { $0.hasPrefix("# TYPE") }
      #expect(Set(types).count == types.count && types.count > 12)
      let file = temporary()
      #expect(try run(["metrics", "--out", file], target).code == 0)
      #expect(
        try String(contentsOfFile: file, encoding: .utf8).hasPrefix("# HELP bowser_build_info"))
      let away = try CommandTests.run(["metrics", "--out", file], on: "host=/nowhere")
      #expect(away.code == 75)
      #expect(
        try String(contentsOfFile: file, encoding: .utf8).hasPrefix("# HELP bowser_build_info"))
      #expect(try run(["metrics", "--out", "/nowhere/x.prom"], target).code == 74)
    }
  }

  @Test func objectsHaveTheirDocumentedShape() async throws {
    try await market { target, providers in
      func object(_ words: [String]) throws -> [String: Any] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now)"], on: target, environment: providers.environment)
        return try #require(
          try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any])
      }
      let status = try object(["status", "--json"])
      #expect(
        Set(status.keys) == [
          "version", "pipeline", "feeds", "not_set_up", "last_runs", "quarantined",
          "last_aggregate",
        ])
      #expect(status["version"] as? Int == 1)
      let feeds = try #require(status["feeds"] as? [[String: Any]])
      #expect(
        feeds.count == 7
          && feeds.allSatisfy { $0["status"] is String && $0["attribution"] is String })
      #expect((status["last_runs"] as? [[String: Any]])?.count == 7)
      #expect((status["last_aggregate"] as? [String: Any])?["outcome"] as? String == "done")
      let doctor = try object(["doctor", "--json"])
      #expect(Set(doctor.keys) == ["version", "exit_code", "checks"])
      let checks = try #require(doctor["checks"] as? [[String: String]])
      #expect(
        checks.count > 9 && checks.allSatisfy { Set($0.keys) == ["finding", "what", "words"] })
      let config = try object(["config", "show", "--json"])
      #expect(Set(config.keys) == ["version", "folder", "sections"])
      #expect((config["sections"] as? [[String: Any]])?.count ?? 0 > 8)
      let words = try run(["status"], target).out
      #expect(words.contains("qld-fpd") && words.contains("aggregate      last good 0 s ago"))
    }
  }

  /// Views and functions agree with each other. The national average leaves out states that publish
  /// late, and stations appear once and under the brand names of the configuration.
  @Test func viewsAndFunctionsAgree() async throws {
    let market = try await PlayedMarket.database()
    let connection = try Connection(market.target)
    try connection.query("SELECT set_config('bowser.now', \(market.now[1]), false)")
    let differing = try connection.lines(
      """
      SELECT region, fuel, average_cpl, fuel_v1.average_at(region, fuel, as_of_at) AS at
      FROM fuel_v1.averages_now
      WHERE region = 'AU' AND excluded_flagged = 0
        AND abs(average_cpl - fuel_v1.average_at(region, fuel, as_of_at)) > 0.02
      """)
    #expect(differing == [])
    // Where prices are published late, the change over 24 hours is counted back from the published
    // instant.
    let moves = try connection.lines(
      """
      SELECT region, fuel FROM fuel_v1.averages_now
      WHERE delay_hours > 0 AND fuel = 'U91' AND abs(
        change_24h_cpl - fuel_v1.average_at(region, fuel, as_of_at)
          + fuel_v1.average_at(region, fuel, as_of_at - interval '24 hours')) > 0.25
      """)
    #expect(moves == [])
    #expect(
      try connection.lines(
        "SELECT bool_or(change_24h_cpl <> 0) AS moved FROM fuel_v1.averages_now WHERE region = 'VIC'"
      )
        == ["t"])
    // A price that takes effect later today is not called tomorrow's price.
    #expect(
      try connection.lines(
        """
        SELECT count(*) FROM fuel_v1.station_fill_up JOIN fuel_v1.stations USING (station_id)
        WHERE reason LIKE 'Tomorrow %here'
          AND (valid_until_at AT TIME ZONE time_zone)::date = (\(market.now[1])::timestamptz AT TIME ZONE time_zone)::date
        """) == ["0"])
    #expect(
      try connection.lines(
        """
        SELECT near.station_id, near.brand, stations.brand AS known
        FROM fuel_v1.stations_near(-33.87, 151.0, 60) AS near
        LEFT JOIN fuel_v1.stations USING (station_id)
        WHERE stations.station_id IS NULL OR near.brand IS DISTINCT FROM stations.brand
        """) == [])
    #expect(
      try connection.lines(
        "SELECT count(*) FROM fuel_v1.station_comparison WHERE (stations < 3) <> (region_average_cpl IS NULL)"
      ) == ["0"])
    try connection.execute("BEGIN; UPDATE fuel.station SET place_id = 2 WHERE station_id = 1")
    #expect(
      try connection.lines(
        "SELECT count(*) FROM fuel_v1.stations_near(-27, 140, 3000) WHERE station_id = 1") == ["0"])
    try connection.execute("ROLLBACK")
  }

  /// F-O04: `doctor` reports the rights that a copy of a database loses.
  @Test func theDoctorSeesLostRights() async throws {
    try await TestDatabase.with { target in
      let result = try run(["doctor"], target)
      let line = try #require(
        result.out.split(separator: "\n").first { $0.contains("rights on the database") })
      #expect(line.hasPrefix("warn  "))
      let words = line.split(separator: "run: ")[1].split(separator: "; ")
      #expect(words.count == 2)
      try Connection(target).execute("\(words[0])")
      #expect(try run(["doctor"], target).out.contains("FAIL  rights on the database"))
      try Connection(target).execute("\(words[1])")
      #expect(try !run(["doctor"], target).out.contains("rights on the database"))
    }
  }

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
      let began = ContinuousClock.now
      let good = try CommandTests.run(["aggregate"], on: target, environment: environment)
      #expect(good.code == 0 && good.out.isEmpty && good.err.isEmpty, "\(good)")
      let bad = try CommandTests.run(
        ["aggregate", "--config", "/nowhere"], on: target, environment: environment)
      #expect(bad.code == 78 && !bad.err.contains("CANARY"))
      #expect(ContinuousClock.now - began < .seconds(60))
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
      let environment = ["BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_STATE_FOLDER": temporary()]
      let away = (["aggregate"], "host=/nowhere")
      for (command, target) in [
        (["aggregate"], target), (["report", "--out", "/proc/x"], target), away, away,
        (["aggregate"], target), away, away, away, (["status"], target),
      ] {
        _ = try CommandTests.run(command + words, on: target, environment: environment)
      }
      #expect(
        asked.withLock { $0 } == [
          "POST /check bowser aggregate: exit 0\n", "POST /check/74 bowser report: exit 74\n",
          "POST /check bowser aggregate: exit 0\n", "POST /check/75 bowser aggregate: exit 75\n",
        ])
    }
  }

  /// F-M05: keys appear nowhere: not in logs at the most verbose level, in rows, dumps, reports,
  /// exports or metrics.
  @Test func keysAreFoundNowhere() async throws {
    try await market { target, providers in
      let keys = providers.environment.filter { name, value in
        value.count >= 6
          && ["TOKEN", "KEY", "SECRET", "CONSUMER_ID"].contains { name.hasSuffix($0) }
      }.map(\.value)
      #expect(keys.count >= 5)
      let folder = temporary()
      var told = ""
      for words in [
        ["ingest", "--all", "--verbose", "--summary", "--record", folder + "-recorded"],
        ["report", "--out", folder], ["metrics"], ["status", "--json"], ["config", "show"],
        ["config", "show", "--json"], ["doctor"], ["export", "ingest_runs"], ["export", "rejects"],
      ] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now + .seconds(7_200))"], on: target,
          environment: providers.environment.merging(["BOWSER_LOG_LEVEL": "debug"]) { $1 })
        #expect(result.code == 0, "\(words) \(result.err)")
        told += result.out + result.err
      }
      for path in [folder, folder + "-recorded"] {
        for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
          if let data = FileManager.default.contents(atPath: "\(path)/\(file)") {
            told += String(decoding: data, as: UTF8.self)
          }
        }
      }
      let dump = try await tool("pg_dump", ["--dbname", target])
      #expect(dump.code == 0 && dump.out.count > 100_000)
      told += dump.out
      for key in keys { #expect(!told.contains(key)) }
      // The search does find text that is there.
      #expect(told.contains("qld-fpd"))
    }
  }

  @Test func theManualCoversEveryCommand() throws {
    let folder = temporary()
    let result = try CommandTests.run(["help", "--pages", folder])
    #expect(result.code == 0, "\(result.err)")
    let overview = try CommandTests.run(["--help"]).out
    let commands = overview.split(separator: "\n").filter {
      $0.hasPrefix("  ") && !$0.hasPrefix("  --")
    }
    .map { String($0.split(separator: " ")[0]) }
    #expect(commands.count >= 16)
    let completion = try String(
      contentsOfFile: "\(folder)/bash-completion/completions/bowser", encoding: .utf8)
    for command in commands {
      let page = try String(
        contentsOfFile: "\(folder)/man/man1/bowser-\(command).1", encoding: .utf8)
      let help = try CommandTests.run([command, "--help"]).out
      for match in help.matches(of: /(?m)^  --([a-z-]+)/) {
        let option = String(match.1)
        let isCommon = ["config", "db", "now", "deadline", "verbose", "ping-url", "help"].contains(
          option)
        #expect(
          isCommon || page.contains("\\-\(option.replacing("-", with: "\\-"))"),
          "\(command) \(option)")
        #expect(completion.contains("--\(option)"))
      }
    }
    #expect(
      try CommandTests.run(["--version"]).out.wholeMatch(
        of: /bowser [0-9.]+ \(([0-9a-f]+\+?|unknown)\)\n/)
        != nil)
  }
}

/// Runs a program, found by its name, with the environment of the test. Waits without holding a
/// thread, since all tests share as many threads as there are cores.
func tool(
  _ name: String, _ arguments: [String], input: String? = nil
) async throws -> CommandTests.Result {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = [name] + arguments
  return try await finished(process, input: input)
}

/// Runs a process to its end and returns its exit code and output.
func finished(_ process: Process, input: String? = nil) async throws -> CommandTests.Result {
  let base = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
  for path in [base + ".out", base + ".err"] {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
  }
  defer {
    // The `.in` file exists only if `input` was given.
    for end in [".out", ".err", ".in"] { unlink(base + end) }
  }
  if let input {
    try Data(input.utf8).write(to: URL(filePath: base + ".in"))
    process.standardInput = FileHandle(forReadingAtPath: base + ".in")
  } else {
    process.standardInput = FileHandle.nullDevice
  }
  process.standardOutput = FileHandle(forWritingAtPath: base + ".out")
  process.standardError = FileHandle(forWritingAtPath: base + ".err")
  try process.run()
  while process.isRunning { try await Task.sleep(for: .milliseconds(50)) }
  return CommandTests.Result(
    code: process.terminationStatus,
    out: try String(contentsOfFile: base + ".out", encoding: .utf8),
    err: try String(contentsOfFile: base + ".err", encoding: .utf8))
}
