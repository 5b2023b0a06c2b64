import FuelModel

private let weekdayNames = [
  "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
]

/// - Parameter change: tomorrow's average less today's, in c/L.
package func tomorrowReason(_ change: Double) -> String {
  "Tomorrow \(centsPerLitre(abs(change))) c/L \(change < 0 ? "cheaper" : "dearer") on average"
}

package func centsPerLitre(_ value: Double) -> String { Cents.text(value) }

/// A sentence for drivers that states what a verdict is based on. At a top it names the top, and
/// near a low it names the low.
extension TurningPoint.Day {
  /// The record is published in hundredths of a cent, and the words agree with that number.
  func quietReason(_ strongest: Double) -> String {
    let record = rounded(strongest, 2)
    return record < 0.05
      ? "Timing does not pay \(there): no habit would have saved anything lately"
      : "Timing hardly pays \(there): the best habit saved \(centsPerLitre(record)) c/L lately"
  }

  func reason(
    _ judgement: Judgement, _ last: Int, _ moment: MarketWalk.Moment, _ rule: MarketWalk.Rule,
    isCycling: Bool
  ) -> String {
    let price = walk.series.averages[last] ?? 0
    let step = walk.steps[last] ?? 0
    let call = judgement.advice
    if rule == .weekday { return weekdayReason(last, call) }
    if judgement.state == .shock { return shockReason(last, price, step, call) }
    guard isCycling, let isRising = moment.isRising, let turn = moment.turn,
      let extreme = moment.extreme
    else { return trendReason(last, price, step, call) }
    return isRising
      ? risingReason(last, price, step, call, moment, since: turn, high: extreme.price)
      : fallingReason(last, price, step, judgement, trough: moment.trough, since: turn)
  }

  private func days(_ count: Int) -> String { "\(count) \(count == 1 ? "day" : "days")" }

  private func weekdayReason(_ last: Int, _ call: Advice) -> String {
    guard let cheapest = cheapestWeekday(last) else {
      return "The week has a cheapest day \(there)"
    }
    let text = "\(weekdayNames[cheapest]) has been the cheapest day of the week \(there) lately"
    if call == .fillUp { return text }
    let ahead = daysUntil(cheapest)
    return text + "; it is \(ahead == 1 ? "tomorrow" : "in \(ahead) days")"
  }

  private func shockReason(_ last: Int, _ price: Double, _ step: Double, _ call: Advice) -> String {
    guard let before = walk.series.earlier(last, 7), let then = walk.series.averages[before] else {
      return "Unusual times \(there): prices move fast"
    }
    let change = price - then
    let moved =
      abs(change) < 0.5
      ? "are about where they were \(days(last - before)) ago"
      : "\(change > 0 ? "rose" : "fell") by \(centsPerLitre(abs(change))) c in \(days(last - before))"
    let text =
      abs(change) >= 3
      ? "Unusual times \(there): prices \(moved)"
      : "Prices \(there) have left their usual range lately; they \(moved)"
    if call == .wait {
      return text + (step < 0 ? ", and they are falling now" : ", and another fall is likely")
    }
    return text + (step >= 0 ? "; nothing says that they fall soon" : "; the last fall was small")
  }

  private func risingReason(
    _ last: Int, _ price: Double, _ step: Double, _ call: Advice, _ moment: MarketWalk.Moment,
    since turn: (index: Int, price: Double), high: Double
  ) -> String {
    let climbed = centsPerLitre(price - turn.price)
    let back = high - price
    let span = days(last - turn.index)
    if call == .wait {
      return step < 0 && back >= 0.05
        ? "Prices \(there) have come down \(centsPerLitre(back)) c from the high of \(centsPerLitre(high)) and usually go on falling"
        : "Prices \(there) rose by \(climbed) c in \(span) and are near the top; a fall usually follows"
    }
    if step < 0 {
      return
        "Prices \(there) slipped \(centsPerLitre(back)) c below the high of \(centsPerLitre(high)) but hardly fall further: waiting is unlikely to pay"
    }
    if let usual = moment.usualRise, price - turn.price >= 0.8 * usual {
      return
        "Prices \(there) are high, \(climbed) c above the last low, and \(step >= 0.05 ? "still rising" : "show no fall yet"): fill up only what you need"
    }
    return
      "Prices \(there) rose by \(climbed) c in \(span) from the low of \(centsPerLitre(turn.price)) and \(step < 0.05 ? "show no fall yet" : "are still rising")"
  }

  private func fallingReason(
    _ last: Int, _ price: Double, _ step: Double, _ judgement: Judgement, trough: Double?,
    since turn: (index: Int, price: Double)
  ) -> String {
    let fell = centsPerLitre(turn.price - price)
    let span = days(last - turn.index)
    let above = trough.map { price - $0 }
    let level = above.map {
      abs($0) < 0.05
        ? "at the last low"
        : "\(centsPerLitre(abs($0))) c \($0 >= 0 ? "above" : "below") the last low"
    }
    if judgement.advice == .fillUp {
      guard judgement.state == .nearLow else {
        return "Prices \(there) have stopped falling for now, \(fell) c below the last high"
      }
      if let above, let level, above > 5 {
        return
          "Prices \(there) fell by \(fell) c in \(span) and have \(step >= 0 ? "" : "all but ")stopped falling, \(level)"
      }
      let end =
        step >= 0
        ? " and have stopped falling"
        : step > -0.3
          ? " and have all but stopped falling" : "; not much more is likely to come off"
      return "A good time to fill up: prices \(there) fell by \(fell) c in \(span)"
        + (level.map { ", are \($0)" } ?? "") + end
    }
    let saving = centsPerLitre(judgement.expectedSaving ?? 0)
    let end =
      (step < 0 ? ", and still falling" : ", and another fall is likely")
      + ": about \(saving) c more within three days"
    if judgement.state == .nearLow, let above, above >= -5 {
      return "Prices \(there) are near the low" + (level.map { ", \($0)" } ?? "") + end
    }
    return "Prices \(there) fell by \(fell) c in \(span)" + (level.map { " and are \($0)" } ?? "")
      + end
  }

  private func trendReason(_ last: Int, _ price: Double, _ step: Double, _ call: Advice) -> String {
    guard let before = walk.series.earlier(last, 3), let then = walk.series.averages[before] else {
      return "Prices \(there) follow a trend"
    }
    let change = price - then
    let span = days(last - before)
    let text =
      abs(change) < 0.05
      ? "Prices \(there) hardly moved in \(span)"
      : "Prices \(there) are \(centsPerLitre(abs(change))) c \(change < 0 ? "lower" : "higher") than \(span) ago"
    if call == .wait {
      if step >= 0 { return text + "; the last day brought no fall, but the trend points down" }
      return text + (change < 0 ? " and falling" : "; they have begun to fall")
    }
    if step >= 0.05, change > 0 { return text + " and rising" }
    if change < 0, step >= 0 { return text + "; the fall has stopped" }
    return text + (step >= 0 ? "; no fall in sight" : "; the last fall was small")
  }
}
