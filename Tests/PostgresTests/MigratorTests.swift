import Foundation
import Postgres
import TestDatabase
import Testing

struct MigratorTests {
  @Test func aSecondRunHasNothingToDo() async throws {
    try await TestDatabase.withEmpty { target in
      let migrator = Migrator(try Connection(target))
      #expect(throws: Migrator.Refusal.self) { try migrator.verify() }
      #expect(try migrator.up().count > 20)
      #expect(try migrator.up().isEmpty)
      try migrator.verify()
    }
  }

  /// F-M06: an edited file and a newer database are refused.
  @Test func whatDoesNotMatchIsRefused() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let migrator = Migrator(connection)
      try connection.execute(
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name = 'routines/clock.sql'")
      #expect(throws: Migrator.Refusal.pending(["routines/clock.sql"])) { try migrator.verify() }
      #expect(try migrator.up() == ["routines/clock.sql"])
      try connection.execute(
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name LIKE '0003%'")
      #expect(throws: Migrator.Refusal.edited("0003_create_station.sql")) { try migrator.up() }
      try connection.execute(
        """
        DELETE FROM fuel.migration WHERE name LIKE '0003%';
        INSERT INTO fuel.migration VALUES ('9999_future.sql', repeat('0', 64), now())
        """)
      let error = #expect(throws: Migrator.Refusal.self) { try migrator.verify() }
      #expect("\(error!)".contains("9999"))
    }
  }

  /// F-M06: views and functions that somebody dropped are made again, with their rights. A table is
  /// not, because its rows are lost.
  @Test func whatWasDroppedIsMissed() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let migrator = Migrator(connection)
      let rights: SQL = """
        SELECT relname, relacl::text FROM pg_class
        WHERE relnamespace::regnamespace::text IN ('fuel', 'fuel_v1') AND relkind = 'v'
        UNION ALL
        SELECT oid::regprocedure::text, proacl::text FROM pg_proc
        WHERE pronamespace::regnamespace::text IN ('fuel', 'fuel_v1')
        ORDER BY 1, 2
        """
      let before = try connection.lines(rights)
      try connection.execute("DROP VIEW fuel_v1.averages_now")
      let dropped = Migrator.Refusal.damaged(["view fuel_v1.averages_now"], isMendable: true)
      #expect(throws: dropped) { try migrator.verify() }
      #expect(
        dropped.description
          == "the schema is damaged: view fuel_v1.averages_now is missing: run bowser migrate")
      #expect(try migrator.up() == ["views/averages_now.sql"])
      try migrator.verify()
      try connection.execute("DROP FUNCTION fuel.minimum_stations CASCADE")
      #expect(throws: Migrator.Refusal.self) { try migrator.verify() }
      #expect(try migrator.up().count > 1)
      try migrator.verify()
      #expect(try connection.lines(rights) == before)
      try connection.execute("DROP TABLE fuel.notice")
      let lost = Migrator.Refusal.damaged(["table fuel.notice"], isMendable: false)
      #expect(throws: lost) { try migrator.verify() }
      #expect(throws: lost) { try migrator.up() }
      #expect(
        "\(lost)".hasSuffix("table fuel.notice is missing: restore a backup, see docs/operating.md")
      )
    }
  }

  /// A schema `fuel` of another program is left alone.
  @Test(arguments: ["fuel", "fuel_v1"])
  func aForeignSchemaIsLeftAlone(schema: String) async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      try connection.execute("CREATE SCHEMA \(schema)")
      let refusal = Migrator.Refusal.foreign(schema: schema)
      #expect(throws: refusal) { try Migrator(connection).up() }
      #expect(
        refusal.description
          == "the database has a schema \(schema) that bowser did not make: name another database")
    }
  }

  /// F-M06: a database that was migrated with a known earlier text of a file is accepted. Any other
  /// text is refused.
  @Test func earlierTextsAreKnown() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let migrator = Migrator(connection)
      try connection.execute(
        """
        DELETE FROM fuel.program;
        UPDATE fuel.migration SET
          sha256 = '4ce5c5d5dfc5527f586254547d8596648c07427be22c40a85ad20f4fc69f08b1'
        WHERE name = '0023_days_in_bytes.sql';
        UPDATE fuel.migration SET
          sha256 = '748a8de73e2878479e05fa2f0dd3f80e5e15d24e0eca529b8e9d894c70c8c3a2'
        WHERE name = '0025_bound_by_time.sql';
        UPDATE fuel.migration SET
          sha256 = '452f79e3c12ae4619a278e2e2f983eec9c7986c9413acc86adb1311e0921a1f4'
        WHERE name = '0026_know_by_digest.sql'
        """)
      #expect(try migrator.up() == [])
      try migrator.recognise()
      try connection.execute(
        """
        UPDATE fuel.migration SET
          sha256 = '452f79e3c12ae4619a278e2e2f983eec9c7986c9413acc86adb1311e0921a1f4'
        WHERE name = '0025_bound_by_time.sql'
        """)
      #expect(throws: Migrator.Refusal.edited("0025_bound_by_time.sql")) { try migrator.up() }
    }
  }

  /// F-M06: a command recognises its schema by one digest, and checks each file only if the digest
  /// differs. A database halfway between two versions belongs to neither.
  @Test func aProgramKnowsItsSchemaByOneDigest() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let migrator = Migrator(connection)
      try migrator.recognise()
      try connection.execute("UPDATE fuel.program SET digest = repeat('0', 16)")
      try migrator.recognise()
      try connection.execute(
        """
        UPDATE fuel.migration SET sha256 = repeat('0', 64)
        WHERE name IN ('routines/clock.sql', 'views/aggregate_runs.sql')
        """)
      #expect(throws: Migrator.Refusal.self) { try migrator.recognise() }
      // One file can be applied and the other cannot.
      let taken = "CREATE VIEW fuel_v1.aggregate_runs AS SELECT 1 AS other"
      try connection.execute(
        "UPDATE fuel.program SET digest = repeat('1', 16); DROP VIEW fuel_v1.aggregate_runs CASCADE; \(taken)"
      )
      #expect(throws: PostgresError.self) { try migrator.up() }
      // Either both files are applied or none, so the other file is unchanged too.
      #expect(throws: Migrator.Refusal.self) { try migrator.recognise() }
      try connection.execute("DROP VIEW fuel_v1.aggregate_runs")
      #expect(try migrator.up() == ["routines/clock.sql", "views/aggregate_runs.sql"])
      #expect(try connection.lines("SELECT count(*) FROM fuel.program") == ["1"])
      // If the digest matches, the files are not checked.
      try connection.execute(
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name LIKE '0003%'")
      try migrator.recognise()
      #expect(throws: Migrator.Refusal.edited("0003_create_station.sql")) { try migrator.verify() }
    }
  }

  /// F-M06: the ledger forgets a routine that this program no longer has. A program that still has
  /// it, at the same migration, applies it again.
  @Test func aRoutineThatIsNoLongerThereIsForgotten() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let migrator = Migrator(connection)
      let ledger: SQL = "SELECT name FROM fuel.migration ORDER BY name"
      let before = try connection.lines(ledger)
      try connection.execute(
        """
        INSERT INTO fuel.migration VALUES ('routines/gone.sql', repeat('0', 64), now());
        UPDATE fuel.program SET digest = repeat('0', 16)
        """)
      #expect(try migrator.up() == [])
      #expect(try connection.lines(ledger) == before)
      try migrator.recognise()
    }
  }

  /// F-M06: in a database of version 0.2 the history is a view over `fuel.price_event`, which no
  /// longer exists. The migration replaces both.
  @Test func aHistoryOverReportedPricesIsReplaced() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      for file in Migrator.embedded.prefix(while: { !$0.name.hasPrefix("0015") }) {
        try connection.execute(file.text)
        try connection.query(
          """
          INSERT INTO fuel.migration (name, sha256, applied_at)
          VALUES (\(file.name), encode(sha256(convert_to(\(file.text), 'UTF8')), 'hex'), now())
          """)
      }
      try connection.execute(
        """
        CREATE VIEW fuel.price_event AS SELECT station.station_id FROM fuel.station;
        CREATE VIEW fuel_v1.price_history AS
        SELECT
          price_event.station_id, NULL::text AS fuel, NULL::numeric(5, 1) AS price_cpl,
          NULL::timestamptz AS valid_from, NULL::timestamptz AS valid_to, NULL::text AS source
        FROM fuel.price_event
        """)
      let migrator = Migrator(connection)
      try migrator.up()
      try migrator.verify()
      #expect(try connection.lines("SELECT to_regclass('fuel.price_event')") == ["NULL"])
    }
  }

  /// F-M06: averages become due again if the days of stations that they were computed from are
  /// gone. They stay if an aggregate has computed those days since.
  @Test(arguments: [(daysMade: "NULL", due: ["2026-05-01"]), (daysMade: "'2026-05-02'", due: [])])
  func averagesWithoutDaysOfStationsAreDue(daysMade: String, due: [String]) async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        """
        INSERT INTO fuel.region (region, name, kind) VALUES ('AU', 'Australia', 'nation');
        INSERT INTO fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended)
        SELECT 'AU', fuel_id, '2026-05-01', 170, 170, 170, 170, 170, 10, 1, true
        FROM fuel.fuel
        WHERE fuel = 'U91';
        UPDATE fuel.state SET days_made_until = \(daysMade);
        DELETE FROM fuel.migration WHERE name LIKE '0025%'
        """)
      try Migrator(connection).up()
      #expect(try connection.lines("SELECT day::text FROM fuel.dirty_day") == due)
    }
  }

  /// F-M06: of several migrations at once, one applies a file and the others wait.
  @Test func twoAtOnceApplyEachFileOnce() async throws {
    try await TestDatabase.withEmpty { target in
      let names = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<3 {
          group.addTask {
            // The first file makes the ledger of migrations itself. A process that loses this race
            // tries again.
            for _ in 0..<5 {
              do {
                return try Migrator(try Connection(target)).up()
              } catch let error as PostgresError where error.sqlState?.hasPrefix("42") == true {
                continue
              }
            }
            return try Migrator(try Connection(target)).up()
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(names.count == Set(names).count)
      try Migrator(try Connection(target)).verify()
    }
  }

  /// F-N04, F-M08: a reader that is idle in a transaction holds up a migration, but the migration
  /// does not hold up other readers. It names the idle reader, leaves nothing behind, and succeeds once that
  /// reader has gone.
  @Test func aMigrationGivesWayToReaders() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        """
        UPDATE fuel.migration SET sha256 = repeat('0', 64)
        WHERE name IN ('routines/clock.sql', 'views/current_prices.sql');
        UPDATE fuel.program SET digest = repeat('0', 16)
        """)
      let before = try connection.lines("SELECT name, sha256 FROM fuel.migration ORDER BY name")
      let reader = try Connection(target, application: "an old reader")
      try reader.execute("BEGIN; SELECT count(*) FROM fuel_v1.current_prices")
      let blocked = #expect(throws: PostgresError.self) {
        try Migrator(Connection(target)).up(attempts: 1)
      }
      #expect(blocked?.isBlocked == true)
      // The command ends with 75, since the same migration may succeed later.
      #expect(blocked?.mayHeal == true)
      #expect("\(blocked!)".contains("an old reader"), "\(blocked!)")
      #expect(
        try connection.lines("SELECT name, sha256 FROM fuel.migration ORDER BY name") == before)
      let migrating = Task.detached { try Migrator(Connection(target)).up() }
      var slowest = Duration.zero
      for _ in 0..<12 {
        let began = ContinuousClock.now
        try connection.execute("SELECT count(*) FROM fuel_v1.current_prices")
        slowest = max(slowest, ContinuousClock.now - began)
        try await Task.sleep(for: .milliseconds(250))
      }
      // One attempt of the migration waits for less; one without an end would wait for COMMIT.
      #expect(slowest < .seconds(15), "\(slowest)")
      try reader.execute("COMMIT")
      #expect(try await migrating.value == ["routines/clock.sql", "views/current_prices.sql"])
      try Migrator(connection).verify()
    }
  }

  @Test func everySQLFileIsCompiledIn() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Migrations").standardized
    let found =
      FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".sql") } ?? []
    #expect(Set(Migrator.embedded.map(\.name)) == Set(found))
    for (name, text) in Migrator.embedded {
      #expect(try String(contentsOf: folder.appending(path: name), encoding: .utf8) == text)
    }
  }
}
