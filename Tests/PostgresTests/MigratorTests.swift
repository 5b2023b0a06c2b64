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

  /// F-M06: a command knows its schema by one digest, and looks at each file only where that is another one. A database
  /// that is halfway between two programs is that of neither.
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
      // One file is applied and the other cannot be.
      let taken = "CREATE VIEW fuel_v1.aggregate_runs AS SELECT 1 AS other"
      try connection.execute(
        "UPDATE fuel.program SET digest = repeat('1', 16); DROP VIEW fuel_v1.aggregate_runs CASCADE; \(taken)"
      )
      #expect(throws: PostgresError.self) { try migrator.up() }
      #expect(try connection.lines("SELECT count(*) FROM fuel.program") == ["0"])
      #expect(throws: Migrator.Refusal.self) { try migrator.recognise() }
      try connection.execute("DROP VIEW fuel_v1.aggregate_runs")
      #expect(try migrator.up() == ["views/aggregate_runs.sql"])
      #expect(try connection.lines("SELECT count(*) FROM fuel.program") == ["1"])
      // Where the digest is its own, it does not look at the files.
      try connection.execute(
        "UPDATE fuel.migration SET sha256 = repeat('0', 64) WHERE name LIKE '0003%'")
      try migrator.recognise()
      #expect(throws: Migrator.Refusal.edited("0003_create_station.sql")) { try migrator.verify() }
    }
  }

  /// F-M06: a database of version 0.2, whose history is a view over reported prices that are gone now.
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

  /// F-M06: averages are due again where the days of stations that they were made of are gone, and stay where an
  /// aggregate has made those since.
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

  /// F-M06: two at once, one applies and the other waits.
  @Test func twoAtOnceApplyEachFileOnce() async throws {
    try await TestDatabase.withEmpty { target in
      let names = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 0..<3 {
          group.addTask {
            // The very first file makes the ledger itself: whoever loses that race tries again.
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
