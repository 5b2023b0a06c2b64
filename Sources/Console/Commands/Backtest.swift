import Foundation
import FuelModel
import Pipeline
import Store
import Trends

let backtestCommand = Command(
  name: "backtest",
  summary: "Score the verdicts on past prices, beside a random day, hindsight and simple habits.",
  operands: "",
  examples: [
    ("bowser backtest", "score the stored history; publishes the scores in fill_up_scores"),
    (
      "bowser backtest --prices prices.csv",
      "score a plain file: region,fuel,day,price; no database"
    ),
    ("bowser backtest --prices prices.csv --verdicts -", "print the verdict of every day"),
    ("bowser backtest --method direction --json", "a habit in place of the verdicts, for programs"),
  ],
  options: [
    .init(
      name: "prices", value: "FILE",
      about: "score the daily prices of a file, not the stored history"),
    .init(name: "verdicts", value: "OUT", about: "with --prices: write the verdict of every day"),
    .init(name: "method", value: "ID", about: "score a habit in place of the verdicts"),
    .init(name: "late", value: nil, about: "with --prices: as if today's average were not known"),
    .init(
      name: "tomorrow", value: nil, about: "with --prices: as if tomorrow's average were known"),
    .init(name: "from", value: "DAY", about: "score from this day on"),
    .init(name: "until", value: "DAY", about: "score up to this day"),
    .init(name: "json", value: nil, about: "print scores by year, as one JSON array"),
  ],
  notes: """
    From each day on, a driver buys once: on that day or one of the next five, as the verdicts choose.
    "saved" is how far the price of that day is below the price of a random one of these six days.
    "perfect" is how far the price of the cheapest day is below it. "capture" is saved divided by perfect.
    Every verdict is computed from averages up to its own day. Below the scores, the states of the market
    are compared with what hindsight says of the same days.
    """,
  deadlineSeconds: 7_200
) { invocation in
  try checkOptions(of: invocation)
  let method = try verdictMethod(invocation.options["method"])
  let backtest = Backtest(
    from: try invocation.day("from"), until: try invocation.day("until"))
  if let from = backtest.from, let until = backtest.until, until < from {
    throw UsageError.message("--until is before --from")
  }
  let markets: [Backtest.Market]
  var store: Store?
  if let file = invocation.options["prices"] {
    markets = try fileMarkets(file, invocation)
    // Standard output holds either verdicts or scores, not both.
    if let out = invocation.options["verdicts"] {
      try writeVerdicts(of: markets, by: method, to: out)
      if out == "-" { return .done }
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
  let baselines = VerdictMethods.baselines.filter { $0.id != method.id }
  let rows = await backtest.rows(markets, methods: [method] + baselines) {
    progress.show($0, of: $1)
  }
  progress.end()
  if let store, method.id == VerdictMethods.running.id, backtest.from == nil, backtest.until == nil
  {
    try store.keepScores(rows, now: try invocation.clock().now())
  }
  if invocation.flags.contains("json") {
    write(try scoresJSON(rows))
  } else {
    write(scoresTable(rows, method: method.id, baselines: baselines.map(\.id)))
    write(statesTable(rows, method: method.id))
    if let store { write(givenTable(try store.givenRecords(method: method.id, horizon: 5))) }
  }
  return .done
}

private func checkOptions(of invocation: Invocation) throws {
  if invocation.options["prices"] == nil {
    if invocation.options["verdicts"] != nil {
      throw UsageError.message("--verdicts needs --prices")
    }
    for name in ["late", "tomorrow"] where invocation.flags.contains(name) {
      throw UsageError.message("--\(name) needs --prices")
    }
  }
  try invocation.refuse("late", beside: "tomorrow")
}

private func fileMarkets(
  _ file: String, _ invocation: Invocation
) throws -> [Backtest.Market] {
  try PriceFile(file).markets.map {
    Backtest.Market(
      region: $0.region, fuel: $0.fuel, series: $0.series,
      isLate: invocation.flags.contains("late"),
      isTomorrowKnown: invocation.flags.contains("tomorrow"))
  }
}

private func verdictMethod(_ id: String?) throws -> any VerdictMethod {
  guard let id else { return VerdictMethods.running }
  guard let method = VerdictMethods.all.first(where: { $0.id == id }) else {
    throw UsageError.unknown("method", id, among: VerdictMethods.all.map(\.id))
  }
  return method
}

/// Writes to a file, or to standard output if the path is `-`.
private func put(_ text: String, to path: String) throws {
  if path == "-" {
    write(text)
  } else {
    try FileOutput.write(text, to: path)
  }
}

private func fixed(_ value: Double?, _ digits: Int) -> String {
  value.map { String(format: "%.\(digits)f", $0) } ?? ""
}

private func writeVerdicts(
  of markets: [Backtest.Market], by method: any VerdictMethod, to path: String
) throws {
  var text =
    "region,fuel,day,verdict,basis,rule,expected_saving_cpl,confidence,market_state,p_cheaper_3d,p_jump_3d,"
    + "aim_for_cpl,expected_low_cpl,expected_low_from_on,expected_low_to_on,record_cpl,reason\n"
  for market in markets {
    for (offset, judgement) in Backtest.judgements(of: market, by: method).enumerated() {
      let fields = [
        market.region.asCSVField, market.fuel.asCSVField, "\(market.series.first + offset)",
        judgement.advice.rawValue, judgement.basis.rawValue, judgement.rule ?? "",
        fixed(judgement.expectedSaving, 2), fixed(judgement.confidence, 3),
        judgement.state?.rawValue ?? "", fixed(judgement.cheaper, 3), fixed(judgement.jump, 3),
        fixed(judgement.aim, 1), fixed(judgement.low?.price, 1),
        judgement.low.map { "\($0.from)" } ?? "", judgement.low.map { "\($0.to)" } ?? "",
        fixed(judgement.record, 2), judgement.reason.asCSVField,
      ]
      text += fields.joined(separator: ",") + "\n"
    }
  }
  try put(text, to: path)
}

// MARK: Scores

private func scoresJSON(_ rows: [MarketScore]) throws -> String {
  let objects = rows.map { row in
    var object: [String: Any] = [
      "method": row.method, "region": row.region, "fuel": row.fuel,
      "from_day": row.from.description, "until_day": row.until.description,
    ]
    object["year"] = row.year ?? NSNull()
    object["states"] = statesObject(row.states)
    for column in MarketScore.columns {
      object[column.name] =
        column.value(row.score).map { NSDecimalNumber(string: fixed($0, column.digits)) }
        ?? NSNull()
    }
    return object
  }
  let data = try JSONSerialization.data(
    withJSONObject: objects, options: [.sortedKeys, .withoutEscapingSlashes])
  return String(decoding: data, as: UTF8.self) + "\n"
}

/// A table of how the verdicts did as they were given, beside three habits over the same days.
/// Empty if none was scored yet.
private func givenTable(_ records: [GivenRecord]) -> String {
  guard !records.isEmpty else { return "" }
  let width = max(16, (records.map(\.region.count).max() ?? 0) + 2)
  var text =
    "\nVerdicts as they were given; c/L saved against a random day of six, with its 90 % interval "
    + "(fuel_v1.verdict_record).\n\n"
  text += padded("region", width) + padded("fuel", 6) + leftPadded("days", 6)
  for name in ["perfect", "saved", "from", "to", "direction", "weekday", "at once"] {
    text += leftPadded(name, 10)
  }
  text += "\n"
  for record in records {
    text += padded(record.region, width) + padded(record.fuel, 6) + leftPadded("\(record.days)", 6)
    for value in [
      record.perfect, record.saving, record.low, record.high, record.direction, record.weekday,
      record.always,
    ] { text += leftPadded(value == nil ? "-" : fixed(value, 2), 10) }
    text += "\n"
  }
  return text
}

/// A table with one line for each market over all years, and a summary of all markets.
private func scoresTable(
  _ rows: [MarketScore], method: String, baselines: [String]
) -> String {
  let whole = rows.filter { $0.year == nil }
  var text =
    "Verdicts by \(method); amounts in c/L. W: the driver buys within W days. 7:5: a tank lasts 7 days, W is 5.\n\n"
  let width = max(16, (whole.map(\.region.count).max() ?? 0) + 2)
  text += padded("region", width) + padded("fuel", 6)
  for name in ["perfect", "saved", "W=5", "W=3", "W=7", "7:5", "10:5", "14:7"] {
    text += leftPadded(name, 8)
  }
  for name in ["wait", "right", "fill up", "right", "flips"] { text += leftPadded(name, 9) }
  for name in baselines { text += leftPadded(name, max(12, name.count + 2)) }
  text += "\n"
  for row in whole where row.method == method {
    text += padded(row.region, width) + padded(row.fuel, 6) + scoreColumns(row.score)
    for name in baselines {
      let other = whole.first {
        $0.method == name && $0.region == row.region && $0.fuel == row.fuel
      }
      text += leftPadded(
        row.score.isQuiet ? "" : fixed(other?.score.headline.capture, 2), max(12, name.count + 2))
    }
    text += "\n"
  }
  return text + "\n" + scoresSummary(whole.filter { $0.method == method }.map(\.score))
}

private func percent(_ value: Double?) -> String {
  value.map { "\(Int(($0 * 100).rounded())) %" } ?? "-"
}

private func scoreColumns(_ score: Score) -> String {
  var text = leftPadded(fixed(score.headline.meanPossible, 2), 8)
  text += leftPadded(fixed(score.headline.meanSaving, 2), 8)
  if score.headline.count == 0 {
    text += leftPadded("too short to be scored", 48)
  } else if score.isQuiet {
    text += leftPadded("quiet: \(percent(score.noDifferences.value)) of days no difference", 48)
  } else {
    for width in [5, 3, 7] { text += leftPadded(fixed(score.windows[width]?.capture, 2), 8) }
    for size in Score.tankSizes {
      text += leftPadded(fixed(score.tanks["\(size.days):\(size.width)"]?.capture, 2), 8)
    }
  }
  text += leftPadded(percent(score.waits.value), 9) + leftPadded(percent(score.waitsRight.value), 9)
  text +=
    leftPadded(percent(score.fillUps.value), 9) + leftPadded(percent(score.fillUpsRight.value), 9)
  return text + leftPadded(fixed(score.flipsPerMonth, 1), 9)
}

/// Two sentences on all markets: those that move, and those that are quiet.
private func scoresSummary(_ scores: [Score]) -> String {
  let own = scores.filter { $0.headline.count > 0 }
  let moving = own.filter { !$0.isQuiet }
  let quiet = own.filter(\.isQuiet).reduce(Score(), +)
  var text = ""
  if !moving.isEmpty {
    let mean = moving.compactMap(\.headline.capture).reduce(0, +) / Double(moving.count)
    text +=
      "\(moving.count) \(moving.count == 1 ? "market that moves" : "markets that move"): mean capture \(fixed(mean, 3)).\n"
  }
  if quiet.headline.count > 0 {
    text +=
      "\(own.count - moving.count) quiet markets: \(percent(quiet.noDifferences.value)) of days no "
      + "difference, saved \(fixed(quiet.headline.meanSaving, 3)) c/L.\n"
  }
  return text
}
