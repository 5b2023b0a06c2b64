import FuelModel

#if canImport(Glibc)
  import Glibc
#endif

/// Four simple rules, of which the one with the best record gives the verdict, corrected by the
/// chance of a fall today.
///
/// - weekday: buy on the weekday that was the cheapest over eight weeks; cycle: wait while the price
///   falls, and near the top of a rise, since a fall will soon follow; trend: wait while the price is
///   lower than three days ago, or a rise has turned; direction: wait while the price falls from day
///   to day.
/// - Where prices cycle, the cycle rule has a head start. In a shock, when prices leave the range
///   of four months, it has none.
/// - Two models of eight numbers give the chance of a price lower by one cent, and of a price
///   higher by three cents, within three days. In a market that cycles, the first chance overrules
///   every rule but weekday where it is very low or high. Near the low, waiting needs at least a
///   fair chance.
/// - If even the best rule saves next to nothing, the verdict is that there is no difference.
///
/// A verdict is a pure function of 393 to 399 daily averages up to its day. docs/verdicts.md
/// reports how good the verdicts are, and how many ideas were tried.
///
/// Sources: the petrol price cycles of the large cities,
/// https://www.accc.gov.au/consumers/petrol-and-fuel/petrol-price-cycles-in-the-5-largest-cities;
/// prices fixed for a day and published the day before, https://www.fuelwatch.wa.gov.au.
package struct TurningPoint: VerdictMethod {
  package let id = "turning-point-1"

  package init() {}

  // The walk begins at the boundary of a week, so that all days of a week share the walk and the
  // models.
  private static let walkDays = 393
  // Where prices cycle, a chance of a fall below the first number makes the verdict `fill_up`, and
  // one above the second makes it `wait`, unless the rule is weekday.
  private static let (leastChance, mostChance) = (0.1, 0.7)
  // A falling price at most this many c/L above the last low is near the low. Then waiting needs
  // the chance below.
  static let nearLow = 2.0
  private static let chanceNearLow = 0.4
  // A market that does not cycle, and whose rules saved less than this many c/L, gets advice only
  // on a day on which a move is likely by the numbers below.
  private static let strong = 1.2
  private static let (clearChance, clearRise) = (0.5, 0.5)
  // A change of this many c/L that is published for tomorrow decides in a quiet market too, because
  // it is no forecast.
  private static let certainFrom = 0.8
  private static let carriedDays = 3

  package func judge(_ input: VerdictInput) -> Judgement {
    let known = input.series.count - 1
    let (begin, anchor) = Self.week(of: known, input.series)
    let walk = MarketWalk(input.series.from(begin), isLate: input.isLate)
    let models = walk.models(on: anchor - begin)
    var judgement = Day(
      walk: walk, known: known - begin, models: models, marketName: input.marketName
    ).judgement(changeTomorrow: input.changeTomorrow)
    let (cheaper, jump) = models
    judgement.models = .init(
      fittedOn: input.series.first + anchor, cheaper: cheaper, jump: jump)
    judgement.market = MarketPosition(input.series)
    return judgement
  }

  /// All days of a week share one walk and one fit. The verdicts are the same as those of `judge`,
  /// but lack `models` and `market`.
  package func judgements(of past: Past) -> [Judgement] {
    let series = past.series
    var (begin, anchor) = (-1, Int.min)
    var walk = MarketWalk(DailySeries(first: series.first, averages: []), isLate: past.isLate)
    var models = walk.models(on: -1)
    return series.averages.indices.map { today in
      let known = past.isLate ? today - 1 : today
      guard known >= 0 else { return Self.unknown(in: past.marketName) }
      let week = Self.week(of: known, series)
      if week.begin != begin {
        begin = week.begin
        let end = min(series.count, begin == 0 ? Self.walkDays + 7 : week.anchor + 7)
        walk = MarketWalk(series.upTo(end - 1, atMost: end - begin), isLate: past.isLate)
      }
      if week.anchor != anchor {
        anchor = week.anchor
        models = walk.models(on: anchor - begin)
      }
      return Day(
        walk: walk, known: known - begin, models: models, marketName: past.marketName
      ).judgement(changeTomorrow: past.changeTomorrow(today))
    }
  }

  static func unknown(in marketName: String) -> Judgement {
    var judgement = Judgement(advice: .noDifference, basis: .insufficientData)
    judgement.reason =
      "Too little is known of prices \(marketName.isEmpty ? "here" : "in \(marketName)") to advise"
    return judgement
  }

  /// Returns where the walk for a day begins, and the day up to which the models are fitted: the
  /// day itself if it is a Thursday, otherwise the Thursday before it.
  private static func week(of known: Int, _ series: DailySeries) -> (begin: Int, anchor: Int) {
    let number = series.first.sinceEpoch + known
    // No market has days before 1970, so the remainder is never negative.
    let anchor = known - number % 7
    return (max(0, anchor + 1 - walkDays), anchor)
  }

  /// The verdict of one day. With late data, the verdict is for the day after the last known
  /// average.
  struct Day {
    let walk: MarketWalk
    let known: Int
    let models: (cheaper: ChanceModel, jump: ChanceModel)
    let marketName: String

    /// The name of the market as it appears in a sentence.
    var there: String { marketName.isEmpty ? "here" : "in \(marketName)" }
    var today: FuelModel.Day { walk.series.first + (known + walk.lag) }

    func judgement(changeTomorrow: Double?) -> Judgement {
      var judgement = judgementWithoutTomorrow()
      guard let change = changeTomorrow, let call = Advice(changeTomorrow: change) else {
        return judgement
      }
      let record = walk.records.record(
        of: MarketWalk.Rule.tomorrow.rawValue, on: known, windows: 60, least: 20)
      let choice = walk.choices[known]
      // A quiet market remains quiet when tomorrow's prices are known.
      guard
        choice.strongest == nil || choice.getsAdvice || (record ?? 0) >= 0.8
          || abs(change) >= certainFrom
      else { return judgement }
      judgement.advice = call
      judgement.basis = .tomorrowPrice
      judgement.rule = "tomorrow"
      judgement.record = record.map { rounded($0, 2) }
      judgement.expectedSaving = rounded(abs(change), 2)
      judgement.confidence = judgement.cheaper.map { call == .fillUp ? rounded(1 - $0, 3) : $0 }
      if call == .wait, change <= -1 { judgement.confidence = 1 }
      let low = judgement.low
      (judgement.aim, judgement.low) = (nil, nil)
      if let price = walk.series.averages[known] {
        let next = price + change
        judgement.aim = rounded(call == .wait ? next : price, 1)
        if call == .wait {
          judgement.low = .init(
            price: rounded(min(low?.price ?? next, next), 1), from: low?.from ?? today + 1,
            to: low?.to ?? today + 1)
        }
      }
      judgement.reason = tomorrowReason(change)
      return judgement
    }

    /// The verdict without knowledge of tomorrow's prices.
    private func judgementWithoutTomorrow() -> Judgement {
      var judgement = TurningPoint.unknown(in: marketName)
      let choice = walk.choices[known]
      judgement.record = choice.strongest.map { rounded($0, 2) }
      guard let last = walk.series.averages[...known].lastIndex(where: { $0 != nil }),
        known - last <= carriedDays, let moment = walk.moments[last],
        let price = walk.series.averages[last], let numbers = moment.cheaperNumbers,
        let jumpNumbers = moment.jumpNumbers
      else { return judgement }
      let cheaper = rounded(models.cheaper.chance(numbers), 3)
      let jump = rounded(models.jump.chance(jumpNumbers), 3)
      (judgement.cheaper, judgement.jump) = (cheaper, jump)
      guard let rule = choice.rule, let record = choice.record, let strongest = choice.strongest,
        var call = walk.calls[rule.rawValue][known + walk.lag]
      else { return judgement }
      let isCycling = walk.isCycling[known]
      let isNearLow =
        choice.getsAdvice && rule != .weekday && isCycling && isNearTrough(price, moment)
      if choice.getsAdvice, rule != .weekday, isCycling {
        call = corrected(call, isNearLow: isNearLow, cheaper: cheaper)
      }
      judgement.state = state(
        choice, call, moment, price, last,
        isNearLow: isNearLow && !(call == .wait && cheaper > mostChance))
      guard choice.getsAdvice else {
        judgement.basis = .notCycling
        judgement.reason = quietReason(strongest)
        return judgement
      }
      judgement.rule = "\(rule)"
      let isClear =
        call == .wait ? cheaper >= clearChance : moment.up >= clearRise || jump >= clearChance
      guard rule == .weekday || isCycling || strongest >= strong || isClear else {
        judgement.basis = .priceTrend
        judgement.reason = "Prices \(there) show no direction clear enough to advise today"
        return judgement
      }
      judgement.advice = call
      judgement.record = rounded(record, 2)
      judgement.basis =
        rule == .weekday || (rule == .cycle && isCycling) ? .priceCycle : .priceTrend
      judgement.confidence = rounded(call == .wait ? cheaper : 1 - cheaper, 3)
      let saving = expectedSaving(last, rule, call, call == .wait ? cheaper : jump)
      judgement.expectedSaving = rounded(max(saving, 0), 2)
      (judgement.aim, judgement.low) = ahead(
        last, moment, rule, call, price, saving: saving, isCycling: isCycling)
      judgement.reason = reason(judgement, last, moment, rule, isCycling: isCycling)
      return judgement
    }

    private func isNearTrough(_ price: Double, _ moment: MarketWalk.Moment) -> Bool {
      guard moment.isRising == false, let trough = moment.trough else { return false }
      return price <= trough + nearLow
    }

    /// The advice of a rule in a market that cycles, unless the chance that prices fall says
    /// otherwise.
    private func corrected(_ call: Advice, isNearLow: Bool, cheaper: Double) -> Advice {
      if cheaper < leastChance { return .fillUp }
      if cheaper > mostChance { return .wait }
      return isNearLow && cheaper < chanceNearLow ? .fillUp : call
    }

    private func state(
      _ choice: MarketWalk.Choice, _ call: Advice, _ moment: MarketWalk.Moment, _ price: Double,
      _ last: Int, isNearLow: Bool
    ) -> MarketState {
      let step = walk.steps[last] ?? 0
      guard choice.getsAdvice else { return .quiet }
      if walk.isShocked[known] { return .shock }
      if choice.rule == .weekday {
        return call == .fillUp ? .nearLow : step >= 3 ? .nearHigh : .falling
      }
      guard let isRising = moment.isRising, let extreme = moment.extreme else {
        return step >= 0 ? .rising : .falling
      }
      guard !isRising else {
        let hasTurned = extreme.price > price && step < 0
        if hasTurned, last - extreme.index > 2 || price < extreme.price - 3 { return .falling }
        return moment.isNearTop || hasTurned || call == .wait ? .nearHigh : .rising
      }
      let above = price - extreme.price
      if isNearLow || (call == .fillUp && above <= 2) { return .nearLow }
      return above > 2 && step >= 0 ? .rising : .falling
    }
  }
}

/// Rounds half away from zero.
func rounded(_ value: Double, _ digits: Int) -> Double {
  let scale = [1.0, 10, 100, 1_000][digits]
  return (value * scale).rounded() / scale
}

extension DailySeries {
  /// The part of the series from an index on.
  func from(_ index: Int) -> DailySeries {
    index == 0 ? self : DailySeries(first: first + index, averages: Array(averages[index...]))
  }
}
