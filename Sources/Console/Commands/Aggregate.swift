import Configuration
import Foundation
import FuelModel
import Logging
import Pipeline
import Store
import Timeline
import Trends

let aggregateCommand = Command(
  name: "aggregate",
  summary: "Bring daily averages, trends and verdicts up to date.",
  examples: [
    ("bowser aggregate", "process what has changed since the last run; silent"),
    ("bowser aggregate --rebuild", "recompute every day"),
    ("bowser aggregate --rebuild --from 2026-07-01", "recompute every day from a given day on"),
    ("bowser aggregate --workers 4", "four connections share the work"),
    (
      "bowser aggregate --as-of 2026-07-02T12:00:00Z",
      "print what was known then, as CSV; stores nothing"
    ),
  ],
  options: [
    .init(name: "rebuild", about: "recompute every day"),
    .init(name: "from", value: "DAY", about: "with --rebuild: the first day to recompute"),
    .init(
      name: "as-of", value: "INSTANT", about: "print averages and verdicts as they were known then"),
    .init(name: "workers", value: "N", about: "how many connections share the work (default 2)"),
    .init(name: "summary", about: "print one line on standard output"),
  ],
  worksOnHub: true,
  deadlineSeconds: 7_200
) { invocation in
  let from = try invocation.day("from")
  guard from == nil || invocation.flags.contains("rebuild") else {
    throw UsageError.message("--from needs --rebuild: aggregate finds by itself what has changed")
  }
  try invocation.refuse("summary", "workers", beside: "as-of")
  let settings = try invocation.settings()
  let clock = try invocation.clock()
  if let instant = try invocation.instant("as-of") {
    guard !invocation.flags.contains("rebuild") else {
      throw UsageError.message("--as-of stores nothing and cannot be combined with --rebuild")
    }
    guard instant <= clock.now() else { throw UsageError.message("--as-of is in the future") }
    return try tellAsKnown(at: instant, store: try invocation.store(settings))
  }
  if let from, from > Australia.newestDay(at: clock.now()) {
    throw UsageError.message("--from is in the future")
  }
  let folder = try invocation.configurationFolder()
  let regions = try regions(file: folder + "/regions.json5")
  let brands = try brands(file: folder + "/brands.json5")
  let events = try marketEvents(file: folder + "/events.json5")
  let store = try invocation.store(settings)
  let log = invocation.logger(settings)
  // Spans and days are made from everything that is stored: what came later would count as known.
  if let given = try invocation.instant("now"), let newest = try store.ledger.newestRun(),
    given < newest
  {
    throw UsageError.message(
      "--now lies before the newest stored run, of \(newest): leave it out, or print what was known "
        + "then by --as-of \(given)")
  }
  // A mistyped year would store verdicts for days to come, and no verdict is changed afterwards.
  if clock.now() > Clock.system.now() + .seconds(86_400) {
    log.warning("--now lies ahead of the clock of this machine", ["now": clock.now()])
  }
  let aggregate = Aggregate(
    store: store,
    workers: Workers(store, count: settings.workers) {
      try invocation.store(settings)
    }, regions: regions, brands: brands, events: events,
    decisions: try decisions(file: folder + "/stations.json5"), clock: clock, log: log)
  let progress = Progress(
    what: Aggregate.Step.spans.rawValue,
    isUsual: !invocation.flags.contains("rebuild") && !invocation.flags.contains("verbose"))
  let summary = try aggregate.run(rebuild: invocation.flags.contains("rebuild"), from: from) {
    progress.begin($0.rawValue)
    progress.show($1, of: $2)
  }
  progress.end()
  if invocation.flags.contains("summary") {
    write(
      "aggregate run=\(summary.run) days=\(summary.days) verdicts=\(summary.verdicts) "
        + "new_verdicts=\(summary.newVerdicts)\n")
  }
  return .done
}

/// Writes what was known at a past instant, with one row for each region and fuel. The nation has no
/// verdict.
private func tellAsKnown(at instant: Instant, store: Store) throws -> ExitCode {
  let progress = Progress(what: "months")
  let known = try AsKnown(store, at: instant) { progress.show($0, of: $1) }
  progress.end()
  if known.lines.isEmpty {
    writeError(
      "nothing was known at \(instant): no price had been stored by then, or bowser aggregate has "
        + "not run yet")
  }
  func cents(_ hundredths: Int?) -> String {
    hundredths.map { String(format: "%.2f", Double($0) / 100) } ?? ""
  }
  write(
    "region,fuel,day,average_cpl,median_cpl,p25_cpl,min_cpl,max_cpl,stations,verdict,basis,rule,reason\n"
  )
  for line in known.lines {
    let judgement = line.verdict.region == Australia.code ? nil : line.verdict.judgement
    // As in `daily_averages`, too few stations give no average.
    let average = line.average.flatMap { $0.stations >= LeastSample.stations ? $0 : nil }
    write(
      ([
        line.verdict.region, line.fuel, line.verdict.day.description, cents(average?.average),
        cents(average?.median), cents(average?.quarter), cents(average?.lowest),
        cents(average?.highest), String(line.average?.stations ?? 0),
        judgement?.advice.rawValue ?? "", judgement?.basis.rawValue ?? "", judgement?.rule ?? "",
        judgement?.reason.asCSVField ?? "",
      ]).joined(separator: ",") + "\n")
  }
  return .done
}
