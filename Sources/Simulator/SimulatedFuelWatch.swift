import FuelModel

/// Answers as FuelWatch of Western Australia at an instant.
struct SimulatedFuelWatch {
  let market: Market

  private static let products: [Int: Fuel] = [
    1: .u91, 2: .p95, 4: .dl, 5: .lpg, 6: .p98, 10: .e85, 11: .pdl,
  ]

  /// The RSS of a product. The list has no items for an unknown product, and none for tomorrow
  /// before 14:30 in Perth.
  func rss(product: Int, day word: String, at instant: Instant) -> String {
    let local = Zone.perth.local(instant)
    var day: Day?
    switch word {
    case "tomorrow": day = local.secondsOfDay >= 14 * 3600 + 1800 ? local.day + 1 : nil
    case "yesterday": day = local.day + -1
    default: day = local.day
    }
    var items: [(price: Int, text: String)] = []
    if let day, let fuel = Self.products[product] {
      // 06:00 of that day in Perth, which is 22:00 UTC of the day before.
      let begins = Instant(seconds: Int64(day.sinceEpoch) * 86_400 - 2 * 3600)
      for site in market.sites where site.station.state == .wa {
        guard let change = market.current(site, fuel, at: begins), change.tenths > 0 else {
          continue
        }
        items.append((change.tenths, item(site, change.tenths, day)))
      }
      items.sort { ($0.price, $0.text) < ($1.price, $1.text) }
    }
    let date = day ?? local.day
    let head = """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0"><channel><title>FuelWatch Prices For All Metro Regions</title><ttl>720</ttl>\
      <link>http://www.fuelwatch.wa.gov.au</link><description>\(dayFirst(date)) - All Metro Regions\
      </description><language>en-us</language><copyright>Copyright 2005 FuelWatch. All Rights \
      Reserved.</copyright><lastBuildDate>\(dayFirst(date))</lastBuildDate><image>\
      <url>/fuelwatch/art/fuelwatch-logo.gif</url><title>FuelWatch</title>\
      <link>http://www.fuelwatch.wa.gov.au</link></image>
      """
    let text = head + "\n" + items.map { $0.text + "\n" }.joined() + "</channel></rss>\n"
    return "\u{FEFF}" + text.replacing("\n", with: "\r\n")
  }

  private func item(_ site: Market.Site, _ tenths: Int, _ day: Day) -> String {
    let station = site.station
    // Every tenth station states no telephone number.
    let phone = site.number % 10 == 0 ? "" : "(08) 5550 \(pad(site.number % 10_000, 4))"
    let price = "\(tenths / 10).\(tenths % 10)"
    let suburb = (station.suburb ?? "").uppercased()
    func element(_ name: String, _ text: String) -> String {
      "<\(name)>\(escapedXML(text))</\(name)>"
    }
    return "<item>" + element("title", "\(price): \(station.name)")
      + element("description", "Address: \(station.address), \(suburb), Phone: \(phone)")
      + element("brand", station.brand ?? "") + element("date", "\(day)") + element("price", price)
      + element("trading-name", station.name) + element("location", suburb)
      + element("address", station.address) + element("phone", phone)
      + element("latitude", "\(station.position?.latitude ?? 0)")
      + element("longitude", "\(station.position?.longitude ?? 0)")
      + element("site-features", ", ")
      + element("restrictions", station.isPublic ? "" : "Membership Required; ") + "</item>"
  }
}
