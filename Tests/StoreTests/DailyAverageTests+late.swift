import FuelModel
import Pipeline
import Postgres
import TestDatabase
import Testing

@testable import Store

/// What late reports change, and what is made again.
extension DailyAverageTests {
  /// F-G04: a late price changes its own day and the days until the next price of the same station
  /// and fuel, and no other day. Days before it are not made again.
  @Test func aLatePriceMakesItsDaysAgain() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      for day in 0..<10 {
        // The prices took effect on day 0 and day 7.
        let since = day < 7 ? at(0) : at(7)
        try feed.reports(quiet(1800, since: since), at: at(Double(day) + 0.5))
      }
      try feed.aggregate(at: at(9.6))
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel.due WHERE step = 'averages'") == ["0"])
      // A late report: station `a` has sold at 150.0 since the middle of day 4.
      try feed.reports(
        [.u91("a", 1500, at(4.5))] + quiet(1800, since: at(7)), at: at(9.7))
      let known = Set(try feed.connection.lines("SELECT day, region, xmin FROM fuel.daily_rollup"))
      try feed.aggregate(at: at(9.8))
      let made = Set(
        try feed.connection.lines("SELECT day, region, xmin FROM fuel.daily_rollup").filter {
          !known.contains($0)
        }.map { $0.prefix(10) })
      // The last day has not ended and is made again anyway. A month is made in one piece.
      #expect(made.sorted() == (5...10).map { "2026-07-\($0 < 10 ? "0" : "")\($0)" })
      let averages = try feed.connection.lines(
        "SELECT average_cpl FROM fuel_v1.daily_averages WHERE region = 'QLD' ORDER BY day")
      // On day 4 one of three stations sold at 150 for half the day.
      #expect(averages[3...7] == ["180.00", "175.00", "170.00", "170.00", "180.00"])
    }
  }

  /// F-K03: a day that a run lists after the aggregate has read the list, in a month that the
  /// aggregate makes, is made too.
  @Test func aDayListedMeanwhileIsMade() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      let now = begin + .seconds(20 * 86_400)
      try feed.reports(quiet(1800, since: begin), at: begin)
      try feed.aggregate(at: now)
      let right = try day(feed, "2026-07-02")
      try feed.connection.execute(
        """
        UPDATE fuel.daily_rollup SET average_cpl = min_cpl - 1, min_cpl = min_cpl - 1;
        SELECT fuel.touch_averages(ARRAY[1]::smallint[], ARRAY[daterange('2026-07-10', '2026-07-12')], false)
        """)
      let spans = try feed.store.due.dueSpans(now: now)
      try feed.connection.execute(
        "SELECT fuel.touch_averages(ARRAY[1]::smallint[], ARRAY[daterange('2026-07-02', '2026-07-03')], false)"
      )
      #expect(try day(feed, "2026-07-02") != right)
      let made = try DayUpdate.makeRegionDays(spans, Workers(feed.store), now: now)
      #expect(made.contains { $0.from == Day("2026-07-02") && $0.to >= Day("2026-07-11")! })
      #expect(try day(feed, "2026-07-02") == right)
    }
  }

  /// F-G04: a late list of which a hundredth is new changes only the spans and days of those
  /// stations.
  @Test func aLateListCostsItsOwnStations() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      func list(_ day: Int, isNew: (Int) -> Bool = { _ in false }) -> [Observation] {
        (0..<400).map { station in
          .u91(
            "\(station)", isNew(station) ? 1_500 : 1_800 + station,
            isNew(station) ? at(4.4) : at(Double(day / 7 * 7)))
        }
      }
      for day in 0..<10 { try feed.reports(list(day), at: at(Double(day) + 0.5)) }
      try feed.aggregate(at: at(9.6))
      let known = Set(try feed.connection.lines("SELECT station_id, from_at, xmin FROM fuel.span"))
      try feed.reports(list(4, isNew: { $0 % 100 == 7 }), at: at(4.45), now: at(9.7))
      let touched = Set(
        try feed.connection.lines("SELECT station_id, from_at, xmin FROM fuel.span").filter {
          !known.contains($0)
        }.compactMap { $0.split(separator: "|").first })
      #expect(touched.count == 4)
      #expect(
        try feed.connection.lines(
          "SELECT count(*), count(DISTINCT number) FROM fuel.due WHERE step = 'days'") == ["4|4"])
      // Only the days of the spans that changed are made again, until the next price.
      let dirty = try feed.connection.lines(
        "SELECT from_on, until_on FROM fuel.due WHERE step = 'averages'")
      #expect(dirty == ["2026-07-05|2026-07-07"])
    }
  }

  /// F-G06: a list after a silence does not confirm a price that it reports as changed. The days of
  /// the silence come out the same when they are computed in two ranges, wherever the cut lies.
  @Test func aSpanMayEndInASilence() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let begin = Instant("2026-06-01T14:30:00Z")
      let back = begin + .seconds(6 * 86_400)
      try feed.reports(quiet(1_800, since: begin), at: begin)
      try feed.reports(quiet(2_000, since: back), at: back)
      let now = back + .seconds(86_400)
      try feed.aggregate(at: now)
      func rows() throws -> [String] {
        try feed.connection.lines(
          "SELECT to_jsonb(d) - 'made_at' FROM fuel.daily_rollup AS d ORDER BY 1")
      }
      let whole = try rows()
      #expect(try day(feed, "2026-06-02") == ["180.00|180.00|180.00|3|0.979|t"])
      #expect(try day(feed, "2026-06-03") == ["180.00|180.00|180.00|3|0.021|f"])
      #expect(try day(feed, "2026-06-05") == [])
      let first = try #require(Day("2026-06-01"))
      for cut in 0...7 {
        try DayUpdate.makeRegionDays(
          [
            DueSpan(fuelIDs: [1], from: first, to: first + cut),
            DueSpan(fuelIDs: [1], from: first + (cut + 1), to: first + 9),
          ], Workers(feed.store), now: now)
        #expect(try rows() == whole, "cut after \(first + cut)")
      }
    }
  }

  /// Averages that are updated as prices arrive equal those of a rebuild, even where a report
  /// changes other days than its own.
  @Test(arguments: ["outage", "rival", "members", "limits"])
  func incrementalEqualsRebuilt(kind: String) async throws {
    try await TestDatabase.with { target in
      let begin = Instant("2026-06-30T14:00:00Z")
      func at(_ days: Double) -> Instant { begin + .seconds(Int64(days * 86_400)) }
      let end = at(8)
      var feed = try Feed(target, sightLapsesHours: 24)
      func stations(isPublic: Bool) -> [Station] {
        ["a", "b", "c", "x"].map {
          Station(code: $0, state: .qld, name: $0, address: "", isPublic: $0 != "x" || isPublic)
        }
      }
      func report(_ tenths: Int, _ since: Double, _ taken: Double, isPublic: Bool = true) throws {
        try feed.reports(
          quiet(1800, since: at(0)) + [.u91("x", tenths, at(since))],
          stations: stations(isPublic: isPublic), at: at(taken), now: end)
      }
      switch kind {
      case "outage":
        // The list of day 5 confirms the price of day 0 across an outage of the feed.
        try report(1500, 0, 0.1)
        try report(1500, 0, 5)
        try feed.aggregate(at: end)
        // This late price took effect during the outage, so the list no longer confirms the older
        // one.
        try report(1600, 4.8, 5.4)
      case "rival":
        try report(1500, 0.5, 1)
        try report(1600, 0.5, 1.5)
        try report(1600, 0.5, 2.4)
        try feed.aggregate(at: end)
        // The oldest document reports 160.0 too. The price that was first reported last, 150.0, now
        // counts.
        try report(1600, 0.5, 0.6)
      case "members":
        try report(1500, 0, 0.1)
        try report(1500, 0, 1)
        try feed.aggregate(at: end)
        try report(1500, 0, 1.5, isPublic: false)
      default:
        try report(1500, 0, 0.1)
        try report(1500, 0, 1)
        try feed.aggregate(at: end)
        feed = try Feed(target, sightLapsesHours: 12)
      }
      try feed.aggregate(at: end)
      let made: SQL = "SELECT * FROM fuel_v1.daily_averages ORDER BY region, fuel, day"
      let incremental = try feed.connection.lines(made)
      try feed.store.due.listAllDays(from: nil, now: end)
      try feed.aggregate(at: end)
      let rebuilt = try feed.connection.lines(made)
      #expect(rebuilt == incremental)
      #expect(incremental.count > 2)
    }
  }
}
