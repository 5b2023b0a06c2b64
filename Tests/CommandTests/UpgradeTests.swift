import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// A database of version 0.5, as released and as its schema was changed after the release, can be
/// migrated to this version.
struct UpgradeTests {
  /// Dumps of three days of a small simulated market. Each was made by the program of its version.
  /// The later one has a month of an archive too.
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/released").standardized
  private static let now = "2026-07-01T10:05:00Z"

  static let released = ["0.5.0", "after-0.5.0"]

  private func facts(_ connection: Connection) throws -> [String] {
    try connection.lines(
      """
      SELECT source, station_code, fuel, effective_at, price_tenths, learnt_at
      FROM (
        SELECT station_id, fuel_id, source_id, effective_at, price_tenths, learnt_at FROM fuel.price
        UNION ALL
        SELECT station_id, fuel_id, source_id, effective_at, price_tenths, NULL FROM fuel.archive_price
      ) AS price
      JOIN fuel.fuel USING (fuel_id)
      JOIN fuel.station ON station.station_id = price.station_id
      JOIN fuel.source ON source.source_id = price.source_id
      ORDER BY 1, 2, 3, 4, 5, 6
      """)
  }

  private func prices(_ connection: Connection) throws -> [String] {
    try connection.query("SELECT set_config('bowser.now', \(Self.now), false)")
    // The stations' codes have other names in the versions.
    return try connection.lines(
      """
      SELECT coalesce(to_json(stations) ->> 'source_station_code', to_json(stations) ->> 'feed_station_code'),
        current_prices.state, fuel, price_cpl, effective_at, next_price_cpl, is_fresh
      FROM fuel_v1.current_prices
      JOIN fuel_v1.stations USING (station_id)
      ORDER BY 1, 2, 3
      """)
  }

  /// F-M07: a migration keeps stored prices and prices in effect, whatever version stored them. The
  /// catalogue then equals that of a new database, and the next jobs run.
  @Test(arguments: released) func aReleasedDatabaseMigrates(version: String) async throws {
    // A dump grants rights to roles of its server. Making any database of this version creates
    // these roles.
    var fresh: [String] = []
    try await TestDatabase.with { fresh = try catalogue(Connection($0)) }
    try await TestDatabase.withEmpty { target in
      let file = Self.folder.appending(path: "\(version).sql.gz").path
      let restore = Process()
      restore.executableURL = URL(filePath: "/bin/sh")
      restore.arguments = [
        "-c", "gzip -dc \"$1\" | psql -X -q -v ON_ERROR_STOP=1 -d \"$2\" >/dev/null", "sh", file,
        target,
      ]
      try restore.run()
      try await restore.ended()
      try #require(restore.terminationStatus == 0)
      let connection = try Connection(target)
      // A covered month need not have a day on which a price began.
      try connection.execute(
        """
        INSERT INTO fuel.archive_coverage (source_id, month, last_day)
        SELECT min(source_id), '2016-02-01', '2016-02-29' FROM fuel.source
        """)
      let facts = try facts(connection)
      let prices = try prices(connection)
      #expect(facts.count > 500 && prices.count > 100)
      #expect(try catalogue(connection) != fresh)
      // Views of others over what is made anew would be lost. One document is damaged.
      try connection.execute(
        """
        CREATE VIEW public.own AS SELECT * FROM fuel.price;
        CREATE VIEW public.near AS SELECT * FROM fuel_v1.stations_near(-27, 153, 5);
        CREATE VIEW public.published AS SELECT * FROM fuel_v1.fuels
        """)
      let refused = try CommandTests.run(["migrate"], on: target)
      #expect(
        refused.code == 78 && refused.err.contains("near, public.own, public.published depends"),
        "\(refused)")
      try connection.execute(
        """
        DROP VIEW public.near, public.own, public.published;
        ALTER TABLE fuel.body DROP CONSTRAINT IF EXISTS body_digest_ck;
        INSERT INTO fuel.body (sha256, bytes, kept_at) VALUES ('\\x00', '\\x01', now())
        """)
      let rehearsed = try CommandTests.run(["migrate", "--dry-run"], on: target)
      #expect(rehearsed.code == 0 && rehearsed.out.contains("schema/stations.sql"), "\(rehearsed)")
      for words in [["migrate"], ["aggregate", "--now", Self.now]] {
        let result = try CommandTests.run(words, on: target)
        #expect(result.code == 0, "\(words) \(result)")
      }
      #expect(
        try connection.lines("DELETE FROM fuel.body WHERE sha256 = '\\x00' RETURNING bytes")
          == ["\\x01"])
      #expect(try CommandTests.run(["verify"], on: target).code == 0)
      #expect(firstDifference(try catalogue(connection), fresh) == nil)
      #expect(try self.facts(connection) == facts)
      #expect(firstDifference(try self.prices(connection), prices) == nil)

      // Runs from before cannot be withdrawn. The next list is compared with what its feed showed
      // before, and can be withdrawn.
      let old = try connection.lines(
        "SELECT max(run_id) FROM fuel_v1.ingest_runs WHERE source = 'qld-fpd' AND outcome = 'stored'"
      )[0]
      let kept = try CommandTests.run(["withdraw", old, "--reason", "x"], on: target)
      #expect(kept.code == 65 && kept.err.contains("of version 0.5"), "\(kept)")
      let feed = try Feed(target, name: "qld-fpd", state: .qld)
      try feed.reports(
        [.u91("1", 1_850, Instant("2026-07-01T10:30:00Z"))], at: Instant("2026-07-01T11:00:00Z"))
      func leftOut() throws -> Int {
        try connection.query(
          "SELECT count(*) AS n FROM fuel.listing WHERE run_id > \(old)::integer"
        )
        .only().integer("n")
      }
      #expect(try leftOut() > 30)
      let taken = try CommandTests.run(
        ["withdraw", "\(Int(old)! + 1)-99", "--feed", "qld-fpd", "--reason", "x"], on: target)
      #expect(taken.code == 0, "\(taken)")
      #expect(try leftOut() == 0)
      #expect(try CommandTests.run(["verify"], on: target).code == 0)
    }
  }
}
