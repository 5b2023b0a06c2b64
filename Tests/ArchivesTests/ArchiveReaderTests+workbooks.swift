import Foundation
import FuelModel
import Fuzzing
import Testing

@testable import Archives

/// Workbooks as different programs write them.
extension ArchiveReaderTests {
  static let columns = [
    "ServiceStationName", "Address", "Suburb", "Postcode", "Brand", "FuelCode", "PriceUpdatedDate",
    "Price",
  ]

  /// A row with the cells that are given; a number is a number, and `nil` no cell.
  static func sheetRow(_ cells: [String?], prefix p: String = "") -> String {
    let xml = cells.enumerated().map { index, cell -> String in
      guard let cell else { return "" }
      let place = "\(Character(Unicode.Scalar(UInt8(65 + index))))1"
      if cell.hasPrefix("<") {
        return cell.replacing("<c", with: "<c r=\"\(place)\"", maxReplacements: 1)
      }
      return Double(cell) == nil
        ? "<\(p)c r=\"\(place)\" t=\"inlineStr\"><\(p)is><\(p)t>\(cell)</\(p)t></\(p)is></\(p)c>"
        : "<\(p)c r=\"\(place)\"><\(p)v>\(cell)</\(p)v></\(p)c>"
    }
    return "<\(p)row>" + xml.joined() + "</\(p)row>"
  }

  /// A record of station A, B and so on.
  static func record(
    _ station: String, _ time: String, _ price: String, fuel: String = "U91"
  ) -> [String?] {
    [station, "\(station) St, Kiama NSW 2533", "Kiama", "2533", "BP", fuel, time, price]
  }

  static func rows(_ rows: [[String?]], prefix: String = "") -> String {
    rows.map { sheetRow($0, prefix: prefix) }.joined()
  }

  static func january(_ days: ClosedRange<Int>, month: Int = 1) -> [[String?]] {
    [columns] + days.map { record("A", "2023-0\(month)-\(two($0)) 07:00:00", "18\($0 % 10).9") }
  }

  /// F-P40: the path of a workbook is no pattern. Each file is read from its own bytes.
  @Test func namesAreNoPatterns() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (number, name) in [
      "feb1.xlsx", "feb[1].xlsx", "feb*.xlsx", "feb?.xlsx", "-p feb.xlsx", "feb\\1.xlsx",
      "é '.xlsx",
    ].enumerated() {
      let rows = [
        Self.columns, Self.record("S\(number)", "2023-02-0\(number + 1) 07:00:00", "180.9"),
      ]
      let file = folder.appending(path: name)
      try Data(Workbook.book([("A", Self.rows(rows), "")])).write(to: file)
      let outcome = try await Self.read("nsw-fuelcheck", path: file.path)
      #expect(outcome.stations.map(\.name) == ["S\(number)"], "\(name)")
      let packed = Workbook.zip([
        ("-x[1].csv", Array((Self.header + Self.row("2025-01-02 03:04:05", "145.9")).utf8))
      ])
      try Data(packed).write(to: file)
      #expect(try await Self.read("nsw-fuelcheck", path: file.path).lines.count == 1, "\(name)")
    }
  }

  /// F-P41: every visible sheet with the header is read, in the order of the tabs and not of the
  /// files, each as a file of its own: a year with a sheet a month.
  @Test(arguments: ["worksheets/", "/xl/worksheets/", "./worksheets/", "../xl/worksheets/"])
  func everyVisibleSheetIsRead(targets: String) async throws {
    let sheets = (1...3).map { month in
      (name: "M\(month)", rows: Self.rows(Self.january(1...20, month: month)), state: "visible")
    }
    let hidden = [
      (
        "Old", Self.rows([Self.columns, Self.record("OLD", "2023-01-01 07:00:00", "99.9")]),
        "hidden"
      ),
      (
        "X", Self.rows([Self.columns, Self.record("X", "2023-01-01 07:00:00", "99.9")]),
        "veryHidden"
      ),
    ]
    let notes = [("About", Self.rows([["FuelCheck price history"], ["Extract", "2023"]]), "")]
    let outcome = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book(notes + sheets + hidden, targets: targets))
    #expect(outcome.received == 60)
    #expect(outcome.batches == 3)
    #expect(outcome.lines.first?.hasSuffix("2022-12-31T20:00:00Z 1819") == true)
    #expect(outcome.lines.last?.hasSuffix("2023-03-19T20:00:00Z 1809") == true)
    #expect(outcome.stations.map(\.name) == ["A"])
    #expect(
      outcome.warnings == [
        "sheet 'About' has no header and begins with 'FuelCheck price history'",
        "hidden sheets are left out: 'Old', 'X'",
      ])
  }

  /// F-P41: where no visible sheet has the header, the refusal names all of them; a sheet with a
  /// part of the header refuses the file by its name, whatever the others hold.
  @Test func sheetsWithoutHeadersAreNamed() async throws {
    let pivot = Self.rows([["Row Labels", "Average of Price"], ["E10", "186.4"]])
    let none = await Self.refusal(
      "nsw-fuelcheck",
      bytes: Workbook.book([("About", Self.rows([["Notes"]]), ""), ("P", pivot, "")]))
    #expect(
      none == "no header of nsw-fuelcheck in any visible sheet; sheet 'About' has no header and "
        + "begins with 'Notes'; sheet 'P' has no header and begins with 'Row Labels, Average of Price'"
    )
    let changed = Self.rows([Self.columns.dropLast() + ["Cost"]])
    let part = await Self.refusal(
      "nsw-fuelcheck",
      bytes: Workbook.book([("Jan", Self.rows(Self.january(1...3)), ""), ("Feb", changed, "")]))
    #expect(part.hasPrefix("sheet 'Feb': no column 'price'"), "\(part)")
    let hidden = await Self.refusal(
      "nsw-fuelcheck", bytes: Workbook.book([("Jan", Self.rows(Self.january(1...3)), "hidden")]))
    #expect(hidden.contains("hidden sheets are left out: 'Jan'"), "\(hidden)")
    // Old workbooks have two empty sheets behind the first.
    let old = try await Self.read(
      "nsw-fuelcheck",
      bytes: Workbook.book([
        ("Jan", Self.rows(Self.january(1...3)), ""), ("S2", "", ""), ("S3", "", ""),
      ]))
    #expect(old.received == 3 && old.batches == 1 && old.warnings.isEmpty)
  }

  /// F-P41, F-T03: an exchange of day and month is looked for in each sheet.
  @Test func eachSheetHasItsOwnMonth() async {
    let swapped = (1...6).map { Self.record("A", "2020-\(Self.two($0))-04 10:00:00", "120.9") }
    let words = await Self.refusal(
      "nsw-fuelcheck",
      bytes: Workbook.book([
        ("Jan", Self.rows(Self.january(1...28)), ""),
        ("Apr", Self.rows([Self.columns] + swapped), ""),
      ]))
    #expect(words.hasPrefix("sheet 'Apr': day and month are swapped"), "\(words)")
  }

  /// F-P42: days may be counted from 1904 on.
  @Test(arguments: [
    ("", "44927.25"), ("date1904=\"0\"", "44927.25"), ("date1904=\"false\"", "44927.25"),
    ("date1904=\"1\"", "43465.25"), ("date1904=\"true\"", "43465.25"),
  ])
  func daysBeginIn1900Or1904(properties: String, day: String) async throws {
    let rows = Self.rows([Self.columns, Self.record("A", day, "180.9")])
    let outcome = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book([("A", rows, "")], properties: properties))
    #expect(outcome.lines.first?.hasSuffix("2022-12-31T19:00:00Z 1809") == true, "\(outcome)")
  }

  /// F-P43: elements are known by their namespace, whatever their prefix; those of extensions are
  /// none of the sheet. Strict workbooks have another namespace and dates as text.
  @Test func elementsAreKnownByNamespace() async throws {
    let transitional = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    let strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    for (prefix, namespace) in [
      ("", transitional), ("x:", transitional), ("ss:", strict), ("", strict),
    ] {
      let rows = Self.rows(
        [Self.columns, Self.record("A", "44927.25", "180.9")], prefix: prefix)
      let foreign = "<y:row xmlns:y=\"urn:else\"><y:c><y:v>1</y:v></y:c></y:row>"
      let outcome = try await Self.read(
        "nsw-fuelcheck",
        bytes: Workbook.book([("A", rows + foreign, "")], prefix: prefix, namespace: namespace))
      #expect(outcome.received == 1 && outcome.lines.count == 1, "\(prefix) \(namespace)")
    }
    let dated = Self.record("A", "<c t=\"d\"><v>2023-01-01T06:00:00</v></c>", "180.9")
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      bytes: Workbook.book([("A", Self.rows([Self.columns, dated]), "")], namespace: strict))
    #expect(outcome.lines.first?.hasSuffix("2022-12-31T19:00:00Z 1809") == true, "\(outcome)")
  }

  /// F-P44: a formula without a stored value is an empty cell, and the file says how many there are.
  /// One with a value has that value. An error is no text, and nothing is read of its row.
  @Test func formulasAndErrors() async throws {
    let rows = Self.rows([
      Self.columns,
      Self.record("A", "44927.25", "<c><f>B2*10</f></c>"),
      Self.record("B", "44927.25", "<c><f>B2*10</f><v>181.9</v></c>"),
      Self.record("C", "44927.25", "<c><f>B2*10</f><v></v></c>"),
      Self.record("H", "44927.25", "<c><f>B2*10</f><v>0</v></c>"),
      ["<c t=\"str\"><f>A1</f><v>D</v></c>"] + Self.record("D", "44927.25", "182.9").dropFirst(),
      Self.record("E", "44927.25", "<c t=\"e\"><v>#N/A</v></c>"),
      [
        "F", "F St", "<c t=\"e\"><f>VLOOKUP(1)</f><v>#REF!</v></c>", nil, nil, "U91", "44927.25",
        "183.9",
      ],
      ["G", "G St", "<c t=\"s\"><v>77</v></c>", nil, nil, "U91", "44927.25", "183.9"],
    ])
    let outcome = try await Self.read("nsw-fuelcheck", bytes: Workbook.book([("A", rows, "")]))
    #expect(outcome.stations.map(\.name) == ["B", "D"])
    #expect(
      outcome.rejects == [
        "price_unreadable", "price_unreadable", "price_out_of_band", "record_unreadable",
        "record_unreadable", "record_unreadable",
      ])
    #expect(
      outcome.warnings == [
        "formulas of sheet 'A' without a stored value, empty or 0: 3; open the file in Excel and save "
          + "it again"
      ])
  }

  /// F-P43: texts may be shared in parts, with phonetic hints that are none of the text. Cells may
  /// lack their places, and rows may lack their last cells.
  @Test func cellsAsProgramsWriteThem() async throws {
    let texts =
      "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><si><r><t>BP </t></r>"
      + "<r><t>Kiama</t></r><rPh sb=\"0\" eb=\"1\"><t>no</t></rPh></si></sst>"
    let names = Self.columns + ["Remark"]
    let row =
      "<row spans=\"1:9\"><c t=\"s\"><v>0</v></c><c t=\"str\"><v>1 St</v></c><c/><c><v>2533</v></c><c/>"
      + "<c t=\"inlineStr\"><is><t>U91</t></is></c><c s=\"3\"><v>44927.25</v></c><c><v>180.9</v></c></row>"
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      bytes: Workbook.book([("A", Self.rows([names]) + row, "")], texts: texts))
    #expect(outcome.stations.map(\.name) == ["BP Kiama"])
    #expect(outcome.stations.map(\.brand) == [nil])
    #expect(outcome.lines.count == 1)
  }

  /// F-P59: a second table is read whole, also where it is further right or wider than the first. A
  /// row beside the table is a reject, and a table that begins beside a record refuses the file.
  @Test(arguments: [1, 3, 9])
  func tablesFurtherRight(shift: Int) async throws {
    let first = Self.january(1...20)
    let empty = [String?](repeating: nil, count: 9)
    let second = Self.january(1...20, month: 2).map { Array(empty.prefix(shift)) + $0 }
    let wider = Self.january(1...20, month: 3).map {
      Array($0.prefix(5)) + ["Metro"] + $0.dropFirst(5)
    }
    let outcome = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(first + second + wider), "")]))
    #expect(outcome.lines.count == 60 && outcome.received == 62, "\(outcome)")
    #expect(outcome.rejects == ["not_a_record", "not_a_record"])
    let right = Array(empty.prefix(8)) + Self.record("B", "2023-01-01 07:00:00", "180.9")
    let bare = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(first + [right]), "")]))
    #expect(bare.lines.count == 20 && bare.rejects == ["record_unreadable"])
    let beside = Array(first.prefix(9)) + [first[9] + Self.columns] + first.dropFirst(10)
    let words = await Self.refusal(
      "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(beside), "")]))
    #expect(words.contains("in row 10 a second table begins beside the first"), "\(words)")
  }

  // MARK: Printed reports

  /// F-P45: an empty cell of a sheet that is no printed report is empty, with titles or without.
  @Test func emptyCellsOfOtherSheetsAreEmpty() async throws {
    var rows = Self.january(1...20)
    rows[3][4] = nil
    rows[5][2] = nil
    rows[8][5] = nil
    rows[9][6] = nil
    rows[10][1] = nil
    for title in [[], [["Price history"]], [["Price history"], ["January 2023"], [nil, "x"]]] {
      let outcome = try await Self.read(
        "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(title + rows), "")]))
      #expect(outcome.rejects == ["unknown_fuel", "stamp_unreadable", "station_missing"])
      #expect(outcome.lines.count == 17)
      #expect(outcome.stations.contains { $0.brand == nil })
      #expect(outcome.stations.contains { $0.suburb == nil })
    }
    // Without a title it is no report either, however many cells are empty.
    let bare = rows.map { [nil, nil, nil, nil, nil] + $0.dropFirst(5) }
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      bytes: Workbook.book([("A", Self.rows(Array(rows.prefix(2)) + bare.dropFirst()), "")]))
    #expect(outcome.lines.count == 1)
  }

  /// F-P46: in a printed report neither sums nor notes nor the header of the next page become
  /// prices, and no cell below them repeats one of theirs.
  @Test func sumsOfReportsAreNoRecords() async throws {
    let none: String? = nil
    let first = Self.record("A", "1/04/2020 7:00:00 AM", "120.9")
    let rows: [[String?]] = [
      ["Price History Checks"], Self.columns, first,
      [none, none, none, none, none, "E10", "1/04/2020 8:00:00 AM", "119.9"],
      ["A Total", none, none, none, none, none, none, "120.4"],
      [none, none, none, none, none, "P98", "1/04/2020 9:00:00 AM", "139.9"],
      [none, none, none, none, none, "Subtotal", none, "126.9"],
      ["Page 1 of 2"], Self.columns,
      [none, none, none, none, none, none, "1/04/2020 10:00:00 AM", "138.9"],
      // The same price twice, which the report merges, and an average.
      [none, none, none, none, none, none, none, "138.9"],
      [none, none, none, none, none, none, none, "137.9"],
      Self.record("B", "1/04/2020 11:00:00 AM", "121.9"),
      [none, "Average", none, none, none, none, none, "125.0"],
      ["Grand Total", none, none, none, none, none, "5", "125.0"],
      [none, none, none, none, none, none, none, "125.1"],
    ]
    let outcome = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(rows), "")]))
    #expect(outcome.stations.map(\.name) == ["A", "B"])
    #expect(
      outcome.lines.map { $0.split(separator: " ").suffix(3).joined(separator: " ") } == [
        "U91 2020-03-31T20:00:00Z 1209", "E10 2020-03-31T21:00:00Z 1199",
        "P98 2020-03-31T22:00:00Z 1399", "P98 2020-03-31T23:00:00Z 1389",
        "U91 2020-04-01T00:00:00Z 1219",
      ])
    #expect(outcome.rejects.filter { $0 == "not_a_record" }.count == 6)
    #expect(
      Set(outcome.rejects) == ["not_a_record", "stamp_unreadable"])
  }

  /// F-P46: where a row of a report may begin a station and is no record, the rows below do not
  /// become prices of the station above it.
  @Test(
    arguments: [
      ["C", nil, nil, nil, nil, "U91", "1/04/2020 9:00:00 AM", "125.9"], ["C", "C St"], ["C"],
      ["C", "C St, Kiama NSW 2533", "Kiama", "2533", "BP"],
    ] as [[String?]])
  func rowsBelowAnUnclearRow(unclear: [String?]) async throws {
    let none: String? = nil
    let more: [[String?]] = (1...3).map {
      [none, none, none, none, none, "E10", "1/04/2020 10:0\($0):00 AM", "119.9"]
    }
    let first = Self.record("A", "1/04/2020 7:00:00 AM", "120.9")
    let last = Self.record("B", "1/04/2020 11:00:00 AM", "121.9")
    let rows = [["Price History Checks"], Self.columns, first] + [unclear] + more + [last]
    let outcome = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.book([("A", Self.rows(rows), "")]))
    #expect(outcome.stations.map(\.name) == ["A", "B"])
    #expect(outcome.lines.count == 2 && outcome.received == 6)
    #expect(outcome.rejects.filter { $0 == "record_unreadable" }.count == 3)
  }

  /// F-P56: a sheet whose program did not find some of the stations is no printed report, whichever
  /// rows of a station lack it. Only there does a row write the station of the row above again.
  @Test(arguments: [0, 1, 2])
  func stationsThatWereNotFoundAreMissing(missing: Int) async throws {
    let rows = ["A", "B", "C", "D"].enumerated().flatMap { hour, station in
      ["E10", "U91", "P98"].enumerated().map { index, fuel in
        let row = Self.record(
          station, "2023-01-01 0\(hour):0\(index):00", "18\(hour).9", fuel: fuel)
        return index == missing ? [String?](repeating: nil, count: 5) + row.dropFirst(5) : row
      }
    }
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      bytes: Workbook.book([("A", Self.rows([["Price history"], Self.columns] + rows), "")]))
    #expect(outcome.lines.count == 8)
    #expect(outcome.rejects == Array(repeating: "station_missing", count: 4))
  }

  /// F-P56: a formula without a stored result makes no sheet a printed report, and neither it nor an
  /// empty cell below it is filled from above.
  @Test(arguments: [
    "<c><f>Lookup!A2</f></c>", "<c><f>Lookup!A2</f><v></v></c>",
    "<c t=\"str\"><f>IFERROR(Lookup!A2,\"\")</f><v></v></c>",
  ])
  func formulasAreNotFilledFromAbove(formula: String) async throws {
    func row(_ cell: String?, _ fuel: String, _ time: String) -> [String?] {
      Array(repeating: cell, count: 5) + [fuel, time, "181.9"]
    }
    func outcome(_ rows: [[String?]]) async throws -> Outcome {
      let all = Self.rows([["Price History Checks"], Self.columns] + rows)
      return try await Self.read("nsw-fuelcheck", bytes: Workbook.book([("A", all, "")]))
    }
    let first = Self.record("A", "1/04/2020 7:00:00 AM", "180.9")
    let last = Self.record("B", "1/04/2020 8:00:00 AM", "180.9")
    let sheet = try await outcome(
      [first] + ["E10", "P95", "P98"].map { row(formula, $0, "1/04/2020 7:00:00 AM") })
    #expect(sheet.lines.count == 1 && sheet.rejects.count == 3, "\(sheet)")
    let report = try await outcome([
      first, row(nil, "E10", "1/04/2020 7:00:00 AM"), row(formula, "P95", "1/04/2020 7:01:00 AM"),
      row(nil, "P98", "1/04/2020 7:01:00 AM"), last, row(nil, "E10", "1/04/2020 8:00:00 AM"),
    ])
    #expect(report.stations.map(\.name) == ["A", "B"] && report.lines.count == 4)
    #expect(report.rejects == ["station_missing", "station_missing"], "\(report)")
    let fuel = try await outcome([
      first, row(nil, "E10", "1/04/2020 7:00:00 AM"), row(nil, formula, "1/04/2020 7:02:00 AM"),
    ])
    #expect(fuel.lines.count == 2 && fuel.rejects == ["unknown_fuel"], "\(fuel)")
  }
}
