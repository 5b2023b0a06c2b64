import FuelModel
import Testing

@testable import Trends

/// Scores that were worked out by hand.
struct ScoreTests {
  private let first = Day(sinceEpoch: 20_000)

  /// Six days at 10, 9, 8, 7, 8, 9 form one window of W = 5. The naive price is their mean, 8.5.
  /// The lowest price, 7, is what an oracle pays.
  @Test(arguments: [
    ([Advice.fillUp], -1.5), ([.wait, .wait, .wait, .fillUp], 1.5),
    // The driver waits to the end and must buy at 9.
    ([.wait, .wait, .wait, .wait, .wait, .wait], -0.5),
    // The driver buys on a random day of the rest: 8, 7, 8, 9.
    ([.wait, .wait, .noDifference], 0.5), ([.noDifference], 0),
  ])
  func oneWindow(verdicts: [Advice], saving: Double) throws {
    let series = DailySeries(first: first, averages: [10, 9, 8, 7, 8, 9])
    let all: [Advice?] = verdicts + Array(repeating: .fillUp, count: 6 - verdicts.count)
    let score = Score(series, verdicts: all)
    #expect(score.headline.count == 1 && score.headline.possible == 1.5)
    #expect(abs(score.headline.saving - saving) < 1e-9)
  }

  /// Windows with a missing price are skipped, and days outside the given range are not scored.
  @Test func gapsAndSpans() {
    var series = DailySeries(first: first, averages: (0..<30).map { Double(100 + $0) })
    let fill: [Advice?] = Array(repeating: .fillUp, count: 30)
    #expect(Score(series, verdicts: fill).headline.count == 25)
    series.averages[10] = nil
    #expect(Score(series, verdicts: fill).headline.count == 19)
    let part = Score(series, verdicts: fill, days: first + 12..<first + 15)
    #expect(part.headline.count == 3 && part.fillUps.of == 3)
    // Prices rise by one a day. Buying at once saves 2.5, which is the most possible.
    #expect(part.headline.capture == 1 && part.headline.meanSaving == 2.5)
  }

  /// Rates of right verdicts, and counts of verdicts and flips.
  @Test func hitsAndFlips() {
    let series = DailySeries(first: first, averages: [10, 9.5, 9.2, 9.0, 12, 12, 12, 12])
    let verdicts: [Advice?] = [.wait, .wait, .noDifference, .fillUp, .fillUp, .wait, .wait, nil]
    let score = Score(series, verdicts: verdicts)
    // The price falls by a cent within three days of day 0, but only by half a cent after day 1.
    // Later days of waiting have no three days after them.
    #expect(score.waitsRight == Score.Share(count: 1, of: 2))
    #expect(score.fillUpsRight == Score.Share(count: 2, of: 2))
    #expect(score.noDifferencesRight == Score.Share(count: 1, of: 1))
    #expect(score.waits.count == 4 && score.fillUps.count == 2 && score.noDifferences.count == 2)
    #expect(score.flips.count == 2 && score.flips.of == 8)
  }

  /// A tank lasts seven days and may be filled from the second day on. While prices fall and rise,
  /// the path of an oracle costs least. The naive driver fills only when the tank is empty, and so
  /// does a driver who is always advised to wait.
  @Test func tanks() throws {
    let prices = (0..<40).map { (day: Int) -> Double in
      let phase = Double(day % 14)
      return phase < 7 ? 110 - phase : 97 + phase
    }
    let series = DailySeries(first: first, averages: prices)
    let never = Score(series, verdicts: Array(repeating: .wait, count: 40))
    let tank = try #require(never.tanks["7:5"])
    #expect(tank.count == 7 && abs(tank.saving) < 1e-9 && tank.possible > 0)
    // This driver fills up at the lowest prices of each fortnight.
    let wise = Score(
      series, verdicts: prices.map { $0 <= 104 ? Advice.fillUp : Advice.wait })
    let better = try #require(wise.tanks["7:5"])
    #expect(better.saving > 0 && better.saving <= better.possible + 1e-9)
  }

  /// Where the verdict of a station departs from that of its region.
  @Test func stations() {
    func limits(_ region: Advice, _ rule: String) -> [Double?] {
      let limits = StationVerdict.limits(of: region, rule: rule)
      return [limits.waitFrom, limits.fillUpUntil]
    }
    #expect(limits(.fillUp, "cycle") == [10, nil] && limits(.wait, "trend") == [nil, -10])
    for (region, rule) in [
      (Advice.fillUp, "weekday"), (.wait, "tomorrow"), (.noDifference, ""),
    ] { #expect(limits(region, rule) == [nil, nil]) }
  }
}
