import FuelModel

extension ArchiveFormat {
  /// Queensland fuel price reporting: one CSV file a month since December 2018, price changes only,
  /// tenths of a cent, UTC to the minute. A file contains a month of Brisbane, whose clock is
  /// UTC+10 all year.
  ///
  /// `SiteId` is that of the live feed. 9999 ends a price. Rows are sorted by site, not by time.
  /// Source: https://www.data.qld.gov.au/dataset/fuel-price-reporting
  static let qldFuelPrices = ArchiveFormat(
    id: "qld-fuel-prices",
    columns: [
      .code: ["siteid", "site id"],
      .name: ["site name"],
      .brand: ["site brand"],
      .address: ["sites address line 1"],
      .suburb: ["site suburb"],
      .state: ["site state"],
      .postcode: ["site post code"],
      .latitude: ["site latitude"],
      .longitude: ["site longitude"],
      .fuel: ["fuel type"],
      .price: ["price"],
      .stamp: ["transactiondateutc"],
    ],
    fuels: [
      "unleaded": .u91, "e10": .e10, "pulp 95/96 ron": .p95, "pulp 98 ron": .p98, "diesel": .dl,
      "premium diesel": .pdl, "lpg": .lpg, "e85": .e85, "opal": .laf, "biodiesel 20": .b20,
      "ulsd": .dl, "lrp": .lrp,
    ],
    unit: .tenths, stamp: .utc, identity: .code, notOffered: [9999])
}
