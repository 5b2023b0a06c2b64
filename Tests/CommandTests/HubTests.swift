import Configuration
import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// A hub over two members, beside one database of everything: the same recordings and archives in
/// both. All four databases belong to the server of the tests.
struct HubTests {
  private static let newest = "2026-07-01T10:00:00Z"
  private static let clocks = [
    "2026-07-01T10:05:00Z", "2026-07-02T04:30:00Z", "2026-07-06T20:00:00Z",
  ]
  private static let members = [
    (
      name: "member_1", number: 1, states: "NSW, ACT, QLD, TAS",
      feeds: ["nsw-fuelcheck", "qld-fpd", "tas-fuelcheck"],
      archives: ["nsw-fuelcheck", "qld-fuel-prices"]
    ),
    (
      name: "member_2", number: 2, states: "VIC, SA, WA, NT",
      feeds: ["vic-fairfuel", "sa-fpd", "wa-fuelwatch", "nt-myfuel"], archives: ["wa-fuelwatch"]
    ),
  ]

  /// The databases of a test: libpq targets.
  private struct Databases {
    var members: [String]
    var hub: String
    var reference: String
    /// The configuration folder of the hub.
    var config: String

    var all: [String] { [reference] + members }
  }

  private func with(_ body: (Databases) async throws -> Void) async throws {
    try await TestDatabase.with { one in
      try await TestDatabase.with { two in
        try await TestDatabase.with { hub in
          try await TestDatabase.with { reference in
            let config = try Self.config(
              Self.members.map {
                "{ member: '\($0.name)', number: \($0.number), states: '\($0.states)' }"
              })
            defer { try? FileManager.default.removeItem(atPath: config) }
            let databases = Databases(
              members: [one, two], hub: hub, reference: reference, config: config)
            try lead(databases)
            try await body(databases)
          }
        }
      }
    }
  }

  /// Returns a copy of the configuration whose `hub.json5` has these entries.
  private static func config(_ entries: [String]) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    try "[\(entries.joined(separator: ",\n"))]"
      .write(toFile: "\(folder)/hub.json5", atomically: false, encoding: .utf8)
    return folder
  }

  private func run(_ words: String..., on target: String, config: String = CommandTests.config)
    throws -> CommandTests.Result
  {
    try CommandTests.run(words, on: target, environment: ["BOWSER_CONFIG": config])
  }

  /// Runs the SQL of docs/operating.md, with the server and databases of the test for those of the
  /// page.
  private func lead(_ databases: Databases) throws {
    let page = try DocumentTests.blocks("docs/operating.md", "sql").map(\.text)
    let login = try #require(page.first { $0.contains("CREATE ROLE hub") })
    let servers = try #require(page.first { $0.contains("CREATE SERVER member_1") })
    let environment = ProcessInfo.processInfo.environment
    let hub = try Connection(databases.hub)
    let user = try #require(try hub.lines("SELECT current_user").first)
    // Another test makes the role of the page.
    try? hub.execute(login.replacing("ROLE hub", with: "ROLE hub_of_tests"))
    var text = servers.replacing("one.example", with: environment["PGHOST"] ?? "")
      .replacing("two.example", with: environment["PGHOST"] ?? "")
      .replacing("port '5432'", with: "port '\(environment["PGPORT"] ?? "5432")'")
      .replacing("sslmode 'verify-full', sslrootcert 'system',", with: "")
      // The server of the tests trusts everybody, which only a superuser may use.
      .replacing("password 'secret'", with: "password_required 'false'")
      .replacing("user 'hub'", with: "user 'hub_of_tests'")
      .replacing("FOR bowser", with: "FOR \(user)").replacing("TO bowser", with: "TO \(user)")
    for target in databases.members {
      let range = try #require(text.range(of: "dbname 'bowser'"))
      text.replaceSubrange(range, with: "dbname '\(target.dropFirst("dbname=".count))'")
    }
    try hub.execute(text)
  }

  /// Stores the same recordings and archives in the reference and, by state, in the members.
  private func fill(_ databases: Databases) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for words in [
      ["simulate", "record", "--out", folder + "/now", "--days", "4", "--every", "24"],
      ["simulate", "archive", "--out", folder + "/past", "--days", "75"],
    ] {
      let made = try CommandTests.run(
        words + ["--stations", "60", "--seed", "7", "--now", Self.newest])
      #expect(made.code == 0, "\(made.err)")
    }
    for (target, feeds, archives) in zip(databases.members, Self.members).map({
      ($0, $1.feeds, $1.archives)
    }) + [(databases.reference, Self.members.flatMap(\.feeds), Self.members.flatMap(\.archives))] {
      for archive in archives {
        let loaded = try run(
          "backfill", archive, "\(folder)/past/\(archive)", "--now", Self.newest, on: target)
        #expect(loaded.code == 0, "\(loaded.err)")
      }
      let read = try CommandTests.run(
        ["ingest"] + feeds + ["--replay", folder + "/now", "--now", Self.newest], on: target)
      #expect(read.code == 0, "\(read.err)")
    }
  }

  /// Brings all databases up to a clock. The hub has no other clock than that of its server, so its
  /// function is replaced, and members have theirs by a setting of the database.
  private func advance(_ databases: Databases, to now: String) throws {
    for target in databases.all {
      let made = try run("aggregate", "--now", now, on: target)
      #expect(made.code == 0, "\(made.err)")
      try Connection(target).execute(
        "ALTER DATABASE \(target.dropFirst("dbname=".count)) SET bowser.now = '\(now)'")
    }
    let hub = try Connection(databases.hub)
    try hub.execute(
      """
      CREATE OR REPLACE FUNCTION fuel.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
      RETURN '\(now)'::timestamptz
      """)
    _ = try aggregate(databases, hub, at: now).run()
  }

  private func aggregate(
    _ databases: Databases, _ hub: Connection, at now: String
  ) throws -> Aggregate {
    try Aggregate(
      store: Store(hub), regions: regions(file: databases.config + "/regions.json5"),
      brands: brands(file: databases.config + "/brands.json5"),
      events: marketEvents(file: databases.config + "/events.json5"),
      clock: .fixed(Instant(now)), log: Logger(.error))
  }

  /// Returns the rows of a view or function as sorted texts. Numbers depend on the order of arrival,
  /// so what they stand for is compared.
  private func rows(_ what: String, _ connection: Connection) throws -> [String] {
    try connection.lines(
      SQL(
        stringLiteral: """
          SELECT (
            to_jsonb(shown) - 'change_number' || jsonb_strip_nulls(jsonb_build_object(
              'station_id', station.code, 'record_id', record.code, 'run_id', run.code,
              'replaces_run_id', replaced.code)))::text AS line
          FROM (SELECT * FROM \(what)) AS shown
          LEFT JOIN pg_temp.code AS station
            ON station.what = 'station' AND station.number = (to_jsonb(shown) ->> 'station_id')::integer
          LEFT JOIN pg_temp.code AS record
            ON record.what = 'station' AND record.number = (to_jsonb(shown) ->> 'record_id')::integer
          LEFT JOIN pg_temp.code AS run
            ON run.what = 'run' AND run.number = (to_jsonb(shown) ->> 'run_id')::integer
          LEFT JOIN pg_temp.code AS replaced
            ON replaced.what = 'run' AND replaced.number = (to_jsonb(shown) ->> 'replaces_run_id')::integer
          """)
    ).sorted()
  }

  /// Notes what the numbers of a database stand for.
  private func decode(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TEMPORARY TABLE code AS
      SELECT 'station' AS what, record_id AS number, source || ' ' || source_station_code AS code
      FROM fuel_v1.station_records
      UNION ALL
      SELECT 'run', run_id, source || ' '
        || row_number() OVER (PARTITION BY source ORDER BY taken_at, started_at, run_id)
      FROM fuel_v1.ingest_runs;
      ANALYZE pg_temp.code
      """)
  }

  private static let calls = [
    "average_at('AU', 'U91', '2026-07-01T08:00Z')", "average_at('AU', 'DL', '2026-05-10T08:00Z')",
    "average_at('perth', 'U91', '2026-05-10T08:00Z')", "average_at('nowhere', 'U91', now())",
    "trend('AU', 'U91', 40)", "trend('sydney', 'U91', 40)", "trend_summary('AU', 'U91', 30)",
    "trend_summary('brisbane', 'P98', 30)", "stations_near(-31.95, 115.86, 4000)",
    "prices_near(-33.87, 151.2, 'U91', 500)", "region_days('AU', '2026-05-01', '2026-05-04')",
    "region_days('perth', '2026-05-01', '2026-06-02')",
    "prices_between('2026-06-28', '2026-07-01T09:00Z')",
  ]

  /// Compares everything that is published, but for what speaks of a database itself.
  private func expectEqual(
    _ databases: Databases, at now: String, only: [String]? = nil
  ) throws {
    let (hub, reference) = (try Connection(databases.hub), try Connection(databases.reference))
    for connection in [hub, reference] { try decode(connection) }
    let views = try reference.lines(
      """
      SELECT viewname FROM pg_views
      WHERE schemaname = 'fuel_v1' AND viewname NOT IN ('pipeline', 'aggregate_runs') ORDER BY 1
      """)
    #expect(views.count > 30)
    for what in only ?? views + Self.calls {
      let expected = try rows("fuel_v1.\(what)", reference)
      let difference = firstDifference(try rows("fuel_v1.\(what)", hub), expected)
      #expect(difference == nil, "\(what) at \(now): \(difference ?? "")")
    }
    // The function of one station takes its number.
    let station =
      "SELECT number FROM pg_temp.code WHERE what = 'station' AND code LIKE 'wa-fuelwatch %' ORDER BY code"
    func price(_ connection: Connection) throws -> [String] {
      try connection.lines(
        SQL(
          stringLiteral:
            "SELECT fuel_v1.price_at(number, 'U91', '2026-06-30T01:00Z') FROM (\(station) LIMIT 20) AS s"
        ))
    }
    #expect(try price(hub) == price(reference))
    #expect(try hub.lines("SELECT count(*) FROM fuel_v1.aggregate_runs") != ["0"])
  }

  private func plan(_ statement: String, _ connection: Connection) throws -> String {
    try connection.lines(SQL(stringLiteral: "EXPLAIN (VERBOSE, COSTS OFF) " + statement))
      .joined(separator: "\n")
  }

  /// A month of one state is asked of one member, with its join.
  private func expectShipped(_ hub: Connection) throws {
    for statement in [
      """
      SELECT * FROM fuel_v1.price_changes JOIN fuel_v1.stations USING (station_id)
      WHERE state = 'NSW' AND fuel = 'U91' AND changed_at > (SELECT now() - interval '30 days')
      """,
      """
      SELECT * FROM fuel_v1.current_prices JOIN fuel_v1.region_stations USING (station_id)
      WHERE region = 'perth' AND fuel = 'U91'
      """,
      """
      SELECT suburb, avg(average_cpl) FROM fuel_v1.station_days JOIN fuel_v1.stations USING (station_id)
      WHERE state = 'QLD' AND fuel = 'U91' AND month_on = '2026-05-01' GROUP BY suburb
      """,
      """
      SELECT * FROM fuel_v1.price_history AS h JOIN fuel_v1.stations AS s USING (station_id)
      WHERE s.state = 'TAS' AND h.valid_from_at > '2026-06-01'
      """,
      """
      SELECT * FROM fuel_v1.station_fill_up JOIN fuel_v1.current_prices USING (station_id, fuel)
      WHERE state = 'WA' AND fuel = 'U91'
      """,
    ] {
      let plan = try plan(statement, hub)
      #expect(plan.components(separatedBy: "Foreign Scan").count == 2, "\(statement)\n\(plan)")
      #expect(plan.contains("INNER JOIN"), "\(statement)\n\(plan)")
    }
  }

  /// What a session sets for itself must not change what members are asked (F-O65).
  private func expectSame(_ hub: Connection) throws {
    let questions: [SQL] = [
      "SELECT sum(price_cpl) FROM fuel_v1.prices_between('2026-06-04T00:00Z', '2026-06-05T00:00Z')",
      "SELECT fuel_v1.average_at('AU', 'U91', '2026-06-04T00:00Z')",
      "SELECT count(*) FROM fuel_v1.price_changes WHERE changed_at < '2026-06-04T00:00Z'",
      "SELECT sum(average_cpl) FROM fuel_v1.region_days('QLD', '2026-05-04', '2026-05-05')",
    ]
    let expected = try questions.map { try hub.lines($0) }
    try hub.execute(
      "SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Australia/Perth'; SET IntervalStyle = 'sql_standard'"
    )
    // The questions themselves are written in ISO 8601, which every style reads.
    #expect(try questions.map { try hub.lines($0) } == expected)
    try hub.execute("RESET DateStyle; RESET TimeZone; RESET IntervalStyle")
  }

  @Test(.long) func aHubAnswersAsOneDatabase() async throws {
    try await with { databases in
      for (target, member) in zip(databases.members, Self.members) {
        let numbered = try run("migrate", "--member", "\(member.number)", on: target)
        #expect(numbered.code == 0, "\(numbered.err)")
      }
      try fill(databases)
      let made = try run("hub", on: databases.hub, config: databases.config)
      #expect(made.code == 0 && made.out.contains("ok    member_2"), "\(made.out)\(made.err)")
      for now in Self.clocks {
        try advance(databases, to: now)
        try expectEqual(databases, at: now)
      }
      let hub = try Connection(databases.hub)
      try expectShipped(hub)
      try expectSame(hub)
      try expectRebuild(databases)
      try expectDownAndBack(databases)
      try await expectAnother(databases)
      try expectNewer(databases)
    }
  }

  /// A rebuild from a day on makes these days again and leaves the earlier ones.
  private func expectRebuild(_ databases: Databases) throws {
    let hub = try Connection(databases.hub)
    let days: SQL = "SELECT * FROM fuel_v1.daily_averages WHERE region = 'AU' ORDER BY fuel, day"
    let expected = try hub.lines(days)
    #expect(expected.count > 50)
    try hub.execute("UPDATE fuel.daily_rollup SET stations = 1 WHERE day > '2026-06-20'")
    _ = try aggregate(databases, hub, at: Self.clocks[2])
      .run(rebuild: true, from: Day("2026-06-15"))
    #expect(firstDifference(try hub.lines(days), expected) == nil)
  }

  /// Gives members the clock of the server again.
  private func resetClocks(_ databases: Databases) throws {
    for target in databases.members {
      try Connection(target).execute(
        "ALTER DATABASE \(target.dropFirst("dbname=".count)) RESET bowser.now")
    }
  }

  /// A member that does not answer stops what needs it, with its name, and nothing else. A person
  /// takes it out and back, and the nation is never made without it in silence (F-O66).
  private func expectDownAndBack(_ databases: Databases) throws {
    try resetClocks(databases)
    var hub = try Connection(databases.hub)
    let nation: SQL = "SELECT * FROM fuel_v1.daily_averages WHERE region = 'AU' ORDER BY fuel, day"
    let before = try hub.lines(nation)
    let there = databases.members[1].dropFirst("dbname=".count)
    try hub.execute("ALTER SERVER member_2 OPTIONS (SET dbname 'nowhere')")
    for healthy: SQL in [
      nation, "SELECT * FROM fuel_v1.averages_now WHERE region = 'NSW'",
      "SELECT * FROM fuel_v1.current_prices JOIN fuel_v1.region_stations USING (station_id) WHERE region = 'sydney'",
      "SELECT * FROM fuel_v1.stations WHERE state = 'QLD'", "SELECT * FROM fuel_v1.regions",
      "SELECT * FROM fuel_v1.price_history WHERE station_id = 1",
      "SELECT * FROM fuel_v1.trend('AU', 'U91', 30)",
      "SELECT fuel_v1.average_at('QLD', 'U91', '2026-06-30')",
      "SELECT * FROM fuel_v1.fill_up WHERE region = 'brisbane'",
      "SELECT * FROM fuel_v1.station_comparison WHERE region = 'hobart'",
      "SELECT * FROM fuel_v1.fuels",
      "SELECT * FROM fuel_v1.brand_daily WHERE region = 'sydney' AND month_on = '2026-05-01'",
    ] { #expect(throws: Never.self) { try hub.lines(healthy) } }
    #expect {
      try hub.lines("SELECT * FROM fuel_v1.averages_now WHERE region = 'AU'")
    } throws: {
      "\($0)".contains("member_2")
    }
    let doctor = try run("doctor", on: databases.hub, config: databases.config)
    #expect(
      doctor.code == 78
        && doctor.out.contains(
          /FAIL  member_2 +does not answer: .*"nowhere" does not exist/),
      "\(doctor)")
    for (words, code, why) in [
      (["aggregate"], 75, "member_2 does not answer"), (["hub"], 78, "member_2 does not answer"),
      (["hub", "join", "member_2"], 78, "member_2 does not answer"),
      (["hub", "leave", "member_3"], 78, "the members are member_1, member_2"),
      (["hub", "leave", "member_2"], 0, ""), (["hub", "leave", "member_1"], 78, "last member"),
      (["aggregate"], 78, "member_2 is out"),
    ] as [([String], Int32, String)] {
      let ended = try CommandTests.run(
        words, on: databases.hub, environment: ["BOWSER_CONFIG": databases.config])
      #expect(ended.code == code && (why.isEmpty || ended.err.contains(why)), "\(words): \(ended)")
    }
    hub = try Connection(databases.hub)
    #expect(
      try hub.lines("SELECT DISTINCT state FROM fuel_v1.stations ORDER BY 1") == [
        "ACT", "NSW", "QLD", "TAS",
      ])
    #expect(try hub.lines("SELECT FROM fuel_v1.averages_now WHERE region = 'AU'").isEmpty)
    #expect(try hub.lines("SELECT fuel_v1.average_at('AU', 'U91', '2026-06-30')") == ["NULL"])
    #expect(
      try hub.lines("SELECT FROM fuel_v1.region_days('AU', '2026-05-01', '2026-05-04')").isEmpty)
    #expect(firstDifference(try hub.lines(nation), before) == nil)
    // Back again, and equal.
    try hub.execute("ALTER SERVER member_2 OPTIONS (SET dbname '\(there)')")
    let joined = try run("hub", "join", "member_2", on: databases.hub, config: databases.config)
    #expect(joined.code == 0 && joined.out.contains("ok    member_2"), "\(joined)")
    try advance(databases, to: Self.clocks[2])
    try expectEqual(
      databases, at: "the end",
      only: ["current_prices", "daily_averages", "averages_now", "coverage", "fill_up"])
  }

  /// F-O71: a member that is another database than before: one restored to an earlier state, the hub.
  /// A region that the hub does not know yet, and how old the nation is.
  private func expectAnother(_ databases: Databases) async throws {
    try resetClocks(databases)
    let hub = try Connection(databases.hub)
    let there = databases.members[1].dropFirst("dbname=".count)
    func expect(_ words: [String], _ code: Int32, _ why: String, config: String) throws {
      let ended = try CommandTests.run(
        words, on: databases.hub, environment: ["BOWSER_CONFIG": config])
      #expect(
        ended.code == code && (why.isEmpty || (ended.out + ended.err).contains(why)),
        "\(words): \(ended)")
    }
    let nation: SQL = "SELECT * FROM fuel_v1.daily_averages WHERE region = 'AU' ORDER BY fuel, day"
    let before = try hub.lines(nation)
    try await TestDatabase.with { empty in
      #expect(try run("migrate", "--member", "2", on: empty).code == 0)
      try hub.execute(
        "ALTER SERVER member_2 OPTIONS (SET dbname '\(empty.dropFirst("dbname=".count))')")
      try expect(["aggregate"], 78, "member_2 has gone back to before", config: databases.config)
    }
    try hub.execute(
      "ALTER SERVER member_2 OPTIONS (SET dbname '\(databases.hub.dropFirst("dbname=".count))')")
    try expect(["hub"], 78, "leads to the hub itself", config: databases.config)
    try hub.execute(
      "ALTER SERVER member_2 OPTIONS (SET dbname '\(there)'); ALTER SERVER member_2 OPTIONS (DROP connect_timeout)"
    )
    try expect(["doctor"], 0, "lacks the option connect_timeout", config: databases.config)
    try hub.execute("ALTER SERVER member_2 OPTIONS (ADD connect_timeout '3')")
    #expect(firstDifference(try hub.lines(nation), before) == nil)

    let config = try Self.config([])
    defer { try? FileManager.default.removeItem(atPath: config) }
    let file = config + "/regions.json5"
    let regions = try String(contentsOfFile: file, encoding: .utf8)
    let end = try #require(regions.lastIndex(of: "]"))
    try
      (regions[..<end]
      + "{ region: 'new', name: 'New', kind: 'area', state: 'NSW', centre: { latitude: -33.9, longitude: 151 }, radiusKilometres: 20 }]")
      .write(toFile: file, atomically: true, encoding: .utf8)
    try expect(["aggregate"], 78, "the region new is new: run bowser hub", config: config)
    try expect(["aggregate"], 0, "", config: databases.config)

    let age: SQL = "SELECT aggregated_at < '2026-07-01' FROM fuel_v1.pipeline"
    #expect(try hub.lines(age) == ["f"])
    try hub.execute(
      "UPDATE fuel.aggregate_run SET finished_at = '2026-06-30' WHERE outcome = 'done'")
    #expect(try hub.lines(age) == ["t"])
  }

  /// Members are upgraded first: one more column does no harm, and one too few is told.
  private func expectNewer(_ databases: Databases) throws {
    try resetClocks(databases)
    try Connection(databases.members[0]).execute(
      """
      DO $$ BEGIN
        EXECUTE 'CREATE OR REPLACE VIEW fuel_v1.station_history AS SELECT shown.*, 1 AS newer FROM ('
          || rtrim(pg_get_viewdef('fuel_v1.station_history'::regclass), ';') || ') AS shown';
      END $$
      """)
    try Connection(databases.members[0]).execute(
      """
      ALTER FUNCTION fuel_v1.region_days RENAME TO older_region_days;
      DO $$ BEGIN
        EXECUTE (
          SELECT format(
            'CREATE FUNCTION fuel_v1.region_days(%s) RETURNS TABLE (%s, newer integer) LANGUAGE sql STABLE AS '
            '''SELECT shown.*, 1 FROM fuel_v1.older_region_days($1, $2, $3) AS shown''',
            pg_get_function_arguments(oid), substring(pg_get_function_result(oid) FROM '^TABLE\\((.*)\\)$'))
          FROM pg_proc WHERE oid = 'fuel_v1.older_region_days'::regproc);
      END $$
      """)
    let hub = try Connection(databases.hub)
    #expect(
      try !hub.lines("SELECT FROM fuel_v1.region_days('QLD', '2026-05-01', '2026-05-04')").isEmpty)
    let count: SQL = "SELECT count(*) FROM fuel_v1.station_history"
    let expected = try Connection(databases.reference).lines(count)
    #expect(try hub.lines(count) == expected)
    let made = try run("hub", on: databases.hub, config: databases.config)
    #expect(made.code == 0, "\(made)")
    try Connection(databases.members[1]).execute(
      "ALTER VIEW fuel_v1.station_history RENAME COLUMN details TO detail")
    let refused = try run("hub", on: databases.hub, config: databases.config)
    #expect(
      refused.code == 78 && refused.err.contains("lacks station_history.details"), "\(refused)")
    try Connection(databases.members[1]).execute(
      "ALTER VIEW fuel_v1.station_history RENAME COLUMN detail TO details")
    // A migration of the hub keeps it one.
    try hub.execute(
      "DELETE FROM fuel.migration WHERE name = 'views/prices.sql'; DELETE FROM fuel.program")
    #expect(try run("migrate", on: databases.hub, config: databases.config).code == 0)
    #expect(try Connection(databases.hub).lines(count) == expected)
  }

  /// What is no hub yet, or must not be one, and what a hub does not do (F-O67, F-O68, F-O69).
  @Test func aHubRefusesWhatBelongsToMembers() async throws {
    try await with { databases in
      let (one, two, hub) = (databases.members[0], databases.members[1], databases.hub)
      func expect(
        _ words: [String], _ code: Int32, _ why: String, on target: String, config: String
      )
        throws
      {
        let ended = try CommandTests.run(words, on: target, environment: ["BOWSER_CONFIG": config])
        #expect(
          ended.code == code && (why.isEmpty || ended.err.contains(why)), "\(words): \(ended)")
      }
      let (config, shipped) = (databases.config, CommandTests.config)
      try expect(["migrate", "--member", "0"], 64, "from 1 to 200", on: two, config: shipped)
      try expect(["hub", "leave"], 64, "leave NAME", on: hub, config: config)
      try expect(["hub"], 78, "names no member", on: hub, config: shipped)
      for (entry, why) in [
        ("{ member: 'member_2', number: 2, states: 'SA, XX' }", "'states' must be states"),
        ("{ member: 'member_2', number: 1, states: 'SA' }", "'number' must be of no other member"),
        ("{ member: 'member_2', number: 2, states: 'NSW' }", "'states' must be of no other member"),
      ] {
        let wrong = try Self.config(["{ member: 'member_1', number: 1, states: 'NSW' }", entry])
        defer { try? FileManager.default.removeItem(atPath: wrong) }
        try expect(["hub"], 78, why, on: hub, config: wrong)
      }
      // The second member has no numbers of its own yet.
      try expect(["hub"], 78, "of member 1, but hub.json5 states 2", on: hub, config: config)
      #expect(try Connection(hub).lines("SELECT count(*) FROM fuel.member") == ["0"])
      try expect(["migrate", "--member", "2"], 0, "", on: two, config: shipped)
      try expect(["migrate", "--member", "2"], 0, "", on: two, config: shipped)
      try expect(
        ["ingest", "wa-fuelwatch", "--replay", CommandTests.recording], 0, "", on: two,
        config: shipped)
      try expect(
        ["migrate", "--member", "3"], 78, "has the numbers of member 2", on: two, config: shipped)
      #expect(
        try Connection(two).lines(
          "SELECT min(station_id), min(run_id), max(change_number) FROM fuel_v1.changes")
          == ["10000001|10000001|1000000000001"])
      try expect(["hub"], 78, "has runs of its own", on: two, config: config)
      try expect(["hub"], 0, "", on: hub, config: config)
      // It has runs, and no day of it is made yet: the nation would lack it in silence.
      try expect(
        ["aggregate"], 78, "member_2 has runs and was never aggregated", on: hub, config: config)
      try expect(["aggregate", "--now", Self.clocks[0]], 0, "", on: two, config: shipped)
      try expect(["aggregate"], 0, "", on: hub, config: config)

      let fewer = try Self.config(["{ member: 'member_1', number: 1, states: 'NSW' }"])
      defer { try? FileManager.default.removeItem(atPath: fewer) }
      try expect(
        ["hub"], 78, "hub.json5 does not name member_2", on: hub, config: fewer)
      for job in [
        ["ingest", "wa-fuelwatch", "--replay", CommandTests.recording],
        ["withdraw", "1", "--reason", "a test"],
        ["verify"], ["backtest"], ["gaps"], ["stations", "--doubtful"],
        ["migrate", "--member", "3"],
        ["aggregate", "--now", Self.clocks[0]], ["aggregate", "--as-of", Self.clocks[0]],
        ["show", "perth", "--now", Self.clocks[0]],
      ] { try expect(job, 78, "", on: hub, config: config) }
      for words in [["status"], ["metrics"], ["show"], ["export", "stations"]] {
        try expect(words, 0, "", on: hub, config: config)
      }
      let reader = try Connection(hub)
      try reader.execute("SET ROLE fuel_reader; SET bowser.now = '2026-07-01T10:05:00Z'")
      for view in ["current_prices", "averages_now", "feed_health", "pipeline", "trend_30d"] {
        #expect {
          try reader.lines(SQL(stringLiteral: "SELECT * FROM fuel_v1.\(view)"))
        } throws: {
          "\($0)".contains("this database is a hub")
        }
      }
      for call in ["average_at('WA', 'U91', now())", "prices_between(now(), now())"] {
        #expect {
          try reader.lines(SQL(stringLiteral: "SELECT * FROM fuel_v1.\(call)"))
        } throws: {
          "\($0)".contains("this database is a hub")
        }
      }
      try reader.execute("RESET bowser.now")
      #expect(try reader.lines("SELECT count(*) > 0 FROM fuel_v1.stations") == ["t"])
      // Any plan names its member.
      #expect(try reader.lines("SHOW plan_cache_mode") == ["force_custom_plan"])
      // A schema of somebody else stays.
      try Connection(hub).execute("COMMENT ON SCHEMA hub IS 'mine'")
      try expect(["hub"], 78, "there is a schema hub that is not Bowser's", on: hub, config: config)
      try Connection(hub).execute("COMMENT ON SCHEMA hub IS 'Made by bowser hub.'")
      // Readers cannot use the hub's way to members for statements of their own.
      for statement: SQL in [
        "SELECT * FROM public.dblink('member_1', 'SELECT 1') AS a (b integer)",
        "SELECT * FROM hub.price_now", "SELECT fuel.ask_member('member_1', 'SELECT 1')",
      ] { #expect(throws: PostgresError.self) { try reader.lines(statement) } }
      let doctor = try CommandTests.run(["doctor"], on: hub, environment: ["BOWSER_CONFIG": config])
      #expect(
        doctor.out.contains("ok    member_1") && !doctor.out.contains("nsw-fuelcheck"), "\(doctor)")
      _ = one
    }
  }
}
