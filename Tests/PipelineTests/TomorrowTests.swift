import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing
import Views

/// Tomorrow's published prices: the verdict decides whether they say anything, and `show` and the
/// report show what it says.
struct TomorrowTests {
  private static let begin = Instant("2026-06-29T22:00:00Z")
  private static let now = begin + .seconds(10 * 3_600)

  /// Returns what is shown of tomorrow in Western Australia, and what the verdicts know of it.
  ///
  /// - Parameters:
  ///   - ahead: of how many of the stations the prices of tomorrow are known.
  ///   - members: how many of the last stations sell to members only.
  private func tomorrow(
    stations count: Int, ahead: Int, members: Int = 0
  ) async throws -> (shown: [String], verdicts: [String]) {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      let stations = (1...count).map {
        Station(
          code: "\($0)", state: .wa, name: "S\($0)", address: "\($0) Main Rd",
          isPublic: $0 <= count - members)
      }
      let today = (1...count).map {
        Observation.u91("\($0)", 1_800 + ($0 > count - members ? 400 : $0), Self.begin)
      }
      let next = today.prefix(ahead).map {
        Observation.u91(
          $0.stationCode, Int($0.price?.tenths ?? 0) + 15, Self.begin + .seconds(86_400))
      }
      try feed.reports(today + next, stations: stations, at: Self.now, coverage: .partial)
      _ = try Aggregate(
        store: feed.store, regions: [.nation, .westernAustralia], clock: .fixed(Self.now),
        log: Logger(.error)
      ).run()
      try feed.connection.query("SELECT set_config('bowser.now', \(Self.now.description), false)")
      let shown = try feed.store.views.tomorrow()
      #expect(try feed.store.views.marketReport().tomorrow.keys == shown.keys)
      return (
        shown.map { "\($0.region) \($0.fuel) \($1.today) \($1.tomorrow) \($1.dearer) \($1.same)" },
        try feed.connection.lines(
          """
          SELECT region, fuel, today_cpl, tomorrow_cpl FROM fuel_v1.fill_up
          WHERE tomorrow_cpl IS NOT NULL
          """)
      )
    }
  }

  /// F-O25: tomorrow counts what averages count: stations where anybody may buy, and no fewer than
  /// three of them.
  @Test func tomorrowIsAnAverageOfThree() async throws {
    let found = try await tomorrow(stations: 4, ahead: 4, members: 1)
    #expect(found.shown == ["WA U91 180.2 181.7 3 0"])
    #expect(found.verdicts == ["WA|U91|180.20|181.70"])
    let few = try await tomorrow(stations: 3, ahead: 3, members: 1)
    #expect(few.shown.isEmpty && few.verdicts.isEmpty)
  }

  /// F-O37: the prices of tomorrow are known of fewer than half of the stations, or of more.
  @Test func aMinorityIsNotShown() async throws {
    let minority = try await tomorrow(stations: 15, ahead: 6)
    #expect(minority.shown.isEmpty && minority.verdicts.isEmpty)
    let majority = try await tomorrow(stations: 15, ahead: 8)
    #expect(majority.shown == ["WA U91 180.45 181.95 8 0"])
    #expect(majority.verdicts == ["WA|U91|180.45|181.95"])
  }

  /// The program and the database ask for the same number of stations and the same share of a day.
  @Test func theLeastSampleIsTheSameInSQL() async throws {
    try await TestDatabase.with { target in
      let least = try Connection(target).lines(
        "SELECT fuel.minimum_stations(), (1000 * fuel.minimum_coverage())::integer")
      #expect(least == ["\(LeastSample.stations)|\(LeastSample.coverage)"])
    }
  }
}
