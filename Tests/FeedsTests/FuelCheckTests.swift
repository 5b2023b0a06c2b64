import Feeds
import FuelModel
import TestDatabase
import Testing

struct FuelCheckTests {
  /// F-B01, F-V07, F-V08, F-H28: stamps are read as UTC, and bad records are rejected one by one.
  @Test func readsPricesInUTC() throws {
    let reading = try Sample.parse([Sample.fixture("fuelcheck/prices.json")], "nsw-fuelcheck")
    #expect(reading.price("2051", .e10) == "169.9 2026-07-02T20:20:27Z")
    #expect(reading.price("2051", .dl) == "179.0 2026-07-02T20:20:27Z")
    #expect(
      reading.reasons == [
        "unsupported_fuel", "unsupported_fuel", "price_unreadable",
        "stamp_unreadable", "price_out_of_band", "record_unreadable",
      ])
    #expect(reading.stations.map(\.state) == [.nsw, .act, .act])
    #expect(reading.stations[0].suburb == "TESTVILLE" && reading.stations[0].postcode == "2756")
    #expect(reading.stations[2].brand == nil)
  }

  /// F-S06: a state in the words of an address decides. The postcode alone decides only if the
  /// address names no state.
  @Test(arguments: [
    ("539 Wilberforce Rd, WILBERFORCE NSW 2756", "WILBERFORCE", State.nsw, "2756"),
    ("Gwydir Hwy, JACKADGERY NSW AUSTRALIA 2460", "JACKADGERY", .nsw, "2460"),
    ("456, Metford Road, Metford NEW SOUTH WALES 2323", "Metford", .nsw, "2323"),
    ("52 Hill Street, Uralla, NSW  2358, AU", "Uralla", .nsw, "2358"),
    ("1 Vermont St, BAROOGA NSW 3644", "BAROOGA", .nsw, "3644"),
    ("Monaro St, QUEANBEYAN NSW 2620", "QUEANBEYAN", .nsw, "2620"),
    ("Sheppard St, HUME ACT 2620", "HUME", .act, "2620"),
    ("1 Main St, BELCONNEN 2617", "", .act, "2617"),
  ])
  func placesFromAddresses(address: String, suburb: String, state: State, postcode: String) throws {
    let text = """
      {"stations":[{"code":"1","name":"x","brand":"y","address":"\(address)","location":null}],
      "prices":[{"stationcode":"1","fueltype":"U91","price":170,"lastupdated":"02/07/2026 20:20:27"}]}
      """
    let reading = try Sample.parse([Sample.document("prices", text)], "nsw-fuelcheck")
    let station = try #require(reading.stations.first)
    #expect(station.state == state && station.postcode == postcode)
    #expect((station.suburb ?? "") == suburb)
  }

  /// F-H12, F-F01: an error page, an empty list or a newline is refused. None of them means that
  /// there are no stations.
  @Test(arguments: [
    "\n", "{\"stations\":[],\"prices\":[]}", "{\"errorDetails\":[{\"code\":\"E0014\"}]}",
    "{\"errorDetails\":{\"code\":\"-2146233033\"}}", "Internal Server Error.",
  ])
  func whatIsNotAListIsRefused(text: String) {
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("prices", text)], "nsw-fuelcheck")
    }
  }

  /// In the samples every record is an observation or a reject, and only chargers are rejected.
  @Test(
    arguments: Samples.all,
    [
      ("20260616T043933Z", 10_633, 743), ("20260623T102623Z", 10_640, 743),
      ("20260701T235948Z", 10_623, 743), ("20260702T225645Z", 10_624, 739),
      ("20260702T235701Z", 10_635, 745),
    ] as [(stamp: String, recorded: Int, invented: Int)])
  func wholeAnswers(
    samples: Samples, answer: (stamp: String, recorded: Int, invented: Int)
  ) throws {
    let document = try Sample.answer(
      "nsw-fuelcheck/v1-all-prices-\(answer.stamp).json.gz", of: samples, as: "prices")
    let reading = try Sample.parse([document], "nsw-fuelcheck")
    #expect(
      reading.observations.count + reading.rejects.count
        == (samples.areRecorded ? answer.recorded : answer.invented))
    #expect(Set(reading.reasons) == ["unsupported_fuel"])
    #expect(reading.rejects.count == (samples.areRecorded ? 904 : 14))
    // The stamps are UTC, since the newest one never lies after the fetch.
    #expect(
      try #require(reading.observations.compactMap(\.effectiveAt).max()) <= document.fetchedAt)
    #expect(reading.stations.allSatisfy { $0.suburb != nil && $0.postcode != nil })
    let territory = reading.stations.count { $0.state == .act }
    #expect((samples.areRecorded ? 60...80 : 13...13).contains(territory))
    if answer.stamp == "20260702T235701Z" {
      // These prices were read from the raw answers by eye; the invented one has the same.
      #expect(reading.price("20905", .dl) == "175.3 2026-07-02T21:32:58Z")
      #expect(reading.price("20905", .u91) == "163.5 2026-07-02T20:20:39Z")
      #expect(reading.price("20904", .u91) == "178.9 2026-06-29T02:26:56Z")
    }
  }

  /// An invented station and its price of unleaded, with the fields `state` where they are given.
  private struct Row {
    var code: String
    var address: String
    var state: String?
    var priceState: String?
    var cents: Int
  }

  /// Reads a list as a run of a feed does.
  private func distinct(_ rows: [Row], _ feed: String) throws -> Reading.Distinct {
    func field(_ state: String?) -> String { state.map { ",\"state\":\"\($0)\"" } ?? "" }
    let stations = rows.map {
      "{\"code\":\"\($0.code)\",\"name\":\"Servo \($0.cents)\",\"address\":\"\($0.address)\""
        + field($0.state) + "}"
    }
    let prices = rows.map {
      "{\"stationcode\":\($0.code),\"fueltype\":\"U91\",\"price\":\($0.cents),"
        + "\"lastupdated\":\"02/07/2026 20:20:\(10 + $0.cents % 10)\"\(field($0.priceState))}"
    }
    let text =
      "{\"stations\":[\(stations.joined(separator: ","))],\"prices\":[\(prices.joined(separator: ","))]}"
    let source = try Sample.source(feed)
    return try source.provider.parse([Sample.document("prices", text)], of: source).distinct(
      takenAt: Instant("2026-07-03T00:00:00Z"), horizon: .seconds(600), of: source.states)
  }

  /// F-F60: prices at stations of other states are rejects, whether the station, its price or only
  /// its address names the state. Codes of states overlap, and nothing is renamed by another's code.
  @Test func rowsOfOtherStatesAreLeftOut() throws {
    let hobart = Row(
      code: "1", address: "1 Made-Up St, HOBART TAS 7000", state: "TAS", priceState: "TAS",
      cents: 200)
    let both = try distinct(
      [
        hobart,
        Row(
          code: "1", address: "9 Far St, DUBBO NSW 2830", state: "NSW", priceState: "NSW",
          cents: 161),
        Row(code: "2", address: "2 Far St, DUBBO NSW 2830", cents: 162),
        Row(code: "3", address: "3 Far St, ALBURY", state: "New South Wales", cents: 163),
        Row(code: "4", address: "4 Far St", state: "TAS", priceState: "Nowhere", cents: 164),
        Row(code: "5", address: "5 Far St, Wodonga, Victoria, 3690", state: "TAS", cents: 165),
        Row(code: "6", address: "6 Far St, PARRAMATTA 2150", cents: 166),
        Row(code: "7", address: "7 Near St, HOBART 7000", cents: 167),
      ], "tas-fuelcheck")
    #expect(both.observations.map(\.stationCode) == ["1", "7"])
    #expect(both.observations.first?.price?.tenths == 2_000)
    #expect(both.stations.map(\.name) == ["Servo 200", "Servo 164", "Servo 167"])
    #expect(both.rejects.count { $0.reason == .otherState } == 5)
    #expect(both.rejects.count { $0.reason == .stateUnknown } == 1)
    #expect(
      both.warnings == [
        "stations of NSW, which are not of this feed: 4",
        "stations of VIC, which are not of this feed: 1",
      ])
    // Without a state of its own, a price of a code of two stations may be that of either.
    let unclear = try distinct(
      [
        Row(code: "1", address: hobart.address, cents: 200),
        Row(code: "1", address: "9 Far St, DUBBO NSW 2830", cents: 161),
      ], "tas-fuelcheck")
    #expect(
      unclear.observations.isEmpty && unclear.rejects.map(\.reason) == [.otherState, .otherState])
    // New South Wales lists the Australian Capital Territory too, and no other state.
    let wales = try distinct(
      [
        Row(code: "3", address: "9 Far St, DUBBO NSW 2830", state: "NSW", cents: 161),
        Row(code: "2", address: "1 Near St, HUME ACT 2620", state: "NSW", cents: 162), hobart,
      ], "nsw-fuelcheck")
    #expect(wales.stations.map(\.state) == [.nsw, .act])
    #expect(wales.rejects.map(\.reason) == [.otherState])
  }
}
