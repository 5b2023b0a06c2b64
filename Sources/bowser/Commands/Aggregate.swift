import FuelModel
import Pipeline

let aggregateCommand = Command(
  name: "aggregate",
  summary: "Bring daily averages, trends and verdicts up to date.",
  operands: "",
  examples: [
    ("bowser aggregate", "what has changed since the last time; silent"),
    ("bowser aggregate --rebuild", "every day again"),
    ("bowser aggregate --rebuild --from 2026-07-01", "every day from one on"),
  ],
  options: [
    .init(name: "rebuild", value: nil, about: "make every day again"),
    .init(name: "from", value: "DAY", about: "with --rebuild: the first day"),
    .init(name: "summary", value: nil, about: "one line on standard output"),
  ]
) { invocation in
  guard invocation.operands.isEmpty else {
    throw UsageError.message("aggregate takes no operands")
  }
  var from: Day?
  if let text = invocation.options["from"] {
    guard invocation.flags.contains("rebuild"), let day = Day(text) else {
      throw UsageError.message("--from is a day such as 2026-07-01 and goes with --rebuild")
    }
    from = day
  }
  let settings = try invocation.settings()
  let clock = try invocation.clock()
  if let from, from > Zone.sydney.local(clock.now()).day {
    throw UsageError.message("--from lies in the future")
  }
  let folder = try invocation.configurationFolder()
  let regions = try regions(file: folder + "/regions.json5")
  let brands = try brands(file: folder + "/brands.json5")
  let aggregate = Aggregate(
    store: try invocation.store(settings), regions: regions, brands: brands,
    decisions: try decisions(file: folder + "/stations.json5"), clock: clock,
    log: invocation.logger(settings))
  let progress = Progress(what: "spans")
  let summary = try aggregate.run(rebuild: invocation.flags.contains("rebuild"), from: from) {
    progress.show($0, of: $1)
  }
  progress.end()
  if invocation.flags.contains("summary") {
    write(
      "aggregate days=\(summary.days) verdicts=\(summary.verdicts) "
        + "new_verdicts=\(summary.newVerdicts)\n")
  }
  return .done
}
