import Foundation
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

/// Documents are read by a confined process. A document that makes this process fail is refused,
/// and no other.
struct ReaderTests {
  /// F-S17: a list of 10 MB, three times as long as the longest one of a feed, is read within the
  /// usual limit.
  @Test func aLongListIsReadWithinTheUsualLimit() async throws {
    let row =
      "{\"SiteId\":1,\"FuelId\":2,\"CollectionMethod\":\"T\","
      + "\"TransactionDateUtc\":\"2026-07-01T01:00:00\",\"Price\":1799.0}"
    let rows = Array(repeating: row, count: 100_000).joined(separator: ",")
    let list = "{\"SitePrices\":[\(rows)]}"
    let providers = try WorkerProcessTests.Providers { request, _ in
      request.path.contains("GetSitesPrices") ? .text(200, list) : nil
    }
    try await TestDatabase.with { target in
      let result = try CommandTests.run(
        ["ingest", "qld-fpd", "--now", "\(WorkerProcessTests.now)"], on: target,
        environment: providers.environment)
      #expect(result.code == 0, "\(result)")
      let counts = try Connection(target).lines("SELECT received, stored, duplicate FROM fuel.run")
      #expect(counts == ["100000|1|99999"])
    }
  }

  /// F-N19: an answer that exceeds the memory limit of its reader is refused, reported and stored,
  /// and not read again automatically. The next sound answer is read.
  @Test func aDocumentThatBreaksItsReaderIsQuarantined() async throws {
    let isHostile = Mutex(true)
    // A record of the wrong shape, whose values need much more memory once they are kept as text.
    let values = Array(repeating: "1", count: 1_000_000).joined(separator: ",")
    let hostile = "{\"SitePrices\":[{\"SiteId\":[\(values)]}]}"
    let providers = try WorkerProcessTests.Providers { request, _ in
      isHostile.withLock { $0 } && request.path.contains("GetSitesPrices")
        ? .text(200, hostile) : nil
    }
    try await TestDatabase.with { target in
      var environment = providers.environment
      environment["BOWSER_READER_MEGABYTES"] = "64"
      func ingest() throws -> CommandTests.Result {
        try CommandTests.run(
          ["ingest", "qld-fpd", "--now", "\(WorkerProcessTests.now)"], on: target,
          environment: environment)
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
      func status() throws -> String {
        try CommandTests.run(["status", "--now", "\(WorkerProcessTests.now)"], on: target).out
      }
      let output = try status()
      #expect(output.contains("run 1 of qld-fpd"), "\(output)")
      #expect(output.contains("bowser ingest --reprocess 1 tries again"), "\(output)")
      let json = try CommandTests.run(
        ["status", "--json", "--now", "\(WorkerProcessTests.now)"], on: target)
      #expect(json.out.contains("\"quarantined\" : [{\"run_id\":1"), "\(json.out)")
      isHostile.withLock { $0 = false }
      let sound = try ingest()
      #expect(sound.code == 0, "\(sound)")
      #expect(
        try connection.lines("SELECT outcome FROM fuel.run ORDER BY run_id") == [
          "refused", "stored",
        ])
      // With enough memory and time the document is read, and its one record is rejected.
      environment["BOWSER_READER_MEGABYTES"] = "1024"
      environment["BOWSER_READER_SECONDS"] = "600"
      let again = try CommandTests.run(
        ["ingest", "--reprocess", "1", "--now", "2026-07-01T10:10:00Z"], on: target,
        environment: environment)
      #expect(again.code == 0, "\(again)")
      #expect(
        try connection.lines(
          "SELECT outcome, received, rejected, kind, replaces_run_id FROM fuel.run ORDER BY run_id")
          == [
            "superseded|0|0|live|NULL", "stored|129|0|live|NULL", "unchanged|1|1|reprocess|1",
          ])
      #expect(try !status().contains("quarantined"))
    }
  }

  /// F-N42: a file that exceeds the memory limit of its reader is refused and reported. The files
  /// before and after it are loaded as if it had not been there.
  @Test func aFileThatBreaksItsReaderIsQuarantined() async throws {
    let folder = try BackfillTests.archive(months: 3)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // 200,000 rows, each of another station: their names need more than 64 MB.
    let hostile = folder + "/price_history_2024_01_x.csv"
    var text = "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    for number in 0..<200_000 {
      text += "Station \(number),\(number) High St,Auburn,2144,Shell,U91,02/01/2024 00:01,179.9\n"
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    func load(_ names: [String], _ expected: Int32) async throws -> [String] {
      try await TestDatabase.with { target in
        let result = try CommandTests.run(
          ["backfill", "nsw-fuelcheck", "--summary"] + names.map { "\(folder)/\($0)" }, on: target,
          environment: ["BOWSER_READER_MEGABYTES": "64"])
        #expect(result.code == expected, "\(result)")
        if expected == 65 {
          #expect(result.err.contains("quarantined: the file broke its reader"), "\(result.err)")
        }
        return try Connection(target).lines(
          """
          SELECT station_code, fuel_id, effective_at, price_tenths
          FROM fuel.archive_price JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3, 4
          """)
      }
    }
    let sound = try await load(names, 0)
    #expect(sound.count == 1_200)
    try text.write(toFile: hostile, atomically: false, encoding: .utf8)
    #expect(try await load([names[0], "price_history_2024_01_x.csv"] + names[1...], 65) == sound)
  }

  /// F-N47: a reader cannot open sockets, start programs or change files. What a reader needs
  /// works.
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
      #include <sys/syscall.h>
      #include <unistd.h>
      int main(int count, char **words) {
        int starts = count > 2;
        if (bowser_confine(starts) != 0) return 2;
        if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM) return 3;
        if (socket(AF_UNIX, SOCK_STREAM, 0) != -1 || errno != EPERM) return 4;
        if (!starts) {
          execl("/bin/true", "true", (char *)0);
          if (errno != EPERM) return 5;
          if (kill(getppid(), SIGTERM) != -1 || errno != EPERM) return 6;
        }
        if (open(words[1], O_WRONLY) != -1 || errno != EPERM) return 13;
        if (open("new", O_RDONLY | O_CREAT, 0600) != -1 || errno != EPERM) return 14;
        if (syscall(SYS_tgkill, getppid(), getppid(), 0) != -1 || errno != EPERM) return 15;
        if (syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0) != -1 || errno != EPERM) return 16;
        if (!starts && (fork() != -1 || errno != EPERM)) return 17;
        if (unlink(words[1]) != -1 || errno != EPERM) return 7;
        int file = open(words[1], O_RDONLY);
        if (file < 0) return 8;
        char byte;
        if (read(file, &byte, 1) != 1) return 9;
        free(malloc(1 << 20));
        // What it starts is bound as it is.
        if (starts && system("true") != 0) return 10;
        if (starts && system("rm -f probe.c; test ! -f probe.c || exit 11") != 11 << 8) return 12;
        return puts("confined") < 0;
      }
      """
    let source = folder.appending(path: "probe.c")
    try probe.write(to: source, atomically: true, encoding: .utf8)
    func run(_ words: [String]) throws -> Int32 {
      let process = Process()
      process.currentDirectoryURL = folder
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
    #expect(try run([program, source.path, "starts"]) == 0)
  }
}
