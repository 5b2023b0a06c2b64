import Configuration
import Feeds
import Foundation
import FuelModel
import Postgres
import Store
import Views

let setupCommand = Command(
  name: "setup",
  summary: "Prepare the database, keep the keys for cron, and print the next command.",
  examples: [
    ("bowser setup", "create what is missing; asks nothing, and can be repeated"),
    ("bowser setup --db postgresql:///fuel", "use that database"),
  ],
  notes: """
    Creates the database if the server has none of that name, brings it to the schema of this program
    with its roles, and lists which feeds are set up. The login must own the database, and must be
    allowed to create roles (CREATEROLE) the first time. Then setup prints the lines for cron. It prints
    the systemctl command instead if systemd runs, the Debian package has installed its units, and the
    configuration is /etc/bowser, which the units read. No key is ever printed.

    The lines for cron take keys and settings from a file that only its owner can read: `environment`
    beside bowser.json5, or ~/.config/bowser/environment if that folder cannot be written. Setup writes
    the BOWSER_ variables of the shell into it, and those of a proxy. It adds what the file lacks and
    leaves each line that is there as it is.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let settings = try invocation.settings()
  let sources = try invocation.sources()
  guard Zone.isDataPresent else { throw ConfigurationError.noZoneData }
  let target = settings.database
  let deadline = try invocation.deadline(settings)
  let made = try Connection.makeDatabase(target, deadline: deadline)
  let connection = try Connection(target, deadline: deadline)
  let endpoint = connection.endpoint
  guard !["postgres", "template0", "template1"].contains(endpoint.database) else {
    throw PostgresError.unfit(
      "\(endpoint.database) is the server's own database: name another one with PGDATABASE or --db; setup creates it"
    )
  }
  say("database", "\(endpoint.database) at \(endpoint.host), \(made == nil ? "found" : "created")")
  let applied = try Migrator(connection).up()
  try keepConfiguration(of: invocation, in: connection)
  say("schema", applied.isEmpty ? "up to date" : "brought up to date: \(applied.count) files")
  say("configuration", try invocation.configurationFolder())

  let store = Store(connection)
  let health = try store.views.health()
  do {
    try store.becomeWriter()
  } catch let error as PostgresError where error.isLoginRefused {
    // Whoever makes a role is no member of it.
    let grant = "GRANT fuel_writer, fuel_reader TO \"\(endpoint.user)\""
    say("rights", "ingest and aggregate need: \(grant)")
  }
  let missing = try notSetUp(invocation, health)
  let ready = sources.filter { source in
    source.settings.enabled && !missing.contains { $0.feed == source.feed }
  }
  say("feeds", ready.isEmpty ? "none are set up" : ready.map(\.feed).joined(separator: ", "))
  for feed in missing { say("", "\(feed.feed) is not set up: set \(feed.missing)") }
  if !missing.isEmpty { say("", "docs/feeds.md explains how to get keys") }

  // The suggested commands repeat `--config` and `--db` of this call, with a password hidden.
  let options = ["config", "db"].compactMap { name in
    invocation.options[name].map { " --\(name) \(shellQuoted(holdsPassword($0) ? "..." : $0))" }
  }.joined()
  let program = shellQuoted(Bundle.main.executablePath ?? "bowser")
  let isRead = health.contains { $0.lastSuccess != nil }
  say(
    "next",
    isRead
      ? "\(program) show\(options)"
      : ["ingest --all --summary", "aggregate", "show"].map { "\(program) \($0)\(options)" }
        .joined(separator: " && "))
  let folder = try invocation.configurationFolder()
  let fullPath = URL(filePath: folder).standardizedFileURL.path
  // A container may have the units of the package without systemd, and a checkout has a
  // configuration that they do not read.
  let units = ["/lib/systemd/system/bowser-ingest@all.timer", "/run/systemd/system"]
  if fullPath == "/etc/bowser", units.allSatisfy({ access($0, F_OK) == 0 }) {
    say("then", "systemctl enable --now bowser-ingest@all.timer bowser-aggregate.timer")
    say("", "the units run as the user bowser, with the database of /etc/bowser/environment")
    say("", "and the keys of it or of /etc/bowser/credentials; they know no variable of this shell")
  } else {
    let file = try EnvironmentFile(
      beside: fullPath, isShared: folder == Invocation.examples,
      environment: invocation.environment)
    tell(file)
    for (what, line) in zip(["cron", ""], try cronLines(program, file, invocation, endpoint)) {
      say(what, line)
    }
    if invocation.environment["PGPASSWORD"] != nil || holdsPassword(target) {
      say("", "put the database password into ~/.pgpass of cron's user, or into a service file")
    }
  }
  return .done
}

/// Says what the file holds from which jobs take keys and settings, by names alone.
private func tell(_ file: EnvironmentFile) {
  let added = file.added.joined(separator: ", ")
  say("environment", file.path + (added.isEmpty ? "" : ", with \(added) of this shell"))
  for name in file.other {
    say("", "it keeps its own \(name), which differs from that of this shell")
  }
  if file.servesSimulator {
    say("", "it lets jobs read a server on this machine (BOWSER_ALLOW_LOOPBACK), as the simulator;")
    say("", "remove the lines of the simulator from it before jobs read real feeds")
  }
}

private func say(_ what: String, _ words: String) {
  write(padded(what, 15) + words.asTerminalLine + "\n")
}

/// The lines of a crontab that use the database and the configuration of this shell. They contain no
/// password and no key. What they set prevails over the file. The program is quoted for a shell. A
/// test compares the lines with those of `contrib/cron/bowser.crontab` and
/// `docs/getting-started.md`.
private func cronLines(
  _ program: String, _ file: EnvironmentFile, _ invocation: Invocation,
  _ endpoint: (host: String, port: String, database: String, user: String)
) throws -> [String] {
  let folder = URL(filePath: try invocation.configurationFolder()).standardizedFileURL.path
  let target = try invocation.settings().database
  let isByVariables = target.isEmpty || holdsPassword(target)
  let server =
    isByVariables
    ? [
      ("PGHOST", endpoint.host), ("PGPORT", endpoint.port), ("PGDATABASE", endpoint.database),
      ("PGUSER", endpoint.user),
    ] : [("BOWSER_DATABASE", target)]
  // The other settings of libpq, such as PGSSLMODE. A password belongs in ~/.pgpass.
  let named = ["PGPASSWORD"] + (isByVariables ? server.map(\.0) : [])
  let others = invocation.environment.filter { $0.key.hasPrefix("PG") && !named.contains($0.key) }
    .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  let variables = (server + others + [("BOWSER_CONFIG", folder)])
    .map { "\($0.0)=\(shellQuoted($0.1))" }.joined(separator: " ")
  let heals = [ExitCode.done, .unavailable, .tryAgain]
    .map { "[ $code = \($0.rawValue) ] || " }.joined()
  let setting = "set -a; . \(shellQuoted(file.path)); \(variables)"
  let lines = [
    "*/5 * * * * \(setting); for what in 'ingest --all' aggregate; do "
      + "said=$(\(program) $what 2>&1); code=$?; "
      + "\(heals)echo \"bowser $what ended with $code: $said\"; done",
    "30 7 * * * \(setting); "
      + "\(program) export feed_health | grep -E '^[^,]+,(failing|late|stale),'",
  ]
  // In a crontab a percent sign ends the command, so it is escaped.
  return lines.map { $0.replacing("%", with: "\\%") }
}

/// Whether a connection string may contain a password.
private func holdsPassword(_ target: String) -> Bool {
  target.contains("password") || target.wholeMatch(of: /[a-z]+:\/\/[^\/@]*:[^\/@]*@.*/) != nil
}
