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
