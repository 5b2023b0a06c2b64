import Foundation
import FuelModel
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Timeline

/// Tests kept answers of feeds that are loaded as history.
struct ReplaysTests {
  private static let feeds = ["qld-fpd", "nsw-fuelcheck", "vic-fairfuel"]

  /// Records answers of three feeds, twice a day: a folder for each instant and one for all.
  private func record(_ bench: Bench, into folder: String) throws -> [String] {
    try (0..<8).map { step in
      let instant = Bench.end - .seconds(Int64(8 - step) * 43_200)
      let name = "\(instant)".filter { $0.isNumber || "TZ".contains($0) }
      for feed in Self.feeds {
        for document in bench.feeds.documents(of: feed, at: instant) {
          for part in ["all", "\(step)"] {
            let path = "\(folder)/\(part)/\(feed)/\(name)"
            try FileManager.default.createDirectory(
              atPath: path, withIntermediateDirectories: true)
            try Data(document.bytes).write(to: URL(filePath: "\(path)/\(document.name).json"))
          }
        }
      }
      return "\(folder)/\(step)"
    }
  }

  private func spans(_ bench: Bench) throws -> [String] {
    try ["span", "present_span"].flatMap { table in
      try bench.lines(
        SQL(
          stringLiteral: """
            SELECT station.station_code, held.fuel_id, held.from_at, held.until_at, held.lapses_at, held.is_open,
              held.is_ended, held.price_tenths, held.stated_at, held.doubt, held.doubt_from_at, held.doubt_until_at
            FROM fuel.\(table) AS held JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3
            """))
    }
  }

  /// The spans that an aggregate makes of many answers loaded together are those that loading one
  /// answer after another makes.
  @Test(.long) func manyAnswersLeaveWhatOneByOneLeaves() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var found: [[String]] = []
    for isAtOnce in [true, false] {
      try await TestDatabase.with { target in
        let bench = try Bench(target)
        let parts = try record(bench, into: folder)
        let store = try bench.store()
        let clock = Clock.fixed(Bench.end)
        if isAtOnce {
          let results = try Replays(
            try Self.feeds.map(bench.source), store: store, clock: clock, log: bench.log
          ).recordings(["\(folder)/all"])
          let isLoaded = results.map { if case .loaded = $0.outcome { true } else { false } }
          #expect(isLoaded == Array(repeating: true, count: 24))
          #expect(
            try bench.lines("SELECT count(*) > 100 FROM fuel.due WHERE step = 'spans'") == ["t"])
          #expect(try bench.lines("SELECT count(*) FROM fuel.span") == ["0"])
        } else {
          for part in parts {
            for feed in Self.feeds {
              for run in try Recording(folder: part).runs(of: feed) {
                _ = try Ingest(try bench.source(feed), store: store, clock: clock, log: bench.log)
                  .replay(run.documents())
              }
            }
          }
          #expect(try bench.lines("SELECT count(*) FROM fuel.due WHERE step = 'spans'") == ["0"])
        }
        _ = try Aggregate(
          store: store, regions: [.queensland, .newSouthWales, .nation], clock: clock,
          log: bench.log
        ).run()
        found.append(
          try spans(bench)
            + bench.lines("SELECT to_jsonb(d) - 'made_at' FROM fuel.daily_rollup AS d ORDER BY 1"))
      }
    }
    #expect(found[0].count > 700)
    #expect(firstDifference(found[0], found[1]) == nil)
  }

  /// F-O60: a recorded answer that was withdrawn is not loaded again with the others.
  @Test func aWithdrawnAnswerStaysOut() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      _ = try record(bench, into: folder)
      let store = try bench.store()
      func load() throws -> [Backfill.Result] {
        try Replays(
          [bench.source("qld-fpd")], store: store, clock: .fixed(Bench.end), log: bench.log
        ).recordings(["\(folder)/all"])
      }
      #expect(try load().count { if case .loaded = $0.outcome { true } else { false } } == 8)
      let wrong = try #require(try store.ledger.ledgerRun(6))
      _ = try Standings(
        store, of: wrong.source,
        rules: ListRules(window: 1, refuseBelow: 0, partialBelow: 0), now: Bench.end
      ).decide(wrong.run, takenAt: wrong.takenAt, counts: false, reason: "a test")
      let again = try load().map { "\($0.outcome)" }
      #expect(again == Array(repeating: "known", count: 8))
      #expect(
        try bench.lines("SELECT outcome FROM fuel.run WHERE run_id >= 6 ORDER BY run_id").first
          == "withdrawn")
    }
  }
}
