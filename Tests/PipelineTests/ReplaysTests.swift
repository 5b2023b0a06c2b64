import Foundation
import FuelModel
import Pipeline
import Postgres
import Simulator
import TestDatabase
import Testing

/// Kept answers of feeds, loaded as history.
struct ReplaysTests {
  private static let feeds = ["qld-fpd", "nsw-fuelcheck", "vic-fairfuel"]

  /// Answers of three feeds, twice a day: a folder for each instant and one for all.
  private func record(_ bench: Bench, into folder: String) throws -> [String] {
    try (0..<8).map { step in
      let instant = Bench.end - .seconds(Int64(8 - step) * 43_200)
      let name = "\(instant)".filter { $0.isNumber || "TZ".contains($0) }
      for feed in Self.feeds {
        for document in bench.feeds.documents(of: feed, at: instant) {
          for part in ["all", "\(step)"] {
            let place = "\(folder)/\(part)/\(feed)/\(name)"
            try FileManager.default.createDirectory(
              atPath: place, withIntermediateDirectories: true)
            try Data(document.bytes).write(to: URL(filePath: "\(place)/\(document.name).json"))
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

  /// Loaded at once their spans are made at the end: those that one answer after the other leaves.
  @Test func manyAnswersLeaveWhatOneByOneLeaves() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var found: [[String]] = []
    for isAtOnce in [true, false] {
      try await TestDatabase.with { target in
        let bench = try Bench(target)
        let parts = try record(bench, into: folder)
        var notes: [String] = []
        for part in isAtOnce
          ? ["\(folder)/all"] : parts.flatMap({ part in Self.feeds.map { "\(part)/\($0)" } })
        {
          let results = try Replays(
            try Self.feeds.map(bench.source), store: try bench.store(), clock: .fixed(Bench.end),
            log: bench.log
          ).recordings([part]) { _, _, _ in
            notes.append((try? bench.lines("SELECT count(*) > 0 FROM fuel.touched").first) ?? "")
          }
          for result in results {
            guard case .loaded = result.outcome else {
              Issue.record("\(result)")
              continue
            }
          }
        }
        #expect(notes == Array(repeating: isAtOnce ? "t" : "f", count: 24))
        #expect(try bench.lines("SELECT count(*) FROM fuel.touched") == ["0"])
        found.append(try spans(bench))
      }
    }
    #expect(found[0].count > 500)
    #expect(firstDifference(found[0], found[1]) == nil)
  }
}
