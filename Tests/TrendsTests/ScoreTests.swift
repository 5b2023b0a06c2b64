import FuelModel
import Simulator
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
    let test = try #require(score.headline)
    #expect(test.name == "window 5" && test.n == 1 && test.perfect == 1.5)
    #expect(abs(test.saving - saving) < 1e-9)
    #expect(score.tests.map(\.name) == ["window 3", "window 5"])
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
      for width in Score.widths {
        let test = try #require(score["window \(width)"])
        let windows = (0..<20 - width).map { prices[$0...$0 + width] }
        let naive = windows.map { $0.reduce(0, +) / Double($0.count) }
        let saved = zip(naive, windows).map { $0 - pays($1) }.reduce(0, +)
        let possible = zip(naive, windows).map { $0 - ($1.min() ?? 0) }.reduce(0, +)
        #expect(test.n == windows.count)
        #expect(abs(test.saving - saved / Double(test.n)) < 1e-9)
        #expect(abs(test.perfect - possible / Double(test.n)) < 1e-9)
      }
    }
  }

  /// Where hardly anything can be saved, capture is bounded. It is that of the published amounts.
  @Test(
    arguments: [
      (0.004, 0.0, nil), (0.005, -30, -999), (0.8, 0.4, 0.5), (0.014, 0.006, 1), (2, -1, -0.5),
    ] as [(Double, Double, Double?)])
  func captures(perfect: Double, saving: Double, capture: Double?) {
    #expect(Score.Test(name: "", n: 1, perfect: perfect, saving: saving).capture == capture)
  }

  /// Windows with a missing price are skipped, and days outside the given range are not scored.
  @Test func gapsAndSpans() {
    var series = DailySeries(first: first, averages: (0..<30).map { Double(100 + $0) })
    let fill: [Advice?] = Array(repeating: .fillUp, count: 30)
    #expect(Score(series, verdicts: fill).headline?.n == 25)
    series.averages[10] = nil
    #expect(Score(series, verdicts: fill).headline?.n == 19)
    let part = Score(series, verdicts: fill, days: first + 12..<first + 15)
    #expect(part.headline?.n == 3 && part.fillUps.of == 3)
    // Prices rise by one a day. Buying at once saves 2.5, which is the most possible.
    #expect(part.headline?.capture == 1 && part.headline?.saving == 2.5)
    // No window is left of the last days.
    #expect(Score(series, verdicts: fill, days: first + 27..<first + 30).tests.isEmpty)
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
    let tank = try #require(never["tank 7:5"])
    #expect(tank.n == 7 && abs(tank.saving) < 1e-9 && tank.perfect > 0 && tank.interval == nil)
    #expect(never.tests.map(\.name) == Score.names)
    // This driver fills up at the lowest prices of each fortnight.
    let wise = Score(
      series, verdicts: prices.map { $0 <= 104 ? Advice.fillUp : Advice.wait })
    let better = try #require(wise["tank 7:5"])
    #expect(better.saving > 0 && better.saving <= better.perfect + 1e-9)
  }

  /// This was worked out by hand. Of two days at 10 and 8 c/L, waiting for the second saves one
  /// cent, and buying at once saves or loses one.
  @Test func whatWasGivenIsScoredAsGiven() throws {
    let series = DailySeries(first: first, averages: (0..<60).map { $0 % 2 == 0 ? 10 : 8 })
    let given = Dictionary(
      uniqueKeysWithValues: (30..<60).map {
        (first + $0, $0 % 2 == 0 ? Advice.wait : Advice.fillUp)
      })
    // Scores begin at the first verdict, and no window reaches beyond the last price.
    let scores = Score.given(given, by: "a-method", series, isLate: false)
    #expect(scores.map(\.method) == ["a-method"] + Adviser.habits.map(\.id))
    let own = try #require(scores.first?.score)
    let windows = own.tests.filter { $0.name.hasPrefix("window") }
    #expect(windows.map(\.n) == [27, 25, 23])
    #expect(windows.allSatisfy { $0.saving == 1 && $0.perfect == 1 && $0.interval == 1...1 })
    #expect(own.waits.of == 30 && own.noDifferences.count == 0)
    // A habit is scored over the same days.
    #expect(scores.allSatisfy { $0.score.headline?.n == 25 && $0.score.waits.of == 30 })
    #expect(Score.given([:], by: "a-method", series, isLate: false).isEmpty)
    // A day without a verdict counts as no difference.
    let gap = try #require(
      Score.given(given.filter { $0.key != first + 40 }, by: "", series, isLate: false).first)
    #expect(gap.score.noDifferences.count == 1)
  }

  /// The interval of a saving that varies holds its mean.
  @Test func theIntervalHoldsTheMean() throws {
    let series = DailySeries(first: first, averages: (0..<60).map { $0 % 2 == 0 ? 10 : 8 })
    let always = try #require(
      Score(series, verdicts: Array(repeating: .fillUp, count: 60))["window 3"])
    let interval = try #require(always.interval)
    #expect(interval.contains(always.saving) && interval.lowerBound < interval.upperBound)
  }
}
