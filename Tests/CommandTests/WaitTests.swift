import Foundation
import FuelModel
import Postgres
import Store
import TestDatabase
import Testing

/// Every wait ends. A database that falls silent, drops the connection or loses an answer at any
/// message does not hold up a command.
struct WaitTests {
  /// Commands, each with the exit codes that are allowed when the database fails.
  private static let commands: [(words: [String], codes: Set<Int32>)] = [
    (["ingest", "qld-fpd", "--replay", CommandTests.recording], [75]),
    (["ingest", "wa-fuelwatch"], [75]),
    (["aggregate"], [75]),
    (["backfill", "recordings", CommandTests.recording], [75]),
    (["migrate"], [75]),
    (["withdraw", "1", "--reason", "a test"], [65, 75]),
    (["status"], [75]),
    (["show"], [75]),
    (["metrics"], [75]),
    (["gaps"], [75]),
    (["stations", "--doubtful"], [75]),
    (["doctor"], [75, 78]),
    (["export", "regions"], [75]),
    (["report", "--out", NSTemporaryDirectory() + "bowser-waits"], [75]),
  ]

  /// The number of messages of each conversation at which the fault occurs. To try all of them:
  /// WAIT_PLACES=500 make test-long.
  private static let places = Long.count("WAIT_PLACES", short: 1, long: 2)
  private static let seconds = Long.isOn ? 2 : 1
  /// All faults. To choose one by hand: WAIT_FAULT=drops.
  private static let faults = Proxy.Fault.allCases.filter {
    ["\($0)", nil].contains(ProcessInfo.processInfo.environment["WAIT_FAULT"])
  }

  /// F-N03, F-N07, F-N08: each command ends soon after its deadline, with a code that means "try
  /// again", or with 0 if its work was done. The next run repairs what was left.
  @Test(.longer, arguments: faults)
  func everyCommandEndsByItsDeadline(fault: Proxy.Fault) async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let looker = try Connection(target, application: "looker")
      // A run that meets the fault gives up soon. The others may wait, as on a busy machine they must.
      let patient = providers.environment
      var environment = patient
      environment["PGCONNECT_TIMEOUT"] = "2"
      let now = ["--now", "\(WorkerProcessTests.now + .seconds(600))"]
      _ = try CommandTests.run(
        ["ingest", "qld-fpd", "--replay", CommandTests.recording] + now, on: target,
        environment: patient)
      // In the short form the faults share the commands.
      let turn = Self.faults.firstIndex(of: fault) ?? 0
      let commands = Self.commands.enumerated().filter {
        Long.isOn || $0.offset % Self.faults.count == turn
      }
      for (name, codes) in commands.map(\.element) {
        // In the long form each fault writes a site of its own.
        let words = name.map { $0.hasSuffix("/bowser-waits") ? "\($0)-\(fault)" : $0 }
        // A first run without a fault counts the messages.
        let whole = try Proxy(fault)
        let plain = try CommandTests.run(
          words + now, on: whole.target(target), environment: patient)
        whole.close()
        #expect(plain.code == 0 || plain.code == 78 || words[0] == "withdraw", "\(words) \(plain)")
        let count = Self.places
        let places = Set((1...count).map { max(2, whole.seen * $0 / (count + 1)) })
        for place in places.sorted() {
          let proxy = try Proxy(fault, atMessage: place)
          let began = ContinuousClock.now
          let result = try CommandTests.run(
            words + now + ["--deadline", "\(Self.seconds)"], on: proxy.target(target),
            environment: environment)
          let took = ContinuousClock.now - began
          proxy.close()
          let isReported = codes.union([0, plain.code]).contains(result.code)
          #expect(isReported, "\(words) \(fault) at \(place): \(result)")
          #expect(took < .seconds(Self.seconds + 28), "\(words) \(fault) at \(place)")
        }
        if count > 2 { print("\(words[0]) \(fault): \(places.count) of \(whole.seen) messages") }
        // The next run repairs what was broken off.
        try await waitUntil { try locks(looker) == 0 }
        let healed = try CommandTests.run(words + now, on: target, environment: patient)
        // A withdrawal that was done in spite of the fault is refused the second time, with 65.
        let good: Set<Int32> = [0, plain.code, words[0] == "withdraw" ? 65 : 0]
        let isHealed = good.contains(healed.code)
        #expect(isHealed, "\(words) after \(fault): \(healed)")
      }
    }
  }

  /// Returns how many advisory locks sessions of the program hold. The program holds other locks
  /// only for moments.
  private func locks(_ looker: Connection) throws -> Int {
    try looker.query(
      """
      SELECT count(*) AS count
      FROM pg_catalog.pg_locks
      JOIN pg_catalog.pg_stat_activity USING (pid)
      WHERE pg_locks.locktype = 'advisory' AND application_name = 'bowser' AND datname = current_database()
      """
    ).only().integer("count")
  }

  /// F-N03: when the server is not notified that a program has died, the locks of the program are
  /// released within 130 seconds.
  @Test(.long) func locksOfTheDeadGo() async throws {
    try await TestDatabase.with { target in
      let proxy = try Proxy(.stops, atMessage: 8)
      defer { proxy.close() }
      let connection = try Connection(proxy.target(target), deadline: Deadline(seconds: 15))
      #expect(throws: PostgresError.self) {
        try connection.execute("BEGIN")
        try connection.execute("SELECT pg_advisory_lock(4711)")
        for _ in 0..<20 { try connection.execute("SELECT 1") }
      }
      let looker = try Connection(target, application: "looker")
      #expect(try locks(looker) == 1)
      #expect(try await waitUntil(within: .seconds(130)) { try locks(looker) == 0 })
    }
  }

  /// F-N03: in the middle of a COPY the server waits for its client without limit. The next process
  /// that needs the lock ends that session.
  @Test(.long) func aSilentCopyIsEnded() async throws {
    try await TestDatabase.with { target in
      let proxy = try Proxy(.stops, atMessage: 9)
      defer { proxy.close() }
      let looker = try Connection(target, application: "looker")
      let feed = try Feed(target)
      let silent = try Connection(proxy.target(target), deadline: Deadline(seconds: 5))
      try silent.execute("SELECT pg_advisory_lock(1, (SELECT source_id FROM fuel.source))")
      try silent.execute("CREATE TEMPORARY TABLE numbers (number integer NOT NULL)")
      #expect(throws: PostgresError.self) {
        try silent.copy(into: "pg_temp.numbers", columns: 1) { copy in
          for number in 0..<10_000_000 {
            try copy.beginRow()
            copy.write(Int32(number))
          }
        }
      }
      #expect(try locks(looker) == 1)
      #expect(try !feed.store.ledger.lock(feed.id))
      try await Task.sleep(for: .seconds(100))
      #expect(try locks(looker) == 1)
      #expect(try feed.store.ledger.lock(feed.id))
    }
  }

  /// F-K06: when the answer to a COMMIT is lost, at whichever COMMIT of a run, the run finds that
  /// the work is done, or the next run repeats it without effect.
  @Test(.longer) func aLostAnswerOfAnyCommitDoesNoHarm() async throws {
    let words = [
      "ingest", "qld-fpd", "--replay", CommandTests.recording, "--now", "\(WorkerProcessTests.now)",
    ]
    func stored(_ target: String) throws -> [String] {
      let connection = try Connection(target)
      return try connection.lines(
        """
        SELECT station_code, fuel_id, effective_at, price_tenths
        FROM fuel.price JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3, 4
        """)
        + connection.lines("SELECT count(*) FROM fuel_v1.ingest_runs WHERE outcome = 'stored'")
    }
    /// Runs twice, the first time through a proxy.
    func twice(losing commit: Int?) async throws -> (code: Int32, commits: Int, stored: [String]) {
      try await TestDatabase.with { target in
        let proxy = try Proxy(.losesTheAnswer, atCommit: commit)
        let first = try CommandTests.run(words, on: proxy.target(target))
        let commits = proxy.commits
        proxy.close()
        // What is done is reported as done.
        let isDone = try stored(target).last == "1"
        #expect(first.code == 0 || !isDone, "COMMIT \(commit ?? 0): \(first)")
        let second = try CommandTests.run(words, on: target)
        #expect(second.code == 0, "COMMIT \(commit ?? 0): \(first), then \(second)")
        return (first.code, commits, try stored(target))
      }
    }
    let whole = try await twice(losing: nil)
    #expect(whole.code == 0 && whole.commits > 0 && whole.stored.count > 20)
    var codes: Set<Int32> = []
    let step = max(1, whole.commits / Long.count(short: 3, long: 100))
    for commit in stride(from: 1, through: whole.commits, by: step) {
      let found = try await twice(losing: commit)
      codes.insert(found.code)
      #expect(firstDifference(found.stored, whole.stored) == nil, "COMMIT \(commit)")
    }
    #expect(codes.contains(0) && codes.isSubset(of: [0, 75]), "\(codes)")
  }

  /// F-N07: the server crashes and restarts while a run writes. The run ends with 75 and has stored
  /// nothing. The next run stores everything.
  @Test(.long) func aRestartIsAReasonToTryAgain() async throws {
    let cluster = try Cluster()
    #expect(try CommandTests.run(["migrate"], on: cluster.target).code == 0)
    let words = [
      "ingest", "qld-fpd", "--replay", CommandTests.recording, "--now", "\(WorkerProcessTests.now)",
    ]
    // The lock stops the run where it writes prices.
    let holder = try Connection(cluster.target, application: "holder")
    try holder.execute("BEGIN; LOCK TABLE fuel.price IN SHARE MODE")
    let process = CommandTests.process(words, cluster.target, [:])
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let looker = try Connection(cluster.target, application: "looker")
    let isWriting = try await waitUntil {
      try looker.lines(
        """
        SELECT count(*) FROM pg_catalog.pg_stat_activity
        WHERE application_name = 'bowser' AND wait_event_type = 'Lock'
        """) == ["1"]
    }
    #expect(isWriting)
    try cluster.crash()
    try await process.ended()
    #expect(process.terminationStatus == 75)
    let prices = try Connection(cluster.target)
    #expect(try prices.lines("SELECT count(*) FROM fuel.price") == ["0"])
    let next = try CommandTests.run(words, on: cluster.target)
    #expect(next.code == 0, "\(next)")
    #expect(try prices.lines("SELECT count(*) > 20 FROM fuel.price") == ["t"])
    #expect(
      try prices.lines(
        "SELECT outcome FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1") == ["stored"])
  }

  /// F-N10: a command that needs a thread, and gets no memory for one, is ended by the timer of the
  /// kernel. A thread takes as much memory as `ulimit -s` says, which is more than `ulimit -v`
  /// leaves.
  @Test(.long) func aTimerEndsWhatHasNoThread() async throws {
    let process = CommandTests.process([], "", [:])
    let program = process.executableURL?.path ?? ""
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "ulimit -s 4000000; ulimit -v 2000000; exec timeout -s KILL 60 '\(program)' status",
    ]
    let result = try await finished(process)
    #expect(result.code == 75 && result.err.contains("out of memory"), "\(result)")
  }

  /// F-N10: what needs no thread ends at once where there is no memory for one.
  @Test func littleMemoryIsAnEnd() throws {
    let process = CommandTests.process([], "", [:])
    let program = process.executableURL?.path ?? ""
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c", "ulimit -s 4000000; ulimit -v 2000000; exec timeout -s KILL 60 '\(program)' --version",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
