import FuelModel
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// What is odd about a feed as a whole, and what becomes of stations that come, go and move.
struct DetectorTests {
  static let begin = Instant("2026-05-04T00:00:00Z")
  private func hour(_ hours: Int) -> Instant { Self.begin + .seconds(hours * 3_600) }

  private func list(_ fuels: [Fuel], at instant: Instant, stations: Range<Int> = 0..<20)
    -> [Observation]
  {
    stations.flatMap { number in
      fuels.map {
        Observation(
          stationCode: "\(number)", fuel: $0, price: Price(tenths: 1800 + number),
          effectiveAt: instant)
      }
    }
  }

  private func described(_ brand: (Int) -> String) -> [Station] {
    (0..<20).map {
      Station(
        code: "\($0)", state: .qld, name: "S\($0)", brand: brand($0), address: "\($0) Main Rd")
    }
  }

  private func current(_ feed: Feed, at now: Instant) throws -> Int {
    try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
    return Int(try feed.connection.lines("SELECT count(*) FROM fuel_v1.current_prices")[0]) ?? -1
  }

  private func warnings(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      "SELECT warnings, is_complete FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1")
  }

  /// F-F02, F-F03: a list without any price of a fuel counts as incomplete. The missing fuel is
  /// named, and its prices do not end. After the feed's limit (`sightLapsesHours`) the absence is
  /// believed.
  @Test func aMissingFuelIsNamed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(list([.u91, .e10, .dl], at: hour(0)), at: hour(0))
      let counts = try feed.reports(list([.u91, .dl], at: hour(0)), at: hour(1))
      #expect(counts.warnings == ["nothing of E10"])
      #expect(try warnings(feed)[0].hasSuffix("|f"))
      #expect(try current(feed, at: hour(2)) == 60)
      for step in 1...25 { try feed.reports(list([.u91, .dl], at: hour(0)), at: hour(step * 2)) }
      #expect(try current(feed, at: hour(51)) == 40)
      #expect(try warnings(feed) == ["|t"])
    }
  }

  /// F-F61: a list of which most stations are others than before, such as another state's, is refused,
  /// also when it comes again. After the feed's limit it is believed.
  @Test func aListOfOtherStationsIsRefused() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(list([.u91], at: hour(0), stations: 0..<30), at: hour(0))
      // A third of the stations are new: a region has joined.
      try feed.reports(list([.u91], at: hour(0), stations: 0..<45), at: hour(1))
      for step in 2...3 {
        #expect(
          throws: Refusal(
            "45 of 60 stations were not in the list before: is it another state's?")
        ) { try feed.reports(list([.u91], at: hour(1), stations: 30..<90), at: hour(step)) }
      }
      #expect(try current(feed, at: hour(4)) == 45)
      try feed.reports(list([.u91], at: hour(0), stations: 0..<45), at: hour(4))
      #expect(try current(feed, at: hour(5)) == 45)
      try feed.reports(list([.u91], at: hour(1), stations: 30..<90), at: hour(53))
      #expect(try current(feed, at: hour(53)) == 60)
    }
  }

  /// F-F03: the same holds for a brand. A chain under a new name does not count as missing.
  @Test func aMissingBrandIsNamed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(
        list([.u91], at: hour(0)), stations: described { $0 < 12 ? "Coles Express" : "BP" },
        at: hour(0))
      let rebranded = try feed.reports(
        list([.u91], at: hour(0)), stations: described { $0 < 12 ? "Reddy Express" : "BP" },
        at: hour(1))
      #expect(rebranded.warnings == [])
      let gone = try feed.reports(list([.u91], at: hour(0), stations: 12..<20), at: hour(2))
      #expect(gone.warnings == ["nothing of brand Reddy Express"])
      #expect(try current(feed, at: hour(3)) == 20)
      // The refusal of a list that is too short names the missing brand.
      #expect(
        throws: Refusal(
          "only 8 prices where 20 were listed before: below 70 %; nothing of brand Reddy Express")
      ) {
        try feed.reports(
          list([.u91], at: hour(0), stations: 12..<20), at: hour(4), refuseBelow: 0.7)
      }
    }
  }

  /// F-F64, F-F02: where records of a list are broken, the sound ones count from the first list on.
  /// What the lists do not show is not ended and not confirmed: it lapses by itself.
  @Test(arguments: [7, 40]) func soundPricesCountBesideBrokenOnes(broken: Int) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      func report(_ stations: Range<Int>, at hours: Int) throws -> Counts {
        try feed.reports(
          list([.u91, .dl], at: hour(hours - 1), stations: stations), at: hour(hours),
          rejects: (0..<(hours == 0 ? 0 : broken)).map { Reject(.recordUnreadable, raw: "x\($0)") },
          refuseBelow: 0.2, partialBelow: 0.95)
      }
      func fresh(at hours: Int) throws -> [String] {
        try feed.connection.query(
          "SELECT set_config('bowser.now', \(hour(hours).description), false)")
        return try feed.connection.lines(
          "SELECT count(*) FILTER (WHERE is_fresh) AS fresh, count(*) AS prices FROM fuel_v1.current_prices"
        )
      }
      _ = try report(0..<20, at: 0)
      for hours in stride(from: 3, through: 30, by: 3) {
        let counts = try report(4..<20, at: hours)
        #expect(counts.stored == 32 && counts.shortcomings.contains { $0.hasPrefix("broken: ") })
        let shown = try fresh(at: hours + 1)
        #expect(shown == [hours < 23 ? "40|40" : "32|40"], "\(hours): \(shown)")
      }
      // Sound again: the stations that were not seen go on.
      _ = try feed.reports(
        list([.u91, .dl], at: hour(32), stations: 0..<20), at: hour(33), refuseBelow: 0.2,
        partialBelow: 0.95)
      #expect(try fresh(at: 34) == ["40|40"])
    }
  }

  /// F-F07: a feed that repeats yesterday's answer replaces no newer price and ends none. The run
  /// gets a warning.
  @Test func aReplayedStateMovesNothingBack() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let yesterday = list([.u91, .dl], at: hour(0))
      try feed.reports(yesterday, at: hour(0))
      try feed.reports(
        list([.u91, .dl], at: hour(20)) + list([.lpg], at: hour(20)), at: hour(20))
      let before = try feed.published(at: hour(22))
      let counts = try feed.reports(yesterday, at: hour(21))
      #expect(counts.stored == 0 && counts.warnings.count == 3)
      #expect(counts.warnings.contains("replayed: equal to the list of \(hour(0))"))
      #expect(counts.warnings.contains("replayed: 40 of 40 stamps went back"))
      #expect(try current(feed, at: hour(22)) == 60)
      #expect(
        try feed.published(at: hour(22)).filter { $0.contains("current") }
          == before.filter { $0.contains("current") })
    }
  }

  /// F-F04: a feed that changes nothing for a day, and for three times as long as ever in the four
  /// weeks before, is frozen for as long as that lasts. Its prices lapse, and its days are not
  /// covered.
  @Test func aFrozenFeedIsTold() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func health(_ now: Instant) throws -> String {
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines("SELECT status, why, since_at FROM fuel_v1.feed_health")[0]
      }
      func fresh(_ now: Instant) throws -> String {
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines(
          "SELECT count(*) FILTER (WHERE is_fresh) AS fresh, count(*) FROM fuel_v1.current_prices")[
            0]
      }
      var prices: [Observation] = []
      for step in 0..<72 {
        // The feed rests for ten hours each night.
        if step % 24 >= 10 { prices = list([.u91], at: hour(step)) }
        try feed.reports(prices, at: hour(step))
      }
      // Each night eleven hours passed without a change, so it is frozen after 33 hours.
      for step in 72..<500 where step < 110 || step % 6 == 0 {
        try feed.reports(prices, at: hour(step))
      }
      #expect(
        try feed.connection.lines(
          "SELECT min(taken_at) FROM fuel.run WHERE frozen_since_at IS NOT NULL")
          == ["2026-05-08 08:00:00+00"])
      let why = "stale|frozen: nothing new since 2026-05-06 23:00 UTC|2026-05-06 23:00:00+00"
      for step in [110, 300, 400, 499] { #expect(try health(hour(step)) == why) }
      #expect(try fresh(hour(499)) == "0|20")
      try feed.aggregate(at: hour(499))
      // The last list that confirmed was taken on 8 May, and is believed for two days.
      #expect(
        try feed.connection.lines(
          """
          SELECT DISTINCT day BETWEEN '2026-05-04' AND '2026-05-10', coalesce(why, 'covered')
          FROM fuel_v1.coverage WHERE region = 'QLD' ORDER BY 1
          """) == ["f|frozen", "t|covered"])
      #expect(
        try feed.connection.lines(
          "SELECT stations, excluded_stale FROM fuel_v1.averages_now WHERE region = 'QLD'")
          == ["0|20"])
      // Once prices change again, the feed is well.
      try feed.reports(list([.u91], at: hour(500)), at: hour(500))
      #expect(try health(hour(500)).hasPrefix("ok|NULL"))
      #expect(try fresh(hour(500)) == "20|20")
      // That freeze is no habit: the next one is found as soon.
      for step in 501..<540 {
        try feed.reports(list([.u91], at: hour(500)), at: hour(step))
      }
      #expect(try health(hour(532)).hasPrefix("ok|NULL"))
      #expect(
        try health(hour(533)).hasPrefix("stale|frozen: nothing new since 2026-05-24 20:00 UTC|"))
    }
  }

  /// F-F05, F-F06: rows in another order, or stamps that equal the time of the fetch, are no new
  /// prices. Bowser decides by its own comparison since when a price holds.
  @Test func restatedPricesKeepTheirBeginning() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(list([.u91], at: hour(0)), at: hour(0))
      let reordered = try feed.reports(list([.u91], at: hour(0)).reversed(), at: hour(1))
      #expect(reordered.stored == 0 && reordered.unchanged == 20)
      for step in 2..<9 { try feed.reports(list([.u91], at: hour(step)), at: hour(step)) }
      _ = try current(feed, at: hour(9))
      #expect(
        try feed.connection.lines("SELECT DISTINCT effective_at FROM fuel_v1.current_prices")
          == ["2026-05-04 00:00:00+00"])
    }
  }

  /// In a feed without stamps, a price begins when it was first seen, in whatever order the lists
  /// arrive.
  @Test func unstampedPricesBeginWhenSeen() async throws {
    func run(_ order: [Int]) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, name: "nt-myfuel", state: .nt)
        let seen = [1800, 1800, 1790, 1790, 1800, 0, 1800, 1810]
        for index in order {
          let observation = Observation(
            stationCode: "1", fuel: .u91, price: Price(tenths: seen[index]), effectiveAt: nil)
          try feed.reports([observation], at: hour(index), now: hour(9))
        }
        return try feed.published(at: hour(9))
      }
    }
    let plain = try await run(Array(0..<8))
    #expect(
      plain.filter { $0.hasPrefix("history") }
        == [
          "history|1|U91|180.0|2026-05-04 00:00:00+00|2026-05-04 02:00:00+00|nt-myfuel",
          "history|1|U91|179.0|2026-05-04 02:00:00+00|2026-05-04 04:00:00+00|nt-myfuel",
          "history|1|U91|180.0|2026-05-04 04:00:00+00|2026-05-04 05:00:00+00|nt-myfuel",
          "history|1|U91|180.0|2026-05-04 06:00:00+00|2026-05-04 07:00:00+00|nt-myfuel",
          "history|1|U91|181.0|2026-05-04 07:00:00+00|NULL|nt-myfuel",
        ].sorted())
    for order in [
      [7, 6, 5, 4, 3, 2, 1, 0], [3, 0, 7, 2, 5, 1, 6, 4], [0, 7, 2, 2, 4, 1, 3, 6, 5],
    ] {
      #expect(try await run(order) == plain, "\(order)")
    }
  }

  /// F-F11: new terms are stored with their date beside the old ones, and shown.
  @Test func termsHaveDates() async throws {
    try await TestDatabase.with { target in
      let store = Store(try Connection(target))
      for (text, at) in [("one", hour(0)), ("one", hour(1)), ("two", hour(2))] {
        _ = try store.ledger.register(
          SourceRecord(
            feed: "qld-fpd", state: .qld, cadenceMinutes: 60, priceLapsesHours: 1,
            sightLapsesHours: 1, licence: "L", attribution: text, isEnabled: true,
            callsPerMonth: 0), now: at)
      }
      let connection = try Connection(target)
      #expect(
        try connection.lines("SELECT since_at, attribution FROM fuel.terms ORDER BY 1")
          == ["2026-05-04 00:00:00+00|one", "2026-05-04 02:00:00+00|two"])
      #expect(
        try connection.lines("SELECT attribution, licence, terms_since_at FROM fuel_v1.feed_health")
          == ["two|L|2026-05-04 02:00:00+00"])
    }
  }

  /// F-F12: the averages of a state that publishes a day late are those of a day ago and marked as
  /// such. None of its prices is in the present average of the nation.
  @Test func aDelayedFeedIsNeverNow() async throws {
    try await TestDatabase.with { target in
      let victoria = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      let queensland = try Feed(target)
      func prices(_ tenths: Int, _ at: Instant) -> [Observation] {
        (0..<5).map { .u91("\($0)", tenths, at) }
      }
      func vic(_ code: Int) -> Station {
        Station(code: "\(code)", state: .vic, name: "V\(code)", address: "")
      }
      try victoria.reports(
        prices(2000, hour(-30)), stations: (0..<5).map(vic), at: hour(0))
      try queensland.reports(prices(1800, hour(-1)), at: hour(0))
      let regions = [
        Region.queensland, .nation,
        Region(
          code: "VIC", name: "Victoria", kind: "state", state: .vic, centre: nil,
          radiusKilometres: nil),
      ]
      try queensland.aggregate(at: hour(1), regions: regions)
      let connection = queensland.connection
      try connection.query("SELECT set_config('bowser.now', \(hour(1).description), false)")
      #expect(
        try connection.lines(
          """
          SELECT region, average_cpl, stations, excluded_delayed, delay_hours, as_of_at
          FROM fuel_v1.averages_now ORDER BY region
          """) == [
            "AU|180.00|5|5|0|2026-05-04 01:00:00+00", "QLD|180.00|5|0|0|2026-05-04 01:00:00+00",
            "VIC|200.00|5|0|24|2026-05-03 01:00:00+00",
          ])
      #expect(
        try connection.lines(
          "SELECT DISTINCT state, delay_hours FROM fuel_v1.current_prices ORDER BY 1")
          == ["QLD|0", "VIC|24"])
      #expect(
        try connection.lines(
          "SELECT DISTINCT region FROM fuel_v1.station_comparison WHERE price_cpl = 200 ORDER BY 1")
          == ["VIC"])
      // The delayed prices count as known from the fetch on, although they took effect a day
      // earlier.
      #expect(
        try connection.lines(
          "SELECT DISTINCT learnt_at FROM fuel.price WHERE price_tenths = 2000") == [
            "2026-05-04 00:00:00+00"
          ])
      // A day that has not been published yet has no average.
      #expect(
        try connection.lines(
          "SELECT max(day) < '2026-05-04' FROM fuel_v1.daily_averages WHERE region = 'VIC'")
          == ["t"])
    }
  }

  /// F-F14: a day on which no price changed in Western Australia still has a price.
  @Test func aDayWithoutChangeIsADay() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      // 22:00 UTC is 06:00 in Perth.
      for day in 0..<3 {
        try feed.reports(
          [.u91("1", 1800, hour(day * 24 - 2))], at: hour(day * 24), coverage: .partial)
      }
      try feed.connection.query("SELECT set_config('bowser.now', \(hour(60).description), false)")
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, is_fresh, effective_at FROM fuel_v1.current_prices")
          == ["180.0|t|2026-05-03 22:00:00+00"])
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel.held_at(\(hour(30)))") == ["1"])
    }
  }

  /// F-S02, F-S09: a move of some metres is taken over at once. Another place under the same code
  /// is marked and waits for a week before it counts.
  @Test func aMovedStationWaits() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func station(_ name: String, _ latitude: Double) -> Station {
        Station(
          code: "1", state: .qld, name: name, address: "1 Main Rd",
          position: Position(latitude: latitude, longitude: 153))
      }
      func shown() throws -> [String] {
        try feed.connection.lines("SELECT name, latitude, has_moved FROM fuel_v1.stations")
      }
      for day in 0..<20 {
        try feed.reports(
          [.u91("1", 1800, hour(0))], stations: [station("A", -27.5)], at: hour(day * 24))
      }
      try feed.reports(
        [.u91("1", 1800, hour(0))], stations: [station("A", -27.501)], at: hour(20 * 24))
      #expect(try shown() == ["A|-27.501000|f"])
      try feed.reports(
        [.u91("1", 1800, hour(0))], stations: [station("B", -27.9)], at: hour(21 * 24))
      #expect(try shown() == ["B|-27.501000|t"])
      for day in 22..<28 {
        try feed.reports(
          [.u91("1", 1800, hour(0))], stations: [station("B", -27.9)], at: hour(day * 24))
      }
      #expect(try shown() == ["B|-27.501000|t"])
      try feed.reports(
        [.u91("1", 1800, hour(0))], stations: [station("B", -27.9)], at: hour(28 * 24))
      #expect(try shown() == ["B|-27.900000|f"])
      #expect(
        try feed.connection.lines(
          "SELECT name, latitude, first_seen_at < last_seen_at FROM fuel_v1.station_history ORDER BY first_seen_at"
        )
          == ["A|-27.500000|t", "A|-27.501000|f", "B|-27.900000|t"])
    }
  }

  /// F-S03, F-Z13: a station that one document describes twice has one row, which one statement
  /// writes once. If the descriptions differ, the run gets a warning.
  @Test func aStationTwiceIsOne() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let a = Station(code: "1", state: .qld, name: "A", address: "1 Main Rd")
      let b = Station(code: "1", state: .qld, name: "B", address: "1 Main Rd")
      #expect(
        try feed.reports([.u91("1", 1800, hour(0))], stations: [a, a], at: hour(0)).warnings == [])
      let counts = try feed.reports([.u91("1", 1800, hour(0))], stations: [a, b], at: hour(1))
      #expect(counts.warnings == ["stations described in two ways: 1"])
      #expect(try feed.connection.lines("SELECT name FROM fuel_v1.stations") == ["B"])
    }
  }

  /// F-S10: a station whose feed falls silent does not stay open for ever.
  @Test func aSilentFeedHasNoOpenStations() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1800, hour(0))], at: hour(0))
      func shown(_ now: Instant) throws -> [String] {
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines("SELECT is_open, offers_fuel FROM fuel_v1.stations")
      }
      // The price is believed for two days, and shown as stale for thirty more.
      #expect(try shown(hour(24 * 29)) == ["t|t"])
      #expect(try shown(hour(24 * 31)) == ["f|t"])
      #expect(try shown(hour(24 * 33)) == ["f|f"])
    }
  }

  /// F-S04: a station that is absent from a list or for a day is not closed. After a month it
  /// counts as closed. When it comes back, it still has its history.
  @Test func absenceClosesNothing() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let other = Observation.u91("2", 1800, hour(0))
      func open(_ now: Instant) throws -> String {
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines(
          "SELECT is_open, offers_fuel FROM fuel_v1.stations WHERE source_station_code = '1'")[0]
      }
      try feed.reports([.u91("1", 1800, hour(0)), other], at: hour(0))
      #expect(try open(hour(0)) == "t|t")
      try feed.reports([other], at: hour(1))
      #expect(try open(hour(1)) == "t|f")
      try feed.reports([other], at: hour(24 * 20))
      #expect(try open(hour(24 * 20)) == "t|f")
      try feed.reports([other], at: hour(24 * 60))
      #expect(try open(hour(24 * 60)) == "f|f")
      try feed.reports([.u91("1", 1850, hour(24 * 61)), other], at: hour(24 * 61))
      #expect(try open(hour(24 * 61)) == "t|t")
      #expect(
        try feed.connection.lines(
          """
          SELECT price_cpl, valid_until_at IS NULL FROM fuel_v1.price_history
          JOIN fuel_v1.stations USING (station_id) WHERE source_station_code = '1' ORDER BY valid_from_at
          """) == ["180.0|f", "185.0|t"])
    }
  }

  /// F-B01: a few unknown fuel codes are stored as unmapped fuels. Dozens of them at once mean that
  /// the field has changed its meaning, and the list is refused.
  @Test func dozensOfUnknownCodesAreRefused() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func prices(_ codes: Int) -> [Observation] {
        (0..<codes).map {
          Observation(
            stationCode: "1", fuel: .unmapped("X\($0)"), price: Price(tenths: 1800),
            effectiveAt: hour(0))
        }
      }
      #expect(try feed.reports(prices(3), at: hour(0)).unmapped == 3)
      // An unmapped code of a feed may equal the code of another fuel of Bowser's own, here DL.
      let same = [("1", Fuel.dl), ("2", .unmapped("DL"))].map {
        Observation(stationCode: $0, fuel: $1, price: Price(tenths: 1800), effectiveAt: hour(0))
      }
      #expect(try feed.reports(prices(2) + same, at: hour(0) + .seconds(60)).unmapped == 3)
      #expect(throws: Refusal.self) { try feed.reports(prices(21), at: hour(1)) }
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel.fuel WHERE NOT is_mapped") == ["4"])
    }
  }

  /// A feed whose runs die is failing, not merely late.
  @Test func runsThatDieCountAsFailing() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(list([.u91], at: hour(0)), at: hour(0))
      for step in 1...3 { _ = try feed.store.ledger.beginRun(feed.id, at: hour(step)) }
      _ = try current(feed, at: hour(3))
      #expect(try feed.connection.lines("SELECT status FROM fuel_v1.feed_health") == ["failing"])
    }
  }

  /// A feed that fails until its prices have lapsed is stale: an alert that pages looks for that.
  @Test func aFeedThatKeepsFailingTurnsStale() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(list([.u91], at: hour(0)), at: hour(0))
      let lapse = try feed.connection.query(
        "SELECT ceil(extract(epoch FROM lapses_after) / 3600)::integer AS hours FROM fuel.sight"
      ).only().integer("hours")
      for step in [1, 2, lapse, lapse + 1] {
        let run = try feed.store.ledger.beginRun(feed.id, at: hour(step))
        try feed.store.ledger.failRun(
          run, at: hour(step), isRefusal: false, error: "the key is not allowed", payload: nil,
          requests: 1)
      }
      _ = try current(feed, at: hour(lapse))
      #expect(try feed.connection.lines("SELECT status FROM fuel_v1.feed_health") == ["failing"])
      _ = try current(feed, at: hour(lapse + 1))
      #expect(
        try feed.connection.lines("SELECT status, why FROM fuel_v1.feed_health")
          == ["stale|nothing good since 2026-05-04 00:00 UTC: the key is not allowed"])
    }
  }

  /// F-O21: prices that have lapsed do not count as prices of the feed. In Western Australia no
  /// list ends the price of a station that is silent: it ends with its day.
  @Test func lapsedPricesAreNotCounted() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      // 22:00 UTC is 06:00 in Perth.
      try feed.reports(
        [.u91("1", 1800, hour(-2)), .u91("2", 1810, hour(-2))], at: hour(0), coverage: .partial)
      try feed.reports([.u91("1", 1790, hour(22))], at: hour(24), coverage: .partial)
      func counted(at now: Instant) throws -> [String] {
        _ = try current(feed, at: now)
        return try feed.connection.lines("SELECT stations, prices FROM fuel_v1.feed_health")
      }
      #expect(try counted(at: hour(25)) == ["1|1"])
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, is_fresh FROM fuel_v1.current_prices ORDER BY 1")
          == ["179.0|t", "181.0|f"])
      // An earlier instant is answered from the history.
      #expect(try counted(at: hour(1)) == ["2|2"])
      #expect(try counted(at: hour(50)) == ["0|0"])
    }
  }

  /// A dry run is one long transaction. Other feeds can store meanwhile.
  @Test func aRehearsalHoldsUpNobody() async throws {
    try await TestDatabase.with { target in
      let rehearsing = try Feed(target)
      let other = try Feed(target, name: "sa-fpd", state: .sa)
      // The partition of the year exists already, since making one would lock the history.
      try other.reports(list([.u91], at: hour(-1)), at: hour(-1))
      try rehearsing.store.beginRehearsal()
      try rehearsing.reports(list([.u91], at: hour(0)), at: hour(0))
      try other.connection.execute("SET lock_timeout = '2s'")
      let counts = try other.reports(list([.u91], at: hour(0)), at: hour(0))
      #expect(counts.stored == 20)
      try other.aggregate(at: hour(1))
      try rehearsing.store.endRehearsal()
      #expect(
        try other.connection.lines("SELECT DISTINCT source_id FROM fuel.price") == [
          "\(other.id.number)"
        ])
    }
  }

  /// Descriptions lead to the same result in any order of arrival, as prices do.
  @Test(.longer, arguments: 0..<Long.count(short: 2, long: 6))
  func descriptionsInAnyOrder(seed: Int) async throws {
    let names = ["A", "A", "B", "A", "C", "C", "B"]
    func run(_ order: [Int]) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target)
        for index in order {
          let station = Station(
            code: "1", state: .qld, name: names[index], brand: index == 4 ? "X" : nil, address: "a",
            position: Position(latitude: index > 4 ? -28.9 : -27.5, longitude: 153))
          try feed.reports(
            [.u91("1", 1800, hour(0))], stations: index == 3 ? [] : [station], at: hour(index * 30),
            now: hour(300))
        }
        return try feed.connection.lines(
          """
          SELECT name, brand, latitude, has_moved FROM fuel_v1.stations
          """)
          + feed.connection.lines(
            "SELECT name, written_brand, latitude, first_seen_at, last_seen_at FROM fuel_v1.station_history ORDER BY 4, 1"
          )
      }
    }
    let plain = try await run(Array(0..<7))
    var random = Random(seed: UInt64(seed), "descriptions")
    #expect(try await run(Array(0..<7).shuffled(using: &random)) == plain)
    #expect(plain[0].hasPrefix("B|X|-27.5"))
  }
}
