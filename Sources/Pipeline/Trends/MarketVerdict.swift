package import FuelModel
import Store
package import Trends

/// A verdict that was given, with what it rests on.
package struct MarketVerdict: Sendable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var judgement: Judgement
  package var method: String
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
    guard let last, last.day == day, last.method == method, last.validUntil == validUntil else {
      return true
    }
    let isTomorrow = judgement.basis == .tomorrowPrice
    guard (last.basis == Basis.tomorrowPrice.rawValue) == isTomorrow else { return true }
    let moved = last.average.flatMap { then in
      judgement.market.average.map { abs(hundredths(then) - hundredths($0)) }
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

/// Completed cycles of a region and fuel, oldest first.
struct MarketCycles {
  var region: String
  var fuelID: Int16
  var cycles: [Cycle]
}

/// The cycles of the whole stored histories of some fuels; `nil`: of all fuels.
struct PastCycles {
  var fuelIDs: [Int16]?
  var markets: [MarketCycles] = []
}

extension Store {
  /// Stores those verdicts that differ from the last ones.
  ///
  /// - Returns: how many were stored.
  func keep(_ verdicts: [MarketVerdict], now: Instant) throws -> Int {
    try transaction {
      let last = Dictionary(
        uniqueKeysWithValues: try lastVerdicts(
          regions: verdicts.map(\.region), fuelIDs: verdicts.map(\.fuelID), now: now
        ).map { ("\($0.region) \($0.fuelID)", $0) })
      let changed = verdicts.filter { $0.differs(from: last["\($0.region) \($0.fuelID)"]) }
      try keepModels(changed.compactMap(ModelRow.init))
      return try keepVerdicts(changed.map(VerdictRow.init), now: now)
    }
  }

  /// Stores the state of every market and its completed cycles: the last five of a market that
  /// cycles now, and those of the past.
  ///
  /// - Parameter past: the cycles of stored histories. Those of other fuels remain.
  func keepMarkets(_ verdicts: [MarketVerdict], past: PastCycles) throws {
    let newest = verdicts.filter { $0.judgement.market.isCycling }.map { verdict in
      MarketCycles(
        region: verdict.region, fuelID: verdict.fuelID,
        cycles: Array(verdict.judgement.market.cycles.filter { $0.endsOn != nil }.suffix(5)))
    }
    // What the last averages show counts where the two differ, because the reasons state it.
    var begins: [String: Day] = [:]
    for market in newest {
      begins["\(market.region) \(market.fuelID)"] = market.cycles.first?.troughOn
    }
    let earlier = past.markets.map { market -> MarketCycles in
      var kept = market
      if let begin = begins["\(market.region) \(market.fuelID)"] {
        kept.cycles.removeAll { cycle in cycle.endsOn.map { $0 > begin } ?? true }
      }
      return kept
    }
    try keepMarkets(
      verdicts.map(MarketRow.init),
      cycles: (earlier + newest).flatMap { market in
        market.cycles.map { CycleRow(market, $0) }
      }, allOf: past.fuelIDs)
  }

  /// Stores the scores of a backtest in place of those of the last backtest.
  package func keepScores(_ scores: [MarketScore], now: Instant) throws {
    try keepScores(scores.map(ScoreRow.init), now: now)
  }
}

// MARK: Rows, with one property for each column

private struct VerdictRow: Encodable {
  let region: String
  let fuelId: Int16
  let day: String
  let verdict: String
  let basis: String
  let rule: String?
  let method: String
  let recordCpl: Double?
  let reason: String
  let todayCpl: Double?
  let tomorrowCpl: Double?
  let stations: Int
  let expectedSavingCpl: Double?
  let confidence: Double?
  let validUntilAt: String
  let basedOnDay: String?
  let averageCpl: Double?
  let beforeCpl: Double?
  let changeCpl: Double?
  let phase: String?
  let daysInPhase: Int?
  let lastTroughCpl: Double?
  let lastPeakCpl: Double?
  let marketState: String?
  let pCheaper3d: Double?
  let pJump3d: Double?
  let aimForCpl: Double?
  let expectedLowCpl: Double?
  let expectedLowFromOn: String?
  let expectedLowToOn: String?
  let shareRaised: Double?
  let stationWaitsFromCpl: Double?
  let stationFillsUpUntilCpl: Double?

  // The standard conversion would write `p_cheaper3d`.
  enum CodingKeys: String, CodingKey {
    case region, fuelId, day, verdict, basis, rule, method, recordCpl, reason, todayCpl, tomorrowCpl
    case stations, expectedSavingCpl, confidence, validUntilAt, basedOnDay, averageCpl, beforeCpl
    case changeCpl, phase, daysInPhase, lastTroughCpl, lastPeakCpl, marketState
    case pCheaper3d = "p_cheaper_3d"
    case pJump3d = "p_jump_3d"
    case aimForCpl, expectedLowCpl, expectedLowFromOn, expectedLowToOn, shareRaised
    case stationWaitsFromCpl, stationFillsUpUntilCpl
  }

  init(_ given: MarketVerdict) {
    let judgement = given.judgement
    let market = judgement.market
    region = given.region
    fuelId = given.fuelID
    day = given.day.description
    verdict = judgement.advice.rawValue
    basis = judgement.basis.rawValue
    rule = judgement.rule
    method = given.method
    recordCpl = judgement.record
    reason = judgement.reason
    todayCpl = given.today
    tomorrowCpl = given.tomorrow
    stations = given.stations
    expectedSavingCpl = judgement.expectedSaving
    confidence = judgement.confidence
    validUntilAt = given.validUntil.description
    basedOnDay = market.basedOn?.description
    averageCpl = market.average
    beforeCpl = market.basedOn.flatMap { given.series?[$0 + -1] }
    changeCpl = market.change
    phase = market.isRising.map { $0 ? "rising" : "falling" }
    daysInPhase = market.daysInPhase
    lastTroughCpl = market.lastTrough
    lastPeakCpl = market.lastPeak
    marketState = judgement.state?.rawValue
    pCheaper3d = judgement.cheaper
    pJump3d = judgement.jump
    aimForCpl = judgement.aim
    expectedLowCpl = judgement.low?.price
    expectedLowFromOn = judgement.low?.from.description
    expectedLowToOn = judgement.low?.to.description
    shareRaised = given.shareRaised
    let limits = StationVerdict.limits(of: judgement.advice, rule: judgement.rule)
    stationWaitsFromCpl = limits.waitFrom
    stationFillsUpUntilCpl = limits.fillUpUntil
  }
}

private struct ModelRow: Encodable {
  let region: String
  let fuelId: Int16
  let method: String
  let fittedOn: String
  let cheaper: [Double]
  let jump: [Double]

  init?(_ given: MarketVerdict) {
    guard let models = given.judgement.models else { return nil }
    region = given.region
    fuelId = given.fuelID
    method = given.method
    fittedOn = models.fittedOn.description
    cheaper = models.cheaper.coefficients
    jump = models.jump.coefficients
  }
}

private struct MarketRow: Encodable {
  let region: String
  let fuelId: Int16
  let isCycling: Bool
  let troughOn: String?
  let typicalDays: Int?

  init(_ given: MarketVerdict) {
    let market = given.judgement.market
    region = given.region
    fuelId = given.fuelID
    isCycling = market.isCycling
    troughOn = market.isCycling ? market.lastTroughOn?.description : nil
    typicalDays = market.typicalDays
  }
}

private struct CycleRow: Encodable {
  let region: String
  let fuelId: Int16
  let troughOn: String
  let troughCpl: Double
  let peakOn: String
  let peakCpl: Double
  let endsOn: String?

  init(_ market: MarketCycles, _ cycle: Cycle) {
    region = market.region
    fuelId = market.fuelID
    troughOn = cycle.troughOn.description
    troughCpl = cycle.trough
    peakOn = cycle.peakOn.description
    peakCpl = cycle.peak
    endsOn = cycle.endsOn?.description
  }
}

/// The columns of `MarketScore.columns`, and those that identify the row.
private struct ScoreRow: Encodable {
  let row: MarketScore

  init(_ row: MarketScore) { self.row = row }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    func key(_ name: String) -> Key { Key(stringValue: name) }
    try object.encode(row.method, forKey: key("method"))
    try object.encode(row.region, forKey: key("region"))
    try object.encode(row.fuel, forKey: key("fuel"))
    try object.encode(row.year, forKey: key("year"))
    try object.encode(row.from.description, forKey: key("from_day"))
    try object.encode(row.until.description, forKey: key("until_day"))
    for column in MarketScore.columns {
      try object.encode(column.value(row.score), forKey: key(column.name))
    }
  }
}
