import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Processes that run at the same time: feeds that do not affect each other, crashes, signals, and
/// hostile environments.
struct WorkerProcessTests {
  static let now = Instant(seconds: 1_782_900_000)

  /// One server that simulates all providers, and the environment variables that point to it.
  final class Providers: Sendable {
    let feeds: SimulatedFeeds
    let server: Server
    let environment: [String: String]
    let asked = Mutex<[String]>([])

    init(spoil: @escaping @Sendable (Server.Request, SimulatedFeeds) -> Server.Answer?) throws {
      let today = Zone.sydney.local(WorkerProcessTests.now).day
      let feeds = SimulatedFeeds(
        Market(seed: 3, stations: 120, days: (today + -3)...(today + 2)),
        at: WorkerProcessTests.now)
      self.feeds = feeds
      let log = Log()
      server = try Server { request in
        log.lines.withLock { $0.append(request.path) }
        return spoil(request, feeds) ?? feeds.answer(request)
      }
      self.log = log
      var environment = SimulatedFeeds.settings(port: server.port)
      environment["BOWSER_ATTEMPTS"] = "1"
      self.environment = environment
    }

    private let log: Log
    private final class Log: Sendable { let lines = Mutex<[String]>([]) }
    var paths: [String] { log.lines.withLock { $0 } }
    deinit { server.stop() }
  }

  private func text(_ answer: Server.Answer) -> (Int, [UInt8], String) {
    guard case .text(let status, let body, let type, _) = answer else { return (200, [], "") }
    return (status, Array(body.utf8), type)
  }

  /// F-Z14, F-H15, F-K02: a connection that closes inside the head of an answer ends the process on
  /// this platform. Each feed has a process of its own, so the failure is reported and counted for
  /// that feed and does not affect the others.
  @Test func aCrashIsOneFeedsAlone() async throws {
    let isBroken = Mutex(true)
    let providers = try Providers { request, feeds in
      guard isBroken.withLock({ $0 }), request.path.contains("/qld-fpd/") else { return nil }
      var random = Random(seed: 1, "cut")
      let (status, body, type) = self.text(feeds.answer(request))
      return Fault.named("head-cut")?.spoil((status, body, type), &random)
    }
    try await TestDatabase.with { target in
      let result = try CommandTests.run(
        ["ingest", "--all", "--now", "\(Self.now)"], on: target,
        environment: providers.environment)
      #expect(result.code == 69, "\(result.err)")
      #expect(result.err.contains("bowser: qld-fpd: "))
      #expect(!result.err.contains("sa-fpd"))
      let stored = try Connection(target).lines(
        "SELECT source FROM fuel_v1.ingest_runs WHERE outcome = 'stored' ORDER BY source")
      #expect(stored == SimulatedFeeds.feeds.filter { $0 != "qld-fpd" })
      isBroken.withLock { $0 = false }
      let healed = try CommandTests.run(
        ["ingest", "--all", "--now", "\(Self.now + .seconds(900))"], on: target,
        environment: providers.environment)
      #expect(healed.code == 0 && healed.err == "", "\(healed.err)")
      #expect(
        try Connection(target).lines(
          "SELECT outcome FROM fuel_v1.ingest_runs WHERE source = 'qld-fpd' ORDER BY run_id DESC LIMIT 1"
        )
          == ["stored"])
    }
  }

  /// F-K02: all feeds run at once, round after round, and none waits for the rows of another.
  @Test func roundsOfAllFeeds() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for round in 0..<4 {
        let at = Self.now + .seconds(round * 46_000)
        providers.feeds.set(at)
        let result = try CommandTests.run(
          ["ingest", "--all", "--summary", "--now", "\(at)"], on: target,
          environment: providers.environment)
        #expect(result.code == 0 && result.err == "", "\(result.err)")
        #expect(result.out.split(separator: "\n").count == 7)
      }
    }
  }

  /// F-K01, F-K09: when one feed is started many times at once, one process works and the others
  /// end with 75 without waiting for it.
  @Test func startsDoNotPileUp() async throws {
    let isHeld = Mutex(true)
    let providers = try Providers { request, feeds in
      guard request.path.hasSuffix("GetSitesPrices") else { return nil }
      while isHeld.withLock({ $0 }) { usleep(10_000) }
      return feeds.answer(request)
    }
    defer { isHeld.withLock { $0 = false } }
    try await TestDatabase.with { target in
      // On a thread of its own, since the one that works keeps a core busy until it is answered.
      let (ended, codes) = try await onThreadOfItsOwn {
        let processes = try (0..<10).map { _ in
          let process = CommandTests.process(
            ["ingest", "qld-fpd", "--now", "\(Self.now)"], target, providers.environment)
          process.standardError = FileHandle.nullDevice
          process.standardInput = FileHandle.nullDevice
          try process.run()
          return process
        }
        let deadline = ContinuousClock.now + .seconds(300)
        while processes.count(where: \.isRunning) > 1, ContinuousClock.now < deadline {
          usleep(10_000)
        }
        // The others have ended while the one that works still waits for its answer.
        let ended = processes.count { !$0.isRunning }
        isHeld.withLock { $0 = false }
        for process in processes { process.waitUntilExit() }
        return (ended, processes.map(\.terminationStatus).sorted())
      }
      #expect(ended == 9)
      #expect(codes == [0] + Array(repeating: 75, count: 9), "\(codes)")
      #expect(try Connection(target).lines("SELECT count(*) FROM fuel.run") == ["1"])
    }
  }

  /// F-K05, F-K04: a signal that arrives while a provider is silent ends both processes of the run.
  /// The next run is normal.
  @Test(.longer, arguments: Long.some([SIGTERM, SIGINT, SIGKILL, SIGHUP], short: 2))
  func signalsEndTheRun(signal: Int32) async throws {
    let isSilent = Mutex(true)
    let isHeld: @Sendable (String) -> Bool = { $0.hasSuffix("GetSitesPrices") }
    let providers = try Providers { request, _ in
      isSilent.withLock { $0 } && isHeld(request.path) ? .silence(seconds: 90) : nil
    }
    try await TestDatabase.with { target in
      // On a thread of its own, since a program whose provider is silent keeps a core busy.
      try await onThreadOfItsOwn {
        let process = CommandTests.process(
          ["ingest", "qld-fpd", "--now", "\(Self.now)"], target, providers.environment)
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, !providers.paths.contains(where: isHeld) { usleep(10_000) }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
      }
      isSilent.withLock { $0 = false }
      let connection = try Connection(target)
      // The database session of the run ends with its process.
      let isGone = try await waitUntil(within: .seconds(15)) {
        try connection.lines(
          """
          SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
          WHERE locktype = 'advisory' AND classid = 1 AND datname = current_database()
          """
        ).isEmpty
      }
      #expect(isGone)
      let next = try CommandTests.run(
        ["ingest", "qld-fpd", "--now", "\(Self.now + .seconds(60))"], on: target,
        environment: providers.environment)
      #expect(next.code == 0 && next.err == "")
      let outcomes = try connection.lines("SELECT outcome FROM fuel_v1.ingest_runs ORDER BY run_id")
      // If the signal leaves it time, the program records itself that the run failed.
      #expect(outcomes.count == 2 && ["interrupted", "failed"].contains(outcomes[0]))
      #expect(outcomes.last == "stored")
    }
  }

  /// F-K07: a process that holds the lock of a feed and hangs blocks other runs only as long as its
  /// database session lives.
  @Test func aHangingLockHolderDiesWithItsSession() async throws {
    let providers = try Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let run = { (seconds: Int) in
        try CommandTests.run(
          ["ingest", "sa-fpd", "--now", "\(Self.now + .seconds(seconds))"], on: target,
          environment: providers.environment)
      }
      #expect(try run(0).code == 0)
      let holder = try Connection(target)
      let process = try holder.lines("SELECT pg_backend_pid()")[0]
      try holder.execute("SELECT pg_advisory_lock(1, source_id::integer) FROM fuel.source")
      let busy = try run(700)
      #expect(busy.code == 75 && busy.err.contains("another run of this feed is under way"))
      try Connection(target).execute("SELECT pg_terminate_backend(\(process))")
      #expect(try run(1_400).code == 0)
    }
  }

  /// F-K03: live runs, replays and aggregations of the same feeds at once lead to the same result
  /// as one after the other.
  @Test func everythingAtOnce() async throws {
    let feeds = ["nsw-fuelcheck", "qld-fpd", "wa-fuelwatch", "sa-fpd"]
    func words(_ target: String) -> [[String]] {
      let now = "\(Self.now + .seconds(600))"
      return feeds.map { ["ingest", $0, "--replay", CommandTests.recording, "--now", now] }
        + [["aggregate", "--now", now], ["aggregate", "--now", now]]
    }
    func published(_ target: String) throws -> [String] {
      _ = try CommandTests.run(["aggregate", "--now", "\(Self.now + .seconds(600))"], on: target)
      let connection = try Connection(target)
      try connection.query(
        "SELECT set_config('bowser.now', \((Self.now + .seconds(600)).description), false)")
      return try connection.lines("SELECT * FROM fuel_v1.daily_averages ORDER BY region, fuel, day")
        + connection.lines(
          "SELECT region, fuel, average_cpl, stations FROM fuel_v1.averages_now ORDER BY 1, 2")
        + connection.lines(
          "SELECT source_station_code, source, fuel, price_cpl, effective_at FROM fuel_v1.current_prices JOIN fuel_v1.stations USING (station_id) ORDER BY 1, 2, 3"
        )
    }
    let plain = try await TestDatabase.with { target in
      for words in words(target) { #expect(try CommandTests.run(words, on: target).code == 0) }
      return try published(target)
    }
    let atOnce = try await TestDatabase.with { target in
      for _ in 0..<3 {
        let processes = try (words(target) + words(target)).map { words in
          let process = CommandTests.process(words, target, [:])
          process.standardError = FileHandle.nullDevice
          process.standardInput = FileHandle.nullDevice
          try process.run()
          return process
        }
        for process in processes {
          try await process.ended()
          #expect([0, 75].contains(process.terminationStatus))
        }
      }
      return try published(target)
    }
    #expect(plain.count > 100)
    #expect(firstDifference(atOnce, plain) == nil)
  }
}
