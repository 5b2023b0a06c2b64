/// A habit that needs little thought. Verdicts must be better than these.
package struct Baseline: VerdictMethod {
  package let id: String
  private let call: @Sendable (VerdictInput) -> Advice?

  package func judge(_ input: VerdictInput) -> Judgement {
    guard let advice = call(input) else {
      return Judgement(advice: .noDifference, basis: .insufficientData)
    }
    return Judgement(advice: advice, basis: .priceTrend, rule: id)
  }

  /// Buys if the price has not fallen since the day before.
  package static let direction = Baseline(id: "direction") { input in
    input.series.step(input.series.count - 1).map { $0 < 0 ? .wait : .fillUp }
  }

  /// Buys on the weekday that was the cheapest over eight weeks. With late data the series ends
  /// yesterday, but the weekday that counts is today's.
  package static let weekday = Baseline(id: "cheapest-weekday") { input in
    let series = input.series
    let today = series.count - 1 + (input.isLate ? 1 : 0)
    return (series.cheapestWeekdays().last ?? nil).map {
      $0 == series.weekday(today) ? .fillUp : .wait
    }
  }

  /// Buys if the price is below the mean of thirty days.
  package static let monthMean = Baseline(id: "month-mean") { input in
    let month = input.series.averages.suffix(30).compactMap { $0 }
    guard let price = input.series.averages.last ?? nil, month.count >= 15 else { return nil }
    return price < month.reduce(0, +) / Double(month.count) ? .fillUp : .wait
  }
}
