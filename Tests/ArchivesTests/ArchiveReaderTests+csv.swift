import Foundation
import FuelModel
import Testing

@testable import Archives

/// Text files: their columns, prices and stamps.
extension ArchiveReaderTests {
  /// F-C01, F-C04, F-P05: columns are found by name, in any order and case. The file may have a byte
  /// order mark, Windows line ends, and commas, quotes and a line break inside quotes.
  @Test func readsColumnsByName() async throws {
    let text =
      "\u{FEFF}brand,FUEL_CODE,Price Updated Date,service_station_name,Address,suburb,POSTCODE,price\r\n"
      + "BP,U91,2025-01-02 03:04:05,\"The \"\"Old\"\" Garage, Kiama\",\"1 Main St,\nKiama NSW 2533\",Kiama,2533,145.9\r\n"
      + "\r\n"
    let outcome = try await Self.read("nsw-fuelcheck", text)
    // The price is the last column, which a line end follows.
    #expect(
      outcome.lines == ["THE OLD GARAGE KIAMA|1 MAIN ST KIAMA U91 2025-01-01T16:04:05Z 1459"])
    #expect(outcome.stations[0].name == "The \"Old\" Garage, Kiama")
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
    ("", "the file is empty"), (" \n,,\n", "the file is empty"),
    ("<html><body>Not found</body></html>\n", "the file is a web page"),
    (
      "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION\n",
      "the file is one of wa-fuelwatch; load it with bowser backfill wa-fuelwatch"
    ),
    ("\u{FFFD}\u{FFFD}ELF\n", "the file is not text; unpack it, or save it as CSV, first"),
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
      "ServiceStationName,Address,FuelCode,FuelCode,PriceUpdatedDate,Price\n"
        + "BP,1 Main St,E10,U91,2025-01-02 03:04:05,145.9\n",
      "columns 3 ('fuelcode') and 4 ('fuelcode') hold the same thing"
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

  /// F-C05: a price consists of digits with at most two decimals that are not zero. Rounding noise of
  /// spreadsheets is removed, and nothing else is a price.
  @Test(arguments: [
    ("145.9", 1459), ("145", 1450), ("145.90", 1459), (" 145.9 ", 1459), ("145.9000", 1459),
    ("162.69999999999999", 1627), ("162.70000000000002", 1627), ("55.5", 555),
    // F-P49: two decimals are rounded to the nearest tenth, half of one up.
    ("161.99", 1620), ("145.95", 1460), ("145.94", 1459), ("145.9500", 1460),
    ("161.98999999999999", 1620), ("162.6500000000001", 1627), ("161.94000000000003", 1619),
  ])
  func readsPrices(text: String, tenths: Int) async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row("2025-01-02 03:04:05", text))
    #expect(outcome.lines.first?.hasSuffix(" \(tenths)") == true, "\(outcome)")
  }

  @Test(arguments: [
    "", "-", "N/A", "$145.9", "1,459", "145.955", "145,9", "186.4333333333", "-145.9", "1e3",
    "0x91", ".", "145.",
    "162.6550000000001", "nan",
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
}
