import Foundation
import FuelModel
import Postgres
import Simulator
import TestDatabase
import Testing

@testable import Report
@testable import Views

/// What the pages say where something is missing.
struct ReportTests {
  /// F-O26, F-O27, F-O28, F-O29: a fuel without an average has no page that is linked to, advice
  /// that is not known yet is called so everywhere, prices a day old have a note on each page, and a
  /// code without a name is shown as it is.
  @Test func whatIsMissingIsSaid() async throws {
    let played = try await PlayedMarket.database()
    let now = try #require(Instant(iso: played.now[1]))
    let views = Views(try Connection(played.target))
    try views.becomeReader()
    try views.setViewClock(played.now[1])
    var market = try views.marketReport()

    let fuel = try #require(market.fuels.last?.code)
    let key = try #require(
      market.averages.keys.sorted { $0.region < $1.region }.first {
        $0.fuel == fuel && market.verdictChanges[$0.region]?.isEmpty == false
      })
    market.averages[key] = nil
    market.days[key] = nil
    market.verdictChanges[key.region]?[0].fuel = fuel
    market.verdictChanges[key.region]?[0].verdict = "no_difference"
    market.verdictChanges[key.region]?[0].basis = "insufficient_data"
    let other = try #require(market.verdicts.keys.first { market.averages[$0] != nil })
    market.verdicts[other]?.verdict = "no_difference"
    market.verdicts[other]?.basis = "insufficient_data"
    market.offers[0].fuel = "nsw-fuelcheck:XYZ"
    let offer = market.offers[0]
    for place in market.offers.indices where market.offers[place].state == offer.state {
      market.offers[place].delayHours = 24
    }

    let files = texts(Report(market, now: now, version: "1", address: nil))
    func page(_ path: String) throws -> String { try #require(files[path], "\(path)") }
    let slug = key.region.lowercased()
    let feed = try page("feed/\(slug).atom")
    let entry = try #require(feed.split(separator: "<entry>").dropFirst().first)
    #expect(entry.contains("href=\"../region/\(slug).html\""), "\(entry)")
    #expect(entry.contains(": not known yet</title>"), "\(entry)")
    let advised = try page("\(other.fuel.lowercased())/\(other.region.lowercased()).html")
    #expect(advised.contains("c/L on average: not known yet\""), "\(advised.prefix(900))")
    #expect(!advised.contains("no difference\""))
    let station = try page("station/\(offer.station).html")
    let suburb = try #require(
      files.first { $0.key.hasPrefix("place/") && $0.value.contains("/\(offer.station).html") })
    let late = "Prices are a day old"
    let places = try page("places/\(offer.state.lowercased()).html")
    #expect(station.contains(late) && suburb.value.contains(late) && places.contains(late))
    #expect(station.contains("<th scope=\"row\">nsw-fuelcheck:XYZ<br>"))
    #expect(suburb.value.contains("<h2 id=\"nsw-fuelcheck:XYZ\">"))
  }

  private func texts(_ report: Report) -> [String: String] {
    Dictionary(report.files.map { ($0.path, $0.text()) }, uniquingKeysWith: { $1 })
  }

  /// The market of the tests as a report reads it.
  private func market() async throws -> (market: MarketReport, now: Instant) {
    let played = try await PlayedMarket.database()
    let views = Views(try Connection(played.target))
    try views.becomeReader()
    try views.setViewClock(played.now[1])
    return (try views.marketReport(), try #require(Instant(iso: played.now[1])))
  }

  /// The picture in README.md is of the front page as it looks now: the number beside it changes with
  /// the style sheet and with what stands above the cards. `make picture` makes it anew.
  @Test func thePictureIsOfThisSite() async throws {
    let (market, now) = try await market()
    let files = texts(Report(market, now: now, version: "1", address: nil))
    let (page, style) = (try #require(files["index.html"]), try #require(files["style.css"]))
    let head = page.matches(of: /<header(?s:.)*?<\/header>|<h1>.*<\/h1>/).map(\.0).joined()
    let number = (style + head).utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    if let folder = ProcessInfo.processInfo.environment["PICTURE"] {
      try page.replacing(/<script.*<\/script>\n/, with: "")
        .write(toFile: folder + "/index.html", atomically: true, encoding: .utf8)
      try style.write(toFile: folder + "/style.css", atomically: true, encoding: .utf8)
    }
    let readme = try String(contentsOfFile: IntegrationTests.root + "/README.md", encoding: .utf8)
    #expect(
      readme.contains("(docs/site.png) <!-- \(String(number, radix: 16)) -->"),
      "run make picture, and write \(String(number, radix: 16)) beside it in README.md")
  }

  /// Where all prices of a region are too old to believe, its pages stay and say so, and a report that
  /// is made again from old data calls them old.
  @Test func oldPricesAreCalledOld() async throws {
    var (market, now) = try await market()
    let fresh = texts(Report(market, now: now, version: "1", address: nil))
    #expect(try #require(fresh["u91/perth.html"]).contains("Prices read <time"))
    #expect(try !#require(fresh["u91/perth.html"]).contains("Old prices."))
    for key in market.averages.keys where key.region == "perth" { market.averages[key] = nil }
    let files = texts(Report(market, now: now + .seconds(90_000), version: "1", address: nil))
    let page = try #require(files["u91/perth.html"])
    #expect(
      page.contains("Too few stations here have a price that is believed. The last average was"))
    #expect(page.contains("<b class=\"bad\">Old prices.</b>"))
    #expect(files["region/perth.html"] != nil && files["api/v1/region/perth.json"] != nil)
    #expect(try #require(files["index.html"]).contains("data-region=\"perth\""))
  }

  /// Every region with stations has a map, the capital of a state that is hardly larger too, and the
  /// nation has one of its regions and ten stations.
  @Test func everyRegionHasAMap() async throws {
    let (market, now) = try await market()
    let files = texts(Report(market, now: now, version: "1", address: nil))
    for path in ["u91/canberra.html", "u91/act.html", "u91/perth.html", "u91/au.html"] {
      #expect(try #require(files[path]).contains("<svg class=\"map\""), "\(path)")
    }
    let nation = try #require(files["u91/au.html"]?.split(separator: "id=\"cheapest\"").last)
    #expect(nation.matches(of: /<tr><th scope="row"><a href="..\/station/).count >= 10)
    // Labels are as high as a finger needs and do not cover each other.
    let map = try #require(files["u91/sydney.html"])
    let boxes = map.matches(
      of: /<rect x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)" height="24"/
    ).compactMap { match -> (x: Double, y: Double, width: Double)? in
      guard let x = Double(match.1), let y = Double(match.2), let width = Double(match.3)
      else { return nil }
      return (x, y, width)
    }
    #expect(boxes.count > 5 && boxes.allSatisfy { $0.width >= 24 })
    for (index, box) in boxes.enumerated() {
      for other in boxes[..<index] {
        let isApart =
          abs(box.y - other.y) > 23.8 || box.x + box.width < other.x + 0.2
          || other.x + other.width < box.x + 0.2
        #expect(isApart, "\(box) \(other)")
      }
    }
  }

  /// The nearest stations are those with the shortest ways along the ground, also where they are far.
  @Test func theNearestAreNearestOnTheGround() async throws {
    var (market, now) = try await market()
    var random = Random(seed: 1, "nearest")
    var positions: [Int: Position] = [:]
    for place in market.offers.indices {
      let station = market.offers[place].station
      let position =
        positions[station]
        ?? Position(latitude: random.real(-43...(-11)), longitude: random.real(114...153))
      positions[station] = position
      market.offers[place].position = position
    }
    let report = Report(market, now: now, version: "1", address: nil)
    for offer in market.offers where offer.fuel == "U91" {
      let here = try #require(offer.position)
      let ways = market.offers.filter {
        $0.fuel == "U91" && $0.isFresh && !$0.isFlagged && $0.station != offer.station
      }.compactMap { $0.position?.kilometres(to: here) }.sorted()
      #expect(report.nearest(to: offer).compactMap(\.kilometres) == Array(ways.prefix(5)))
    }
  }

  /// Advice in a driver's words: nothing for less than half a cent, the low and how sure it is, and a
  /// good price that is never above what others charge.
  @Test func adviceIsForDrivers() throws {
    let now = Instant("2026-07-01T18:00:00Z")
    var verdict = MarketReport.Verdict(
      verdict: "wait", basis: "price_cycle", reason: "why", aim: 190, saving: 1.5,
      confidence: 0.96, validUntil: now + .seconds(4 * 3_600), json: "")
    verdict.low = (161.3, try #require(Day("2026-07-02"))...(try #require(Day("2026-07-06"))))
    var average = AverageNow(
      region: "perth", fuel: "U91", average: 174.7, quarter: 171.27, stations: 9, stale: 0,
      delayHours: 0)
    func advice() -> Advice { Advice(verdict, average, .perth, now: now) }
    #expect(advice().word == "Wait")
    #expect(advice().sentence == "Cheapest by Mon 6 Jul, near 161.3 on average: very likely")
    #expect(advice().goodPrice == 171.2)
    verdict.aim = 165
    #expect(advice().goodPrice == 165)
    // In a market with a few very cheap stations the cheapest quarter may end above the average.
    (average.quarter, average.average, verdict.aim) = (190.5, 190.47, nil)
    #expect(advice().goodPrice == 190.4)
    average.quarter = nil
    #expect(advice().goodPrice == nil)
    verdict.saving = 0.4
    #expect(advice().word == "No difference")
    #expect(advice().sentence == "Good timing saves less than half a cent a litre here")
    // Between midnight and six the next prices of Perth are those of the same calendar day.
    verdict.saving = 3.5
    verdict.basis = "tomorrow_price"
    verdict.published = (174.7, 171.2)
    #expect(advice().sentence == "Today from 6:00 near 171.2 on average, 3.5 c less")
    verdict.verdict = "no_difference"
    #expect(advice().sentence == "Today from 6:00 about the same price")
    verdict.published = nil
    verdict.basis = "not_cycling"
    #expect(advice().sentence == "Waiting saves nothing here")
    verdict.verdict = "fill_up"
    verdict.confidence = 0.5
    #expect(advice().sentence == "No better price is expected within five days: a close call")
  }

  /// F-O70: the sentence and the reason stand on one page: it never expects what the chance there denies.
  @Test(arguments: ["wait", "fill_up"]) func adviceAgreesWithItsChance(word: String) throws {
    let average = AverageNow(
      region: "adelaide", fuel: "U91", average: 174.7, quarter: nil, stations: 9, stale: 0,
      delayHours: 0)
    for percent in 0...100 {
      let isWait = word == "wait"
      let lower = Double(percent) / 100
      var verdict = MarketReport.Verdict(
        verdict: word, basis: "price_cycle", reason: "why", aim: nil, saving: 1.5,
        confidence: isWait ? lower : 1 - lower, validUntil: Instant(seconds: 0), json: "")
      let day = try #require(Day("2026-07-06"))
      verdict.low = isWait ? (161.3, day...day) : nil
      let sentence = Advice(verdict, average, .perth, now: Instant(seconds: 0)).sentence
      // The words of the reason: is very likely, is likely, may come, is not to be expected.
      let expected =
        switch (percent, isWait) {
        case (80..., true): "Cheapest by Mon 6 Jul, near 161.3 on average: very likely"
        case (60..., true): "Cheapest by Mon 6 Jul, near 161.3 on average: likely"
        case (40..., true): "Cheapest by Mon 6 Jul, near 161.3 on average: a close call"
        case (_, true):
          "The habit that has saved most lately says wait, although a lower price within five days "
            + "is not expected"
        case (60..., false):
          "The habit that has saved most lately says buy now, although a lower price within five "
            + "days is likely"
        case (40..., false): "No better price is expected within five days: a close call"
        case (21..., false): "No better price is expected within five days: likely"
        case (_, false): "No better price is expected within five days: very likely"
        }
      #expect(sentence == expected, "\(percent)")
    }
  }

  /// Sentences name regions, count stations and date feeds as a person would.
  @Test func sentencesAreWhole() async throws {
    #expect(Words.place("Rest of Victoria") == "the rest of Victoria")
    #expect(Words.place("Northern Territory") == "the Northern Territory")
    #expect(Words.place("Perth") == "Perth")
    func words(_ dearer: Int, _ cheaper: Int, _ same: Int) -> String {
      Words.stations(
        .init(
          today: 1, tomorrow: 1, dearer: dearer, cheaper: cheaper, same: same,
          effectiveAt: Instant(seconds: 0)))
    }
    #expect(words(0, 39, 0) == "39 stations get cheaper")
    #expect(words(1, 39, 4) == "1 station gets dearer, 39 get cheaper, 4 stay the same")
    #expect(words(0, 0, 1) == "1 station stays the same")

    var (market, now) = try await market()
    market.verdictChanges = [:]
    market.scores = market.scores.mapValues { score in
      var score = score
      score.windows = 60
      return score
    }
    let files = texts(Report(market, now: now, version: "1", address: nil))
    // Times of a list of several clocks are those of its stations: 6:00 in Perth.
    let nation = try #require(files["u91/au.html"]?.split(separator: "id=\"cheapest\"").last)
    let heads = nation.matches(of: /<th scope="col" class="number">(Tomorrow|Today) ([0-9:]+)</)
    #expect(heads.allSatisfy { $0.2 == "6:00" })
    let clocks = nation.contains("Times are local to the station.")
    #expect(clocks)
    // An empty feed is as old as the averages.
    let feed = try #require(files["feed/au.atom"])
    #expect(!feed.contains("1970-"), "\(feed)")
    // Pages without a time of making name their clock.
    let station = try #require(market.offers.first { $0.state == "WA" }?.station)
    #expect(try #require(files["station/\(station).html"]).contains("Times are Perth time. <a "))
    // The names of all capitals with a price are on the map of the front page.
    let front = try #require(files["index.html"]?.split(separator: "<svg class=\"map\"").last)
    for region in market.regions
    where region.kind == "capital" && market.averages[.init(region.code, "U91")] != nil {
      let isNamed = front.contains(">\(region.name)</text>")
      #expect(isNamed, "\(region.name)")
    }
  }

  /// The verdicts of stations in SQL are silent below the same saving as pages.
  @Test func stationsAndPagesAreSilentAlike() throws {
    let path = IntegrationTests.root + "/Migrations/views/verdicts.sql"
    let view = try String(contentsOfFile: path, encoding: .utf8)
    let limit = try #require(view.firstMatch(of: /expected_saving_cpl < ([0-9.]+) THEN 'little'/))
    #expect(Double(limit.1) == Advice.leastSaving)
  }
}
