import Foundation
import FuelModel
import Pipeline
import Store
import Trends

let backtestCommand = Command(
  name: "backtest",
  summary: "Score verdicts on past prices, beside a random day, perfect timing and simple habits.",
  examples: [
    ("bowser backtest", "score the stored history; publishes the scores in verdict_scores"),
    (
      "bowser backtest --prices prices.csv",
      "score a plain file: region,fuel,day,price; no database"
    ),
    ("bowser backtest --prices prices.csv --verdicts -", "print the verdict of every day"),
    ("bowser backtest --json", "scores of the verdicts and of each habit, for programs"),
  ],
  options: [
    .init(
      name: "prices", value: "FILE",
      about: "score the daily prices of a file, not the stored history"),
    .init(name: "verdicts", value: "OUT", about: "with --prices: write the verdict of every day"),
    .init(name: "late", about: "with --prices: as if today's average were not known"),
    .init(name: "tomorrow", about: "with --prices: as if tomorrow's average were known"),
    .init(name: "from", value: "DAY", about: "score from this day on"),
    .init(name: "until", value: "DAY", about: "score up to this day"),
    .init(name: "json", about: "print scores by year and horizon, as one JSON array"),
  ],
  notes: """
    From each day on, a driver buys once: on that day or one of the next five, as the verdicts say. "saved"
    is how much less the driver pays than on a random one of these six days, in c/L; "low" and "high" are
    its 90 % interval. "perfect" is how much less the cheapest of the six days costs than a random one.
    "3 days", "5 days" and "7 days" show the capture, which is saved divided by perfect, of a driver who
    buys within so many days. "n" counts the days that are scored. "wait" and "fill up" are the shares of
    days with that verdict, and "right" after each is the share of them after which the price did, or did
    not, fall by a cent within three days. "flips" are the changes of the verdict in thirty days. "turn" to
    "at-once" show the capture of always following that one habit. Every verdict is computed from averages
    up to its own day. Without --prices, --from and --until, the verdicts that were given are scored too,
    and all scores are published.
    """,
  deadlineSeconds: 7_200
) { invocation in
  for name in ["verdicts", "late", "tomorrow"]
  where invocation.isGiven(name) && !invocation.isGiven("prices") {
    throw UsageError.message("--\(name) needs --prices")
  }
  try invocation.refuse("late", beside: "tomorrow")
  let backtest = Backtest(
    from: try invocation.day("from"), until: try invocation.day("until"))
  if let from = backtest.from, let until = backtest.until, until < from {
    throw UsageError.message("--until is before --from")
  }
  let markets: [Backtest.Market]
  var store: Store?
  if let file = invocation.options["prices"] {
    markets = try PriceFile(file).markets.map {
      Backtest.Market(
        region: $0.region, fuel: $0.fuel, series: $0.series,
        isLate: invocation.flags.contains("late"),
        isTomorrowKnown: invocation.flags.contains("tomorrow"))
    }
    // Standard output holds either verdicts or scores, not both.
    if let out = invocation.options["verdicts"] {
      let text = verdictLines(of: markets)
      guard out != "-" else {
        write(text)
        return .done
      }
      try FileOutput.write(text, to: out)
    }
  } else {
    let opened = try invocation.store(try invocation.settings())
    store = opened
    markets = try storedMarkets(opened, now: try invocation.clock().now())
    if markets.isEmpty {
      writeError(
        "no daily averages are stored yet: load history with bowser backfill, then bowser aggregate"
      )
    }
  }
  let progress = Progress(what: "markets")
  var scores = await backtest.scores(markets, advisers: Adviser.allCases) {
    progress.show($0, of: $1)
  }
  progress.end()
  if let store, backtest.from == nil, backtest.until == nil {
    let now = try invocation.clock().now()
    try store.verdicts.keepScores(scores.flatMap(\.rows), of: .replayed, now: now)
    if let today = try store.verdicts.regionFacts(now: now).values.map(\.today).min() {
      scores += try GivenVerdicts.scores(
        store, method: Adviser.verdicts.rawValue, upTo: today + -1, now: now)
    }
  }
  if invocation.flags.contains("json") {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    write(String(decoding: try encoder.encode(scores.flatMap(\.rows)), as: UTF8.self) + "\n")
  } else {
    for scored in [Scored.replayed, .given] {
      write(scoresTable(scores.filter { $0.scored == scored && $0.year == nil }, scored))
    }
  }
  return .done
}

private func fixed(_ value: Double?, _ digits: Int) -> String {
  value.map { String(format: "%.\(digits)f", $0) } ?? ""
}

/// The verdict of every day, as CSV.
private func verdictLines(of markets: [Backtest.Market]) -> String {
  var text =
    "region,fuel,day,verdict,basis,rule,expected_saving_cpl,confidence,market_state,p_cheaper_3d,p_jump_3d,"
    + "p_lower_5d,aim_for_cpl,expected_low_cpl,expected_low_from_cpl,expected_low_to_cpl,record_cpl,reason\n"
  for market in markets {
    let judgements = MarketWalk(market.series, isLate: market.isLate).judgements(
      isTomorrowKnown: market.isTomorrowKnown)
    for (offset, judgement) in judgements.enumerated() {
      let fields = [
        market.region.asCSVField, market.fuel.asCSVField, "\(market.series.first + offset)",
        judgement.advice.rawValue, judgement.basis.rawValue, judgement.rule ?? "",
        fixed(judgement.expectedSaving, 2), fixed(judgement.confidence, 3),
        judgement.state?.rawValue ?? "", fixed(judgement.chances?.cheaper, 3),
        fixed(judgement.chances?.jump, 3), fixed(judgement.chances?.lower, 3),
        fixed(judgement.aim, 1), fixed(judgement.low?.price, 1),
        fixed(judgement.low?.bounds.lowerBound, 1), fixed(judgement.low?.bounds.upperBound, 1),
        fixed(judgement.record, 2), judgement.reason.asCSVField,
      ]
      text += fields.joined(separator: ",") + "\n"
    }
  }
  return text
}

// MARK: Scores

/// A table with one line for each market, and a summary of all markets. Empty if no given verdict
/// was scored yet.
private func scoresTable(_ scores: [MarketScore], _ scored: Scored) -> String {
  let method = Adviser.verdicts.rawValue
  let habits = Adviser.habits.map(\.rawValue)
  let own = scores.filter { $0.method == method }
  if own.isEmpty, scored == .given { return "" }
  let kind = scored == .given ? "as they were given" : "replayed over past prices"
  var text =
    "Verdicts of \(method) \(kind). In c/L, within \(Score.headline) days, with the 90 % interval of saved. "
    + "Under each number of days and habit: its capture.\n\n"
  let width = max(16, (own.map(\.region.count).max() ?? 0) + 2)
  text += padded("region", width) + padded("fuel", 6) + leftPadded("n", 6)
  for name in ["perfect", "saved", "low", "high"] { text += leftPadded(name, 8) }
  for horizon in Score.horizons { text += leftPadded("\(horizon) days", 11) }
  for name in ["wait", "right", "fill up", "right", "flips"] { text += leftPadded(name, 9) }
  for name in habits { text += leftPadded(name, max(12, name.count + 2)) }
  text += "\n"
  for market in own {
    text += padded(market.region, width) + padded(market.fuel, 6) + scoreColumns(market.score)
    for name in habits {
      let habit = scores.first {
        $0.method == name && $0.region == market.region && $0.fuel == market.fuel
      }
      text += leftPadded(
        market.score.isQuiet ? "" : fixed(habit?.score.headline?.capture, 2),
        max(12, name.count + 2))
    }
    text += "\n"
  }
  return text + "\n" + scoresSummary(own.map(\.score)) + "\n"
}

private func percent(_ value: Double?) -> String {
  value.map { "\(Int(($0 * 100).rounded())) %" } ?? "-"
}

private func scoreColumns(_ score: Score) -> String {
  let headline = score.headline
  var text = leftPadded("\(headline?.n ?? 0)", 6)
  for value in [
    headline?.perfect, headline?.saving, headline?.interval.lowerBound,
    headline?.interval.upperBound,
  ] { text += leftPadded(fixed(value, 2), 8) }
  if headline == nil {
    text += leftPadded("too short to be scored", 11 * Score.horizons.count)
  } else if score.isQuiet {
    text += leftPadded(
      "quiet: \(percent(score.share(of: .noDifference))) no difference", 11 * Score.horizons.count)
  } else {
    for horizon in Score.horizons { text += leftPadded(fixed(score[horizon]?.capture, 2), 11) }
  }
  for advice in [Advice.wait, .fillUp] {
    text += leftPadded(percent(score.share(of: advice)), 9)
    text += leftPadded(percent(score.rightShare(of: advice)), 9)
  }
  return text + leftPadded(fixed(score.flipsPerMonth, 1), 9)
}

/// Two sentences on all markets: those that move, and those that are quiet.
private func scoresSummary(_ scores: [Score]) -> String {
  let scored = scores.filter { $0.headline != nil }
  let (moving, quiet) = (scored.filter { !$0.isQuiet }, scored.filter(\.isQuiet))
  func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
  var text = ""
  if !moving.isEmpty {
    text +=
      "\(moving.count) \(moving.count == 1 ? "market that moves" : "markets that move"): "
      + "mean capture \(fixed(mean(moving.compactMap(\.headline?.capture)), 3)).\n"
  }
  if !quiet.isEmpty {
    text +=
      "\(quiet.count) quiet \(quiet.count == 1 ? "market" : "markets"): "
      + "\(percent(mean(quiet.compactMap { $0.share(of: .noDifference) }))) of days no "
      + "difference, saved \(fixed(mean(quiet.compactMap(\.headline?.saving)), 3)) c/L.\n"
  }
  return text
}
