package import FuelModel
package import Store
package import Trends

/// Gives the verdict of a region and fuel: the judgement of its averages and of the published prices
/// of tomorrow, and until when that verdict is valid.
package enum Verdict {
  /// Returns the present verdict of every region and fuel with a price in effect. Only the body of
  /// `Verdicts.withPricesNow` may call it.
  ///
  /// - Parameter areSharesNeeded: whether the share of stations is looked up whose price has risen.
  static func all(
    _ store: Store, now: Instant, areSharesNeeded: Bool = true
  ) throws -> [MarketVerdict] {
    let known = Dictionary(
      uniqueKeysWithValues: try store.verdicts.regionSeries(days: MarketWalk.mostDays, until: now)
        .map {
          ("\($0.region) \($0.fuelID)", $0)
        })
    var raised: [(region: String, fuelID: Int16, troughOn: Day)] = []
    var records = try store.verdicts.regionsNow().map { market in
      // Where prices are published late, averages are known up to yesterday.
      let record = judge(
        market,
        series: known["\(market.region) \(market.fuelID)"].flatMap {
          DailySeries($0.averages, upTo: market.isLate ? market.day + -1 : market.day)
        }, now: now)
      let judged = record.judgement
      if judged.state == .rising || judged.state == .nearHigh, record.market.isRising == true,
        let trough = record.market.lastTroughOn
      {
        raised.append((market.region, market.fuelID, trough))
      }
      return record
    }
    let shares = areSharesNeeded ? try store.verdicts.sharesRaised(raised) : [:]
    for index in records.indices {
      records[index].shareRaised = shares["\(records[index].region) \(records[index].fuelID)"]
    }
    return records
  }

  // A comparison over a minority of a region's stations shows nothing about the others.
  private static let leastShare = 0.5

  /// Judges one market by what is known now: by tomorrow's prices where enough are known, else by
  /// its past.
  package static func judge(
    _ market: RegionNow, series: DailySeries?, now: Instant
  ) -> MarketVerdict {
    var record = MarketVerdict(
      region: market.region, fuelID: market.fuelID, day: market.day,
      judgement: Judgement(), market: series.map(MarketPosition.init) ?? MarketPosition(),
      today: nil, tomorrow: nil, stations: market.stations, validUntil: market.dayEndsAt,
      series: series)
    if let announced = market.announced, now < announced.at {
      record.validUntil = min(record.validUntil, announced.at)
    }

    var change: Double?
    if let today = market.today, let tomorrow = market.tomorrow,
      let beginsAt = market.tomorrowBeginsAt, market.stationsWithNext >= LeastSample.stations,
      Double(market.stationsWithNext) >= leastShare * Double(market.stations)
    {
      change = ((tomorrow - today) * 100).rounded() / 100
      record.today = today
      record.tomorrow = tomorrow
      record.stations = market.stationsWithNext
      record.validUntil = beginsAt
    }
    record.judgement = MarketWalk(
      series ?? DailySeries(first: market.day, averages: [nil]), isLate: market.isLate
    ).judgement(changeTomorrow: change)
    if record.judgement.basis == .insufficientData {
      if change != nil {
        // Only tomorrow's prices are known, and their change is too small for advice.
        record.judgement.basis = .tomorrowPrice
        record.judgement.rule = "tomorrow"
      } else {
        record.judgement.reason = unknownReason(market, record.judgement.reason, now: now)
      }
    }
    if record.judgement.basis == .tomorrowPrice, let today = record.today,
      let tomorrow = record.tomorrow
    {
      record.judgement.reason = tomorrowReason(
        today, tomorrow, record.judgement.advice, on: market.day + 1)
    }
    return record
  }

  /// The stated difference is that of the two stated prices, which are rounded to tenths of a cent.
  /// The words follow the advice: prices that are the same in tenths may still be advised about. They
  /// name the price day by its weekday: a reason is read later too, and between midnight and six
  /// Perth's next price day is that of the clock.
  private static func tomorrowReason(
    _ today: Double, _ tomorrow: Double, _ advice: Advice, on next: Day
  ) -> String {
    let tenths = abs(Cents.tenths(tomorrow) - Cents.tenths(today))
    let weekday = Judgement.weekdays[next.weekday]
    let size = tenths == 0 ? "slightly" : "\(Cents.text(Double(tenths) / 10)) c/L"
    let words =
      advice == .noDifference
      ? "about the same" : "\(size) \(tomorrow < today ? "cheaper" : "dearer")"
    return "\(weekday) \(words) on average: \(Cents.text(today)) now, \(Cents.text(tomorrow)) then"
  }

  private static func unknownReason(_ market: RegionNow, _ reason: String, now: Instant) -> String {
    if market.stations < LeastSample.stations {
      return "Too few stations here sell it to say anything"
    }
    guard let announced = market.announced else { return reason }
    return now < announced.at
      ? "Tomorrow's prices are published at \(announced.clock)"
      : "Tomorrow's prices of most stations are not known yet"
  }
}

/// A verdict that was given, with what it rests on.
package struct MarketVerdict: Sendable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var judgement: Judgement
  /// Where the market is in its cycle.
  package var market: MarketPosition
  /// The two means that the verdict compares, in cents per litre; `nil`: it compares none.
  package var today: Double?
  package var tomorrow: Double?
  package var stations: Int
  package var validUntil: Instant
  /// The averages that the verdict was judged by.
  package var series: DailySeries?
  /// The share of stations whose price has risen since the last trough; `nil`: the market is not
  /// rising.
  package var shareRaised: Double?

  /// Returns whether the verdict differs enough from the last one of its region and fuel to be
  /// stored. Within a day a verdict does not change for less than a tenth of a cent, and another
  /// reason does not count where the price moved by less than half a cent.
  func differs(from last: LastVerdict?) -> Bool {
    guard let last, last.day == day, last.method == Adviser.verdicts.rawValue,
      last.validUntil == validUntil
    else {
      return true
    }
    let isTomorrow = judgement.basis == .tomorrowPrice
    guard (last.basis == Basis.tomorrowPrice.rawValue) == isTomorrow else { return true }
    let moved = last.average.flatMap { then in
      market.average.map { abs(hundredths(then) - hundredths($0)) }
    }
    if last.verdict != judgement.advice.rawValue, !isTomorrow {
      return moved.map { $0 >= 10 } ?? true
    }
    if last.verdict != judgement.advice.rawValue || last.basis != judgement.basis.rawValue
      || last.rule != judgement.rule || last.today.map(hundredths) != today.map(hundredths)
      || last.tomorrow.map(hundredths) != tomorrow.map(hundredths)
    {
      return true
    }
    if (last.average == nil) != (market.average == nil) { return true }
    return moved.map { $0 >= 50 } ?? (last.reason != judgement.reason)
  }

  private func hundredths(_ cents: Double) -> Int { Int((cents * 100).rounded()) }
}

extension Verdicts {
  /// Stores those verdicts that differ from the last ones.
  ///
  /// - Returns: how many were stored.
  func keep(_ verdicts: [MarketVerdict], now: Instant) throws -> Int {
    try store.transaction {
      let last = Dictionary(
        uniqueKeysWithValues: try lastVerdicts(
          regions: verdicts.map(\.region), fuelIDs: verdicts.map(\.fuelID), now: now
        ).map { ("\($0.region) \($0.fuelID)", $0) })
      let changed = verdicts.filter { $0.differs(from: last["\($0.region) \($0.fuelID)"]) }
      return try keepVerdicts(changed.map(\.row), now: now)
    }
  }
}

// MARK: Rows

extension MarketVerdict {
  /// The columns of `fuel.verdict`.
  fileprivate var row: Columns {
    let before = market.basedOn.flatMap { series?[$0 + -1] }
    let phase = market.isRising.map { $0 ? "rising" : "falling" }
    return [
      "region": region,
      "fuel_id": fuelID,
      "day": day.description,
      "verdict": judgement.advice.rawValue,
      "basis": judgement.basis.rawValue,
      "rule": judgement.rule,
      "method": Adviser.verdicts.rawValue,
      "record_cpl": judgement.record,
      "reason": judgement.reason,
      "today_cpl": today,
      "tomorrow_cpl": tomorrow,
      "stations": stations,
      "expected_saving_cpl": judgement.expectedSaving,
      "confidence": judgement.confidence,
      "valid_until_at": validUntil.description,
      "based_on_day": market.basedOn?.description,
      "average_cpl": market.average,
      "before_cpl": before,
      "change_1d_cpl": market.change,
      "phase": phase,
      "days_in_phase": market.daysInPhase,
      "last_trough_cpl": market.lastTrough,
      "last_peak_cpl": market.lastPeak,
      "market_state": judgement.state?.rawValue,
      "p_cheaper_3d": judgement.chances?.cheaper,
      "p_jump_3d": judgement.chances?.jump,
      "p_lower_5d": judgement.chances?.lower,
      "aim_for_cpl": judgement.aim,
      "expected_low_cpl": judgement.low?.price,
      "expected_low_from_on": judgement.low?.days.lowerBound.description,
      "expected_low_to_on": judgement.low?.days.upperBound.description,
      "share_raised": shareRaised,
    ]
  }

  /// The columns of `fuel.market`.
  var marketRow: Columns {
    let troughOn = market.isCycling ? market.lastTroughOn?.description : nil
    return [
      "region": region, "fuel_id": fuelID, "is_cycling": market.isCycling,
      "trough_on": troughOn, "typical_days": market.typicalDays,
    ]
  }
}

extension Cycle {
  /// The columns of `fuel.cycle`.
  func row(region: String, fuelID: Int16) -> Columns {
    [
      "region": region, "fuel_id": fuelID, "trough_on": troughOn.description, "trough_cpl": trough,
      "peak_on": peakOn.description, "peak_cpl": peak, "ends_on": endsOn.description,
    ]
  }
}
