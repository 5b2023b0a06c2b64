import FuelModel
import Postgres
import Report
import Testing
import Views

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
    market.verdictChanges[key.region]?[0].fuel = fuel
    market.verdictChanges[key.region]?[0].verdict = "no_difference"
    market.verdictChanges[key.region]?[0].basis = "insufficient_data"
    let other = try #require(market.verdicts.keys.first { market.averages[$0] != nil })
    market.verdicts[other]?.verdict = "no_difference"
    market.verdicts[other]?.basis = "insufficient_data"
    market.offers[0].fuel = "nsw-fuelcheck:XYZ"
    let offer = market.offers[0]
    for average in market.averages.keys where average.region == offer.state {
      market.averages[average]?.delayHours = 24
    }

    let files = Dictionary(
      Report(market, now: now, version: "1", address: nil).files, uniquingKeysWith: { $1 })
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
    #expect(station.contains("<th scope=\"row\">nsw-fuelcheck:XYZ</th>"))
    #expect(suburb.value.contains("<h2 id=\"nsw-fuelcheck:XYZ\">"))
  }
}
