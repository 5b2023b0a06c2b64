import Foundation
import FuelModel
import Fuzzing
import Testing

@testable import Archives

/// What the readers of archive files read and what they refuse.
struct ArchiveReaderTests {
  /// F-H17: unpacking of a small file ends with an error once it exceeds the limit for an answer,
  /// instead of filling the memory.
  @Test func whatUnpacksWithoutEndIsRefused() throws {
    let zeros = try ByteStream(["head", "-c", "300000000", "/dev/zero"])
    #expect(throws: ByteStream.TooLarge.self) { try zeros.all() }
    #expect(try ByteStream(["head", "-c", "3000000", "/dev/zero"]).all().count == 3_000_000)
  }

  static let now = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z

  static func format(_ id: String) -> ArchiveFormat {
    ArchiveFormat.all.first { $0.id == id }!
  }

  /// Everything that a file states. Each line holds the code of the station record, the fuel, the
  /// instant and the price in tenths of a cent.
  struct Outcome {
    var lines: [String] = []
    var rejects: [String] = []
    var examples: [String] = []
    var received = 0
    var duplicates = 0
    var pieces = 0
    var stations: [Station] = []
    var sightings: [ArchivePiece.Sighting] = []
  }

  private static func text(of piece: ArchivePiece) -> String {
    var rest = piece
    rest.months = [:]
    return "\(rest) \(piece.months.sorted { $0.key < $1.key })"
  }

  static func read(_ id: String, path: String, mostFacts: Int = 1_000_000) async throws -> Outcome {
    let reader = ArchiveReader(
      format(id), files: [ArchiveFile(path)], now: now, mostFacts: mostFacts)
    var outcome = Outcome()
    var codes: [Int: String] = [:]
    var known = ArchiveNumbers()
    while let read = try await reader.next() {
      // Pieces are encoded like this between the process that reads and the one that stores.
      var written = FrameWriter()
      read.write(to: &written)
      var frame = FrameReader(written.bytes)
      let piece = try ArchivePiece(
        from: &frame, known: &known, zone: format(id).zone, in: .australia)
      #expect(frame.isAtEnd && Self.text(of: piece) == Self.text(of: read))
      outcome.pieces += 1
      for wording in piece.newWordings {
        codes[wording.record] = wording.station.code
        outcome.stations.append(wording.station)
      }
      for (_, facts) in piece.months.sorted(by: { $0.key < $1.key }) {
        for fact in facts {
          let fuel = Fuel.allCases.first { $0.id == fact.fuel }!
          outcome.lines.append(
            "\(codes[fact.record]!) \(fuel.rawValue) \(fact.effectiveAt) \(fact.tenths)")
        }
      }
      outcome.rejects += piece.rejects.map(\.reason.rawValue)
      outcome.examples += piece.rejects.map(\.raw)
      outcome.received += piece.received
      outcome.duplicates += piece.duplicates
      outcome.sightings += piece.sightings
    }
    return outcome
  }

  static func read(_ id: String, _ text: String, mostFacts: Int = 1_000_000) async throws -> Outcome
  {
    try await read(id, bytes: Array(text.utf8), mostFacts: mostFacts)
  }

  static func read(_ id: String, bytes: [UInt8], mostFacts: Int = 1_000_000) async throws -> Outcome
  {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await read(id, path: file.path, mostFacts: mostFacts)
  }

  /// Returns why a file is refused.
  static func refusal(_ id: String, _ text: String) async -> String {
    await refusal(id, bytes: Array(text.utf8))
  }

  static func refusal(_ id: String, bytes: [UInt8]) async -> String {
    do {
      _ = try await read(id, bytes: bytes)
      return "accepted"
    } catch let refusal as ArchiveRefusal {
      return refusal.reason
    } catch {
      return "\(error)"
    }
  }

  static let header =
    "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
  static func row(_ time: String, _ price: String, fuel: String = "U91", name: String = "BP Kiama")
    -> String
  {
    "\(name),\"1 Main St, Kiama NSW 2533\",Kiama,2533,BP,\(fuel),\(time),\(price)\n"
  }

  // MARK: CSV

  /// F-C01, F-C04, F-P05: columns are found by name, in any order and case. The file may have a byte order
  /// mark, Windows line ends, and commas, quotes and a line break inside quotes.
  @Test func readsColumnsByName() async throws {
    let text =
      "\u{FEFF}price,FUEL_CODE,Price Updated Date,service_station_name,Address,suburb,POSTCODE,brand\r\n"
      + "145.9,U91,2025-01-02 03:04:05,\"The \"\"Old\"\" Garage, Kiama\",\"1 Main St,\nKiama NSW 2533\",Kiama,2533,BP\r\n"
      + "\r\n"
    let outcome = try await Self.read("nsw-fuelcheck", text)
    #expect(
      outcome.lines == ["THE OLD GARAGE KIAMA|1 MAIN ST KIAMA U91 2025-01-01T16:04:05Z 1459"])
    #expect(outcome.stations[0].name == "The \"Old\" Garage, Kiama")
    // The last column, which a line end follows.
    #expect(outcome.stations[0].brand == "BP")
    #expect(outcome.received == 1)
  }

  /// F-C01: the header may stand below titles and blank rows.
  @Test func findsTheHeaderBelowTitles() async throws {
    let text = "Price History\n,,,,,,,\n" + Self.header + Self.row("2025-01-02 03:04:05", "145.9")
    #expect(try await Self.read("nsw-fuelcheck", text).lines.count == 1)
  }

  /// F-C01, F-C04: a file with another layout is refused. The reason names the columns that were
  /// seen and expected.
  @Test(arguments: [
    ("", "no header"),
    ("a,b,c\n1,2,3\n", "seen: 'a, b, c'"),
    ("a,b,c\n", "expected columns such as servicestationname"),
    (
      "ServiceStationName;Address;Suburb;Postcode;Brand;FuelCode;PriceUpdatedDate;Price\n",
      "no header"
    ),
    ("ServiceStationName\tAddress\tFuelCode\tPriceUpdatedDate\tPrice\n", "no header"),
    (
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Cost\n",
      "no column 'price'"
    ),
    (
      "ServiceStationName,Address,FuelCode,FuelCode,PriceUpdatedDate,Price\n",
      "two columns called 'fuelcode'"
    ),
    (
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\nBP,\"1 Main",
      "does not end"
    ),
  ])
  func refusesOtherLayouts(text: String, reason: String) async {
    let refusal = await Self.refusal("nsw-fuelcheck", text)
    #expect(refusal.contains(reason), "\(refusal)")
  }

  /// F-C02: rows with shifted columns are rejected with a reason, not misread.
  @Test func shiftedRowsAreTurnedAway() async throws {
    let good = Self.row("2025-01-02 03:04:05", "145.9")
    let outcome = try await Self.read("nsw-fuelcheck", Self.header + good + "32001," + good)
    #expect(outcome.lines.count == 1)
    #expect(outcome.rejects == ["record_unreadable"])
    #expect(outcome.examples[0].hasPrefix("32001|BP Kiama"))
  }

  /// F-C03: an empty cell of a text file is empty. Only in printed reports does it mean "as above".
  @Test func emptyCellsOfTextFilesAreNotFilled() async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row("2025-01-02 03:04:05", "145.9")
        + ",,,,,P98,2025-01-02 03:04:05,160.9\n"
        + Self.row("", "150.9"))
    #expect(outcome.lines.count == 1)
    #expect(outcome.rejects == ["station_missing", "stamp_unreadable"])
  }

  /// F-C05: a price consists of digits with at most one decimal that is not zero. Rounding noise of
  /// spreadsheets is removed, and nothing else is a price.
  @Test(arguments: [
    ("145.9", 1459), ("145", 1450), ("145.90", 1459), (" 145.9 ", 1459), ("145.9000", 1459),
    ("162.69999999999999", 1627), ("162.70000000000002", 1627), ("55.5", 555),
  ])
  func readsPrices(text: String, tenths: Int) async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row("2025-01-02 03:04:05", text))
    #expect(outcome.lines.first?.hasSuffix(" \(tenths)") == true, "\(outcome)")
  }

  @Test(arguments: [
    "", "-", "N/A", "$145.9", "1,459", "145.95", "145,9", "-145.9", "1e3", "0x91", ".", "145.",
    "162.6500000000001", "nan",
  ])
  func refusesWhatIsNoPrice(text: String) async throws {
    let quoted = text.contains(",") ? "\"\(text)\"" : text
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row("2025-01-02 03:04:05", quoted))
    #expect(outcome.rejects == ["price_unreadable"], "\(outcome)")
  }

  /// Prices outside the range of their fuel, prices of chargers and unknown fuel names are
  /// rejected.
  @Test func turnsAwayByBandAndFuel() async throws {
    let time = "2025-01-02 03:04:05"
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row(time, "9999.0") + Self.row(time, "19.9") + Self.row(time, "0.0")
        + Self.row(time, "45.0", fuel: "EV") + Self.row(time, "145.9", fuel: "XYZ")
        + Self.row(time, "85.9", fuel: "LPG"))
    #expect(
      outcome.rejects == [
        "price_out_of_band", "price_out_of_band", "price_out_of_band", "unsupported_fuel",
        "unknown_fuel",
      ])
    #expect(outcome.lines.count == 1)
    #expect(outcome.received == 6)
  }

  /// F-C06: of several prices of one station and fuel in one second, the last one in the file
  /// counts, since it is a correction. Equal rows count once.
  @Test func theLastPriceOfASecondCounts() async throws {
    let time = "2025-01-02 03:04:05"
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row(time, "150.9") + Self.row(time, "145.9") + Self.row(time, "150.9")
        + Self.row("2025-01-01 03:04:05", "139.9") + Self.row(time, "147.9")
        + Self.row("2025-01-01 03:04:05", "139.9"))
    #expect(
      outcome.lines.map { $0.suffix(26) }
        == ["1 2024-12-31T16:04:05Z 1399", "1 2025-01-01T16:04:05Z 1479"].map { $0.suffix(26) })
    #expect(outcome.duplicates == 2)
    #expect(outcome.rejects == ["conflicting_price", "conflicting_price"])
    #expect(outcome.received == 6)
  }

  /// F-T04, F-T05: clocks skip 02:30 on the first Sunday of October, and show 02:30 twice on the
  /// first Sunday of April. In April the first of both instants counts.
  @Test func theHoursOfTheClockChange() async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row("2025-04-06 01:59:59", "141.9")
        + Self.row("2025-04-06 02:30:00", "142.9")
        + Self.row("2025-04-06 03:00:00", "143.9") + Self.row("2025-10-05 01:59:59", "144.9")
        + Self.row("2025-10-05 02:30:00", "145.9") + Self.row("2025-10-05 03:00:00", "146.9"))
    #expect(
      outcome.lines.map { String($0.suffix(25)) } == [
        "2025-04-05T14:59:59Z 1419", "2025-04-05T15:30:00Z 1429", "2025-04-05T17:00:00Z 1439",
        "2025-10-04T15:59:59Z 1449", "2025-10-04T16:00:00Z 1469",
      ])
    #expect(outcome.rejects == ["stamp_nonexistent"])
  }

  /// F-T01, F-T02: stamps in the future and stamps from before the scheme existed are rejected.
  @Test func stampsOutOfTime() async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck",
      Self.header + Self.row("2026-07-01 20:05:00", "141.9")
        + Self.row("2026-07-02 20:05:00", "141.9")
        + Self.row("1999-01-01 00:00:00", "141.9"))
    #expect(outcome.lines.count == 1)
    #expect(outcome.rejects == ["stamp_in_future", "stamp_too_old"])
  }

  /// F-T03: some exports exchange day and month wherever both are below 13. Such files are refused.
  @Test func exchangedDaysAndMonthsAreRefused() async {
    var text = Self.header
    for day in 1...28 {
      // In this April the first twelve days become the fourth day of twelve months.
      let written = day <= 12 ? "2020-\(Self.two(day))-04" : "2020-04-\(Self.two(day))"
      text += Self.row("\(written) 10:00:00", "120.9")
    }
    #expect(await Self.refusal("nsw-fuelcheck", text).contains("day and month are swapped"))
    var ambiguous = Self.header
    for month in 1...6 { ambiguous += Self.row("2020-\(Self.two(month))-04 10:00:00", "120.9") }
    #expect(await Self.refusal("nsw-fuelcheck", ambiguous).contains("day and month are swapped"))
    // A file of two months is no exchange.
    let two =
      Self.header + (1...28).map { Self.row("2020-04-\(Self.two($0)) 10:00:00", "120.9") }.joined()
      + (1...20).map { Self.row("2020-05-\(Self.two($0)) 10:00:00", "120.9") }.joined()
    #expect(await Self.refusal("nsw-fuelcheck", two) == "accepted")
  }

  static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Pieces have a bounded size, whatever the size of the file. Together they hold the same as one
  /// piece.
  @Test func aLargeFileComesInPieces() async throws {
    var text = Self.header
    for second in 0..<500 {
      text += Self.row(
        "2025-01-02 03:\(Self.two(second / 60)):\(Self.two(second % 60))", "145.\(second % 10)",
        name: "S\(second % 7)")
    }
    let whole = try await Self.read("nsw-fuelcheck", text)
    let pieces = try await Self.read("nsw-fuelcheck", text, mostFacts: 90)
    #expect(whole.pieces == 1)
    #expect(pieces.pieces == 6)
    #expect(pieces.lines.sorted() == whole.lines.sorted())
    #expect(pieces.received == 500)
  }

  // MARK: Queensland

  /// Prices are in tenths of a cent and stamps in UTC, while months are those of Brisbane. 9999
  /// ends a price. Prices typed in cents are rejected.
  @Test(arguments: [
    "SiteId,Site_Name,Site_Brand,Sites_Address_Line_1,Site_Suburb,Site_State,Site_Post_Code,Site_Latitude,Site_Longitude,Fuel_Type,Price,TransactionDateutc",
    "Site Id,Site Name,Site Brand,Sites Address Line 1,Site Suburb,Site State,Site Post Code,Site Latitude,Site Longitude,Fuel Type,Price,TransactionDateUtc",
  ])
  func readsQueensland(header: String) async throws {
    func row(_ site: String, _ fuel: String, _ price: String, _ time: String, state: String = "QLD")
      -> String
    {
      "\(site),Shop \(site),BP,1 A St,TOWN,\(state),4000,-27.1516870000,149.0677420000,\(fuel),\(price),\(time)\r\n"
    }
    let outcome = try await Self.read(
      "qld-fuel-prices",
      "\u{FEFF}\(header)\r\n" + row("61290151", "PULP 98 RON", "1999", "31/01/2023 14:01")
        + row("61290151", "PULP 98 RON", "9999", "1/02/2023 6:26")
        + row("61290151", "LPG", "999", "28/02/2023 13:43")
        + row("61290151", "Unleaded", "196", "13/02/2023 06:26")
        + row("61290152", "OPAL", "3020", "13/02/2023 06:26", state: "NSW") + "\r\n")
    #expect(
      outcome.lines == [
        "61290151 P98 2023-01-31T14:01:00Z 1999", "61290151 P98 2023-02-01T06:26:00Z 0",
        "61290151 LPG 2023-02-28T13:43:00Z 999", "61290152 LAF 2023-02-13T06:26:00Z 3020",
      ])
    #expect(outcome.rejects == ["price_out_of_band"])
    #expect(outcome.stations.map(\.state) == [.qld, .nsw])
    // All stamps are in one month by the clock of Brisbane.
    #expect(Set(outcome.sightings.map { "\($0.month)" }) == ["2023-02"])
    #expect(outcome.sightings[0].days == UInt32(1 | 1 << 27))
  }

  // MARK: Western Australia

  /// Prices have two decimals and hold for a whole price day from 06:00 Perth time. Brand diesel is
  /// a fuel of its own, and lead replacement petrol is not unleaded petrol.
  @Test func readsWesternAustralia() async throws {
    let header =
      "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION,POSTCODE,AREA_DESCRIPTION,REGION_DESCRIPTION\r\n"
    let outcome = try await Self.read(
      "wa-fuelwatch",
      header
        + "05/04/2026,53 Mile Roadhouse,United,ULP,257.90,31 South Western Hwy,PINJARRA,6208,Murray,Peel\r\n"
        + "05/04/2026,53 Mile Roadhouse,United,Brand Diesel,450.00,31 South Western Hwy,PINJARRA,6208,,\r\n"
        + "06/04/2004 12:00:00 AM,53 Mile Roadhouse,United,LRP,98.70,31 South Western Hwy,PINJARRA,6208,,\r\n"
    )
    #expect(
      outcome.lines.map { $0.replacing("53 MILE ROADHOUSE|31 S WESTERN HWY PINJARRA ", with: "") }
        == [
          "LRP 2004-04-05T22:00:00Z 987", "U91 2026-04-04T22:00:00Z 2579",
          "PDL 2026-04-04T22:00:00Z 4500",
        ])
    #expect(outcome.stations[0].state == .wa)
  }

  // MARK: Workbooks

  static func fixture(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)").path
  }

  /// F-C03: a workbook that was printed as a report. In every column but the price, an empty cell
  /// takes the value of the cell above, across stations and page breaks.
  @Test func fillsDownPrintedReports() async throws {
    let outcome = try await Self.read("nsw-fuelcheck", path: Self.fixture("nsw-report.xlsx"))
    let alexandria = "CALTEX ALEXANDRIA|2 BOTANY RD ALEXANDRIA"
    #expect(
      outcome.lines == [
        "\(alexandria) U91 2020-04-01T04:20:28Z 1239",
        "\(alexandria) E10 2020-03-31T13:01:11Z 1219",
        "\(alexandria) P95 2020-04-01T04:20:28Z 1389",
        "\(alexandria) P98 2020-04-01T04:20:28Z 1489",
        "CALTEX ROSEBERY|9 EPSOM RD ROSEBERY P98 2020-04-01T04:20:28Z 1459",
        "TWIN|1 MAIN ST KIAMA DL 2020-04-04T15:30:00Z 1109",
        "TWIN|3 MAIN ST KIAMA DL 2020-04-30T13:26:02Z 1119",
      ])
    #expect(outcome.received == 7)
    #expect(outcome.rejects.isEmpty)
    #expect(
      outcome.stations.map(\.brand) == [
        "Caltex Woolworths", "Caltex", "Independent", "Independent",
      ])
  }

  /// Date cells have rounding noise, postcodes are numbers, and the address shows that a station is
  /// in the Australian Capital Territory.
  @Test func readsPlainWorkbooks() async throws {
    let outcome = try await Self.read("nsw-fuelcheck", path: Self.fixture("nsw-plain.xlsx"))
    #expect(
      outcome.lines == [
        "AMPOL FOODARY X|1 A ST BANKSTOWN E10 2025-02-28T13:16:01Z 1699",
        "AMPOL FOODARY X|1 A ST BANKSTOWN P98 2025-02-28T13:16:01Z 1627",
        "TUGGERANONG|5 B ST GREENWAY U91 2025-03-01T01:00:00Z 2000",
      ])
    #expect(outcome.rejects == ["unsupported_fuel"])
    #expect(outcome.stations.map(\.postcode) == ["2200", "2900"])
    #expect(outcome.stations.map(\.state) == [.nsw, .act])
  }

  /// A row holds a site and day, and a column holds a fuel. 0 means that the fuel is not sold. Days
  /// are numbers or text.
  @Test func readsTheNorthernTerritory() async throws {
    let outcome = try await Self.read("nt-myfuel", path: Self.fixture("nt-month.xlsx"))
    #expect(
      outcome.lines == [
        "PUMA STUART PARK|-12.448,130.845 U91 2024-10-31T14:30:00Z 1799",
        "PUMA STUART PARK|-12.448,130.845 U91 2024-11-01T14:30:00Z 1809",
        "PUMA STUART PARK|-12.448,130.845 DL 2024-10-31T14:30:00Z 1909",
        "PUMA STUART PARK|-12.448,130.845 DL 2024-11-01T14:30:00Z 1919",
        "BP KATHERINE|-14.465,132.264 P98 2024-10-31T14:30:00Z 2159",
        "BP KATHERINE|-14.465,132.264 DL 2024-10-31T14:30:00Z 1999",
        "BP KATHERINE|-14.465,132.264 LPG 2024-10-31T14:30:00Z 1100",
      ])
    #expect(outcome.received == 7)
    #expect(outcome.stations.allSatisfy { $0.state == .nt })
  }

  // MARK: Containers

  /// The type of a file is recognised by its content, not by its name.
  @Test func unpacksGzipAndZip() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plain = folder.appending(path: "month.csv").path
    try Data((Self.header + Self.row("2025-01-02 03:04:05", "145.9")).utf8)
      .write(to: URL(filePath: plain))
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-k", plain]
    try gzip.run()
    gzip.waitUntilExit()
    #expect(try await Self.read("nsw-fuelcheck", path: plain + ".gz").lines.count == 1)
    // A truncated file is refused as a whole, even if rows were read before.
    let whole = try Data(contentsOf: URL(filePath: plain + ".gz"))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [UInt8](whole.dropLast(9)))
        == "a damaged gzip or zip file")
    let book = try Data(contentsOf: URL(filePath: Self.fixture("nsw-plain.xlsx")))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [UInt8](book.dropLast(300)))
        == "a damaged zip file")
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [0xD0, 0xCF, 0x11, 0xE0, 0, 0]).contains(
        "old Excel"))
    #expect(await Self.refusal("nsw-fuelcheck", bytes: [0xFF, 0xFE, 0x41, 0]).contains("UTF-16"))
    #expect(
      await Self.refusal("qld-fuel-prices", bytes: [UInt8](book)).contains("no header of qld"))
  }

  /// Every configured archive has a format, and every format is configured.
  @Test func everyFormatIsConfigured() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config").standardized.path
    let archives = try Archive.all(in: folder, environment: [:])
    #expect(Set(archives.map(\.id)) == Set(ArchiveFormat.all.map(\.id)))
  }

  // MARK: Hostile files

  private static let good = [
    "Shell", "1 High St, SYDNEY NSW 2000", "SYDNEY", "2000", "Shell", "E10", "01/04/2020 07:49",
    "121.9",
  ]
  private static let titles = [
    "ServiceStationName", "Address", "Suburb", "Postcode", "Brand", "FuelCode", "PriceUpdatedDate",
    "Price",
  ]

  private static func row(cells: [String]) -> String {
    "<row>" + cells.map { "<c t=\"inlineStr\"><is><t>\($0)</t></is></c>" }.joined() + "</row>"
  }

  /// F-N21: a workbook that builds a price from an XML entity is refused. The same workbook without
  /// the entity is read.
  @Test func workbooksHoldNoEntities() async throws {
    let head = Self.row(cells: Self.titles)
    let plain = try await Self.read(
      "nsw-fuelcheck", bytes: Workbook.file(rows: head + Self.row(cells: Self.good)))
    #expect(plain.lines.count == 1, "\(plain)")
    let bent = Self.row(cells: Self.good.dropLast() + ["1&a;21.9"])
    for prolog in [
      "<!DOCTYPE x [<!ENTITY a \"1\">]>", "<!DOCTYPE\u{483}x [<!ENTITY a \"1\">]>",
      "<!-- c --><!DOCTYPE x SYSTEM \"file:///etc/passwd\">",
    ] {
      let words = await Self.refusal(
        "nsw-fuelcheck", bytes: Workbook.file(prolog: prolog, rows: head + bent))
      #expect(words.contains("document type"), "\(words)")
    }
    let texts = "<!DOCTYPE sst [<!ENTITY a \"1\">]><sst><si><t>&a;</t></si></sst>"
    let words = await Self.refusal(
      "nsw-fuelcheck", bytes: Workbook.file(rows: head + Self.row(cells: Self.good), texts: texts))
    #expect(words.contains("document type"), "\(words)")
  }

  /// F-N22: repeated cells, cells out of order and too much text are refused.
  @Test func workbooksHaveAnEnd() async throws {
    let head = Self.row(cells: Self.titles)
    let swapped =
      "<row><c r=\"H2\"><v>121.9</v></c>"
      + Self.good.dropLast().enumerated().map { place, cell in
        "<c r=\"\(Character(Unicode.Scalar(UInt8(65 + place))))2\" t=\"inlineStr\"><is><t>\(cell)</t></is></c>"
      }.joined() + "</row>"
    let cells = "<row>" + String(repeating: "<c r=\"A1\"><v>1</v></c>", count: 200_000) + "</row>"
    for row in [swapped, cells] {
      let words = await Self.refusal("nsw-fuelcheck", bytes: Workbook.file(rows: head + row))
      #expect(words.contains("out of order"), "\(words)")
    }
    // Each text is cut, but all texts together exceed the limit.
    let text = "<si><t>" + String(repeating: "A", count: 9_000) + "</t></si>"
    let many = "<sst>" + String(repeating: text, count: 17_000) + "</sst>"
    let words = await Self.refusal(
      "nsw-fuelcheck", bytes: Workbook.file(rows: head + Self.row(cells: Self.good), texts: many))
    #expect(words.contains("share"), "\(words)")
  }

  /// F-N22: the numbers of bad rows and of empty rows are limited.
  @Test func rowsOfNothingHaveAnEnd() async throws {
    let head = Self.titles.joined(separator: ",") + "\n"
    let bad = "X,1 High St,S,2000,B,E10,1/04/2020 7:49:06 AM,bad\n"
    let refused = await Self.refusal(
      "nsw-fuelcheck", head + String(repeating: bad, count: 200_001))
    #expect(refused.contains("more than 200000 rows"), "\(refused)")
    let blank = await Self.refusal(
      "nsw-fuelcheck", head + String(repeating: "\n", count: 1_000_001))
    #expect(blank.contains("more than 1000000 blank rows"), "\(blank)")
    let empty = await Self.refusal(
      "nsw-fuelcheck",
      bytes: Workbook.file(
        rows: Self.row(cells: Self.titles) + String(repeating: "<row/>", count: 500_001)))
    #expect(empty.contains("more than 500000 rows"), "\(empty)")
  }
}
