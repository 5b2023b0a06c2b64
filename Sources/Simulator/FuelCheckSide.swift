import FuelModel

/// What FuelCheck of New South Wales answers at an instant.
struct FuelCheckSide {
  let market: Market

  private var sites: [Market.Site] {
    market.sites.filter { $0.station.state == .nsw || $0.station.state == .act }
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

  func prices(at instant: Instant) -> String {
    var stations: [String] = []
    var prices: [String] = []
    for site in sites {
      var rows: [String] = []
      for (fuel, _) in site.changes {
        // Out of stock is not listed at all.
        guard let change = market.current(site, fuel, at: instant), change.tenths > 0 else {
          continue
        }
        rows.append(row(site, fuel.rawValue, cents(change.tenths), change.at))
      }
      // Every tenth site has a charger: priced per kWh, mostly 0.
      if site.number % 10 == 0, !rows.isEmpty {
        rows.append(row(site, "EV", "0", Instant(seconds: 1_708_990_911)))
      }
      guard !rows.isEmpty else { continue }
      stations.append(stationRow(site))
      prices += rows
    }
    return "{\"stations\":[\(stations.joined(separator: ","))],"
      + "\"prices\":[\(prices.joined(separator: ","))]}"
  }

  private func stationRow(_ site: Market.Site) -> String {
    let station = site.station
    // The word of the territory stands in the address only.
    let address =
      "\(station.address), \((station.suburb ?? "").uppercased()) \(station.state.rawValue) "
      + (station.postcode ?? "")
    return "{\"brandid\":\"1-GFYV-\(site.number % 9)\",\"stationid\":\"1-2\(site.number)FWD\","
      + "\"brand\":\(quoted(station.brand ?? "")),\"code\":\"\(site.number)\","
      + "\"name\":\(quoted(station.name)),\"address\":\(quoted(address)),"
      + "\"location\":{\"latitude\":\(station.position?.latitude ?? 0),"
      + "\"longitude\":\(station.position?.longitude ?? 0)},"
      + "\"isAdBlueAvailable\":\(site.number % 3 == 0)}"
  }

  private func row(_ site: Market.Site, _ fuel: String, _ price: String, _ at: Instant) -> String {
    "{\"stationcode\":\"\(site.number)\",\"fueltype\":\"\(fuel)\",\"price\":\(price),"
      + "\"lastupdated\":\"\(dayFirst(at))\"}"
  }

  private func cents(_ tenths: Int) -> String {
    tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
  }

  /// `dd/MM/yyyy HH:mm:ss`, UTC without saying so.
  private func dayFirst(_ instant: Instant) -> String {
    let iso = "\(Instant(seconds: instant.seconds))"
    let parts = iso.dropLast().split(separator: "T")
    let date = parts[0].split(separator: "-")
    return "\(date[2])/\(date[1])/\(date[0]) \(parts[1])"
  }
}
