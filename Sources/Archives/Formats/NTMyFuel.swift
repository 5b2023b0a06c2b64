import FuelModel

extension ArchiveFormat {
  /// MyFuel of the Northern Territory: workbooks of about a month until November 2024, with one row
  /// per station and day and one column per fuel, in cents per litre; 0 where a fuel is not sold.
  ///
  /// Neighbouring files share a day at each end. No file was available when this was written; the
  /// layout is that of two public readers.
  /// Source: https://data.nt.gov.au/dataset?q=MyFuel
  static let ntMyFuel = ArchiveFormat(
    id: "nt-myfuel",
    columns: [
      .stamp: ["fulldate", "full date"],
      .name: ["site name", "site", "sitename", "station name", "fuel retailer"],
      .brand: ["brand", "brand name", "fuel brand"],
      .address: ["address", "street", "street address"],
      .suburb: ["suburb"],
      .postcode: ["postcode", "post code"],
      .latitude: ["lat", "latitude"],
      .longitude: ["long", "longitude"],
    ],
    fuels: [:],
    fuelColumns: [
      "diesel": .dl, "premium 98": .p98, "premium 95": .p95, "unleaded 91": .u91,
      "premium diesel": .pdl, "low aromatic fuel": .laf, "ethanol 105 (e85)": .e85,
      "bio diesel 20": .b20, "ethanol 94 (e10)": .e10, "lpg": .lpg,
    ],
    unit: .cents, stamp: .day(.darwin, startsAt: 0), identity: .nameAndPosition,
    zeroIsBlank: true)
}
