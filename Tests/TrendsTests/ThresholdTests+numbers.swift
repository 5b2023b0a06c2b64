import FuelModel
import Testing

@testable import Trends

/// F-G17: the numbers of records, cycles and scores, with an input on either side of
/// each.
extension ThresholdTests {
  private func series(_ averages: [Double?]) -> DailySeries {
    DailySeries(first: Self.first, averages: averages)
  }

  private func flat(_ days: Int) -> [Double?] { Array(repeating: 160, count: days) }
  private func gap(_ days: Int) -> [Double?] { Array(repeating: nil, count: days) }

  // MARK: Series and records

  /// A step is known over three missing days, and so long a gap is filled.
  @Test func gapsOfThreeDays() {
    for (days, isKnown) in [(3, true), (4, false)] {
      let series = series([160] + gap(days) + [170])
      #expect((series.step(days + 1) != nil) == isKnown)
      #expect((series.filled()[1] != nil) == isKnown)
      var calls: RuleRecords.Calls = [.wait]
      calls += Array(repeating: nil, count: days)
      #expect((RuleRecords.carried(calls)[days] == .wait) == isKnown)
    }
  }

  /// A cheapest weekday needs 21 days, and is taken from eight weeks.
  @Test func cheapestWeekdaysOfEightWeeks() {
    let known = series(flat(21)).cheapestWeekdays()
    #expect(known[19] == nil && known[20] == 0)
    // The first day, which is no Monday, is the cheapest for as long as it counts.
    let cheapest = series([150] + flat(60)).cheapestWeekdays()
    #expect(Self.first.weekday != 0)
    #expect(cheapest[55] == Self.first.weekday && cheapest[56] == 0)
  }

  /// A day needs half of the usual number of stations, which is that of the last thirty days.
  @Test func halfOfTheUsualStations() throws {
    func averages(_ stations: [Int]) throws -> [Double?] {
      let known = stations.enumerated().map { day, count in
        (day: Self.first + day, average: 160.0, stations: count)
      }
      return try #require(DailySeries(known, upTo: Self.first + (stations.count - 1))).averages
    }
    #expect(try averages([100, 100, 50])[2] == 160)
    #expect(try averages([100, 100, 49])[2] == nil)
    var stations = [40]
    stations += Array(repeating: 100, count: 15)
    stations += Array(repeating: 40, count: 17)
    let days = try averages(stations)
    #expect(days[31] == nil && days[32] == 160)
  }

  /// `RuleRecords.oldestStart`: a window counts until 125 days after it began.
  @Test func theOldestStart() {
    let records = RuleRecords([Array(repeating: .fillUp, count: 6)], series: series(flat(6)))
    func record(_ day: Int) -> Double? { records.record(of: 0, on: day, windows: 60, least: 1) }
    #expect(record(4) == nil && record(5) == 0 && record(124) == 0 && record(125) == nil)
  }

  /// A record needs 20 windows, and is that of the last 60. The five windows around a step of the
  /// price begin on the days before it.
  @Test func theWindowsOfARecord() {
    let words = walk(Array(repeating: 160, count: 30)).choices
    #expect(words[23].strongest == nil && words[24].strongest == 0)
    var prices = Array(repeating: 160.0, count: 130)
    for day in 50..<130 { prices[day] = 165 }
    let later = walk(prices).choices
    #expect(later[113].strongest != 0 && later[114].strongest == 0)
  }

  /// `Advice.leastChange`: means that differ by less than 0.05 c/L are equal.
  @Test func publishedChanges() {
    func advice(_ change: Double) -> Advice? { Advice(changeTomorrow: change) }
    #expect(advice(0.05) == .fillUp && advice(0.04) == nil)
    #expect(advice(-0.05) == .wait && advice(-0.04) == nil)
  }

  /// F-V15: a record that is published as 0.05 c/L is 0.1 in the words beside it, and not nothing.
  @Test func theWordsOfAQuietMarketAgreeWithItsRecord() {
    let empty = walk([])
    let day = TurningPoint.Day(
      walk: empty, known: 0, models: empty.models(on: -1), marketName: "Here")
    #expect(
      day.quietReason(0.044)
        == "Timing does not pay in Here: no habit would have saved anything lately")
    #expect(
      day.quietReason(0.046) == "Timing hardly pays in Here: the best habit saved 0.1 c/L lately")
  }

  /// `Baseline.monthMean` needs 15 of 30 days.
  @Test func theMonthOfTheMonthMean() {
    func advice(_ averages: [Double?]) -> Advice {
      Baseline.monthMean.judge(VerdictInput(series: series(averages))).advice
    }
    #expect(advice(gap(16) + flat(14)) == .noDifference)
    #expect(advice(gap(15) + flat(15)) == .wait)
    // A price of 400 c/L raises the mean above today's, as long as it counts.
    #expect(advice([400] + flat(28) + [161]) == .fillUp)
    #expect(advice([400] + flat(29) + [161]) == .wait)
  }

  // MARK: Chances

  /// `ChanceModel.leastExamples`: five. `steps` and `longestStep`: a coefficient that is far too low
  /// rises by six steps of 1.
  @Test func theStepsOfAFit() {
    let model = ChanceModel([-20, 0, 0, 0, 0, 0, 0, 0])
    func fitted(_ count: Int) -> ChanceModel {
      let example = ChanceModel.Example(numbers: [1, 0, 0, 0, 0, 0, 0, 0], happened: true)
      return model.fitted(
        to: Array(repeating: example, count: count), ridge: ChanceModel.cheaperRidge)
    }
    #expect(fitted(4) == model && fitted(5) != model)
    #expect(abs(fitted(1_000).coefficients[0] + 14) < 1e-9)
  }

  // MARK: Shocks

  /// A break-out needs 28 known days. They are those from 134 to 15 days before it.
  @Test func theRangeBeforeABreakOut() {
    func breaksOut(_ prices: [Double?]) -> Bool? {
      MarketWalk(series(prices), isLate: false).isShocked.last
    }
    for (days, isOut) in [(41, false), (42, true)] {
      #expect(breaksOut(flat(days) + [166.1]) == isOut)
    }
    for (back, isOut) in [(134, false), (135, true), (14, true), (15, false)] {
      var prices = flat(200)
      prices[200 - back] = 165
      #expect(breaksOut(prices + [168.5]) == isOut)
    }
  }

  // MARK: Cycles

  /// Cycles of given lengths, each with a rise of 30 c/L and a fall by the given amount, and two
  /// days of the next rise. Prices are rounded as those of a market are.
  private func sawTooth(_ lengths: [Int], rise: Int, falls: [Double]? = nil) -> [Double] {
    var prices: [Double] = []
    var low = 160.0
    for (cycle, length) in lengths.enumerated() {
      let fall = falls?[cycle] ?? 30
      for day in 0..<length {
        let risen = 30 * Double(min(day, rise)) / Double(rise)
        let fallen = fall * Double(max(0, day - rise)) / Double(length - rise)
        prices.append(rounded(low + risen - fallen, 2))
      }
      low += 30 - fall
    }
    return prices + [low, low + 15, low + 30]
  }

  private func isCycling(_ prices: [Double?]) -> Bool {
    MarketPosition(series(prices)).isCycling
  }

  /// `MarketPosition.lengths`: 5 to 70 days. The longest of three cycles has at most three times the
  /// days of the shortest.
  @Test func theLengthsOfCycles() {
    let before = Array(repeating: 12, count: 10)
    #expect(isCycling(sawTooth(before + [5, 12, 12], rise: 1)))
    #expect(!isCycling(sawTooth(before + [4, 12, 12], rise: 1)))
    #expect(isCycling(sawTooth(before + [5, 12, 15], rise: 1)))
    #expect(!isCycling(sawTooth(before + [5, 12, 16], rise: 1)))
    #expect(isCycling(sawTooth([70, 70, 70, 70], rise: 10)))
    #expect(!isCycling(sawTooth([71, 71, 71, 71], rise: 10)))
  }

  /// `MarketPosition.leastCycles`: the third cycle is complete on the first day of the next rise,
  /// since the first trough of a series is none.
  @Test func theLeastCycles() {
    let prices: [Double?] = sawTooth([28, 28, 28, 28], rise: 5)
    #expect(!isCycling(Array(prices[...112])) && isCycling(Array(prices[...113])))
  }

  /// `MarketPosition.leastHeightOfNoise`: eight times. Prices that are 1 c/L higher and lower in
  /// turn have a noise of 4 c/L, and make cycles of 30 c/L higher by 2.
  @Test func theHeightOfNoise() {
    func noisy(_ noise: Double) -> [Double] {
      sawTooth(Array(repeating: 28, count: 7), rise: 5).enumerated().map { day, price in
        price + (day % 2 == 0 ? -noise : noise)
      }
    }
    #expect(isCycling(noisy(0.99)) && !isCycling(noisy(1.01)))
  }

  /// `MarketPosition.longestHole`: seven days.
  @Test func theLongestHole() {
    for (days, isKnown) in [(7, true), (8, false)] {
      var prices: [Double?] = sawTooth(Array(repeating: 28, count: 7), rise: 5)
      for day in 125..<125 + days { prices[day] = nil }
      #expect(isCycling(prices) == isKnown)
    }
  }

  /// A cycle is overdue after twice the longest. A fall is from half of its rise to twice of it.
  @Test func theEndOfAMarketThatCycles() {
    let ending: [Double?] = sawTooth([28, 28, 28, 28, 28], rise: 5)
    // Day 142 is the second after the last trough.
    let high = Array(repeating: Double?.some(190), count: 54)
    #expect(isCycling(ending + high) && !isCycling(ending + high + [190]))
    func falls(by fall: Double) -> Bool {
      let prices = sawTooth(
        [20, 20, 20, 20, 20, 20], rise: 5, falls: [30, 30, 30, 30, fall, 30])
      return isCycling(prices + [230])
    }
    #expect(falls(by: 15) && !falls(by: 14.9) && falls(by: 60) && !falls(by: 60.1))
  }

  // MARK: Stations and scores

  /// `Score.Test.block`: an interval needs more than fourteen windows.
  @Test func theBlockOfAnInterval() throws {
    func width(_ windows: Int) throws -> Double {
      let prices = (0..<windows + 3).map { $0 % 2 == 0 ? 10.0 : 8.0 }
      let score = Score(
        series(prices), verdicts: Array(repeating: .fillUp, count: prices.count))
      let test = try #require(score["window 3"])
      #expect(test.n == windows)
      let interval = try #require(test.interval)
      return interval.upperBound - interval.lowerBound
    }
    #expect(try width(14) == 0 && width(15) > 0)
  }

  /// `wait` is right if the price falls by 1 c/L within three days, `no_difference` if it stays
  /// within 3 c/L.
  @Test func rightVerdicts() {
    func score(_ prices: [Double], _ advice: Advice) -> Score {
      Score(series(prices), verdicts: Array(repeating: advice, count: prices.count))
    }
    for (price, isRight) in [(159.0, true), (159.01, false)] {
      #expect(score([160, 160, 160, price], .wait).waitsRight.count == (isRight ? 1 : 0))
      #expect(score([160, 160, 160, price], .fillUp).fillUpsRight.count == (isRight ? 0 : 1))
    }
    for (price, isRight) in [(157.0, true), (156.99, false), (163.0, true), (163.01, false)] {
      let right = score([160, 160, 160, price], .noDifference).noDifferencesRight
      #expect(right == Score.Share(count: isRight ? 1 : 0, of: 1))
    }
  }
}
