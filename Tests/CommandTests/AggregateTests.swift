import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// `bowser aggregate` as cron runs it.
struct AggregateTests {
  private func dump(_ target: String) throws -> [String] {
    let connection = try Connection(target)
    return try connection.lines(
      "SELECT to_jsonb(d) - 'made_at' FROM fuel.daily_rollup AS d ORDER BY 1")
      + connection.lines("SELECT * FROM fuel.verdict ORDER BY region, fuel_id, computed_at")
      + connection.lines("SELECT * FROM fuel.region_change ORDER BY region, fuel_id")
      + connection.lines("SELECT * FROM fuel.due ORDER BY 1, 2, 3")
  }

  private static let words = ["aggregate", "--rebuild", "--now", "2026-08-20T02:00:00Z"]

  /// F-G13: `aggregate` may be killed at any moment. The next run then stores the same rows as a
  /// run that was never disturbed, and an `ingest` that runs at the same time is not affected.
  @Test(.longer) func aKilledAggregateIsMadeGood() async throws {
    try await TestDatabase.with { target in
      let ingest = ["ingest", "nsw-fuelcheck", "--replay", CommandTests.recording]
      #expect(try CommandTests.run(ingest, on: target).code == 0)
      #expect(try CommandTests.run(Self.words, on: target).code == 0)
      let expected = try dump(target)
      #expect(expected.count > 50)
      var random = Random(seed: 13, "kills")
      var length = 400.0
      let kills = Long.count(short: 2, long: 8)
      var interrupted = 0
      // `length` adapts to the time in milliseconds that a run takes on this machine.
      for _ in 0..<200 where interrupted < kills {
        let process = CommandTests.process(Self.words, target, [:])
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let beside = interrupted % 3 == 0 ? CommandTests.process(ingest, target, [:]) : nil
        beside?.standardOutput = FileHandle.nullDevice
        beside?.standardError = FileHandle.nullDevice
        try beside?.run()
        try await Task.sleep(for: .milliseconds(Int(length * random.real(0.1...1))))
        kill(process.processIdentifier, SIGKILL)
        try await process.ended()
        try await beside?.ended()
        if let beside { #expect(beside.terminationStatus == 0) }
        if process.terminationReason == .uncaughtSignal {
          interrupted += 1
          length *= 1.2
        } else {
          length *= 0.6
        }
      }
      #expect(interrupted == kills)
      var last = try CommandTests.run(Self.words, on: target)
      for _ in 0..<50 where last.code == 75 {
        // The server may not yet have ended the session of the process that was killed last.
        try await Task.sleep(for: .milliseconds(100))
        last = try CommandTests.run(Self.words, on: target)
      }
      #expect(last.code == 0, "\(last.err)")
      #expect(firstDifference(try dump(target), expected) == nil)
    }
  }

  /// `aggregate --as-of` prints CSV on standard output and stores nothing. It refuses an instant in
  /// the future.
  @Test func asOfPrintsAndStoresNothing() async throws {
    try await TestDatabase.with { target in
      let ingest = ["ingest", "nsw-fuelcheck", "--replay", CommandTests.recording]
      #expect(try CommandTests.run(ingest, on: target).code == 0)
      #expect(try CommandTests.run(Self.words, on: target).code == 0)
      let before = try dump(target)
      let first = try Connection(target).query(
        "SELECT (max(taken_at) + interval '1 minute')::text AS at FROM fuel.run"
      ).only().text("at").replacing(" ", with: "T")
      let result = try CommandTests.run(["aggregate", "--as-of", first], on: target)
      #expect(result.code == 0 && result.err == "")
      let lines = result.out.split(separator: "\n")
      #expect(lines.count > 3)
      #expect(lines[0].hasPrefix("region,fuel,day,average_cpl,") && lines[1].hasPrefix("ACT,"))
      #expect(firstDifference(try dump(target), before) == nil)
      let early = try CommandTests.run(
        ["aggregate", "--as-of", "2020-01-01T00:00:00Z"], on: target)
      let reason = "bowser: nothing was known at 2020-01-01T00:00:00Z: no price had been stored by"
      #expect(early.code == 0 && early.err.hasPrefix(reason), "\(early)")
      #expect(early.out.split(separator: "\n").count == 1, "\(early)")
      #expect(
        try CommandTests.run(["aggregate", "--as-of", "2999-01-01T00:00:00Z"], on: target).code
          == 64)
      #expect(
        try CommandTests.run(["aggregate", "--as-of", first, "--rebuild"], on: target).code == 64)
    }
  }

  /// F-O63: an aggregate of an instant before the newest run would take the prices since then for those
  /// of tomorrow, and its verdicts would stay.
  @Test func anAggregateOfThePastIsRefused() async throws {
    try await TestDatabase.with { target in
      let ingest = ["ingest", "nsw-fuelcheck", "--replay", CommandTests.recording]
      #expect(try CommandTests.run(ingest, on: target).code == 0)
      #expect(try CommandTests.run(Self.words, on: target).code == 0)
      let before = try dump(target)
      let newest = try #require(try Store(try Connection(target)).ledger.newestRun())
      for options in [[], ["--rebuild"]] {
        let past = try CommandTests.run(
          ["aggregate", "--now", "\(newest - .seconds(1))"] + options, on: target)
        let reason = "bowser: --now lies before the newest stored run, of \(newest): leave it out"
        #expect(past.code == 64 && past.err.hasPrefix(reason), "\(past)")
      }
      #expect(firstDifference(try dump(target), before) == nil)
      let now = try CommandTests.run(["aggregate", "--now", "\(newest)"], on: target)
      #expect(now.code == 0, "\(now)")
    }
  }

  /// F-O24: a year in the future is a mistake more often than a replay, and the verdicts of an
  /// aggregate stay.
  @Test func aClockAheadIsTold() async throws {
    try await TestDatabase.with { target in
      let warning = "msg=\"--now lies ahead of the clock of this machine\" now=2999-01-01T00:00:00Z"
      let ahead = try CommandTests.run(["aggregate", "--now", "2999-01-01T00:00:00Z"], on: target)
      #expect(ahead.code == 0 && ahead.err.contains(warning), "\(ahead)")
      let past = try CommandTests.run(Self.words, on: target)
      #expect(past.code == 0 && past.err == "", "\(past)")
    }
  }
}
