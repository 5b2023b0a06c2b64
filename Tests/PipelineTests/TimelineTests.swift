import Archives
import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// A feed and its archive have one timeline. These tests compare which price each view and function
/// shows for an instant.
struct TimelineTests {
  static let end = Instant("2025-10-20T00:00:00Z")

  /// A station that both sources report: the feed as code 1, the archive by its address.
  func station(_ name: String = "Metro Kiama") -> Station {
    Station(
      code: "1", state: .nsw, name: name, brand: "Metro", address: "1 Main St, KIAMA NSW 2533",
      suburb: "Kiama", postcode: "2533")
  }

  func archive(_ rows: [(String, String)], into feed: Feed, name: String = "Metro Kiama")
    async throws
  {
    let text =
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
      + rows.map { "\(name),\"1 Main St, Kiama NSW 2533\",Kiama,2533,Metro,U91,\($0.0),\($0.1)\n" }
      .joined()
    _ = try await HistoryOrderTests.withFile(text) { path in
      try await Backfill(
        HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [], clock: .fixed(Self.end),
        log: Logger(.error)
      ).run([path])
    }
  }

  func reports(_ feed: Feed, _ tenths: Int?, stamped: String, at: String) throws {
    let observations = tenths.map { [Observation.u91("1", $0, Instant(stamped))] } ?? []
    // Another station, so that a list without the first one is not empty.
    let other = Observation.u91("2", 1_600, Instant("2025-10-01T00:00:00Z"))
    try feed.reports(observations + [other], stations: [station()], at: Instant(at), now: Self.end)
  }

  /// Matches stations and makes their spans, which are the first steps of an aggregate.
  func makeTimeline(_ feed: Feed) throws {
    try Identity.match(feed.store, decisions: [], now: Self.end, log: Logger(.error))
    try TimelineUpdate.makeAll(Workers(feed.store), now: Self.end)
  }

  func history(_ feed: Feed) throws -> [String] {
    _ = try feed.connection.query("SELECT set_config('bowser.now', \(Self.end.description), false)")
    return try feed.connection.lines(
      """
      SELECT history.price_cpl, history.valid_from_at AT TIME ZONE 'UTC' AS a,
        history.valid_until_at AT TIME ZONE 'UTC' AS b, history.source
      FROM fuel_v1.price_history AS history JOIN fuel_v1.stations USING (station_id)
      WHERE source_station_code = '1' ORDER BY 2
      """)
  }

  /// A price that both sources report in turn is one price, and is shown once.
  @Test func equalNeighboursOfTwoSourcesAreOneRow() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try await archive(
        [("2025-10-01 10:00:00", "173.0"), ("2025-10-05 10:00:00", "173.0")], into: feed)
      try reports(feed, 1_730, stamped: "2025-10-03T00:00:00Z", at: "2025-10-03T01:00:00Z")
      try reports(feed, 1_800, stamped: "2025-10-07T00:00:00Z", at: "2025-10-07T01:00:00Z")
      try makeTimeline(feed)
      #expect(
        try history(feed) == [
          "173.0|2025-10-01 00:00:00|2025-10-07 00:00:00|nsw-fuelcheck-archive",
          "180.0|2025-10-07 00:00:00|2025-10-09 01:00:00|nsw-fuelcheck",
        ])
    }
  }

  /// A person who confirms a price of an archive confirms it for the station. The confirmation stays
  /// when another record of the station represents it later.
  @Test func aConfirmedPriceOfAnArchiveCounts() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      // Nine stations are at 150. The tenth is at 250 for twenty hours, far from its own price before.
      for number in 0..<9 {
        let text =
          "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
          + "S\(number),\"\(number + 2) Other St, Town\(number) NSW 2000\",Town\(number),2000,X,U91,2025-10-01 00:00:00,150.0\n"
        _ = try await HistoryOrderTests.withFile(text) { path in
          try await Backfill(
            HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [],
            clock: .fixed(Self.end), log: Logger(.error)
          ).run([path])
        }
      }
      try await archive(
        [
          ("2025-10-01 00:00:00", "150.0"), ("2025-10-03 00:00:00", "250.0"),
          ("2025-10-03 20:00:00", "150.0"),
        ],
        into: feed)
      func highest() throws -> [String] {
        try feed.aggregate(at: Self.end, regions: [.nation, .newSouthWales])
        _ = try feed.connection.query(
          "SELECT set_config('bowser.now', \(Self.end.description), false)")
        return try feed.connection.lines(
          "SELECT max_cpl FROM fuel_v1.daily_averages WHERE region = 'NSW' AND day = '2025-10-03'")
      }
      #expect(try highest() == ["150.00"])
      _ = try feed.connection.query(
        """
        SELECT fuel.confirm_price(station_id, 'U91', 250.0)
        FROM fuel_v1.stations WHERE name = 'Metro Kiama'
        """)
      let confirmed = try highest()
      #expect(confirmed == ["233.33"])
      try reports(feed, 1_500, stamped: "2025-10-11T00:00:00Z", at: "2025-10-12T00:00:00Z")
      try makeTimeline(feed)
      #expect(try highest() == ["233.33"])
    }
  }

  /// F-S07: two feeds list one station of a border town. It counts once while a person has linked
  /// the two records, and twice without the link.
  @Test func aPlaceOfTwoFeedsCountsOnce() async throws {
    try await TestDatabase.with { target in
      let south = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let north = try Feed(target, name: "qld-fpd", state: .qld)
      let at = Instant("2025-10-19T12:00:00Z")
      try south.reports(
        [.u91("1", 1_500, at), .u91("2", 1_600, at), .u91("3", 1_700, at)], at: at, now: at)
      try north.reports([.u91("50", 1_500, at)], at: at, now: at)
      func counted(_ decisions: [StationDecision]) throws -> [String] {
        try Identity.match(south.store, decisions: decisions, now: Self.end, log: Logger(.error))
        try south.aggregate(at: Self.end, regions: [.nation, .newSouthWales, .queensland])
        _ = try south.connection.query(
          "SELECT set_config('bowser.now', \(Self.end.description), false)")
        return try south.connection.lines(
          """
          SELECT (SELECT count(*) FROM fuel_v1.stations), (SELECT count(*) FROM fuel_v1.current_prices),
            average_cpl, stations FROM fuel_v1.averages_now WHERE region = 'AU'
          """)
          + south.connection.lines(
            "SELECT stations FROM fuel_v1.daily_averages WHERE region = 'AU' AND day = '2025-10-20'"
          )
      }
      let same = StationDecision(
        day: Day(sinceEpoch: 20_000), firstSource: "nsw-fuelcheck", firstCode: "1",
        secondSource: "qld-fpd", secondCode: "50", isSame: true, reason: "looked")
      #expect(try counted([]) == ["4|4|157.50|4", "4"])
      #expect(try counted([same]) == ["3|3|160.00|3", "3"])
      #expect(try counted([]) == ["4|4|157.50|4", "4"])
    }
  }

  /// F-V19: two feeds list one station of a border town, and one of them publishes a day late. The
  /// average at now leaves out its price while the late feed reported it last, as `averages_now`
  /// does. No average is of an instant after now.
  @Test func theFeedThatReportedLastDecidesWhatIsLate() async throws {
    try await TestDatabase.with { target in
      let north = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let south = try Feed(target, name: "vic-fairfuel", state: .vic, delayHours: 24)
      func price(_ code: String, _ fuel: Fuel, _ tenths: Int, since: String) -> Observation {
        Observation(
          stationCode: code, fuel: fuel, price: Price(tenths: tenths), effectiveAt: Instant(since))
      }
      let listed = Instant("2025-10-18T01:00:00Z")
      try north.reports(
        (1...4).flatMap { number in
          [(Fuel.u91, 1_400), (.dl, 2_000)].map { fuel, level in
            price("\(number)", fuel, level + 100 * number, since: "2025-10-15T00:00:00Z")
          }
        }, at: listed, now: listed)
      let fetched = Instant("2025-10-19T13:00:00Z")
      try south.reports(
        [price("50", .u91, 1_400, since: "2025-10-18T12:00:00Z")], at: fetched, now: fetched)
      let same = StationDecision(
        day: Day(sinceEpoch: 20_000), firstSource: "nsw-fuelcheck", firstCode: "1",
        secondSource: "vic-fairfuel", secondCode: "50", isSame: true, reason: "looked")
      try Identity.match(north.store, decisions: [same], now: Self.end, log: Logger(.error))
      try north.aggregate(at: Self.end, regions: [.nation, .newSouthWales])
      _ = try north.connection.query(
        "SELECT set_config('bowser.now', \(Self.end.description), false)")
      #expect(
        try north.connection.lines(
          """
          SELECT fuel, average_cpl, excluded_delayed, fuel_v1.average_at(region, fuel, \(Self.end))
          FROM fuel_v1.averages_now WHERE region = 'AU' ORDER BY fuel
          """) == ["DL|225.00|0|225.00", "U91|170.00|1|170.00"])
      let others = try north.connection.lines(
        """
        SELECT fuel_v1.average_at('AU', 'U91', \(Self.end)::timestamptz - interval '25 hours') AS before,
          fuel_v1.average_at('AU', 'U91', \(Self.end)::timestamptz + interval '1 minute') AS later,
          fuel_v1.average_at('AU', 'DL', \(Self.end)::timestamptz + interval '1 minute') AS diesel,
          fuel_v1.price_at(station_id, 'U91', \(Self.end)::timestamptz + interval '1 minute')
        FROM fuel_v1.station_records WHERE source_station_code = '2'
        """)
      #expect(others == ["162.50|NULL|NULL|160.0"])
    }
  }

  /// F-G33: the price of a new code is an old one and counts from the first list that shows the code,
  /// because a list has left out the old code meanwhile. It still does when the spans around that
  /// list are made again, which are newer than that gap.
  @Test func aGapOfLongAgoStillCounts() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, priceLapsesHours: 9_000, sightLapsesHours: 9_000)
      let begin = Instant("2025-10-01T00:00:00Z")
      func hour(_ hours: Int) -> Instant { begin + .seconds(hours * 3_600) }
      func lists(_ prices: [Observation], at hours: Int) throws {
        try feed.reports(prices + [.u91("other", 1_700, begin)], at: hour(hours))
      }
      try lists([.u91("old", 1_800, hour(-1))], at: 0)
      try lists([], at: 10)
      // The last price begins at midnight, where the later window begins too.
      for (number, hours) in [18, 28, 38, 48].enumerated() {
        try lists([.u91("old", 1_810 + 10 * number, hour(hours))], at: hours + 1)
      }
      try lists([.u91("old", 1_840, hour(48)), .u91("new", 1_900, hour(5))], at: 60)
      try feed.connection.execute(
        """
        UPDATE fuel.station SET place_id = (
          SELECT station_id FROM fuel.station WHERE station_code = 'old')
        WHERE station_code = 'new'
        """)
      func remade(from: Instant) throws -> [String] {
        try feed.connection.query(
          """
          INSERT INTO fuel.due
          SELECT 'spans', station_id, fuel_id, \(from)::timestamptz::date FROM fuel.shown_price ON CONFLICT DO NOTHING
          """)
        try feed.aggregate(at: hour(61))
        return try feed.connection.lines(
          """
          SELECT price_tenths, to_char(from_at AT TIME ZONE 'UTC', 'DD HH24:MI')
          FROM fuel.span JOIN fuel.station USING (station_id)
          WHERE station_code <> 'other' ORDER BY from_at
          """)
      }
      let all = try remade(from: Instant("2020-01-01T00:00:00Z"))
      #expect(all.last == "1900|03 12:00")
      #expect(try remade(from: hour(55)) == all)
    }
  }

  /// F-N33: a site gets a new code between two lists. It is one station with one history, which
  /// includes its archive, until a late list shows both codes.
  @Test func aNewCodeKeepsThePast() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try await archive([("2025-10-02 12:00:00", "170.0")], into: feed)
      func reports(_ codes: [String: Int], stamped: String, at: String) throws {
        let observations = codes.map { Observation.u91($0.key, $0.value, Instant(stamped)) }
        let stations = codes.keys.sorted().map {
          Station(
            code: $0, state: .nsw, name: $0 == "1" ? "Metro Kiama" : "Roadhouse", brand: "Metro",
            address: "1 Main St, Kiama NSW 2533", suburb: "Kiama", postcode: "2533")
        }
        let other = Observation.u91("9", 1_600, Instant("2025-10-01T00:00:00Z"))
        try feed.reports(observations + [other], stations: stations, at: Instant(at), now: Self.end)
      }
      try reports(["1": 1_800], stamped: "2025-10-09T00:00:00Z", at: "2025-10-10T00:00:00Z")
      try makeTimeline(feed)
      // The new code's price is older than the list that left out the old code.
      try reports([:], stamped: "2025-10-10T00:00:00Z", at: "2025-10-11T00:00:00Z")
      try reports(["77": 1_900], stamped: "2025-10-10T12:00:00Z", at: "2025-10-12T00:00:00Z")
      try makeTimeline(feed)
      func linkedHistory() throws -> [String] {
        _ = try feed.connection.query(
          "SELECT set_config('bowser.now', \(Self.end.description), false)")
        return try feed.connection.lines(
          """
          SELECT stations.source_station_code, history.price_cpl, to_char(history.valid_from_at AT TIME ZONE 'UTC', 'DD HH24')
          FROM fuel_v1.price_history AS history JOIN fuel_v1.stations USING (station_id)
          WHERE history.station_id IN (
            SELECT station_id FROM fuel_v1.station_records WHERE source_station_code IN ('1', '77'))
          ORDER BY history.valid_from_at
          """)
      }
      let one = try linkedHistory()
      #expect(
        one == [
          "77|170.0|02 02", "77|180.0|09 00", "77|190.0|10 12", "77|190.0|12 00",
        ])
      try reports(
        ["1": 1_800, "77": 1_900], stamped: "2025-10-09T00:00:00Z", at: "2025-10-12T06:00:00Z")
      try reports(["77": 1_900], stamped: "2025-10-10T12:00:00Z", at: "2025-10-12T07:00:00Z")
      try makeTimeline(feed)
      #expect(Set(try linkedHistory().map { $0.prefix { $0 != "|" } }) == ["1", "77"])
    }
  }

  /// F-S19: a record that joins a station changes it from the record's first report on, and only
  /// its fuels. The same is true when it leaves.
  @Test func aRecordChangesAStationFromItsFirstReportOn() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let (first, second) = (Instant("2025-10-01T00:00:00Z"), Instant("2025-10-05T00:00:00Z"))
      let old = Observation.u91("1", 1_700, first)
      let diesel = Observation(
        stationCode: "1", fuel: .dl, price: Price(tenths: 1_800), effectiveAt: first)
      try feed.reports([old, diesel], at: first)
      try feed.reports([old, diesel, .u91("2", 1_750, second)], at: second)
      try makeTimeline(feed)
      func noted(linking record: String, to station: String) throws -> [String] {
        func number(_ code: String) throws -> Int {
          try feed.connection.query(
            "SELECT station_id FROM fuel.station WHERE station_code = \(code)"
          ).only().integer("station_id")
        }
        let match = try (
          record: number(record), station: number(station), by: "address", doubt: String?.none
        )
        _ = try feed.store.transaction {
          try feed.store.stations.link([match], likely: [], undecided: [], now: Self.end)
        }
        defer { try? TimelineUpdate.makeAll(Workers(feed.store), now: Self.end) }
        return try feed.connection.lines(
          """
          SELECT station_code, fuel, from_on
          FROM fuel.due
          JOIN fuel.station ON station_id = number
          JOIN fuel.fuel ON fuel_id = part
          WHERE step = 'spans'
          ORDER BY 1, 2
          """)
      }
      #expect(try noted(linking: "2", to: "1") == ["2|U91|2025-10-05"])
      #expect(
        try noted(linking: "2", to: "2") == ["1|U91|2025-10-05", "2|U91|2025-10-05"])
    }
  }

  /// F-N34: recordings that are replayed months later, with the clock of that day, end in the same
  /// history. An aggregate for an instant between them takes no price of tomorrow for one of today.
  @Test(.longer, arguments: 0..<Long.count(short: 1, long: 4))
  func aReplayCountsAtItsOwnInstant(seed: Int) async throws {
    var found: [[String]] = []
    let begin = Instant("2025-10-01T08:00:00Z")
    let middle = begin + .seconds(4 * 86_400 + 5 * 3_600 * Int64(seed))
    for isReplay in [false, true] {
      try await TestDatabase.with { target in
        // FuelWatch: answers at 16:00 in Perth with the prices of that day, and at 04:00 with those
        // of the next day; each answer is about five cents dearer than the one before.
        let west = try Feed(target, name: "wa-fuelwatch", state: .wa)
        let north = try Feed(target)
        var random = Random(seed: UInt64(seed), "replay")
        for half in 0..<20 {
          let at = begin + .seconds(Int64(half) * 43_200)
          let now = isReplay ? Instant("2026-03-01T00:00:00Z") : at
          let day = Zone.perth.local(at).day + (half % 2)
          let begins = Instant("\(day)T06:00:00+08:00")
          let observations = (1...6).map {
            Observation.u91("\($0)", 1_700 + 50 * half + random.integer(0...9), begins)
          }
          try west.reports(observations, at: at, now: now, coverage: .partial)
          try north.reports(
            (1...6).map { .u91("\($0)", 1_700 + 10 * half, at - .seconds(600)) }, at: at, now: now)
        }
        let regions = [
          Region.nation, .queensland,
          Region(
            code: "WA", name: "Western Australia", kind: "state", state: .wa, centre: nil,
            radiusKilometres: nil),
        ]
        try west.aggregate(at: middle, regions: regions)
        // A price that begins tomorrow was seen today.
        let last = begin + .seconds(19 * 43_200)
        #expect(
          try west.connection.lines(
            "SELECT max(last_seen_at) <= \(last) FROM fuel_v1.stations") == ["t"])
        var lines = try west.published(at: middle).filter { !$0.hasPrefix("history") }
        // The view, which may show stored averages, and the function agree.
        let kept = try west.connection.lines(
          """
          SELECT region, fuel, average_cpl, fuel_v1.average_at(region, fuel, \(middle)) FROM fuel_v1.averages_now
          """)
        #expect(!kept.isEmpty)
        for line in kept {
          let fields = line.split(separator: "|")
          #expect(fields.count == 4 && fields[3].contains(fields[2]), "\(line)")
        }
        let end = begin + .seconds(12 * 86_400)
        try west.aggregate(at: end, regions: regions)
        lines += try west.published(at: end)
        found.append(lines)
      }
    }
    #expect(found[0].count > 20)
    #expect(firstDifference(found[0], found[1]) == nil)
  }

  /// A recording with the same bytes at another instant is another answer, and is loaded too.
  @Test func anUnchangedListIsAListAgain() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let document = try #require(bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end).first)
      for stamp in ["20260701T100100Z", "20260701T220000Z"] {
        let path = "\(folder)/nsw-fuelcheck/\(stamp)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(document.bytes).write(to: URL(filePath: path + "/prices.json"))
      }
      let replays = Replays(
        [try bench.source("nsw-fuelcheck")], store: try bench.store(),
        clock: .fixed(Bench.end + .seconds(86_400)), log: bench.log)
      func outcomes() throws -> [Bool] {
        try replays.recordings([folder]).map {
          if case .loaded = $0.outcome { true } else { false }
        }
      }
      #expect(try outcomes() == [true, true])
      #expect(try outcomes() == [false, false])
    }
  }

  /// Of several prices within a second the last in the file counts, even if the file is read in
  /// several batches.
  @Test func theLastOfASecondCountsAcrossBatches() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      var text =
        "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
      func row(_ second: Int, _ price: String) -> String {
        "Metro Kiama,\"1 Main St, Kiama NSW 2533\",Kiama,2533,Metro,U91,2025-10-01 10:00:\(second < 10 ? "0" : "")\(second),\(price)\n"
      }
      text += row(0, "199.9")
      for second in 1..<50 { text += row(second, "150.9") }
      text += row(0, "189.9") + row(7, "150.9")
      try await HistoryOrderTests.withFile(text) { path in
        let archive = try HistoryOrderTests.archive("nsw")
        let reader = ArchiveReader(
          archive.format, files: [ArchiveFile(path)], now: Self.end, mostFacts: 20)
        let source = try Backfill(
          archive, store: feed.store, decisions: [], clock: .fixed(Self.end), log: Logger(.error)
        ).register()
        let stations = ArchiveStations()
        let loader = ArchiveLoader(
          feed.store, source: source, stations: stations, now: Self.end, maxRejectShare: 0.02)
        var done: ArchiveLoader.Loaded?
        while let batch = try await reader.next() {
          stations.number(batch)
          done = try loader.load(batch, digest: "00")
        }
        let counts = try #require(done).counts
        #expect(counts.received == 52 && counts.stored == 50)
        #expect(counts.duplicate == 1 && counts.rejected == 1)
      }
      #expect(
        try feed.connection.lines(
          "SELECT price_tenths FROM fuel.archive_price ORDER BY effective_at LIMIT 1") == ["1899"])
      #expect(
        try feed.connection.lines("SELECT reason, raw LIKE '%199.9%' FROM fuel_v1.rejects")
          == ["conflicting_price|t"])
    }
  }
}
