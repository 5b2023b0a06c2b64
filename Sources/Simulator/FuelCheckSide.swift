import FuelModel

/// What FuelCheck of New South Wales, which serves Tasmania too, answers at an instant.
struct FuelCheckSide {
  let market: Market
  private let sites: [Market.Site]
  /// The number of the first Tasmanian station: codes are counted anew there, so that most exist in
  /// both states.
  private let firstTasmanian: Int

  init(market: Market, states: Set<State> = [.nsw, .act]) {
    self.market = market
    sites = market.sites.filter { states.contains($0.station.state) }
    firstTasmanian = market.sites.first { $0.station.state == .tas }?.number ?? 1
  }

  /// The token answer: every value a text.
  func token(_ token: String, at instant: Instant) -> String {
    """
    {"refresh_token_expires_in":"0","api_product_list":"[Fuel]","organization_name":"onegov",\
    "developer.email":"developer@example.org","token_type":"BearerToken",\
    "issued_at":"\(instant.seconds * 1000)","client_id":"simulated","access_token":\(quoted(token)),\
    "application_name":"simulated","scope":"","expires_in":"43199","refresh_count":"0",\
    "status":"approved"}
    """
  }

  /// The full list; version 2 names the state and writes station codes of prices as numbers.
  func prices(at instant: Instant, version: Int = 1) -> String {
    answer(at: instant, after: nil, version)
  }

  /// The part of the list that changed after an instant.
  func newPrices(since: Instant, at instant: Instant) -> String {
    answer(at: instant, after: since, 1)
  }

  private func answer(at instant: Instant, after since: Instant?, _ version: Int) -> String {
    func isWanted(_ stamp: Instant) -> Bool { since.map { stamp > $0 } ?? true }
    // When the last charger was changed.
    let charged = Instant(seconds: 1_708_990_911)
    var stations: [String] = []
    var prices: [String] = []
    for site in sites {
      var rows: [String] = []
      for (fuel, _) in site.changes {
        // Out of stock is not listed at all.
        guard let change = market.current(site, fuel, at: instant), change.tenths > 0,
          isWanted(change.at)
        else { continue }
        rows.append(row(site, fuel.rawValue, centsText(change.tenths), change.at, version))
      }
      // Every tenth site has a charger: priced per kWh, mostly 0.
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
    // The word of the territory stands in the address only.
    let address =
      "\(station.address), \((station.suburb ?? "").uppercased()) \(station.state.code) "
      + (station.postcode ?? "")
    return "{\"brandid\":\"1-GFYV-\(site.number % 9)\",\"stationid\":\"1-2\(site.number)FWD\","
      + "\"brand\":\(quoted(station.brand ?? "")),\"code\":\"\(code(site))\","
      + "\"name\":\(quoted(station.name)),\"address\":\(quoted(address)),"
      + "\"location\":{\"latitude\":\(station.position?.latitude ?? 0),"
      + "\"longitude\":\(station.position?.longitude ?? 0)},"
      + "\"isAdBlueAvailable\":\(site.number % 3 == 0)\(stateField(site, version))}"
  }

  private func row(
    _ site: Market.Site, _ fuel: String, _ price: String, _ at: Instant, _ version: Int
  ) -> String {
    let digits = "\(code(site))"
    let written = version == 1 ? quoted(digits) : digits
    return "{\"stationcode\":\(written),\"fueltype\":\"\(fuel)\",\"price\":\(price),"
      + "\"lastupdated\":\"\(dayFirst(at))\"\(stateField(site, version))}"
  }

  private func code(_ site: Market.Site) -> Int {
    site.station.state == .tas ? site.number - firstTasmanian + 1 : site.number
  }

  /// The territory counts as New South Wales here.
  private func stateField(_ site: Market.Site, _ version: Int) -> String {
    let state = site.station.state == .act ? State.nsw : site.station.state
    return version == 1 ? "" : ",\"state\":\"\(state.code)\""
  }

  /// `dd/MM/yyyy HH:mm:ss`, UTC without saying so.
  private func dayFirst(_ instant: Instant) -> String {
    let iso = "\(Instant(seconds: instant.seconds))"
    let parts = iso.dropLast().split(separator: "T")
    let date = parts[0].split(separator: "-")
    return "\(date[2])/\(date[1])/\(date[0]) \(parts[1])"
  }
}
