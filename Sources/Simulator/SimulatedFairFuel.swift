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
            "fuelType": quoted(Self.fuelCodes[fuel] ?? fuel.rawValue),
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

  /// Returns every station that ever existed, so that this list is longer than the list of prices.
  func stations() -> String {
    let entries = sites.map { site in
      // The time stamps of this list have milliseconds. Those of the price list have none.
      let clock = "02:\(padded(site.number % 60, 2)):35.\(padded(site.number % 1000, 3))"
      return jsonObject([
        "id": quoted(id(site)), "name": quoted(site.station.name),
        "brandId": quoted(brandID(site.station.brand)), "address": quoted(address(site.station)),
        "updatedAt": quoted("2025-09-01T\(clock)Z"), "location": location(site.station),
        "openingHours": openingHours(site),
      ])
    }
    return jsonObject(["fuelStations": jsonList(entries)])
  }

  func brands() -> String {
    let entries = SiteMaker.brandNames.map { name in
      jsonObject([
        "id": quoted(brandID(name)), "name": quoted(name),
        "type": quoted(Self.independents.contains(name) ? "independent" : "major"),
      ])
    }
    return jsonObject(["brands": jsonList(entries)])
  }

  func types() -> String {
    let names: [(String, String)] = [
      ("U91", "Unleaded 91"), ("P95", "Premium Unleaded 95"), ("P98", "Premium Unleaded 98"),
      ("DSL", "Diesel"), ("PDSL", "Premium Diesel"), ("E10", "Ethanol 10"), ("E85", "Ethanol 85"),
      ("B20", "Biodiesel 20"), ("LPG", "Liquefied Petroleum Gas"),
      ("LNG", "Liquefied Natural Gas"), ("CNG", "Compressed Natural Gas"),
    ]
    let entries = names.map { jsonObject(["id": quoted($0.0), "name": quoted($0.1)]) }
    return jsonObject(["fuelTypes": jsonList(entries)])
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
    quoted("\(Instant(seconds: instant.seconds))")
  }

  // MARK: Stations

  private func stationRow(_ site: Market.Site) -> String {
    jsonObject([
      "id": quoted(id(site)), "name": quoted(site.station.name),
      "address": quoted(address(site.station)),
      "brandId": quoted(brandID(site.station.brand)),
      "contactPhone": quoted("03 7010 \(padded(site.number % 10_000, 4))"),
      "location": location(site.station), "openingHours": openingHours(site),
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
    return "a03Sim00000Brand" + padded(number, 2)
  }

  /// The address without the state, which the interface never names.
  private func address(_ station: Station) -> String {
    let suburb = (station.suburb ?? "").uppercased()
    return "\(station.address), \(suburb), \(station.postcode ?? "")"
  }

  private func location(_ station: Station) -> String {
    jsonObject([
      "latitude": "\(station.position?.latitude ?? 0)",
      "longitude": "\(station.position?.longitude ?? 0)",
    ])
  }

  /// Most stations report no opening hours.
  private func openingHours(_ site: Market.Site) -> String {
    guard site.number % 6 == 0 else { return "null" }
    func day(_ from: String, _ to: String, _ state: String) -> String {
      jsonObject(["to": to, "from": from, "state": quoted(state)])
    }
    let midnight = quoted("00:00")
    let always = day(midnight, midnight, "openAllDay")
    let partly = day(quoted("06:00"), quoted("21:30"), "openPartialDay")
    let never = day("null", "null", "closedAllDay")
    let weekday = site.number % 12 == 0 ? always : partly
    return jsonObject([
      "fri": weekday, "mon": weekday, "sat": weekday,
      "sun": site.number % 12 == 0 ? always : never, "thu": weekday, "tue": weekday,
      "wed": weekday,
    ])
  }
}
