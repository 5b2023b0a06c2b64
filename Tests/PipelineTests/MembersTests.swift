import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Tests stations that sell to members only.
struct MembersTests {
  private static let now = Instant("2026-06-30T13:00:00Z")
  private static let brands = [
    BrandName(written: "costco", brand: "Costco", isMembersOnly: true),
    BrandName(written: "lmct+", brand: "LMCT+", isMembersOnly: true),
    BrandName(written: "lmct", brand: "LMCT+", isMembersOnly: true),
    BrandName(written: "club", brand: "Club", isMembersOnly: true),
  ]

  /// F-S25: a brand, or words in a name, that the configuration marks: averages leave the station
  /// out, whatever the feed says of it, and from the next aggregate on after a change.
  @Test(arguments: [
    ("Costco Wyong", "Independent", true), ("Wyong Fuels", "COSTCO", true),
    ("LMCT+ Wyong", "Metro", true), ("LMCT Fuel", "Metro", true),
    ("Wyong Fuels (Club)", "Metro", true),
    ("Costcoville Fuels", "Metro", false), ("Members Clubhouse", "Metro", false),
  ])
  func membersPricesAreNobodyElses(name: String, brand: String, isMembersOnly: Bool) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let other = (0..<4).map { number in
        Station(
          code: "\(number)", state: .nsw, name: "Shop \(number)", brand: "Metro",
          address: "\(number) Main St, WYONG NSW 2259", suburb: "WYONG")
      }
      let station = Station(
        code: "9", state: .nsw, name: name, brand: brand, address: "9 Main St, WYONG NSW 2259",
        suburb: "WYONG")
      let stamp = Self.now + .seconds(-3_600)
      try feed.reports(
        (0..<4).map { .u91("\($0)", 1_800, stamp) } + [.u91("9", 1_300, stamp)],
        stations: other + [station], at: Self.now + .seconds(-60), now: Self.now)
      func average(_ brands: [BrandName]) throws -> [String] {
        _ = try Aggregate(
          store: feed.store, regions: [.newSouthWales, .nation], brands: brands,
          clock: .fixed(Self.now), log: Logger(.error)
        ).run()
        return try feed.connection.lines(
          "SELECT average_cpl, stations FROM fuel_v1.averages_now WHERE region = 'NSW'")
      }
      try feed.connection.query("SELECT set_config('bowser.now', \(Self.now.description), false)")
      let all = ["170.00|5"]
      #expect(try average([]) == all)
      #expect(try average(Self.brands) == (isMembersOnly ? ["180.00|4"] : all))
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel_v1.stations WHERE NOT is_public")
          == [isMembersOnly ? "1" : "0"])
      // What the stored records are compared with knows of it too.
      #expect(
        try feed.connection.lines(
          "SELECT count(*) FROM fuel.redescribed_stations(ARRAY(SELECT station_id FROM fuel.station))"
        )
          == ["0"])
      #expect(try average([]) == all)
    }
  }

  /// F-S25: the same of an archive, whose stations are described when they are matched.
  @Test func anArchiveKnowsMembersToo() async throws {
    let rows = (0..<4).map { "Shop \($0),Metro,180.0,\($0)" } + ["Costco Wyong,Costco,130.0,9"]
    let text =
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
      + rows.map { row in
        let parts = row.split(separator: ",")
        return "\(parts[0]),\"\(parts[3]) Main St, WYONG NSW 2259\",WYONG,2259,\(parts[1]),U91,"
          + "2026-06-01 00:00:00,\(parts[2])\n"
      }.joined()
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      _ = try await HistoryOrderTests.withFile(text) { path in
        try await Backfill(
          HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [],
          clock: .fixed(Self.now), log: Logger(.error)
        ).run([path])
      }
      for (brands, wanted) in [([], "170.00|5"), (Self.brands, "180.00|4"), ([], "170.00|5")] {
        _ = try Aggregate(
          store: feed.store, regions: [.newSouthWales, .nation], brands: brands,
          clock: .fixed(Self.now), log: Logger(.error)
        ).run()
        #expect(
          try feed.connection.lines(
            """
            SELECT average_cpl, stations FROM fuel_v1.daily_averages
            WHERE region = 'NSW' AND day = '2026-06-01'
            """) == [wanted])
      }
    }
  }

  /// F-B05: on the day on which a name changes hands, the day of the station decides, whatever the
  /// time zone of the reader.
  @Test(arguments: ["UTC", "Australia/Sydney", "America/Los_Angeles"])
  func theBrandIsThatOfTheStationsDay(zone: String) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      // Six in the morning of the first of July in Sydney.
      let now = Instant("2026-06-30T20:00:00Z")
      let station = Station(
        code: "1", state: .nsw, name: "Wyong", brand: "Old", address: "1 Main St, WYONG NSW 2259",
        suburb: "WYONG", position: Position(latitude: -33.28, longitude: 151.42))
      try feed.reports(
        [.u91("1", 1_800, now + .seconds(-3_600))], stations: [station], at: now, now: now)
      try feed.store.stations.refreshBrands([
        BrandName(written: "old", brand: "Old", until: Day("2026-07-01")),
        BrandName(written: "old", brand: "New", from: Day("2026-07-01")),
      ])
      try feed.connection.query(
        "SELECT set_config('bowser.now', \(now.description), false), set_config('TimeZone', \(zone), false)"
      )
      #expect(
        try feed.connection.lines(
          """
          SELECT brand FROM fuel_v1.stations
          UNION ALL SELECT brand FROM fuel_v1.current_prices
          UNION ALL SELECT brand FROM fuel_v1.stations_near(-33.28, 151.42, 1)
          """) == ["New", "New", "New"])
    }
  }
}
