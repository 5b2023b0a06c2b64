import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// How long the last price of an archive holds.
struct ArchiveReachTests {
  private static let end = Instant("2025-10-20T00:00:00Z")

  private func loadArchive(into feed: Feed) async throws {
    let rows = ["2025-10-02 12:00:00,170.0", "2025-10-10 12:00:00,171.0"].map {
      "Roadhouse,\"1 Main St, Kiama NSW 2533\",Kiama,2533,Metro,U91,\($0)\n"
    }
    _ = try await HistoryOrderTests.withFile(
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
        + rows.joined()
    ) { path in
      try await Backfill(
        HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [],
        clock: .fixed(Self.end), log: Logger(.error)
      ).run([path])
    }
  }

  /// F-G25: the archive covers days until 10 October, and the first run of its feed is of that day
  /// or of the next one. From its first run on a feed covers everything, so the price holds on if the
  /// archive reaches this run. It does not matter which of the two is stored first.
  @Test(arguments: [
    ("2025-10-10T06:00:00Z", true), ("2025-10-10T06:00:00Z", false),
    ("2025-10-11T06:00:00Z", true), ("2025-10-11T06:00:00Z", false),
  ])
  func theLastPriceHoldsUntilTheFeedBegins(run: String, isArchiveFirst: Bool) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      func prices() throws -> [String] {
        try Identity.match(feed.store, decisions: [], now: Self.end, log: Logger(.error))
        try TimelineUpdate.makeAll(Workers(feed.store), now: Self.end)
        return try feed.connection.lines(
          """
          SELECT day, fuel_v1.price_at(station_id, 'U91', day) AS price
          FROM fuel_v1.station_records
          CROSS JOIN unnest('{2025-10-10 12:00Z, 2025-10-15 00:00Z}'::timestamptz[]) AS day
          WHERE name = 'Roadhouse' ORDER BY day
          """)
      }
      func listOthers(at instant: String) throws {
        try feed.reports(
          [.u91("2", 1_600, Instant("2025-10-01T00:00:00Z"))], at: Instant(instant), now: Self.end)
      }
      if isArchiveFirst {
        try await loadArchive(into: feed)
        #expect(try prices().last == "2025-10-15 00:00:00+00|NULL")
        // The first list of all is late: the first run changes twice.
        try listOthers(at: "2025-10-12T00:00:00Z")
        try listOthers(at: run)
      } else {
        try listOthers(at: run)
        try await loadArchive(into: feed)
      }
      let found = try prices()
      let isReached = run < "2025-10-11"
      #expect(
        found == [
          "2025-10-10 12:00:00+00|171.0", "2025-10-15 00:00:00+00|\(isReached ? "171.0" : "NULL")",
        ])
    }
  }
}
