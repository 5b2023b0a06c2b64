import FuelModel

let weekdayNames = [
  "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
]

/// Returns a sentence for drivers that states what a judgement is based on.
func reason(_ judgement: Judgement, _ input: VerdictInput) -> String {
  let market = judgement.market
  let there = input.marketName.isEmpty ? "here" : "in \(input.marketName)"
  switch judgement.basis {
  case .tomorrowPrice:
    return tomorrowReason(input.changeTomorrow ?? 0)
  case .insufficientData:
    return "Too little is known of prices \(there) to advise"
  case .notCycling:
    guard let record = judgement.record else { return "Prices \(there) do not cycle" }
    return record < 0.05
      ? "Prices \(there) do not cycle: no timing would have saved anything lately"
      : "Prices \(there) do not cycle: the best timing saved \(centsPerLitre(record)) c/L lately"
  case .priceTrend: return trendReason(judgement, input, there)
  case .priceCycle:
    if judgement.rule == "weekday" { return weekdayReason(judgement, input, there) }
    if judgement.advice == .fillUp, market.isRising == false, market.change ?? 0 <= 0 {
      return "Prices \(there) have all but stopped falling\(lengths(market))"
    }
    return market.change ?? 0 < 0 ? fallingReason(judgement, there) : risingReason(judgement, there)
  }
}

private func weekdayReason(
  _ judgement: Judgement, _ input: VerdictInput, _ there: String
) -> String {
  let series = input.series
  guard let cheapest = series.cheapestWeekdays().last ?? nil else {
    return "The week has a cheapest day \(there)"
  }
  let today = series.weekday(series.count - (input.isLate ? 0 : 1))
  let since =
    series.averages.prefix(max(0, series.count - 49)).contains { $0 != nil }
    ? "for eight weeks" : "lately"
  if judgement.advice == .fillUp {
    return "\(weekdayNames[today]) has been the cheapest day of the week \(there) \(since)"
  }
  let ahead = (cheapest - today + 7) % 7
  let when = ahead == 1 ? "tomorrow" : "in \(ahead) days"
  return
    "\(weekdayNames[cheapest]) has been the cheapest day of the week \(there) \(since); it is \(when)"
}

private func trendReason(_ judgement: Judgement, _ input: VerdictInput, _ there: String) -> String {
  let series = input.series
  let market = judgement.market
  guard let day = market.basedOn, let average = market.average,
    let before = series.earlier(day.sinceEpoch - series.first.sinceEpoch, 3),
    let then = series.averages[before]
  else { return "Prices \(there) follow a trend" }
  let days = day.sinceEpoch - series.first.sinceEpoch - before
  let change = average - then
  var text: String
  if judgement.advice == .wait, change >= 0 {
    text = "Prices \(there) have begun to fall again"
  } else if abs(change) < 0.05 {
    text = "Prices \(there) hardly moved in \(days) days"
  } else {
    text =
      "Prices \(there) are \(centsPerLitre(abs(change))) c \(change < 0 ? "lower" : "higher") than \(days) days ago"
  }
  if let record = judgement.record, record >= 0.05 {
    text += "; going with the trend saved \(centsPerLitre(record)) c/L lately"
  }
  return text
}

// The facts about cycles in these sentences are in the view `cycles`, which has the markets that
// cycle. For other markets the last low is in the view `fill_up`.

private func fallingReason(_ judgement: Judgement, _ there: String) -> String {
  let market = judgement.market
  var text = "Prices \(there) are falling"
  if let days = market.daysSinceTurn, days > 1, let turn = market.turn {
    text =
      market.isRising == false
      ? "Prices \(there) fell for \(days) days"
      : "Prices \(there) fell for \(days) days from the high of \(centsPerLitre(turn))"
  }
  let troughs = market.cycles.compactMap(\.nextTrough).suffix(3)
  if let average = market.average, market.isRising == false {
    let low = market.isCycling ? median(troughs) : market.lastTrough
    if let low {
      let above = average - low
      text +=
        " and are \(centsPerLitre(abs(above))) c \(above >= 0 ? "above" : "below") the "
        + (market.isCycling ? "usual low" : "last low")
    }
  }
  return text + lengths(market)
}

private func risingReason(_ judgement: Judgement, _ there: String) -> String {
  let market = judgement.market
  guard market.isRising == true, let trough = market.lastTrough, let days = market.daysInPhase,
    let average = market.average
  else {
    return "Prices \(there) have stopped falling\(lengths(market))"
  }
  let rises =
    market.isCycling
    ? market.cycles.filter { $0.endsOn != nil }.suffix(3).map { centsPerLitre($0.amplitude) } : []
  let usual =
    rises.count >= 2
    ? "; the last rises were \(rises.dropLast().joined(separator: ", ")) and \(rises[rises.count - 1]) c"
    : ""
  if judgement.advice == .wait {
    return
      "Prices \(there) rose by \(centsPerLitre(average - trough)) c in \(days) days and are near the top\(usual)"
  }
  return
    "Prices \(there) rose for \(days) \(days == 1 ? "day" : "days") from the low of \(centsPerLitre(trough))\(usual)"
}

private func lengths(_ market: MarketPosition) -> String {
  let days = market.cycles.compactMap(\.days).suffix(5)
  guard market.isCycling, let shortest = days.min(), let longest = days.max() else { return "" }
  return shortest == longest
    ? "; cycles lately lasted \(shortest) days"
    : "; cycles lately lasted \(shortest) to \(longest) days"
}

/// - Parameter change: tomorrow's average less today's, in c/L.
package func tomorrowReason(_ change: Double) -> String {
  "Tomorrow \(centsPerLitre(abs(change))) c/L \(change < 0 ? "cheaper" : "dearer") on average"
}

package func centsPerLitre(_ value: Double) -> String { Cents.text(value) }
