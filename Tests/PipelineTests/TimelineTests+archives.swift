import FuelModel
import Postgres
import Store
import TestDatabase
import Testing

/// Prices of an archive between and behind those of its feed.
extension TimelineTests {
  /// F-G18, F-G24: an archive's price lies between two equal prices of the feed. The prices that the
  /// feed reports afterwards leave these three as they are. An aggregate reads the whole history
  /// again and writes none of it.
  @Test func anArchiveInterruptsAPriceOfTheFeed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try reports(feed, 1_730, stamped: "2025-10-03T00:00:00Z", at: "2025-10-03T01:00:00Z")
      try reports(feed, 1_730, stamped: "2025-10-03T12:00:00Z", at: "2025-10-03T13:00:00Z")
      try reports(feed, 1_800, stamped: "2025-10-04T00:00:00Z", at: "2025-10-04T01:00:00Z")
      try await archive([("2025-10-03 16:00:00", "170.0")], into: feed)
      try makeTimeline(feed)
      try reports(feed, 1_850, stamped: "2025-10-05T00:00:00Z", at: "2025-10-05T01:00:00Z")
      try reports(feed, 1_900, stamped: "2025-10-06T00:00:00Z", at: "2025-10-06T01:00:00Z")
      let followed = try history(feed)
      func written() throws -> [String] {
        try feed.connection.lines("SELECT from_at, xmin FROM fuel.span ORDER BY from_at")
      }
      let before = try written()
      // An aggregate makes the spans again from an earlier instant on.
      try feed.connection.execute(
        "INSERT INTO fuel.due SELECT 'spans', station_id, fuel_id, '2025-10-05' FROM fuel.present_span"
      )
      try makeTimeline(feed)
      #expect(try history(feed) == followed)
      #expect(try written() == before)
      #expect(
        followed == [
          "173.0|2025-10-03 00:00:00|2025-10-03 06:00:00|nsw-fuelcheck",
          "170.0|2025-10-03 06:00:00|2025-10-03 12:00:00|nsw-fuelcheck-archive",
          "173.0|2025-10-03 12:00:00|2025-10-04 00:00:00|nsw-fuelcheck",
          "180.0|2025-10-04 00:00:00|2025-10-05 00:00:00|nsw-fuelcheck",
          "185.0|2025-10-05 00:00:00|2025-10-06 00:00:00|nsw-fuelcheck",
          "190.0|2025-10-06 00:00:00|2025-10-08 01:00:00|nsw-fuelcheck",
        ])
    }
  }

  /// A price that is listed again under its old stamp is in effect again from that list on, although
  /// the archive has had a newer price. The view and the function both show it.
  @Test func listedAgainBesideAnArchive() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try await archive([("2025-10-09 10:00:00", "170.0")], into: feed)
      for (day, isListed) in [
        ("06", true), ("07", true), ("08", false), ("09", false), ("10", false), ("11", true),
        ("12", true),
      ] {
        try reports(
          feed, isListed ? 1_500 : nil, stamped: "2025-10-05T00:00:00Z",
          at: "2025-10-\(day)T00:00:00Z")
      }
      try makeTimeline(feed)
      let begun: [String] = try history(feed).map { line in
        line.split(separator: "|").prefix(2).joined(separator: " ")
      }
      #expect(
        begun == [
          "150.0 2025-10-05 00:00:00", "170.0 2025-10-08 23:00:00", "150.0 2025-10-11 00:00:00",
        ])
      for (at, price) in [("2025-10-08T23:30:00Z", "170.0"), ("2025-10-11T12:00:00Z", "150.0")] {
        #expect(
          try feed.connection.lines(
            """
            SELECT fuel_v1.price_at(station_id, 'U91', \(at)::timestamptz)
            FROM fuel_v1.stations WHERE source_station_code = '1'
            """) == [price])
      }
    }
  }

  /// The first list of a feed shows prices with old stamps. They do not replace what the archive
  /// reported between the stamp and the list. From the list on they hold.
  @Test func theFirstListDoesNotHideNewerPrices() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      // The archive reports until shortly before the first list.
      try await archive(
        [("2025-10-05 11:00:00", "170.0"), ("2025-10-10 09:00:00", "170.0")], into: feed)
      let stamp = Instant("2025-10-01T00:00:00Z")
      try feed.reports(
        [
          .u91("1", 1_500, stamp), .u91("2", 1_600, stamp), .u91("3", 1_700, stamp),
          .u91("4", 1_700, stamp),
        ], stations: [station()], at: Instant("2025-10-10T00:00:00Z"), now: Self.end)
      try makeTimeline(feed)
      try feed.aggregate(at: Self.end, regions: [.nation, .newSouthWales])
      _ = try feed.connection.query(
        "SELECT set_config('bowser.now', \(Self.end.description), false)")
      let day = try feed.connection.lines(
        "SELECT min_cpl, max_cpl, stations FROM fuel_v1.daily_averages WHERE region = 'NSW' AND day = '2025-10-11'"
      )
      #expect(day == ["150.00|170.00|4"])
      #expect(
        try history(feed) == [
          "150.0|2025-10-01 00:00:00|2025-10-05 00:00:00|nsw-fuelcheck",
          "170.0|2025-10-05 00:00:00|2025-10-10 00:00:00|nsw-fuelcheck-archive",
          "150.0|2025-10-10 00:00:00|2025-10-12 00:00:00|nsw-fuelcheck",
        ])
    }
  }

  /// F-G26: the archive has a later price, and each list of the feed shows the same older price. This
  /// price lasts until that of the archive, as it does where all lists are stored first.
  @Test func aPriceIsListedAgainBeforeOneOfTheArchive() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try await archive([("2025-10-09 10:00:00", "170.0")], into: feed)
      for (list, until) in [("06", "08 00:00:00"), ("07", "08 23:00:00")] {
        try reports(feed, 1_500, stamped: "2025-10-05T00:00:00Z", at: "2025-10-\(list)T00:00:00Z")
        try makeTimeline(feed)
        let held = try history(feed).first
        #expect(held == "150.0|2025-10-05 00:00:00|2025-10-\(until)|nsw-fuelcheck")
      }
    }
  }

  /// F-L01: a list is withdrawn that showed the older price for longer. Its price ends as if the list
  /// had never come.
  @Test func aWithdrawnListHoldsNoPriceBeforeOneOfTheArchive() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try await archive([("2025-10-12 10:00:00", "170.0")], into: feed)
      for list in ["06", "07", "08"] {
        try reports(feed, 1_500, stamped: "2025-10-05T00:00:00Z", at: "2025-10-\(list)T00:00:00Z")
        try makeTimeline(feed)
      }
      #expect(
        try history(feed).first == "150.0|2025-10-05 00:00:00|2025-10-10 00:00:00|nsw-fuelcheck")
      // The first run is that of the file.
      for (number, until) in [(4, "09"), (3, "08")] {
        let list = try #require(try feed.store.ledger.ledgerRun(number))
        _ = try feed.decide(
          list.run, takenAt: list.takenAt, counts: false, now: Self.end, refuseBelow: 0,
          partialBelow: 0)
        try makeTimeline(feed)
        let held = try history(feed).first
        #expect(held == "150.0|2025-10-05 00:00:00|2025-10-\(until) 00:00:00|nsw-fuelcheck")
      }
    }
  }

  /// F-G39: a wrong price of an archive holds until the first complete list after it that shows
  /// another one, in whatever order lists and file are stored, and whichever lists count.
  @Test(arguments: ["a 06 08 09 10", "06 08 09 10 a", "06 a 08 10 09", "10 06 08 a 09"])
  func aListEndsThePriceOfAnArchive(order: String) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      for step in order.split(separator: " ") {
        guard step == "a" else {
          try reports(
            feed, 1_500, stamped: "2025-10-05T00:00:00Z", at: "2025-10-\(step)T00:00:00Z")
          continue
        }
        try await archive([("2025-10-08 16:00:00", "170.0")], into: feed)
        try makeTimeline(feed)
      }
      try makeTimeline(feed)
      func expectEnd(_ ends: String) throws {
        let wanted = [
          "150.0|2025-10-05 00:00:00|2025-10-08 05:00:00|nsw-fuelcheck",
          "170.0|2025-10-08 05:00:00|2025-10-\(ends) 00:00:00|nsw-fuelcheck-archive",
          "150.0|2025-10-\(ends) 00:00:00|2025-10-12 00:00:00|nsw-fuelcheck",
        ]
        try expect(wanted, in: feed)
      }
      try expectEnd("09")
      let at = Instant("2025-10-09T00:00:00Z")
      let number = try feed.connection.query("SELECT run_id FROM fuel.run WHERE taken_at = \(at)")
        .only().integer("run_id")
      let run = try #require(try feed.store.ledger.ledgerRun(number)?.run)
      for counts in [false, true] {
        _ = try feed.decide(
          run, takenAt: at, counts: counts, now: Self.end, refuseBelow: 0, partialBelow: 0)
        try expectEnd(counts ? "09" : "10")
      }
      // Its answer is read again, and is not complete any more.
      try feed.reports(
        [.u91("1", 1_500, Instant("2025-10-05T00:00:00Z"))], at: at, now: Self.end,
        partialBelow: 0.95, kind: .reprocess(run))
      try expectEnd("10")
    }
  }

  /// Compares the history of a feed, as it stands and made again from the beginning.
  private func expect(_ wanted: [String], in feed: Feed) throws {
    #expect(try history(feed) == wanted)
    try feed.connection.execute(
      "INSERT INTO fuel.due SELECT 'spans', station_id, fuel_id, '-infinity' FROM fuel.present_span"
    )
    try makeTimeline(feed)
    #expect(try history(feed) == wanted)
  }

  /// F-G39: what lists have shown and leave out now is not offered, whatever an archive says.
  @Test(arguments: ["a 06 07 09 10", "06 07 09 10 a", "06 07 a 10 09", "10 a 09 06 07"])
  func aListWithoutTheStationEndsThePriceOfAnArchive(order: String) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      for step in order.split(separator: " ") {
        guard step == "a" else {
          try reports(
            feed, step == "06" ? 1_500 : nil, stamped: "2025-10-05T00:00:00Z",
            at: "2025-10-\(step)T00:00:00Z")
          continue
        }
        try await archive([("2025-10-08 16:00:00", "170.0")], into: feed)
        try makeTimeline(feed)
      }
      try makeTimeline(feed)
      let wanted = [
        "150.0|2025-10-05 00:00:00|2025-10-07 00:00:00|nsw-fuelcheck",
        "170.0|2025-10-08 05:00:00|2025-10-09 00:00:00|nsw-fuelcheck-archive",
      ]
      try expect(wanted, in: feed)
    }
  }

  /// F-G39: prices of the feed that follow are made as well from the spans that a list has begun as
  /// from all evidence.
  @Test func pricesFollowTheListThatEndedOneOfAnArchive() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      try reports(feed, 1_500, stamped: "2025-10-05T00:00:00Z", at: "2025-10-06T00:00:00Z")
      try await archive([("2025-10-08 16:00:00", "170.0")], into: feed)
      try makeTimeline(feed)
      for (day, price) in [("09", 1_500), ("10", 1_510), ("11", 1_520), ("12", 1_530)] {
        try reports(
          feed, price,
          stamped: price == 1_500 ? "2025-10-05T00:00:00Z" : "2025-10-\(day)T00:00:00Z",
          at: "2025-10-\(day)T06:00:00Z")
      }
      // A list from before comes late.
      try reports(feed, 1_490, stamped: "2025-10-04T00:00:00Z", at: "2025-10-04T12:00:00Z")
      let followed = try history(feed)
      #expect(
        followed.map { $0.prefix(25) } == [
          "149.0|2025-10-04 00:00:00", "150.0|2025-10-05 00:00:00", "170.0|2025-10-08 05:00:00",
          "150.0|2025-10-09 06:00:00", "151.0|2025-10-10 00:00:00", "152.0|2025-10-11 00:00:00",
          "153.0|2025-10-12 00:00:00",
        ])
      try feed.connection.execute(
        "INSERT INTO fuel.due SELECT 'spans', station_id, fuel_id, '-infinity' FROM fuel.present_span"
      )
      try makeTimeline(feed)
      #expect(try history(feed) == followed)
    }
  }
}
