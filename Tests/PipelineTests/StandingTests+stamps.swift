import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Prices without a stamp, and stamps that equal the instant of fetching.
extension StandingTests {
  /// When a list is read again, the lists after it still show its price, even where they stored
  /// nothing because they only repeated it.
  @Test func aListWithoutStampsIsReadAgain() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      func reports(_ hour: Int, _ tenths: Int, kind: RunKind = .live) throws {
        try feed.reports(
          (0..<20).map {
            Observation(
              stationCode: "\(10 + $0)", fuel: .u91, price: Price(tenths: tenths), effectiveAt: nil)
          }, at: Self.begin + .seconds(hour * 3_600), now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow, kind: kind)
      }
      for (hour, tenths) in [1_850, 1_900, 1_900].enumerated() { try reports(hour, tenths) }
      func history() throws -> [String] {
        try feed.connection.lines(
          "SELECT DISTINCT price_cpl, valid_from_at FROM fuel_v1.price_history ORDER BY 2")
      }
      let right = ["185.0|2026-06-01 00:00:00+00", "190.0|2026-06-01 01:00:00+00"]
      #expect(try history() == right)
      let again = try #require(try feed.store.ledger.ledgerRun(2))
      try reports(1, 1_900, kind: .reprocess(again.run))
      #expect(try history() == right)
    }
  }

  /// A feed without stamps shows one price from one month into the next. When the first lists are
  /// withdrawn, the price begins with the next list that shows it, in a month for which no price
  /// was stored before.
  @Test func aPriceWithoutAStampGoesOnInAnotherMonth() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for hour in [-20, -10, 10] {
        try feed.reports(
          (0..<20).map {
            Observation(
              stationCode: "\(10 + $0)", fuel: .u91, price: Price(tenths: 1_850), effectiveAt: nil)
          }, at: Self.begin + .seconds(hour * 3_600), now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      for (run, hour) in [(1, -20), (2, -10)] {
        let wrong = try #require(try feed.store.ledger.ledgerRun(run))
        _ = try feed.decide(
          wrong.run, takenAt: Self.begin + .seconds(hour * 3_600), counts: false, now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      #expect(
        try feed.connection.lines("SELECT DISTINCT valid_from_at FROM fuel_v1.price_history")
          == ["2026-06-01 10:00:00+00"])
    }
  }

  /// A stamp that equals the instant of fetching is a stamp: it stays when the next list repeats
  /// it.
  @Test func aStampStays() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for hour in 0..<3 {
        let at = Self.begin + .seconds(hour * 3_600)
        try feed.reports(
          (0..<12).map { station in
            .u91(
              "\(10 + station)", hour > 0 && station == 0 ? 1_900 : 1_800,
              hour > 0 && station == 0 ? Self.begin + .seconds(3_600) : Self.begin - .seconds(900))
          }, at: at, now: at, refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      let wrong = try #require(try feed.store.ledger.ledgerRun(2))
      _ = try feed.decide(
        wrong.run, takenAt: Self.begin + .seconds(3_600), counts: false,
        now: Self.begin + .seconds(3 * 3_600), refuseBelow: Self.refuseBelow,
        partialBelow: Self.partialBelow)
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, valid_from_at FROM fuel_v1.price_history WHERE price_cpl = 190")
          == ["190.0|2026-06-01 01:00:00+00"])
    }
  }
}
