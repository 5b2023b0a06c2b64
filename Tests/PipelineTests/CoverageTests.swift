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
      #expect(complete > 160)
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
          "SELECT DISTINCT is_complete, states FROM fuel_v1.daily_averages WHERE region = 'AU' AND day = '2025-03-15'"
        ) == ["f|1 of 8"])
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
