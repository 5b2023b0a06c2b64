import Foundation
import FuelModel
import TestDatabase
import Testing
import Trends

/// Daily averages of Queensland and New South Wales, and an invented market with a tooth a week
/// (Fixtures/README.md).
struct ReferenceTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/series")
  static let files = ["qld.csv", "qld-gappy.csv", "nsw.csv", "weekly.csv"]

  private struct Market: Hashable {
    var file: String
    var region: String
    var fuel: String
    var name: String { "\(region) \(fuel)" }
  }

  private func rows(_ file: String) throws -> [[String]] {
    String(
      decoding: try Samples.bytes(of: Self.folder.appending(path: file + ".gz")), as: UTF8.self
    )
    .split(whereSeparator: \.isNewline).dropFirst()
    .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  private func series(_ files: [String]) throws -> [(Market, DailySeries)] {
    var order: [Market] = []
    var known: [Market: [(day: Day, average: Double)]] = [:]
    for file in files {
      for row in try rows(file) {
        let market = Market(file: file, region: row[0], fuel: row[1])
        if known[market] == nil { order.append(market) }
        known[market, default: []].append(
          (try #require(Day(row[2])), try #require(Double(row[3]))))
      }
    }
    return try order.map { ($0, try #require(DailySeries(known[$0] ?? []))) }
  }

  static let cycling: Set<String> = [
    "Brisbane U91", "Brisbane E10", "Gold Coast U91", "Gold Coast E10", "Toowoomba U91",
    "Toowoomba E10", "Sydney U91", "Newcastle U91", "Weekly U91",
  ]
  static let trending: Set<String> = [
    "Brisbane DL", "Gold Coast DL", "Toowoomba DL", "Cairns DL", "Cairns U91", "Cairns E10",
  ]

  /// F-G11: what following the verdicts would have saved, in cycling and trending markets and with
  /// late data. Quiet markets get hardly any advice, at the price of some savings in slow trends.
  @Test(.long) func followingTheVerdictsSaves() throws {
    struct Sums {
      var cycling: [Double] = []
      var late: [Double] = []
      var trending: [Double] = []
      var noDifference: [Double] = []
      var quiet: [Double] = []
    }
    let markets = try series(["qld.csv", "nsw.csv", "weekly.csv"])
    var sums = Sums()
    for (market, series) in markets {
      let from = try #require(Day(market.file == "qld.csv" ? "2021-12-01" : "2019-04-01"))
      func score(isLate: Bool) -> Score {
        Score(
          series,
          verdicts: MarketWalk(series, isLate: isLate)
            .judgements(isTomorrowKnown: false).map(\.advice),
          days: from..<(series.last + 1))
      }
      let now = score(isLate: false)
      let capture = try #require(now.headline?.capture)
      if Self.cycling.contains(market.name) {
        sums.cycling.append(capture)
        sums.late.append(try #require(score(isLate: true).headline?.capture))
      } else if Self.trending.contains(market.name) {
        sums.trending.append(capture)
      } else {
        sums.noDifference.append(try #require(now.share(of: .noDifference)))
        sums.quiet.append(try #require(now.headline?.saving))
      }
    }
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    #expect(sums.cycling.count == 9 && sums.trending.count == 6)
    #expect(mean(sums.cycling) > 0.87 && mean(sums.trending) > 0.85)
    #expect(mean(sums.late) > 0.76)
    #expect(mean(sums.noDifference) >= 0.97 && mean(sums.quiet) > -0.02)
  }
}
