import Feeds
import Foundation
import FuelModel
import Simulator
import TestDatabase
import Testing

/// The simulator follows the formats of the feeds. The samples prove this.
struct SimulatedFeedTests {
  static let now = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z, 18:00 in Perth
  static let market = Market(
    seed: 5, stations: 200,
    days: (Zone.sydney.local(now).day + -5)...(Zone.sydney.local(now).day + 5))

  private func simulated(_ feed: String, _ name: String) throws -> Document {
    let documents = SimulatedFeeds(Self.market).documents(of: feed, at: Self.now)
    return try #require(documents.first { $0.name == name })
  }

  /// Nobody sells fuel in the sea.
  @Test func everyStationLiesOnLand() {
    let market = Market(seed: 1, allStations: 330, days: Self.market.days)
    let positions = market.sites.compactMap(\.station.position)
    #expect(positions.count == market.sites.count && positions.allSatisfy(Coastline.hasLand))
  }

  /// Every simulated feed is read without unexpected rejects, and its prices are those of the
  /// market.
  @Test(arguments: SimulatedFeeds.feeds)
  func everyFeedIsReadAndTrue(feed: String) throws {
    let documents = SimulatedFeeds(Self.market).documents(of: feed, at: Self.now)
    let reading = try Sample.parse(documents, feed)
    #expect(reading.rejects.allSatisfy { $0.reason == .unsupportedFuel })
    #expect(
      reading.observations.count > (["nt-myfuel", "tas-fuelcheck"].contains(feed) ? 30 : 100))
    let asOf = feed == "vic-fairfuel" ? Self.now - .seconds(86_400) : Self.now
    let stations = Dictionary(
      reading.stations.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    var read: [String] = []
    for observation in reading.observations where observation.effectiveAt ?? asOf <= asOf {
      guard let price = observation.price else { continue }
      let station = try #require(stations[observation.stationCode])
      read.append("\(station.name)|\(observation.fuel.rawValue)|\(price.centsPerLitre)")
    }
    #expect(read.sorted() == SimulatedFeeds(Self.market).truth(of: feed, at: asOf))
    let phones = reading.stations.count { $0.details["phone"] != nil }
    #expect((phones > 10) == ["wa-fuelwatch", "vic-fairfuel"].contains(feed), "\(phones)")
    if ["wa-fuelwatch", "nt-myfuel"].contains(feed) {
      #expect(reading.observations.contains { $0.effectiveAt ?? asOf > Self.now })
    }
  }

  /// Collects the shape of a JSON value: the path of each key, with the kinds of its values, at all
  /// depths.
  private func shape(_ value: Any, _ path: String, into shapes: inout [String: Set<String>]) {
    switch value {
    case let table as [String: Any]:
      for (key, entry) in table { shape(entry, "\(path).\(key)", into: &shapes) }
    case let list as [Any]:
      for entry in list { shape(entry, "\(path)[]", into: &shapes) }
    case is NSNull: shapes[path, default: []].insert("null")
    case is String: shapes[path, default: []].insert("text")
    case let number as NSNumber:
      let isTrueOrFalse = isBoolean(number)
      shapes[path, default: []].insert(isTrueOrFalse ? "boolean" : "number")
    default: shapes[path, default: []].insert("other")
    }
  }

  private func shapes(_ document: Document) throws -> [String: Set<String>] {
    var shapes: [String: Set<String>] = [:]
    shape(try JSONSerialization.jsonObject(with: Data(document.bytes)), "", into: &shapes)
    return shapes
  }

  @Test(arguments: Samples.all) func jsonAnswersHaveTheFieldsAndTypesOf(samples: Samples) throws {
    var sites = try Sample.answer(
      "qld-fpd/full-site-details-S-array-2025-08-03.json.gz", of: samples, as: "sites")
    sites.bytes = Array("{\"S\":".utf8) + sites.bytes + Array("}".utf8)
    let pairs = [
      (
        try Sample.answer(
          "nsw-fuelcheck/v1-all-prices-20260702T235701Z.json.gz", of: samples, as: "prices"),
        try simulated("nsw-fuelcheck", "prices")
      ),
      (
        try Sample.answer(
          "qld-fpd/GetSitesPrices-20221114T002821Z.json.gz", of: samples, as: "prices"),
        try simulated("qld-fpd", "prices")
      ),
      (
        try Sample.answer(
          "qld-fpd/country-geographic-regions-2025-08-03.json.gz", of: samples, as: "regions"),
        try simulated("qld-fpd", "regions")
      ),
      (sites, try simulated("qld-fpd", "sites")),
    ]
    for (recorded, simulated) in pairs {
      var wanted = try shapes(recorded)
      // The recorder added this stamp, not the provider.
      wanted[".lastUpdated"] = nil
      let made = try shapes(simulated)
      #expect(Set(made.keys) == Set(wanted.keys), "\(recorded.name)")
      for (path, kinds) in made { #expect(kinds.isSubset(of: wanted[path] ?? []), "\(path)") }
    }
  }

  /// Stamps and prices are written as in the recorded answers, including the removal of trailing
  /// zeros.
  @Test func textsHaveTheRecordedForms() throws {
    let qld = String(decoding: try simulated("qld-fpd", "prices").bytes, as: UTF8.self)
    #expect(qld.matches(of: /"TransactionDateUtc":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"/).count > 10)
    #expect(qld.matches(of: /"TransactionDateUtc":"[^"]*\.\d{1,3}"/).count > 10)
    #expect(qld.matches(of: /"TransactionDateUtc":"[^"]*\.\d*0"/).isEmpty)
    #expect(qld.matches(of: /"Price":\d+\.0\b/).count > 100)
    let nsw = String(decoding: try simulated("nsw-fuelcheck", "prices").bytes, as: UTF8.self)
    #expect(nsw.matches(of: /"lastupdated":"\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d"/).count > 100)
    #expect(nsw.contains("\"fueltype\":\"EV\",\"price\":0"))
    let rss = try simulated("wa-fuelwatch", "today-1")
    #expect(rss.bytes.starts(with: [0xEF, 0xBB, 0xBF]))
    #expect(String(decoding: rss.bytes, as: UTF8.self).contains("</item>\r\n<item>"))
  }

  @Test func theSameSeedGivesTheSameMarket() {
    let again = Market(seed: 5, stations: 200, days: Self.market.days)
    let other = Market(seed: 6, stations: 200, days: Self.market.days)
    for feed in SimulatedFeeds.feeds {
      let first = SimulatedFeeds(Self.market).documents(of: feed, at: Self.now)
      #expect(SimulatedFeeds(again).documents(of: feed, at: Self.now) == first)
      #expect(SimulatedFeeds(other).documents(of: feed, at: Self.now) != first)
    }
  }

  /// A market has about as many stations as are asked for.
  @Test(arguments: [330, 1_000])
  func aMarketHasItsStations(count: Int) {
    let market = Market(seed: 5, allStations: count, days: Self.market.days)
    #expect(abs(market.sites.count - count) <= 8)
  }

  /// The rows of an archive are in order of time, and none has a time that Sydney's clocks skip.
  @Test func anArchiveIsInOrderOfTime() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let october = try #require(Day("2026-10-01"))
    let path = try SyntheticArchive(seed: 5, stations: 40, firstMonth: Month(october))
      .write(months: 1, rowsPerMonth: 5_000, into: folder)[0]
    let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
    let stamps = rows.compactMap { $0.split(separator: ",").dropLast().last.map(String.init) }
    #expect(stamps.count == 5_000 && stamps == stamps.sorted())
    let skipped = stamps.filter { $0.contains(" 02:") }
    #expect(skipped.isEmpty && stamps.first == "2026-10-01 00:00:00")
  }
}

/// Returns whether a JSON number was written as `true` or `false`.
private func isBoolean(_ number: NSNumber) -> Bool {
  String(cString: number.objCType) == "c"
}
