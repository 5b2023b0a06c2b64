import FuelModel
import Testing

@testable import Trends

/// F-G17: the heads of `MarketWalk`, by markets in which two habits are a hundredth of a cent on
/// either side of a head. Most days of real markets are too far from them.
extension ThresholdTests {
  /// Which habit decides on the last day, and by how much the record of one is above another's.
  private func decided(
    _ prices: [Double], _ one: MarketWalk.Rule, over other: MarketWalk.Rule
  ) throws -> (rule: MarketWalk.Rule?, lead: Double, isCycling: Bool, isShocked: Bool) {
    let walk = walk(prices)
    let day = prices.count - 1
    func record(_ rule: MarketWalk.Rule) throws -> Double {
      try #require(walk.records.record(of: rule.rawValue, on: day, windows: 60, least: 20))
    }
    return (
      walk.choices[day].rule, try record(one) - record(other), walk.isCycling[day],
      walk.isShocked[day]
    )
  }

  /// Adds a tooth a week, which the weekday habit likes.
  private func weekly(_ prices: [Double], height: Double) -> [Double] {
    prices.enumerated().map { $1 + height * (1 - Double($0 % 7) / 6) }
  }

  /// `otherHeads`: the weekday habit needs 0.3 c/L more than any other habit.
  @Test func theWeekdayOfOtherHeads() throws {
    func market(_ height: Double) -> [Double] {
      let weeks = weekly(Array(repeating: 170, count: 140), height: height)
      return weeks + (1...30).map { 170 + 0.3 * Double($0) }
    }
    let below = try decided(market(1.66), .weekday, over: .cycle)
    #expect(!below.isCycling && !below.isShocked)
    #expect(below.lead > 0.29 && below.lead < 0.3 && below.rule == .cycle)
    let above = try decided(market(1.69), .weekday, over: .cycle)
    #expect(above.lead > 0.3 && above.lead < 0.31 && above.rule == .weekday)
  }

  /// `cyclingHeads`: the weekday habit needs 0.3 c/L more than the cycle habit.
  @Test func theWeekdayOfCyclingHeads() throws {
    func market(_ height: Double) -> [Double] {
      weekly(waves(280, height: 7, period: 42), height: height)
    }
    let below = try decided(market(1.58), .weekday, over: .cycle)
    #expect(below.isCycling && !below.isShocked)
    #expect(below.lead > 0.29 && below.lead < 0.3 && below.rule == .cycle)
    let above = try decided(market(1.6), .weekday, over: .cycle)
    #expect(above.lead > 0.3 && above.lead < 0.31 && above.rule == .weekday)
  }

  /// The fall of a cycle, which goes up by 1 c/L in between. The trend habit still waits on that
  /// day, and the habits cycle and direction fill up. Five windows of sixty tell them apart.
  private func pause(_ after: [Double]) -> [Double] {
    let fall = Self.cycles + Self.cycles.prefix(12)
    let top = fall[fall.count - 1] + 1
    return fall + [top] + after.map { top + $0 }
  }

  /// `cyclingHeads`: the trend habit needs 0.5 c/L more than the cycle habit, and the direction
  /// never decides.
  @Test func theTrendOfCyclingHeads() throws {
    func market(_ fall: Double) -> [Double] { pause((0...5).map { -fall - Double($0) }) }
    let below = try decided(market(3.9), .trend, over: .cycle)
    #expect(below.isCycling && !below.isShocked)
    #expect(below.lead > 0.49 && below.lead < 0.5 && below.rule == .cycle)
    let above = try decided(market(4.1), .trend, over: .cycle)
    #expect(above.lead > 0.5 && above.lead < 0.51 && above.rule == .trend)
    // The cycle habit takes this rise for a top, and the trend habit waits at its beginning.
    let fall = Self.cycles + Self.cycles.prefix(24)
    let low = fall[fall.count - 1] + 1
    var rise = fall + [low]
    rise += Array(repeating: low + 25, count: 5)
    rise += Array(repeating: low + 30, count: 6)
    let direction = try decided(rise, .direction, over: .cycle)
    #expect(direction.isCycling && !direction.isShocked)
    #expect(direction.lead > 0.3 && direction.rule == .cycle)
    #expect(try decided(rise, .direction, over: .trend).lead > 0.5)
  }

  /// `shockHeads`: the weekday habit needs 0.3 c/L more than the trend habit.
  @Test func theWeekdayOfShockHeads() throws {
    func market(_ height: Double) -> [Double] {
      let prices = weekly(Self.cycles, height: height)
      return prices + [prices[prices.count - 1] + 100]
    }
    let below = try decided(market(5.15), .weekday, over: .trend)
    #expect(below.isShocked && below.lead > 0.29 && below.lead < 0.3 && below.rule == .trend)
    let above = try decided(market(5.18), .weekday, over: .trend)
    #expect(above.isShocked && above.lead > 0.3 && above.lead < 0.31 && above.rule == .weekday)
  }

  /// `shockHeads`: the cycle habit needs 0.2 c/L more than the trend habit. At the top of 184 it
  /// alone waits, and saves the fall of the next five days in one window of sixty.
  @Test func theCycleOfShockHeads() throws {
    func market(_ low: Double) -> [Double] {
      let fall = (0...5).map { 184 + (low - 184) * Double($0) / 5 }
      return Self.cycles + [160, 170, 180] + fall + [250]
    }
    let below = try decided(market(172.3), .cycle, over: .trend)
    #expect(below.isShocked && below.lead > 0.19 && below.lead < 0.2 && below.rule == .trend)
    let above = try decided(market(171.7), .cycle, over: .trend)
    #expect(above.isShocked && above.lead > 0.2 && above.lead < 0.21 && above.rule == .cycle)
  }

  /// `shockHeads`: the habits trend and direction are equal.
  @Test func theTrendAndTheDirectionOfShockHeads() throws {
    func market(_ change: Double) -> [Double] {
      pause(Array(repeating: change, count: 5)) + [260]
    }
    let below = try decided(market(-0.1), .direction, over: .trend)
    #expect(below.isShocked && below.lead > -0.01 && below.lead < 0 && below.rule == .trend)
    let above = try decided(market(0.1), .direction, over: .trend)
    #expect(above.isShocked && above.lead > 0 && above.lead < 0.01 && above.rule == .direction)
  }

  /// `walkDays`: on a Thursday the models are fitted to 393 days, and on a Wednesday to the same
  /// days and up to six more are walked. No day before them counts.
  @Test func theWalkDays() throws {
    let cycles = (0..<400).map { Self.cycles[$0 % Self.cycles.count] }
    func models(_ last: Int, changed: Int? = nil) -> Judgement.Models? {
      var prices = Array(cycles.prefix(last + 1))
      if let changed { prices[changed] += 3 }
      return TurningPoint().judge(
        VerdictInput(series: DailySeries(first: Self.first, averages: prices))
      ).models
    }
    // Day 398 is a Thursday.
    #expect((Self.first + 398).weekday == 3)
    let whole = try #require(models(398))
    #expect(whole.fittedOn == Self.first + 398)
    #expect(models(398, changed: 5) == whole && models(398, changed: 6) != whole)
    // Day 397 is the Wednesday before it.
    let before = try #require(models(397))
    #expect(before.fittedOn == Self.first + 391)
    #expect(models(397, changed: 0) != before)
    #expect(VerdictInput.mostDays >= 393 + 6)
  }
}
