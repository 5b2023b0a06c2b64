import Foundation
import FuelModel
import Testing
import Trends

/// The method in use equals a second program that was written before it. Given verdicts are scored
/// as they were given.
struct TurningPointTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  private func rows(_ file: String, _ separator: Character) throws -> [[String]] {
    try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
      .split(separator: "\n").dropFirst()
      .map { $0.split(separator: separator, omittingEmptySubsequences: false).map(String.init) }
  }

  private func series(_ fuel: String) throws -> DailySeries {
    let days = try rows("brisbane.csv", ",").filter { $0[1] == fuel }.map { row in
      (day: try #require(Day(row[2])), average: try #require(Double(row[3])))
    }
    return try #require(DailySeries(days))
  }

  private func columns(_ judgement: Judgement) -> [String] {
    func fixed(_ value: Double?, _ digits: Int) -> String {
      value.map { String(format: "%.\(digits)f", $0) } ?? ""
    }
    return [
      judgement.advice.rawValue, judgement.basis.rawValue, judgement.rule ?? "",
      judgement.state?.rawValue ?? "", fixed(judgement.cheaper, 3), fixed(judgement.jump, 3),
      fixed(judgement.expectedSaving, 2), fixed(judgement.aim, 1), fixed(judgement.low?.price, 1),
      judgement.low.map { "\($0.from)" } ?? "", judgement.low.map { "\($0.to)" } ?? "",
      fixed(judgement.confidence, 3), fixed(judgement.record, 2), judgement.reason,
    ]
  }

  /// Every column of every day equals the output of the second program: verdict, state, chances,
  /// prices to aim for, and texts.
  @Test(arguments: [("on time", "U91"), ("on time", "DL"), ("late", "U91")])
  func aSecondProgramSaysTheSame(data: String, fuel: String) throws {
    let series = try series(fuel)
    let judged = TurningPoint().judgements(
      of: Past(
        series: series, isLate: data == "late", isTomorrowKnown: false, marketName: "Brisbane"))
    let expected = try rows("brisbane-verdicts.tsv", "\t").filter {
      $0[0] == data && $0[1] == fuel
    }
    #expect(judged.count == expected.count && judged.count > 400)
    for (judgement, row) in zip(judged, expected) {
      // Numbers are compared by value, since their trailing zeros may differ.
      for (own, other) in zip(columns(judgement), row[3...])
      where own != other && (Double(own) == nil || Double(own) != Double(other)) {
        Issue.record("\(data) \(fuel) \(row[2]): \(own) instead of \(other)")
      }
    }
  }

  /// The days of a week share one walk through the past and one fit of the models. A day that is
  /// judged alone gets the same result.
  @Test(arguments: [false, true]) func aDayAloneSaysTheSame(isLate: Bool) throws {
    var series = try series("U91")
    // The series is repeated, so that the walk of later days does not begin at the start of the
    // series.
    series.averages = series.averages + series.averages
    let method = TurningPoint()
    let judged = method.judgements(
      of: Past(series: series, isLate: isLate, isTomorrowKnown: false, marketName: "Brisbane"))
    for day in stride(from: 3, to: series.count, by: 23) {
      let alone = method.judge(
        VerdictInput(
          series: series.upTo(isLate ? day - 1 : day, atMost: VerdictInput.mostDays),
          isLate: isLate, marketName: "Brisbane"))
      #expect(columns(alone) == columns(judged[day]), "\(day)")
    }
  }

  /// Chances depend on today. A lower price soon is likelier during the fall of a cycle than during
  /// its rise.
  @Test func chancesLookAtToday() throws {
    let series = try series("U91")
    let judged = TurningPoint().judgements(
      of: Past(series: series, isLate: false, isTomorrowKnown: false, marketName: ""))
    var falling: [Double] = []
    var rising: [Double] = []
    for day in 120..<series.count {
      guard let now = series.averages[day], let before = series.averages[day - 1],
        let chance = judged[day].cheaper
      else { continue }
      if now < before - 0.8 { falling.append(chance) }
      if now > before + 0.8 { rising.append(chance) }
    }
    let means = [falling, rising].map { $0.reduce(0, +) / Double($0.count) }
    #expect(falling.count > 20 && rising.count > 20)
    #expect(means[0] > 0.6 && means[1] < 0.2, "\(means)")
  }
}
