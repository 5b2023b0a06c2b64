import Configuration
import Feeds
import FuelModel
import Pipeline
import Postgres
import Store

let migrateCommand = Command(
  name: "migrate",
  summary: "Bring the database to the schema of this program.",
  operands: "[up | status | verify]",
  examples: [
    ("bowser migrate", "apply what is missing"),
    ("bowser migrate --dry-run", "list what would be applied"),
    ("bowser migrate --member 2", "prepare an empty database as the second member of a hub"),
    ("bowser migrate status", "list every file and whether it is applied"),
    ("bowser migrate verify", "exit with 78 unless the database matches"),
  ],
  options: [
    .init(name: "dry-run", about: "change nothing"),
    .init(
      name: "member", value: "N",
      about: "give an empty database the numbers of member N of a hub (1 to 200; 1 by default)"),
  ],
  deadlineSeconds: 86_400
) { invocation in
  let settings = try invocation.settings()
  let word = invocation.operands.first ?? "up"
  guard invocation.operands.count <= 1 else {
    throw UsageError.message("migrate takes one action: up, status or verify")
  }
  guard ["up", "status", "verify"].contains(word) else {
    throw UsageError.unknown("action", word, among: ["up", "status", "verify"])
  }
  let number = try invocation.integer("member", 1...200)
  guard number == nil || word == "up" && !invocation.flags.contains("dry-run") else {
    throw UsageError.message("--member only goes with up: it numbers the database")
  }
  let connection = try Connection(
    settings.database, deadline: try invocation.deadline(settings))
  let migrator = Migrator(connection)
  switch word {
  case "verify":
    try migrator.verify()
  case "status":
    for file in try migrator.files() {
      write("\(file.isApplied ? "applied" : "missing")  \(file.name)\n")
    }
  default:
    if invocation.flags.contains("dry-run") {
      for file in try migrator.files() where !file.isApplied { write("\(file.name)\n") }
    } else {
      let isVerbose = invocation.flags.contains("verbose")
      try migrator.up { if isVerbose { talk("applied \($0)\n") } }
      if let number { try Members(connection).number(this: number) }
      try keepConfiguration(of: invocation, in: connection)
    }
  }
  return .done
}

/// Stores what the views need of the configuration: the brands.
func keepConfiguration(of invocation: Invocation, in connection: Connection) throws {
  let store = Store(connection)
  // A subscriber takes them from its server, like everything else.
  guard try store.subscription() == nil else { return }
  try store.stations.refreshBrands(
    try brands(file: try invocation.configurationFolder() + "/brands.json5"))
}
