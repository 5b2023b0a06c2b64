import Archives
import Feeds
import Foundation
import FuelModel
import Store
import Timeline

let lapsesCommand = Command(
  name: "lapses",
  summary: "Show how long prices held, and how long they are believed.",
  operands: "[FEED|ARCHIVE...]",
  examples: [
    ("bowser lapses", "every feed and archive"),
    (
      "bowser lapses nsw-fuelcheck-archive --since 2025-01-01",
      "one archive, its latest reports only"
    ),
  ],
  options: [
    .init(
      name: "since", value: "DAY",
      about: "leave out what was reported before this day, such as 2025-01-01"),
    .init(name: "json", value: nil, about: "one JSON object"),
  ],
  notes: """
    A price is not believed for longer than priceLapsesHours or priceLapsesHoursByFuel in the file of its
    feed or archive. Each line begins with that limit in days. The next numbers are the days within which
    half, 90 % and 99 % of the prices were followed by the next price of their station. The last one is
    how many prices held for longer than the limit. This command changes no setting. A limit that is too
    short loses prices that still hold. A limit that is too long shows the prices of stations that have
    closed. The JSON object has
    version (1) and lapses: source, fuel, believed_days, half_days, ninety_days, ninety_nine_days, prices
    and held_longer. As long as the version stays the same, members are only added.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let sources = try invocation.sources()
  let archives = try invocation.archives(beside: sources)
  let names = Names(what: "feed or archive", all: sources.map(\.feed) + archives.map(\.source))
  let meant = try invocation.operands.map { try names.meant(by: $0) }
  let since = try invocation.day("since").map { Instant(seconds: Int64($0.sinceEpoch) * 86_400) }
  if let since, since > (try invocation.clock().now()) {
    throw UsageError.message("--since is in the future")
  }
  let store = try invocation.store(try invocation.settings())
  let found = try store.priceIntervals(
    of: meant.isEmpty ? names.all : meant, since: since ?? .distantPast)
  if invocation.flags.contains("json") {
    try writeJSON(LapsesJSON(lapses: found.map(LapsesJSON.Line.init)))
    return .done
  }
  if found.isEmpty {
    write("No price was followed by another one yet: bowser backfill loads history.\n")
    return .done
  }
  write(
    padded("", 32) + ["believed", "half", "90 %", "99 %"].map { leftPadded($0, 10) }.joined()
      + "  held longer\n")
  for line in found {
    let share = 100 * Double(line.longer) / Double(line.count)
    write(
      padded(line.source, 25) + padded(line.fuel, 7)
        + [line.lapse, line.half, line.ninety, line.ninetyNine]
        .map { leftPadded(String(format: "%.1f d", $0), 10) }.joined()
        + "  \(line.longer) of \(line.count) (\(String(format: "%.2f", share)) %)\n")
  }
  return .done
}

// swift-format-ignore: AlwaysUseLowerCamelCase
private struct LapsesJSON: Encodable {
  struct Line: Encodable {
    var source: String
    var fuel: String
    var believed_days: Decimal
    var half_days: Decimal
    var ninety_days: Decimal
    var ninety_nine_days: Decimal
    var prices: Int
    var held_longer: Int

    init(_ found: PriceIntervals) {
      func days(_ value: Double) -> Decimal { Decimal(Int((value * 100).rounded())) / 100 }
      source = found.source
      fuel = found.fuel
      believed_days = days(found.lapse)
      half_days = days(found.half)
      ninety_days = days(found.ninety)
      ninety_nine_days = days(found.ninetyNine)
      prices = found.count
      held_longer = found.longer
    }
  }

  var version = 1
  var lapses: [Line]
}
