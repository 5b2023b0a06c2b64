import FuelModel

/// Answers as FuelCheck of New South Wales, which also serves Tasmania, at an instant.
struct SimulatedFuelCheck {
  let market: Market
  private let sites: [Market.Site]
  /// The number of the first Tasmanian station. Tasmanian station codes start again at 1, so that
  /// most codes exist in both states.
  private let firstTasmanian: Int

  init(market: Market, states: Set<State> = [.nsw, .act]) {
    self.market = market
    sites = market.sites.filter { states.contains($0.station.state) }
    firstTasmanian = market.sites.first { $0.station.state == .tas }?.number ?? 1
  }

  /// The answer to a request for a token. Every value in it is a string.
  func token(_ token: String, at instant: Instant) -> String {
    """
    {"refresh_token_expires_in":"0","api_product_list":"[Fuel]","organization_name":"onegov",\
    "developer.email":"developer@example.org","token_type":"BearerToken",\
    "issued_at":"\(instant.seconds * 1000)","client_id":"simulated","access_token":\(json(token)),\
    "application_name":"simulated","scope":"","expires_in":"43199","refresh_count":"0",\
    "status":"approved"}
    """
  }

  /// The full list, or its part whose prices changed after `since`. Version 2 adds the state, and
  /// writes the station codes of prices as numbers.
  func prices(at instant: Instant, since: Instant? = nil, version: Int = 1) -> String {
    func isWanted(_ stamp: Instant) -> Bool { since.map { stamp > $0 } ?? true }
    // When the price of a charger last changed, the same for all chargers.
    let charged = Instant(seconds: 1_708_990_911)
    var stations: [String] = []
    var prices: [String] = []
    for site in sites {
      var rows: [String] = []
      for (fuel, _) in site.changes {
        // The feed omits a fuel that is out of stock.
        guard let change = market.current(site, fuel, at: instant), change.tenths > 0,
          isWanted(change.at)
        else { continue }
        rows.append(row(site, fuel.rawValue, centsText(change.tenths), change.at, version))
      }
      // Every tenth station has a charger for electric cars. Its price is per kWh and mostly 0.
      if site.number % 10 == 0, !rows.isEmpty, isWanted(charged) {
        rows.append(row(site, "EV", "0", charged, version))
      }
      guard !rows.isEmpty else { continue }
      stations.append(stationRow(site, version))
      prices += rows
    }
    return jsonObject(["stations": jsonList(stations), "prices": jsonList(prices)])
  }

  private func stationRow(_ site: Market.Site, _ version: Int) -> String {
    let station = site.station
    // Only the address names the Australian Capital Territory.
    let address =
      "\(station.address), \((station.suburb ?? "").uppercased()) \(station.state.code) "
      + (station.postcode ?? "")
    return "{\"brandid\":\"1-GFYV-\(site.number % 9)\",\"stationid\":\"1-2\(site.number)FWD\","
      + "\"brand\":\(json(station.brand ?? "")),\"code\":\"\(code(site))\","
      + "\"name\":\(json(station.name)),\"address\":\(json(address)),"
      + "\"location\":{\"latitude\":\(station.position?.latitude ?? 0),"
      + "\"longitude\":\(station.position?.longitude ?? 0)},"
      + "\"isAdBlueAvailable\":\(site.number % 3 == 0)\(stateField(site, version))}"
  }

  private func row(
    _ site: Market.Site, _ fuel: String, _ price: String, _ at: Instant, _ version: Int
  ) -> String {
    let digits = "\(code(site))"
    let written = version == 1 ? json(digits) : digits
    return "{\"stationcode\":\(written),\"fueltype\":\"\(fuel)\",\"price\":\(price),"
      + "\"lastupdated\":\"\(dayFirst(at))\"\(stateField(site, version))}"
  }

  private func code(_ site: Market.Site) -> Int {
    site.station.state == .tas ? site.number - firstTasmanian + 1 : site.number
  }

  /// The state field names New South Wales for stations of the Australian Capital Territory.
  private func stateField(_ site: Market.Site, _ version: Int) -> String {
    let state = site.station.state == .act ? State.nsw : site.station.state
    return version == 1 ? "" : ",\"state\":\"\(state.code)\""
  }

  /// `dd/MM/yyyy HH:mm:ss` in UTC, without a zone.
  private func dayFirst(_ instant: Instant) -> String {
    let time = "\(Instant(seconds: instant.seconds))".dropLast().suffix(8)
    return "\(Simulator.dayFirst(Zone.utc.local(instant).day)) \(time)"
  }
}
