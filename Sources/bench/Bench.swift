import Foundation
import FuelModel
import Glibc
import Postgres
import Simulator

/// Measures how fast history is loaded, averaged and read and how fast a live list is stored. Most
/// figures are ratios to what PostgreSQL or another program needs for the same rows in the same
/// run, since machines differ and are shared.
///
/// Run by `make bench` on the private cluster. The PG* variables name the server.
@main
struct Bench {
  /// What this run has measured so far.
  var measured = Run()
  let environment = ProcessInfo.processInfo.environment
  let folder: String
  /// How many rows are loaded as history.
  let rows: Int
  let program: String

  static func main() throws {
    var bench = try Bench()
    try bench.measure()
    try bench.tell()
  }

  private init() throws {
    // With this number all parts together are to end within ten minutes on two cores.
    rows = environment["BENCH_ROWS"].flatMap { Int($0) } ?? 10_000_000
    program = environment["BENCH_PROGRAM"] ?? ".build/release/bowser"
    folder = FileManager.default.currentDirectoryPath + "/.bowser/bench"
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)

    let version = try run([program, "--version"]).output
    // Such as: bowser 0.5.0 (c4e0f3b)
    if let commit = version.firstMatch(of: /\((.+)\)/) { measured.commit = String(commit.1) }
    measured.versions["PostgreSQL"] = try connection("postgres").query("SHOW server_version")
      .only().text("server_version")
  }

  // MARK: Parts

  /// Measures all parts, or the one that BENCH_PART names, for work on that part.
  private mutating func measure() throws {
    let part = environment["BENCH_PART"] ?? ""
    if ["", "backfill"].contains(part) { try measure("backfill") { try $0.backfill() } }
    if ["", "aggregate"].contains(part) { try measure("aggregate") { try $0.aggregate() } }
    if ["", "live"].contains(part) { try measure("live") { try $0.live() } }
  }

  /// Measures one part, and records how busy the machine was before and after it.
  ///
  /// - Parameter work: adds the figures of the part and returns its number of rows.
  private mutating func measure(_ part: String, _ work: (inout Bench) throws -> Int) throws {
    let began = ContinuousClock.now
    let number = measured.parts.count
    measured.parts.append(Run.Part(name: part, loadBefore: try Run.Machine.load()))
    let rows = try work(&self)
    measured.parts[number].rows = rows
    measured.parts[number].seconds = seconds(since: began)
    measured.parts[number].loadAfter = try Run.Machine.load()
    let done = measured.parts[number]
    note(
      "\(part) took \(Int(done.seconds)) s, load \(done.loadBefore) before and \(done.loadAfter) after"
    )
  }

  /// Adds a figure to the part that is being measured.
  ///
  /// - Parameter here: what was measured, with its unit.
  mutating func add(
    _ what: String, _ here: String, _ ratio: Double? = nil, _ goal: Run.Goal? = nil
  ) {
    measured.parts[measured.parts.count - 1].figures.append(
      Run.Figure(what: what, here: here, ratio: ratio, goal: goal))
    let aim = goal.map { " (goal \(short($0.wanted)), hold \(short($0.hold)))" } ?? ""
    note("\(what): \(here)\(ratio.map { ", ratio \(short($0))" } ?? "")\(aim)")
  }

  func note(_ text: String) {
    FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
  }

  /// Prints the results as one line of JSON, which is also added to the file that BENCH_RESULTS
  /// names. A reader has seen each figure when it was measured.
  private func tell() throws {
    let line = try measured.line()
    print(line)
    if let path = environment["BENCH_RESULTS"] {
      let old = FileManager.default.contents(atPath: path) ?? Data()
      try (old + Data("\(line)\n".utf8)).write(to: URL(filePath: path))
    }
    try FileManager.default.removeItem(atPath: folder)
  }

  // MARK: Archives

  static let months = 117
  static let begin = Month(number: 2016 * 12 + 7)

  /// Returns the folder of an archive with `rows` rows, which the first part that needs it
  /// writes.
  func archive() throws -> String {
    let path = "\(folder)/archive"
    guard !FileManager.default.fileExists(atPath: path) else { return path }
    note("writing \(rows) rows in \(Self.months) files")
    _ = try SyntheticArchive(seed: 1, firstMonth: Self.begin)
      .write(months: Self.months, rowsPerMonth: rows / Self.months, into: path)
    return path
  }

  // MARK: Programs and databases

  struct Finished {
    var seconds: Double
    /// The most memory that the process used at any time.
    var megabytes: Int
    /// What the process wrote to its standard output.
    var output: String

    var cost: String { "\(String(format: "%.1f", seconds)) s, \(megabytes) MB" }
  }

  struct Failed: Error, CustomStringConvertible { let description: String }

  /// Runs a program to its end. Throws if it fails.
  func run(_ words: [String], in database: String = "bench_empty") throws -> Finished {
    let output = "\(folder)/output"
    let errors = "\(folder)/errors"
    for path in [output, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = environment.merging(["PGDATABASE": database]) { _, new in new }
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    let began = ContinuousClock.now
    try process.run()
    var most = 0
    // The system discards the peak memory of a process when the process ends. The peak is therefore
    // read while the process runs.
    while process.isRunning {
      let status =
        (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8))
        ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      most = max(most, line?.split(separator: " ").compactMap { Int($0) }.first ?? most)
      usleep(5_000)
    }
    let time = seconds(since: began)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let said = try String(contentsOfFile: errors, encoding: .utf8).suffix(500)
      throw Failed(
        description:
          "\(words.prefix(3).joined(separator: " ")) ended with \(process.terminationStatus): \(said)"
      )
    }
    return Finished(
      seconds: time, megabytes: most / 1_024,
      output: try String(contentsOfFile: output, encoding: .utf8))
  }

  /// Runs statements in psql.
  @discardableResult
  func sql(_ database: String, _ text: String) throws -> Finished {
    let file = "\(folder)/statements.sql"
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    return try run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file], in: database)
  }

  func connection(_ database: String) throws -> Connection {
    try Connection("dbname=\(database)")
  }

  func database(_ name: String) throws {
    try drop(name)
    try connection("postgres").execute("CREATE DATABASE \(name)")
    try Migrator(try connection(name)).up()
  }

  func drop(_ name: String) throws {
    try connection("postgres").execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
  }

  func seconds(since began: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
