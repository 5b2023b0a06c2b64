package import FuelModel
import Store
package import Trends

/// Judges every day of a market's past by what was known on that day, and scores the verdicts in
/// hindsight.
package struct Backtest: Sendable {
  /// One region and fuel with its past.
  package struct Market: Sendable {
    package var region: String
    package var fuel: String
    package var series: DailySeries
    /// Whether the average of a day is not known on that day yet.
    package var isLate: Bool
    /// Whether the prices of the next day are published on each day.
    package var isTomorrowKnown: Bool

    package init(
      region: String, fuel: String, series: DailySeries, isLate: Bool = false,
      isTomorrowKnown: Bool = false
    ) {
      self.region = region
      self.fuel = fuel
      self.series = series
      self.isLate = isLate
      self.isTomorrowKnown = isTomorrowKnown
    }
  }

  /// The days that are scored; `nil`: no limit. Habits also learn from the days before `from`.
  package var from: Day?
  package var until: Day?

  package init(from: Day? = nil, until: Day? = nil) {
    self.from = from
    self.until = until
  }

  /// Scores advisers on markets, two markets at a time.
  package func scores(
    _ markets: [Market], advisers: [Adviser], progress: (Int, Int) -> Void
  ) async -> [MarketScore] {
    await withTaskGroup(of: (Int, [MarketScore]).self) { group in
      var next = 0
      var scored: [(Int, [MarketScore])] = []
      func add() {
        guard next < markets.count else { return }
        let (position, market) = (next, markets[next])
        next += 1
        group.addTask { (position, scores(market, advisers: advisers)) }
      }
      for _ in 0..<2 { add() }
      for await scores in group {
        scored.append(scores)
        progress(scored.count, markets.count)
        add()
      }
      return scored.sorted { $0.0 < $1.0 }.flatMap(\.1)
    }
  }

  private func scores(_ market: Market, advisers: [Adviser]) -> [MarketScore] {
    let first = max(from ?? market.series.first, market.series.first)
    let last = min(until ?? market.series.last, market.series.last)
    guard first <= last else { return [] }
    let walk = MarketWalk(market.series, isLate: market.isLate)
    return advisers.flatMap { adviser in
      let verdicts = walk.advice(of: adviser, isTomorrowKnown: market.isTomorrowKnown)
      func score(_ year: Int?, _ from: Day, _ until: Day) -> MarketScore {
        MarketScore(
          scored: .replayed, method: adviser.rawValue, region: market.region, fuel: market.fuel,
          year: year, score: Score(market.series, verdicts: verdicts, days: from..<(until + 1)),
          from: from, until: until)
      }
      let years = (first.year...last.year).compactMap { year -> MarketScore? in
        guard let begin = Day(year: year, month: 1, day: 1),
          let end = Day(year: year, month: 12, day: 31)
        else { return nil }
        return score(year, max(begin, first), min(end, last))
      }
      return [score(nil, first, last)] + years
    }
  }
}
