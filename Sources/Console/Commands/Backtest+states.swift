import Foundation
import Pipeline
import Trends

/// A table of how often the states of all markets were those of hindsight, and how late they were
/// recognised. Empty if no day was scored, for instance since the method determines no state.
func statesTable(_ rows: [MarketScore], method: String) -> String {
  let scores = rows.filter { $0.method == method && $0.year == nil }.compactMap(\.states)
  let sum = scores.reduce(StateScore(), +)
  guard let right = sum.right.value else { return "" }
  func percent(_ share: Score.Share) -> String {
    share.value.map { "\(Int(($0 * 100).rounded())) %" } ?? "-"
  }
  var text =
    "\nStates of the market beside hindsight (docs/verdicts.md): the same on "
    + "\(Int((right * 100).rounded())) % of \(sum.right.of) days.\n"
    + "days: how many days have the state in hindsight. found: how many of these were told so.\n"
    + "right: how many of the days that were told so have the state in hindsight.\n"
    + "begins: how often the state begins in hindsight. told: how often it was told before it ended.\n"
    + "late: the median of the days from its beginning until it was told.\n\n"
  text += padded("state", 12)
  for name in ["days", "right", "found", "begins", "told", "late"] { text += leftPadded(name, 9) }
  text += "\n"
  for state in MarketState.allCases {
    let recognised = sum.recognised(state)
    text += padded(state.rawValue, 12)
    for value in [
      "\(sum.recall(state).of)", percent(sum.precision(state)), percent(sum.recall(state)),
      "\(recognised.of)", percent(recognised),
      sum.daysLate(state).map { String(format: "%.1f", $0) } ?? "-",
    ] { text += leftPadded(value, 9) }
    text += "\n"
  }
  return text
}

/// The same of one market, as a JSON object; null where the method determines no state.
func statesObject(_ score: StateScore?) -> Any {
  guard let score else { return NSNull() }
  func number(_ value: Double?, _ digits: Int) -> Any {
    guard let value else { return NSNull() }
    return NSDecimalNumber(string: String(format: "%.\(digits)f", value))
  }
  let states = MarketState.allCases.map { state -> [String: Any] in
    [
      "state": state.rawValue, "days": score.recall(state).of,
      "precision": number(score.precision(state).value, 3),
      "recall": number(score.recall(state).value, 3), "begins": score.recognised(state).of,
      "told": score.recognised(state).count, "days_late": number(score.daysLate(state), 1),
    ]
  }
  let object: [String: Any] = [
    "days": score.right.of, "right": number(score.right.value, 3), "by_state": states,
  ]
  return object
}
