import Feeds
import FuelModel
import TestDatabase
import Testing

struct FairFuelTests {
  private func read() throws -> Reading {
    try Sample.parse(
      [Sample.fixture("fairfuel/brands.json"), Sample.fixture("fairfuel/prices.json")],
      "vic-fairfuel")
  }

  /// F-V02, F-V03, F-V04: prices of 999.9, 9999 and 9999.9 mean that a fuel is not available, even
  /// where `isAvailable` is true. Typing errors, and null in place of a price, are rejected.
  @Test func readsCentsAndSentinels() throws {
    let reading = try read()
    #expect(reading.price("aa/bb+cc==", .u91) == "199.9 2026-08-20T20:39:16Z")
    for fuel in [Fuel.p98, .p95, .e10, .dl] {
      #expect(reading.price("aa/bb+cc==", fuel) == "none 2026-08-20T20:00:00Z")
    }
    #expect(
      reading.reasons == [
        "price_out_of_band", "price_out_of_band", "price_unreadable", "price_out_of_band",
        "stamp_unreadable", "record_unreadable", "station_missing", "record_unreadable",
      ])
    #expect(reading.coverage == .complete)
  }

  /// F-B01: an unmapped fuel code is kept under its own name.
  @Test func keepsUnmappedCodes() throws {
    #expect(
      try read().price("aa/bb+cc==", .unmapped("X1")) == "151.9 2026-08-20T20:00:00Z")
  }

  /// F-B03: a brand that the list of brands does not name is shown by its id.
  @Test func describesStations() throws {
    let stations = try read().stations
    #expect(stations.map(\.code) == ["aa/bb+cc==", "zz"])
    #expect(stations[0].suburb == "Cranbourne East" && stations[0].postcode == "3977")
    #expect(stations[0].name == "TESTFUEL Bend" && stations[0].brand == "Testfuel")
    let phones = stations.map { $0.details["phone"] }
    #expect(phones == ["03 0000 0000", nil])
    #expect(stations[0].state == .vic && stations[0].timeZone == .melbourne)
    #expect(
      stations[1].brand == "a03Gone00000000001" && stations[1].position == nil
        && stations[1].postcode == nil)
  }

  /// A telephone number that is blank or not a text is none, and costs no price.
  @Test(arguments: ["\"\"", "\" \"", "null", "395410711", "[]"])
  func aNumberThatIsNoneCostsNoPrice(phone: String) throws {
    let text = """
      {"fuelPriceDetails":[{"fuelStation":{"id":"1","name":"A","address":"","contactPhone":\(phone)},
      "fuelPrices":[{"fuelType":"U91","isAvailable":true,"price":199.9,"updatedAt":"2026-08-20T20:39:16Z"}]}]}
      """
    let reading = try Sample.parse([Sample.document("prices", text)], "vic-fairfuel")
    #expect(reading.stations.count == 1 && reading.stations.first?.details == [:])
    #expect(reading.observations.count == 1 && reading.rejects.isEmpty)
  }

  /// F-H12, F-F01, F-J04: an answer without a list of prices is refused.
  @Test(arguments: [
    "{\"fuelPriceDetails\":[]}", "{\"fuelPriceDetails\":null}", "{}", "[]",
    "{\"fuelPriceDetails\":{}}", "{\"code\":\"ERR_UNAUTHORIZED\",\"message\":\"no\"}",
  ])
  func refusesWhatIsNoList(text: String) throws {
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("prices", text)], "vic-fairfuel")
    }
  }

  /// In the samples every row is an observation or a reject. A search of the text counts the rows a
  /// second time.
  @Test(
    arguments: Samples.all,
    ["2026-03-17", "2026-03-18", "2026-03-19", "2026-04-04", "2026-04-05", "2026-04-06"])
  func readsWholeAnswers(samples: Samples, day: String) throws {
    let document = try Sample.answer(
      "vic-fair-fuel/prices-\(day).json.gz", of: samples, as: "prices")
    let reading = try Sample.parse([document], "vic-fairfuel")
    let written = String(decoding: document.bytes, as: UTF8.self).matches(of: /"fuelType"/).count
    #expect(reading.observations.count + reading.rejects.count == written)
    if day == "2026-03-17" { #expect(written == (samples.areRecorded ? 7_130 : 513)) }
    #expect(reading.rejects.allSatisfy { $0.reason == .priceOutOfBand })
    let phones = reading.stations.count { $0.details["phone"] != nil }
    if samples.areRecorded {
      #expect(reading.rejects.count < 20 && reading.stations.count > 1_600)
      #expect(phones == reading.stations.count)
    } else {
      // Two slips of a digit a day.
      #expect(reading.rejects.count == 2 && reading.stations.count == 120)
      #expect(phones == 106)
    }
    #expect(reading.stations.allSatisfy { $0.postcode != nil && $0.position != nil })
    #expect(!reading.observations.contains { if case .unmapped = $0.fuel { true } else { false } })
    // The answer shows the state of a day ago, and its stamps lie within one day.
    let stamps = reading.observations.compactMap(\.effectiveAt)
    let (oldest, newest) = (try #require(stamps.min()), try #require(stamps.max()))
    #expect(newest.seconds - oldest.seconds <= 86_400)
    // Half of all rows carry the stamp of the morning: 19:00 UTC in summer time, 20:00 UTC from 6
    // April.
    let hour = (oldest.seconds % 86_400) / 3_600
    #expect(hour == (day == "2026-04-06" ? 20 : 19), "\(oldest)")
  }
}

struct JSONTextTests {
  private func name(_ literal: String) throws -> String? {
    let text = """
      {"fuelPriceDetails":[{"fuelStation":{"id":"1","name":\(literal),"address":""},"fuelPrices":[]}]}
      """
    return try Sample.parse([Sample.document("prices", text)], "vic-fairfuel").stations.first?.name
  }

  /// F-J09: escapes follow the rules of JSON. An unpaired surrogate is refused.
  @Test(arguments: [
    ("\"a\\u00e9b\"", "aéb"), ("\"\\ud83d\\ude00\"", "😀"), ("\"a\\/b\\\\c\\\"d\"", "a/b\\c\"d"),
    ("\"a\\n\\t\\r\\f\\bb\"", "a b"), ("\"a\\u0000b\"", "a b"), ("\"e\\u0301\"", "é"),
    ("\"a\\u200bb\\u202ec\"", "abc"),
  ])
  func escapes(literal: String, name: String) throws {
    #expect(try self.name(literal) == name)
  }

  /// F-P03, F-P02: Latin-1 is refused, and never repaired.
  @Test func latin1IsRefused() {
    var document = Sample.document(
      "prices",
      "{\"fuelPriceDetails\":[{\"fuelStation\":{\"id\":\"1\",\"name\":\"caf\",\"address\":\"\"},"
        + "\"fuelPrices\":[]}]}")
    let end = document.bytes.firstRange(of: Array("caf".utf8))?.upperBound ?? 0
    document.bytes.insert(0xE9, at: end)
    #expect(throws: FeedError.malformed(document: "prices", reason: "not UTF-8")) {
      try Sample.parse([document], "vic-fairfuel")
    }
  }

  /// F-J09, F-J02: text that is not JSON is refused.
  @Test(arguments: [
    "\"\\ud83d\"", "\"\\ud83d\\u0041\"", "\"\\x41\"", "\"\\u00g0\"", "'a'", "a", "\"a", "+1", "01",
    "0x1", "NaN", ".5", "1.", "\"a\nb\"",
  ])
  func whatIsNoJSONIsRefused(literal: String) {
    #expect(throws: FeedError.self, "\(literal)") { try name(literal) }
  }
}
