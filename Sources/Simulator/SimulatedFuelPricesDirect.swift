import FuelModel

/// Answers as the interface of Queensland and South Australia at an instant.
struct SimulatedFuelPricesDirect {
  let market: Market
  let state: State

  private static let fuelIDs: [Fuel: Int] = [
    .u91: 2, .dl: 3, .lpg: 4, .p95: 5, .p98: 8, .e10: 12, .pdl: 14,
  ]
  // The numbers of brands and regions are invented. They need not be those of the provider.
  private static let brandIDs = [
    "BP": 5, "Ampol": 3_421_066, "Shell": 20, "7-Eleven": 113, "Reddy Express": 3_421_193,
    "United": 23, "Metro Petroleum": 57, "Independent": 12, "Liberty": 86, "Puma": 5094,
  ]
  private static let stateIDs: [State: Int] = [.qld: 1, .sa: 4]

  private var sites: [Market.Site] { market.sites.filter { $0.station.state == state } }

  func siteID(_ site: Market.Site) -> Int { 61_400_000 + site.number }

  /// Suburb numbers by name, the same each time for one market.
  private var suburbIDs: [String: Int] {
    let names = Set(market.sites.compactMap(\.station.suburb)).sorted()
    return Dictionary(
      uniqueKeysWithValues: names.enumerated().map { ($1, 182_624_000 + $0) })
  }

  func brands() -> String {
    let entries = Self.brandIDs.sorted { $0.value < $1.value }.map {
      "{\"BrandId\":\($0.value),\"Name\":\(json($0.key))}"
    }
    return "{\"Brands\":[\(entries.joined(separator: ","))]}"
  }

  func regions() -> String {
    var entries = Self.stateIDs.sorted { $0.value < $1.value }.map { state, number in
      "{\"GeoRegionLevel\":3,\"GeoRegionId\":\(number),\"Name\":\(json(state.code)),"
        + "\"Abbrev\":\(json(state.code)),\"GeoRegionParentId\":null}"
    }
    entries += suburbIDs.sorted { $0.value < $1.value }.map { name, number in
      "{\"GeoRegionLevel\":1,\"GeoRegionId\":\(number),\"Name\":\(json(name)),"
        + "\"Abbrev\":\"\",\"GeoRegionParentId\":1}"
    }
    return "{\"GeographicRegions\":[\(entries.joined(separator: ","))]}"
  }

  func siteDetails() -> String {
    let suburbs = suburbIDs
    let hours = [
      "MO", "MC", "TO", "TC", "WO", "WC", "THO", "THC", "FO", "FC", "SO", "SC", "SUO", "SUC",
    ]
    .map { "\"\($0)\":\"\"" }.joined(separator: ",")
    let entries = sites.map { site in
      let station = site.station
      return
        "{\"S\":\(siteID(site)),\"A\":\(json(station.address)),\"N\":\(json(station.name)),"
        + "\"B\":\(Self.brandIDs[station.brand ?? ""] ?? 12),\"P\":\(json(station.postcode ?? "")),"
        + "\"G1\":\(suburbs[station.suburb ?? ""] ?? 0),\"G2\":1,\"G3\":\(Self.stateIDs[state] ?? 0),"
        + "\"G4\":0,\"G5\":0,\"Lat\":\(station.position?.latitude ?? 0),"
        + "\"Lng\":\(station.position?.longitude ?? 0),\"M\":\"2025-04-11T01:23:01.397\","
        + "\"GPI\":\"\",\(hours)}"
    }
    return "{\"S\":[\(entries.joined(separator: ","))]}"
  }

  func prices(at instant: Instant) -> String {
    var rows: [String] = []
    for site in sites {
      for (fuel, _) in site.changes {
        guard let number = Self.fuelIDs[fuel],
          let change = market.current(site, fuel, at: instant)
        else { continue }
        let stamp = self.stamp(of: change, site, at: instant)
        let price = change.tenths == 0 ? 9999 : change.tenths
        rows.append(
          "{\"SiteId\":\(siteID(site)),\"FuelId\":\(number),\"CollectionMethod\":\"Q\","
            + "\"TransactionDateUtc\":\"\(stamp)\",\"Price\":\(price).0}")
      }
    }
    return "{\"SitePrices\":[\(rows.joined(separator: ","))]}"
  }

  /// The time stamp of a price: the later of its change and of the chain's last restatement. The
  /// stamp is in UTC without a zone, and the trailing zeros of its fraction are cut.
  private func stamp(of change: Market.Change, _ site: Market.Site, at instant: Instant) -> String {
    var reported = change.at
    if let every = site.restatesEvery {
      let restated = instant.seconds - instant.seconds % Int64(every)
      if restated > reported.seconds { reported = Instant(seconds: restated) }
    }
    let milliseconds = [0, 490, 0, 103, 527, 0, 90][site.number % 7]
    let second = String("\(Instant(seconds: reported.seconds))".dropLast())
    guard milliseconds > 0 else { return second }
    var fraction = String(1000 + milliseconds).dropFirst()
    while fraction.hasSuffix("0") { fraction.removeLast() }
    // The fraction must not move the time stamp past the present.
    return reported.seconds == instant.seconds ? second : "\(second).\(fraction)"
  }
}
