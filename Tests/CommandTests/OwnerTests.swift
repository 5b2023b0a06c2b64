import Foundation
import Testing

/// Each rule has one owner. docs/architecture.md names it, and the source tree agrees.
struct OwnerTests {
  private static let root = IntegrationTests.root

  /// Returns the cells of each row of the first table below the line that begins with `line`.
  private func table(after line: String) throws -> [[String]] {
    let text = try String(
      contentsOfFile: Self.root + "/docs/architecture.md", encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix(line) })
    return lines[(start + 1)...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
      .dropFirst(2)
      .map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  private func quoted(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  /// Returns the Swift and SQL files in use. Files of tables are left out, since they are
  /// not edited.
  private func files() throws -> [String] {
    try ["Sources", "Migrations/routines", "Migrations/views"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: Self.root + "/" + folder)
        .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".sql") }.map { folder + "/" + $0 }
    }
  }

  @Test func ownersExist() throws {
    let rows = try table(after: "## One owner per rule")
    #expect(rows.count > 12)
    for row in rows {
      let words = quoted(row[1])
      let paths = words.filter { $0.contains("/") }
      #expect(!paths.isEmpty, "\(row[0]) has no owner")
      var text = ""
      for path in paths {
        let full =
          path.contains("/") && !path.hasPrefix("Sources") && !path.hasPrefix("Migrations")
            && !path.hasPrefix("config")
          ? "" : Self.root + "/" + path
        #expect(FileManager.default.fileExists(atPath: full), "\(row[0]): \(path)")
        text += (try? String(contentsOfFile: full, encoding: .utf8)) ?? ""
      }
      // Names beside a path occur in the file at that path.
      for name in words where !name.contains("/") && !name.hasPrefix("fuel.") {
        let bare = name.prefix { $0 != "(" }
        #expect(text.contains(bare), "\(row[0]): \(name)")
      }
    }
  }

  /// States, zones and the code of the country stand in `Sources/FuelModel/Australia.swift`. Providers,
  /// archives and the simulator are those of single states and are not checked.
  @Test func theMachineryNamesNoState() throws {
    let ours = [
      "Sources/Store/", "Sources/Pipeline/", "Sources/Timeline/", "Sources/Trends/",
      "Sources/Report/", "Migrations/routines/", "Migrations/views/",
    ]
    let places = try Regex(
      #"Australia/|\.(sydney|melbourne|brisbane|adelaide|darwin|perth|hobart)\b|['"](AU|NSW|ACT|VIC|QLD|SA|WA|TAS|NT)['"]|Zone\(rawValue: ""#
    )
    var read = 0
    for file in try files() where ours.contains(where: file.hasPrefix) {
      let text = try String(contentsOfFile: Self.root + "/" + file, encoding: .utf8)
      read += 1
      for line in text.split(separator: "\n")
      where !line.contains("COMMENT ON") && line.contains(places) {
        Issue.record("\(file): \(line)")
      }
    }
    #expect(read > 80)
  }

  /// Only the files named in docs/architecture.md write what is stored about a run.
  @Test func onlyTheLedgerWritesRuns() throws {
    let rows = try table(after: "## One owner per rule")
    let owner = try #require(rows.first { $0[0].contains("`fuel.run`") })
    let writers = try files().filter { path in
      try !path.hasPrefix("Sources/bench/")
        && String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
          .contains(/(UPDATE|INSERT INTO|DELETE FROM) fuel\.run\b/)
    }
    #expect(writers.sorted() == quoted(owner[1]).sorted())
  }

  /// Each room of the store writes the tables that docs/architecture.md names, and is entered from
  /// the folders that it names.
  @Test func roomsHaveTheirTablesAndCallers() throws {
    let texts = try files().filter { $0.hasPrefix("Sources/") }.map { path in
      (path, try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8))
    }
    let rows = try table(after: "## Rooms of the store")
    #expect(rows.count == 10)
    for row in rows {
      let room = try #require(quoted(row[0]).first)
      let written = texts.filter { $0.0.lowercased().hasPrefix("sources/store/\(room)/") }.flatMap {
        $0.1.matches(of: /(?:UPDATE|INSERT INTO|DELETE FROM|into:\s*")\s*(fuel\.[a-z_]+)/).map {
          String($0.1)
        }
      }
      #expect(Set(written) == Set(quoted(row[2])), "tables of \(room)")
      let use = try Regex(#"[^a-zA-Z]store\."# + room + "[^a-zA-Z]")
      let callers = texts.filter { $0.1.contains(use) }.map { path, _ in
        let folders = path.split(separator: "/")
        return ["Pipeline", "Store"].contains(folders[1])
          ? folders[1...2].joined(separator: "/") : String(folders[1])
      }
      #expect(Set(callers) == Set(quoted(row[3])), "callers of \(room)")
    }
  }

  /// Statements stand where their tables or views belong: those about `fuel_v1` in Views, those
  /// about private tables in Store. `Postgres` keeps what the schema is; `make bench` prepares databases.
  @Test func statementsStandInTheirModule() throws {
    for path in try files() where path.hasPrefix("Sources/") {
      let text = try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
      if !path.hasPrefix("Sources/Views/") {
        #expect(!text.contains(/\b(FROM|JOIN) fuel_v1\./), "\(path)")
      }
      if !["Sources/Store/", "Sources/Postgres/", "Sources/bench/"].contains(where: path.hasPrefix)
      {
        #expect(!text.contains(/\b(FROM|JOIN|INTO|UPDATE) fuel\.[a-z]/), "\(path)")
      }
    }
  }

  /// Only the files named in docs/architecture.md use a limit, since a second reader of a lapse
  /// would be a second owner of the rule.
  @Test func nobodyElseReadsALimit() throws {
    let rows = try table(after: "The limits, and every file that names them")
    #expect(rows.count >= 6)
    let texts = try files().map { path in
      (path, try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8))
    }
    #expect(texts.count > 150)
    for row in rows {
      let limit = try #require(quoted(row[0]).first)
      let named = texts.filter { $0.1.contains(limit) }.map(\.0).sorted()
      #expect(named == (quoted(row[1]) + quoted(row[2])).sorted(), "\(limit)")
    }
  }
}
