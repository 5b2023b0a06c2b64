import Foundation
import FuelModel
import Testing

@testable import Archives

/// The files of single states, and workbooks.
extension ArchiveReaderTests {
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

  /// F-P57: files of the Northern Territory have a day of each month beside their own. In a file in
  /// which day and month are exchanged, that day stands in January.
  @Test func exchangedDaysOfTheNorthernTerritory() async {
    func file(_ days: [(month: Int, day: Int)], isExchanged: Bool) -> String {
      days.reduce(into: "Full Date,Site Name,Suburb,Lat,Long,Unleaded 91\n") { text, date in
        let (month, day) =
          isExchanged && date.day < 13 ? (date.day, date.month) : (date.month, date.day)
        text += "\(day)/\(Self.two(month))/2023,Puma,STUART,-12.448,130.845,179.9\n"
      }
    }
    let march = [(month: 2, day: 28)] + (1...31).map { (month: 3, day: $0) } + [(month: 4, day: 1)]
    for days in [march, Array(march[1...12]), Array(march[1...13])] {
      #expect(await Self.refusal("nt-myfuel", file(days, isExchanged: false)) == "accepted")
      let words = await Self.refusal("nt-myfuel", file(days, isExchanged: true))
      #expect(words.contains("day and month are swapped"), "\(words)")
    }
    let two = (1...28).flatMap { [(month: 3, day: $0), (month: 5, day: $0)] } + [(6, 1), (2, 1)]
    #expect(await Self.refusal("nt-myfuel", file(two, isExchanged: false)) == "accepted")
  }
}
