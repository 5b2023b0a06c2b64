import Archives
import Feeds
import Foundation
import FuelModel
import Store
import Timeline

let lapsesCommand = Command(
  name: "lapses",
  summary: "Show how long prices held beside how long they are believed.",
  operands: "[FEED|ARCHIVE...]",
  examples: [
    ("bowser lapses", "every feed and archive"),
    ("bowser lapses nsw-fuelcheck-archive --since 2025-01-01", "one of them, its last reports"),
  ],
  options: [
    .init(
      name: "since", value: "DAY", about: "leave out what was reported before, such as 2025-01-01")
  ],
  notes: """
    A price is not believed for longer than priceLapsesHours or priceLapsesHoursByFuel in the file of its feed or
    archive. A line has, in days: how long that is, and for how long half, 90 % and 99 % of the prices held at most
    until the next one of their station; then how many held for longer than they are believed. Nothing here changes a
    setting: too short a time loses prices that still hold, too long a time keeps stations that have closed.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let archives = try Archive.all(
    in: try invocation.configurationFolder(), environment: invocation.environment)
  let names = try invocation.sources().map(\.feed) + archives.map(\.source)
  for name in invocation.operands where !names.contains(name) {
    throw UsageError.unknown("feed or archive", name, among: names)
  }
  var since = Instant.distantPast
  if let text = invocation.options["since"] {
    guard let day = Day(text) else {
      throw UsageError.message("--since is a day such as 2025-01-01")
    }
    since = Instant(seconds: Int64(day.sinceEpoch) * 86_400)
  }
  let store = try invocation.store(try invocation.settings())
  let found = try store.priceIntervals(
    of: invocation.operands.isEmpty ? names : invocation.operands, since: since)
  if found.isEmpty {
    write("No price was followed by another one yet.\n")
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
