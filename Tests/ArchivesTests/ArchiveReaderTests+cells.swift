import Foundation
import FuelModel
import Fuzzing
import Testing

@testable import Archives

/// Cells that are missing, damaged, or written in another way.
extension ArchiveReaderTests {
  static let north = "Full Date,Site Name,Brand,Suburb,Lat,Long,Diesel,Unleaded 91"

  /// F-P60: the brand of a station is not its name where the file has a column of names. The row
  /// is a reject, whatever stands for the missing name.
  @Test(arguments: ["", "NULL", "#N/A", "0"])
  func aStationNeedsItsName(name: String) async throws {
    let rows = [
      ("nsw-fuelcheck", Self.header + Self.row(Self.time, "145.9", name: name)),
      (
        "qld-fuel-prices",
        "SiteId,Site_Name,Site_Brand,Sites_Address_Line_1,Fuel_Type,Price,TransactionDateutc\n"
          + "61400000,\(name),BP,1 A St,e10,1800,01/06/2023 07:00\n"
      ),
      (
        "wa-fuelwatch",
        "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS\n"
          + "05/04/2026,\(name),United,ULP,257.90,31 Hwy\n"
      ),
      ("nt-myfuel", Self.north + "\n01/11/2024,\(name),Puma,STUART,-12.448,130.845,,179.9\n"),
    ]
    for (archive, text) in rows {
      let outcome = try await Self.read(archive, text)
      #expect(outcome.rejects == ["station_missing"] && outcome.stations.isEmpty, "\(outcome)")
    }
    // Files of the Northern Territory may have brands alone.
    let brands = try await Self.read(
      "nt-myfuel",
      Self.north.replacing("Site Name,", with: "")
        + "\n01/11/2024,Puma,STUART,-12.448,130.845,,179.9\n")
    #expect(brands.stations.map(\.name) == ["Puma"] && brands.lines.count == 1)
  }

  /// F-P62: a text that was UTF-8 and was read as Windows-1252 is damaged, and its row a reject. Texts
  /// with such letters are whole.
  @Test(arguments: [
    ("CafÃ© Kiama", false), ("Cafï¿½ Kiama", false), ("CAFÃ‰", false), ("Oâ€™Brien", false),
    ("BPÂ\u{A0}Kiama", false), ("CAFÉ’S Âge", true), ("Pâté Naïf São ÃO", true),
    ("É\u{A0}M – Fuel™", true),
  ])
  func damagedTextsAreTurnedAway(name: String, isWhole: Bool) async throws {
    let outcome = try await Self.read(
      "nsw-fuelcheck", Self.header + Self.row(Self.time, "145.9", name: name))
    #expect(outcome.rejects == (isWhole ? [] : ["record_unreadable"]), "\(outcome)")
    let cells = Self.rows([Self.columns, Self.record(name, "44927.25", "180.9")])
    let book = try await Self.read("nsw-fuelcheck", bytes: Workbook.book([("A", cells, "")]))
    #expect(book.stations.count == (isWhole ? 1 : 0))
  }

  /// F-P63: a zip file or workbook with a password, or packed by a method that unzip cannot read, is
  /// not damaged.
  @Test func zipFilesThatAreLocked() async {
    func zip(_ members: [(name: String, bytes: [UInt8])], flags: UInt8, method: UInt8) -> [UInt8] {
      var file = Workbook.zip(members)
      for place in file.indices.dropLast(10) where file[place...].starts(with: [0x50, 0x4B]) {
        // In the header of a member, and in its entry of the directory.
        guard let offset = [3: 6, 1: 8][file[place + 2]] else { continue }
        file[place + offset] = flags
        file[place + offset + 2] = method
      }
      return file
    }
    let text = Array((Self.header + Self.row(Self.time, "145.9")).utf8)
    for members in [[("month.csv", text)], [("xl/workbook.xml", text), ("xl/a.xml", text)]] {
      let locked = await Self.refusal("nsw-fuelcheck", bytes: zip(members, flags: 1, method: 0))
      #expect(locked == "a zip file with a password; unpack it first")
      let packed = await Self.refusal("nsw-fuelcheck", bytes: zip(members, flags: 0, method: 14))
      #expect(packed.hasPrefix("a zip file packed by a method that unzip cannot read"))
    }
  }

  /// F-P64: numbers of workbooks may have exponents, and have all of their digits all the same. In a
  /// text the digits of a code may be lost.
  @Test(arguments: [
    ("<c><v>6.14E7</v></c>", "<c><v>1.805E3</v></c>", 1),
    ("<c t=\"n\"><v>6.14000000000000e+07</v></c>", "<c t=\"n\"><v>1805E0</v></c>", 1),
    ("<c><v>6.14000005E7</v></c>", "<c><v>1805</v></c>", 0),
    ("<c t=\"str\"><v>6.14E7</v></c>", "<c><v>1805</v></c>", 0),
    ("<c><v>6.14E7</v></c>", "<c t=\"str\"><v>1.805E3</v></c>", 0),
  ])
  func numbersWithExponents(code: String, price: String, count: Int) async throws {
    let rows = Self.rows([
      [
        "SiteId", "Site_Name", "Sites_Address_Line_1", "Site_Post_Code", "Fuel_Type", "Price",
        "TransactionDateutc",
      ],
      [code, "BP", "1 A St", "<c><v>4.0E3</v></c>", "e10", price, "<c><v>4.4927125E4</v></c>"],
    ])
    let outcome = try await Self.read("qld-fuel-prices", bytes: Workbook.book([("A", rows, "")]))
    #expect(outcome.lines.filter { $0 == "61400000 E10 2023-01-01T03:00:00Z 1805" }.count == count)
    #expect(outcome.rejects.count == 1 - count)
    #expect(outcome.stations.allSatisfy { $0.postcode == "4000" })
  }

  /// F-P61: a column of prices whose fuel is not known is named once; columns of other things, and
  /// of fuels that are known, are not.
  @Test(arguments: ["Premium", "Premium Unleaded", "Fuel 7"])
  func columnsOfUnknownFuelsAreNamed(name: String) async throws {
    let rows = (1...3).map { day in
      "0\(day)/11/2024,Puma,Puma,STUART,-12.448,130.845,,179.9,\(day < 2 ? "0" : "199.9"),7,Darwin\n"
    }
    let outcome = try await Self.read(
      "nt-myfuel", "\(Self.north),\(name),Region Id,Region Name\n" + rows.joined())
    #expect(outcome.lines.count == 3 && outcome.warnings.count == 1, "\(outcome)")
    let words = "column 9 ('\(name.lowercased())') seems to hold prices"
    #expect(outcome.warnings.first?.hasPrefix(words) == true)
  }
}
