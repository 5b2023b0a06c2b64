import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// Tests months that were not loaded, the weeks after them, and a nation of which one state is
/// known.
struct CoverageTests {
  // Forty stations over nine months, in cycles of twelve days that jump by thirty cents.
  private static let stations = 40
  private static let first = Day("2025-01-01")!
  private static let days = 273

  private struct Event {
    var station: Int
    /// Seconds since the first day, by Sydney's clock.
    var second: Int
    var tenths: Int
  }

  /// Makes price changes. Stations follow the market at different hours; some wait for days.
  private static func events() -> [Event] {
    var random = Random(seed: 12, "coverage")
    var events: [Event] = []
    for station in 0..<stations {
      let level = 1_600 + random.integer(0...60)
      var second = random.integer(0...86_399)
      while second < days * 86_400 {
        let phase = second / 86_400 % 12
        events.append(
          Event(
            station: station, second: second,
            tenths: level + (phase < 2 ? 300 : 300 - (phase - 1) * 27)))
        second += random.integer(8...60) * 3_600
      }
    }
    return events
  }

  /// Returns the mean over all stations on a day, from the events of each, in cents.
  private static func truth(_ stations: [[Event]], day: Int) -> Double {
    var means: [Double] = []
    for own in stations {
      var weighted = 0.0
      var lasting = 0.0
      for (position, event) in own.enumerated() {
        let until = position + 1 < own.count ? own[position + 1].second : .max
        let from = max(event.second, day * 86_400)
        let end = min(until, (day + 1) * 86_400)
        guard from < end else { continue }
        weighted += Double(event.tenths * (end - from))
        lasting += Double(end - from)
      }
      if lasting > 0 { means.append(weighted / lasting / 10) }
    }
    return means.reduce(0, +) / Double(means.count)
  }

  private static func file(_ events: [Event], month: Int) -> String {
    var text = "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    for event in events.sorted(by: { $0.second < $1.second }) {
      let day = first + event.second / 86_400
      guard day.month == month else { continue }
      let time = event.second % 86_400
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      text +=
        "S\(event.station),\"\(event.station + 1) Main St, T\(event.station) NSW 2000\","
        + "T\(event.station),2000,B,U91,\(day) \(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)),"
        + "\(event.tenths / 10).\(event.tenths % 10)\n"
    }
    return text
  }

  /// F-N29, F-N30, F-N31: January to April, June and August are loaded in any order. May, July and
  /// September have no average, and the reason is stated. Days in the first weeks of June and
  /// August are right or not complete. The nation is not complete with one state.
  @Test(arguments: [[1, 2, 3, 4, 6, 8], [8, 4, 6, 1, 3, 2]])
  func nothingIsInventedBetweenLoadedMonths(order: [Int]) async throws {
    let events = Self.events()
    let stations = (0..<Self.stations).map { station in events.filter { $0.station == station } }
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let now = Instant("2025-10-01T02:00:00Z")
      for (position, month) in order.enumerated() {
        _ = try await HistoryOrderTests.withFile(Self.file(events, month: month)) { path in
          try await Backfill(
            HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [], clock: .fixed(now),
            log: Logger(.error)
          ).run([path])
        }
        // Days that an aggregate made in between are made again.
        if position == 3 { try feed.aggregate(at: now, regions: [.nation, .newSouthWales]) }
      }
      try feed.aggregate(at: now, regions: [.nation, .newSouthWales])
      #expect(
        try feed.connection.lines(
          """
          SELECT extract(month FROM day)::integer AS month, count(*) FROM fuel_v1.daily_averages
          WHERE region = 'NSW' AND average_cpl IS NOT NULL GROUP BY 1 ORDER BY 1
          """) == ["1|31", "2|28", "3|31", "4|30", "6|30", "8|31"])
      #expect(
        try feed.connection.lines(
          """
          SELECT extract(month FROM day)::integer AS month, is_covered, why, count(*) FROM fuel_v1.coverage
          WHERE region = 'NSW' AND source = 'nsw-fuelcheck-archive' AND day < '2025-10-01'
          GROUP BY 1, 2, 3 ORDER BY 1
          """) == [
            "1|t|NULL|31", "2|t|NULL|28", "3|t|NULL|31", "4|t|NULL|30", "5|f|not_loaded|31",
            "6|t|NULL|30", "7|f|not_loaded|31", "8|t|NULL|31", "9|f|not_loaded|30",
          ])
      var complete = 0
      for row in try feed.connection.query(
        """
        SELECT day, average_cpl, is_complete, stations, coverage FROM fuel_v1.daily_averages
        WHERE region = 'NSW' ORDER BY day
        """)
      {
        let day = try #require(Day(try row.text("day")))
        guard try row.boolean("is_complete") else { continue }
        complete += 1
        let index = day.sinceEpoch - Self.first.sinceEpoch
        // On the very first days the earlier prices of the stations are not known.
        let average = try #require(Double(try row.text("average_cpl")))
        let known = "\(try row.text("stations")) stations, \(try row.text("coverage")) covered"
        let error = abs(average - Self.truth(stations, day: index))
        #expect(error < 1, "\(day): \(average), \(known), wrong by \(error)")
      }
      // After each gap a price may have held for thirty days without a word: of January, June and
      // August only what follows them counts.
      #expect(complete == 1 + 28 + 31 + 30 + 1)
      // F-N30: on the first of June hardly any station is known, and all are expected.
      #expect(
        try feed.connection.lines(
          """
          SELECT is_complete, stations < 30, stations_expected FROM fuel_v1.daily_averages
          WHERE region = 'NSW' AND day = '2025-06-01'
          """) == ["f|t|40"])
      // F-N31.
      #expect(
        try feed.connection.lines(
          "SELECT DISTINCT is_complete, states_complete, states_expected FROM fuel_v1.daily_averages WHERE region = 'AU' AND day = '2025-03-15'"
        ) == ["f|1|8"])
    }
  }

  /// F-N92: after a gap, most stations of a region report a new price and the others keep theirs. The
  /// mean of those that moved is not that of the market, so no day counts until the others would
  /// have lapsed. The month before the gap is loaded later; then all days count.
  @Test func thoseThatMovedAreNotTheMarket() async throws {
    func file(_ rows: [(station: Int, day: String, tenths: Int)]) -> String {
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
        + rows.map {
          "S\($0.station),\"\($0.station + 1) Main St, T NSW 2000\",T,2000,B,U91,\($0.day) 00:00:00,"
            + "\($0.tenths / 10).\($0.tenths % 10)\n"
        }.joined()
    }
    func rows(_ stations: Range<Int>, _ days: [String], _ tenths: Int) -> [(Int, String, Int)] {
      days.flatMap { day in stations.map { ($0, day, tenths) } }
    }
    let april = file(rows(0..<10, ["2025-04-01", "2025-04-16", "2025-04-30"], 1_700))
    let may = file(
      rows(0..<10, ["2025-05-01"], 1_700) + rows(0..<10, ["2025-05-29"], 1_700))
    // Nine of ten jump on the third of June. One says nothing for four weeks.
    let june = file(
      rows(0..<9, ["2025-06-03", "2025-06-20", "2025-06-29"], 2_000)
        + rows(9..<10, ["2025-06-27"], 1_700))
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let now = Instant("2025-07-20T02:00:00Z")
      func load(_ text: String) async throws {
        _ = try await HistoryOrderTests.withFile(text) { path in
          try await Backfill(
            HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [], clock: .fixed(now),
            log: Logger(.error)
          ).run([path])
        }
        try feed.aggregate(at: now, regions: [.nation, .newSouthWales])
      }
      func june10() throws -> [String] {
        try feed.connection.lines(
          """
          SELECT average_cpl, stations, stations_expected, is_complete FROM fuel_v1.daily_averages
          WHERE region = 'NSW' AND day = '2025-06-10'
          """)
      }
      try await load(april)
      try await load(june)
      #expect(try june10() == ["200.00|9|10|f"])
      try await load(may)
      #expect(try june10() == ["197.00|10|10|t"])
    }
  }

  /// Loads an archive of whole days: on each day of June 2025 so many stations have a row.
  private func wholeDays(
    _ days: [(day: String, stations: Int)], in target: String, now: Instant
  ) async throws -> Feed {
    let text =
      "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION,POSTCODE\n"
      + days.flatMap { day, stations in
        (0..<stations).map { "\(day)/06/2025,S\($0),B,ULP,170.00,\($0) Main St,PERTH,6000\n" }
      }.joined()
    let feed = try Feed(target, name: "wa-fuelwatch", state: .wa)
    let archive = try HistoryOrderTests.archive("wa")
    _ = try await HistoryOrderTests.withFile(text) { path in
      try await Backfill(
        archive, store: feed.store, decisions: [], clock: .fixed(now), log: Logger(.error)
      ).run([path])
    }
    return feed
  }

  /// F-N30: a day on which most stations of a region are missing has the average of the others, and
  /// is not complete.
  @Test func aDayOfFewStationsIsNotComplete() async throws {
    try await TestDatabase.with { target in
      let now = Instant("2025-07-02T02:00:00Z")
      let feed = try await wholeDays(
        [("10", 10), ("11", 10), ("12", 4), ("13", 8), ("14", 7)], in: target, now: now)
      try feed.aggregate(at: now, regions: [.nation, .westernAustralia])
      #expect(
        try feed.connection.lines(
          """
          SELECT extract(day FROM day), average_cpl, stations, stations_expected, is_complete
          FROM fuel_v1.daily_averages
          WHERE region = 'WA' AND day BETWEEN '2025-06-10' AND '2025-06-14' ORDER BY 1
          """) == [
            "10|170.00|10|10|t", "11|170.00|10|10|t", "12|170.00|4|10|f", "13|170.00|8|10|t",
            "14|170.00|7|10|f",
          ])
    }
  }

  /// F-N93: where an archive states whole days, a day without a row is not covered, and `gaps` lists
  /// it. F-N94: a region without a price in what covers it says so.
  @Test func aDayWithoutARowIsAGap() async throws {
    try await TestDatabase.with { target in
      let now = Instant("2025-07-02T02:00:00Z")
      let feed = try await wholeDays(
        [("01", 4), ("02", 4), ("04", 4), ("28", 4)], in: target, now: now)
      var south = Region.westernAustralia
      (south.code, south.kind) = ("south", "area")
      (south.centre, south.radiusKilometres) = (Position(latitude: -35, longitude: 117), 10)
      try feed.aggregate(at: now, regions: [.nation, .westernAustralia, south])
      #expect(
        try feed.connection.lines(
          """
          SELECT string_agg(extract(day FROM day)::text, ' ' ORDER BY day) FROM fuel_v1.coverage
          WHERE region = 'WA' AND source = 'wa-fuelwatch-archive' AND is_covered
          """) == ["1 2 4 28"])
      #expect(
        try feed.connection.lines(
          """
          SELECT region, is_covered, why FROM fuel_v1.coverage
          WHERE region IN ('WA', 'south') AND source = 'wa-fuelwatch-archive'
            AND day BETWEEN '2025-06-02' AND '2025-06-03'
          ORDER BY region, day
          """) == ["WA|t|NULL", "WA|f|not_loaded", "south|t|no_prices", "south|f|not_loaded"])
      let missing = gaps(
        try feed.store.stations.knownDays(now: now), feeds: [("wa-fuelwatch", .perth, nil)],
        archives: [try HistoryOrderTests.archive("wa")], now: now
      ).filter { $0.from >= Day("2025-06-01")! }
      #expect(
        missing.map { "\($0.from) \($0.to)" } == [
          "2025-06-03 2025-06-03", "2025-06-05 2025-06-27", "2025-06-29 2025-07-01",
        ])
    }
  }

  /// When a person takes back a link, the spans and days of the linked stations are made again, and
  /// no others.
  @Test func aChangedLinkCostsItsOwnStations() async throws {
    let events = Self.events()
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let now = Instant("2025-10-01T02:00:00Z")
      for month in 1...9 {
        _ = try await HistoryOrderTests.withFile(Self.file(events, month: month)) { path in
          try await Backfill(
            HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [], clock: .fixed(now),
            log: Logger(.error)
          ).run([path])
        }
      }
      try feed.aggregate(at: now, regions: [.nation, .newSouthWales])
      func code(_ name: String) throws -> String {
        try feed.connection.lines("SELECT station_code FROM fuel.station WHERE name = \(name)")[0]
      }
      // The number of rows of other stations, and the newest transaction that wrote one of them.
      func others() throws -> [String] {
        try ["span", "station_month"].flatMap { table in
          try feed.connection.lines(
            SQL(
              stringLiteral:
                "SELECT count(*), max(made.xmin::text::bigint) FROM fuel.\(table) AS made "
                + "JOIN fuel.station USING (station_id) WHERE name NOT IN ('S3', 'S7')"))
        }
      }
      let before = try others()
      let spans = try feed.connection.lines("SELECT count(*) FROM fuel.span")
      let same = StationDecision(
        day: Day(sinceEpoch: 20_000), firstSource: "nsw-fuelcheck-archive",
        firstCode: try code("S3"),
        secondSource: "nsw-fuelcheck-archive", secondCode: try code("S7"), isSame: true,
        reason: "looked")
      for decisions in [[same], []] {
        try Identity.match(feed.store, decisions: decisions, now: now, log: Logger(.error))
        try feed.aggregate(at: now, regions: [.nation, .newSouthWales])
        #expect(try others() == before)
        let most = try feed.connection.lines(
          "SELECT max(stations) FROM fuel_v1.daily_averages WHERE region = 'NSW'")
        #expect(most == [decisions.isEmpty ? "40" : "39"])
      }
      let again = try feed.connection.lines("SELECT count(*) FROM fuel.span")
      #expect(again == spans)
    }
  }
}
