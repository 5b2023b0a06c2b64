import Configuration
import Pipeline
import Postgres
import Store

let hubCommand = Command(
  name: "hub",
  summary: "Make this database answer for others, or take one of them out and back.",
  operands: "[leave NAME | join NAME]",
  examples: [
    ("bowser hub", "make the hub of the members in hub.json5, or make it anew"),
    ("bowser hub leave member_2", "answer without a member that is down"),
    ("bowser hub join member_2", "answer for it again"),
  ],
  notes: """
    A hub answers for several databases, its members, each of which reads feeds of its own states. The
    hub stores no prices: run jobs on the members, and on the hub only `bowser aggregate`, which makes
    the nation. The database must be empty after `bowser migrate`, and its owner needs a foreign server
    and a user mapping for each member: docs/operating.md has the steps.

    Each entry of hub.json5 names a member, its number (`bowser migrate --member N`) and its states. The
    command prints one line for each finding about a member, as `bowser doctor` does. If a member does
    not answer or does not fit, nothing changes and the exit code is 78. While a member is out, its
    states have no rows, and the stored days of the nation stay as they were made last.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let words = invocation.operands
  guard words.isEmpty || words.count == 2 && ["leave", "join"].contains(words[0]) else {
    throw UsageError.message("hub takes nothing, or leave NAME, or join NAME")
  }
  let isLeaving = words.first == "leave"
  let settings = try invocation.settings()
  let folder = try invocation.configurationFolder()
  let wanted = words.isEmpty ? try members(file: folder + "/hub.json5") : []
  let regions = try regions(file: folder + "/regions.json5")
  let connection = try Connection(settings.database, deadline: try invocation.deadline(settings))
  let migrator = Migrator(connection)
  try migrator.recognise()
  let members = Members(connection)
  try members.refuseRuns()
  if words.isEmpty { _ = try Store(connection).stations.refreshRegions(regions) }
  try migrator.up(remake: {
    if let name = words.last {
      try members.set(name, isOut: isLeaving)
    } else {
      try members.replace(by: wanted)
    }
    if !isLeaving, let fault = try members.findings().first(where: { $0.grade == "FAIL" }) {
      throw PostgresError.unfit("\(fault.member) \(fault.words)")
    }
    try members.unite(isPlacing: !isLeaving)
  })
  // Of the foreign tables that were made anew.
  do { try members.analyze() } catch  where isLeaving { writeError("\(error)") }
  for finding in try members.findings() {
    write("\(padded(finding.grade, 6))\(padded(finding.member, 24))\(finding.words)\n")
  }
  return .done
}
