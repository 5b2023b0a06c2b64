import Foundation
import FuelModel
import Postgres
import Simulator
import TestDatabase
import Testing

/// What other services build on: notifications by NOTIFY, and the view `fuel_v1.changes` to catch
/// up from.
struct ChangesTests {
  static let now = WorkerProcessTests.now

  /// F-O08: each committed run sends one notification, which is small and has the documented shape.
  @Test func everyCommittedRunIsAnnounced() async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let done = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      let heard = done + ".heard"
      _ = FileManager.default.createFile(atPath: heard, contents: nil)
      let listener = Process()
      listener.executableURL = URL(filePath: "/bin/bash")
      listener.arguments = [
        "-c",
        "(echo 'LISTEN fuel_v1;'; while [ ! -e \(done) ]; do sleep 0.1; done; echo 'SELECT 1;') | psql -X '\(target)' > \(heard)",
      ]
      try listener.run()
      let connection = try Connection(target)
      let isListening =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'"
      try await waitUntil { try !connection.lines(SQL(stringLiteral: isListening)).isEmpty }
      for words in [["ingest", "--all"], ["aggregate"], ["ingest", "qld-fpd", "--dry-run"]] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now)"], on: target, environment: providers.environment)
        #expect([0, 75].contains(result.code), "\(result.err)")
      }
      _ = FileManager.default.createFile(atPath: done, contents: nil)
      try await listener.ended()
      let payloads = try String(contentsOfFile: heard, encoding: .utf8)
        .matches(of: /notification "fuel_v1" with payload "(.*)" received/).map { String($0.1) }
      #expect(payloads.count == 8, "\(payloads)")
      let stored = try connection.lines(
        "SELECT run_id, change_number, stored FROM fuel.run WHERE change_number IS NOT NULL ORDER BY 1"
      )
      var announced: [String] = []
      for payload in payloads {
        #expect(payload.utf8.count < 300)
        let value = try #require(
          try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any])
        #expect(value["version"] as? Int == 1)
        if value["kind"] as? String == "aggregate" {
          #expect(value["run"] as? Int == 1 && value["new_verdicts"] is Int)
        } else {
          #expect(value["kind"] as? String == "live" && value["source"] is String)
          announced.append(
            "\(value["run"] ?? "")|\(value["change"] ?? "")|\(value["stored"] ?? "")")
        }
      }
      #expect(announced.sorted() == stored.sorted())
    }
  }

  /// A list that arrives after a later one can alter history that is already published under other
  /// change numbers. The run then adds a change of kind `history`.
  @Test func aLateListSaysSo() async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      for (hours, words) in [(2, ["ingest", "--all"]), (1, ["ingest", "qld-fpd"])] {
        let result = try CommandTests.run(
          words + ["--now", "\(Self.now + .seconds(3_600 * hours))"], on: target,
          environment: providers.environment)
        #expect(result.code == 0, "\(result.err)")
      }
      #expect(
        try Connection(target).lines(
          "SELECT what, source, run_id FROM fuel_v1.changes WHERE what = 'history'")
          == ["history|qld-fpd|8"])
    }
  }

  /// F-S18: whoever catches up reads each run once, and not once more for each earlier one.
  @Test func eachRunIsReadOnce() async throws {
    try await TestDatabase.with { target in
      let plan = try Connection(target).lines(
        "EXPLAIN (COSTS OFF) SELECT * FROM fuel_v1.changes WHERE change_number > 7")
      // The second time is for the runs of withdrawals.
      #expect(plan.count { $0.contains(/on run\b/) } == 2, "\(plan.joined(separator: "\n"))")
    }
  }

  /// Change numbers become visible in ascending order, even when several processes commit. F-O08: a
  /// reader that remembers the highest number can come back at any time and misses nothing.
  @Test func nobodyMissesAChange() async throws {
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let archive = try BackfillTests.archive(months: 4, rows: 300)
      let processes = try [
        ["ingest", "--all", "--now", "\(Self.now)"], ["backfill", "nsw-fuelcheck", archive],
      ].map { words in
        let process = CommandTests.process(words, target, providers.environment)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
      }
      var last = 0
      var copied: [String] = []
      func catchUp() throws {
        let rows = try connection.query(
          """
          SELECT change_number, what, source, station_id, fuel, price_cpl, effective_at
          FROM fuel_v1.changes WHERE change_number > \(last) ORDER BY change_number
          """)
        for row in rows {
          last = max(last, try row.integer("change_number"))
          copied.append(
            try ["what", "source", "station_id", "fuel", "price_cpl", "effective_at"].map {
              try row.optional($0) ?? ""
            }.joined(separator: "|"))
        }
      }
      while processes.contains(where: \.isRunning) {
        try catchUp()
        try await Task.sleep(for: .milliseconds(5))
      }
      try catchUp()
      let all = try connection.lines(
        """
        SELECT what, source, coalesce(station_id::text, '') AS station, coalesce(fuel, '') AS fuel,
          coalesce(price_cpl::text, '') AS price, coalesce(effective_at::text, '') AS at
        FROM fuel_v1.changes
        """)
      #expect(firstDifference(copied.sorted(), all.sorted()) == nil)
      #expect(all.count > 1_000)
      #expect(all.count { $0.hasPrefix("history|nsw-fuelcheck") } == 4)
      // The changes contain every price that a feed reported.
      let missing = try connection.lines(
        """
        SELECT count(*) FROM fuel.price
        WHERE NOT EXISTS (
          SELECT FROM fuel_v1.changes
          WHERE changes.station_id = price.station_id AND changes.effective_at = price.effective_at)
        """)
      #expect(missing == ["0"])
    }
  }
}
