import Foundation
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

/// Documents are read by a process that can do no harm, and a document that breaks it is refused alone.
struct ReaderTests {
  /// F-N19: an answer that takes its reader more memory than it may have is refused, told, kept and not read again by
  /// itself; the next sound one is read.
  @Test func aDocumentThatBreaksItsReaderIsQuarantined() async throws {
    let isHostile = Mutex(true)
    // A record of no shape, whose values swell when they are kept as text.
    let values = Array(repeating: "1", count: 3_000_000).joined(separator: ",")
    let hostile = "{\"SitePrices\":[{\"SiteId\":[\(values)]}]}"
    let providers = try IslandTests.Providers { request, _ in
      isHostile.withLock { $0 } && request.path.contains("GetSitesPrices")
        ? .text(200, hostile) : nil
    }
    try await TestDatabase.with { target in
      var environment = providers.environment
      environment["BOWSER_READER_MEGABYTES"] = "64"
      func ingest() throws -> CommandTests.Result {
        try CommandTests.run(
          ["ingest", "qld-fpd", "--now", "\(IslandTests.now)"], on: target, environment: environment
        )
      }
      let refused = try ingest()
      #expect(refused.code == 65, "\(refused)")
      #expect(refused.err.contains("quarantined"), "\(refused.err)")
      let connection = try Connection(target)
      #expect(
        try connection.lines("SELECT outcome, fetched_at IS NOT NULL FROM fuel.run") == [
          "refused|t"
        ])
      #expect(try connection.lines("SELECT count(*) > 0 FROM fuel.run_body") == ["t"])
      isHostile.withLock { $0 = false }
      let sound = try ingest()
      #expect(sound.code == 0, "\(sound)")
      #expect(
        try connection.lines("SELECT outcome FROM fuel.run ORDER BY run_id") == [
          "refused", "stored",
        ])
    }
  }

  /// What a reader may not do it cannot: sockets, programs, files that change. What it needs works.
  @Test func aReaderIsConfined() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/CSandbox").standardized.path
    let probe = """
      #include "sandbox.h"
      #include <errno.h>
      #include <fcntl.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/socket.h>
      #include <unistd.h>
      int main(int count, char **words) {
        if (bowser_confine() != 0) return 2;
        if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM) return 3;
        if (socket(AF_UNIX, SOCK_STREAM, 0) != -1 || errno != EPERM) return 4;
        execl("/bin/true", "true", (char *)0);
        if (errno != EPERM) return 5;
        if (kill(getppid(), SIGTERM) != -1 || errno != EPERM) return 6;
        if (unlink(words[1]) != -1 || errno != EPERM) return 7;
        int file = open(words[1], O_RDONLY);
        if (file < 0) return 8;
        char byte;
        if (read(file, &byte, 1) != 1) return 9;
        free(malloc(1 << 20));
        return puts("confined") < 0;
      }
      """
    let source = folder.appending(path: "probe.c")
    try probe.write(to: source, atomically: true, encoding: .utf8)
    func run(_ words: [String]) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = words
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
    let program = folder.appending(path: "probe").path
    #expect(
      try run([
        "clang", "-I\(sources)/include", source.path, "\(sources)/sandbox.c", "-o", program,
      ]) == 0)
    #expect(try run([program, source.path]) == 0)
  }
}
