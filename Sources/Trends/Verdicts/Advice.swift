package import FuelModel

/// The advice to drivers.
package enum Advice: String, Sendable {
  case fillUp = "fill_up"
  case wait
  case noDifference = "no_difference"
}

/// The kind of knowledge on which a verdict is based.
package enum Basis: String, Sendable {
  case tomorrowPrice = "tomorrow_price"
  case priceCycle = "price_cycle"
  case priceTrend = "price_trend"
  case notCycling = "not_cycling"
  case insufficientData = "insufficient_data"
}

/// What a market is doing, in a driver's terms. It is determined from averages up to today only.
package enum MarketState: String, Sendable {
  /// Timing saves next to nothing in this market.
  case quiet
  case falling
  /// Within two cents of the lowest price of six weeks, and hardly falling.
  case nearLow = "near_low"
  case rising
  /// A rise has nearly stopped near its top.
  case nearHigh = "near_high"
  /// Prices have left the range of the last four months, so that the past is no guide.
  case shock
}

/// A simple rule of when to buy. Its advice for a day rests on the averages up to that day.
enum Habit: String, CaseIterable {
  /// Waits while the price falls, and when a rise has nearly stopped near the top.
  case turn
  /// Waits while the last step and the last three days together point down.
  case slope
  /// Buys on the weekday that is cheapest in comparison with the week around it.
  case weekday
  /// Buys unless the price fell since the day before.
  case plain

  /// By how much its capture must exceed that of `turn` before it leads. The weekday leads by far where
  /// a week has a cheapest day. The look at the top, all that `turn` adds to `plain`, has to earn it.
  var handicap: Double {
    switch self {
    case .turn, .slope: 0
    case .weekday: 0.3
    case .plain: 0.05
    }
  }
}

/// Whose advice is scored. The id of the verdicts changes with every change of the rules, so that
/// verdicts of different rules can be distinguished.
package enum Adviser: String, Sendable, CaseIterable {
  case verdicts = "best-habit-1"
  case turn, slope, weekday, plain
  case atOnce = "at-once"

  package static let habits = Array(allCases.dropFirst())
}

/// The verdict of one region, fuel and day, with its reasons. Amounts are in cents per litre.
package struct Judgement: Sendable, Equatable {
  package var advice = Advice.noDifference
  package var basis = Basis.insufficientData
  /// The habit that gave the advice, or `tomorrow`; `nil`: none did.
  package var rule: String?
  /// What following the verdicts saved over the latest sixty windows, where data are late what it
  /// would have saved on time; `nil` if too few are known.
  package var record: Double?
  /// What following this verdict should save, in comparison with a random one of the six days from
  /// today on, or by tomorrow's price the difference to it. `nil`: it was given too seldom.
  package var expectedSaving: Double?
  package var chances: Chances?
  /// The reason in words for drivers.
  package var reason = "Too little is known of prices here to advise"
  /// `nil`: too little is known.
  package var state: MarketState?
  /// A price worth stopping for.
  package var aim: Double?
  /// The lowest price of the next five days. `nil`: there is nothing to wait for.
  package var low: Low?

  /// A guess of a low and of its days. Half of the lows are expected between the bounds.
  package struct Low: Sendable, Equatable {
    package var price: Double
    package var bounds: ClosedRange<Double>
    package var days: ClosedRange<Day>
  }

  package init() {}

  /// How likely the verdict is to be right, from 0 to 1: the chance of a lower price for `wait`, and
  /// of none for `fill_up`.
  package var confidence: Double? {
    switch advice {
    case .wait: chances?.lower
    case .fillUp: chances.map { 1 - $0.lower }
    case .noDifference: nil
    }
  }
}
