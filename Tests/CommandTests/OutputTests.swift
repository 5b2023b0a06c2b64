import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// What people and other programs receive: reports, exports, metrics, JSON.
struct OutputTests {
  static let now = WorkerProcessTests.now

  /// Passes a database with one aggregated run of every feed, and the providers of these runs.
  func market(
    _ body: (String, WorkerProcessTests.Providers) async throws -> Void
  ) async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with(copyOf: Self.ingested.value) { try await body($0, providers) }
  }

  /// The name of a database that has one answer of each feed, which tests copy.
  private static let ingested = Task {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    return try await TestDatabase.with { target in
      for words in [["ingest", "--all"], ["aggregate"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(now)"], on: target, environment: providers.environment)
        try #require(result.code == 0 && result.out.isEmpty && result.err.isEmpty, "\(result)")
      }
      return String(target.dropFirst("dbname=".count))
    }
  }

  func run(_ words: [String], _ target: String) throws -> CommandTests.Result {
    try CommandTests.run(words + ["--now", "\(Self.now)"], on: target)
  }

  func temporary() -> String {
    FileManager.default.temporaryDirectory.appending(path: "out-\(UUID().uuidString)").path
  }

  /// JSON output fits its schema: no member is missing, and none is unknown.
  @Test func everyJSONFitsItsSchema() async throws {
    let schema = try JSONSchema(path: IntegrationTests.root + "/docs/json.schema.json")
    try await market { target, _ in
      let folder = temporary()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      for (name, words) in [
        ("market", ["show"]), ("place", ["show", "perth"]), ("place", ["show", "-27.5,153.0"]),
        ("status", ["status"]), ("scores", ["backtest"]),
      ] {
        let result = try run(words + ["--json"], target)
        #expect([0, 78].contains(result.code), "\(result.code) \(result.err)")
        let value = try JSONSerialization.jsonObject(
          with: Data(result.out.utf8), options: .fragmentsAllowed)
        #expect(schema.faults(of: value, as: name).prefix(5) == [], "\(words)")
      }
      #expect(try run(["report", "--out", folder], target).code == 0)
      var files: [String: Int] = [:]
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder + "/api/v1")
      where path.contains(".") {
        let value = try JSONSerialization.jsonObject(
          with: Data(contentsOf: URL(filePath: "\(folder)/api/v1/\(path)")))
        let name =
          path.hasSuffix(".geojson")
          ? "points" : String(path.split { "/.".contains($0) }.first ?? "")
        #expect(schema.faults(of: value, as: name).prefix(5) == [], "\(path)")
        files[name, default: 0] += 1
      }
      #expect(
        Set(files.keys) == ["points", "market", "index", "changes", "region", "station"]
          && files["points"] ?? 0 > 10 && files["station"] ?? 0 > 50, "\(files)")
    }
    let text = try String(
      contentsOfFile: IntegrationTests.root + "/docs/recipes.md", encoding: .utf8)
    #expect(
      Set(text.matches(of: /(?m)^\| `([a-z_]+)` \|/).map { String($0.1) }) == schema.names)
    // The check itself finds faults.
    let wrong: [String: Any] = ["version": 2, "averages": [["fuel": 1, "more": 1]]]
    #expect(schema.faults(of: wrong, as: "place").count == 17)
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
      let words = try run(["status"], target).out
      #expect(words.contains("qld-fpd") && words.contains("aggregate      last good 0 s ago"))
    }
  }

  /// F-O18: for an instant before the newest run, `show` leaves out what is kept of the present only,
  /// and says so.
  @Test func aPastInstantShowsNothingOfThePresent() async throws {
    let market = try await PlayedMarket.database()
    let present = try #require(Instant(iso: market.now[1]))
    let before = try CommandTests.run(
      ["show", "perth", "--now", "2016-08-01T00:00:00Z"], on: market.target)
    #expect(before.code == 0 && before.out.contains("Give another --now"), "\(before)")
    let ahead = try CommandTests.run(
      ["show", "perth", "--now", "2100-01-01T00:00:00Z"], on: market.target)
    #expect(ahead.code == 0 && ahead.out.contains("No average here"), "\(ahead)")
    let past = present + .seconds(-5 * 86_400)
    for place in [[], ["perth"]] {
      let now = try CommandTests.run(["show"] + place + market.now, on: market.target)
      #expect(now.out.contains(/[▲▼]/) && now.out.contains("today so far"), "\(now)")
      #expect(!now.out.contains("are left out:"), "\(now)")
      let then = try CommandTests.run(["show"] + place + ["--now", "\(past)"], on: market.target)
      #expect(then.code == 0 && then.out.contains("U91"), "\(then)")
      #expect(!then.out.contains(/[▲▼]|  then |Tomorrow, where|today so far/), "\(then)")
      #expect(
        then.out.contains("Changes over 24 hours and prices of tomorrow are left out:"), "\(then)")
      let json = try CommandTests.run(
        ["show", "--json"] + place + ["--now", "\(past)"], on: market.target)
      #expect(json.out.contains("\"average_cpl\""), "\(json)")
      #expect(!json.out.contains(/"(change_24h_cpl|next_price_cpl)" ?: ?[-0-9]/), "\(json)")
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
      let words = try #require(line.split(separator: "Run: ").last).split(separator: "; ")
      try #require(words.count == 2 && words[0].hasPrefix("REVOKE"), "\(line)")
      try Connection(target).execute("\(words[0])")
      #expect(try run(["doctor"], target).out.contains("FAIL  rights on the database"))
      try Connection(target).execute("\(words[1])")
      #expect(try !run(["doctor"], target).out.contains("rights on the database"))
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
      var written = ""
      for words in [
        ["ingest", "--all", "--verbose", "--summary", "--record", folder + "-recorded"],
        ["report", "--out", folder], ["metrics"], ["status", "--json"], ["config", "show"],
        ["doctor"], ["export", "ingest_runs"], ["export", "rejects"],
      ] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now + .seconds(7_200))"], on: target,
          environment: providers.environment.merging(["BOWSER_LOG_LEVEL": "debug"]) { $1 })
        #expect(result.code == 0, "\(words) \(result.err)")
        written += result.out + result.err
      }
      for path in [folder, folder + "-recorded"] {
        for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
          if let data = FileManager.default.contents(atPath: "\(path)/\(file)") {
            written += String(decoding: data, as: UTF8.self)
          }
        }
      }
      let dump = try await tool("pg_dump", ["--dbname", target])
      #expect(dump.code == 0 && dump.out.count > 100_000)
      written += dump.out
      for key in keys { #expect(!written.contains(key)) }
      // The search does find text that is there.
      #expect(written.contains("qld-fpd"))
    }
  }

  @Test func theManualCoversEveryCommand() async throws {
    let folder = temporary()
    let program = CommandTests.process([], "", [:]).executableURL?.path ?? ""
    let made = try await tool("\(IntegrationTests.root)/contrib/manual", [program, folder])
    #expect(made.code == 0, "\(made.err)")
    let overview = try CommandTests.run(["--help"]).out
    let commands = overview.split(separator: "\n").filter {
      $0.hasPrefix("  ") && !$0.hasPrefix("  --")
    }
    .map { String($0.split(separator: " ")[0]) }
    #expect(commands.count >= 16)
    for command in commands {
      let page = try String(
        contentsOfFile: "\(folder)/bowser-\(command).1", encoding: .utf8)
      let help = try CommandTests.run([command, "--help"]).out
      for match in help.matches(of: /(?m)^  --([a-z-]+)/) {
        let option = String(match.1)
        #expect(
          page.contains("\\-\(option.replacing("-", with: "\\-"))"),
          "\(command) \(option)")
      }
    }
    #expect(
      try CommandTests.run(["--version"]).out.wholeMatch(
        of: /bowser [0-9.]+ \(([0-9a-f]+\+?|unknown)\)\n/)
        != nil)
  }
}
