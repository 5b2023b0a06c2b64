import FuelModel

extension ArchiveFormat {
  /// FuelCheck price history of New South Wales (and the ACT, from 2024 at the latest): one
  /// workbook or CSV file a month since 2016, one row per price change, cents per litre, Sydney
  /// wall clock.
  ///
  /// There is no station code. The workbooks of 2019 and 2020 are printed reports with pages of 300
  /// rows; see `SheetRows`.
  /// Source: https://data.nsw.gov.au/data/dataset/fuel-check
  static let nswFuelCheck = ArchiveFormat(
    id: "nsw-fuelcheck",
    columns: [
      .name: ["servicestationname", "service station name"],
      .address: ["address"],
      .suburb: ["suburb"],
      .postcode: ["postcode", "post code"],
      .brand: ["brand"],
      .fuel: ["fuelcode", "fuel code", "fueltype", "fuel type"],
      .stamp: ["priceupdateddate", "price updated date"],
      .price: ["price"],
    ],
    fuels: [
      "e10": .e10, "u91": .u91, "p95": .p95, "p98": .p98, "dl": .dl, "pdl": .pdl, "lpg": .lpg,
      "e85": .e85, "b20": .b20, "cng": .cng, "lng": .lng, "h2": .h2,
      // Electric chargers, priced per kWh.
      "ev": nil,
    ],
    unit: .cents, stamp: .wallClock(.sydney), identity: .nameAndAddress)
}
