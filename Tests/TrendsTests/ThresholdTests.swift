import Foundation
import FuelModel
import TestDatabase
import Testing

@testable import Trends

/// F-G17: markets made by hand, with a day on either side of each number of the rule.
///
/// The chances are given, so that a day depends on one number only.
struct ThresholdTests {
  static let first = Day(sinceEpoch: 20_000)

  /// Eight cycles of 28 days: six days up from 160 to 190, then down again.
  static let cycles: [Double] = (0..<8 * 28).map { day in
    let phase = Double(day % 28)
    return phase <= 6 ? 160 + 30 * phase / 6 : 160 + 30 * (28 - phase) / 22
  }

  func walk(_ prices: [Double]) -> MarketWalk {
    MarketWalk(DailySeries(first: Self.first, averages: prices), isLate: false)
  }

  /// The verdict of the last day, with given chances of a fall and of a jump.
  private func judged(
    _ prices: [Double], cheaper: Double = 0.5, jump: Double = 0.3
  ) -> Judgement {
    // Only the constant counts, because all other coefficients are 0.
    func model(_ chance: Double) -> ChanceModel {
      ChanceModel([log(chance / (1 - chance)), 0, 0, 0, 0, 0, 0, 0])
    }
    return TurningPoint.Day(
      walk: walk(prices), known: prices.count - 1, models: (model(cheaper), model(jump)),
      marketName: ""
    ).judgement(changeTomorrow: nil)
  }

  /// A price at most 2 c/L above the last low of 160 is near it. There `wait` needs a chance of
  /// 0.4, and one above 0.7 means that the fall goes on.
  @Test func nearTheLow() {
    let fall = Self.cycles + Self.cycles.prefix(26)
    #expect(judged(fall + [162]).state == .nearLow)
    #expect(judged(fall + [162.01]).state == .falling)
    #expect(judged(fall + [162], cheaper: 0.4).advice == .wait)
    #expect(judged(fall + [162], cheaper: 0.399).advice == .fillUp)
    #expect(judged(fall + [162.01], cheaper: 0.399).advice == .wait)
    #expect(judged(fall + [162], cheaper: 0.7).state == .nearLow)
    #expect(judged(fall + [162], cheaper: 0.701).state == .falling)
  }

  /// Elsewhere in a cycle a chance below 0.1 means `fill_up`, and one above 0.7 means `wait`.
  @Test func clearChancesOverruleTheHabit() {
    let fall = Self.cycles + Self.cycles.prefix(16)
    #expect(judged(fall, cheaper: 0.1).advice == .wait)
    #expect(judged(fall, cheaper: 0.099).advice == .fillUp)
    let rise = Self.cycles + Self.cycles.prefix(4)
    #expect(judged(rise, cheaper: 0.7).advice == .fillUp)
    #expect(judged(rise, cheaper: 0.701).advice == .wait)
  }

  /// After a low of 165, which is higher than the last one, a price 2 c/L above it is near it, and
  /// a higher one rises. After a high, prices fall from the third day on, or from 3 c/L on.
  @Test func besideATurn() {
    let rise = Self.cycles + [160, 165, 170, 175, 180, 185, 190]
    let low = rise + (1...10).map { 190 - 2.5 * Double($0) }
    #expect(judged(low + [167]).state == .nearLow)
    #expect(judged(low + [167.01]).state == .rising)
    #expect(judged(rise + [187]).state == .nearHigh)
    #expect(judged(rise + [186.99]).state == .falling)
    #expect(judged(rise + [189.5, 189.4]).state == .nearHigh)
    #expect(judged(rise + [189.5, 189.4, 189.3]).state == .falling)
  }

  /// In a market whose cheapest weekday decides, a step of 3 c/L makes a high.
  @Test func aJumpOfAWeeklyMarket() {
    let weeks = (0..<140).map { 170 - 10 * Double($0 % 7) / 6 }
    #expect(judged(weeks + [163]).state == .nearHigh)
    #expect(judged(weeks + [162.99]).state == .falling)
  }

  /// A top: 24 of the usual 30 c/L, a step below half of the largest, and at most 15 c/L above the
  /// last peaks of 190.
  @Test func theTopOfACycle() {
    func isTop(_ rise: [Double]) -> Bool? { walk(Self.cycles + rise).moments.last??.isNearTop }
    #expect(isTop([160, 170, 180, 184]) == true)
    #expect(isTop([160, 170, 180, 183.99]) == false)
    #expect(isTop([160, 170, 180, 184.99]) == true)
    #expect(isTop([160, 170, 180, 185]) == false)
    #expect(isTop([160, 180, 200, 205]) == true)
    #expect(isTop([160, 180, 200, 205.01]) == false)
  }

  /// A break-out is six cents, or four tenths of a range of 30 c/L, outside. The shock lasts for
  /// three weeks after it.
  @Test func aShock() {
    let flat = Array(repeating: 160.0, count: 100)
    #expect(walk(flat + [166]).isShocked.last == false)
    #expect(walk(flat + [166.1]).isShocked.last == true)
    var wide = flat
    (wide[30], wide[80]) = (190, 190)
    #expect(walk(wide + [202]).isShocked.last == false)
    #expect(walk(wide + [202.1]).isShocked.last == true)
    let after = walk(flat + [166.1] + Array(repeating: 160, count: 30)).isShocked
    #expect(after[121] && !after[122])
  }

  /// A market cycles for 120 days after the third last turn, which here is that of day 0.
  @Test func theEndOfACycle() {
    let cycling = walk([160, 170, 160] + Array(repeating: 170, count: 150)).isCycling
    #expect(!cycling[2] && cycling[3] && cycling[120] && !cycling[121])
  }

  /// Waves between 160 c/L and a height above it.
  func waves(_ days: Int, height: Double, period: Int) -> [Double] {
    (0..<days).map { day in
      let phase = Double(day % period) / Double(period)
      return 160 + 2 * height * min(phase, 1 - phase)
    }
  }

  /// A market without a cycle gets advice from a record of 0.9 c/L on, until it is below 0.6. The
  /// records of waves grow with their height: 0.1654 of it at first, 0.15 later.
  @Test func advicePaysWithoutACycle() {
    func everGetsAdvice(_ height: Double) -> Bool {
      walk(waves(300, height: height, period: 20)).choices.map(\.getsAdvice).contains(true)
    }
    #expect(!everGetsAdvice(5.43) && everGetsAdvice(5.45))
    func getsAdvice(_ height: Double) -> Bool? {
      let prices =
        waves(200, height: 5.5, period: 20) + waves(200, height: height, period: 20)
      return walk(prices).choices.last?.getsAdvice
    }
    #expect(getsAdvice(3.98) == false && getsAdvice(4.02) == true)
  }

  /// A market that cycles gets advice from a record of 0.6 c/L on, until it is below 0.3. The
  /// record of these waves is 0.0722 of their height.
  @Test func advicePaysInACycle() {
    func getsAdvice(_ height: Double) -> Bool? {
      walk(waves(500, height: height, period: 60)).choices.last?.getsAdvice
    }
    #expect(getsAdvice(8.29) == false && getsAdvice(8.33) == true)
    // Once the price stands still, the record shrinks by a hundredth a day.
    let still =
      waves(360, height: 8.4, period: 60) + waves(240, height: 6.5, period: 60)
      + Array(repeating: 160, count: 30)
    let ending = walk(still)
    #expect(ending.isCycling[623] && ending.isCycling[624])
    let records = [623, 624].map { ending.choices[$0].strongest ?? 0 }
    #expect(records[0] >= 0.3 && records[0] < 0.31 && records[1] < 0.3 && records[1] >= 0.29)
    #expect(ending.choices[623].getsAdvice && !ending.choices[624].getsAdvice)
  }

  /// Five windows that saved 2 c/L are enough for advice, until they save less than 1.5. Buying at
  /// the beginning of a rise saves 2.5 of its daily steps.
  @Test func fiveWindowsAreEnough() {
    func rise(_ steps: [Double]) -> [Double] {
      steps.reduce(into: Array(repeating: 160.0, count: 100)) { $0.append($0[$0.count - 1] + $1) }
    }
    func getsAdvice(_ steps: [Double]) -> Bool? { walk(rise(steps)).choices.last?.getsAdvice }
    let quick = Array(repeating: 0.81, count: 10)
    #expect(getsAdvice(Array(repeating: 0.79, count: 11)) == false)
    #expect(getsAdvice(quick) == true)
    #expect(getsAdvice(quick + Array(repeating: 0.605, count: 9)) == true)
    #expect(getsAdvice(quick + Array(repeating: 0.595, count: 9)) == false)
  }

  /// A market that does not cycle and whose record is below 1.2 gets advice only on a clear day:
  /// `wait` with a chance of 0.5, `fill_up` with an even chance of a jump or a rise of 0.5 c/L a
  /// day. A steady trend has a record of 2.5 of its daily steps.
  @Test func clearDaysOfATrend() {
    func trend(_ step: Double) -> [Double] { (0..<300).map { 300 + step * Double($0) } }
    #expect(judged(trend(0.479)).advice == .noDifference)
    #expect(judged(trend(0.481)).advice == .fillUp)
    #expect(judged(trend(0.479), jump: 0.499).advice == .noDifference)
    #expect(judged(trend(0.479), jump: 0.5).advice == .fillUp)
    #expect(judged(trend(-0.479), cheaper: 0.499).advice == .noDifference)
    #expect(judged(trend(-0.479), cheaper: 0.5).advice == .wait)
    // The rise is that since four days before.
    func rising(_ four: Double) -> [Double] {
      var prices = trend(0.479)
      prices[299] = prices[295] + four
      return prices
    }
    #expect(judged(rising(1.996)).advice == .noDifference)
    #expect(judged(rising(2.004)).advice == .fillUp)
  }

  /// In a flat market a published change decides from 0.8 c/L on.
  @Test func aPublishedChange() {
    let flat = DailySeries(first: Self.first, averages: Array(repeating: 175, count: 120))
    func advice(_ change: Double) -> Advice {
      TurningPoint().judge(VerdictInput(series: flat, changeTomorrow: change)).advice
    }
    #expect(advice(0.79) == .noDifference && advice(0.8) == .fillUp)
    #expect(advice(-0.79) == .noDifference && advice(-0.8) == .wait)
  }

  /// The habit that decides is the one with the best record after its head start: on every day of
  /// Queensland's markets, of which many are decided by less than a tenth of a cent.
  @Test func headStarts() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/series/qld.csv.gz")
    let text = String(decoding: try Samples.bytes(of: file), as: UTF8.self)
    var known: [String: [(day: Day, average: Double)]] = [:]
    for row in text.split(whereSeparator: \.isNewline).dropFirst() {
      let fields = row.split(separator: ",").map(String.init)
      known["\(fields[0]) \(fields[1])", default: []].append(
        (try #require(Day(fields[2])), try #require(Double(fields[3]))))
    }
    let rules = MarketWalk.Rule.advising
    var (compared, different) = (0, 0)
    for averages in known.values {
      let walk = MarketWalk(try #require(DailySeries(averages)), isLate: false)
      for (day, choice) in walk.choices.enumerated() where choice.rule != nil {
        let heads: [Double?] =
          walk.isShocked[day]
          ? [-0.3, -0.2, 0, 0] : walk.isCycling[day] ? [-0.3, 0, -0.5, nil] : [-0.3, 0, 0, 0]
        var best: (rule: MarketWalk.Rule, weight: Double)?
        for (rule, head) in zip(rules, heads) {
          guard let head,
            let record = walk.records.record(of: rule.rawValue, on: day, windows: 60, least: 20)
          else { continue }
          if let least = best?.weight, record + head <= least { continue }
          best = (rule, record + head)
        }
        compared += 1
        if best?.rule != choice.rule { different += 1 }
      }
    }
    #expect(compared > 4_000 && different == 0)
  }
}
