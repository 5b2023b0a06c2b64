import Archives
package import Configuration
import Feeds
import Foundation
package import FuelModel
import HTTP
package import Logging
import Pipeline
import Postgres
package import Store
import Views

/// One call of a command: its arguments, and the configuration, clock, log and database connection
/// that follow from them.
package struct Invocation: Sendable {
  package let options: [String: String]
  package let flags: Set<String>
  package let operands: [String]
  package let environment: [String: String]
  private let command: Command
  private let began = ContinuousClock.now

  /// Reads `--name value`, `--name=value`, `--flag` and operands. Throws for an unknown option, for a
  /// missing or superfluous value, for an option of the command that is given twice, and for
  /// operands where the command takes none. Of a common option the last counts, so that a script can
  /// add its own.
  init(_ arguments: [String], of command: Command, environment: [String: String]) throws {
    var options: [String: String] = [:]
    var flags: Set<String> = []
    var operands: [String] = []
    let known = command.options + Command.common
    func isOption(_ word: String) -> Bool {
      known.contains { word == "--\($0.name)" || word.hasPrefix("--\($0.name)=") }
    }
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--"), word != "--" else {
        if word == "--" {
          operands += rest
          break
        }
        guard !word.hasPrefix("-") || word == "-" || isNumber(word) else {
          throw command.unknown(option: word)
        }
        operands.append(word)
        continue
      }
      let parts = word.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = known.first(where: { $0.name == name }) else {
        throw command.unknown(option: "--\(name)")
      }
      guard options[name] == nil || !command.options.contains(where: { $0.name == name }) else {
        throw UsageError.message("--\(name) may be given only once")
      }
      if option.value == nil {
        guard parts.count == 1 else { throw UsageError.message("--\(name) takes no value") }
        flags.insert(name)
      } else if parts.count == 2 {
        options[name] = String(parts[1])
      } else if let value = rest.popFirst(), !isOption(value) {
        options[name] = value
      } else {
        throw UsageError.message("--\(name) needs \(option.value ?? "a value"): \(option.about)")
      }
      try option.refuseEmptyPath(options[name])
    }
    guard operands.isEmpty || !command.operands.isEmpty else {
      throw UsageError.message(
        "\(command.name) takes no operands; bowser \(command.name) --help describes it")
    }
    self.options = options
    self.flags = flags
    self.operands = operands
    self.environment = environment
    self.command = command
  }

  /// Returns the whole number that an option states; `nil` where it is not given.
  package func integer(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
    guard let text = options[name] else { return nil }
    guard let value = Int(text), range.contains(value) else {
      throw UsageError.message(
        "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  /// Whether an option or a flag is given.
  package func isGiven(_ name: String) -> Bool { options[name] != nil || flags.contains(name) }

  /// Refuses options that would have no effect beside another one.
  package func refuse(_ names: String..., beside other: String) throws {
    for name in names where isGiven(name) && isGiven(other) {
      throw UsageError.message("--\(name) cannot be combined with --\(other)")
    }
  }

  /// Returns the day that an option names; `nil` where it is not given.
  func day(_ name: String) throws -> Day? {
    guard let text = options[name] else { return nil }
    guard let day = Day(text) else {
      throw UsageError.message("--\(name) must be a day such as 2026-07-01")
    }
    return day
  }

  /// Returns the instant that an option names; `nil` where it is not given.
  ///
  /// - Parameter orDay: whether it may name a day instead, of which this is the midnight in UTC.
  func instant(_ name: String, orDay: Bool = false) throws -> Instant? {
    guard let text = options[name] else { return nil }
    if orDay, let day = Day(text) { return Instant(seconds: Int64(day.sinceEpoch) * 86_400) }
    guard let instant = Instant(iso: text) else {
      throw UsageError.message(
        "--\(name) must be \(orDay ? "a day such as 2026-07-01, or " : "")an instant with its zone, such "
          + "as 2026-07-02T12:00:00Z or 2026-07-02T22:00:00+10:00")
    }
    return instant
  }

  /// The clock of `--now`, or the real one.
  package func clock() throws -> Clock {
    try instant("now").map { Clock.fixed($0) } ?? .system
  }

  // MARK: Configuration

  private static let workerCounts = 1...64

  /// Every setting that `bowser.json5` may hold.
  package struct Table: SettingTable {
    let database = Setting.text("database", "")
    let logLevel = Setting.choice("logLevel", Logger.Level.allCases.map(\.rawValue), "warning")
    let deadlineSeconds = Setting.integer("deadlineSeconds", 1...86_400, 300)
    // Deadlines of commands, in seconds. 0 means never.
    let deadlines = Setting.integers("deadlines", keys: Bowser.commands.map(\.name), 0...1_000_000)
    let timeoutSeconds = Setting.integer("timeoutSeconds", 1...3_600, 30)
    let maxBodyMegabytes = Setting.integer("maxBodyMegabytes", 1...1_024, 16)
    // How much memory and processor time the reading of one answer may take.
    let readerMegabytes = Setting.integer("readerMegabytes", 64...65_536, 160)
    let readerSeconds = Setting.integer("readerSeconds", 1...3_600, 60)
    let attempts = Setting.integer("attempts", 1...20, 4)
    let workers = Setting.integer("workers", Invocation.workerCounts, 2)
    let contact = Setting.text("contact", "")
    let stateFolder = Setting.text("stateFolder", "")
    let allowLoopback = Setting.boolean("allowLoopback", false)
  }

  /// Returns the configuration folder: that of `--config`, of BOWSER_CONFIG, or the first that
  /// exists of `config` in the working directory, /etc/bowser and the examples installed with the
  /// program.
  package func configurationFolder() throws -> String {
    if let folder = options["config"] { return folder }
    if let folder = environment["BOWSER_CONFIG"], !folder.isEmpty { return folder }
    let folders = ["config", "/etc/bowser", Self.examples]
    for folder in folders where FileManager.default.fileExists(atPath: folder + "/bowser.json5") {
      return folder
    }
    throw ConfigurationError.noFolder(folders)
  }

  /// The configuration that was installed with the program.
  static var examples: String {
    URL(filePath: Bundle.main.executablePath ?? "").deletingLastPathComponent()
      .appending(path: "../share/bowser/config").standardized.path
  }

  /// - Throws: also where a variable that nothing reads is probably meant for this program.
  package func settings() throws -> Settings<Table> {
    let settings = try statedSettings()
    try refuseUnreadVariables()
    return settings
  }

  /// The settings, whatever else the environment states.
  func statedSettings() throws -> Settings<Table> {
    let folder = try configurationFolder()
    let file = folder + "/bowser.json5"
    if !FileManager.default.fileExists(atPath: file), (try? Value.names(in: folder)) != nil {
      let isInstalled = FileManager.default.fileExists(atPath: Self.examples)
      throw ConfigurationError.unreadable(
        file: file,
        reason: "there is no such file: name the folder that has it"
          + (isInstalled ? ", or copy the examples of \(Self.examples)" : ""))
    }
    let table = Table()
    var given: [String: String] = [:]
    if let target = options["db"] { given[table.database.key] = target }
    if let count = try integer("workers", Self.workerCounts) {
      given[table.workers.key] = "\(count)"
    }
    if flags.contains("verbose") { given[table.logLevel.key] = "info" }
    return try Settings(
      table, file: try Value.table(file: file),
      place: "bowser.json5", variablePrefix: "BOWSER", environment: environment, flags: given)
  }

  func sources() throws -> [Source] {
    try Catalogue.sources(in: try configurationFolder(), environment: environment)
  }

  /// The archives of the configuration. An archive may name no other feed than one of its state,
  /// unless that state has none here.
  func archives(beside sources: [Source]) throws -> [Archive] {
    let archives = try Archive.all(in: try configurationFolder(), environment: environment)
    for archive in archives where !sources.contains(where: { $0.feed == archive.feed }) {
      let feeds = sources.filter { $0.state == archive.state }.map(\.feed)
      guard feeds.isEmpty else {
        throw ConfigurationError.wrongValue(
          key: "feed", place: archive.settings.file,
          expected: "a feed of the same state: "
            + feeds.joined(separator: " or "))
      }
    }
    return archives
  }

  /// A logger with the level of the settings.
  package func logger(_ settings: Settings<Table>) -> Logger {
    Logger(Logger.Level(rawValue: settings.logLevel) ?? .warning)
  }

  /// When the command must have ended: by `--deadline`, by the configuration, or by the command's
  /// default.
  func deadline(_ settings: Settings<Table>) throws -> Deadline {
    let configured =
      settings.deadlines[command.name]
      ?? (isFetching ? settings.deadlineSeconds : command.deadlineSeconds)
    return Deadline(
      seconds: try integer("deadline", 0...1_000_000) ?? configured, after: began)
  }

  /// Ends the process some time after its deadline, whatever part of it hangs.
  func watch() {
    // The command itself reports a configuration that cannot be read, and then has nothing to wait
    // for.
    guard let settings = try? statedSettings(), let deadline = try? deadline(settings) else {
      return Watchdog.arm(seconds: 0)
    }
    Watchdog.start(deadline, isParent: isFetching && !flags.contains("isolated"))
  }

  /// Whether the command asks providers rather than reading answers that are kept on this machine.
  private var isFetching: Bool {
    command.name == "ingest" && options["replay"] == nil && !flags.contains("reprocess")
  }

  // MARK: Connections

  /// The published views, read with the rights of any reader. With `--now` they take that instant
  /// as the present.
  func views(_ settings: Settings<Table>) throws -> Views {
    let connection = try Connection(settings.database, deadline: try deadline(settings))
    do {
      try Migrator(connection).recognise()
    } catch let error as PostgresError where error.isLoginRefused {
      // A reader's login may not read the table of migrations. If the schema is wrong, its queries
      // of the views fail.
    }
    let views = Views(connection)
    try views.becomeReader()
    if let now = try instant("now") {
      try Members(connection).refuseHub()
      try views.setViewClock(now.description)
    }
    return views
  }

  /// A store with the rights that ingest and aggregate need. Throws unless the schema of the
  /// database is this program's.
  package func store(_ settings: Settings<Table>) throws -> Store {
    guard Zone.isDataPresent else { throw ConfigurationError.noZoneData }
    let connection = try Connection(settings.database, deadline: try deadline(settings))
    let store = Store(connection)
    do {
      try Migrator(connection).recognise()
    } catch let error as PostgresError where error.isLoginRefused {
      // A login that lacks the role may not read the table of migrations either. The refusal of the
      // role says what to grant.
      try store.becomeWriter()
      throw error
    }
    if !command.worksOnHub || options["now"] != nil || options["as-of"] != nil {
      try store.members.refuseHub()
    }
    try store.becomeWriter()
    return store
  }

  /// How a feed is fetched, with its limits, retries and keys.
  func fetch(
    _ source: Source, _ settings: Settings<Table>, until deadline: Deadline
  ) throws -> Fetch {
    Fetch(
      source,
      client: .session(
        Limits(
          timeoutSeconds: settings.timeoutSeconds,
          maxBodyBytes: settings.maxBodyMegabytes << 20,
          allowLoopback: settings.allowLoopback)),
      retry: Retry(
        attempts: settings.attempts,
        deadline: deadline.instant ?? .now + .seconds(86_400),
        leastSeconds: source.leastSecondsBetweenCalls),
      secrets: Secrets(environment: environment),
      tokens: TokenCache(
        folder: TokenCache.folder(
          configured: settings.stateFolder, environment: environment)),
      reader: try reader(settings), contact: settings.contact)
  }

  /// Reads documents of providers in a process of its own.
  func reader(_ settings: Settings<Table>) throws -> DocumentReader {
    ReaderProcess(
      configuration: try configurationFolder(), environment: environment,
      limits: readerLimits(settings)
    ).documentReader
  }

  /// Reads files of archives in a process of its own.
  func archiveReader(_ settings: Settings<Table>) -> Backfill.Read {
    let (limits, path) = (readerLimits(settings), environment["PATH"] ?? "/usr/bin:/bin")
    return { ArchiveProcess($0, files: $1, now: $2, path: path, limits: limits) }
  }

  private func readerLimits(_ settings: Settings<Table>) -> ConfinedProcess.Limits {
    .init(memoryMegabytes: settings.readerMegabytes, seconds: settings.readerSeconds)
  }
}

/// Whether a word that begins with a minus is a number or a position south of the equator, rather
/// than an option.
private func isNumber(_ word: String) -> Bool {
  word.wholeMatch(of: /-[0-9.]+,?( *-?[0-9.]+)?/) != nil
}
