import FuelModel
import Simulator
import Testing
import Trends

/// Cycles of synthetic markets whose cycles are known.
struct CycleTests {
  static let first = Day(sinceEpoch: 20_000)

  private func series(_ days: Int, _ price: (Int) -> Double?) -> DailySeries {
    DailySeries(
      first: Self.first,
      averages: (0..<days).map { day in price(day).map { ($0 * 100).rounded() / 100 } })
  }

  /// Returns a price that climbs by 30 c in `rise` days and then falls back during the rest of the
  /// period.
  private func tooth(_ day: Int, period: Int, rise: Int, base: Double = 160) -> Double {
    let phase = day % period
    return phase <= rise
      ? base + 30 * Double(phase) / Double(rise)
      : base + 30 * Double(period - phase) / Double(period - rise)
  }

  /// F-G08: troughs, peaks, lengths and heights of a saw-tooth are found exactly.
  @Test(arguments: [(7, 1), (14, 3), (28, 5), (42, 8)])
  func aSawToothIsFoundExactly(period: Int, rise: Int) throws {
    let series = series(6 * period + rise + 2) { tooth($0, period: period, rise: rise) }
    let market = MarketPosition(series)
    #expect(market.isCycling && market.typicalDays == period)
    let complete = MarketPosition.pastCycles(series)
    // The first day is no trough, since no price fell to it. The last complete cycle ends where the
    // present one begins.
    #expect(complete.count == 5)
    for (number, cycle) in complete.enumerated() {
      let began = (number + 1) * period
      #expect(cycle.troughOn == Self.first + began && cycle.trough == 160)
      #expect(cycle.peakOn == Self.first + (began + rise) && cycle.peak == 190)
      #expect(cycle.days == period && cycle.amplitude == 30)
    }
    #expect(market.lastTroughOn == Self.first + 6 * period)
  }

  /// All cycles of a long history are found: those before and after a year without cycles, and none
  /// of that year.
  @Test func aHistoryHasAllItsCycles() throws {
    let history = series(2_080) { day in
      switch day {
      case ..<1_120: tooth(day, period: 28, rise: 5)
      case ..<1_520: 160
      default: tooth(day - 1_520, period: 28, rise: 5)
      }
    }
    let cycles = MarketPosition.pastCycles(history)
    let troughs = cycles.map { $0.troughOn.sinceEpoch - Self.first.sinceEpoch }
    let expected = (1...39).map { 28 * $0 } + (1...18).map { 1_520 + 28 * $0 }
    #expect(troughs == expected)
    let areWhole = cycles.allSatisfy { $0.days == 28 && $0.amplitude == 30 }
    #expect(areWhole)
    #expect(MarketPosition(history.upTo(history.count - 1, atMost: 400)).isCycling)
    let flat = MarketPosition.pastCycles(series(400) { _ in 170 })
    #expect(flat == [])
  }

  /// F-G08: movements from six cents on make a cycle.
  @Test(arguments: [(5.9, false), (6.1, true)])
  func aCycleIsSixCentsHigh(height: Double, isCycling: Bool) {
    let market = MarketPosition(
      series(200) { 160 + tooth($0, period: 20, rise: 5, base: 0) * height / 30 })
    #expect(market.isCycling == isCycling)
  }

  /// F-G08: no cycle is found where there is none: in a flat market, in steady rises and falls, in
  /// one jump, in noise below the height of a cycle, and in a trend with noise.
  @Test func noCycleWhereThereIsNone() {
    var random = Random(seed: 5)
    var walk = 170.0
    let markets: [(String, DailySeries)] = [
      ("flat", series(400) { _ in 170 }),
      ("rising", series(400) { 150 + Double($0) / 5 }),
      ("falling", series(400) { 250 - Double($0) / 5 }),
      ("one jump", series(400) { $0 < 200 ? 170 : 200 }),
      ("one hump", series(400) { $0 > 180 && $0 < 220 ? 200 : 170 }),
      ("noise", series(400) { _ in 170 + random.real(-2.5...2.5) }),
      (
        "trend with noise",
        series(400) { day in
          walk += 0.3
          return walk + random.real(-2...2)
        }
      ),
    ]
    for (name, series) in markets {
      let market = MarketPosition(series)
      #expect(!market.isCycling && market.typicalDays == nil, "\(name)")
    }
  }

  /// F-G08: noise hardly ever looks like a cycle, whether days are independent, correlated with the
  /// day before, or a random walk. A cycle that has stopped no longer counts as one.
  @Test func honestAboutChanceAndTheEnd() {
    func share(_ noise: (inout Random, Double) -> Double) -> Int {
      (0..<200).count { seed in
        var random = Random(seed: UInt64(seed))
        var before = 0.0
        return MarketPosition(
          series(400) { _ in
            before = noise(&random, before)
            return 170 + before
          }
        ).isCycling
      }
    }
    // The sum of three draws is nearly normal.
    func normal(_ random: inout Random, _ spread: Double) -> Double {
      (random.real(-1...1) + random.real(-1...1) + random.real(-1...1)) * spread
    }
    #expect(share { random, _ in normal(&random, 2) } <= 2)
    #expect(share { random, _ in normal(&random, 3) } <= 2)
    #expect(share { random, before in before * 0.8 + normal(&random, 1.5) } <= 6)
    #expect(share { random, before in before + normal(&random, 1.5) } <= 20)
    // A gap of weeks hides whether the cycle went on.
    #expect(
      !MarketPosition(
        series(200) { day in (100..<130).contains(day) ? nil : tooth(day, period: 28, rise: 5) }
      ).isCycling)
    // F-V18: so does a gap of weeks at the end, and one of a week does not.
    for (gap, isCycling) in [(7, true), (8, false), (30, false)] {
      let cut = series(200) { $0 >= 200 - gap ? nil : tooth($0, period: 28, rise: 5) }
      #expect(MarketPosition(cut).isCycling == isCycling, "\(gap)")
    }
    let ended = series(400) { $0 < 200 ? tooth($0, period: 25, rise: 5) : 160 }
    #expect(MarketPosition(series(200) { tooth($0, period: 25, rise: 5) }).isCycling)
    #expect(!MarketPosition(ended).isCycling)
  }
}

extension DailySeries {
  /// The part up to an index, with at most a given number of days.
  func upTo(_ index: Int, atMost days: Int) -> DailySeries {
    let begin = max(0, index + 1 - days)
    return DailySeries(first: first + begin, averages: Array(averages[begin...index]))
  }
}
