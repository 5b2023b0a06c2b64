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
          "SELECT what, feed, run_id FROM fuel_v1.changes WHERE what = 'history'")
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

  @Test func filesOfArchivesStay() async throws {
    try await TestDatabase.with { target in
      let archive = try BackfillTests.archive(months: 1, rows: 100)
      #expect(
        try CommandTests.run(["backfill", "nsw-fuelcheck", archive], on: target).code == 0)
      let result = try CommandTests.run(["withdraw", "1", "--reason", "x"], on: target)
      #expect(result.code == 65 && result.err.contains("only runs of feeds"), "\(result.err)")
      // A range has the runs of feeds, and passes over the others.
      let range = try CommandTests.run(["withdraw", "1-9", "--reason", "x"], on: target)
      #expect(range.code == 0 && range.err.contains("only runs of feeds"), "\(range)")
      let other = try CommandTests.run(
        ["withdraw", "1-9", "--feed", "tas", "--reason", "x"], on: target)
      #expect(
        other.code == 64 && other.err.contains("none of these runs is of tas-fuelcheck"), "\(other)"
      )
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
