package import FuelModel
import Store
package import Trends

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
