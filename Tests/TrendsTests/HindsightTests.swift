import FuelModel
import Testing

@testable import Trends

/// What hindsight says of markets made by hand, and how the states of the method are compared with
/// it.
struct HindsightTests {
  private static let first = Day(sinceEpoch: 20_000)

  private func labels(_ prices: [Double?]) -> [MarketState?] {
    Hindsight.labels(of: DailySeries(first: Self.first, averages: prices))
  }

  /// One cycle from 160 over 190 to 162 c/L. The day after the low is 2.1 above it, the day before
  /// it and the day after the high are 2.0 away.
  private static let cycle: [Double] = [
    160, 162.1, 168, 174, 182, 190, 188, 186, 184, 182, 180, 178, 176, 174, 172, 170, 168, 166, 164,
    162,
  ]

  /// Five cycles, a hundred days at 160 c/L, and a rise to a level that remains.
  private func market(level: Double) -> [Double] {
    var prices = (0..<5).flatMap { _ in Self.cycle }
    prices += Array(repeating: 160, count: 100)
    prices += [175, 190]
    prices += Array(repeating: level, count: 98)
    return prices
  }

  private static let opposite: [MarketState: MarketState] = [
    .rising: .falling, .falling: .rising, .nearLow: .nearHigh, .nearHigh: .nearLow,
  ]

  /// F-G16: every label of a market that is known by construction, and of its mirror image.
  @Test(arguments: [false, true]) func labelsOfAMarketMadeByHand(isMirrored: Bool) {
    let prices = market(level: 202.1).map { isMirrored ? 400 - $0 : $0 }
    let labels = labels(prices).map { label -> MarketState? in
      label.map { isMirrored ? Self.opposite[$0] ?? $0 : $0 }
    }
    var inCycle: [MarketState] = [.nearLow, .rising, .rising, .rising, .rising]
    inCycle += [.nearHigh, .nearHigh]
    inCycle += Array(repeating: .falling, count: 12)
    inCycle += [.nearLow]
    for day in 0...100 { #expect(labels[day] == inCycle[day % 20], "\(day)") }
    // Thirty days after the last cycle all windows around are flat. The rise begins after day 199.
    // Two weeks after day 202, the first at the new level, that level belongs to the range.
    for day in 135..<300 {
      let expected = (200...216).contains(day) ? MarketState.shock : .quiet
      #expect(labels[day] == expected, "\(day)")
    }
  }

  /// F-G16: a break-out is four tenths of the range, and at least six cents, beyond the range.
  @Test func aShockLeavesTheRange() {
    func shocks(_ prices: [Double]) -> [Int] {
      labels(prices).enumerated().filter { $0.element == .shock }.map(\.offset)
    }
    // The range is 160 to 190.
    #expect(shocks(market(level: 202.1)) == Array(200...216))
    #expect(shocks(market(level: 202)).isEmpty)
    func flat(_ level: Double) -> [Double] {
      (0..<160).map { $0 < 100 ? 160 : level }
    }
    for level in [166, 154.0] { #expect(shocks(flat(level)).isEmpty) }
    for level in [166.1, 153.9] { #expect(shocks(flat(level)) == Array(100...114)) }
  }

  /// F-G16: a market is quiet where perfect timing is worth less than 0.8 c/L: where prices fall by
  /// less than 0.32 a day. What a gap of more than a week hides has no label.
  @Test func quietFallsAndLongGaps() {
    func fall(_ step: Double) -> [Double] {
      (0..<190).map { $0 < 150 ? 300 - step * Double($0) : 270 }
    }
    #expect(labels(fall(0.31))[75] == .quiet)
    #expect(labels(fall(0.33))[75] == .falling)
    func cut(_ gap: Int) -> [Double?] {
      (0..<110).map { day -> Double? in
        guard !(40..<40 + gap).contains(day) else { return nil }
        return day < 100 ? 300 - Double(day) : 220
      }
    }
    let (short, long) = (labels(cut(7)), labels(cut(8)))
    #expect(short[30] == .falling && short[40] == nil && long[30] == nil)
  }

  /// F-G16: this was counted by hand.
  @Test func statesAreComparedWithHindsight() {
    let labels: [MarketState?] = [
      .nearLow, .rising, .rising, .rising, .nearHigh, .falling, .falling, nil, .falling, .shock,
    ]
    let states: [MarketState?] = [
      .nearLow, .nearLow, .nearLow, .rising, .rising, .nearHigh, .falling, .falling, nil, .falling,
    ]
    let score = StateScore(labels: labels, states: states, days: 0..<10)
    // Day 7 has no label, and day 8 no state.
    #expect(score.right == Score.Share(count: 3, of: 8))
    #expect(score.precision(.nearLow) == Score.Share(count: 1, of: 3))
    #expect(score.recall(.nearLow) == Score.Share(count: 1, of: 1))
    #expect(score.precision(.rising) == Score.Share(count: 1, of: 2))
    #expect(score.recall(.rising) == Score.Share(count: 1, of: 3))
    #expect(score.recall(.shock) == Score.Share(count: 0, of: 1))
    // The rise began on day 1 and was recognised on day 3; the fall began on day 5 and was
    // recognised a day later. The high and the shock never were. The first day begins nothing, and
    // neither does day 8, because the day before it has no label.
    #expect(
      score.recognised(.rising) == Score.Share(count: 1, of: 1) && score.daysLate(.rising) == 2)
    #expect(
      score.recognised(.falling) == Score.Share(count: 1, of: 1) && score.daysLate(.falling) == 1)
    #expect(score.recognised(.nearHigh) == Score.Share(count: 0, of: 1))
    #expect(score.daysLate(.nearHigh) == nil && score.recognised(.nearLow) == Score.Share())
    #expect(score.recognised(.shock) == Score.Share(count: 0, of: 1))
    // Parts of the days add up to the whole.
    let parts =
      StateScore(labels: labels, states: states, days: 0..<4)
      + StateScore(labels: labels, states: states, days: 4..<10)
    #expect(parts == score)
    let perfect = StateScore(labels: labels, states: labels, days: 0..<10)
    #expect(perfect.right == Score.Share(count: 9, of: 9) && perfect.daysLate(.falling) == 0)
  }

  /// F-G15: what hindsight says never enters a state. Days that are added later change labels, but
  /// no state.
  @Test func statesDoNotSeeLabels() {
    let whole = DailySeries(first: Self.first, averages: market(level: 202.1))
    let labels = Hindsight.labels(of: whole)
    func told(_ series: DailySeries) -> [MarketState?] {
      TurningPoint().judgements(
        of: Past(series: series, isLate: false, isTomorrowKnown: false, marketName: "")
      ).map(\.state)
    }
    let states = told(whole)
    var changed = 0
    for cut in [90, 201, 230] {
      let part = whole.upTo(cut, atMost: 1_000)
      let (before, label) = (told(part), Hindsight.labels(of: part))
      #expect(before == Array(states[...cut]), "\(cut)")
      if label != Array(labels[...cut]) { changed += 1 }
    }
    #expect(changed == 3)
    // This is no accident of a state that is always unknown.
    let kinds = Set(states.compactMap { $0 })
    #expect(kinds.count >= 4)
  }
}
