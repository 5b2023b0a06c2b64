import FuelModel

/// The answers of MyFuel of the Northern Territory at an instant: its public page, and its interface
/// for account holders. Neither gives a time stamp for a price.
struct SimulatedMyFuel {
  /// How many outlets one request may name.
  static let mostIdentifiers = 10

  let market: Market
  private let outlets: [Outlet]

  private struct Outlet {
    let id: Int
    let site: Market.Site

    /// The postcode followed by a sequence number, both with leading zeros.
    var identifier: String { pad(postcode, 4) + pad(id, 4) }
    var postcode: Int { Int(site.station.postcode ?? "") ?? 0 }

    /// The number of the region: Darwin 3, Katherine 6, Barkly 5, Central Australia 4.
    var region: Int {
      switch postcode {
      case ..<850: 3
      case ..<860: 6
      case ..<870: 5
      default: 4
      }
    }
  }

  // MyFuel has no code for the last two brands. The codes of these two are invented.
  private static let brandCodes: KeyValuePairs<String, String> = [
    "Ampol": "AM", "BP": "BP", "Reddy Express": "C3", "Independent": "IN", "Liberty": "Li",
    "Puma": "PM", "Shell": "SH", "United": "UN", "7-Eleven": "SE", "Metro Petroleum": "MP",
  ]
  private static let fuelNames: KeyValuePairs<String, String> = [
    "U91": "Unleaded 91", "P95": "Premium Unleaded 95", "P98": "Premium Unleaded 98",
    "DL": "Diesel", "PD": "Premium Diesel", "E10": "Ethanol 10", "E85": "Ethanol 85",
    "B20": "Biodiesel 20", "LPG": "LPG", "LAF": "Low Aromatic Fuel",
  ]

  init(market: Market) {
    self.market = market
    outlets = market.sites.filter { $0.station.state == .nt }.enumerated().map {
      Outlet(id: $0.offset + 1, site: $0.element)
    }
  }

  // MARK: The page

  /// The page for readers, with its data in a hidden form field.
  func page(at instant: Instant) -> String {
    let content = jsonObject([
      "FuelTypeList": fuels(), "FuelBrandList": brands(),
      "FuelOutlet": jsonList(outlets.compactMap { pageRow($0, at: instant) }),
    ])
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head><meta charset="utf-8"><title>Results</title></head>
      <body>
      <input type="hidden" id="searchOptions" value="suburb">
      <input type="hidden" id="serverJson" value="\(escapedAttribute(content))">
      </body>
      </html>

      """
  }

  private func pageRow(_ outlet: Outlet, at instant: Instant) -> String? {
    let begins = nextBegin(after: instant)
    var rows: [String] = []
    for (fuel, _) in outlet.site.changes {
      guard let change = market.current(outlet.site, fuel, at: instant) else { continue }
      // The price that begins at the next 14:30 was announced at the 14:30 before. Nobody announces
      // that a fuel will be out of stock.
      let next = market.current(outlet.site, fuel, at: begins).flatMap {
        $0.at == begins && $0.tenths > 0 ? $0.tenths : nil
      }
      rows.append(
        jsonObject([
          "FuelCode": json(code(fuel, outlet)), "Price": price(change.tenths, outlet),
          "isAvailable": "\(change.tenths > 0)", "OutletId": "\(outlet.id)",
          "PriceScheduled": next.map(centsText) ?? "null",
          "isAvailableScheduled": "\(next != nil)",
        ]))
    }
    guard !rows.isEmpty else { return nil }
    let station = outlet.site.station
    return jsonObject([
      "FuelOutletId": "\(outlet.id)", "FuelOutletIdentifier": json(outlet.identifier),
      "OutletName": json(station.name), "Address": json(address(station)),
      "Suburb": json(suburb(station)), "Postcode": json(station.postcode ?? ""),
      "OutletState": json(station.state.code),
      "FuelBrandIdentifier": json(brandCode(station)),
      "OutletBrandIdentifier": json(brandCode(station)), "RegionId": "\(outlet.region)",
      "Longitude": "\(station.position?.longitude ?? 0)",
      "Latitude": "\(station.position?.latitude ?? 0)", "IsActive": "true",
      "IsNTFleet": "\(outlet.id % 5 == 0)", "IsAvailable": "true", "FuelCode": "null",
      "FuelPriceForSelectedCode": "null", "WebAddress": "null", "AvailableFuels": jsonList(rows),
    ])
  }

  /// Returns the next 14:30 in Darwin, which is 05:00 UTC all year.
  private func nextBegin(after instant: Instant) -> Instant {
    let shift: Int64 = 5 * 3_600
    let days = floorDivide(instant.seconds - shift, by: 86_400) + 1
    return Instant(seconds: days * 86_400 + shift)
  }

  // MARK: The interface

  /// The answer to a request with the right password.
  func token(_ token: String) -> String {
    jsonObject([
      "access_token": json(token), "token_type": json("bearer"), "expires_in": "86399",
    ])
  }

  func reference() -> String {
    let rows = outlets.map { outlet in
      let station = outlet.site.station
      return jsonObject([
        "FuelOutletIdentifier": json(outlet.identifier), "OutletName": json(station.name),
        "FuelBrandIdentifier": json(brandCode(station)), "Address": json(address(station)),
        "Suburb": json(suburb(station)), "Postcode": json(station.postcode ?? ""),
        "Latitude": "\(station.position?.latitude ?? 0)",
        "Longitude": "\(station.position?.longitude ?? 0)",
      ])
    }
    return jsonObject(["Outlets": jsonList(rows), "Brands": brands(), "Fuels": fuels()])
  }

  /// Returns the prices of some outlets. Outlets that are unknown or closed are left out.
  func prices(of ids: [String], at instant: Instant) -> String {
    let wanted = Set(ids)
    var answers: [String] = []
    for outlet in outlets where wanted.contains(outlet.identifier) {
      var rows: [String] = []
      for (fuel, _) in outlet.site.changes {
        guard let change = market.current(outlet.site, fuel, at: instant) else { continue }
        // Some outlets report their prices as strings.
        let isText = outlet.site.number % 3 == 0 && change.tenths > 0
        let number = price(change.tenths, outlet)
        rows.append(
          jsonObject([
            "FuelCode": json(code(fuel, outlet)), "Price": isText ? json(number) : number,
            "IsAvailable": "\(change.tenths > 0)",
          ]))
      }
      guard !rows.isEmpty else { continue }
      answers.append(
        jsonObject([
          "FuelOutletIdentifier": json(outlet.identifier), "AvailableFuel": jsonList(rows),
        ]))
    }
    return jsonList(answers)
  }

  // MARK: Common to both

  /// A fuel out of stock has the price 0 or `null`, depending on the outlet.
  private func price(_ tenths: Int, _ outlet: Outlet) -> String {
    guard tenths == 0 else { return centsText(tenths) }
    return outlet.site.number % 2 == 0 ? "0" : "null"
  }

  private func code(_ fuel: Fuel, _ outlet: Outlet) -> String {
    switch fuel {
    case .u91 where outlet.site.sellsLowAromatic: Fuel.laf.rawValue
    case .pdl: "PD"
    default: fuel.rawValue
    }
  }

  private func fuels() -> String {
    jsonList(
      Self.fuelNames.map { jsonObject(["FuelCode": json($0.key), "FuelName": json($0.value)]) })
  }

  private func brands() -> String {
    jsonList(
      Self.brandCodes.map {
        jsonObject(["BrandIdentifier": json($0.value), "BrandName": json($0.key)])
      })
  }

  private func brandCode(_ station: Station) -> String {
    Self.brandCodes.first { $0.key == station.brand }?.value ?? "IN"
  }

  /// The address, with a note if entry needs a permit, as in the provider's data.
  private func address(_ station: Station) -> String {
    station.isPublic ? station.address : station.address + ". ENTRY BY PERMIT ONLY."
  }

  /// The suburb with a space at the end, as in the provider's data.
  private func suburb(_ station: Station) -> String { (station.suburb ?? "").uppercased() + " " }
}

extension Market.Site {
  /// Whether an outlet sells low aromatic fuel instead of unleaded. Every fourth outlet outside the
  /// areas of Darwin, Litchfield and Palmerston does. All postcodes of these areas are below 0850.
  package var sellsLowAromatic: Bool {
    station.state == .nt && number % 4 == 0 && (Int(station.postcode ?? "") ?? 0) >= 850
  }
}
