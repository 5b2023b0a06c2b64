import FuelModel

extension ArchiveFormat {
  /// FuelWatch retail prices of Western Australia: one CSV file a month since January 2001, one row
  /// per station, product and day, cents per litre with two decimals.
  ///
  /// By law a price holds from 06:00 to 06:00 Perth time, so a station that is missing on a day has
  /// no price on that day. Files contain neither station numbers nor positions.
  /// Source: https://www.fuelwatch.wa.gov.au/retail/historic
  static let waFuelWatch = ArchiveFormat(
    id: "wa-fuelwatch",
    columns: [
      .stamp: ["publish date"],
      .name: ["trading name"],
      .brand: ["brand description"],
      .fuel: ["product description"],
      .price: ["product price"],
      .address: ["address"],
      .suburb: ["location"],
      .postcode: ["postcode"],
    ],
    fuels: [
      "ulp": .u91, "pulp": .p95, "98 ron": .p98, "diesel": .dl, "brand diesel": .pdl,
      "lpg": .lpg, "e85": .e85,
      // Lead replacement petrol, sold until about 2006. It is not unleaded petrol.
      "lrp": .lrp,
    ],
    unit: .cents, stamp: .day(.perth, startsAt: 6), identity: .nameAndAddress)
}
