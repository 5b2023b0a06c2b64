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

/// Several sources report the same weeks: a feed with codes and an archive without them, and a feed
/// and an archive of whole days. Their runs and files arrive in any order, interrupted and
/// repeated, with matching and averaging in between. Everything published ends the same. F-C06,
/// F-L01, F-S01, F-S04.
struct HistoryOrderTests {
  static let begin = Instant("2026-03-28T00:00:00Z")
  static let end = begin + .seconds(20 * 86_400)

  /// Something that happens to the database.
  enum Step {
    case list(wa: Bool, at: Instant, [Observation], [Station], Reading.Coverage)
    case file(archive: String, text: String)
    /// A file whose load is interrupted.
    case cutFile(archive: String, text: String)
    case aggregate
  }

  struct Site {
    var code: String
    var names: [String]
    var address: String
    var suburb: String
    /// Whether the feed lists the station, and whether the archive has it.
    var isListed = true
    var isArchived = true
  }

  static let newSouthWales = [
    Site(
      code: "101", names: ["Caltex Testville", "Ampol Testville"], address: "10 High Street",
      suburb: "Testville"),
    Site(code: "201", names: ["BP Wyong Northbound"], address: "M1 Motorway", suburb: "Wyong"),
    Site(code: "202", names: ["BP Wyong Southbound"], address: "M1 Motorway", suburb: "Wyong"),
    Site(
      code: "301", names: ["Corner Store"], address: "1 Old Road", suburb: "Gone", isListed: false),
    Site(
      code: "401", names: ["New Fuels"], address: "2 New Road", suburb: "Fresh", isArchived: false),
    Site(code: "501", names: ["Metro West"], address: "132-136 Long St", suburb: "Westville"),
  ]
  static let westernAustralia = [
    Site(code: "", names: ["Vibe Perth", "Ampol Perth"], address: "5 Main St", suburb: "PERTH"),
    Site(code: "", names: ["BP Bunbury"], address: "7 Coast Rd", suburb: "BUNBURY"),
    Site(
      code: "", names: ["Liberty Albany"], address: "9 York St", suburb: "ALBANY", isListed: false),
    Site(
      code: "", names: ["Shell Broome"], address: "3 Port Dr", suburb: "BROOME", isArchived: false),
  ]

  struct Event {
    var site: Int
    var fuel: Fuel
    var at: Instant
    var tenths: Int
  }

  static func steps(seed: UInt64) -> [Step] {
    var random = Random(seed: seed, "history")
    return eventSteps(&random) + daySteps(&random)
  }

  /// Makes steps for New South Wales: price changes, in lists with codes and in files without them.
  private static func eventSteps(_ random: inout Random) -> [Step] {
    let sites = newSouthWales
    let renamedAt = begin + .seconds(random.integer(2...12) * 86_400)
    var events: [Event] = []
    for site in sites.indices {
      for fuel in [Fuel.u91, .dl] {
        var at = begin - .seconds(random.integer(0...100_000))
        var tenths = random.integer(1500...1999)
        while at < begin + .seconds(15 * 86_400) {
          events.append(Event(site: site, fuel: fuel, at: at, tenths: tenths))
          at = at + .seconds(random.integer(5_000...200_000))
          if random.chance(0.8) { tenths = random.integer(1500...1999) }
        }
      }
    }
    events.sort { ($0.at, $0.site) < ($1.at, $1.site) }

    var steps: [Step] = []
    // Lists of the last two thirds, with gaps.
    var at = begin + .seconds(random.integer(3...8) * 86_400)
    while at < begin + .seconds(17 * 86_400) {
      var listed: [Observation] = []
      for site in sites.indices where sites[site].isListed && !random.chance(0.05) {
        for fuel in [Fuel.u91, .dl] where !random.chance(0.08) {
          guard
            let shown = events.last(where: { $0.site == site && $0.fuel == fuel && $0.at <= at })
          else { continue }
          listed.append(
            Observation(
              stationCode: sites[site].code, fuel: fuel, price: Price(tenths: shown.tenths),
              effectiveAt: shown.at))
        }
      }
      let stations = sites.filter(\.isListed).map { site in
        Station(
          code: site.code, state: .nsw, name: at < renamedAt ? site.names[0] : site.names.last!,
          brand: "B", address: "\(site.address), \(site.suburb.uppercased()) NSW 2000",
          suburb: site.suburb, postcode: "2000")
      }
      steps.append(
        .list(
          wa: false, at: at, listed, random.chance(0.6) ? stations : [],
          random.chance(0.2) ? .partial : .complete))
      at = at + .seconds(random.chance(0.05) ? 250_000 : random.integer(20_000...90_000))
    }

    // Files of overlapping days. Some rows come twice, and now and then a second has two prices.
    var from = begin
    while from < begin + .seconds(16 * 86_400) {
      let until = from + .seconds(random.integer(2...6) * 86_400)
      var rows = [
        "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price"
      ]
      for event in events where event.at >= from && event.at < until {
        let site = sites[event.site]
        guard site.isArchived else { continue }
        let local = Zone.sydney.local(event.at)
        let time =
          "\(two(local.secondsOfDay / 3600)):\(two(local.secondsOfDay / 60 % 60)):\(two(local.secondsOfDay % 60))"
        let name = event.at < renamedAt ? site.names[0] : site.names.last!
        let price = event.tenths + (random.chance(0.03) ? 7 : 0)
        let row =
          "\(name),\"\(site.address), \(site.suburb) NSW 2000\",\(site.suburb),2000,B,"
          + "\(event.fuel.rawValue),\(local.day) \(time),\(price / 10).\(price % 10)"
        rows.append(row)
        if random.chance(0.05) { rows.append(row) }
      }
      if rows.count > 1 {
        steps.append(.file(archive: "nsw", text: rows.joined(separator: "\n") + "\n"))
      }
      from = until - .seconds(random.chance(0.5) ? 86_400 : 0)
    }
    return steps
  }

  /// Makes steps for Western Australia: prices of whole days, with names and addresses but no codes
  /// in both sources.
  private static func daySteps(_ random: inout Random) -> [Step] {
    let sites = westernAustralia
    let firstDay = Zone.perth.local(begin).day
    let renamedOn = random.integer(3...10)
    var prices: [[Int]] = []
    for _ in sites { prices.append((0..<18).map { _ in random.integer(1500...1999) }) }
    func name(_ site: Site, _ day: Int) -> String {
      day < renamedOn ? site.names[0] : site.names.last!
    }
    var steps: [Step] = []
    for day in random.integer(2...7)..<16 where !random.chance(0.1) {
      let at = begin + .seconds(day * 86_400 + 4_000)
      var observed: [Observation] = []
      var stations: [Station] = []
      for (number, site) in sites.enumerated() where site.isListed && !random.chance(0.1) {
        let code = "\(name(site, day))|\(site.address)|\(site.suburb)"
        stations.append(
          Station(
            code: code, state: .wa, name: name(site, day), address: site.address,
            suburb: site.suburb))
        observed.append(
          Observation(
            stationCode: code, fuel: .u91, price: Price(tenths: prices[number][day]),
            effectiveAt: try? Zone.perth.instant(firstDay + day, hour: 6)))
      }
      if !observed.isEmpty {
        steps.append(.list(wa: true, at: at, observed, stations, .partial))
      }
    }
    var from = 0
    while from < 16 {
      let until = min(from + random.integer(2...8), 18)
      var rows = [
        "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,"
          + "LOCATION,POSTCODE,AREA_DESCRIPTION,REGION_DESCRIPTION"
      ]
      for day in from..<until {
        let date = firstDay + day
        for (number, site) in sites.enumerated() where site.isArchived && !random.chance(0.08) {
          rows.append(
            "\(two(date.day))/\(two(date.month))/\(date.year),\(name(site, day)),B,ULP,"
              + "\(prices[number][day] / 10).\(prices[number][day] % 10)0,\(site.address),"
              + "\(site.suburb),6000,,")
        }
      }
      if rows.count > 1 {
        steps.append(.file(archive: "wa", text: rows.joined(separator: "\r\n") + "\r\n"))
      }
      from = until
    }
    return steps
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// To run more: ORDER_SEEDS=5000 make test-long.
  static let seeds = Long.count("ORDER_SEEDS", short: 1, long: 10)

  @Test(.longer, arguments: 0..<seeds)
  func anyOrderOfListsAndFilesEndsInTheSameState(seed: Int) async throws {
    let steps = Self.steps(seed: UInt64(seed))
    let plain = try await Self.outcome(of: steps)
    var random = Random(seed: UInt64(seed), "shuffled history")
    var shuffled: [Step] = steps
    for step in steps where random.chance(0.25) {
      if case .file(let archive, let text) = step, random.chance(0.5) {
        shuffled.append(.cutFile(archive: archive, text: text))
      } else {
        shuffled.append(step)
      }
    }
    for _ in 0..<3 { shuffled.append(.aggregate) }
    shuffled.shuffle(using: &random)
    let other = try await Self.outcome(of: shuffled)
    #expect(plain.count > 60)
    #expect(other == plain, "seed \(seed)")
    for (left, right) in zip(plain, other) where left != right {
      Issue.record("seed \(seed): plain \(left), shuffled \(right)")
      break
    }
  }

  static func outcome(of steps: [Step]) async throws -> [String] {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      let days = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      for step in steps { try await take(step, feed, days) }
      try aggregate(feed)
      return try feed.published(at: end)
    }
  }

  private static func aggregate(_ feed: Feed) throws {
    try Identity.match(feed.store, decisions: [], now: end, log: Logger(.error))
    try feed.aggregate(at: end, regions: [.nation, .newSouthWales, .westernAustralia])
  }

  private static func take(_ step: Step, _ feed: Feed, _ days: Feed) async throws {
    switch step {
    case .list(let isWA, let at, let observations, let stations, let coverage):
      try (isWA ? days : feed).reports(
        observations, stations: stations, at: at, now: end, coverage: coverage)
    case .file(let archive, let text):
      _ = try await withFile(text) { path in
        try await Backfill(
          HistoryOrderTests.archive(archive), store: feed.store, decisions: [], clock: .fixed(end),
          log: Logger(.error)
        ).run([path])
      }
    case .cutFile(let archive, let text):
      try await withFile(text) { path in
        let archive = try HistoryOrderTests.archive(archive)
        let reader = ArchiveReader(archive.format, files: [ArchiveFile(path)], now: end)
        guard var batch = try await reader.next() else { return }
        batch.isLast = false
        let stations = ArchiveStations()
        stations.number(batch)
        let loader = ArchiveLoader(
          feed.store, source: try register(archive, in: feed.store), stations: stations, now: end,
          maxRejectShare: 1)
        _ = try loader.load(batch, digest: "00")
        loader.abandon()
      }
    case .aggregate: try aggregate(feed)
    }
  }

  private static func register(_ archive: Archive, in store: Store) throws -> SourceID {
    try Backfill(archive, store: store, decisions: [], clock: .fixed(end), log: Logger(.error))
      .register()
  }

  static func archive(_ name: String) throws -> Archive {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config/archives").standardized.path
    return try Archive(file: "\(folder)/\(name).json5", environment: [:])
  }

  static func withFile<Value>(_ text: String, _ body: (String) async throws -> Value) async throws
    -> Value
  {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".csv")
    try Data(text.utf8).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    return try await body(path.path)
  }
}

extension Region {
  static let newSouthWales = Region(
    code: "NSW", name: "NSW", kind: "state", state: .nsw, centre: nil, radiusKilometres: nil)
  static let westernAustralia = Region(
    code: "WA", name: "WA", kind: "state", state: .wa, centre: nil, radiusKilometres: nil)
}
