import Foundation
import FuelModel
import TestDatabase
import Testing

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

  /// Every day gets a verdict, without a database. Quoted names stay quoted. A file that ends
  /// earlier yields the same verdicts up to its end. Line endings and the order of columns and rows
  /// do not matter.
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
          + "aim_for_cpl,expected_low_cpl,expected_low_from_on,expected_low_to_on,record_cpl,reason"
      )
      #expect(
        lines[1]
          == "\"Perth, north\",U91,2024-10-04,no_difference,insufficient_data,,,,,,,,,,,,"
          + "\"Too little is known of prices in Perth, north to advise\"")
      #expect(lines[200].contains(",price_cycle,cycle,"))
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

  /// Scores are printed as a table and as JSON. They cover the method in use and the
  /// baselines, by year.
  @Test func scoresInTwoForms() throws {
    try file("region,fuel,day,price\n" + rows(days: 400).joined(separator: "\n")) { path in
      let table = try run("--prices", path)
      #expect(table.code == 0 && table.out.contains("turning-point-1"))
      #expect(table.out.contains("1 market that moves: mean capture 0."))
      // The file touches two calendar years. Each year and the whole period have a row for the
      // method and for each of three baselines.
      #expect(table.out.contains("States of the market beside hindsight"))
      let states = try #require(
        try JSONSerialization.jsonObject(
          with: Data(try run("--prices", path, "--json").out.utf8)) as? [[String: Any]])
      // Only the method in use determines states, and its days are those of its two years.
      let days = states.map { row -> Int? in (row["states"] as? [String: Any])?["days"] as? Int }
      let others = days.dropFirst(3).compactMap { $0 }
      #expect(days.count == 12 && others.isEmpty)
      let years = days[1...2].compactMap { $0 }.reduce(0, +)
      #expect(years > 300 && days[0] == years)
      let json = try run("--prices", path, "--json", "--method", "direction").out
      let objects = try #require(
        try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
      #expect(objects.count == 9)
      let first = try #require(objects.first)
      #expect(first["method"] as? String == "direction" && first["year"] is NSNull)
      #expect(first["windows"] as? Int == 395)
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
    let near = try run("--method", "turning-point")
    #expect(near.code == 64 && near.err.contains("did you mean 'turning-point-1'"))
    #expect(try run("--from", "yesterday").code == 64)
    // A file with only a header has nothing to score, which is not an error.
    try file("region,fuel,day,price\n") { path in
      let result = try run("--prices", path)
      #expect(result.code == 0)
    }
  }
}
