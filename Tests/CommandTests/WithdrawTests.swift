import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// Runs are withdrawn by their numbers, with a reason, and can be restored.
struct WithdrawTests {
  @Test func aRunIsTakenBackAndHadAgain() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      func withdraw(_ words: String...) throws -> CommandTests.Result {
        try CommandTests.run(
          ["withdraw"] + words + ["--now", "2026-07-03T12:00:00Z"], on: target)
      }
      func answers() throws -> [String] {
        try connection.query("SELECT set_config('bowser.now', '2026-07-02T13:00:00Z', false)")
        return try connection.lines(
          "SELECT station_id, fuel, price_cpl, effective_at FROM fuel_v1.current_prices ORDER BY 1, 2"
        )
      }
      let replayed = try CommandTests.run(
        ["ingest", "qld-fpd", "--replay", CommandTests.recording, "--now", "2026-07-03T12:00:00Z"],
        on: target)
      #expect(replayed.code == 0, "\(replayed.err)")
      let before = try answers()
      #expect(before.count > 20)

      #expect(try withdraw("1").code == 64)
      #expect(try withdraw("--reason", "x").code == 64)
      #expect(
        try withdraw("9", "--reason", "x").err
          == "bowser: there is no run 9; fuel_v1.ingest_runs lists them\n")
      let counting = try withdraw("1", "--undo", "--reason", "x")
      #expect(
        counting.code == 0 && counting.err == "bowser: run 1 is not withdrawn: it is stored\n")

      let taken = try withdraw("1", "--reason", "the clock was a day ahead")
      #expect(taken.code == 0 && taken.out == "run 1 of qld-fpd is withdrawn\n", "\(taken.err)")
      #expect(try answers() == [])
      #expect(
        try connection.lines(
          "SELECT outcome, withdrawn_because FROM fuel_v1.ingest_runs WHERE run_id = 1")
          == ["withdrawn|the clock was a day ahead"])
      // A withdrawn run cannot be reprocessed.
      let again = try CommandTests.run(
        ["ingest", "--reprocess", "1", "--now", "2026-07-03T12:00:00Z"], on: target)
      #expect(
        again.code == 65 && again.err.contains("bowser withdraw 1 --undo --reason"), "\(again.err)")
      // Either all of several runs are withdrawn or none.
      #expect(try withdraw("1", "9", "--reason", "x").code == 64)
      #expect(try connection.lines("SELECT count(*) FROM fuel.withdrawal") == ["1"])
      // The answer stays stored, none of its facts does, and `fuel_v1.changes` lists the withdrawal
      // for services that keep a copy.
      #expect(
        try connection.lines("SELECT cardinality(tenths) > 20 FROM fuel.answer") == ["t"])
      #expect(try connection.lines("SELECT count(*) FROM fuel.price") == ["0"])
      #expect(
        try connection.lines(
          "SELECT what, source, run_id FROM fuel_v1.changes WHERE what = 'history'")
          == ["history|qld-fpd|1"])
      let already = try withdraw("1", "--reason", "x")
      #expect(
        already.code == 0
          && already.err == "bowser: run 1 already does not count: it is withdrawn\n")

      let restored = try withdraw("1", "--undo", "--reason", "it was right")
      #expect(restored.code == 0 && restored.out == "run 1 of qld-fpd counts again\n")
      #expect(try answers() == before)
    }
  }

  /// F-O60: ranges are withdrawn, and go on past runs that do not count already and past numbers of
  /// no run. A run that was read again is withdrawn only together with the one that read it.
  @Test func rangesGoOnPastWhatDoesNotCount() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      func run(_ words: String...) throws -> CommandTests.Result {
        try CommandTests.run(words + ["--now", "2026-07-03T12:00:00Z"], on: target)
      }
      for feed in ["qld-fpd", "sa-fpd", "nt-myfuel", "nsw-fuelcheck"] {
        #expect(try run("ingest", feed, "--replay", CommandTests.recording).code == 0)
      }
      #expect(try run("ingest", "--reprocess", "4").code == 0)
      #expect(try run("withdraw", "2", "--reason", "x").code == 0)
      func outcomes() throws -> [String] {
        try connection.lines("SELECT outcome FROM fuel.run ORDER BY run_id")
      }
      let before = ["stored", "withdrawn", "stored", "superseded", "unchanged"]
      #expect(try outcomes() == before)
      // Run 5 counts in place of run 4, so nothing happens.
      let left = try run("withdraw", "1-4", "--reason", "x")
      #expect(left.code == 65 && left.err.contains("withdraw run 5 instead"), "\(left)")
      #expect(try outcomes() == before)
      let named = try run("withdraw", "1-3", "99", "--reason", "x")
      #expect(named.code == 64 && named.err.contains("there is no run 99"), "\(named)")
      #expect(try run("withdraw", "90-99", "--reason", "x").code == 64)
      #expect(try outcomes() == before)
      let taken = try run("withdraw", "1-300", "--reason", "x")
      #expect(
        taken.code == 0
          && taken.out == """
            run 1 of qld-fpd is withdrawn
            run 3 of nt-myfuel is withdrawn
            run 5 of nsw-fuelcheck is withdrawn

            """,
        "\(taken)")
      #expect(taken.err.contains("run 2 already does not count: it is withdrawn"), "\(taken)")
      #expect(
        try outcomes() == ["withdrawn", "withdrawn", "withdrawn", "superseded", "withdrawn"])
      let again = try run("withdraw", "1-3", "--reason", "x")
      #expect(again.code == 0 && again.out.isEmpty, "\(again)")
      let undone = try run("withdraw", "2-4", "--undo", "--reason", "x")
      #expect(
        undone.code == 0
          && undone.out == "run 2 of sa-fpd counts again\nrun 3 of nt-myfuel counts again\n",
        "\(undone)")
    }
  }

  /// F-V16: a station that only a withdrawn run reported is in no region and near no point, as it is
  /// in no row of `stations`.
  @Test func aStationOfAWithdrawnRunIsNowhere() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let now = ["--now", "2026-07-03T12:00:00Z"]
      func stations() throws -> [String] {
        let aggregated = try CommandTests.run(["aggregate"] + now, on: target)
        #expect(aggregated.code == 0, "\(aggregated.err)")
        return try connection.lines(
          """
          SELECT
            (SELECT count(*) FROM fuel_v1.stations),
            (SELECT count(DISTINCT station_id) FROM fuel_v1.region_stations),
            (SELECT count(*) FROM fuel_v1.stations_near(-27.5, 153, 5000))
          """)
      }
      let replayed = try CommandTests.run(
        ["ingest", "qld-fpd", "--replay", CommandTests.recording] + now, on: target)
      #expect(replayed.code == 0, "\(replayed.err)")
      let before = try stations()
      #expect(before != ["0|0|0"])
      #expect(try CommandTests.run(["withdraw", "1", "--reason", "x"] + now, on: target).code == 0)
      #expect(try stations() == ["0|0|0"])
      let restored = try CommandTests.run(
        ["withdraw", "1", "--undo", "--reason", "x"] + now, on: target)
      #expect(restored.code == 0, "\(restored.err)")
      #expect(try stations() == before)
    }
  }

  /// F-O64: a withdrawn file leaves the history as if it had never been loaded, once the files that
  /// repeated its facts are loaded again; and it comes back as it was.
  @Test func aFileOfAnArchiveIsTakenBackAndHadAgain() async throws {
    let right = try BackfillTests.archive(months: 1, rows: 100)
    let wrong = try BackfillTests.archive(months: 1, rows: 1)
    defer {
      for folder in [right, wrong] { try? FileManager.default.removeItem(atPath: folder) }
    }
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: right).first)
    let text = try String(contentsOfFile: "\(right)/\(name)", encoding: .utf8)
    // A third of its prices are wrong. The other file repeats the rest, but for a station and a month
    // that this one has alone.
    var lines = text.split(separator: "\n").enumerated().map { number, line in
      number > 0 && number % 3 == 0 ? line.replacing(/[0-9]+\.[0-9]$/, with: "99.9") : line
    }
    lines.append("Zz Only Here,1 Lonely Rd,Nowhere,2999,None,U91,2024-01-10 10:00:00,99.9")
    lines.append("Zz Only Here,1 Lonely Rd,Nowhere,2999,None,U91,2024-02-10 10:00:00,99.9")
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: "\(wrong)/\(name)", atomically: false, encoding: .utf8)

    func history(of target: String, _ commands: [[String]]) throws -> [String] {
      for command in commands {
        let result = try CommandTests.run(command, on: target)
        #expect(result.code == 0, "\(command): \(result.err)")
      }
      for command in [["aggregate"], ["verify"]] {
        let result = try CommandTests.run(command, on: target)
        #expect(result.code == 0, "\(command): \(result.out) \(result.err)")
      }
      let connection = try Connection(target)
      return try connection.lines(
        """
        SELECT station_id, fuel_id, effective_at, price_tenths FROM fuel.archive_price
        ORDER BY 1, 2, 3, 4
        """)
        + connection.lines(
          "SELECT source_id, month, last_day, days FROM fuel.archive_coverage ORDER BY 1, 2")
        + connection.lines(
          "SELECT first_taken_at, last_taken_at FROM fuel.source WHERE first_taken_at IS NOT NULL")
        + connection.lines("SELECT told::text FROM fuel_v1.price_history AS told ORDER BY 1")
        + connection.lines("SELECT told::text FROM fuel_v1.daily_averages AS told ORDER BY 1")
    }
    let load = { (folder: String) in ["backfill", "nsw-fuelcheck", folder] }
    func withdraw(_ words: String...) -> [String] {
      ["withdraw"] + words + ["--reason", "prices of another fuel"]
    }
    var (alone, both): ([String], [String]) = ([], [])
    try await TestDatabase.with { alone = try history(of: $0, [load(right)]) }
    try await TestDatabase.with { both = try history(of: $0, [load(wrong), load(right)]) }
    #expect(alone != both && alone.count > 100)
    try await TestDatabase.with { target in
      #expect(try history(of: target, [load(wrong), load(right)]) == both)
      // The numbers of a range mean runs of feeds.
      let range = try CommandTests.run(withdraw("1-9"), on: target)
      #expect(range.code == 0 && range.err.contains("name it by its own number"), "\(range)")
      let withdrawn = try history(of: target, [withdraw("1")])
      #expect(!withdrawn.contains { $0.contains("|999") || $0.contains(",99.9,") })
      #expect(withdrawn.count < alone.count)
      // The withdrawn file stays out.
      #expect(try history(of: target, [load(wrong), load(right)]) == alone)
      #expect(try history(of: target, [withdraw("1", "--undo")]) == both)
      #expect(try history(of: target, [load(wrong), load(right)]) == both)
      #expect(try history(of: target, [withdraw("2", "3"), withdraw("1")]) == [])
      #expect(try history(of: target, [withdraw("3", "--undo")]) != both)
      // The loads of one file are known apart. While another one counts, the file is not out.
      let again = try CommandTests.run(withdraw("3"), on: target)
      #expect(again.code == 0 && again.err.isEmpty, "\(again)")
      #expect(try history(of: target, [withdraw("2", "--undo"), load(right)]) == alone)
      let other = try CommandTests.run(withdraw("3", "--undo"), on: target)
      #expect(other.code == 0, "\(other)")
      let told = try CommandTests.run(withdraw("3"), on: target)
      #expect(told.err.contains("run 2 loaded the same file, and counts"), "\(told)")
      #expect(try history(of: target, [withdraw("1", "--undo")]) == both)
    }
  }

  /// F-O60: a run that reported nothing is withdrawn and counts again as others do.
  @Test func anEmptyUpdateIsTakenBackAndHadAgain() async throws {
    try await TestDatabase.with { target in
      func run(_ words: String...) throws -> CommandTests.Result {
        try CommandTests.run(words + ["--now", "2026-07-03T12:00:00Z"], on: target)
      }
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      let answer = folder + "/nsw-fuelcheck/20260702T120000Z"
      try FileManager.default.createDirectory(atPath: answer, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try Data("{\"stations\":[],\"prices\":[]}".utf8)
        .write(to: URL(filePath: answer + "/news.json"))
      #expect(try run("ingest", "nsw-fuelcheck", "--replay", CommandTests.recording).code == 0)
      let update = try run("ingest", "nsw-fuelcheck", "--replay", folder)
      #expect(update.code == 0, "\(update)")
      #expect(try run("withdraw", "1-2", "--reason", "x").code == 0)
      let undone = try run("withdraw", "1-2", "--undo", "--reason", "x")
      #expect(undone.code == 0, "\(undone)")
      #expect(
        try Connection(target).lines(
          "SELECT outcome FROM fuel.run WHERE kind = 'replay' ORDER BY run_id")
          == ["superseded", "superseded"])
    }
  }

  /// F-K62: where the session of `--undo` is cut off while documents are read again, the next
  /// withdrawal reads them. Readings that failed stay what they are: they stored nothing.
  @Test func anUndoThatIsCutOffIsFinished() async throws {
    try await TestDatabase.with { target in
      func run(_ words: String...) throws -> CommandTests.Result {
        try CommandTests.run(words + ["--now", "2026-07-03T12:00:00Z"], on: target)
      }
      #expect(try run("ingest", "qld-fpd", "--replay", CommandTests.recording).code == 0)
      #expect(try run("withdraw", "1", "--reason", "x").code == 0)
      let owner = try Connection(target)
      // A sequence keeps its value after a rollback.
      try owner.execute(
        """
        CREATE SEQUENCE fuel.cuts;
        CREATE FUNCTION fuel.cut() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('fuel.cuts') <= 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER answer_cut BEFORE INSERT ON fuel.answer FOR EACH ROW EXECUTE FUNCTION fuel.cut()
        """)
      for _ in 0..<3 { _ = try run("withdraw", "1", "--undo", "--reason", "x") }
      #expect(
        try owner.lines("SELECT kind, outcome FROM fuel.run ORDER BY run_id") == [
          "replay|superseded", "reprocess|failed", "reprocess|failed", "reprocess|unchanged",
        ])
      #expect(try owner.lines("SELECT count(*) FROM fuel.run_to_read") == ["0"])
      let verified = try run("verify")
      #expect(verified.code == 0, "\(verified)")
    }
  }

  /// F-N49: a run that was to be read again when a program died is read by the next live run of its
  /// feed or by the next withdrawal.
  @Test func whatWasLeftUnreadIsRead() async throws {
    try await TestDatabase.with { target in
      let first = try CommandTests.run(
        ["ingest", "qld-fpd", "--replay", CommandTests.recording], on: target)
      #expect(first.code == 0, "\(first)")
      let connection = try Connection(target)
      // A withdrawal that was killed after its decision leaves this row.
      try connection.execute("INSERT INTO fuel.run_to_read (run_id) VALUES (1)")
      let next = try CommandTests.run(
        ["withdraw", "1", "--undo", "--reason", "a test"], on: target)
      // The command ends with 65 because the run was not withdrawn.
      #expect(next.code == 65, "\(next)")
      #expect(
        try connection.lines(
          "SELECT outcome FROM fuel.run WHERE run_id = 1 UNION ALL SELECT kind FROM fuel.run WHERE replaces_run_id = 1"
        ) == ["superseded", "reprocess"])
      #expect(try connection.lines("SELECT count(*) FROM fuel.run_to_read") == ["0"])
    }
  }
}
