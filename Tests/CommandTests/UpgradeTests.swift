import Foundation
import Postgres
import TestDatabase
import Testing

/// A database of every released version can be migrated to this version.
struct UpgradeTests {
  /// Dumps of three days of a small simulated market. Each was made by the program of its version.
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/released").standardized
  private static let now = "2026-07-01T10:05:00Z"

  static let released = ["0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0"]

  private func facts(_ connection: Connection) throws -> [String] {
    try connection.lines(
      """
      SELECT source, station_code, fuel, effective_at, price_tenths, learnt_at
      FROM fuel.price
      JOIN fuel.fuel USING (fuel_id)
      JOIN fuel.station ON station.station_id = price.station_id
      JOIN fuel.source ON source.source_id = price.source_id
      ORDER BY 1, 2, 3, 4, 5, 6
      """)
  }

  private func prices(_ connection: Connection) throws -> [String] {
    try connection.query("SELECT set_config('bowser.now', \(Self.now), false)")
    return try connection.lines(
      """
      SELECT feed_station_code, current_prices.state, fuel, price_cpl, effective_at, next_price_cpl, is_fresh
      FROM fuel_v1.current_prices
      JOIN fuel_v1.stations USING (station_id)
      ORDER BY 1, 2, 3
      """)
  }

  /// F-M07: a migration keeps stored prices and prices in effect, whatever version stored them. The
  /// next jobs run.
  @Test(arguments: released) func aReleasedDatabaseMigrates(version: String) async throws {
    // A dump grants rights to roles of its server. Making any database of this version creates
    // these roles.
    try await TestDatabase.with { _ in }
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
      let facts = try facts(connection)
      let prices = try prices(connection)
      #expect(facts.count > 500 && prices.count > 100)
      for words in [["migrate"], ["aggregate", "--now", Self.now], ["verify"]] {
        let result = try CommandTests.run(words, on: target)
        #expect(result.code == 0, "\(words) \(result)")
      }
      #expect(try self.facts(connection) == facts)
      #expect(firstDifference(try self.prices(connection), prices) == nil)
    }
  }
}
