import Foundation
import TestDatabase

/// Runs a program, found by its name, with the environment of the test. Waits without holding a
/// thread, since all tests share as many threads as there are cores.
func tool(
  _ name: String, _ arguments: [String], input: String? = nil
) async throws -> CommandTests.Result {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = [name] + arguments
  return try await finished(process, input: input)
}

/// Runs a process to its end and returns its exit code and output.
func finished(_ process: Process, input: String? = nil) async throws -> CommandTests.Result {
  let base = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
  for path in [base + ".out", base + ".err"] {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
  }
  defer {
    // The `.in` file exists only if `input` was given.
    for end in [".out", ".err", ".in"] { unlink(base + end) }
  }
  if let input {
    try Data(input.utf8).write(to: URL(filePath: base + ".in"))
    process.standardInput = FileHandle(forReadingAtPath: base + ".in")
  } else {
    process.standardInput = FileHandle.nullDevice
  }
  process.standardOutput = FileHandle(forWritingAtPath: base + ".out")
  process.standardError = FileHandle(forWritingAtPath: base + ".err")
  try process.run()
  try await process.ended()
  return CommandTests.Result(
    code: process.terminationStatus,
    out: try String(contentsOfFile: base + ".out", encoding: .utf8),
    err: try String(contentsOfFile: base + ".err", encoding: .utf8))
}

extension CommandTests {
  /// Closes, in bash, the files that other tests had open when it was started.
  static let ownFiles =
    "for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -le 2 ] || eval \"exec $n>&-\"; done; "
}
