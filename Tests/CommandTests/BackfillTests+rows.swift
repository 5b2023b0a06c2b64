import Foundation
import Postgres
import TestDatabase
import Testing

/// What an operator sees of rows and files that are not as expected.
extension BackfillTests {
  private static let header =
    "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"

  private static func rows(fuel: String = "U91", offset: String = "") -> [String] {
    (10...29).map {
      "Fern Kiama,\"1 Made St, Kiama NSW 2533\",Kiama,2533,Fern,\(fuel),"
        + "2023-05-\($0) 07:00:06\(offset),18\($0 % 10).9\n"
    }
  }

  private func backfill(
    _ text: String, _ options: [String] = ["--summary"],
    then look: (CommandTests.Result, Connection) throws -> Void
  ) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).csv")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await TestDatabase.with { target in
      let result = try CommandTests.run(
        ["backfill", "nsw-fuelcheck", file.path] + options, on: target)
      try look(result, Connection(target))
    }
  }

  /// F-P46: sums do not count against a file, however many there are, up to as many as records.
  @Test func sumsDoNotCountAgainstTheirFile() async throws {
    let total = "Grand Total,,,,,,,186.4\n"
    let text = Self.header + Self.rows().map { $0 + total }.joined()
    try await backfill(text) { result, database in
      #expect(result.code == 0 && result.out.contains("received=40 stored=20 "), "\(result)")
      #expect(result.out.contains("rejected=20 not_a_record=20"), "\(result)")
      let names = try database.lines("SELECT DISTINCT name FROM fuel_v1.station_records")
      #expect(names == ["Fern Kiama"])
    }
    try await backfill(text + total) { result, database in
      #expect(result.code == 65, "\(result)")
      #expect(result.err.contains("21 of 41 rows are sums or notes and no records"), "\(result)")
      let facts = try database.lines("SELECT count(*) FROM fuel.archive_price")
      #expect(facts == ["0"])
    }
    try await backfill(Self.header + total + "Note: all in cents\n") { result, _ in
      #expect(
        result.code == 65 && result.err.contains("2 of 2 rows are sums or notes and no records"),
        "\(result)")
    }
  }

  /// F-P50, F-P53: a file that is refused because of its fuels or its times says which are read.
  @Test func refusalsListWhatIsRead() async throws {
    try await backfill(Self.header + Self.rows(fuel: "Premium").joined()) { result, _ in
      #expect(result.code == 65, "\(result)")
      #expect(result.err.contains("most of them unknown_fuel, such as: Fern Kiama"), "\(result)")
      #expect(result.err.contains("E10, E85, H2, LNG, LPG, P95, P98, PDL, U91"), "\(result)")
    }
    try await backfill(Self.header + Self.rows(offset: "Z").joined()) { result, _ in
      #expect(result.code == 65, "\(result)")
      #expect(result.err.contains("times may be written 2026-04-01 07:49:06"), "\(result)")
      #expect(result.err.contains("the clock of Australia/Sydney"), "\(result)")
    }
  }

  /// F-P55: what a person should know of a file is told with the summary and without it.
  @Test func whatIsOddOfAFileIsTold() async throws {
    let cut = String((Self.header + Self.rows().joined()).dropLast(3))
    try await backfill(cut) { result, _ in
      #expect(result.code == 0 && result.out.contains("the file may be cut off"), "\(result)")
    }
    try await backfill(cut, []) { result, database in
      #expect(result.code == 0 && result.err.contains("the file may be cut off"), "\(result)")
      let isKept = try database.lines("SELECT warnings::text ~ 'cut off' FROM fuel.run")
      #expect(isKept == ["t"])
    }
  }
}
