import Archives
import Configuration
import Feeds
import Foundation
import FuelModel
import Pipeline
import Postgres
import Store
import Views

let doctorCommand = Command(
  name: "doctor",
  summary: "Check configuration, database, rights, clock, zones and keys.",
  examples: [
    ("bowser doctor", "check everything on this machine"),
    ("bowser doctor --online", "also make a dry run of each feed that has its key"),
  ],
  options: [
    .init(name: "online", about: "also make a dry run of each feed; its requests count as usual")
  ],
  notes: """
    Each check has one line: ok, warn or FAIL, and what to do. A feed that is not set up or is switched
    off has a line with off. The exit code is 78 if a check fails, otherwise 0. docs/feeds.md explains how
    to get each key.
    """,
  worksOnHub: true
) { invocation in
  var doctor = Doctor()
  let settings = try invocation.statedSettings()
  // A wrong option is no finding about this machine.
  _ = try invocation.deadline(settings)
  _ = try invocation.clock()
  let sources = try invocation.sources()
  doctor.tell(
    .ok, "configuration", "\(try invocation.configurationFolder()), \(sources.count) feeds")
  doctor.check("archives", "each belongs to a feed") {
    _ = try invocation.archives(beside: sources)
  }
  doctor.check("time zones", "the rules of Australia/Sydney are known") {
    guard Zone.isDataPresent else { throw ConfigurationError.noZoneData }
  }
  doctor.programs(invocation)
  doctor.database(settings, invocation)
  doctor.check("lists", "regions, brands, events and stations can be read") {
    let folder = try invocation.configurationFolder()
    _ = try regions(file: folder + "/regions.json5")
    _ = try brands(file: folder + "/brands.json5")
    _ = try marketEvents(file: folder + "/events.json5")
    _ = try decisions(file: folder + "/stations.json5")
  }
  doctor.stateFolder(settings, invocation)
  // A hub reads no feed.
  if !doctor.isHub { for source in sources { doctor.keys(of: source, invocation) } }
  doctor.variables(sources, invocation)
  doctor.notices(settings, invocation)
  if invocation.flags.contains("online") {
    for source in sources where doctor.ready.contains(source.feed) {
      await doctor.ask(source, settings, invocation)
    }
  }
  return doctor.code
}

/// Checks one thing after the other and prints the findings.
private struct Doctor {
  enum Finding: String {
    case ok, off, warn
    case fail = "FAIL"
  }

  private(set) var code = ExitCode.done
  // Feeds that have their keys.
  private(set) var ready: Set<String> = []
  // Feeds whose answers have been stored before.
  private var read: Set<String> = []
  // Whether the database is a hub of others.
  private(set) var isHub = false
  // Whether the database is that of the demo.
  private var isSimulated = false

  mutating func tell(_ finding: Finding, _ what: String, _ words: String) {
    write("\(padded(finding.rawValue, 6))\(padded(what, 24))\(words)\n")
    if finding == .fail { code = .configuration }
  }

  /// - Parameter good: the text if `body` does not throw.
  mutating func check(_ what: String, _ good: String, _ body: () throws -> Void) {
    do {
      try body()
      tell(.ok, what, good)
    } catch {
      tell(.fail, what, "\(error)")
    }
  }

  /// Checks whether the rules of `notify` can be followed.
  mutating func notices(_ settings: Settings<Invocation.Table>, _ invocation: Invocation) {
    do {
      let rules = try NoticeRule.all(
        file: try invocation.configurationFolder() + "/notify.json5")
      guard !rules.isEmpty else { return }
      let receivers = try Receivers(rules, invocation, settings)
      for rule in rules { try receivers.check(rule.target) }
      let search = try PlaceSearch(try invocation.views(settings))
      let doubts = try rules.compactMap { rule in
        try search.obstacle(to: rule).map { "\(rule.name) can send nothing: \($0)" }
      }
      for doubt in doubts { tell(.warn, "notices", doubt) }
      if doubts.isEmpty {
        tell(.ok, "notices", "\(rules.count) rules, each with a place and a receiver")
      }
    } catch {
      tell(.fail, "notices", "\(error)")
    }
  }

  /// Looks for the programs that backfill starts. Nothing else needs them.
  mutating func programs(_ invocation: Invocation) {
    let missing = MissingProgram.all(on: invocation.environment["PATH"] ?? "/usr/bin:/bin")
    for program in missing { tell(.warn, "programs", "\(program)") }
    if missing.isEmpty { tell(.ok, "programs", "those that backfill needs are installed") }
  }

  mutating func database(_ settings: Settings<Invocation.Table>, _ invocation: Invocation) {
    let connection: Connection
    do {
      connection = try Connection(
        settings.database, deadline: try invocation.deadline(settings))
      try Migrator(connection).verify()
    } catch {
      return tell(.fail, "database", "\(error)")
    }
    if let isReadOnly = try? connection.isReadOnly(), isReadOnly, !connection.isStandby {
      tell(.fail, "database", "\(PostgresError.readOnly)")
    } else if connection.isStandby {
      tell(
        .warn, "database", "reached: a standby; commands that read work, but nothing can be stored")
    } else if let name = try? Store(connection).subscription() {
      tell(
        .warn, "database",
        "reached: a subscriber, which takes its rows from another server by \(name); run jobs on that server"
      )
    } else {
      tell(.ok, "database", "reached; its schema matches this program")
    }
    isSimulated = (try? Views(connection).isSimulated()) ?? false
    if isSimulated { tell(.ok, "demo", "the prices of this database are simulated") }
    let store = Store(connection)
    check("rights", "the login may become fuel_writer") { try store.becomeWriter() }
    members(Members(connection))
    server(store)
  }

  /// Looks whether each member of a hub answers, and fits.
  private mutating func members(_ members: Members) {
    do {
      isHub = try members.isHub()
      for finding in isHub ? try members.findings() : [] {
        tell(Finding(rawValue: finding.grade) ?? .fail, finding.member, finding.words)
      }
    } catch {
      tell(.fail, "members", "\(error)")
    }
  }

  /// Looks at the clock, the locks and the rights of the server.
  private mutating func server(_ store: Store) {
    do {
      let skew = try store.clockSkewSeconds()
      tell(
        abs(skew) > 60 ? .warn : .ok, "clock",
        abs(skew) > 60
          ? "the clocks of this machine and the server differ by \(skew) s: set them by NTP"
          : "agrees with the server's")
      let readers = try store.historyReaders()
      if readers < 50 {
        tell(
          .warn, "locks",
          "only \(readers) sessions can read whole histories at once: raise max_locks_per_transaction"
        )
      }
      if let change = try store.collationChange() {
        let database = try store.databaseName()
        tell(
          .warn, "collation",
          "the database was sorted by version \(change.was), and the server now sorts by "
            + "\(change.now ?? "none"). Run as its owner: REINDEX DATABASE \(database); "
            + "ALTER DATABASE \(database) REFRESH COLLATION VERSION")
      }
      let rights = try store.temporaryTables()
      if rights.readers || !rights.writer {
        let database = try store.databaseName()
        tell(
          rights.writer ? .warn : .fail, "rights on the database",
          "\(rights.writer ? "fuel_reader may" : "fuel_writer may not") create temporary tables; "
            + "a copied database has the rights of a new one. Run: REVOKE TEMPORARY ON DATABASE \(database) FROM PUBLIC; "
            + "GRANT TEMPORARY ON DATABASE \(database) TO fuel_writer")
      }
      let health = isHub ? [] : try store.views.health()
      read = Set(health.filter { $0.lastSuccess != nil }.map(\.feed))
    } catch {
      tell(.fail, "clock", "\(error)")
    }
  }

  mutating func stateFolder(_ settings: Settings<Invocation.Table>, _ invocation: Invocation) {
    guard
      let folder = TokenCache.folder(
        configured: settings.stateFolder, environment: invocation.environment)
    else {
      return tell(.warn, "state folder", "no HOME: every run asks for new tokens")
    }
    let obstacle = TokenCache.obstacle(in: folder)
    tell(
      obstacle == nil ? .ok : .warn, "state folder",
      obstacle.map { "\($0): every run asks for new tokens" } ?? folder)
  }

  mutating func keys(of source: Source, _ invocation: Invocation) {
    guard source.settings.enabled else {
      return tell(.off, source.feed, "switched off by \(source.settings.origin(of: "enabled"))")
    }
    do {
      let secrets = Secrets(environment: invocation.environment)
      if let missing = try source.missingSecrets(in: secrets).first {
        guard !read.contains(source.feed) || isSimulated else { throw missing }
        return tell(.off, source.feed, "not set up: \(missing)")
      }
      ready.insert(source.feed)
      let shared = source.account == source.feed ? "" : " (of \(source.account))"
      tell(
        .ok, source.feed,
        source.secrets.isEmpty
          ? "needs no key" : "\(source.secrets.joined(separator: ", ")) found\(shared)")
    } catch {
      tell(.fail, source.feed, "\(error); or switch the feed off with enabled: false")
    }
  }

  /// Names the variables that nothing reads. Those that are probably meant for this program are
  /// refused by every other command.
  mutating func variables(_ sources: [Source], _ invocation: Invocation) {
    let variables = Variables(sources)
    for name in variables.unread(in: invocation.environment) {
      if let likely = variables.meant(by: name) {
        tell(.fail, "environment", "\(ConfigurationError.unreadVariable(name, likely: likely))")
      } else {
        tell(.warn, "environment", "nothing reads \(name)")
      }
    }
  }

  /// Rehearses one run: with all limits and with requests that count as usual, but without storing
  /// anything.
  mutating func ask(
    _ source: Source, _ settings: Settings<Invocation.Table>, _ invocation: Invocation
  ) async {
    let what = "\(source.feed) online"
    do {
      let store = try invocation.store(settings)
      let fetch = try invocation.fetch(source, settings, until: Deadline(seconds: 120))
      let summary = try await Ingest(
        source, store: store, clock: .system, reader: try invocation.reader(settings),
        log: invocation.logger(settings)
      ).live(fetch, isRehearsal: true)
      let received = summary.counts.received
      tell(
        .ok, what,
        received == 0
          ? "answers; nothing is new since the last run"
          : "answers; \(received) prices read, none stored")
    } catch let error as IngestError {
      tell(.warn, what, "\(error)")
    } catch {
      tell(.fail, what, "\(error)")
    }
  }
}
