import Configuration
import Feeds
import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing
import Timeline

/// Tests a country other than Australia, by configuration alone.
struct CountryTests {
  private static let now = Instant("2026-07-01T12:00:00Z")

  private static let text = """
    {
      country: 'XX', name: 'Nowhere', timeZone: 'Europe/Berlin',
      latitudes: '47 to 55.1', longitudes: '5.8 to 15.1', postcodeDigits: 5,
      states: { NO: 'the North, Europe/Berlin', SO: 'the South, Europe/Lisbon, 6' },
      zones: { 'NO 27498': 'Atlantic/Reykjavik' },
    }
    """

  private func read(_ text: String = text) throws -> Country {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try text.write(toFile: folder + "/country.json5", atomically: false, encoding: .utf8)
    return try #require(try Country(folder: folder))
  }

  @Test func aCountryIsRead() throws {
    let country = try read()
    #expect(country.code == "XX" && country.timeZone.rawValue == "Europe/Berlin")
    #expect(country.latitudes == 47...55.1 && country.longitudes == 5.8...15.1)
    #expect(country.states.map(\.code) == ["NO", "SO"])
    let north = try #require(country.state("NO"))
    #expect(north.name == "the North" && north.priceDayStarts == 0)
    #expect(north.timeZone(postcode: "27498").rawValue == "Atlantic/Reykjavik")
    #expect(north.timeZone(postcode: "10115").rawValue == "Europe/Berlin")
    #expect(country.state("SO")?.priceDayStarts == 6)
    #expect(try Country(folder: "/nowhere") == nil)
  }

  /// The newest day is that of the state in which it begins first.
  @Test func theNewestDayBeginsFirst() throws {
    let country = try read()
    #expect(country.newestDay(at: Instant("2026-07-01T21:59:00Z")) == Day("2026-07-01"))
    #expect(country.newestDay(at: Instant("2026-07-01T22:00:00Z")) == Day("2026-07-02"))
  }

  @Test(arguments: [
    ("Europe/Berlin',\n", "Europe/Nowhere',\n"), ("47 to 55.1", "55.1 to 47"), ("47 to 55.1", "47"),
    ("Europe/Lisbon, 6", "Europe/Lisbon, 13"), ("NO 27498", "NW 27498"), ("NO: 'the", "no: 'the"),
    ("postcodeDigits: 5", "postcodeDigits: 0"), ("'XX'", "'NO'"), ("'XX'", "'x'"),
    ("47 to 55.1", "47 to 155.1"), ("Europe/Lisbon", "GMT+2"),
  ])
  func whatCannotBeIsRefused(_ old: String, _ new: String) throws {
    #expect(Self.text.contains(old))
    #expect(throws: ConfigurationError.self) { try read(Self.text.replacing(old, with: new)) }
  }

  /// A position outside its country is left out, for any country.
  @Test func aPositionIsHeldAgainstItsCountry() throws {
    let country = try read()
    for (latitude, longitude, isThere) in [(52.5, 13.4, true), (-33.9, 151.2, false)] {
      var reading = Reading(coverage: .complete)
      reading.stations = [
        Station(
          code: "1", state: .nsw, name: "One", address: "1 Main St",
          position: Position(latitude: latitude, longitude: longitude))
      ]
      for (asked, isInside) in [(country, isThere), (.australia, !isThere)] {
        let settled = reading.settled(takenAt: Self.now, horizon: .seconds(60), in: asked)
        #expect((settled.stations[0].position != nil) == isInside)
      }
    }
    #expect(Position(latitude: 91, longitude: 0) == nil)
  }

  /// Makes averages from a list of a country with 150,000 stations, more than ten times as many as
  /// Australia has. The short form has fewer.
  @Test(.longer) func aLargeCountryIsAveraged() async throws {
    let count = Long.count(short: 3_000, long: 150_000)
    try await TestDatabase.with { target in
      let country = try read()
      let owner = Store(try Connection(target))
      #expect(try owner.keep(country))
      let connection = try Connection(target)
      #expect(try connection.lines("SELECT state FROM fuel.state ORDER BY 1") == ["NO", "SO"])

      let store = Store(try Connection(target))
      try store.becomeWriter()
      let north = try #require(country.state("NO"))
      let source = try store.register(
        SourceRecord(
          feed: "nowhere", state: north, cadenceMinutes: 60, priceLapsesHours: 720,
          sightLapsesHours: 24, attribution: "a test", isEnabled: true, callsPerMonth: 0))
      var reading = Reading(coverage: .complete)
      for number in 0..<count {
        reading.stations.append(
          Station(
            code: "\(number)", state: north, name: "Station \(number)",
            address: "\(number) Main St", suburb: "Town \(number % 12_000)", postcode: "10115",
            // A tenth of the stations lie around the capital.
            position: number % 10 == 0
              ? Position(latitude: 52.5 + Double(number % 7) / 100, longitude: 13.4)
              : Position(latitude: 54.5, longitude: 8 + Double(number % 50) / 100)))
        reading.observations.append(
          .u91("\(number)", 1_700 + number % 100, Self.now + .seconds(-3_600)))
      }
      let document = Document(name: "prices", bytes: Array("x".utf8), fetchedAt: Self.now)
      let run = try store.beginRun(source, at: Self.now, kind: .live)
      let counts = try Merge(
        store, of: source,
        rules: ListRules(window: 86_400_000_000, refuseBelow: 0.7, partialBelow: 0.95),
        now: Self.now
      ).take(
        reading.settled(takenAt: Self.now, horizon: .seconds(60), in: country),
        payload: Payload(documents: [document], fetchedAt: Self.now, takenAt: Self.now), run: run,
        requests: 0, reportsWholeDays: false)
      #expect(counts.stored == count)
      // Now there are runs, so only the same country is accepted.
      #expect(try owner.keep(country) && !owner.keep(.australia))
      #expect(try connection.lines("SELECT country FROM fuel.country") == ["XX"])

      let capital = Region(
        code: "capital", name: "the capital", kind: "capital", state: north,
        centre: Position(latitude: 52.5, longitude: 13.4), radiusKilometres: 20)
      let nation = Region(
        code: country.code, name: country.name, kind: "nation", state: nil, centre: nil,
        radiusKilometres: nil)
      _ = try Aggregate(
        store: store, regions: [nation, capital], clock: .fixed(Self.now), log: Logger(.error)
      ).run()
      try connection.query("SELECT set_config('bowser.now', \(Self.now.description), false)")
      let near = (0..<count).filter { $0 % 10 == 0 }
      func mean(_ numbers: some Collection<Int>) -> String {
        let sum = numbers.reduce(0) { $0 + 1_700 + $1 % 100 }
        let hundredths = (Double(sum) * 10 / Double(numbers.count)).rounded()
        return String(format: "%.2f", hundredths / 100)
      }
      #expect(
        try connection.lines(
          "SELECT region, average_cpl, stations FROM fuel_v1.averages_now ORDER BY region COLLATE \"C\""
        )
          == ["XX|\(mean(0..<count))|\(count)", "capital|\(mean(near))|\(near.count)"])
      #expect(
        try connection.lines(
          "SELECT region, time_zone FROM fuel_v1.regions ORDER BY region COLLATE \"C\"")
          == ["XX|Europe/Berlin", "capital|Europe/Berlin"])
    }
  }
}
