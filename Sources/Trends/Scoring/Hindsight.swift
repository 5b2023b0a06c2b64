/// What a market was doing on each past day, as it shows once later days are known.
///
/// These labels judge `Judgement.state`, which knows earlier days only. They are a pure function of
/// the whole series and share nothing with the rule but the zigzag. docs/verdicts.md defines them.
package enum Hindsight {
  // A price this many c/L, or this share of the range, outside of the range of four months has
  // broken out. The range ends two weeks earlier, and at least four weeks of it are known.
  private static let (leastBreak, breakShare) = (6.0, 0.4)
  private static let (rangeDays, breakWithin, leastRange) = (120, 14, 28)
  // A market is quiet where perfect timing, over the windows that begin in the thirty days before
  // and after, is worth less than `Score.quietBelow`. At least twenty of them are known.
  private static let (reach, leastWindows) = (30, 20)
  // How far from a low or a high, in c/L, prices are near it.
  private static let near = 2.0
  // What happened in a longer gap, in days, is not known.
  private static let longestHole = 7

  /// - Returns: a label for each day of the series. `nil` where the average is missing, where too
  ///   few days around are known, and before the first turn and after the last one unless the day
  ///   is in a shock or quiet.
  package static func labels(of series: DailySeries) -> [MarketState?] {
    let shocks = shocks(series.averages)
    let isQuiet = quiet(series.averages, shocks)
    let legs = legs(series)
    return series.averages.indices.map { day -> MarketState? in
      guard series.averages[day] != nil else { return nil }
      if shocks[day] { return .shock }
      return isQuiet[day].flatMap { $0 ? MarketState.quiet : legs[day] }
    }
  }

  /// The days of each break-out, from the day after the lowest price (the highest, where prices
  /// fell) of the two weeks before to the day on which the price is outside of the range.
  private static func shocks(_ prices: [Double?]) -> [Bool] {
    var isShocked = Array(repeating: false, count: prices.count)
    for day in prices.indices.dropFirst(breakWithin + 1) {
      guard let price = prices[day] else { continue }
      let end = day - breakWithin
      let range = prices[max(0, end - rangeDays)..<end].compactMap { $0 }
      guard range.count >= leastRange, let low = range.min(), let high = range.max() else {
        continue
      }
      let margin = max(leastBreak, breakShare * (high - low))
      let isUp = price > high + margin
      guard isUp || price < low - margin else { continue }
      // The latest of equal prices, because the move began after it.
      var origin: (day: Int, price: Double)?
      for other in end..<day {
        guard let value = prices[other] else { continue }
        if origin.map({ isUp ? value <= $0.price : value >= $0.price }) ?? true {
          origin = (other, value)
        }
      }
      if let origin { for other in origin.day + 1...day { isShocked[other] = true } }
    }
    return isShocked
  }

  /// Whether the market was quiet around each day; `nil` where too little is known. Windows that
  /// touch a shock are left out, so that days before a shock stay quiet.
  private static func quiet(_ prices: [Double?], _ shocks: [Bool]) -> [Bool?] {
    let possible = prices.indices.map { start -> Double? in
      let end = start + Score.width
      guard end < prices.count, !shocks[start...end].contains(true) else { return nil }
      let window = prices[start...end].compactMap { $0 }
      guard window.count == Score.width + 1, let lowest = window.min() else { return nil }
      return window.reduce(0, +) / Double(window.count) - lowest
    }
    return prices.indices.map { day -> Bool? in
      let around = possible[max(0, day - reach)...min(day + reach, prices.count - 1)]
        .compactMap { $0 }
      guard around.count >= leastWindows else { return nil }
      return around.reduce(0, +) / Double(around.count) < Score.quietBelow
    }
  }

  /// The leg of each day between two turns, and the days next to a turn whose prices are near it.
  private static func legs(_ series: DailySeries) -> [MarketState?] {
    var zigzag = Zigzag()
    for (day, price) in series.averages.enumerated() {
      if let price { zigzag.take(price, at: day, step: series.step(day)) }
    }
    var legs = Array(repeating: MarketState?.none, count: series.count)
    for (begin, end) in zip(zigzag.turns, zigzag.turns.dropFirst()) {
      let days = (begin.index...end.index).filter { series.averages[$0] != nil }
      guard zip(days, days.dropFirst()).allSatisfy({ $1 - $0 <= longestHole + 1 }) else { continue }
      func isNear(_ day: Int, _ turn: Zigzag.Turn) -> Bool {
        abs((series.averages[day] ?? turn.price) - turn.price) <= near
      }
      for day in days { legs[day] = end.isPeak ? .rising : .falling }
      for day in days.prefix(while: { isNear($0, begin) }) {
        legs[day] = begin.isPeak ? .nearHigh : .nearLow
      }
      for day in days.reversed().prefix(while: { isNear($0, end) }) {
        legs[day] = end.isPeak ? .nearHigh : .nearLow
      }
    }
    return legs
  }
}
