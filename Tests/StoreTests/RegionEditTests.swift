import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Timeline

/// Averages that are adjusted when single stations change.
struct RegionEditTests {
  private static let begin = Instant("2026-03-31T15:00:00Z")
  private static let days = 75
  private static let now = begin + .seconds(86_400 * days)
  private static let regions: [Region] = [
    .nation, .queensland,
    Region(
      code: "BNE", name: "Brisbane", kind: "capital", state: .qld,
      centre: Position(latitude: -27.47, longitude: 153.03), radiusKilometres: 1,
      postcodes: ["4000-4099"]),
    Region(
      code: "WA", name: "WA", kind: "state", state: .wa, centre: nil, radiusKilometres: nil),
  ]

  /// Late prices, prices that end, linked stations and stations that move adjust the
  /// averages of their days. The results equal averages over all stations, and most of them need no
  /// look at the other stations.
  @Test(.longer, arguments: 0..<Long.count(short: 2, long: 4))
  func averagesThatWereChangedAreThoseOfAllStations(seed: Int) async throws {
    try await TestDatabase.with { target in
      var random = Random(seed: UInt64(seed), "edits")
      let east = try Feed(target)
      let west = try Feed(target, name: "wa-fuelwatch", state: .wa, sightLapsesHours: 24)
      // The number of stations differs by seed, from a handful, all of which are kept beside each
      // rank, to many.
      let count = [7, 90, 20, 45][seed]
      func station(_ number: Int, isPublic: Bool = true) -> Station {
        var station = Station(
          code: "\(number)", state: .qld, name: "S\(number)", brand: "X",
          address: "\(number) Main St", suburb: "Town", postcode: number % 3 == 0 ? "4010" : "4700")
        station.isPublic = isPublic
        return station
      }
      for day in 0..<Self.days {
        let at = Self.begin + .seconds(86_400 * day)
        let level = 1_700 + day % 21 * 10
        func list(_ numbers: some Sequence<Int>) -> [Observation] {
          numbers.filter { day % 25 < 24 || $0 % 5 > 0 }
            .map { .u91("\($0)", level + $0 % 40 * 5, at) }
        }
        try east.reports(
          list(0..<count), stations: (0..<count).map { station($0) }, at: at + .seconds(60))
        if day > 30 { try west.reports(list(0..<5), at: at + .seconds(60)) }
      }
      try east.aggregate(at: Self.now, regions: Self.regions)

      func rows() throws -> [String] {
        try east.connection.lines(
          """
          SELECT region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage,
            is_ended, excluded_stale, excluded_flagged, excluded_restricted, stations_expected,
            is_complete, is_usable, complete_states, states
          FROM fuel.daily_rollup ORDER BY region, fuel_id, day
          """)
      }
      var edited = 0
      var decisions: [StationDecision] = []
      for step in 0..<8 {
        let before = try rows()
        for _ in 0...random.integer(0...3) {
          let late = Self.begin + .seconds(random.integer(3_600...(86_400 * Self.days - 90_000)))
          let number = random.integer(0...count - 1)
          switch random.integer(0...4) {
          case 0...1:
            try east.reports(
              [.u91("\(number)", random.integer(1_600...1_990), late)], at: late + .seconds(60),
              now: Self.now, coverage: .partial)
          case 2:
            // A list of that time without the station.
            let stored = (0..<count).filter { $0 != number }
            try east.reports(
              stored.map { .u91("\($0)", 1_700 + $0 % 40 * 5, late - .seconds(7_200)) },
              at: late + .seconds(60), now: Self.now, coverage: .partial)
          case 3:
            let other = (number + 1) % count
            decisions.removeAll { $0.firstCode == "\(number)" }
            decisions.append(
              StationDecision(
                day: Day(sinceEpoch: 20_000 + step), firstSource: "qld-fpd", firstCode: "\(number)",
                secondSource: "qld-fpd", secondCode: "\(other)",
                isSame: random.chance(0.7), reason: "looked"))
          default:
            try east.reports(
              [.u91("\(number)", 1_801, Self.now - .seconds(Int64(9 - step) * 60))],
              stations: [station(number, isPublic: random.chance(0.5))],
              at: Self.now - .seconds(Int64(9 - step) * 60), now: Self.now, coverage: .partial)
          }
        }
        try Identity.match(
          east.store, decisions: decisions, now: Self.now, log: Logger(.error))
        _ = try east.store.refreshRegions(Self.regions)
        try TimelineUpdate.countStations(east.store, now: Self.now)
        let workers = Workers(east.store)
        try TimelineUpdate.makeAll(workers, now: Self.now)
        try east.store.refreshSourceDays(now: Self.now)
        try DayUpdate.makeStationDays(workers, now: Self.now)
        if try rows() != before { edited += 1 }
        try DayUpdate.makeRegionDays(
          try east.store.dirtySpans(now: Self.now), workers, now: Self.now)

        let changed = try rows()
        try east.store.markAllDirty(from: Day("2026-03-25"), now: Self.now)
        try DayUpdate.makeRegionDays(
          try east.store.dirtySpans(now: Self.now), workers, now: Self.now)
        let whole = try rows()
        #expect(changed == whole, "seed \(seed), step \(step)")
        for (left, right) in zip(changed, whole) where left != right {
          Issue.record("step \(step): changed \(left), of all \(right)")
          break
        }
      }
      // Some steps changed averages before any day was computed from all stations.
      #expect(edited > 2, "seed \(seed)")
    }
  }

  /// A list that changes days of many stations while an aggregate computes averages is in the
  /// averages in the end.
  @Test func aListBesideAnAggregateIsNotLost() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let workers = Workers(feed.store)
      // More stations than are adjusted one by one.
      let stations = (0..<250).map { number in
        Station(
          code: "\(number)", state: .qld, name: "S\(number)", brand: "X",
          address: "\(number) Main St", suburb: "Town", postcode: "4010")
      }
      func reports(_ tenths: Int, _ stampedAt: Instant, at: Instant) throws {
        try feed.reports(
          stations.map { .u91($0.code, tenths, stampedAt) }, stations: stations, at: at)
      }
      func averages() throws -> [String] {
        try feed.connection.lines(
          "SELECT region, day, average_cpl FROM fuel.daily_rollup WHERE is_ended ORDER BY 1, 2")
      }
      // Days in Brisbane end at 14:00 UTC.
      let midnight = Instant("2026-06-05T14:00:00Z")
      try reports(1_700, midnight - .seconds(86_400 * 3), at: midnight - .seconds(86_400 * 3 - 60))
      try reports(1_710, midnight - .seconds(86_400), at: midnight - .seconds(7_200))
      try feed.aggregate(at: midnight - .seconds(3_600), regions: Self.regions)

      let now = midnight + .seconds(600)
      try TimelineUpdate.makeAll(workers, now: now)
      try feed.store.refreshSourceDays(now: now)
      try DayUpdate.makeStationDays(workers, now: now)
      try reports(1_900, midnight - .seconds(43_200), at: midnight + .seconds(300))
      try DayUpdate.makeRegionDays(try feed.store.dirtySpans(now: now), workers, now: now)
      try feed.aggregate(at: now + .seconds(3_600), regions: Self.regions)
      let made = try averages()

      try feed.store.markAllDirty(from: nil, now: now)
      try feed.aggregate(at: now + .seconds(3_600), regions: Self.regions)
      #expect(try averages() == made)
      #expect(made.contains("QLD|2026-06-05|180.50"))
    }
  }
}
