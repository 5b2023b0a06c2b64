import Feeds
import FuelModel
import TestDatabase
import Testing

struct FuelWatchTests {
  @Test func readsItemsOfADay() throws {
    let reading = try Sample.parse([Sample.fixture("fuel-watch/today-1.xml")], "wa-fuelwatch")
    // 06:00 in Perth on 31 August is 22:00 UTC on 30 August.
    #expect(
      reading.price("CORNER FUEL & FOOD, 1 MADE-UP ST, TESTVILLE", .u91)
        == "186.7 2026-08-30T22:00:00Z")
    #expect(reading.price("FAR STORE, GREAT NORTHERN HWY, DESERT", .laf) != nil)
    #expect(reading.price("FAR STORE, GREAT NORTHERN HWY, DESERT", .u91) == nil)
    let club = reading.stations.first { $0.name == "Club Fuel" }
    #expect(club?.isPublic == false && club?.brand == "Costco" && club?.suburb == "TESTVILLE")
    // The stated position lies outside Australia. It is removed with the repetitions of the reading.
    let far = reading.stations.first { $0.name == "Far Store" }
    #expect(far?.position.map(Australia.contains) == false)
    // An empty telephone number is none.
    let phones = reading.stations.map { $0.details["phone"] }
    #expect(phones == [nil, nil, "(08) 5550 0003", nil])
    // F-X04 and others: a bad item is rejected, and the rest of the list is read.
    #expect(
      reading.reasons == [
        "price_unreadable", "price_unreadable", "stamp_unreadable", "station_missing",
        "price_out_of_band",
      ])
    #expect(reading.observations.count == 3)
  }

  /// F-X01, F-Z07: a document that is cut anywhere is refused, although the parser accepts it.
  @Test func truncatedAnywhereIsRefused() throws {
    let whole = try Sample.fixture("fuel-watch/today-1.xml")
    let end = whole.bytes.count - 1
    for cut in stride(from: 0, to: end - 6, by: 61) {
      var document = whole
      document.bytes = Array(whole.bytes[..<cut])
      #expect(throws: FeedError.self, "cut at \(cut)") {
        try Sample.parse([document], "wa-fuelwatch")
      }
    }
  }

  /// F-X02, F-X03, F-X05 to F-X08, F-X10, F-Z08: a document that is not exactly one
  /// closed RSS feed in UTF-8 without a document type is refused.
  @Test(arguments: [
    "", "   ", "<html><body>maintenance</body></html>", "<rss></rss><rss></rss>",
    "<rss><channel></channel></rss>text", "<html></html>", "<feed></feed>",
    "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a 'x'>]><rss><channel></channel></rss>",
    "<!DOCTYPE rss><rss><channel></channel></rss>",
    "<!DOCTYPE rss SYSTEM 'file:///etc/passwd'><rss><channel></channel></rss>",
    "<!doctype rss SYSTEM 'file:///etc/passwd'><rss><channel></channel></rss>",
    "<!DOCTYPE lolz [<!ENTITY lol 'lol'><!ENTITY l2 '&lol;&lol;'>]><rss><channel>&l2;</channel></rss>",
    "<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel></channel></rss>",
    "<rss><channel></rss></channel>",
  ])
  func whatIsNotOneClosedFeedIsRefused(text: String) {
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("tomorrow-1", text)], "wa-fuelwatch")
    }
  }

  /// F-P02: bytes that are not UTF-8 are refused, never repaired.
  @Test func brokenUTF8IsRefused() {
    var document = Sample.document("tomorrow-1", "<rss><channel></channel></rss>")
    document.bytes.insert(0xE9, at: 14)
    // The XML parser would refuse them too, but crashes if they are part of a name.
    #expect(throws: FeedError.malformed(document: "tomorrow-1", reason: "not UTF-8")) {
      try Sample.parse([document], "wa-fuelwatch")
    }
  }

  /// F-P01: the byte order mark of UTF-8 is removed. UTF-16 is refused.
  @Test func onlyTheMarkOfUTF8IsRemoved() throws {
    var document = try Sample.fixture("fuel-watch/today-1.xml")
    let plain = try Sample.parse([document], "wa-fuelwatch")
    document.bytes = [0xEF, 0xBB, 0xBF] + document.bytes
    #expect(try Sample.parse([document], "wa-fuelwatch").observations == plain.observations)
    let text = "\u{FEFF}<rss><channel></channel></rss>"
    document.bytes = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(throws: FeedError.self) { try Sample.parse([document], "wa-fuelwatch") }
  }

  /// F-X07: nesting is bounded, also where every element is closed.
  @Test(arguments: [65, 10_000])
  func deepNestingIsRefused(depth: Int) {
    let deep = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("tomorrow-1", "<rss>\(deep)</rss>")], "wa-fuelwatch")
    }
  }

  /// F-F13: before 14:30 Perth time the feed of tomorrow is valid without items. A feed of today
  /// without items is a fault.
  @Test func anEmptyTomorrowIsNotAFault() throws {
    let empty = "\u{FEFF}<rss version=\"2.0\">\r\n<channel><title>x</title></channel></rss>\r\n"
    #expect(
      try Sample.parse([Sample.document("tomorrow-1", empty)], "wa-fuelwatch").observations.isEmpty)
    #expect(throws: FeedError.malformed(document: "today-1", reason: "the list is empty")) {
      try Sample.parse([Sample.document("today-1", empty)], "wa-fuelwatch")
    }
  }

  /// F-X09: CDATA, comments, processing instructions and character references are read correctly.
  @Test func harmlessXMLIsRead() throws {
    let text = """
      <rss><?php x ?><channel><!-- c --><item><trading-name><![CDATA[A & B]]></trading-name>
      <location>T&#79;WN</location><address>1 O&apos;Neil St</address><date>2026-08-31</date>
      <price>186.7</price></item></channel></rss>
      """
    let reading = try Sample.parse([Sample.document("tomorrow-1", text)], "wa-fuelwatch")
    #expect(reading.stations.map(\.code) == ["A & B, 1 O'NEIL ST, TOWN"])
  }

  /// F-F13: the clock of Perth decides which documents a run asks for.
  @Test(arguments: [
    ("2026-08-31T06:29:00Z", 7), ("2026-08-31T06:31:00Z", 14), ("2026-08-31T15:59:00Z", 14),
    ("2026-08-31T16:01:00Z", 7), ("2026-08-31T21:59:00Z", 7),
  ])
  func tomorrowIsAskedForFromHalfPastTwo(instant: String, count: Int) throws {
    let source = try Sample.source("wa-fuelwatch")
    let calls = source.provider.calls(source, at: try #require(Instant(iso: instant)))
    #expect(calls.count == count)
  }

  /// The feed is due twice a day: once after 06:00 and once after 14:30 Perth time.
  @Test(arguments: [
    ("2026-08-31T22:04:00Z", "2026-08-31T06:35:00Z"),
    ("2026-08-31T22:06:00Z", "2026-08-31T22:05:00Z"),
    ("2026-09-01T06:34:00Z", "2026-08-31T22:05:00Z"),
    ("2026-09-01T06:36:00Z", "2026-09-01T06:35:00Z"),
    ("2026-09-01T17:00:00Z", "2026-09-01T06:35:00Z"),
  ])
  func dueTwiceADay(now: String, since: String) throws {
    let source = try Sample.source("wa-fuelwatch")
    #expect(
      source.provider.due(source, at: Instant(now), isAwaiting: false).description == since)
  }

  /// F-F62: while prices are awaited that should be there, a run is due every ten minutes for two
  /// hours and then every half hour, whatever the minutes of cron, until the next regular run.
  @Test(arguments: [
    ("2026-08-31T06:34:00Z", "2026-08-31T06:05:00Z"),
    ("2026-08-31T06:36:00Z", "2026-08-31T06:35:00Z"),
    ("2026-08-31T06:44:59Z", "2026-08-31T06:35:00Z"),
    ("2026-08-31T06:45:00Z", "2026-08-31T06:45:00Z"),
    ("2026-08-31T08:34:59Z", "2026-08-31T08:25:00Z"),
    ("2026-08-31T08:59:00Z", "2026-08-31T08:35:00Z"),
    ("2026-08-31T16:10:00Z", "2026-08-31T16:05:00Z"),
    ("2026-08-31T22:04:00Z", "2026-08-31T21:35:00Z"),
    ("2026-08-31T22:05:00Z", "2026-08-31T22:05:00Z"),
    ("2026-08-31T22:16:00Z", "2026-08-31T22:15:00Z"),
  ])
  func dueOftenWhilePricesAreAwaited(now: String, since: String) throws {
    let source = try Sample.source("wa-fuelwatch")
    #expect(source.provider.due(source, at: Instant(now), isAwaiting: true).description == since)
  }

  /// A list of `count` invented stations with prices of a day.
  private func list(
    _ word: String, of day: String, _ count: Int, _ cents: Int = 180, product: Int = 1
  )
    -> Document
  {
    let items = (0..<count).map {
      "<item><trading-name>Numbat \($0)</trading-name><location>TESTVILLE</location>"
        + "<address>\($0) Made-Up St</address><date>\(day)</date><price>\(cents).0</price></item>"
    }
    // 14:40 in Perth.
    return Document(
      name: "\(word)-\(product)",
      bytes: Array("<rss><channel>\(items.joined())</channel></rss>".utf8),
      fetchedAt: Instant("2026-08-31T06:40:00Z"))
  }

  /// F-F62: tomorrow's prices are awaited while most stations with a price of today have none,
  /// whatever the reason, and the run says since when and how many have one.
  @Test(arguments: [
    ("2026-09-01", 9, nil), ("2026-09-01", 5, nil),
    (
      "2026-09-01", 4,
      "tomorrow's prices (2026-09-01) have been awaited since 14:30 Perth time on 2026-08-31: 4 of 9"
    ),
    (
      "2026-09-01", 0,
      "tomorrow's prices (2026-09-01) have been awaited since 14:30 Perth time on 2026-08-31: 0 of 9"
    ),
    (
      "2026-08-31", 9,
      "tomorrow's prices (2026-09-01) have been awaited since 14:30 Perth time on 2026-08-31: 0 of 9"
    ),
    (
      "2026-08-30", 9,
      "tomorrow's prices (2026-09-01) have been awaited since 14:30 Perth time on 2026-08-31: 0 of 9"
    ),
  ])
  func tomorrowIsAwaited(day: String, count: Int, words: String?) throws {
    let reading = try Sample.parse(
      [list("today", of: "2026-08-31", 9), list("tomorrow", of: day, count)], "wa-fuelwatch")
    #expect(reading.awaitsTomorrow == (words != nil))
    #expect(
      reading.warnings.filter { $0.contains("awaited") }
        == (words.map { [$0 + " stations have one"] } ?? []))
    #expect(
      reading.warnings.contains { $0 == "tomorrow-1 holds prices of \(day), not of 2026-09-01" }
        == (day < "2026-09-01"))
  }

  /// F-F62: the lists of the fuels are published one by one, so each fuel that many stations sell is
  /// awaited.
  @Test(arguments: [(20, 9, true), (20, 10, false), (19, 9, false)])
  func eachFuelIsAwaited(today: Int, tomorrow: Int, isAwaited: Bool) throws {
    let reading = try Sample.parse(
      [
        list("today", of: "2026-08-31", 9), list("tomorrow", of: "2026-09-01", 9),
        list("today", of: "2026-08-31", today, product: 4),
        list("tomorrow", of: "2026-09-01", tomorrow, product: 4),
      ], "wa-fuelwatch")
    #expect(reading.awaitsTomorrow == isAwaited)
    let words =
      "tomorrow's prices of DL (2026-09-01) have been awaited since 14:30 Perth time on 2026-08-31: "
      + "9 of 20 stations have one"
    #expect(reading.warnings == (isAwaited ? [words] : []))
  }

  /// F-F62: a list of today that holds another day is awaited too. Of two prices of one day, the one
  /// of the list of that day counts.
  @Test func theListOfItsOwnDayCounts() throws {
    let stale = try Sample.parse(
      [list("today", of: "2026-08-30", 9), list("tomorrow", of: "2026-09-01", 9)], "wa-fuelwatch")
    #expect(stale.awaitsTomorrow)
    #expect(
      stale.warnings.contains(
        "today's prices (2026-08-31) have been awaited since 14:30 Perth time on 2026-08-30: "
          + "0 of 9 stations have one"
      ))
    let twice = try Sample.parse(
      [list("today", of: "2026-08-31", 9, 181), list("tomorrow", of: "2026-08-31", 9, 179)],
      "wa-fuelwatch")
    let distinct = twice.distinct(takenAt: Instant("2026-08-31T06:40:00Z"), horizon: .seconds(600))
    #expect(Set(distinct.observations.map { $0.price?.tenths }) == [1_810])
  }

  /// How many prices of today and of tomorrow a list has, in the recorded samples and in the
  /// invented ones.
  struct List: Sendable {
    var stamp: String
    var recorded: [Int]
    var invented: [Int]
    var begins: String
  }

  /// The lists of the provider's website hold today's price and, depending on the time, tomorrow's.
  /// A missing key yields no price.
  @Test(
    arguments: Samples.all,
    [
      List(
        stamp: "20260326T005943Z", recorded: [724, 0], invented: [119, 0],
        begins: "2026-03-25T22:00:00Z"),
      List(
        stamp: "20260326T104637Z", recorded: [694, 727], invented: [114, 119],
        begins: "2026-03-25T22:00:00Z"),
      List(
        stamp: "20260327T091358Z", recorded: [717, 721], invented: [119, 119],
        begins: "2026-03-26T22:00:00Z"),
      List(
        stamp: "20260327T154148Z", recorded: [435, 720], invented: [71, 119],
        begins: "2026-03-26T22:00:00Z"),
      List(
        stamp: "20260327T184523Z", recorded: [720, 413], invented: [119, 40],
        begins: "2026-03-26T22:00:00Z"),
      List(
        stamp: "20260331T011014Z", recorded: [726, 0], invented: [119, 0],
        begins: "2026-03-30T22:00:00Z"),
    ])
  func listsOfTheDay(samples: Samples, list: List) throws {
    let document = try Sample.answer(
      "wa-fuelwatch/api-sites-ULP-\(list.stamp).json.gz", of: samples, as: "sites-ULP")
    let reading = try Sample.parse([document], "wa-fuelwatch")
    let begin = try #require(Instant(iso: list.begins))
    let found = [begin, begin + .seconds(86_400)].map { begin in
      reading.observations.count { $0.effectiveAt == begin }
    }
    #expect(found == (samples.areRecorded ? list.recorded : list.invented))
    #expect(reading.observations.count == found[0] + found[1] && reading.rejects.isEmpty)
  }

  /// The build date of the channel is malformed, as it was for years.
  @Test(arguments: Samples.all) func theFeedOf2017(samples: Samples) throws {
    let reading = try Sample.parse(
      [Sample.answer("wa-fuelwatch/rss-2017-trimmed.xml", of: samples, as: "today-1")],
      "wa-fuelwatch")
    let code =
      samples.areRecorded
      ? "CALTEX BECKENHAM, 63 WILLIAM ST, BECKENHAM" : "TESTFUEL VAV, 63 INVENTED ST, VAV"
    #expect(reading.price(code, .u91) == "128.9 2017-12-12T22:00:00Z")
    let phone = samples.areRecorded ? "(08) 9258 8413" : "(08) 5550 0001"
    #expect(reading.stations.first?.details == ["phone": phone])
    #expect(reading.observations.count == 2 && reading.rejects.isEmpty)
  }
}
