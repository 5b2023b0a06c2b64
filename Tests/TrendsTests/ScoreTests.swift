import FuelModel
import Testing

@testable import Trends

/// Scores worked out by hand.
struct ScoreTests {
  private let first = Day(sinceEpoch: 20_000)

  /// Six days at 10, 9, 8, 7, 8, 9: one window of W = 5. Naive 8.5, oracle 7.
  @Test(arguments: [
    ([Advice.fillUp], -1.5), ([.wait, .wait, .wait, .fillUp], 1.5),
    // Waits to the end and must buy at 9.
    ([.wait, .wait, .wait, .wait, .wait, .wait], -0.5),
    // A random day of what is left: 8, 7, 8, 9.
    ([.wait, .wait, .noDifference], 0.5), ([.noDifference], 0),
  ])
  func oneWindow(verdicts: [Advice], saving: Double) throws {
    let series = DailySeries(first: first, averages: [10, 9, 8, 7, 8, 9])
    let all: [Advice?] = verdicts + Array(repeating: .fillUp, count: 6 - verdicts.count)
    let score = Score(series, verdicts: all)
    #expect(score.headline.count == 1 && score.headline.possible == 1.5)
    #expect(abs(score.headline.saving - saving) < 1e-9)
  }

  /// Windows with a missing price are skipped, days outside the span are not scored.
  @Test func gapsAndSpans() {
    var series = DailySeries(first: first, averages: (0..<30).map { Double(100 + $0) })
    let fill: [Advice?] = Array(repeating: .fillUp, count: 30)
    #expect(Score(series, verdicts: fill).headline.count == 25)
    series.averages[10] = nil
    #expect(Score(series, verdicts: fill).headline.count == 19)
    let part = Score(series, verdicts: fill, days: first + 12..<first + 15)
    #expect(part.headline.count == 3 && part.fillUps.of == 3)
    // Prices rise by one a day: buying at once saves 2.5, which is all there is.
    #expect(part.headline.capture == 1 && part.headline.meanSaving == 2.5)
  }

  /// Hit rates and turns.
  @Test func hitsAndFlips() {
    let series = DailySeries(first: first, averages: [10, 9.5, 9.2, 9.0, 12, 12, 12, 12])
    let verdicts: [Advice?] = [.wait, .wait, .noDifference, .fillUp, .fillUp, .wait, .wait, nil]
    let score = Score(series, verdicts: verdicts)
    // Day 0: a cent lower within three days. Day 1: only half a cent. Others lack three days after.
    #expect(score.waitsRight == Score.Share(count: 1, of: 2))
    #expect(score.fillUpsRight == Score.Share(count: 2, of: 2))
    #expect(score.noDifferencesRight == Score.Share(count: 1, of: 1))
    #expect(score.waits.count == 4 && score.fillUps.count == 2 && score.noDifferences.count == 2)
    #expect(score.flips.count == 2 && score.flips.of == 8)
  }

  /// A tank of seven days that may be filled from the second day on: in a fall and a rise the oracle's path
  /// costs least, «always when empty» is naive, and a driver who follows wait is that one.
  @Test func tanks() throws {
    let prices = (0..<40).map { (day: Int) -> Double in
      let place = Double(day % 14)
      return place < 7 ? 110 - place : 97 + place
    }
    let series = DailySeries(first: first, averages: prices)
    let never = Score(series, verdicts: Array(repeating: .wait, count: 40))
    let tank = try #require(never.tanks["7:5"])
    #expect(tank.count == 7 && abs(tank.saving) < 1e-9 && tank.possible > 0)
    // Fills where it is cheapest of each fortnight.
    let wise = Score(
      series, verdicts: prices.map { $0 <= 104 ? Advice.fillUp : Advice.wait })
    let better = try #require(wise.tanks["7:5"])
    #expect(better.saving > 0 && better.saving <= better.possible + 1e-9)
  }

  /// The station's verdict, at its limits.
  @Test(arguments: [
    (Advice.fillUp, "cycle", 10.0, Advice.wait), (.fillUp, "cycle", 9.99, .fillUp),
    (.wait, "trend", -10.0, .fillUp), (.wait, "trend", -9.99, .wait), (.wait, "cycle", 25, .wait),
    (.fillUp, "weekday", 25, .fillUp), (.wait, "tomorrow", -25, .wait),
    (.noDifference, "", 25, .noDifference),
  ])
  func stations(region: Advice, rule: String, excess: Double, advice: Advice) {
    #expect(StationVerdict.advice(region: region, rule: rule, excess: excess) == advice)
    #expect(StationVerdict.advice(region: region, rule: rule, excess: nil) == region)
  }
}
