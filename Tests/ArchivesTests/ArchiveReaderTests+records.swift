import Foundation
import FuelModel
import Fuzzing
import Testing

@testable import Archives

/// Rows that are no records, texts that programs rewrite, and other kinds of files.
extension ArchiveReaderTests {
  static let time = "2025-01-02 03:04:05"

  // MARK: Rows that are no records

  /// F-P46: sums, averages, notes and marks of pages are no prices and no stations, wherever their
  /// words stand. They do not count against the file.
  @Test(arguments: [
    "Grand Total,,,,,,,186.4", ",,,,Total,,,186.4", ",,,,,Average,,186.4",
    ",,Subtotal,,,U91,,186.4",
    "BP Kiama Total,,,,,,,186.4", "Average of Price,,,,,U91,2025-01-02 03:04:05,186.4",
    "Grand Total,All,All,2000,All,U91,2025-01-02 03:04:05,186.4",
    "Sum of Price,186.4", "Note: prices are in cents", "\"Page 1 of 3\",,,,,,,",
    "Source: NSW FuelCheck,,,,,,,", "Total rows,2,,,,,,", ",,,,,,Average,186.4",
    "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price",
    "AVERAGE,,,,,U91,2025-01-31 00:00:00,186.4333333", "E10 average price,,,,,,,186.4",
    "(blank),All,All,2000,All,U91,2025-01-02 03:04:05,186.4",
    "(All),All,All,2000,All,U91,2025-01-02 03:04:05,186.4",
    "Kiama Average,All,All,2000,All,U91,2025-01-02 03:04:05,186.4",
    "Summary,Sydney,,,,U91,2025-01-02 03:04:05,186.4",
    "Average - All Brands,Sydney,,,,U91,2025-01-02 03:04:05,186.4",
  ])
  func sumsAndNotesAreNoRecords(row: String) async throws {
    let good = Self.row(Self.time, "145.9")
    let outcome = try await Self.read("nsw-fuelcheck", Self.header + good + row + "\n" + good)
    #expect(outcome.rejects == ["not_a_record"], "\(outcome)")
    #expect(outcome.stations.map(\.name) == ["BP Kiama"])
    #expect(outcome.lines.count == 1 && outcome.duplicates == 1 && outcome.received == 3)
    #expect(!Reject.Reason.notARecord.countsAgainstFeed)
  }

  /// F-P46: what programs write for an empty cell is no name and no address.
  @Test(arguments: ["NULL", "#N/A", "#REF!", "n/a", "nan", "-", "None", "0"])
  func placeholdersAreNoTexts(text: String) async throws {
    let good = Self.row(Self.time, "145.9")
    for row in [
      "\(text),1 St,Kiama,2533,,U91,\(Self.time),186.4",
      "BP,\(text),Kiama,2533,,U91,\(Self.time),186.4",
    ] {
      let outcome = try await Self.read("nsw-fuelcheck", Self.header + good + row + "\n")
      #expect(outcome.rejects == ["station_missing"], "\(outcome)")
    }
  }

  /// F-P46: stations whose names only contain such words are stations.
  @Test(arguments: [
    "Mean Street Fuel", "Total Fuels Kiama", "Total Tools", "Summary Street Fuel", "Note Petroleum",
    "Page & Sons", "Max",
  ])
  func namesWithSuchWordsAreNames(name: String) async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row(Self.time, "145.9", name: name))
    #expect(outcome.stations.map(\.name) == (name == "Max" ? [] : [name]))
  }

  /// F-P46: sums of the other archives.
  @Test func sumsOfOtherArchives() async throws {
    let queensland = try await Self.read(
      "qld-fuel-prices",
      "SiteId,Site_Name,Sites_Address_Line_1,Fuel_Type,Price,TransactionDateutc\n"
        + "61400000,BP,1 A St,e10,1800,01/06/2023 07:00\nGrand Total,,,,1864,\n"
        + "Total,All,All,e10,1864,01/06/2023 07:00\n")
    #expect(queensland.rejects == ["not_a_record", "not_a_record"])
    #expect(queensland.stations.map(\.code) == ["61400000"])
    let west = try await Self.read(
      "wa-fuelwatch",
      "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION,POSTCODE\n"
        + "05/04/2026,53 Mile,United,ULP,257.90,31 Hwy,PINJARRA,6208\n"
        + "Average,,,ULP,257.90,,,\n05/04/2026,Average,,ULP,257.90,,PINJARRA,\n")
    #expect(west.rejects == ["not_a_record", "not_a_record"])
    let north = try await Self.read(
      "nt-myfuel",
      "Full Date,Site Name,Suburb,Lat,Long,Diesel,Unleaded 91\n"
        + "01/11/2024,Puma,STUART,-12.448,130.845,190.9,179.9\n"
        + "Grand Total,,,,,190.9,179.9\nFull Date,Site Name,Suburb,Lat,Long,Unleaded 91,Diesel\n"
        + "02/11/2024,Puma,STUART,-12.448,130.845,180.9,191.9\n")
    #expect(north.rejects == ["not_a_record", "not_a_record"])
    #expect(
      north.lines.map { $0.split(separator: " ").suffix(3).joined(separator: " ") } == [
        "U91 2024-10-31T14:30:00Z 1799", "U91 2024-11-01T14:30:00Z 1809",
        "DL 2024-10-31T14:30:00Z 1909", "DL 2024-11-01T14:30:00Z 1919",
      ])
  }

  /// F-P47: below a header in another order, or with other columns, rows are read by that header.
  /// One that lacks a column refuses the file.
  @Test func rowsFollowTheHeaderAboveThem() async throws {
    let second =
      "Brand,ServiceStationName,Address,Suburb,Postcode,FuelCode,PriceUpdatedDate,Price\n"
    let wider =
      "_id,Price,FuelType,PriceUpdatedDate,Address,Suburb,Postcode,Brand,ServiceStationName\n"
    let address = "\"1 Main St, Kiama NSW 2533\""
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row(Self.time, "145.9") + "\u{FEFF}" + second
        + "BP,BP Kiama,\(address),Kiama,2533,U91,2025-01-03 03:04:05,146.9\n" + wider
        + "7,147.9,U91,2025-01-04 03:04:05,\(address),Kiama,2533,BP,BP Kiama\n" + Self.header
        + Self.row("2025-01-05 03:04:05", "148.9"))
    #expect(outcome.lines.map { String($0.suffix(4)) } == ["1459", "1469", "1479", "1489"])
    #expect(Set(outcome.stations.map(\.name)) == ["BP Kiama"])
    #expect(Set(outcome.stations.map(\.brand)) == ["BP"])
    #expect(outcome.rejects == ["not_a_record", "not_a_record", "not_a_record"])
    let words = await Self.refusal(
      "nsw-fuelcheck",
      Self.header + Self.row(Self.time, "145.9") + second.replacing("Price\n", with: "Cost\n"))
    #expect(words.contains("no column 'price'"), "\(words)")
  }

  /// F-P48: two columns for one thing are one where at most one is filled, or both say the same.
  /// Where they differ, the file is refused.
  @Test func twoColumnsForOneThing() async throws {
    let header =
      "ServiceStationName,Address,FuelCode,FuelType,PriceUpdatedDate,Price,Price\n"
    func row(_ code: String, _ name: String, _ first: String, _ second: String) -> String {
      "BP,\"1 Main St, Kiama NSW 2533\",\(code),\(name),\(Self.time),\(first),\(second)\n"
    }
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      header + row("E10", "", "145.9", "") + row("", "Unleaded 91", "", "146.9")
        + row("P98", "Premium 98", "147.9", "147.90") + header + row("DL", "dl", "148.9", "148.9"))
    #expect(
      outcome.lines.map { String($0.suffix(4)) }.sorted() == ["1459", "1469", "1479", "1489"])
    #expect(outcome.rejects == ["not_a_record"])
    let fuels = await Self.refusal("nsw-fuelcheck", header + row("E10", "U91", "145.9", ""))
    #expect(
      fuels.hasPrefix(
        "columns 3 ('fuelcode') and 4 ('fueltype') hold the same thing, and in row 2 one says 'E10' "
          + "and the other 'U91'"), "\(fuels)")
    let prices = await Self.refusal("nsw-fuelcheck", header + row("E10", "", "145.9", "146.9"))
    #expect(prices.contains("columns 6 ('price') and 7 ('price')"), "\(prices)")
    let wide =
      "Full Date,Site Name,Suburb,Lat,Long,Diesel,DL\n01/11/2024,Puma,STUART,-12.448,130.845,,190.9\n"
    #expect(try await Self.read("nt-myfuel", wide).lines.count == 1)
  }

  /// F-P58: stations whose cells make the same text one after the other are two stations, in
  /// workbooks, and in text files in UTF-8 and in Windows-1252.
  @Test(arguments: [
    (["Liberty 2", "45 Main Rd", "BP"], ["Liberty 24", "5 Main Rd", "BP"]),
    (["Café 1", "2 Main Rd", "BP"], ["Café 12", "Main Rd", "BP"]),
    (["Café 1", "1 Main Rd", "77"], ["Café 17", "1 Main Rd", "7"]),
  ])
  func stationsWithOneTextAreTwo(first: [String], second: [String]) async throws {
    let cells = [first, second].map {
      [$0[0], $0[1], "Kiama", "2533", $0[2], "U91", Self.time, "145.9"]
    }
    let text = Self.header + cells.map { "\"" + $0.joined(separator: "\",\"") + "\"\n" }.joined()
    let book = Workbook.book([("A", Self.rows([Self.columns] + cells), "")])
    for bytes in [Array(text.utf8), Array(text.unicodeScalars.map { UInt8($0.value) }), book] {
      let outcome = try await Self.read("nsw-fuelcheck", bytes: bytes)
      #expect(outcome.stations.count == 2 && outcome.lines.count == 2, "\(outcome)")
    }
  }

  // MARK: Texts that programs rewrite

  /// F-P51: a code is a whole number, whatever a program has made of it. What is no whole number, or
  /// may have lost digits, is no code.
  @Test(arguments: [
    ("61400000", "61400000"), ("61400000.0", "61400000"), ("61400000.00", "61400000"),
    ("\"61,400,000\"", "61400000"), ("\"61,400,000.0\"", "61400000"), ("6.1400000E7", "61400000"),
    ("6.14000000e+07", "61400000"), ("6.14E7", nil), ("6.14E+07", nil), ("61400000.5", nil),
    ("\"61,4000,00\"", nil), ("A-17", nil), ("-61400000", nil),
    ("'61400000", "61400000"), ("=\"61400000\"", "61400000"), ("\"=\"\"61400000\"\"\"", "61400000"),
    ("0061400000", "61400000"), ("0", nil), ("########", nil), ("$61400000", nil),
    ("61400000 (SiteId)", nil), ("#N/A", nil), ("NULL", nil),
  ])
  func codesAreWholeNumbers(written: String, code: String?) async throws {
    let outcome = try await Self.read(
      "qld-fuel-prices",
      "SiteId,Site_Name,Sites_Address_Line_1,Site_Post_Code,Fuel_Type,Price,TransactionDateutc\n"
        + "\(written),BP,1 A St,4000.0,e10,1800.0,01/06/2023 07:00\n")
    #expect(outcome.stations.map(\.code) == [code].compactMap { $0 })
    #expect(outcome.rejects == (code == nil ? ["station_missing"] : []))
    #expect(outcome.stations.allSatisfy { $0.postcode == "4000" })
  }

  /// F-P52: a text file is in UTF-8 or, as a whole, in Windows-1252. A file that is in both, or in
  /// neither, is refused.
  @Test func textsAreInOneEncoding() async throws {
    func file(_ names: [[UInt8]]) -> [UInt8] {
      names.enumerated().reduce(into: Array(Self.header.utf8)) { file, row in
        let rest = Self.row("2025-01-0\(row.offset + 1) 03:04:05", "145.9", name: "")
        file += row.element + Array(rest.utf8)
      }
    }
    func names(_ bytes: [UInt8]) async throws -> [String] {
      try await Self.read("nsw-fuelcheck", bytes: bytes).stations.map(\.name)
    }
    let cafe: [UInt8] = Array("Caf".utf8) + [0xE9]
    let plain = Array("BP".utf8)
    #expect(try await names(file([plain, cafe])) == ["BP", "Café"])
    #expect(try await names(file([Array("Café".utf8)])) == ["Café"])
    // Typographic marks: O’Brien – Fuel™.
    let marks =
      Array("O".utf8) + [0x92] + Array("Brien ".utf8) + [0x96] + Array(" Fuel".utf8) + [0x99]
    #expect(try await names(file([marks, cafe])) == ["O’Brien – Fuel™", "Café"])
    let read = try await Self.read("nsw-fuelcheck", bytes: file([cafe, plain]))
    #expect(read.warnings == ["not in UTF-8, so read as Windows-1252"])
    for mixed in [[cafe, Array("Café".utf8)], [Array("Café".utf8), plain, cafe]] {
      let words = await Self.refusal("nsw-fuelcheck", bytes: file(mixed))
      #expect(words.contains("some rows are in UTF-8 and others are not"), "\(words)")
    }
    // MacRoman writes ô as 99 and ë as 91.
    for byte: UInt8 in [0x99, 0x91] {
      let words = await Self.refusal(
        "nsw-fuelcheck", bytes: file([plain, Array("Caf".utf8) + [byte] + Array("s".utf8)]))
      #expect(words.hasPrefix("row 3: neither in UTF-8 nor in Windows-1252"), "\(words)")
    }
    // 81 is no letter of Windows-1252; 8E is é in MacRoman and 82 is é in code page 850, B3 is ł
    // in Latin-2.
    for byte: UInt8 in [0x81, 0x8E, 0x82, 0x9D, 0xB3] {
      let words = await Self.refusal(
        "nsw-fuelcheck", bytes: file([plain, Array("Caf".utf8) + [byte]]))
      #expect(words.hasPrefix("row 3: neither in UTF-8 nor in Windows-1252"), "\(words)")
    }
  }

  /// F-P52: a letter that another program has replaced already makes its row unreadable.
  @Test func replacedLettersAreTurnedAway() async throws {
    let row = Self.row(Self.time, "145.9", name: "Caf\u{FFFD} Kiama")
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + row + Self.row(Self.time, "146.9"))
    #expect(outcome.rejects == ["record_unreadable"])
    #expect(outcome.stations.map(\.name) == ["BP Kiama"])
    let cells = Self.rows([Self.columns, Self.record("Caf\u{FFFD}", "44927.25", "180.9")])
    let book = try await Self.read("nsw-fuelcheck", bytes: Workbook.book([("A", cells, "")]))
    #expect(book.rejects == ["record_unreadable"] && book.stations.isEmpty)
  }

  /// F-P50: an offset that the clock of the archive has at that time is read; it decides which of two
  /// equal hours is meant. With any other offset the stamp is unreadable.
  @Test(arguments: [
    ("nsw-fuelcheck", "2023-01-01 07:00:06+11:00", "2022-12-31T20:00:06Z"),
    ("nsw-fuelcheck", "2023-07-01T07:00:06+1000", "2023-06-30T21:00:06Z"),
    ("nsw-fuelcheck", "2025-04-06 02:30:00+11:00", "2025-04-05T15:30:00Z"),
    ("nsw-fuelcheck", "2025-04-06 02:30:00+10:00", "2025-04-05T16:30:00Z"),
    ("nsw-fuelcheck", "2023-01-01 07:00:06+10:00", nil),
    ("nsw-fuelcheck", "2023-01-01 07:00:06Z", nil),
    ("nsw-fuelcheck", "2025-10-05 02:30:00+11:00", nil),
    ("qld-fuel-prices", "2023-06-01T07:00:00Z", "2023-06-01T07:00:00Z"),
    ("qld-fuel-prices", "2023-06-01 07:00:00+00:00", "2023-06-01T07:00:00Z"),
    ("qld-fuel-prices", "2023-06-01 07:00:00+10:00", nil),
    ("wa-fuelwatch", "2026-04-05T00:00:00+08:00", "2026-04-04T22:00:00Z"),
    ("wa-fuelwatch", "2026-04-05T00:00:00Z", nil),
  ])
  func offsetsOfTheClock(archive: String, stamp: String, instant: String?) async throws {
    let text =
      switch archive {
      case "nsw-fuelcheck": Self.header + Self.row(stamp, "145.9")
      case "qld-fuel-prices":
        "SiteId,Site Name,Sites Address Line 1,Fuel Type,Price,TransactionDateutc\n"
          + "61400000,BP,1 A St,e10,1800,\(stamp)\n"
      default:
        "PUBLISH_DATE,TRADING_NAME,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS\n"
          + "\(stamp),53 Mile,ULP,257.90,31 Hwy\n"
      }
    let outcome = try await Self.read(archive, text)
    let instants = outcome.lines.map { String($0.split(separator: " ").suffix(2).first ?? "") }
    #expect(instants == [instant].compactMap { $0 })
    #expect(outcome.rejects == (instant == nil ? ["stamp_unreadable"] : []), "\(outcome)")
  }

  /// F-P53: names of fuels that mean the same everywhere are read in every archive; a name that may
  /// mean two fuels, and a group of fuels, are unknown.
  @Test(arguments: [
    ("Unleaded 91", "U91"), ("ULP", "U91"), ("Regular Unleaded", "U91"),
    ("Ethanol 94 (E10)", "E10"),
    ("Premium 95", "P95"), ("PREMIUM UNLEADED 98", "P98"), ("98 RON", "P98"), ("Diesel", "DL"),
    ("Premium Diesel", "PDL"), ("Autogas", "LPG"), ("Unleaded 91 (U91)", "U91"),
    ("Diesel (PDL)", nil), ("Premium", nil), ("E10-U91", nil), ("Unleaded 91 / E10", nil),
    ("", nil),
  ])
  func fuelsHavePlainNames(name: String, fuel: String?) async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row(Self.time, "145.9", fuel: name))
    let fuels = outcome.lines.map { String($0.split(separator: " ").suffix(3).first ?? "") }
    #expect(fuels == [fuel].compactMap { $0 })
    #expect(outcome.rejects == (fuel == nil ? ["unknown_fuel"] : []))
  }

  // MARK: Other kinds of files

  /// Files of other kinds, with a part of the refusal of each.
  static let otherTexts: [(text: String, words: String)] = [
    ("ServiceStationName\tAddress\tSuburb\tPostcode\tBrand\tPrice\n", "separated by tabs"),
    ("ServiceStationName|Address|Suburb|Postcode|Brand|Price\n", "separated by '|'"),
    ("PAR1....", "a Parquet file; convert it to CSV first"),
    ("%PDF-1.7", "a PDF document"),
    ("prices.csv" + String(repeating: "\0", count: 247) + "ustar\0", "a tar archive; unpack it"),
    // The first line of a packed tar archive.
    (
      "prices.csv\0 0000644 ustar root ServiceStationName,Address,FuelCode,PriceUpdatedDate,Price\n",
      "a tar archive; unpack it"
    ),
    ("{\"stations\": []}", "bowser backfill recordings"),
    ("stationcode,fueltype,price,lastupdated\n1,E10,180.9,01/02/2023 10:00:00\n", "no header of"),
    (
      "ServiceStationName,Address,FuelCode,PriceUpdatedDate,AvgPrice,MinPrice\n",
      "no column 'price'; seen: servicestationname"
    ),
  ]
  static let otherZips: [(members: [String], words: String)] = [
    (["a.csv", "b.csv"], "a zip file with 2 files; unzip it into a folder first"),
    (["JAN.XLSX"], "a workbook inside a zip file; unzip it first"),
    (["mimetype", "content.xml"], "an OpenDocument file such as .ods; save it as .xlsx or .csv"),
    (["xl/workbook.bin", "[Content_Types].xml"], "a binary Excel workbook (.xlsb)"),
    (["[Content_Types].xml"], "a workbook without a visible sheet"),
  ]

  /// F-P54: a refusal says what the file is and what to do with it.
  @Test func refusalsSayWhatToDo() async {
    for (text, words) in Self.otherTexts {
      let refusal = await Self.refusal("nsw-fuelcheck", text)
      #expect(refusal.contains(words), "\(refusal)")
    }
    for (members, words) in Self.otherZips {
      let file = Workbook.zip(members.map { ($0, [1]) })
      let refusal = await Self.refusal("nsw-fuelcheck", bytes: file)
      #expect(refusal.contains(words), "\(refusal)")
    }
  }

  /// F-P54: what desktop programs put beside a packed file is passed over.
  @Test func companionsInZipFiles() async throws {
    let file = Workbook.zip([
      ("month.csv", Array((Self.header + Self.row(Self.time, "145.9")).utf8)),
      ("__MACOSX/._month.csv", [1]), (".DS_Store", [1]), ("~$month.xlsx", [1]),
    ])
    #expect(try await Self.read("nsw-fuelcheck", bytes: file).lines.count == 1)
  }

  /// F-P55: a last row that has no line end and stops earlier than any other is told.
  @Test(arguments: [
    ("145.9\n", nil), ("145.9", nil), ("145", "145"), ("145.", "145."), ("45.9\n", nil),
  ])
  func aFileThatIsCutOffIsTold(end: String, told: String?) async throws {
    let file = (Self.header + Self.row(Self.time, "145.9") + Self.row(Self.time, "146.9"))
    for ending in ["\n", "\r\n"] {
      let last = Self.row("2025-01-03 03:04:05", end).dropLast()
      let outcome = try await Self.read(
        "nsw-fuelcheck", (file + last).replacing("\n", with: ending))
      #expect(outcome.warnings.count == (told == nil ? 0 : 1), "\(outcome.warnings)")
      if let told { #expect(outcome.warnings[0].contains("stops at '\(told)'")) }
    }
  }
}
