import Archives
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// When a station was seen, and whether it is open, of all that its records and archives report.
struct StationSightingTests {
  private static let begin = Instant("2025-10-10T00:00:00Z")
  private func hour(_ hours: Int) -> Instant { Self.begin + .seconds(hours * 3_600) }

  private func station(_ code: String) -> Station {
    Station(
      code: code, state: .nsw, name: code == "77" ? "Roadhouse" : "Metro \(code)", brand: "Metro",
      address: "\(code == "77" ? "1" : code) Main St, Kiama NSW 2533", suburb: "Kiama",
      postcode: "2533")
  }

  /// Matches stations and makes their spans, which are the first steps of an aggregate.
  private func makeTimeline(_ feed: Feed, now: Instant) throws {
    try Identity.match(feed.store, decisions: [], now: now, log: Logger(.error))
    try TimelineUpdate.makeAll(Workers(feed.store), now: now)
  }

  private func lines(_ feed: Feed, at now: Instant) throws -> [String] {
    _ = try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
    return try feed.connection.lines(
      """
      SELECT is_open, offers_fuel, last_seen_at FROM fuel_v1.stations
      WHERE station_id IN (
        SELECT station_id FROM fuel_v1.station_records
        WHERE source <> 'nsw-fuelcheck' OR source_station_code IN ('1', '77'))
      """)
  }

  /// F-S10, F-S11: a station offers what only its new code reports. When the new code is described
  /// without a price, the station offers nothing, and after thirty days it is closed.
  @Test func aNewCodeOffersFuelOrNone() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let other = Observation.u91("9", 1_600, hour(0))
      try feed.reports(
        [other, .u91("1", 1_800, hour(0))], stations: [station("1"), station("9")], at: hour(1))
      // The stamps of the new code are older, so the old code still represents the station.
      try feed.reports(
        [other, .u91("77", 1_800, hour(-72)), .u91("77", 1_800, hour(-72)).of(.dl)],
        stations: [station("77"), station("9")], at: hour(5))
      try makeTimeline(feed, now: hour(6))
      let both = try lines(feed, at: hour(6))
      #expect(both == ["t|t|2025-10-10 05:00:00+00"])
      try feed.reports([other], stations: [station("77"), station("9")], at: hour(9))
      let without = try lines(feed, at: hour(9))
      #expect(without == ["t|f|2025-10-10 05:00:00+00"])
      try feed.reports([other], stations: [station("77"), station("9")], at: hour(40 * 24))
      let later = try lines(feed, at: hour(40 * 24))
      #expect(later == ["f|f|2025-10-10 05:00:00+00"])
    }
  }

  /// F-S11: a station that only an archive knows was seen until the last day that the archive
  /// reports.
  @Test func anArchiveSeesAStationUntilItsLastDay() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let rows = ["2025-10-02 12:00:00,170.0", "2025-10-09 12:00:00,171.0"].map {
        "Metro Kiama,\"1 Main St, Kiama NSW 2533\",Kiama,2533,Metro,U91,\($0)\n"
      }
      _ = try await HistoryOrderTests.withFile(
        "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
          + rows.joined()
      ) { path in
        try await Backfill(
          HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [],
          clock: .fixed(hour(0)), log: Logger(.error)
        ).run([path])
      }
      try makeTimeline(feed, now: hour(0))
      // The day of 9 October ends in Sydney at 13:00 UTC.
      let seen = try lines(feed, at: hour(0))
      #expect(seen == ["t|t|2025-10-09 13:00:00+00"])
    }
  }

  /// F-S12: a list that is refused because an earlier list arrives late leaves no trace. A station
  /// that only this list named is first seen by the next list that names it.
  @Test(arguments: [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]])
  func aRefusedListSeesNoStation(order: [Int]) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func list(_ codes: Range<Int>, at instant: Instant) -> [Observation] {
        codes.map { .u91("\($0)", 1_800, instant) }
      }
      let lists = [
        list(0..<20, at: hour(0)), list(77..<78, at: hour(0)),
        list(0..<20, at: hour(0)) + list(77..<78, at: hour(0)),
      ]
      for number in order {
        do {
          try feed.reports(
            lists[number], at: hour(2 * number), now: hour(6), refuseBelow: 0.7)
        } catch is Refusal {
          #expect(number == 1)
        }
      }
      #expect(
        try feed.connection.lines(
          "SELECT first_seen_at FROM fuel_v1.stations WHERE source_station_code = '77'")
          == ["2025-10-10 04:00:00+00"])
    }
  }

  /// F-S13: a station that complete lists leave out was last seen by the list before the gap, however
  /// long ago its price began. A run that is withdrawn does not count, and the order of arrival does
  /// not matter.
  @Test(arguments: [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]])
  func aListSawAStationUntilTheGap(order: [Int]) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw, priceLapsesHours: 2_160)
      let (price, other) = (
        Observation.u91("1", 1_800, hour(0)), Observation.u91("9", 1_600, hour(0))
      )
      // One fuel is left out sooner than the other one.
      let lists: [(at: Int, observations: [Observation])] = [
        (0, [other, price, price.of(.dl)]), (20 * 24, [other, price]), (40 * 24, [other, price]),
        (40 * 24 + 12, [other]), (41 * 24, [other]),
      ]
      for number in order {
        try feed.reports(
          lists[number].observations, stations: [station("1"), station("9")],
          at: hour(lists[number].at), now: hour(41 * 24))
      }
      try makeTimeline(feed, now: hour(41 * 24))
      let soon = try lines(feed, at: hour(41 * 24))
      #expect(soon == ["t|f|2025-11-19 00:00:00+00"])
      let later = try lines(feed, at: hour(71 * 24))
      #expect(later == ["f|f|2025-11-19 00:00:00+00"])
      let number = try feed.connection.query(
        "SELECT run_id FROM fuel.run WHERE taken_at = \(hour(40 * 24))::timestamptz"
      ).only().integer("run_id")
      let run = try #require(try feed.store.ledger.ledgerRun(number)?.run)
      _ = try feed.decide(
        run, takenAt: hour(40 * 24), counts: false, now: hour(41 * 24), refuseBelow: 0,
        partialBelow: 0)
      let without = try lines(feed, at: hour(41 * 24))
      #expect(without == ["t|f|2025-10-30 00:00:00+00"])
    }
  }

  /// F-S14: a description that only leaves fields of a fuller one empty is no change. It extends the
  /// newest description that it fits, and hides no brand that was stated before.
  @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
  func anEmptyFieldIsNoChange(order: [Int]) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let brands: [String: [String?]] = [
        "1": ["Liberty", nil, "Shell", nil], "2": [nil, nil, "BP", nil],
      ]
      for number in order {
        let stations = ["1", "2"].map { code in
          let brand = brands[code]?[number]
          return Station(
            code: code, state: .qld, name: "Corner \(code)", brand: brand,
            address: "\(code) Main St", suburb: brand == nil ? nil : "Roma")
        }
        try feed.reports(
          [.u91("1", 1_800, hour(-1)), .u91("2", 1_800, hour(-1))], stations: stations,
          at: hour(number), now: hour(4))
      }
      #expect(
        try feed.connection.lines(
          """
          SELECT written_brand, suburb, first_seen_at, last_seen_at
          FROM fuel_v1.station_history ORDER BY name, first_seen_at
          """) == [
            "Liberty|Roma|2025-10-10 00:00:00+00|2025-10-10 00:00:00+00",
            "Shell|Roma|2025-10-10 02:00:00+00|2025-10-10 03:00:00+00",
            "BP|Roma|2025-10-10 00:00:00+00|2025-10-10 03:00:00+00",
          ])
      #expect(
        try feed.connection.lines(
          "SELECT written_brand, suburb FROM fuel_v1.station_records ORDER BY source_station_code")
          == ["Shell|Roma", "BP|Roma"])
    }
  }

  /// F-O30: of a feed that publishes a day late, a price is confirmed and a station seen at the
  /// instant that the answer shows, whether or not the price is new.
  @Test func aLateFeedSeesByOneClock() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      let held = Observation.u91("1", 1_900, hour(-30))
      try feed.reports(
        [held, .u91("2", 1_950, hour(-30))],
        stations: ["1", "2"].map { Station(code: $0, state: .vic, name: "V\($0)", address: "") },
        at: hour(0))
      try feed.reports([held, .u91("2", 1_990, hour(-2))], at: hour(24))
      _ = try feed.connection.query(
        "SELECT set_config('bowser.now', \(hour(24).description), false)")
      #expect(
        try feed.connection.lines(
          """
          SELECT price.price_cpl, price.confirmed_at, station.last_seen_at
          FROM fuel_v1.current_prices AS price
          JOIN fuel_v1.stations AS station USING (station_id)
          ORDER BY station.name
          """) == [
            "190.0|2025-10-10 00:00:00+00|2025-10-10 00:00:00+00",
            "199.0|2025-10-10 00:00:00+00|2025-10-10 00:00:00+00",
          ])
    }
  }
}

extension Observation {
  /// The same price for another fuel.
  fileprivate func of(_ fuel: Fuel) -> Observation {
    var other = self
    other.fuel = fuel
    return other
  }
}
