import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// What `bowser backfill` takes of the folders that it is given, and the programs that it needs.
struct GivenFilesTests {
  private let manager = FileManager.default

  /// A folder with twelve months of an archive, and beside them what a folder of downloads has.
  private func downloads(others: Int) throws -> String {
    let folder = try BackfillTests.archive(months: 12, rows: 20)
    for number in 0..<others {
      try Data("x".utf8).write(to: URL(filePath: "\(folder)/other \(number).pdf"))
    }
    let companions = [
      "~$prices.xlsx", "._january.csv", ".~lock.january.csv#", ".hidden.csv", "__MACOSX/._a.csv",
      ".git/january.csv", "Thumbs.db",
    ]
    for name in companions {
      let path = URL(filePath: "\(folder)/\(name)")
      try manager.createDirectory(
        at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("no archive".utf8).write(to: path)
    }
    // Whoever opened this one would wait for ever.
    mkfifo("\(folder)/pipe.csv", 0o600)
    try manager.createDirectory(atPath: "\(folder)/old", withIntermediateDirectories: true)
    let other = try BackfillTests.archive(months: 1, rows: 20, seed: 6)
    defer { try? manager.removeItem(atPath: other) }
    let month = try #require(try manager.contentsOfDirectory(atPath: other).first)
    try manager.moveItem(atPath: "\(other)/\(month)", toPath: "\(folder)/old/again.csv")
    return folder
  }

  /// F-L60: of a folder the files of an archive are read, and nothing else: no other file, no
  /// folder in it, no companion of a desktop program. This is said before.
  @Test func aFolderIsItsOwnFiles() async throws {
    let folder = try downloads(others: 300)
    defer { try? manager.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      let words = ["backfill", "nsw-fuelcheck", folder, "--summary"]
      let plain = try CommandTests.run(words, on: target)
      #expect(plain.code == 0, "\(plain)")
      // Four companions, the pipe and Thumbs.db are others too.
      #expect(
        plain.err == "bowser: \(folder): 12 files to read, 306 others and 1 folder are left alone; "
          + "--recursive reads folders in it too\n")
      #expect(plain.out.split(separator: "\n").count == 13, "\(plain.out)")
      #expect(plain.out.contains("total files=12 known=0 refused=0 passed_over=0 "), "\(plain.out)")
      let whole = try CommandTests.run(words + ["--recursive"], on: target)
      #expect(whole.code == 0 && whole.out.contains("total files=13 known=12 "), "\(whole)")
      #expect(whole.err.contains(": 13 files to read, 306 others are left alone\n"), "\(whole)")
      // A shell that completes a pattern names companions too.
      let named = try CommandTests.run(
        ["backfill", "nsw-fuelcheck", "\(folder)/~$prices.xlsx", "--summary"], on: target)
      #expect(
        named.code == 0 && named.err.isEmpty && named.out.contains(" refused=0 passed_over=1 ")
          && named.out.hasPrefix("~$prices.xlsx passed over: the desktop keeps it"), "\(named)")
      #expect(
        try Connection(target).lines("SELECT count(*) FROM fuel_v1.ingest_runs") == ["13"])
    }
  }

  /// F-L60: where only folders in a folder have files, the message names one and the option.
  @Test(arguments: [("nsw-fuelcheck", "a.csv"), ("vic-servo-saver", "a.json")])
  func aFolderOfFoldersIsTold(archive: String, name: String) async throws {
    let folder = manager.temporaryDirectory.appending(path: UUID().uuidString).path
    try manager.createDirectory(atPath: folder + "/2024/01", withIntermediateDirectories: true)
    defer { try? manager.removeItem(atPath: folder) }
    try Data("x".utf8).write(to: URL(filePath: "\(folder)/2024/01/\(name)"))
    try Data("x".utf8).write(to: URL(filePath: "\(folder)/notes.txt"))
    try await TestDatabase.with { target in
      let refused = try CommandTests.run(["backfill", archive, folder], on: target)
      #expect(refused.code == 74, "\(refused)")
      #expect(
        refused.err.contains(
          " files (it has others, such as notes.txt), but \(folder)/2024/01 has some: "
            + "name that folder, or add --recursive\n"), "\(refused)")
      let read = try CommandTests.run(["backfill", archive, folder, "--recursive"], on: target)
      #expect(read.err.contains(": 1 file to read, 1 other is left alone\n"), "\(read)")
    }
  }

  /// F-L61: a program that unpacks or sums files and is not installed is named with its package, by
  /// the load and by `doctor`. No file is refused for it.
  @Test(arguments: [
    ("unzip", "unzip", "PK\u{3}\u{4}", "a.xlsx"), ("gzip", "gzip", "\u{1F}\u{8B}", "a.csv.gz"),
    ("b2sum", "coreutils", "a,b\n", "a.csv"), ("gzip", "gzip", "", "vic.json.gz"),
  ])
  func aMissingProgramIsNamed(
    program: String, package: String, begin: String, file: String
  ) async throws {
    let folder = manager.temporaryDirectory.appending(path: UUID().uuidString).path
    try manager.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
    defer { try? manager.removeItem(atPath: folder) }
    for tool in ["unzip", "gzip", "b2sum"] where tool != program {
      let path = try #require(
        ["/usr/bin/\(tool)", "/bin/\(tool)"].first { manager.isExecutableFile(atPath: $0) })
      try manager.createSymbolicLink(atPath: "\(folder)/bin/\(tool)", withDestinationPath: path)
    }
    let bytes = begin.unicodeScalars.map { UInt8($0.value) }
    try Data(bytes).write(to: URL(filePath: "\(folder)/\(file)"))
    let archive = file.hasPrefix("vic") ? "vic-servo-saver" : "nsw-fuelcheck"
    try await TestDatabase.with { target in
      let path = ["PATH": "\(folder)/bin"]
      let load = try CommandTests.run(
        ["backfill", archive, "\(folder)/\(file)"], on: target, environment: path)
      let answer =
        "\(program) is not installed, or not on PATH, and bowser backfill needs it: "
        + "apt install \(package)"
      #expect(load.code == 78 && load.err == "bowser: \(answer)\n", "\(load)")
      #expect(try Connection(target).lines("SELECT run_id FROM fuel.run").isEmpty)
      let doctor = try CommandTests.run(["doctor"], on: target, environment: path)
      #expect(
        doctor.code == 0 && doctor.out.contains("warn  programs                \(answer)\n"),
        "\(doctor)")
    }
  }
}
