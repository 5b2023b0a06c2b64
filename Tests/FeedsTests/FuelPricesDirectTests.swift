import Feeds
import Foundation
import FuelModel
import TestDatabase
import Testing

struct FuelPricesDirectTests {
  private func fixture(_ name: String) throws -> Document {
    try Sample.fixture("fuel-prices-direct/\(name).json")
  }

  /// F-V02, F-V03, F-V07, F-V08, F-B01, F-J05, F-J06: prices are read in tenths of a cent, and bad
  /// records are rejected one by one.
  @Test func readsTenthsOfACent() throws {
    let reading = try Sample.parse([fixture("prices")], "qld-fpd")
    #expect(reading.price("61400001", .u91) == "184.9 2022-11-12T07:26:03.490000Z")
    #expect(reading.price("61400002", .e10) == "209.9 2022-11-13T22:46:00Z")
    #expect(reading.price("61400003", .u91) == "none 2021-03-02T04:01:24.130000Z")
    #expect(reading.price("61400004", .lpg) == "89.9 2022-11-12T07:26:03.500000Z")
    #expect(reading.coverage == .complete)
    #expect(
      reading.reasons == [
        "price_out_of_band", "price_out_of_band", "unsupported_fuel", "stamp_unreadable",
        "price_unreadable", "record_unreadable", "record_unreadable", "record_unreadable",
        "price_unreadable",
      ])
    // A reject keeps the text of its record, so nothing is lost.
    #expect(reading.rejects[0].raw.contains("61400005") && reading.rejects[0].raw.contains("153"))
    #expect(
      reading.rejects[5].raw.contains("\"1849\"") && reading.rejects[5].raw.contains("61400010"))
    #expect(reading.observations.count + reading.rejects.count == 13)
  }

  @Test func describesStations() throws {
    let documents = try ["sites", "brands", "regions"].map(fixture)
    let reading = try Sample.parse(documents, "qld-fpd")
    #expect(reading.coverage == .partial && reading.observations.isEmpty)
    #expect(reading.stations.count == 2)
    // The suburb is region 257 of level 1, not region 257 of level 2.
    #expect(reading.stations[0].suburb == "Testville")
    #expect(reading.stations[0].brand == "BP" && reading.stations[0].name == "Test Fuel")
    // The state is the one that the site states, whatever its postcode. An unknown brand is shown
    // by its number.
    #expect(reading.stations[1].state == .nsw && reading.stations[1].brand == "4711")
    #expect(reading.stations[1].position == nil && reading.stations[1].code == "61400002")
  }

  /// F-F01, F-H12, F-J01 to F-J04: an answer that is not a whole list is refused.
  @Test(arguments: [
    "", "[]", "null", "\"SitePrices\"", "{}", "{\"SitePrices\":null}", "{\"SitePrices\":{}}",
    "{\"SitePrices\":[]}", "{\"ok\":false}", "{\"SitePrices\":[]} trailing",
    "{\"SitePrices\":[]}{\"SitePrices\":[]}", "{\"SitePrices\":[{\"Price\":NaN}]}",
    "{/*c*/\"SitePrices\":[]}", "<html></html>", "{\"Message\":\"error\"}",
  ])
  func whatIsNotAListIsRefused(text: String) {
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("prices", text)], "qld-fpd")
    }
  }

  /// F-J01, F-Z02: a list that is cut at any byte is refused.
  @Test func truncatedAnywhereIsRefused() throws {
    let text =
      "{\"SitePrices\":[{\"SiteId\":1,\"FuelId\":2,\"CollectionMethod\":\"Q\","
      + "\"TransactionDateUtc\":\"2022-11-12T07:26:03\",\"Price\":1849.0}]}"
    #expect(try Sample.parse([Sample.document("prices", text)], "qld-fpd").observations.count == 1)
    for cut in 0..<text.count {
      #expect(throws: FeedError.self, "cut at \(cut)") {
        try Sample.parse([Sample.document("prices", String(text.prefix(cut)))], "qld-fpd")
      }
    }
  }

  /// F-J08: excessive nesting and absurd numbers do no harm.
  @Test func absurdJSONIsRefused() {
    let deep = "{\"SitePrices\":" + String(repeating: "[", count: 100_000)
    let huge =
      "{\"SitePrices\":[{\"SiteId\":1,\"FuelId\":2,\"TransactionDateUtc\":\"x\",\"Price\":1e400}]}"
    #expect(throws: FeedError.malformed(document: "prices", reason: "nested too deeply")) {
      try Sample.parse([Sample.document("prices", deep)], "qld-fpd")
    }
    let reading = try? Sample.parse([Sample.document("prices", huge)], "qld-fpd")
    #expect(reading?.observations.isEmpty != false)
  }

  /// F-J07, F-Z12, F-J02: a key that occurs twice, at the top or in a row, is refused, and so is a
  /// trailing comma.
  @Test(arguments: [
    "{\"SitePrices\":[ROW],\"SitePrices\":[ROW]}",
    "{\"SitePrices\":[{\"SiteId\":1,\"FuelId\":2,\"TransactionDateUtc\":\"2022-11-12T07:26:03\","
      + "\"Price\":1849.0,\"Price\":1549.0}]}",
    "{\"SitePrices\":[ROW,]}", "{\"SitePrices\":[ROW],}",
  ])
  func ambiguousJSONIsRefused(text: String) throws {
    let row =
      "{\"SiteId\":1,\"FuelId\":2,\"TransactionDateUtc\":\"2022-11-12T07:26:03\","
      + "\"Price\":1849.0,\"Name\":\"a \\\"Price\\\",} b\"}"
    let text = text.replacing("ROW", with: row)
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("prices", text)], "qld-fpd")
    }
    let sound = "{\"SitePrices\":[\(row),\(row)]}"
    #expect(try Sample.parse([Sample.document("prices", sound)], "qld-fpd").observations.count == 2)
  }

  /// How many rows and rejects an answer has, in the recorded samples and in the invented ones.
  struct Answer: Sendable {
    var stamp: String
    var recorded: (rows: Int, rejects: Int)
    var invented: (rows: Int, rejects: Int)
  }

  /// In the samples every record is an observation or a reject.
  @Test(
    arguments: Samples.all,
    [
      Answer(stamp: "20210809T111845Z", recorded: (6_414, 15), invented: (925, 4)),
      Answer(stamp: "20221114T002821Z", recorded: (6_490, 2), invented: (925, 2)),
      Answer(stamp: "20221121T002952Z", recorded: (6_506, 2), invented: (925, 2)),
    ])
  func wholeAnswers(samples: Samples, answer: Answer) throws {
    let document = try Sample.answer(
      "qld-fpd/GetSitesPrices-\(answer.stamp).json.gz", of: samples, as: "prices")
    let reading = try Sample.parse([document], "qld-fpd")
    let (rows, rejects) = samples.areRecorded ? answer.recorded : answer.invented
    #expect(reading.observations.count + reading.rejects.count == rows)
    #expect(reading.reasons == Array(repeating: "price_out_of_band", count: rejects))
    let distinct = reading.distinct(takenAt: document.fetchedAt, horizon: .seconds(600))
    #expect(distinct.duplicates == 0 && distinct.received == rows)
    if answer.stamp == "20221114T002821Z" {
      // These prices were read from the raw answers by eye: 1849.0, 1950.0, 2099.0.
      let codes =
        samples.areRecorded
        ? ["61290151", "61291313", "61401007"] : ["61900003", "61900020", "61900033"]
      #expect(reading.price(codes[0], .u91) == "184.9 2022-11-12T07:26:03.490000Z")
      #expect(reading.price(codes[1], .u91) == "195.0 2022-10-10T00:09:21.527000Z")
      #expect(reading.price(codes[2], .u91) == "209.9 2022-11-13T22:46:00Z")
    }
  }

  @Test(arguments: Samples.all) func wholeSiteLists(samples: Samples) throws {
    var sites = try Sample.answer(
      "qld-fpd/full-site-details-S-array-2025-08-03.json.gz", of: samples, as: "sites")
    sites.bytes = Array("{\"S\":".utf8) + sites.bytes + Array("}".utf8)
    let regions = try Sample.answer(
      "qld-fpd/country-geographic-regions-2025-08-03.json.gz", of: samples, as: "regions")
    let reading = try Sample.parse([sites, regions], "qld-fpd")
    #expect(reading.stations.count == (samples.areRecorded ? 1_727 : 200))
    #expect(reading.stations.allSatisfy { $0.position != nil && $0.suburb != nil })
    let south = try Sample.parse(
      [
        Sample.answer("sa-fpd/fixture-site_details.json", of: samples, as: "sites"),
        Sample.answer("sa-fpd/fixture-brands.json", of: samples, as: "brands"),
        Sample.answer("sa-fpd/fixture-geo_regions.json", of: samples, as: "regions"),
      ], "sa-fpd")
    #expect(south.stations.count == 3)
    #expect(south.stations[0].brand == (samples.areRecorded ? "On the Run" : "Kestrel"))
    #expect(south.stations[2].position == nil)
  }
}
