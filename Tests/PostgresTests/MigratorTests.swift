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
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name = 'schema/stations.sql'")
      #expect(throws: Migrator.Refusal.edited("schema/stations.sql")) { try migrator.up() }
      try connection.execute(
        """
        DELETE FROM fuel.migration WHERE name = 'schema/stations.sql';
        INSERT INTO fuel.migration VALUES ('schema/9999_future.sql', repeat('0', 64), now())
        """)
      #expect(throws: Migrator.Refusal.newer("schema/9999_future.sql")) { try migrator.verify() }
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
      #expect(try migrator.up() == ["views/averages.sql"])
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

  /// F-M06: tables of a version before 0.5 are not taken over, and the message says what to do.
  @Test func tooOldTablesAreRefused() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        """
        DELETE FROM fuel.program;
        UPDATE fuel.migration SET name = '0017_judge_lists.sql' WHERE name = 'schema/roles.sql'
        """)
      let refusal = Migrator.Refusal.earlier(canBeTakenOver: false)
      #expect(throws: refusal) { try Migrator(connection).up() }
      #expect(throws: refusal) { try Migrator(connection).recognise() }
      #expect("\(refusal)".hasSuffix("run bowser migrate of version 0.5, then this one"))
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
        WHERE name IN ('routines/clock.sql', 'views/runs.sql')
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
      #expect(try migrator.up() == ["routines/clock.sql", "views/runs.sql"])
      #expect(try connection.lines("SELECT count(*) FROM fuel.program") == ["1"])
      // If the digest matches, the files are not checked.
      try connection.execute(
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name = 'schema/stations.sql'")
      try migrator.recognise()
      #expect(throws: Migrator.Refusal.edited("schema/stations.sql")) { try migrator.verify() }
    }
  }

  /// F-M06: the ledger forgets a routine that this program no longer has. A program that still has
  /// it, with the same tables, applies it again.
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
  /// does not hold up other readers. It leaves nothing behind, and succeeds once that reader has gone.
  @Test func aMigrationGivesWayToReaders() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        """
        UPDATE fuel.migration SET sha256 = repeat('0', 64)
        WHERE name IN ('routines/clock.sql', 'views/prices.sql');
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
      #expect("\(blocked!)".contains("pg_blocking_pids"), "\(blocked!)")
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
      #expect(try await migrating.value == ["routines/clock.sql", "views/prices.sql"])
      try Migrator(connection).verify()
    }
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Migrations").standardized

  @Test func everySQLFileIsCompiledIn() throws {
    let found =
      FileManager.default.enumerator(atPath: Self.folder.path)?.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".sql") } ?? []
    #expect(Set(Migrator.embedded.map(\.name)) == Set(found))
    let order = try String(contentsOf: Self.folder.appending(path: "order"), encoding: .utf8)
    #expect(Migrator.embedded.map(\.name) == order.split(separator: "\n").map(String.init))
    for (name, text) in Migrator.embedded {
      #expect(try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8) == text)
    }
  }

  /// A released file of tables is never edited: databases have it as it was.
  @Test func releasedFilesAreAsTheyWere() throws {
    let copy = FileManager.default.temporaryDirectory.appending(path: "released-\(UUID())")
    try FileManager.default.copyItem(at: Self.folder, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    func check() throws -> Int32 {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/sha256sum")
      process.arguments = ["--check", "--quiet", "--strict", "released.sha256"]
      process.currentDirectoryURL = copy
      process.standardError = nil
      process.standardOutput = nil
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
    #expect(try check() == 0)
    let file = copy.appending(path: "schema/stations.sql")
    try (String(contentsOf: file, encoding: .utf8) + "\n").write(
      to: file, atomically: true, encoding: .utf8)
    #expect(try check() == 1)
  }
}
