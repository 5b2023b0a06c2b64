import Archives
import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// How far back the program looks follows from how long prices are believed, which the configuration
/// decides.
struct HorizonTests {
  private static let end = Instant("2026-05-01T00:00:00Z")

  /// Returns the archive of New South Wales as if a configuration believed its diesel for so long.
  private func archive(dieselHours: Int) throws -> Archive {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config/archives").standardized.path
    let text = try String(contentsOfFile: "\(folder)/nsw.json5", encoding: .utf8)
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".json5")
    try Data(text.replacing("DL: 1440", with: "DL: \(dieselHours)").utf8).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    return try Archive(file: path.path, environment: [:])
  }

  /// Returns four months, each with a price at its end. The diesel of a roadhouse is in the first
  /// one only.
  private static let months: [String] = {
    func row(_ station: String, _ fuel: String, _ stamp: String, _ price: String) -> String {
      "\(station),\"1 Main St, \(station) NSW 2533\",\(station),2533,Metro,\(fuel),\(stamp),\(price)\n"
    }
    return ["2025-11", "2025-12", "2026-01", "2026-02"].enumerated().map { number, month in
      let last = ["30", "31", "31", "28"][number]
      return "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
        + (number == 0 ? row("Kiama", "DL", "2025-11-20 12:00:00", "181.0") : "")
        + row("Berry", "DL", "\(month)-02 12:00:00", "17\(number).5")
        + row("Berry", "U91", "\(month)-\(last) 12:00:00", "16\(number).5")
        + row("Nowra", "U91", "\(month)-05 12:00:00", "16\(number).9")
    }
  }()

  /// Loads months in an order, and aggregates after each of some of them.
  private func outcome(
    of order: [Int], aggregatingAfter breaks: Set<Int>, dieselHours: Int
  ) async throws -> [String] {
    let archive = try archive(dieselHours: dieselHours)
    return try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      for month in order {
        _ = try await HistoryOrderTests.withFile(Self.months[month]) { path in
          try await Backfill(
            archive, store: feed.store, decisions: [], clock: .fixed(Self.end), log: Logger(.error)
          ).run([path])
        }
        if breaks.contains(month) { try aggregate(feed) }
      }
      try aggregate(feed)
      return try feed.published(at: Self.end)
    }
  }

  private func aggregate(_ feed: Feed) throws {
    try Identity.match(feed.store, decisions: [], now: Self.end, log: Logger(.error))
    try feed.aggregate(at: Self.end, regions: [.nation, .newSouthWales])
  }

  /// F-G34: a price is believed for longer than two months, and lasts into a month whose file comes
  /// after an aggregate.
  @Test(.longer, arguments: Long.isOn ? [2_400, 2_900, 100_000] : [2_400])
  func monthsInAnyOrderEndTheSame(dieselHours: Int) async throws {
    let plain = try await outcome(
      of: [0, 1, 2, 3], aggregatingAfter: [], dieselHours: dieselHours)
    let ends = plain.filter { $0.hasPrefix("history|") && $0.contains("|181.0|") }
    #expect(ends.count == 1 && plain.count > 100, "\(ends)")
    for order in [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]] {
      let other = try await outcome(
        of: order, aggregatingAfter: [0, 1, 2, 3], dieselHours: dieselHours)
      #expect(other == plain, "\(order)")
    }
  }

  /// F-G35: a list shows a price again under a stamp that is as old as the configuration believes.
  /// The run between the two is withdrawn, and nothing of it is left.
  @Test(arguments: [(2_400, 10), (2_400, 81), (4_800, 190), (12_000, 400)])
  func anOldStampSurvivesAWithdrawal(hours: Int, days: Int) async throws {
    let stamp = Instant("2025-09-01T00:00:00Z")
    let wrong = stamp + .seconds(Int64(days) * 86_400)
    func outcome(isWithdrawn: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, priceLapsesHours: hours, sightLapsesHours: days * 24)
        func list(_ tenths: Int, _ stamped: Instant, at: Instant) throws {
          try feed.reports(
            [.u91("1", tenths, stamped), .u91("2", 1_700, stamp), .u91("3", 1_710, stamp)], at: at)
        }
        try list(1_799, stamp, at: stamp)
        if isWithdrawn { try list(2_099, wrong, at: wrong) }
        try list(1_799, stamp, at: wrong + .seconds(3_600))
        let now = wrong + .seconds(7_200)
        if isWithdrawn {
          let run = try #require(try feed.store.ledger.ledgerRun(2)).run
          _ = try feed.decide(
            run, takenAt: wrong, counts: false, now: now, refuseBelow: 0, partialBelow: 0)
        }
        try feed.aggregate(at: now)
        return try feed.published(at: now)
      }
    }
    let plain = try await outcome(isWithdrawn: false)
    #expect(plain.contains { $0.hasPrefix("current|1|U91|179.9|") }, "\(plain)")
    #expect(try await outcome(isWithdrawn: true) == plain)
  }
}
