import Foundation
import FuelModel
import Fuzzing
import Testing

@testable import Archives

/// Hostile files.
extension ArchiveReaderTests {
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
      + Self.good.dropLast().enumerated().map { index, cell in
        "<c r=\"\(Character(Unicode.Scalar(UInt8(65 + index))))2\" t=\"inlineStr\"><is><t>\(cell)</t></is></c>"
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
