import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// `bowser backfill` as an operator uses it, and the commands that describe the loaded history.
struct BackfillTests {
  /// Writes a synthetic archive of some months into a folder of its own, and returns its path.
  static func archive(
    months: Int = 6, rows: Int = 400, seed: UInt64 = 5, year: Int = 2024
  ) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    _ = try SyntheticArchive(
      seed: seed, stations: 40, firstMonth: Month(Day(year: year, month: 1, day: 1)!)
    ).write(months: months, rowsPerMonth: rows, into: folder)
    return folder
  }

  /// Returns everything that a load stores, except numbers that depend on the order of arrival.
  private func dump(_ target: String) throws -> [String] {
    let connection = try Connection(target)
    return try connection.lines(
      """
      SELECT station_code, fuel_id, effective_at, price_tenths
      FROM fuel.archive_price JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3, 4
      """)
      + connection.lines(
        """
        SELECT head.station_code, station.station_code, station.matched_by, station.match_doubt,
          station.first_seen_at
        FROM fuel.station JOIN fuel.station AS head ON head.station_id = station.place_id
        ORDER BY 2
        """)
      + connection.lines(
        """
        SELECT station_code, wording_md5, month, days
        FROM fuel.station_sighting JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3
        """)
      + connection.lines("SELECT * FROM fuel.due WHERE step = 'averages' ORDER BY 1, 2, 3")
  }

  /// F-N43, F-N46: a hundred compressed files load with at most 64 open files, and the program
  /// ends.
  @Test func packedFilesNeedFewDescriptors() async throws {
    let folder = try Self.archive(months: 1, rows: 2)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try FileManager.default.contentsOfDirectory(atPath: folder)[0]
    let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
    for number in 0..<100 {
      // Each copy holds the same month with other prices.
      let other = text.replacing(/[0-9]+\.[0-9]\n/, with: "\(120 + number).9\n")
      try other.write(toFile: "\(folder)/\(number).csv", atomically: false, encoding: .utf8)
    }
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/bin/sh")
    gzip.arguments = ["-c", "gzip '\(folder)'/*.csv"]
    try gzip.run()
    try await gzip.ended()
    try await TestDatabase.with { target in
      let process = CommandTests.process([], target, [:])
      let program = process.executableURL?.path ?? ""
      process.executableURL = URL(filePath: "/bin/bash")
      process.arguments = [
        "-c",
        CommandTests.ownFiles
          + "ulimit -n 64; exec \(program) backfill nsw-fuelcheck '\(folder)' 2>/dev/null",
      ]
      process.standardInput = FileHandle.nullDevice
      try process.run()
      try await process.ended()
      #expect(process.terminationStatus == 0)
      #expect(
        try Connection(target).lines(
          "SELECT count(*), min(received), bool_and(outcome IN ('stored', 'unchanged')) FROM fuel.run"
        ) == ["100|2|t"])
    }
  }

  /// F-L02, F-L03: `backfill` loads files, prints a summary, and skips files that are loaded
  /// already, even under another name. Loading twice leaves the same rows as loading once.
  @Test func aSecondRunIsANoOp() async throws {
    let folder = try Self.archive()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      let words = ["backfill", "nsw-fuelcheck", folder, "--summary"]
      let first = try CommandTests.run(words, on: target)
      #expect(first.code == 0, "\(first.err)")
      #expect(
        first.out.hasSuffix(
          "total files=6 known=0 refused=0 passed_over=0 received=2400 stored=2400 unchanged=0 duplicate=0 rejected=0\n"
        ), "\(first.out)")
      let stored = try dump(target)
      #expect(stored.count > 2_600)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      try FileManager.default.moveItem(
        atPath: "\(folder)/\(names[0])", toPath: "\(folder)/renamed month.csv")
      let second = try CommandTests.run(words, on: target)
      #expect(second.out.contains("total files=6 known=6 refused=0 passed_over=0 received=0"))
      #expect(second.out.contains("renamed month.csv known"))
      #expect(firstDifference(try dump(target), stored) == nil)
      // Without the digests in the ledger every row is read again, and none is new.
      try Connection(target).execute("UPDATE fuel.run SET content_digest = NULL")
      let third = try CommandTests.run(words, on: target)
      #expect(third.out.contains("received=2400 stored=0 unchanged=2400"), "\(third.out)")
      #expect(firstDifference(try dump(target), stored) == nil)
      #expect(
        try Connection(target).lines(
          """
          SELECT count(*) FROM fuel_v1.ingest_runs
          WHERE received <> stored + unchanged + duplicate + rejected OR kind <> 'backfill'
          """) == ["0"])
    }
  }

  /// F-L07: a dry run prints the same counts as the load, and stores nothing.
  @Test func aDryRunCountsTheSame() async throws {
    let folder = try Self.archive(months: 3)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      let words = ["backfill", "nsw-fuelcheck", folder, "--summary"]
      let rehearsed = try CommandTests.run(words + ["--dry-run"], on: target)
      #expect(rehearsed.code == 0, "\(rehearsed.err)")
      #expect(try dump(target).isEmpty)
      let loaded = try CommandTests.run(words, on: target)
      #expect(
        rehearsed.out.split(separator: "\n").sorted() == loaded.out.split(separator: "\n").sorted())
      #expect(loaded.out.contains("stored=1200"))
    }
  }

  /// Two archives of the same months with different rows leave the same history in either order.
  @Test func filesOfTheSameMonthsInAnyOrder() async throws {
    let one = try Self.archive(months: 3, rows: 300, seed: 1)
    let two = try Self.archive(months: 3, rows: 300, seed: 2)
    defer { for folder in [one, two] { try? FileManager.default.removeItem(atPath: folder) } }
    func load(_ folders: [String]) async throws -> [String] {
      try await TestDatabase.with { target in
        let result = try CommandTests.run(["backfill", "nsw-fuelcheck"] + folders, on: target)
        #expect(result.code == 0 && result.out.isEmpty, "\(result)")
        return try dump(target)
      }
    }
    let plain = try await load([one, two])
    #expect(plain.count > 1_800)
    #expect(try await load([two, one]) == plain)
  }

  /// F-L04: a file that its publisher corrected counts as another file. Prices that contradict
  /// those of the first file are stored beside them and counted in the summary. The higher price
  /// counts, whichever file was loaded first.
  @Test func aCorrectedFileIsAnother() async throws {
    let folder = try Self.archive(months: 1, rows: 50)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = try FileManager.default.contentsOfDirectory(atPath: folder).map {
      "\(folder)/\($0)"
    }[0]
    var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(
      String.init)
    // The synthetic prices lie between 100.0 and 240.0 cents.
    for row in [7, 21] { lines[row] = lines[row].replacing(/[0-9.]+$/, with: "299.9") }
    let corrected = folder + "/corrected.csv"
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: corrected, atomically: false, encoding: .utf8)
    func load(_ files: [String]) async throws -> [String] {
      try await TestDatabase.with { target in
        let result = try CommandTests.run(
          ["backfill", "nsw-fuelcheck"] + files + ["--summary"], on: target)
        #expect(result.out.contains("stored=2 unchanged=48"), "\(result.out)")
        #expect(
          result.out.contains("(2 prices contradict those of another file; the higher counts)"))
        #expect(try CommandTests.run(["aggregate"], on: target).code == 0)
        return try Connection(target).lines(
          "SELECT price_cpl FROM fuel_v1.price_history WHERE price_cpl > 250 ORDER BY valid_from_at"
        )
      }
    }
    #expect(try await load([path, corrected]) == ["299.9", "299.9"])
    #expect(try await load([corrected, path]) == ["299.9", "299.9"])
  }

  /// A refused file is reported with its name and the reason. The other files are loaded all the
  /// same.
  @Test func refusedFilesAreNamed() async throws {
    let folder = try Self.archive(months: 2)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("Region,Average\nSydney,190\n".utf8).write(to: URL(filePath: folder + "/averages.csv"))
    // More than one row in fifty is bad, which is the limit for a file.
    let bad = try SyntheticArchive(
      seed: 9, stations: 40, firstMonth: Month(Day(year: 2024, month: 5, day: 1)!)
    ).write(months: 1, rowsPerMonth: 100, into: folder + "/more")[0]
    let text = try String(contentsOfFile: bad, encoding: .utf8)
      .split(separator: "\n").enumerated()
      .map { $0 % 10 == 5 ? $1 + "x" : $1 }.joined(separator: "\n")
    try text.write(toFile: bad, atomically: false, encoding: .utf8)
    try await TestDatabase.with { target in
      let result = try CommandTests.run(
        ["backfill", "nsw-fuelcheck", folder, "--recursive", "--summary"], on: target)
      #expect(result.code == 65)
      #expect(result.err.contains("averages.csv: no header of nsw-fuelcheck"))
      #expect(result.err.contains("10 of 100 rows are bad, most of them price_unreadable"))
      #expect(
        result.out.contains("total files=4 known=0 refused=2 passed_over=0 received=800 stored=800")
      )
      #expect(
        try Connection(target).lines(
          "SELECT outcome, count(*) FROM fuel_v1.ingest_runs GROUP BY 1 ORDER BY 1")
          == ["refused|2", "stored|2"])
      #expect(
        try Connection(target).lines("SELECT count(*) FROM fuel.archive_price") == ["800"])
    }
  }

  /// F-L06: while years are loaded, a terminal shows the rate and the time that is left, and a live
  /// run of the same state is stored. `make bench` measures the memory of a load of ten years.
  @Test func yearsLoadBesideALiveRun() async throws {
    let folder = try Self.archive(months: 36, rows: 600, year: 2023)
    let screen = folder + ".screen"
    _ = FileManager.default.createFile(atPath: screen, contents: nil)
    defer { for path in [folder, screen] { try? FileManager.default.removeItem(atPath: path) } }
    func shown() throws -> String { try String(contentsOfFile: screen, encoding: .utf8) }
    let providers = try WorkerProcessTests.Providers { _, _ in nil }
    try await TestDatabase.with { target in
      let process = CommandTests.process([], target, ["TERM": "xterm"])
      let program = process.executableURL?.path ?? ""
      process.executableURL = URL(filePath: "/usr/bin/env")
      // `script` gives the program a terminal and copies what appears there.
      process.arguments = [
        "script", "-qec", "'\(program)' backfill nsw-fuelcheck '\(folder)'", "/dev/null",
      ]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle(forWritingAtPath: screen)
      try process.run()
      try await waitUntil { try !process.isRunning || shown().contains(" s left") }
      let live = try CommandTests.run(
        ["ingest", "nsw-fuelcheck", "--now", "\(WorkerProcessTests.now)"], on: target,
        environment: providers.environment)
      #expect(live.code == 0, "\(live)")
      while process.isRunning { try await Task.sleep(for: .milliseconds(50)) }
      #expect(process.terminationStatus == 0)
      let line = /files \d+ of 36 \(\d+ %\), \d+ s left, \d+ rows, \d+ a second/
      let text = try shown()
      #expect(text.contains(line), "\(text)")
      #expect(
        try Connection(target).lines(
          """
          SELECT kind, count(*) FROM fuel_v1.ingest_runs WHERE outcome = 'stored'
          GROUP BY kind ORDER BY kind
          """) == ["backfill|36", "live|1"])
    }
  }

  /// F-L02: a load that is killed at many moments and then resumed leaves the state of an
  /// undisturbed load, and no file is loaded twice.
  @Test(.longer) func killedLoadsResume() async throws {
    let rows = Long.count(short: 300, long: 2_000)
    let folder = try Self.archive(months: 12, rows: rows)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let words = ["backfill", "nsw-fuelcheck", folder]
    let expected = try await TestDatabase.with { target in
      let result = try CommandTests.run(words, on: target)
      #expect(result.code == 0, "\(result.err)")
      return try dump(target)
    }
    #expect(expected.count > 12 * rows)
    var random = Random(seed: 8, "kills")
    let wanted = Long.count(short: 3, long: 40)
    var kills = 0
    // `milliseconds` adapts to the time that a load takes, since the machine may be busy now and
    // idle later.
    var milliseconds = 1_000.0
    for _ in 0..<200 where kills < wanted {
      try await TestDatabase.with { target in
        // One load is killed several times before it completes.
        for _ in 0..<12 where kills < wanted {
          let process = CommandTests.process(words, target, [:])
          process.standardOutput = FileHandle.nullDevice
          process.standardError = FileHandle.nullDevice
          try process.run()
          try await Task.sleep(for: .milliseconds(Int(milliseconds * random.real(0.05...1))))
          kill(process.processIdentifier, SIGKILL)
          try await process.ended()
          guard process.terminationReason == .uncaughtSignal else {
            milliseconds *= 0.7
            break
          }
          kills += 1
          milliseconds = min(20_000, milliseconds * 1.1)
        }
        // The server may not yet have ended the session of the process killed last.
        let others =
          "SELECT state, query FROM pg_stat_activity "
          + "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        let looker = try Connection(target)
        try await waitUntil { try looker.lines(SQL(stringLiteral: others)).isEmpty }
        let left = try looker.lines(SQL(stringLiteral: others))
        let last = try CommandTests.run(words, on: target)
        #expect(last.code == 0, "\(last.err) \(left)")
        #expect(firstDifference(try dump(target), expected) == nil)
        #expect(
          try Connection(target).lines(
            """
            SELECT count(*), count(DISTINCT content_digest) FROM fuel.run
            WHERE outcome IN ('stored', 'unchanged')
            """) == ["12|12"])
        let verified = try CommandTests.run(["verify"], on: target)
        #expect(verified.code == 0, "\(verified.out)")
      }
    }
    #expect(kills == wanted)
  }

  /// F-O13: names and headers of files cannot put control characters into messages or start lines
  /// of their own.
  @Test func messagesHoldNoControlCharacters() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let name = "\(folder)/evil\u{1B}[31m\nbowser: all is well\u{202E}.csv"
    try Data("PUBLISH\u{1B}]0;owned\u{7}_DATE,\u{1B}[31mTRADING\n1,2\n".utf8).write(
      to: URL(filePath: name))
    try await TestDatabase.with { target in
      let result = try CommandTests.run(["backfill", "wa-fuelwatch", name], on: target)
      #expect(result.code == 65, "\(result)")
      let scalars = result.err.unicodeScalars.dropLast()
      #expect(!scalars.contains { [.control, .format].contains($0.properties.generalCategory) })
      let kept = try Connection(target).lines("SELECT error FROM fuel_v1.ingest_runs").joined()
      #expect(!kept.isEmpty)
    }
  }

  @Test func wrongWords() async throws {
    for (words, code, text) in [
      (["backfill"], 64, "name an archive and its files"),
      (["backfill", "nsw-fuelchek", "x.csv"], 64, "did you mean 'nsw-fuelcheck'?"),
      (["stations"], 64, "either --explain ID... or --doubtful"),
    ] {
      let result = try CommandTests.run(words)
      #expect(result.code == code && result.err.contains(text), "\(result)")
    }
    try await TestDatabase.with { target in
      let missing = try CommandTests.run(["backfill", "nsw-fuelcheck", "/nowhere.csv"], on: target)
      #expect(missing.code == 74 && missing.err == "bowser: /nowhere.csv: no such file\n")
    }
  }

  /// The line that `stations --doubtful` prints for a pair can be pasted into the decisions file as
  /// it is.
  @Test func aDoubtfulPairIsPasted() async throws {
    let header =
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".csv")
    let pasted = FileManager.default.temporaryDirectory.appending(
      path: UUID().uuidString + ".json5")
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: pasted)
    }
    var text = header
    for day in 10...28 {
      let address = day < 19 ? "1 O'Mally St" : "1 O'Malley Street"
      text +=
        "Jack's Fuel,\"\(address), Kiama NSW 2533\",Kiama,2533,X,U91,2025-02-\(day) 08:00:00,189.9\n"
    }
    try Data(text.utf8).write(to: file)
    try await TestDatabase.with { target in
      #expect(try CommandTests.run(["backfill", "nsw-fuelcheck", file.path], on: target).code == 0)
      let doubtful = try CommandTests.run(
        ["stations", "--doubtful", "--now", "2025-03-05T00:00:00Z"], on: target
      ).out.split(separator: "\n").map(String.init)
      #expect(
        doubtful.first == "96  nearly the same address, the same name, one after the other",
        "\(doubtful)")
      try Data("[\(doubtful.last ?? "")]".utf8).write(to: pasted)
      let decisions = try decisions(file: pasted.path)
      #expect(decisions.map(\.isSame) == [true])
      let connection = try Connection(target)
      try Identity.match(Store(connection), decisions: decisions, now: .now, log: Logger(.error))
      #expect(try connection.lines("SELECT count(*) FROM fuel_v1.stations") == ["1"])
      #expect(
        try CommandTests.run(["stations", "--doubtful"], on: target).out == "No pair is in doubt.\n"
      )
    }
  }

  /// `gaps` and `stations --explain` describe the loaded history: the missing days and the files
  /// that fill them, and why two station records are one station.
  @Test func tellsWhatTheHistoryHolds() async throws {
    let header =
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".csv")
    defer { try? FileManager.default.removeItem(at: file) }
    var text = header
    for day in 1...28 {
      let name = day < 15 ? "Caltex Kiama" : "Ampol Foodary Kiama"
      text +=
        "\(name),\"1 Main Street, Kiama NSW 2533\",Kiama,2533,X,U91,2025-02-\(day < 10 ? "0" : "")\(day) 08:00:00,18\(day % 10).9\n"
    }
    try Data(text.utf8).write(to: file)
    try await TestDatabase.with { target in
      #expect(try CommandTests.run(["backfill", "nsw-fuelcheck", file.path], on: target).code == 0)
      let gaps = try CommandTests.run(
        ["gaps", "nsw-fuelcheck", "--now", "2025-03-05T00:00:00Z"], on: target)
      #expect(
        gaps.out
          == "nsw-fuelcheck  2016-08-01 to 2025-01-31  3106 days   bowser backfill nsw-fuelcheck FILES, from https://data.nsw.gov.au/data/dataset/fuel-check\n"
          + "nsw-fuelcheck  2025-03-01 to 2025-03-04  4 days      bowser backfill nsw-fuelcheck FILES, from https://data.nsw.gov.au/data/dataset/fuel-check\n",
        "\(gaps.out)")
      let id = try Connection(target).lines("SELECT station_id FROM fuel_v1.stations")
      #expect(id.count == 1)
      let story = try CommandTests.run(["stations", "--explain", id[0]], on: target).out
      #expect(story.contains("CALTEX KIAMA|1 MAIN ST KIAMA: represents the station"), "\(story)")
      #expect(story.contains("AMPOL FOODARY KIAMA|1 MAIN ST KIAMA: has the same address"))
      #expect(story.contains("2025-02-15 to 2025-02-28  Ampol Foodary Kiama (X), 1 Main Street"))
      #expect(
        try CommandTests.run(["stations", "--doubtful"], on: target).out == "No pair is in doubt.\n"
      )
    }
  }
}
