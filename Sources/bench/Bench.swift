import Foundation
import Postgres

#if canImport(Glibc)
  import Glibc
#endif

/// Measures how fast history is loaded and a live list is stored, each as a ratio to what
/// PostgreSQL itself needs for the same rows in the same run. Only ratios count, since machines
/// differ and are shared.
///
/// Run by `make bench` on the private cluster. The PG* variables name the server.
@main
struct Bench {
  var results: [(name: String, value: String, ratio: Double?, goal: String)] = []
  let environment = ProcessInfo.processInfo.environment
  let folder: String
  /// How many million rows of history the averages are measured with, once for each number.
  let history: [Int]
  /// How many years of history live lists are measured beside, once for each number.
  let years: [Int]
  let program: String

  static func main() throws {
    var bench = try Bench()
    // BENCH_PART selects one part, for work on that part.
    let part = bench.environment["BENCH_PART"] ?? ""
    if part.isEmpty || part == "backfill" { try bench.backfill() }
    if part.isEmpty || part == "aggregate" { try bench.aggregate() }
    if part.isEmpty || part == "live" { try bench.live() }
    // Takes an hour, so it runs only on request.
    if part == "year" { try bench.year() }
    bench.tell()
  }

  private init() throws {
    let environment = environment
    func numbers(_ variable: String, or usual: String) -> [Int] {
      (environment[variable] ?? usual).split(separator: ",").compactMap { Int($0) }
    }
    history = numbers("BENCH_HISTORY", or: "1,10,50")
    years = numbers("BENCH_YEARS", or: "1,5,12")
    program = environment["BENCH_PROGRAM"] ?? ".build/release/bowser"
    folder = FileManager.default.currentDirectoryPath + "/.bowser/bench"
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: Programs and databases

  struct Finished {
    var seconds: Double
    /// The most memory that the process used at any time.
    var megabytes: Int
  }

  /// Runs a program to its end. Throws if it fails.
  func run(
    _ words: [String], in database: String = "bench_empty", with settings: [String: String] = [:]
  ) throws -> Finished {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = environment.merging(settings) { _, new in new }
      .merging(["PGDATABASE": database]) { _, new in new }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
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
      usleep(20_000)
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failed(
        description:
          "\(words.prefix(3).joined(separator: " ")) ended with \(process.terminationStatus)")
    }
    return Finished(seconds: seconds(since: began), megabytes: most / 1_024)
  }

  struct Failed: Error, CustomStringConvertible { let description: String }

  /// Runs statements in psql.
  @discardableResult
  func sql(_ database: String, _ text: String) throws -> Finished {
    let file = "\(folder)/statements.sql"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    return try run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file], in: database)
  }

  func connection(_ database: String) throws -> Connection {
    try Connection("dbname=\(database)")
  }

  func database(_ name: String) throws {
    try drop(name)
    try connection("postgres").execute("CREATE DATABASE \(name)")
    try Migrator(try connection(name)).up()
  }

  /// Drops a database after its measurement. BENCH_KEEP keeps it for inspection.
  func finish(_ name: String) throws {
    if environment["BENCH_KEEP"] == nil { try drop(name) }
  }

  func drop(_ name: String) throws {
    try connection("postgres").execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
  }

  func seconds(since began: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  // MARK: Results

  mutating func add(_ name: String, _ value: String, _ ratio: Double?, _ goal: String) {
    results.append((name, value, ratio, goal))
    note("\(name): \(value)\(ratio.map { String(format: ", ratio %.2f", $0) } ?? "")")
  }

  func note(_ text: String) {
    FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
  }

  /// Prints the results as a table for readers and as one line of JSON for programs.
  func tell() {
    func column(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    print(column("what", 66) + column("here", 24) + column("ratio", 8) + "goal")
    for result in results {
      let ratio = result.ratio.map { String(format: "%.2f", $0) } ?? ""
      print(column(result.name, 66) + column(result.value, 24) + column(ratio, 8) + result.goal)
    }
    let entries = results.map { result in
      "{\"what\":\"\(result.name.replacing("\\", with: "\\\\"))\",\"here\":\"\(result.value)\""
        + (result.ratio.map { String(format: ",\"ratio\":%.3f", $0) } ?? "") + "}"
    }
    print("{\"bench\":[\(entries.joined(separator: ","))]}")
  }
}
