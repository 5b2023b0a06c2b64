import Foundation
package import FuelModel

/// The history of a market as the states publish it: one CSV file a month, in the layout of each
/// archive.
package struct MarketArchive: Sendable {
  private let market: Market

  package init(_ market: Market) { self.market = market }

  /// Returns the first month that no archive has yet. It is the month of `today`, or the month
  /// before it up to the 14th, since archives are published late.
  package static func end(on today: Day) -> Month {
    let month = Month(today)
    return today.day < 15 ? Month(number: month.number - 1) : month
  }

  /// Writes every whole month from the first day of the market until `end`. Each archive has a
  /// folder of its own name.
  ///
  /// - Returns: how many months were written.
  package func write(before end: Month, into folder: String) throws -> Int {
    let first = Month(market.days.lowerBound + 30)
    guard first < end else { return 0 }
    let layouts: [(name: String, states: Set<State>, head: String, rows: Rows)] = [
      (
        "nsw-fuelcheck", [.nsw, .act],
        "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price",
        changesOfNewSouthWales
      ),
      (
        "qld-fuel-prices", [.qld],
        "SiteId,Site_Name,Site_Brand,Sites_Address_Line_1,Site_Suburb,Site_State,Site_Post_Code,Site_Latitude,"
          + "Site_Longitude,Fuel_Type,Price,TransactionDateutc", changesOfQueensland
      ),
      (
        "wa-fuelwatch", [.wa],
        "PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION,POSTCODE,"
          + "AREA_DESCRIPTION,REGION_DESCRIPTION", daysOfWesternAustralia
      ),
    ]
    for layout in layouts {
      let sites = market.sites.filter { layout.states.contains($0.station.state) }
      let path = "\(folder)/\(layout.name)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for number in first.number..<end.number {
        let month = Month(number: number)
        let days = month.firstDay...(Month(number: number + 1).firstDay + -1)
        var text = layout.head + "\n"
        for site in sites { text += try layout.rows(site, days) }
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(month).csv"))
      }
    }
    return Int(end.number - first.number)
  }

  /// Returns the rows of one station for a range of days.
  private typealias Rows = (Market.Site, ClosedRange<Day>) throws -> String

  /// Returns the changes within some days of a zone. Zero tenths mean that the fuel is not
  /// available.
  private func changes(
    _ site: Market.Site, _ days: ClosedRange<Day>, _ zone: Zone
  ) throws -> [(fuel: Fuel, change: Market.Change)] {
    let begin = try zone.instant(days.lowerBound, hour: 0)
    let end = try zone.instant(days.upperBound + 1, hour: 0)
    return site.changes.flatMap { fuel, changes in
      changes.filter { change in
        begin <= change.at && change.at < end
          && site.open.contains(Int(floorDivide(change.at.seconds, by: 86_400)))
      }.map { (fuel, $0) }
    }
  }

  private func changesOfNewSouthWales(_ site: Market.Site, _ days: ClosedRange<Day>) throws
    -> String
  {
    let station = site.station
    let (suburb, postcode) = (station.suburb ?? "", station.postcode ?? "")
    let address = "\(station.address), \(suburb.uppercased()) \(station.state.code) \(postcode)"
    return try changes(site, days, .sydney).filter { $0.change.tenths > 0 }.map { fuel, change in
      let (day, second) = Zone.sydney.local(change.at)
      return "\(field(station.name)),\(field(address)),\(field(suburb)),\(postcode),"
        + "\(field(station.brand ?? "")),\(fuel.rawValue),\(day) \(clock(second)):\(pad(second % 60, 2)),"
        + "\(cents(change.tenths))\n"
    }.joined()
  }

  private static let fuelsOfQueensland: [Fuel: String] = [
    .u91: "Unleaded", .e10: "e10", .p95: "PULP 95/96 RON", .p98: "PULP 98 RON", .dl: "Diesel",
    .pdl: "Premium Diesel", .lpg: "LPG",
  ]

  private func changesOfQueensland(_ site: Market.Site, _ days: ClosedRange<Day>) throws -> String {
    let station = site.station
    let number = SimulatedFuelPricesDirect(market: market, state: .qld).siteID(site)
    let head =
      "\(number),\(field(station.name)),\(field(station.brand ?? "")),\(field(station.address)),"
      + "\(field(station.suburb ?? "")),QLD,\(station.postcode ?? ""),\(station.position?.latitude ?? 0),"
      + "\(station.position?.longitude ?? 0)"
    return try changes(site, days, .brisbane).map { fuel, change in
      let (day, second) = Zone.utc.local(change.at)
      // The archive ends a price with the number 9999.
      return
        "\(head),\(Self.fuelsOfQueensland[fuel] ?? ""),\(change.tenths > 0 ? change.tenths : 9_999),"
        + "\(dayFirst(day)) \(clock(second))\n"
    }.joined()
  }

  private static let fuelsOfWesternAustralia: [Fuel: String] = [
    .u91: "ULP", .p95: "PULP", .p98: "98 RON", .dl: "Diesel", .pdl: "Brand diesel", .lpg: "LPG",
  ]

  private func daysOfWesternAustralia(_ site: Market.Site, _ days: ClosedRange<Day>) throws
    -> String
  {
    let station = site.station
    // A price begins at 06:00 in Perth and holds for one day.
    return try changes(site, days, .perth).filter { $0.change.tenths > 0 }.map { fuel, change in
      "\(dayFirst(Zone.perth.local(change.at).day)),\(field(station.name)),\(field(station.brand ?? "")),"
        + "\(Self.fuelsOfWesternAustralia[fuel] ?? ""),\(cents(change.tenths)),\(field(station.address)),"
        + "\(field((station.suburb ?? "").uppercased())),\(station.postcode ?? ""),Metro,Metro\n"
    }.joined()
  }

  private func field(_ text: String) -> String { text.asCSVField }
  private func cents(_ tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)" }
  private func clock(_ second: Int) -> String {
    "\(pad(second / 3_600, 2)):\(pad(second / 60 % 60, 2))"
  }
}
