import FuelModel
import Simulator
import Testing

@testable import Trends

/// Scores that were worked out by hand.
struct ScoreTests {
  private let first = Day(sinceEpoch: 20_000)

  /// Six days at 10, 9, 8, 7, 8, 9 form one window of five days. The naive price is their mean, 8.5.
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
    let windows = try #require(score.headline)
    #expect(windows.horizon == 5 && windows.n == 1 && windows.perfect == 1.5)
    #expect(abs(windows.saving - saving) < 1e-9)
    #expect(score.windows.map(\.horizon) == [3, 5])
  }

  /// Whatever is advised, the savings of windows are those of a driver who decides from day to day.
  @Test func savingsAreThoseOfADriver() throws {
    var random = Random(seed: 7)
    for _ in 0..<50 {
      let prices = (0..<20).map { _ in random.real(150...200) }
      let advice = (0..<20).map { _ in
        [Advice.wait, .wait, .fillUp, .noDifference, nil][random.integer(0...4)]
      }
      /// What this driver pays on average from a day on.
      func pays(_ window: ArraySlice<Double>) -> Double {
        guard let today = window.first, window.count > 1 else { return window.first ?? 0 }
        switch advice[window.startIndex] {
        case .wait: return pays(window.dropFirst())
        case .fillUp: return today
        case .noDifference, nil: return window.reduce(0, +) / Double(window.count)
        }
      }
      let score = Score(DailySeries(first: first, averages: prices), verdicts: advice)
      for horizon in Score.horizons {
        let scored = try #require(score[horizon])
        let windows = (0..<20 - horizon).map { prices[$0...$0 + horizon] }
        let naive = windows.map { $0.reduce(0, +) / Double($0.count) }
        let saved = zip(naive, windows).map { $0 - pays($1) }.reduce(0, +)
        let possible = zip(naive, windows).map { $0 - ($1.min() ?? 0) }.reduce(0, +)
        #expect(scored.n == windows.count)
        #expect(abs(scored.saving - saved / Double(scored.n)) < 1e-9)
        #expect(abs(scored.perfect - possible / Double(scored.n)) < 1e-9)
      }
    }
  }

  /// The capture is that of the published amounts.
  @Test(
    arguments: [
      (0.004, 0.0, nil), (0.005, -0.01, -1), (0.8, 0.4, 0.5), (0.014, 0.006, 1), (2, -1, -0.5),
    ] as [(Double, Double, Double?)])
  func captures(perfect: Double, saving: Double, capture: Double?) {
    let windows = Score.Windows(
      horizon: 5, n: 1, perfect: perfect, saving: saving, interval: saving...saving)
    #expect(windows.capture == capture)
  }

  /// The most that a driver can lose in a window of eight days is seven times as much as could be
  /// saved: by buying on the only day that is dearer. Rounding makes ten of seven.
  @Test func theGreatestLoss() throws {
    let series = DailySeries(first: first, averages: [100.118] + Array(repeating: 100, count: 7))
    let score = Score(series, verdicts: Array(repeating: .fillUp, count: 8))
    let capture = try #require(score[7]?.capture)
    #expect(abs(capture + 10) < 1e-9)
  }

  /// Windows with a missing price are skipped, and days outside the given range are not scored.
  @Test func gapsAndSpans() {
    var series = DailySeries(first: first, averages: (0..<30).map { Double(100 + $0) })
    let fill: [Advice?] = Array(repeating: .fillUp, count: 30)
    #expect(Score(series, verdicts: fill).headline?.n == 25)
    series.averages[10] = nil
    #expect(Score(series, verdicts: fill).headline?.n == 19)
    let part = Score(series, verdicts: fill, days: first + 12..<first + 15)
    #expect(part.headline?.n == 3 && part.share(of: .fillUp) == 1)
    // Prices rise by one a day. Buying at once saves 2.5, which is the most possible.
    #expect(part.headline?.capture == 1 && part.headline?.saving == 2.5)
    // No window is left of the last days.
    #expect(Score(series, verdicts: fill, days: first + 27..<first + 30).windows.isEmpty)
  }

  /// Rates of right verdicts, and counts of verdicts and flips.
  @Test func hitsAndFlips() {
    let series = DailySeries(first: first, averages: [10, 9.5, 9.2, 9.0, 12, 12, 12, 12])
    let verdicts: [Advice?] = [.wait, .wait, .noDifference, .fillUp, .fillUp, .wait, .wait, nil]
    let score = Score(series, verdicts: verdicts)
    // The price falls by a cent within three days of day 0, but only by half a cent after day 1.
    // Later days of waiting have no three days after them.
    #expect(score.rightShare(of: .wait) == 1.0 / 2)
    #expect(score.rightShare(of: .fillUp) == 2.0 / 2)
    #expect(score.rightShare(of: .noDifference) == 1.0 / 1)
    #expect(score.share(of: .wait) == 4.0 / 8 && score.share(of: .fillUp) == 2.0 / 8)
    #expect(score.share(of: .noDifference) == 2.0 / 8 && score.flipsPerMonth == 30 * 2.0 / 8)
  }

  /// The interval of a saving that varies holds its mean.
  @Test func theIntervalHoldsTheMean() throws {
    let series = DailySeries(first: first, averages: (0..<60).map { $0 % 2 == 0 ? 10 : 8 })
    let always = try #require(
      Score(series, verdicts: Array(repeating: .fillUp, count: 60))[3])
    let interval = always.interval
    #expect(interval.contains(always.saving) && interval.lowerBound < interval.upperBound)
  }
}
