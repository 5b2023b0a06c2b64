import FuelModel

/// The verdict of a day: the advice of the habit with the best record, if following the verdicts
/// pays. Chances, savings and lows are computed beside it and never change it.
extension MarketWalk {
  // There is advice from this saving in c/L on, 35 cents on 50 litres, and where perfect timing was
  // worth the second number, because much is at stake.
  private static let (silentBelow, insuredFrom) = (0.7, 1.5)
  // For how many days a shock lasts.
  private static let shockDays = 14
  // A change that is published for tomorrow decides from the first on; in a quiet market, the second.
  private static let (leastChange, leastChangeInQuiet) = (0.05, 0.8)
  private static let (leastSavings, leastFalls) = (5, 10)

  /// The advice of an adviser on each day of the series. Only the verdicts know tomorrow's prices.
  package func advice(of adviser: Adviser, isTomorrowKnown: Bool) -> [Advice?] {
    if let habit = Habit(rawValue: adviser.rawValue) {
      return Array(advice[habit, default: []].prefix(series.count))
    }
    return adviser == .atOnce
      ? series.averages.map { _ in .fillUp }
      : judgements(isTomorrowKnown: isTomorrowKnown).map(\.advice)
  }

  /// The verdict of each day of the series.
  ///
  /// - Parameter isTomorrowKnown: whether the next day's prices are published on each day.
  package func judgements(isTomorrowKnown: Bool) -> [Judgement] {
    let history = ChanceHistory(self)
    var fitted = Int.min
    var models: [ChanceModel] = []
    return series.averages.indices.map { day in
      if anchor(of: day - lag) != fitted {
        fitted = anchor(of: day - lag)
        models = history.models(on: fitted)
      }
      var change: Double?
      if isTomorrowKnown, day + 1 < series.count, let today = series.averages[day],
        let tomorrow = series.averages[day + 1]
      {
        change = tomorrow - today
      }
      return judgement(on: day, changeTomorrow: change) { history.chances(on: $0, by: models) }
    }
  }

  /// The verdict of the newest day. With late data this is the day after the last one of the series.
  ///
  /// - Parameter change: tomorrow's average less today's over the same stations, in c/L, if
  ///   tomorrow's prices are published.
  package func judgement(changeTomorrow change: Double?) -> Judgement {
    let history = ChanceHistory(self)
    let day = series.count - 1
    let models = history.models(on: anchor(of: day))
    return judgement(on: day + lag, changeTomorrow: change) {
      history.chances(on: $0, by: models)
    }
  }

  /// The Thursday up to which the models of a day are fitted: that day, or the last one before it.
  private func anchor(of known: Int) -> Int { known - ((series.first + known).weekday + 4) % 7 }

  private func judgement(
    on day: Int, changeTomorrow change: Double?, chances: (Int) -> Chances?
  ) -> Judgement {
    var judgement = Judgement()
    let lead = leads[day]
    let own = ownAdvice[day]
    let isKnown = own != nil && stake(on: day) != nil
    judgement.record = stake(on: day).map { rounded($0.saved, 2) }
    judgement.chances = lead.last.flatMap(chances)
    if isKnown, let last = lead.last {
      judgement.state = state(on: day, last)
      judgement.basis = .notCycling
      let saved = judgement.record ?? 0
      judgement.reason =
        saved < 0.05
        ? "Timing has saved nothing lately"
        : "Timing has saved less than \(Cents.text((saved * 10).rounded(.down) / 10 + 0.1)) c/L lately"
    }
    let speaks = isKnown && speaks(on: day)
    if let change = change.map({ rounded($0, 2) }),
      abs(change) >= (speaks ? Self.leastChange : Self.leastChangeInQuiet)
    {
      judgement.decide(by: change, series.averages[day - lag], on: series.first + (day + 1))
      return judgement
    }
    guard speaks, let own, let last = lead.last,
      let average = series.averages[last]
    else { return judgement }
    judgement.advice = own
    judgement.basis =
      lead.leader == .slope || lead.leader == .plain ? .priceTrend : .priceCycle
    judgement.rule = lead.leader.rawValue
    judgement.expectedSaving = expectedSaving(on: day).map { rounded(max($0, 0), 2) }
    let price = rounded(average, 1)
    judgement.low = low(on: day).flatMap { $0.price < price ? $0 : nil }
    judgement.aim =
      own == .fillUp
      ? price : judgement.low.map(\.bounds.upperBound).flatMap { $0 < price ? $0 : nil }
    judgement.reason = reason(judgement, on: day, last)
    return judgement
  }

  /// What following the verdicts saved, on time.
  private func stake(on day: Int) -> Record? {
    guard let recordsOnTime else { return leads[day].record }
    return day > 0 ? recordsOnTime[day - 1] : nil
  }

  /// Whether there is advice rather than silence. In a shock upward timing pays everywhere.
  private func speaks(on day: Int) -> Bool {
    guard let stake = stake(on: day) else { return false }
    return stake.saved >= Self.silentBelow || stake.perfect >= Self.insuredFrom
      || isShocked(on: day, \.isAboveRange)
  }

  /// Whether the price has been far outside the range of four months in the last two weeks.
  private func isShocked(on day: Int, _ isOutside: (MarketDay) -> Bool) -> Bool {
    let known = day - lag
    return days[max(0, known - Self.shockDays)...known].contains { $0.map(isOutside) ?? false }
  }

  // MARK: Saving and low

  /// What following the verdict should save: the savings of the latest windows that began with the
  /// same advice, in proportion to how much moves today.
  private func expectedSaving(on day: Int) -> Double? {
    let known = day - lag
    guard let today = days[known], let own = ownAdvice[day] else { return nil }
    var (saved, paces, weight, count) = (0.0, 0.0, 1.0, 0)
    for window in windows.reversed() where window.start + Self.windowDays <= known {
      guard count < Self.mostWindows,
        window.start > known - Self.windowDays - 2 * Self.mostWindows
      else { break }
      guard window.start >= lag, let then = days[window.start - lag],
        ownAdvice[window.start] == own
      else { continue }
      saved += weight * window.savedByOwn
      paces += weight * then.pace
      weight *= Self.fade
      count += 1
    }
    return count >= Self.leastSavings ? saved / paces * today.pace : nil
  }

  /// The lowest price of the next five days: the falls that followed the latest days with `wait`, in
  /// proportion to how much moves today. Half of the falls were between the bounds.
  private func low(on day: Int) -> Judgement.Low? {
    let known = day - lag
    guard let today = days[known], ownAdvice[day] == .wait else { return nil }
    var falls: [Double] = []
    for start in stride(
      from: known - Self.windowDays, to: max(-1, known - 2 * Self.mostWindows), by: -1)
    where falls.count < Self.ownWindows {
      guard let then = days[start], ownAdvice[start] == .wait else { continue }
      let after = filled[start + 1...start + Self.windowDays].compactMap { $0 }
      guard after.count == Self.windowDays, let lowest = after.min() else { continue }
      falls.append((then.price - lowest) / then.pace)
    }
    guard falls.count >= Self.leastFalls else { return nil }
    func price(_ share: Double) -> Double {
      rounded(today.price - today.pace * quantile(share, of: falls), 1)
    }
    let first = series.first + (known + 1)
    return Judgement.Low(
      price: price(0.5), bounds: price(0.75)...price(0.25),
      days: first...(first + (Self.windowDays - 1)))
  }

  // MARK: State

  private static let nearWithin = 2.0
  private static let jump = 3.0

  private func state(on day: Int, _ last: Int) -> MarketState? {
    if !speaks(on: day) { return .quiet }
    if isShocked(on: day, { $0.isAboveRange || $0.isBelowRange }) { return .shock }
    if leads[day].leader == .weekday {
      return ownAdvice[day] == .fillUp
        ? .nearLow : (days[last]?.step ?? 0) >= Self.jump ? .nearHigh : .falling
    }
    guard let today = days[last] else { return nil }
    let high = series.extreme(last - 10, last, by: >)?.price ?? today.price
    if today.isNearTop, today.price >= high - Self.nearWithin { return .nearHigh }
    let low = series.extreme(last - 45, last, by: <)?.price ?? today.price
    if today.price <= low + Self.nearWithin, today.step > -0.3 * today.usualStep { return .nearLow }
    return today.score > 0 ? .rising : .falling
  }
}

extension Judgement {
  /// Takes the advice of tomorrow's published prices. Moves that they make certain are certain. Who
  /// knows both prices words the reason.
  fileprivate mutating func decide(by change: Double, _ price: Double?, on tomorrow: Day) {
    advice = change < 0 ? .wait : .fillUp
    basis = .tomorrowPrice
    rule = "tomorrow"
    expectedSaving = abs(change)
    if change <= -1 { chances?.cheaper = 1 }
    if change < -0.2 { chances?.lower = 1 }
    if change >= 3 { chances?.jump = 1 }
    guard let price else { return }
    let next = rounded(price + change, 1)
    aim = advice == .wait ? next : rounded(price, 1)
    low = advice == .wait ? Low(price: next, bounds: next...next, days: tomorrow...tomorrow) : nil
  }
}
