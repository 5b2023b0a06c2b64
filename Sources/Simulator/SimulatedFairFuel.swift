import Foundation
import FuelModel

/// Answers as the Fair Fuel interface of Victoria at an instant: with the prices that held 24 hours
/// earlier.
struct SimulatedFairFuel {
  let market: Market

  private static let fuelCodes: [Fuel: String] = [.dl: "DSL", .pdl: "PDSL"]
  private static let independents: Set<String> = ["Metro Petroleum", "Independent"]

  private var sites: [Market.Site] { market.sites.filter { $0.station.state == .vic } }

  func prices(at instant: Instant) -> String {
    let asOf = instant - .seconds(86_400)
    let restamped = lastRestamp(notAfter: asOf)
    var details: [String] = []
    for site in sites {
      var rows: [String] = []
      var newest = restamped
      for (fuel, _) in site.changes {
        guard let change = market.current(site, fuel, at: asOf) else { continue }
        let updated = max(change.at, restamped)
        newest = max(newest, updated)
        let (isAvailable, price) = amount(change.tenths, site)
        rows.append(
          jsonObject([
            "fuelType": json(Self.fuelCodes[fuel] ?? fuel.rawValue),
            "isAvailable": "\(isAvailable)", "price": price, "updatedAt": stamp(updated),
          ]))
      }
      guard !rows.isEmpty else { continue }
      details.append(
        jsonObject([
          "fuelStation": stationRow(site), "fuelPrices": jsonList(rows),
          "updatedAt": stamp(newest),
        ]))
    }
    return jsonObject(["fuelPriceDetails": jsonList(details)])
  }

  func brands() -> String {
    let entries = SiteMaker.brandNames.map { name in
      jsonObject([
        "id": json(brandID(name)), "name": json(name),
        "type": json(Self.independents.contains(name) ? "independent" : "major"),
      ])
    }
    return jsonObject(["brands": jsonList(entries)])
  }

  // MARK: Prices

  /// Returns the last 06:00 in Melbourne. Every price gets a new time stamp at 06:00 each day,
  /// whether or not it changed.
  private func lastRestamp(notAfter instant: Instant) -> Instant {
    let local = Zone.melbourne.local(instant)
    return Zone.melbourne.instant(
      of: 6, on: local.secondsOfDay >= 6 * 3600 ? local.day : local.day + -1)
  }

  /// Returns whether a fuel is available, and its price as JSON. A fuel out of stock is unavailable
  /// and has no price. Every fifth station instead sends an impossible price for it, as some tills
  /// do.
  private func amount(_ tenths: Int, _ site: Market.Site) -> (isAvailable: Bool, price: String) {
    guard tenths == 0 else { return (true, centsText(tenths)) }
    guard site.number % 5 == 0 else { return (false, "null") }
    return (true, ["9999", "9999.9", "999.9"][site.number / 5 % 3])
  }

  private func stamp(_ instant: Instant) -> String {
    json("\(Instant(seconds: instant.seconds))")
  }

  // MARK: Stations

  private func stationRow(_ site: Market.Site) -> String {
    jsonObject([
      "id": json(id(site)), "name": json(site.station.name),
      "address": json(address(site.station)),
      "brandId": json(brandID(site.station.brand)),
      "contactPhone": json("03 7010 \(pad(site.number % 10_000, 4))"),
      "location": jsonObject([
        "latitude": "\(site.station.position?.latitude ?? 0)",
        "longitude": "\(site.station.position?.longitude ?? 0)",
      ]),
    ])
  }

  /// The station's id: 32 bytes in Base64, which are 44 characters, with `/` and `+` among them and
  /// `=` at the end.
  private func id(_ site: Market.Site) -> String {
    var random = Random(seed: 0, "fair fuel station", site.number)
    let bytes = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return Data(bytes).base64EncodedString()
  }

  /// Brand ids are invented. Their length is that of the provider's ids.
  private func brandID(_ name: String?) -> String {
    let number = SiteMaker.brandNames.firstIndex { $0 == name } ?? 0
    return "a03Sim00000Brand" + pad(number, 2)
  }

  /// The address without the state, which the interface never names.
  private func address(_ station: Station) -> String {
    let suburb = (station.suburb ?? "").uppercased()
    return "\(station.address), \(suburb), \(station.postcode ?? "")"
  }
}

extension SimulatedFeeds {
  /// Answers as Fair Fuel of Victoria. The configured address ends before `/fuel`.
  func fairFuel(_ path: String, _ request: Server.Request) -> Server.Answer {
    func refusal(_ status: Int, _ code: String, _ message: String) -> Server.Answer {
      .text(status, jsonObject(["code": json(code), "message": json(message)]))
    }
    guard request.headers["x-consumer-id"] == Self.keys["BOWSER_VIC_FAIRFUEL_CONSUMER_ID"] else {
      return refusal(403, "ERR_UNAUTHORIZED", "The consumer is not known.")
    }
    for name in ["x-transactionid", "user-agent"] where request.headers[name, default: ""].isEmpty {
      return refusal(400, "ERR_BAD_REQUEST", "The header \(name) is missing.")
    }
    let provider = SimulatedFairFuel(market: market)
    switch path {
    case "/fuel/prices": return .text(200, provider.prices(at: now))
    case "/fuel/reference-data/brands": return .text(200, provider.brands())
    default: return refusal(404, "ERR_NOT_FOUND", "There is no such resource.")
    }
  }
}
