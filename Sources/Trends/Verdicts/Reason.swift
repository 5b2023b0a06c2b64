import FuelModel

extension Judgement {
  /// The names of the weekdays, in the order of `Day.weekday`.
  package static let weekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
}

/// The reason of a verdict in words for drivers: what the price did, the chance of a lower price,
/// and what following the verdict should save. It states numbers that are published beside it.
extension MarketWalk {
  func reason(_ judgement: Judgement, on day: Int, _ last: Int) -> String {
    let today = leads[day].leader == .weekday ? nil : days[last]
    var parts = [today.map { movement(judgement, last, $0) } ?? weekdayWords(on: day, last)]
    if today != nil, last < day {
      parts[0] += day - last == 1 ? ", up to yesterday" : ", up to \(day - last) days ago"
    }
    if let lower = judgement.chances?.lower { parts.append(chanceWords(lower, judgement.advice)) }
    if let saving = judgement.expectedSaving, Cents.tenths(saving) > 0 {
      parts.append(
        (judgement.advice == .wait ? "Waiting" : "Filling up today")
          + " should save about \(Cents.text(saving)) c/L against a random day of the next six"
          + (Cents.tenths(saving) < 5 ? ", which is little" : ""))
    }
    return parts.joined(separator: ". ")
  }

  /// Where the advice stands against its chance, the words say so.
  private func chanceWords(_ lower: Double, _ advice: Advice) -> String {
    let percent = Int((lower * 100).rounded())
    let isAgainst = advice == .wait ? percent < 50 : percent >= 50
    let (words, doubt) =
      switch Likelihood(percent: percent) {
      case .veryLikely: ("is very likely", "which speaks against filling up")
      case .likely: ("is likely", "which speaks against filling up")
      case .open: ("may come", "so this is a close call")
      case .unlikely: ("is not to be expected", "which speaks against waiting")
      }
    return "A lower price within five days \(words) (\(percent) %)"
      + (isAgainst ? ", \(doubt)" : "")
  }

  // MARK: Movement

  /// What the price did lately, by the numbers on which the advice rests.
  private func movement(_ judgement: Judgement, _ last: Int, _ today: MarketDay) -> String {
    let rise = today.price - today.lowest.price
    let peak = series.extreme(last - today.lowest.daysAgo, last, by: >)?.price ?? today.price
    if judgement.advice == .wait, today.step >= 0, today.slope >= 0, rise >= 1,
      peak - today.price <= rise / 4
    {
      return "Rose by \(Cents.text(rise)) c in \(days(today.lowest.daysAgo)) "
        + (today.step < 0.05 ? "and has stopped rising" : "and has slowed")
        + (today.isRangeKnown && today.range.contains(today.price)
          ? ", within the range of the last four months" : "")
    }
    if today.step * today.slope < 0, let before = series.earlier(last, 3),
      let then = series.averages[before], Cents.tenths(abs(today.price - then)) > 0
    {
      return
        "The price is \(Cents.text(abs(today.price - then))) c \(today.price < then ? "lower" : "higher") "
        + "than \(days(last - before)) before, but \(lastStep(last, today))"
    }
    return run(last, today)
  }

  /// For how many days the price has gone one way, and how much a day.
  private func run(_ last: Int, _ today: MarketDay) -> String {
    var first = last
    while let before = series.earlier(first, 1), let step = steps[first], step * today.step > 0 {
      first = before
    }
    guard today.step != 0, last - first > 1, let then = series.averages[first] else {
      let words = lastStep(last, today)
      return words.prefix(1).uppercased() + words.dropFirst()
    }
    let pace = abs(today.price - then) / Double(last - first)
    let amount = Cents.tenths(pace) > 0 ? "\(Cents.text(pace)) c a day" : "less than 0.1 c a day"
    return "\(today.step < 0 ? "Fell" : "Rose") for \(days(last - first)), \(amount)"
  }

  private func lastStep(_ last: Int, _ today: MarketDay) -> String {
    let before = series.earlier(last, 1) ?? last
    let since = last - before == 1 ? "the day before" : "\(days(last - before)) before"
    let change = abs(today.step) * Double(last - before)
    guard Cents.tenths(change) > 0 else { return "hardly moved since \(since)" }
    return "\(today.step < 0 ? "fell" : "rose") by \(Cents.text(change)) c from \(since)"
  }

  private func days(_ count: Int) -> String { count == 1 ? "one day" : "\(count) days" }

  // MARK: Weekday

  /// How far the cheapest weekday was below the week around it, how often, and when it is next.
  private func weekdayWords(on day: Int, _ last: Int) -> String {
    guard let cheapest = cheapestWeekdays[last] else { return "The week has a cheapest day" }
    let known = (max(0, last - 58)..<max(0, last - 2)).filter { series.weekday($0) == cheapest }
      .compactMap { deviations[$0] }
    let below = known.count { $0 < 0 }
    let mean = known.reduce(0, +) / Double(max(1, known.count))
    let ahead = (cheapest - series.weekday(day) + 7) % 7
    let next = ahead == 0 ? "today" : ahead == 1 ? "tomorrow" : "in \(days(ahead))"
    return
      "\(Judgement.weekdays[cheapest])s have been \(Cents.text(abs(mean))) c below the week around them, "
      + "in \(below) of \(known.count) weeks; the next is \(next)"
  }
}
