import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// Exports of views.
extension OutputTests {
  /// F-S08, F-O10: text that a spreadsheet would take for a formula is made harmless. Cells with
  /// quotes or line breaks are quoted, so every value stays in its column.
  @Test func exportsAreSafeToOpen() async throws {
    try await market { target, _ in
      let hostile = ["=1+1", "+61", "@x", "-5", "a,\"b\"\nc", "<b>&", "''"]
      for (index, name) in hostile.enumerated() {
        try Connection(target).query(
          "UPDATE fuel.station SET name = \(name) WHERE station_id = \(index + 1)")
      }
      let result = try run(["export", "stations"], target)
      #expect(result.code == 0, "\(result.err)")
      let count = try Connection(target).lines("SELECT count(*) FROM fuel_v1.stations")[0]
      for cell in ["'=1+1", "+61", "'@x", "-5", "\"a,\"\"b\"\"\nc\"", "<b>&", "''"] {
        #expect(result.out.contains(",\(cell),"), "\(cell)")
      }
      let objects = try run(["export", "stations", "--format", "ndjson"], target).out
        .split(separator: "\n")
      #expect(objects.count == Int(count))
      var names: Set<String> = []
      for object in objects {
        let value = try JSONSerialization.jsonObject(with: Data(object.utf8)) as? [String: Any]
        if let name = value?["name"] as? String { names.insert(name) }
        #expect((value?["first_seen_at"] as? String)?.hasSuffix("Z") == true)
      }
      #expect(names.isSuperset(of: hostile))
    }
  }

  /// F-O10: every view can be exported. An existing file is replaced as a whole or kept, and
  /// failures are reported.
  @Test func exportsReplaceFilesWhole() async throws {
    try await market { target, _ in
      let views = try run(["export", "--list"], target).out.split(separator: "\n").map {
        String($0.split(separator: " ")[0])
      }
      #expect(views.count >= 24 && views.contains("averages_now"))
      for view in views {
        for format in ["csv", "ndjson"] {
          let result = try run(["export", view, "--format", format], target)
          #expect(result.code == 0 && result.err.isEmpty, "\(view) \(result.err)")
          let rows = try Connection(target + " options='-c bowser.now=\(Self.now)'").lines(
            SQL(stringLiteral: "SELECT count(*) FROM fuel_v1.\(view)"))[0]
          let breaks = result.out.count { $0 == "\n" }
          #expect(breaks == (Int(rows) ?? -1) + (format == "csv" ? 1 : 0), "\(view) \(format)")
        }
      }
      let file = temporary()
      try Data("old".utf8).write(to: URL(filePath: file))
      let folder = try run(["export", "averages_now", "--out", "/nowhere/x.csv"], target)
      #expect(folder.code == 74 && folder.err.contains("/nowhere/x.csv"), "\(folder.err)")
      try Connection(target).execute("REVOKE SELECT ON fuel_v1.averages_now FROM fuel_reader")
      let refused = try run(["export", "averages_now", "--out", file], target)
      #expect(refused.code == 77, "\(refused)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
      let done = try run(["export", "fuels", "--out", file], target)
      #expect(done.code == 0 && done.out.isEmpty)
      #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("fuel,name,unit,"))
      #expect(
        try FileManager.default.contentsOfDirectory(
          atPath: (file as NSString).deletingLastPathComponent
        )
        .filter { $0.contains((file as NSString).lastPathComponent) }.count == 1)
      // A device is not replaced by a file.
      let device = try run(["export", "fuels", "--out", "/dev/null"], target)
      #expect(device.code == 74 && device.err.contains("not an ordinary file"), "\(device)")
      let full = try await tool(
        "bash",
        [
          "-c",
          "BOWSER_CONFIG=\(CommandTests.config) \(CommandTests.process([], "", [:]).executableURL?.path ?? "") export fuels --db '\(target)' > /dev/full",
        ])
      let noSpace = "standard output cannot be written: No space left on device"
      #expect(full.code == 74 && full.err.contains(noSpace), "\(full)")
      for (words, text) in [
        (["export", "avrages_now"], "did you mean 'averages_now'?"),
        (["export"], "--list"),
        (["export", "averages_now", "--since", "2026-01-01"], "only the present"),
        (["export", "averages_now", "--format", "xml"], "csv or ndjson"),
      ] {
        let wrong = try run(words, target)
        #expect(wrong.code == 64 && wrong.err.contains(text), "\(wrong)")
      }
      let day = Zone.sydney.local(Self.now).day
      let later = try run(["export", "ingest_runs", "--since", "\(day + 2)"], target)
      #expect(later.out.split(separator: "\n").count == 1)
      let earlier = try run(["export", "ingest_runs", "--until", "\(day + 2)"], target)
      #expect(earlier.out.split(separator: "\n").count > 5)
    }
  }
}
