import Foundation
import Postgres
import Simulator
import TestDatabase
import Testing

/// Every command that changes something is ended at random moments in each manner.
struct KillTests {
  private enum Manner: CaseIterable {
    /// SIGKILL, as `kill -9` and the out-of-memory killer send it.
    case killed
    /// SIGTERM, as a time limit of cron and `systemctl stop` send it.
    case terminated
    /// The database sessions are terminated, as an administrator can do.
    case cutOff
    /// The server ends without a shutdown, as in a power cut.
    case crashed
  }

  /// One command in the weeks of an operator. `words` returns its arguments, given the folder for
  /// its files and a connection for what it must look up.
  private struct Step {
    var name: String
    var words: (_ folder: String, _ connection: Connection?) throws -> [String]
    /// The exit code of a repetition, beside 0, when the killed command had already completed its
    /// work.
    var isDone: Int32 = 0
  }

  private static let now = "2026-07-01T10:05:00Z"

  private static func firstRun(_ feed: String, _ connection: Connection?) throws -> String {
    try connection?.lines(
      """
      SELECT min(run_id) FROM fuel.run JOIN fuel.source USING (source_id)
      WHERE source = \(feed) AND outcome IN ('stored', 'unchanged', 'withdrawn')
      """
    ).first ?? "0"
  }

  private static func steps(archive: String, recordings: String) -> [Step] {
    [
      Step(name: "migrate") { _, _ in ["migrate"] },
      Step(name: "ingest") { _, _ in
        ["ingest", "--all", "--replay", recordings, "--now", now]
      },
      Step(name: "backfill") { _, _ in ["backfill", "nsw-fuelcheck", archive, "--now", now] },
      Step(name: "aggregate") { _, _ in ["aggregate", "--now", now] },
      Step(
        name: "withdraw",
        words: { _, connection in
          ["withdraw", try firstRun("qld-fpd", connection), "--reason", "a test", "--now", now]
        }, isDone: 65),
      Step(name: "aggregate after") { _, _ in ["aggregate", "--now", now] },
      Step(
        name: "undo",
        words: { _, connection in
          [
            "withdraw", try firstRun("qld-fpd", connection), "--undo", "--reason", "a test",
            "--now", now,
          ]
        }, isDone: 65),
      Step(name: "recordings") { _, _ in
        ["backfill", "recordings", recordings, "--now", now]
      },
      Step(name: "rebuild") { _, _ in ["aggregate", "--rebuild", "--now", now] },
      Step(name: "notify") { _, _ in ["notify", "--now", now] },
      Step(name: "report") { folder, _ in ["report", "--out", folder + "/report", "--now", now] },
      Step(name: "metrics") { folder, _ in ["metrics", "--out", folder + "/m.prom", "--now", now] },
      Step(name: "export") { folder, _ in
        ["export", "daily_averages", "--out", folder + "/days.csv", "--now", now]
      },
    ]
  }

  /// Returns what readers see, without numbers that depend on the order of attempts.
  private func state(_ target: String) throws -> [String] {
    let connection = try Connection(target)
    guard try connection.lines("SELECT to_regclass('fuel.country') IS NOT NULL") == ["t"] else {
      return []
    }
    try connection.query("SELECT set_config('bowser.now', \(Self.now), false)")
    let names = try connection.lines(
      """
      SELECT viewname FROM pg_views
      WHERE schemaname = 'fuel_v1'
        AND viewname NOT IN (
          'ingest_runs', 'run_rejects', 'aggregate_runs', 'pipeline', 'changes', 'feed_health')
      ORDER BY 1
      """)
    // A repeated report counts as unchanged, and an attempt that failed or died stored nothing. Neither
    // is compared.
    let runs = try connection.lines(
      """
      SELECT source, outcome, received, stored, unchanged, duplicate, rejected, kind, taken_at, withdrawn_because
      FROM fuel_v1.ingest_runs
      WHERE outcome IN ('stored', 'superseded', 'withdrawn')
      ORDER BY 1, 2, 3, 4, 9
      """)
    return try names.map { name in
      let digest = try connection.lines(
        SQL(
          stringLiteral: """
            SELECT count(*), md5(string_agg(line, ';' ORDER BY line))
            FROM (
              SELECT (shown - ARRAY['run_id', 'station_id', 'record_id']
                || jsonb_build_object('station', station.name))::text AS line
              FROM (
                SELECT to_jsonb(published) AS shown FROM fuel_v1.\(name) AS published
              ) AS published
              LEFT JOIN (
                SELECT station_id, source || ' ' || station_code AS name
                FROM fuel.station JOIN fuel.source USING (source_id)
              ) AS station ON station.station_id = (shown->>'station_id')::integer
            ) AS lines
            """))
      return "\(name): \(digest)"
    } + runs
  }

  private func files(_ folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().compactMap { name in
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
      return isFolder.boolValue
        ? nil : "\(name): \(try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))"
    }
  }

  /// Writes a configuration whose rules pass each notice to a program, and returns its path. The
  /// program keeps notices in the folder `received`, without their numbers and without the mark for
  /// repetitions.
  private func configuration(_ folder: String) throws -> String {
    let path = folder + "/notices"
    let received = path + "/received"
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: path)
    try FileManager.default.createDirectory(atPath: received, withIntermediateDirectories: true)
    let script = """
      #!/bin/sh
      set -e
      sed -E 's/"(id|repeat)":[a-z0-9]+,//g' >'\(received)'/.$$
      # The sender may have died before all was written.
      grep -q '}$' '\(received)'/.$$
      mv '\(received)'/.$$ '\(received)'/$$
      """
    try Data(script.utf8).write(to: URL(filePath: path + "/tell"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: path + "/tell")
    let rules = ["brisbane", "gold-coast", "qld", "nsw", "sydney", "cairns"].map {
      "{ name: 'below-\($0)', place: '\($0)', belowCents: 300, command: '\(path)/tell' },"
    }
    try Data("[\(rules.joined(separator: "\n"))]".utf8).write(
      to: URL(filePath: path + "/notify.json5"))
    return path
  }

  /// Returns each notice that the program received, once, and empties its folder.
  private func received(_ configuration: String) throws -> [String] {
    let folder = configuration + "/received"
    defer {
      try? FileManager.default.removeItem(atPath: folder)
      try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    }
    return Set(
      try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { !$0.hasPrefix(".") }
        .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
    ).sorted()
  }

  /// F-K04: whichever command is ended in whatever manner, the next run ends as one that nothing
  /// disturbed.
  @Test(.long) func everyCommandOutlivesItsEnd() async throws {
    let cluster = try Cluster()
    let archive = try BackfillTests.archive(months: 8, rows: 1_500)
    defer { try? FileManager.default.removeItem(atPath: archive) }
    let configuration = try configuration(cluster.folder)
    let environment = ["BOWSER_CONFIG": configuration]
    let postgres = cluster.database("postgres")
    func make(_ name: String, from template: String) throws {
      let connection = try Connection(postgres)
      try connection.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
      try connection.execute("CREATE DATABASE \(name) TEMPLATE \(template)")
      // Sequences of the template have logged some values ahead. Until a checkpoint the copy does
      // not log them again, and a crash would set its sequences back.
      try connection.execute("CHECKPOINT")
    }
    func settle(_ name: String) async throws {
      let others =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)' AND backend_type = 'client backend'"
      let looker = try Connection(postgres)
      try await waitUntil { try looker.lines(SQL(stringLiteral: others)) == ["0"] }
    }
    func begin(_ step: Step, _ name: String, _ folder: String) throws -> Process {
      let target = cluster.database(name)
      let connection = step.isDone == 0 ? nil : try Connection(target)
      let process = CommandTests.process(try step.words(folder, connection), target, environment)
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      return process
    }
    func out() throws -> String {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      return folder
    }

    let steps = Self.steps(archive: archive, recordings: CommandTests.recording)
    // To choose the number by hand: KILLS=300 make test-long.
    let wanted = Long.count("KILLS", short: 0, long: 13)
    var random = Random(seed: 21, "kills")
    var kills: [String: Int] = [:]
    var before = "template0"
    for (number, step) in steps.enumerated() {
      let after = "after_\(number)"
      try make(after, from: before)
      let expectedFolder = try out()
      let began = ContinuousClock.now
      let whole = try begin(step, after, expectedFolder)
      try await whole.ended()
      #expect(whole.terminationStatus == 0, "\(step.name)")
      var length = Double((ContinuousClock.now - began) / .milliseconds(1))
      let expected = try state(cluster.database(after))
      let expectedFiles = try files(expectedFolder)
      let expectedNotices = try received(configuration)
      #expect(expectedNotices.isEmpty == (step.name != "notify"), "\(step.name)")
      let share = wanted * (number + 1) / steps.count - wanted * number / steps.count
      var hits = 0
      for _ in 0..<10 * share where hits < share {
        try await settle(before)
        try make("hit", from: before)
        let folder = try out()
        for _ in 0..<4 where hits < share {
          let manner = Manner.allCases[Int(random.integer(0...3))]
          let process = try begin(step, "hit", folder)
          try await Task.sleep(for: .milliseconds(Int(length * random.real(0.05...1))))
          switch manner {
          case .killed: kill(process.processIdentifier, SIGKILL)
          case .terminated: kill(process.processIdentifier, SIGTERM)
          case .cutOff:
            try Connection(postgres).execute(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'hit'")
          case .crashed: try cluster.crash()
          }
          try await process.ended()
          if process.terminationReason == .exit, process.terminationStatus == 0 {
            length *= 0.9
            break
          }
          hits += 1
          kills["\(manner)", default: 0] += 1
        }
        try await settle("hit")
        let target = cluster.database("hit")
        let words = try step.words(folder, step.isDone == 0 ? nil : Connection(target))
        let last = try CommandTests.run(words, on: target, environment: environment)
        #expect([0, step.isDone].contains(last.code), "\(step.name): \(last)")
        let found = try state(cluster.database("hit"))
        #expect(firstDifference(found, expected) == nil, "\(step.name)")
        #expect(firstDifference(try files(folder), expectedFiles) == nil, "\(step.name)")
        let difference = firstDifference(try received(configuration), expectedNotices)
        #expect(difference == nil, "\(step.name): \(difference ?? "")")
        let verified = try CommandTests.run(["verify"], on: cluster.database("hit"))
        #expect(verified.code == 0, "\(step.name): \(verified)")
        try FileManager.default.removeItem(atPath: folder)
      }
      #expect(hits == share, "\(step.name)")
      try await settle(after)
      before = after
    }
    let all = kills.values.reduce(0, +)
    #expect(all == wanted)
    print("ended \(all) times: \(kills.sorted { $0.key < $1.key })")
  }
}
