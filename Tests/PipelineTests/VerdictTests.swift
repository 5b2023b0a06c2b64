import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Trends

struct VerdictTests {
  static let cases: [(Double, Double, String, Double?)] = [
    (170.0, 192.0, "fill_up", 22.0), (192.0, 170.0, "wait", 22.0),
    (170.0, 170.04, "no_difference", nil), (170.0, 169.96, "no_difference", nil),
    (170.0, 170.05, "fill_up", 0.05), (170.0, 169.95, "wait", 0.05),
  ]

  private let now = Instant(seconds: 1_782_900_000)

  private func outlook(
    today: Double?, tomorrow: Double?, stations: Int = 40, withNext: Int = 40,
    isAnnounced: Bool = true
  ) -> RegionNow {
    RegionNow(
      region: "perth", regionName: "Perth",
      announced: isAnnounced ? (now - .seconds(3_600), "14:30") : nil, fuelID: 1,
      fuelName: "unleaded 91",
      day: Zone.perth.local(now).day, dayEndsAt: now + .seconds(40_000), stations: stations,
      stationsWithNext: withNext, today: today, tomorrow: tomorrow,
      tomorrowBeginsAt: tomorrow == nil ? nil : now + .seconds(43_200))
  }

  /// F-G12: tomorrow dearer, cheaper, the same within half a tenth of a cent.
  @Test(arguments: cases)
  func tomorrowDecides(today: Double, tomorrow: Double, verdict: String, saving: Double?) {
    let record = Verdict.judge(
      outlook(today: today, tomorrow: tomorrow), series: nil, now: now)
    #expect(
      record.judgement.advice.rawValue == verdict && record.judgement.basis == .tomorrowPrice
        && record.judgement.rule == "tomorrow")
    #expect(
      record.judgement.expectedSaving.map { ($0 * 100).rounded() }
        == saving.map { ($0 * 100).rounded() })
    #expect(record.validUntil == now + .seconds(43_200))
    #expect(record.judgement.reason.hasPrefix("Tomorrow "))
  }

  /// Where tomorrow is not known, for a majority of the stations, nothing is advised.
  @Test func withoutTomorrowNothingIsAdvised() {
    for outlook in [
      outlook(today: nil, tomorrow: nil, withNext: 0),
      outlook(today: 170, tomorrow: 192, withNext: 19),
      outlook(today: 170, tomorrow: 192, stations: 2, withNext: 2),
      outlook(today: nil, tomorrow: nil, withNext: 0, isAnnounced: false),
    ] {
      let record = Verdict.judge(outlook, series: nil, now: now)
      #expect(
        record.judgement.advice == .noDifference && record.judgement.basis == .insufficientData)
      #expect(record.judgement.expectedSaving == nil && !record.judgement.reason.isEmpty)
      #expect(record.validUntil > now)
    }
  }

  /// Before 14:30 in Perth the verdict only holds until then.
  @Test func beforeTheAnnouncementItHoldsUntilThen() throws {
    let day = try #require(Day("2026-07-01"))
    let morning = try Zone.perth.instant(day, hour: 9)
    var outlook = outlook(today: nil, tomorrow: nil, withNext: 0)
    outlook.day = day
    outlook.announced = (try Zone.perth.instant(day, hour: 14, minute: 30), "14:30")
    outlook.dayEndsAt = try Zone.perth.instant(day + 1, hour: 6)
    let record = Verdict.judge(outlook, series: nil, now: morning)
    #expect(record.validUntil == (try Zone.perth.instant(day, hour: 14, minute: 30)))
    #expect(record.judgement.reason == "Tomorrow's prices are published at 14:30")
  }

  /// From feeds to the published verdicts, and again without a change: nothing new is stored.
  @Test func verdictsArePublishedOnce() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      for feed in SimulatedFeeds.feeds { try await bench.ingest(feed) }
      let perth = Region(
        code: "perth", name: "Perth", kind: "capital", state: .wa,
        centre: Position(latitude: -31.95, longitude: 115.86), radiusKilometres: 60)
      let nation = Region(
        code: "AU", name: "Australia", kind: "nation", state: nil, centre: nil,
        radiusKilometres: nil)
      func aggregate(at instant: Instant) throws -> Aggregate.Summary {
        try Aggregate(
          store: bench.store(), regions: [perth, nation], clock: .fixed(instant), log: bench.log
        ).run()
      }
      let first = try aggregate(at: Bench.end)
      #expect(first.newVerdicts == first.verdicts && first.verdicts > 5)
      // Past the quarter of an hour for which nothing is made again.
      #expect(try aggregate(at: Bench.end + .seconds(1_000)).newVerdicts == 0)
      let connection = try Connection(target)
      let soon = Bench.end + .seconds(1_060)
      try connection.query("SELECT set_config('bowser.now', \(soon.description), false)")
      let shown = try connection.lines(
        """
        SELECT basis, (verdict = CASE WHEN tomorrow_cpl > today_cpl THEN 'fill_up'
          WHEN tomorrow_cpl < today_cpl THEN 'wait' ELSE 'no_difference' END) AS follows
        FROM fuel_v1.fill_up WHERE region = 'perth' AND fuel = 'U91'
        """)
      #expect(shown == ["tomorrow_price|t"])
      // Each station by its own price of tomorrow.
      #expect(
        try connection.lines(
          """
          SELECT count(*) > 5 AS many, bool_and(station.verdict = CASE tomorrow.comparison
            WHEN 'dearer' THEN 'fill_up' WHEN 'cheaper' THEN 'wait' ELSE 'no_difference' END) AS right
          FROM fuel_v1.station_fill_up AS station
          JOIN fuel_v1.tomorrow_prices AS tomorrow USING (station_id, fuel)
          """) == ["t|t"])
      // A verdict that has lapsed is not shown as if it held.
      let later = Bench.end + .seconds(3 * 86_400)
      try connection.query("SELECT set_config('bowser.now', \(later.description), false)")
      #expect(
        try connection.lines("SELECT DISTINCT verdict, basis FROM fuel_v1.fill_up")
          == ["no_difference|insufficient_data"])
    }
  }
}
