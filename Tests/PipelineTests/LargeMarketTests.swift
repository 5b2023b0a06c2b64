import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing
import Timeline

/// The newest day of the country, and a market that is larger than the whole country.
struct LargeMarketTests {
  private static let now = Instant("2026-07-01T12:00:00Z")

  /// The newest day is that of the state in which it begins first.
  @Test func theNewestDayBeginsFirst() {
    #expect(Australia.newestDay(at: Instant("2026-07-01T13:59:00Z")) == Day("2026-07-01"))
    #expect(Australia.newestDay(at: Instant("2026-07-01T14:00:00Z")) == Day("2026-07-02"))
  }

  /// Makes averages from a list of 150,000 stations, more than ten times as many as Australia has. The
  /// short form has fewer.
  @Test(.longer) func aLargeMarketIsAveraged() async throws {
    let count = Long.count(short: 3_000, long: 150_000)
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let store = Store(try Connection(target))
      try store.becomeWriter()
      let source = try store.ledger.register(
        SourceRecord(
          feed: "nowhere", state: .nsw, cadenceMinutes: 60, priceLapsesHours: 720,
          sightLapsesHours: 24, attribution: "a test", isEnabled: true, callsPerMonth: 0))
      var reading = Reading(coverage: .complete)
      for number in 0..<count {
        reading.stations.append(
          Station(
            code: "\(number)", state: .nsw, name: "Station \(number)",
            address: "\(number) Main St", suburb: "Town \(number % 12_000)", postcode: "2000",
            // A tenth of the stations lie around the capital.
            position: number % 10 == 0
              ? Position(latitude: -33.9 + Double(number % 7) / 100, longitude: 151.2)
              : Position(latitude: -30.5, longitude: 145 + Double(number % 50) / 100)))
        reading.observations.append(
          .u91("\(number)", 1_700 + number % 100, Self.now + .seconds(-3_600)))
      }
      let document = Document(name: "prices", bytes: Array("x".utf8), fetchedAt: Self.now)
      let run = try store.ledger.beginRun(source, at: Self.now, kind: .live)
      let counts = try Merge(
        store, of: source,
        rules: ListRules(window: 86_400_000_000, refuseBelow: 0.7, partialBelow: 0.95),
        now: Self.now
      ).take(
        reading.distinct(takenAt: Self.now, horizon: .seconds(60)),
        payload: Payload(documents: [document], fetchedAt: Self.now, takenAt: Self.now), run: run,
        requests: 0, reportsWholeDays: false)
      #expect(counts.stored == count)

      let capital = Region(
        code: "capital", name: "the capital", kind: "capital", state: .nsw,
        centre: Position(latitude: -33.9, longitude: 151.2), radiusKilometres: 20)
      let nation = Region(
        code: Australia.code, name: Australia.name, kind: "nation", state: nil, centre: nil,
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
          == ["AU|\(mean(0..<count))|\(count)", "capital|\(mean(near))|\(near.count)"])
    }
  }
}
