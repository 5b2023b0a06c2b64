import FuelModel
import Postgres
import Store
import TestDatabase
import Testing
import Timeline

/// Which prices are doubtful, for how long, and which averages leave them out.
struct PlausibilityTests {
  static let begin = Instant("2026-05-04T00:00:00Z")
  private func hour(_ hours: Int) -> Instant { Self.begin + .seconds(hours * 3_600) }

  /// Returns the prices of twenty stations around one level, in tenths of a cent.
  private func market(
    _ level: Int, at instant: Instant, except: [String: Int] = [:]
  ) -> [Observation] {
    (0..<20).map { number in
      let code = "\(number)"
      return .u91(code, except[code] ?? level + (number % 7) * 10 - 30, instant)
    }
  }

  private func flagged(_ feed: Feed, at now: Instant) throws -> [String] {
    try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
    return try feed.connection.lines(
      """
      SELECT source_station_code, price_cpl
      FROM fuel_v1.current_prices JOIN fuel_v1.stations USING (station_id)
      WHERE is_flagged ORDER BY 1
      """)
  }

  private func average(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      "SELECT stations, excluded_flagged, max_cpl, min_cpl FROM fuel_v1.averages_now WHERE region = 'QLD'"
    )
  }

  /// F-V05: a typing error that could be a price is shown with its mark and is in no average and no
  /// minimum. It is believed if it still holds after a day.
  @Test func aTypingErrorIsDoubted() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(market(2189, at: hour(0)), at: hour(0))
      try feed.aggregate(at: hour(1))
      let typed =
        market(2189, at: hour(0)).filter { $0.stationCode != "3" } + [.u91("3", 1259, hour(2))]
      let counts = try feed.reports(typed, at: hour(2))
      #expect(counts.flagged == 1 && counts.stored == 1)
      #expect(try flagged(feed, at: hour(3)) == ["3|125.9"])
      #expect(try average(feed) == ["19|1|221.90|215.90"])
      for step in 1..<14 { try feed.reports(typed, at: hour(2 + step * 2)) }
      try feed.aggregate(at: hour(25))
      #expect(try flagged(feed, at: hour(25)) == ["3|125.9"])
      #expect(
        try feed.connection.lines(
          "SELECT min_cpl, stations FROM fuel_v1.daily_averages WHERE region = 'QLD' AND day = '2026-05-04'"
        )
          == ["215.90|20"])
      try feed.aggregate(at: hour(28))
      #expect(try flagged(feed, at: hour(28)) == [])
      #expect(try average(feed) == ["20|0|221.90|125.90"])
      // Once the station has corrected its price, no price is marked.
      try feed.reports(
        market(2189, at: hour(0)).filter { $0.stationCode != "3" } + [.u91("3", 2199, hour(29))],
        at: hour(29))
      #expect(try flagged(feed, at: hour(30)) == [])
    }
  }

  /// F-V04, F-N36: a remote station that has always been expensive is compared with its own prices,
  /// on a first run too. A price far from its own is doubtful. Where the feed stamps every price
  /// anew each day, a price is not confirmed by still holding, but only by a person. That
  /// confirmation applies to the past too.
  @Test func aRemoteStationHasItsOwnWay() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, holdingConfirms: false)
      func reports(_ tenths: Int, since: Int, at: Int) throws {
        try feed.reports(
          market(1899, at: hour(0)) + [.u91("far", tenths, hour(since))], at: hour(at))
      }
      try reports(4200, since: 0, at: 0)
      try feed.aggregate(at: hour(1))
      #expect(try flagged(feed, at: hour(1)) == [])
      try reports(4150, since: 5, at: 5)
      #expect(try flagged(feed, at: hour(6)) == [])
      // A typing error.
      for day in 1...5 { try reports(1415, since: 20, at: day * 24) }
      try feed.aggregate(at: hour(121))
      #expect(try flagged(feed, at: hour(121)) == ["far|141.5"])
      #expect(
        try feed.connection.lines(
          "SELECT DISTINCT flag_reason FROM fuel_v1.current_prices WHERE is_flagged") == ["far"])
      func average() throws -> [String] {
        try feed.aggregate(at: hour(122))
        return try feed.connection.lines(
          "SELECT stations, min_cpl, excluded_flagged FROM fuel_v1.daily_averages WHERE region = 'QLD' AND day = '2026-05-06'"
        )
      }
      #expect(try average() == ["20|186.90|1"])
      try feed.connection.query(
        "SELECT fuel.confirm_price(station_id, 'U91', 141.5) FROM fuel.station WHERE station_code = 'far'"
      )
      #expect(try average() == ["21|141.50|0"])
      #expect(try flagged(feed, at: hour(122)) == [])
      try feed.connection.execute(
        """
        DELETE FROM fuel.price_confirmation;
        SELECT fuel.touch_stations(array_agg(station_id)) FROM fuel.station WHERE station_code = 'far'
        """)
      #expect(try average() == ["20|186.90|1"])
      #expect(try flagged(feed, at: hour(122)) == ["far|141.5"])
    }
  }

  /// F-V06: no price becomes doubtful when the excise is cut, or when prices jump by 40 cents
  /// overnight after a few stations have led.
  @Test(arguments: [-220, 400])
  func massMovesPass(change: Int) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(market(1759, at: hour(0)), at: hour(0))
      try feed.aggregate(at: hour(1))
      // Three stations lead, and the others follow the next morning.
      let leaders = ["1": 1759 + change, "8": 1759 + change, "15": 1769 + change]
      let led = market(1759, at: hour(0)).map { price in
        leaders[price.stationCode].map { .u91(price.stationCode, $0, hour(6)) } ?? price
      }
      let first = try feed.reports(led, at: hour(6), refuseBelow: 0.7, partialBelow: 0.95)
      #expect(first.flagged == 0 && first.stored == 3)
      let all = try feed.reports(
        market(1759 + change, at: hour(20)), at: hour(20), refuseBelow: 0.7, partialBelow: 0.95)
      #expect(all.flagged == 0 && all.stored == 20)
      try feed.aggregate(at: hour(21))
      #expect(try flagged(feed, at: hour(21)) == [])
    }
  }

  private func station(_ code: String, kilometresNorth: Double?) -> Station {
    var station = Station(
      code: code, state: .qld, name: "Station \(code)", brand: "", address: "\(code) Road",
      suburb: "", postcode: "")
    station.position = kilometresNorth.flatMap {
      Position(latitude: -27 + $0 / 111.2, longitude: 153)
    }
    return station
  }

  /// F-G30: a price that is far from the others of its station is believed once a neighbour that
  /// charges about as much is known to be one, whenever its position is reported, and doubted again
  /// once that neighbour sells to members only.
  @Test func neighboursAreThoseThatAreKnownNow() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let others = (0..<6).map { station("n\($0)", kilometresNorth: 20 + Double($0)) }
      func reports(_ company: Station, at hours: Int) throws {
        let prices = others.map { Observation.u91($0.code, 2_189, hour(0)) }
        try feed.reports(
          prices + [
            .u91("low", hours == 0 ? 2_189 : 1_259, hour(hours == 0 ? 0 : 1)),
            .u91("company", 1_269, hour(0)),
          ],
          stations: others + [station("low", kilometresNorth: 0), company], at: hour(hours))
        try feed.aggregate(at: hour(hours) + .seconds(600))
      }
      try reports(station("company", kilometresNorth: nil), at: 0)
      try reports(station("company", kilometresNorth: nil), at: 1)
      #expect(try flagged(feed, at: hour(2)) == ["low|125.9"])
      try reports(station("company", kilometresNorth: 30), at: 2)
      #expect(try flagged(feed, at: hour(3)) == [])
      var members = station("company", kilometresNorth: 30)
      members.isPublic = false
      try reports(members, at: 3)
      #expect(try flagged(feed, at: hour(4)) == ["low|125.9"])
    }
  }

  /// F-S16: a list judges again those suspects near which a price changed, and no others.
  @Test func aListJudgesOnlySuspectsNearIt() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let stations =
        (0..<6).map { station("n\($0)", kilometresNorth: 20 + Double($0)) }
        + [station("low", kilometresNorth: 0), station("far", kilometresNorth: 500)]
      var prices = stations.map { Observation.u91($0.code, 2_189, hour(0)) }
      func changes(_ code: String, to tenths: Int, at hours: Int) throws {
        prices.removeAll { $0.stationCode == code }
        prices.append(.u91(code, tenths, hour(hours)))
        try feed.reports(prices, stations: stations, at: hour(hours))
      }
      try feed.reports(prices, stations: stations, at: hour(0))
      try changes("low", to: 1_259, at: 1)
      #expect(try flagged(feed, at: hour(1)) == ["low|125.9"])
      // Whoever judges it again will doubt it again.
      for table in ["span", "present_span"] {
        try feed.connection.execute(
          "UPDATE fuel.\(table) SET doubt = NULL, doubt_from_at = NULL, doubt_until_at = NULL")
      }
      try changes("far", to: 2_199, at: 2)
      #expect(try flagged(feed, at: hour(2)) == [])
      try changes("n3", to: 2_199, at: 3)
      #expect(try flagged(feed, at: hour(3)) == ["low|125.9"])
    }
  }

  /// F-S22: in two cities the prices of more stations than are compared one by one are suspect at
  /// once. Each is judged by the stations of its own city.
  @Test func manySuspectsAreJudgedTogether() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func city(_ name: String, kilometresNorth: Double) -> [Station] {
        (10..<70).map {
          station("\(name)\($0)", kilometresNorth: kilometresNorth + Double($0) / 10)
        }
      }
      let (south, north) = (
        city("a", kilometresNorth: 0), city("b", kilometresNorth: 300)
      )
      let stations = south + north
      try feed.reports(
        stations.map { .u91($0.code, 1_500, hour(0)) }, stations: stations, at: hour(0))
      // All of the south but one charge twice as much, and in the north two stations. The records of
      // the north come last.
      var prices = Dictionary(uniqueKeysWithValues: north.map { ($0.code, 1_500) })
      for station in south { prices[station.code] = 3_000 }
      prices["a69"] = 2_400
      (prices["b67"], prices["b68"], prices["b69"]) = (3_000, 3_000, 2_400)
      try feed.reports(
        prices.map { .u91($0.key, $0.value, hour($0.value == 1_500 ? 0 : 1)) },
        stations: stations, at: hour(1))
      #expect(try flagged(feed, at: hour(1)) == ["a69|240.0", "b69|240.0"])
    }
  }

  /// F-G29: a station that only a withdrawn run names is nobody's neighbour. It does not stand in
  /// the place of the nearest five.
  @Test func stationsOfWithdrawnRunsAreNoNeighbours() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let real = [
        station("low", kilometresNorth: 0), station("company", kilometresNorth: 60),
      ]
      func reports(_ low: Int, _ more: [Station] = [], at hours: Int) throws {
        try feed.reports(
          more.map { .u91($0.code, 2_189, hour(0)) } + [
            .u91("low", low, hour(hours)), .u91("company", 1_269, hour(0)),
          ], stations: real + more, at: hour(hours))
      }
      try reports(2_189, at: 0)
      let invented = (0..<6).map { station("x\($0)", kilometresNorth: 10 + Double($0)) }
      try reports(2_189, invented, at: 1)
      let run = try #require(
        try feed.store.ledger.ledgerRun(
          try feed.connection.query("SELECT max(run_id) AS run FROM fuel.run").only().integer("run")
        )?.run)
      try reports(1_259, at: 2)
      try feed.aggregate(at: hour(3))
      #expect(try flagged(feed, at: hour(3)) == ["low|125.9"])
      _ = try feed.decide(
        run, takenAt: hour(1), counts: false, now: hour(3), refuseBelow: 0, partialBelow: 0)
      try feed.aggregate(at: hour(4))
      #expect(try flagged(feed, at: hour(4)) == [])
    }
  }

  /// F-G30: a station that has become part of another one is nobody's neighbour, and neither are the
  /// prices of old compared with those of a station that opened later.
  @Test func neighboursComeAndGo() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let stations = (0..<7).map { station("\($0)", kilometresNorth: Double($0)) }
      let prices = stations.map { Observation.u91($0.code, 2_189, hour(0)) }
      try feed.reports(prices, stations: stations, at: hour(0))
      try feed.aggregate(at: hour(1))
      let ids = try feed.connection.lines(
        "SELECT station_id FROM fuel.station ORDER BY station_code"
      ).compactMap { Int32($0) }
      func moved() throws -> [Neighbourhood.Moved] {
        try feed.store.transaction { try feed.store.stations.countStations(now: hour(1)) }
      }
      #expect(try moved().isEmpty)
      try feed.connection.execute(
        "UPDATE fuel.station SET place_id = \(ids[6]) WHERE station_id = \(ids[0])")
      let gone = try moved()
      #expect(gone.map(\.station.id) == [ids[0]] && gone.map(\.knownFrom) == [hour(0)])
      #expect(try moved().isEmpty)
      let around = try feed.store.spans.neighbourhood()
      #expect(around.changes(of: ids[3], where: gone) == hour(0))
      #expect(around.changes(of: ids[0], where: gone) == .distantPast)
      let new = Neighbourhood.Moved(gone[0].station, knownFrom: hour(48))
      #expect(around.changes(of: ids[3], where: [new]) == hour(48))
      var far = gone[0].station
      far.position.latitude += 1
      #expect(around.changes(of: ids[3], where: [.init(far, knownFrom: hour(0))]) == nil)
      far.state = "NT"
      #expect(around.changes(of: ids[3], where: [.init(far, knownFrom: hour(0))]) == nil)
      // With fewer than five within reach the nearest five count, however far away.
      try feed.connection.execute(
        "UPDATE fuel.station SET latitude = latitude - 3 WHERE station_id = \(ids[5])")
      let few = try feed.store.spans.neighbourhood()
      far.state = "QLD"
      #expect(few.changes(of: ids[3], where: [.init(far, knownFrom: hour(48))]) == .distantPast)
    }
  }

  /// One price for every grade of petrol is a placeholder, however long it stands.
  @Test func onePriceForAllGradesIsAPlaceholder() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let placeholder = [Fuel.u91, .p95, .p98, .dl].map {
        Observation(stationCode: "x", fuel: $0, price: Price(tenths: 2199), effectiveAt: hour(0))
      }
      let diesel = [Fuel.dl, .pdl, .u91].map {
        Observation(stationCode: "y", fuel: $0, price: Price(tenths: 2189), effectiveAt: hour(0))
      }
      for day in 0..<4 {
        try feed.reports(market(2189, at: hour(0)) + placeholder + diesel, at: hour(day * 24))
        try feed.aggregate(at: hour(day * 24 + 1))
      }
      #expect(try flagged(feed, at: hour(74)) == Array(repeating: "x|219.9", count: 4))
    }
  }

  /// F-G32: where a price for every grade turns out to be a placeholder no more, an aggregate asks
  /// of the other grades too whether they are far from the others of their station.
  @Test func whatIsNoPlaceholderMayBeFar() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func prices(_ tenths: [Int], since hours: Int) -> [Observation] {
        zip([Fuel.u91, .e10, .p98], tenths).map {
          Observation(
            stationCode: "x", fuel: $0, price: Price(tenths: $1), effectiveAt: hour(hours))
        }
      }
      try feed.reports(prices([1_800, 1_780, 1_990], since: -5), at: hour(0))
      // The first aggregate judges all.
      try feed.aggregate(at: hour(1))
      try feed.reports(prices([999, 999, 999], since: 1), at: hour(2))
      #expect(try flagged(feed, at: hour(2)) == Array(repeating: "x|99.9", count: 3))
      try feed.reports(prices([1_805, 999, 999], since: 1), at: hour(3), leavesSpans: true)
      try feed.aggregate(at: hour(4))
      #expect(try flagged(feed, at: hour(4)) == Array(repeating: "x|99.9", count: 2))
    }
  }

  /// A grade that is listed late with an old stamp can complete a placeholder in the past, even if
  /// the other grades have changed since. Their old prices lie before the spans that are computed
  /// again.
  @Test func aLateGradeCompletesAPlaceholderOfThen() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, priceLapsesHours: 9_000, sightLapsesHours: 9_000)
      func price(_ fuel: Fuel, _ tenths: Int, day: Int) -> Observation {
        Observation(
          stationCode: "x", fuel: fuel, price: Price(tenths: tenths), effectiveAt: hour(day * 24))
      }
      let diesel = price(.dl, 1850, day: 0)
      let premium = [(10, 1900), (25, 1850), (26, 1950), (30, 2000), (35, 2050)].map {
        price(.p98, $1, day: $0)
      }
      for (position, premium) in premium.enumerated() {
        try feed.reports([diesel, premium], at: hour([10, 25, 26, 30, 35][position] * 24))
      }
      try feed.reports(
        [diesel, price(.p98, 2100, day: 40), price(.e10, 1850, day: 20)], at: hour(40 * 24))
      let doubts = try feed.connection.lines(
        """
        SELECT fuel.fuel, doubt_from_at, doubt_until_at
        FROM fuel.span JOIN fuel.fuel USING (fuel_id)
        WHERE doubt = 'placeholder'
        ORDER BY 1
        """)
      #expect(
        doubts
          == ["DL", "E10", "P98"].map {
            "\($0)|\(day(25))|\(day(26))"
          })
      func day(_ number: Int) -> String {
        hour(number * 24).description.replacing("T", with: " ").replacing("Z", with: "+00")
      }
    }
  }

  /// F-V10: averages are exact decimals. The view rounds them once, half away from zero.
  @Test func averagesAreExact() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      // The mean of 180.1, 180.2, 180.2 and 180.0 is exactly 180.125.
      let prices = [1801, 1802, 1802, 1800].enumerated().map {
        Observation.u91("\($0.offset)", $0.element, hour(14))
      }
      try feed.reports(prices, at: hour(14))
      try feed.aggregate(at: hour(40))
      try feed.connection.query("SELECT set_config('bowser.now', \(hour(40).description), false)")
      #expect(
        try feed.connection.lines(
          "SELECT average_cpl, median_cpl, p25_cpl FROM fuel_v1.averages_now WHERE region = 'QLD'")
          == ["180.13|180.15|180.08"])
      #expect(
        try feed.connection.lines(
          "SELECT average_cpl FROM fuel_v1.daily_averages WHERE region = 'QLD' AND day = '2026-05-05'"
        )
          == ["180.13"])
    }
  }

  /// F-Z10: NaN passes no check of the tables.
  @Test func notANumberIsRefused() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1800, hour(0))], at: hour(0))
      for statement in [
        "UPDATE fuel.station SET latitude = 'NaN', longitude = 'NaN'",
        """
        INSERT INTO fuel.daily_rollup VALUES
          ('QLD', 1, '2026-05-04', 'NaN', 180, 180, 180, 180, 1, 1, true)
        """,
        "UPDATE fuel.shown_price SET price_tenths = 'NaN'",
        "INSERT INTO fuel.price VALUES (1, 1, 1, now(), 2147483647, 1, now())",
      ] {
        #expect(throws: PostgresError.self) { try feed.connection.execute(statement) }
      }
    }
  }
}
