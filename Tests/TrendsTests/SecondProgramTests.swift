import Foundation
import FuelModel
import TestDatabase
import Testing
import Trends

/// The verdicts equal those of a second program, which was written in another language and shares
/// nothing with the one here (Fixtures/README.md).
struct SecondProgramTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/series")

  private func rows(_ file: String) throws -> [[String]] {
    String(
      decoding: try Samples.bytes(of: Self.folder.appending(path: file)), as: UTF8.self
    )
    .split(whereSeparator: \.isNewline).dropFirst()
    .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
  }

  private func columns(_ judgement: Judgement) -> [String] {
    func fixed(_ value: Double?, _ digits: Int) -> String {
      value.map { String(format: "%.\(digits)f", $0) } ?? ""
    }
    return [
      judgement.advice.rawValue, judgement.rule ?? "", fixed(judgement.record, 2),
      judgement.state?.rawValue ?? "", fixed(judgement.chances?.cheaper, 3),
      fixed(judgement.chances?.jump, 3), fixed(judgement.chances?.lower, 3),
      fixed(judgement.expectedSaving, 2), fixed(judgement.aim, 1), fixed(judgement.low?.price, 1),
      fixed(judgement.low?.bounds.lowerBound, 1), fixed(judgement.low?.bounds.upperBound, 1),
    ]
  }

  /// Every number of every day: verdict, habit, record, state, chances, saving and low.
  @Test(arguments: ["qld", "nsw", "weekly"], ["on time", "late"])
  func aSecondProgramSaysTheSame(file: String, data: String) throws {
    let expected = try rows("verdicts.csv.gz").filter { $0[0] == file && $0[1] == data }
    let prices = try rows("\(file).csv.gz")
    var compared = 0
    for market in Set(expected.map { [$0[2], $0[3]] }) {
      let days = try prices.filter { Array($0[..<2]) == market }.map {
        (day: try #require(Day($0[2])), average: try #require(Double($0[3])))
      }
      let judged = MarketWalk(try #require(DailySeries(days)), isLate: data == "late")
        .judgements(isTomorrowKnown: false)
      let rows = expected.filter { Array($0[2..<4]) == market }
      #expect(judged.count == rows.count)
      for (judgement, row) in zip(judged, rows) {
        let own = columns(judgement)
        // Numbers that lie half way between two last digits may be rounded either way.
        for (value, other) in zip(own, row[5...])
        where value != other
          && abs((Double(value) ?? .infinity) - (Double(other) ?? -.infinity)) > 0.0101
        {
          Issue.record("\(data) \(market) \(row[4]): \(value) instead of \(other)")
        }
        compared += 1
      }
    }
    #expect(compared > 700)
  }
}
