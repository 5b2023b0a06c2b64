/// What a market was doing on each past day, as it shows once later days are known.
///
/// These labels score `Judgement.state`, which knows earlier days only. They are a pure function of
/// the whole series. Of the rule that finds the states they use only the zigzag. docs/verdicts.md
/// defines the labels.
package enum Hindsight {
  // A price has broken out if it is outside of a range of four months by more than this many c/L,
  // and by more than this share of the range.
  private static let (leastBreak, breakShare) = (6.0, 0.4)
  // How many days that range has, how many days before the price it ends, and on how many of its
  // days a price must be known.
  private static let (rangeDays, breakWithin, leastKnownDays) = (120, 14, 28)
  // A market is quiet where perfect timing is worth less than `Score.quietBelow`, as a mean over the
  // windows that begin within this many days before and after. At least this many windows count.
  private static let (reach, leastWindows) = (30, 20)
  // A price at most this many c/L away from a low or a high is near it.
  private static let nearWithin = 2.0
  // What happened in a gap of more than this many days is not known.
  private static let longestGap = 7

  /// - Returns: a label for each day of the series; `nil` where the average is missing. A day that is
  ///   not in a shock has no label if too few windows around it are known. A day that is not quiet
  ///   either has none before the first turn, after the last one, and between two turns with a long
  ///   gap.
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

  /// Whether each day belongs to a break-out. A break-out begins on the day after the lowest price
  /// of two weeks (the highest, if prices fell), and ends on the day of the price that breaks out.
  private static func shocks(_ prices: [Double?]) -> [Bool] {
    var isShocked = Array(repeating: false, count: prices.count)
    for day in prices.indices.dropFirst(breakWithin + 1) {
      guard let price = prices[day] else { continue }
      let end = day - breakWithin
      let range = prices[max(0, end - rangeDays)..<end].compactMap { $0 }
      guard range.count >= leastKnownDays, let low = range.min(), let high = range.max() else {
        continue
      }
      let margin = max(leastBreak, breakShare * (high - low))
      let isUp = price > high + margin
      guard isUp || price < low - margin else { continue }
      // The day of the lowest price (the highest, if prices fell). Among equal prices it is the
      // latest, because the move began after that.
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
    let perfectSavings = prices.indices.map { start -> Double? in
      let end = start + Score.width
      guard end < prices.count, !shocks[start...end].contains(true) else { return nil }
      let window = prices[start...end].compactMap { $0 }
      guard window.count == Score.width + 1, let lowest = window.min() else { return nil }
      return window.reduce(0, +) / Double(window.count) - lowest
    }
    return prices.indices.map { day -> Bool? in
      let around = perfectSavings[max(0, day - reach)...min(day + reach, prices.count - 1)]
        .compactMap { $0 }
      guard around.count >= leastWindows else { return nil }
      return around.reduce(0, +) / Double(around.count) < Score.quietBelow
    }
  }

  /// For each day between two turns the direction from one to the other, or which turn it is near.
  private static func legs(_ series: DailySeries) -> [MarketState?] {
    var zigzag = Zigzag()
    for (day, price) in series.averages.enumerated() {
      if let price { zigzag.take(price, at: day, step: series.step(day)) }
    }
    var legs = Array(repeating: MarketState?.none, count: series.count)
    for (begin, end) in zip(zigzag.turns, zigzag.turns.dropFirst()) {
      let days = (begin.index...end.index).filter { series.averages[$0] != nil }
      guard zip(days, days.dropFirst()).allSatisfy({ $1 - $0 <= longestGap + 1 }) else { continue }
      func isNear(_ day: Int, _ turn: Zigzag.Turn) -> Bool {
        abs((series.averages[day] ?? turn.price) - turn.price) <= nearWithin
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
