import Configuration
import Feeds
import Pipeline
import Store

let withdrawCommand = Command(
  name: "withdraw",
  summary: "Take runs out of all results, or make them count again.",
  operands: "RUN...",
  examples: [
    (
      "bowser withdraw 4711 --reason 'the clock was a day ahead'",
      "what this run reported no longer counts"
    ),
    (
      "bowser withdraw 120-180 --feed tas --reason 'prices of another state'",
      "each run of one feed in a range that counts"
    ),
    ("bowser withdraw 4711 --undo --reason 'the clock was right'", "it counts again"),
  ],
  options: [
    .init(name: "reason", value: "TEXT", about: "the reason, which is kept with the run"),
    .init(
      name: "feed", value: "FEED", about: "only runs of this feed; a range has those of every feed"),
    .init(name: "undo", about: "make withdrawn runs count again"),
  ],
  notes: """
    fuel_v1.ingest_runs lists the runs with their numbers. What a withdrawn run reported is kept but no
    longer counts; prices that another run also reported stay. Lists near the run are judged again and
    spans are recomputed at once; the next `bowser aggregate` recomputes the averages.

    A run that loaded a file of an archive is withdrawn by its own number, not within a range. The next
    `bowser aggregate` recomputes its spans. Prices that later files repeated come back when `bowser
    backfill` is given those files again. The file's descriptions of stations stay.

    A run that already does not count is named and passed over. The others are checked before the first
    is withdrawn: if one of them cannot be, none is.
    """,
  deadlineSeconds: 3_600
) { invocation in
  guard let reason = invocation.options["reason"], reason.contains(where: { !$0.isWhitespace })
  else {
    throw UsageError.message("state why with --reason TEXT, which is kept with the run")
  }
  let runs = try runNumbers(invocation.operands)
  let settings = try invocation.settings()
  let sources = try invocation.sources()
  let feed = try invocation.options["feed"].map {
    try UsageError.meant(by: $0, "feed", among: sources.map(\.feed))
  }
  let withdrawal = Withdrawal(
    try invocation.store(settings), sources: sources,
    clock: try invocation.clock(), reader: try invocation.reader(settings),
    log: invocation.logger(settings))
  let isUndoing = invocation.flags.contains("undo")
  try withdrawal.finishEarlier()
  let (candidates, passed) = try withdrawal.candidates(
    runs, named: Set(invocation.operands.compactMap { Int($0) }), of: feed, counts: isUndoing)
  for refused in passed { writeError("\(refused)") }
  for candidate in candidates {
    let others = try withdrawal.decide(candidate, counts: isUndoing, reason: reason)
    write(
      "run \(candidate.run) of \(candidate.feed) \(isUndoing ? "counts again" : "is withdrawn")\n")
    for other in others { writeError("run \(other) loaded the same file, and counts") }
  }
  return .done
}
