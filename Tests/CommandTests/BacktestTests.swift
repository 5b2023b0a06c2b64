import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing
import Trends

/// `bowser backtest --prices`: verdicts and scores for a CSV file of prices.
struct BacktestTests {
  private static let folder = FileManager.default.temporaryDirectory.path

  /// Writes `text` to a temporary file and passes its path to `body`.
  private func file(_ text: String, _ body: (String) throws -> Void) throws {
    let path = "\(Self.folder)/\(UUID().uuidString).csv"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func run(_ arguments: String...) throws -> (code: Int32, out: String, err: String) {
    let result = try CommandTests.run(["backtest"] + arguments, on: "host=/nowhere")
    return (result.code, result.out, result.err)
  }

  private func rows(days: Int) -> [String] {
    (0..<days).map { day in
      let phase = day % 25
      let price = 160 + (phase <= 5 ? Double(phase) * 6 : Double(25 - phase) * 1.5)
      return "\"Perth, north\",U91,\(Day(sinceEpoch: 20_000) + day),\(price)"
    }
  }

  /// F-G15: every day gets a verdict, without a database. Quoted names stay quoted. A file that ends
  /// earlier yields the same verdicts and states up to its end. Line endings and the order of
  /// columns and rows do not matter.
  @Test func everyDayGetsItsVerdict() throws {
    let header = "region,fuel,day,price\n"
    try file(header + rows(days: 200).joined(separator: "\n")) { path in
      let whole = try run("--prices", path, "--verdicts", "-")
      #expect(whole.code == 0 && whole.err == "")
      let lines = whole.out.split(separator: "\n").map(String.init)
      #expect(lines.count == 201)
      #expect(
        lines[0]
          == "region,fuel,day,verdict,basis,rule,expected_saving_cpl,confidence,market_state,p_cheaper_3d,p_jump_3d,"
          + "p_lower_5d,aim_for_cpl,expected_low_cpl,expected_low_from_cpl,expected_low_to_cpl,record_cpl,reason"
      )
      #expect(
        lines[1]
          == "\"Perth, north\",U91,2024-10-04,no_difference,insufficient_data,,,,,,,,,,,,,"
          + "Too little is known of prices here to advise")
      #expect(lines[200].contains(",price_cycle,turn,"))
      try file(header + rows(days: 150).joined(separator: "\r\n") + "\r\n") { cut in
        let part = try run("--prices", cut, "--verdicts", "-").out.split(separator: "\n")
        #expect(part.map(String.init) == Array(lines[...150]))
      }
      let turned = rows(days: 200).reversed().map { row -> String in
        let fields = row.split(separator: ",")
        return "\(fields[4]),x,\(fields[3]),\(fields[0]),\(fields[1]),\(fields[2])"
      }
      try file(
        "Price,note,Day,Region,Fuel\n"
          + turned.map {
            let fields = $0.split(separator: ",")
            return "\(fields[0]),\(fields[1]),\(fields[2]),\(fields[3]),\(fields[4]),\(fields[5])"
          }.joined(separator: "\n")
      ) { other in
        let result = try run("--prices", other, "--verdicts", "-")
        #expect(result.code == 0 && result.out == whole.out)
      }
    }
  }

  /// Scores are printed as a table and as JSON. They cover the verdicts and the habits, by year and
  /// horizon.
  @Test func scoresInTwoForms() throws {
    try file("region,fuel,day,price\n" + rows(days: 400).joined(separator: "\n")) { path in
      let table = try run("--prices", path)
      #expect(table.code == 0 && table.out.contains("best-habit-1"))
      #expect(table.out.contains("1 market that moves: mean capture 0."))
      #expect(
        table.out.contains("   3 days     5 days     7 days ")
          && !table.out.contains("as they were given"))
      // The file touches two calendar years. Each year and the whole period have a row for each
      // method and horizon.
      let json = try run("--prices", path, "--json").out
      let objects = try #require(
        try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
      #expect(objects.allSatisfy { $0["scored"] as? String == "replayed" })
      for method in Adviser.allCases.map(\.rawValue) {
        let own = objects.filter { $0["method"] as? String == method }
        #expect(own.compactMap { $0["horizon"] as? Int } == [3, 5, 7, 3, 5, 7, 3, 5, 7])
        let whole = try #require(own.first { $0["horizon"] as? Int == 5 })
        #expect(whole["year"] is NSNull && whole["days"] as? Int == 395)
        #expect(whole["saving_low_cpl"] is Double && whole["capture"] is Double)
        #expect(own.allSatisfy { $0["days"] as? Int ?? 0 > 0 })
      }
    }
  }

  /// Of the stored history, verdicts are scored as they were given too. Both kinds of scores are
  /// printed, and those of a backtest replace those of the last one alone.
  @Test func givenVerdictsStandBesideReplayedOnes() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      // A sawtooth of two days, with verdicts on its last thirty.
      try connection.execute(
        """
        INSERT INTO fuel.region (region, name, kind, state) VALUES ('NSW', 'New South Wales', 'state', 'NSW');
        INSERT INTO fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended,
          is_usable)
        SELECT 'NSW', fuel_id, date '2026-04-01' + number, price, price, price, price, price, 10, 1, true, true
        FROM fuel.fuel, generate_series(0, 59) AS number, LATERAL (SELECT 180 - 2 * (number % 2)) AS tooth (price)
        WHERE fuel = 'U91';
        INSERT INTO fuel.verdict (
          region, fuel_id, computed_at, day, verdict, basis, method, reason, stations, valid_until_at)
        SELECT 'NSW', fuel_id, day + time '01:00', day, 'fill_up', 'price_cycle', '{method}', 'a test', 10,
          day + time '23:00'
        FROM fuel.fuel, generate_series(date '2026-05-01', date '2026-05-30', '1 day') AS series (at),
          LATERAL (SELECT series.at::date) AS day (day)
        WHERE fuel = 'U91';
        INSERT INTO fuel.verdict_score
        SELECT scored, 'gone', 'NSW', fuel_id, NULL, 5, 1, 0.8, 0.4, 0.4, 0.4, 1, 0, 0, 0, NULL, NULL, 0,
          '2026-01-01', '2026-01-01', now()
        FROM fuel.fuel, unnest(ARRAY['given', 'replayed']) AS kind (scored)
        WHERE fuel = 'U91'
        """.replacing("{method}", with: Adviser.verdicts.rawValue))
      #expect(
        try connection.lines("SELECT DISTINCT capture FROM fuel_v1.verdict_scores") == ["0.500"])
      func backtest(_ words: String...) throws -> String {
        let result = try CommandTests.run(
          ["backtest", "--now", "2026-05-31T03:00:00Z"] + words, on: target)
        #expect(result.code == 0, "\(result)")
        return result.out
      }
      let id = Adviser.verdicts.rawValue
      let table = try backtest()
      #expect(table.contains("Verdicts of \(id) replayed over past prices."))
      #expect(table.contains("Verdicts of \(id) as they were given."))
      let objects = try #require(
        try JSONSerialization.jsonObject(with: Data(try backtest("--json").utf8))
          as? [[String: Any]])
      let given = objects.filter {
        $0["scored"] as? String == "given" && $0["horizon"] as? Int == 5
      }
      #expect(
        given.map { $0["method"] as? String }
          == [id] + Adviser.habits.map { String?.some($0.rawValue) })
      #expect(
        given.allSatisfy { $0["days"] as? Int == 25 && $0["from_on"] as? String == "2026-05-01" })
      #expect(try !backtest("--from", "2026-05-01").contains("as they were given"))
      #expect(
        try connection.lines(
          """
          SELECT scored, count(*) FILTER (WHERE method = 'gone') AS former,
            count(DISTINCT method) FILTER (WHERE method <> 'gone') AS methods
          FROM fuel_v1.verdict_scores GROUP BY scored ORDER BY scored
          """) == ["given|1|0", "replayed|0|\(Adviser.allCases.count)"])
    }
  }

  /// A faulty file is reported in one line with its path and, if one row is at fault, with the row
  /// and the value. The command exits with code 65.
  @Test(arguments: [
    ("region,fuel,day\nx,U91,2026-01-01", 65, "no column 'price'"),
    ("region,fuel,day,price\nx,U91,2026-02-30,1", 65, "row 2: day '2026-02-30'"),
    ("region,fuel,day,price\nx,U91,2026-02-03,cheap", 65, "row 2: price 'cheap'"),
    ("region,fuel,day,price\nx,U91,2026-02-03,-4", 65, "price '-4'"),
    ("region,fuel,day,price\nx,U91,2026-02-03,nan", 65, "price 'nan'"),
    ("region,fuel,day,price\nx,U91,2026-02-03,150\nx,U91,2026-02-03,151", 65, "two prices"),
    ("region,fuel,day,price\nx,U91,1026-02-03,150\nx,U91,2026-02-03,151", 65, "hundred years"),
    ("", 65, "the file is empty"),
    ("region,fuel,day,price\n\"x,U91,2026-02-03,150", 65, "is not a row"),
  ])
  func whatIsWrongIsNamed(text: String, code: Int32, what: String) throws {
    try file(text) { path in
      let result = try run("--prices", path)
      #expect(result.code == code && result.err.contains(what) && result.out == "", "\(result)")
      #expect(result.err.contains(path) && result.err.split(separator: "\n").count == 1)
    }
  }

  @Test func wrongWordsAndFiles() throws {
    #expect(try run("--prices", "/no/such.csv").code == 74)
    #expect(try run("--prices", "/tmp").code == 74)
    #expect(try run("--late").code == 64)
    #expect(try run("--verdicts", "-").code == 64)
    #expect(try run("--from", "yesterday").code == 64)
    // A file with only a header has nothing to score, which is not an error.
    try file("region,fuel,day,price\n") { path in
      let result = try run("--prices", path)
      #expect(result.code == 0)
    }
  }
}
