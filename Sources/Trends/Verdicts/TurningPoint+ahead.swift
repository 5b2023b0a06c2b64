import FuelModel

#if canImport(Glibc)
  import Glibc
#endif

/// What following a verdict should bring: a saving, a price to aim for, and a low to wait for.
extension TurningPoint.Day {
  // What the same verdict saved in the recorded markets if the expected move came and if it did
  // not, in c/L. These values count as much as `priorDays` days of the market itself.
  private static let priorDays = 20.0
  private static let waitSavings = (came: 3.0, failed: 0.0)
  private static let fillUpSavings = (came: 8.0, failed: 0.5)

  /// The expected saving in c/L: what the same verdict of the same rule saved over a year if the
  /// expected move came and if it did not, weighted by the chance of the move today.
  ///
  /// The saving of a `wait` is the fall to the lowest of the next three days. That of a `fill_up`
  /// is the rise to the mean of the next five.
  func expectedSaving(
    _ last: Int, _ rule: MarketWalk.Rule, _ call: Advice, _ chance: Double
  ) -> Double {
    let prior = call == .wait ? Self.waitSavings : Self.fillUpSavings
    var came = (sum: prior.came * Self.priorDays, count: Self.priorDays)
    var failed = (sum: prior.failed * Self.priorDays, count: Self.priorDays)
    let lag = walk.lag
    for known in max(0, last - 365)..<max(0, last - 365, last - 4 - lag) {
      let day = known + lag
      guard let price = walk.series.averages[day], walk.calls[rule.rawValue][day] == call else {
        continue
      }
      let after = walk.filled[day + 1...day + 5].compactMap { $0 }
      guard after.count == 5 else { continue }
      let saved: Double
      let hasCome: Bool
      if call == .wait {
        let lowest = min(after[0], after[1], after[2])
        hasCome = lowest <= price - 1
        saved = price - lowest
      } else {
        hasCome = max(after[0], after[1], after[2]) >= price + 3
        saved = after.reduce(0, +) / 5 - price
      }
      if hasCome {
        came = (came.sum + saved, came.count + 1)
      } else {
        failed = (failed.sum + saved, failed.count + 1)
      }
    }
    return chance * came.sum / came.count + (1 - chance) * failed.sum / failed.count
  }

  /// The price to aim for, and the low to wait for. Both are estimates: half of the lows came
  /// within the days that are named.
  func ahead(
    _ last: Int, _ moment: MarketWalk.Moment, _ rule: MarketWalk.Rule, _ call: Advice,
    _ price: Double, saving: Double, isCycling: Bool
  ) -> (aim: Double, low: Judgement.Low?) {
    if call == .fillUp { return (rounded(price, 1), nil) }
    if rule == .weekday, let cheapest = cheapestWeekday(last) {
      let day = today + daysUntil(cheapest)
      let low = rounded(price - max(0, weekdayDifference(last, cheapest)), 1)
      return (low, .init(price: low, from: day, to: day))
    }
    guard isCycling, let isRising = moment.isRising, let trough = moment.trough,
      let usualFall = moment.usualFall, let peak = isRising ? moment.extreme : moment.turn
    else {
      let low = rounded(price - max(saving, 0.1), 1)
      return (low, .init(price: low, from: today + 1, to: today + 3))
    }
    // The low is the mean of three estimates: the last low, the last high less the usual fall, and
    // the slope of the last week continued.
    let daysLeft = max(2, moment.usualFallDays - Double(last - peak.index))
    let begin = max(walk.series.earlier(last, 7) ?? peak.index, peak.index)
    var slope = 0.0
    if begin < last, let then = walk.series.averages[begin] {
      slope = max(0, (then - price) / Double(last - begin))
    }
    let guess = (trough + (peak.price - usualFall) + (price - 0.6 * slope * daysLeft)) / 3
    let low = min(guess, price - max(saving, 0.5))
    return (
      rounded(min(low + 1, price), 1),
      .init(
        price: rounded(low, 1), from: today + max(1, Int(floor(0.4 * daysLeft))),
        to: today + (Int(ceil(1.4 * daysLeft)) + 3))
    )
  }

  /// The cheapest weekday on which the advice of the weekday rule is based. 0 is Monday.
  func cheapestWeekday(_ last: Int) -> Int? {
    walk.cheapestWeekdays[...last].last { $0 != nil } ?? nil
  }

  /// Days from today to the next such weekday, from 1 to 7.
  func daysUntil(_ weekday: Int) -> Int {
    let days = (weekday - today.weekday + 7) % 7
    return days == 0 ? 7 : days
  }

  /// How much dearer the weekday of the last average was than the cheapest weekday over eight
  /// weeks, in c/L.
  private func weekdayDifference(_ last: Int, _ cheapest: Int) -> Double {
    var sums = Array(repeating: 0.0, count: 7)
    var counts = Array(repeating: 0.0, count: 7)
    for day in max(0, known - 55)...known {
      guard let price = walk.series.averages[day] else { continue }
      sums[walk.series.weekday(day)] += price
      counts[walk.series.weekday(day)] += 1
    }
    let own = walk.series.weekday(last)
    guard counts[own] > 0, counts[cheapest] > 0 else { return 0 }
    return sums[own] / counts[own] - sums[cheapest] / counts[cheapest]
  }
}
