import Foundation
import FuelModel
import HTTP

/// FuelWatch of Western Australia: RSS 2.0, one document per product and day, cents per litre.
///
/// By law a price holds from 06:00 to 06:00 Perth time; tomorrow's prices are published at 14:30.
/// Only the `date` of an item states the price's day: `Day=today` means the calendar day, whose
/// prices begin only at 06:00, and the channel's build date was malformed for years.
/// No key. Source: https://www.fuelwatch.wa.gov.au
///
/// Recorded JSON lists of the web site (`sites-ULP`, ...) are read too. They contain no date. Their
/// "today" is the current price day: before 06:00 it is the one that began at 06:00 the day before.
enum FuelWatch: Provider {
  static let id = "fuelwatch"

  /// The products are requested one by one, so every code that can arrive is in this list.
  static let fuels = Dictionary(uniqueKeysWithValues: products.map { ($0.code, $0.fuel) })

  /// The product number of the RSS feed, the fuel, and the code of the JSON lists.
  private static let products: [(number: Int, fuel: Fuel, code: String)] = [
    (1, .u91, "ULP"), (2, .p95, "PUP"), (4, .dl, "DSL"), (5, .lpg, "LPG"), (6, .p98, "98R"),
    (10, .e85, "E85"), (11, .pdl, "BDL"),
  ]

  // 14:30, when tomorrow's prices are published. Until then a request for them returns a valid feed
  // without items.
  private static let tomorrowFrom = 14 * 3600 + 30 * 60

  static func calls(_ source: Source, at instant: Instant) -> [Call] {
    let isTomorrowKnown = Zone.perth.local(instant).secondsOfDay >= tomorrowFrom
    let days = isTomorrowKnown ? ["today", "tomorrow"] : ["today"]
    return days.flatMap { day in
      products.map { product in
        Call(
          name: "\(day)-\(product.number)", path: "",
          query: [("Product", String(product.number)), ("Day", day)])
      }
    }
  }

  /// Prices change at 06:00, and tomorrow's are published at 14:30. Nothing changes between these
  /// times, so a run is due five minutes after each of them. While prices are awaited that should be
  /// there, further runs are due until the next of these times: one every ten minutes in the first
  /// two hours, then one every half hour.
  static func due(_ source: Source, at now: Instant, isAwaiting: Bool) -> Instant {
    let local = Zone.perth.local(now)
    let passed = [6 * 3600 + 300, tomorrowFrom + 300].last { $0 <= local.secondsOfDay }
    // Before 06:05 the last of these times was yesterday's 14:35.
    let since = local.secondsOfDay - (passed ?? tomorrowFrom + 300 - 86_400)
    return now - .seconds(isAwaiting ? since % (since < 7_200 ? 600 : 1_800) : since)
  }

  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    // A price ends by itself after its day, so an absent price proves nothing.
    reading.coverage = .partial
    var lists: [Fuel: Lists] = [:]
    // A document that holds another day than its own comes before the one of that day, whose prices
    // therefore count.
    for document in documents.reversed() {
      let parts = document.name.split(separator: "-").map(String.init)
      let isList = parts.first == "sites"
      let product = products.first { parts.last == (isList ? $0.code : String($0.number)) }
      guard let product, parts.count == 2,
        isList || ["today", "tomorrow", "yesterday"].contains(parts[0])
      else {
        throw .malformed(document: document.name, reason: "not the name of a FuelWatch document")
      }
      guard !isList else {
        try readSites(document, product.fuel, of: source, into: &reading)
        continue
      }
      let items = try rssItems(document)
      // Unleaded has hundreds of prices on any day. A list without any is not a list of today.
      if parts[0] == "today", product.fuel == .u91, items.isEmpty {
        throw .malformed(document: document.name, reason: "the list is empty")
      }
      // A list of another day than the requested one shows that the provider's page is not
      // updated.
      let day = Zone.perth.local(document.fetchedAt).day + (parts[0] == "tomorrow" ? 1 : 0)
      if parts[0] != "yesterday", !items.isEmpty,
        !items.contains(where: { Day(($0["date"] ?? "").plain) == day })
      {
        reading.warnings.append(
          "\(document.name) holds prices of \((items[0]["date"] ?? "").plain), not of \(day)")
      }
      var list = lists[product.fuel] ?? Lists(fuel: product.fuel)
      if parts[0] != "yesterday" { list.asked[parts[0]] = day }
      for item in items {
        guard let (code, day) = read(item, product.fuel, into: &reading) else { continue }
        list.stations[day, default: []].insert(code)
      }
      lists[product.fuel] = list
    }
    let awaited = products.flatMap { lists[$0.fuel]?.awaited ?? [] }
    reading.warnings.insert(contentsOf: awaited, at: 0)
    reading.awaitsTomorrow = !awaited.isEmpty
  }

  /// Which stations have a price of a fuel on the days that were asked for, which shows whether the
  /// prices of a day are published.
  private struct Lists {
    let fuel: Fuel
    /// The days, by the words of the documents.
    var asked: [String: Day] = [:]
    var stations: [Day: Set<String>] = [:]

    /// The days whose prices most stations lack, in words.
    var awaited: [String] {
      let all = stations.values.reduce(into: Set()) { $0.formUnion($1) }
      return asked.sorted { $0.value < $1.value }.compactMap { word, day in
        let expected = word == "tomorrow" ? stations[day + -1] ?? all : all
        let found = expected.intersection(stations[day] ?? []).count
        // A fuel that few stations sell says nothing. Unleaded is always sold.
        let isTelling = fuel == .u91 || expected.count >= 20
        guard isTelling, 2 * found < expected.count || stations[day] == nil else { return nil }
        let what = fuel == .u91 ? "prices" : "prices of \(fuel.rawValue)"
        return "\(word)'s \(what) (\(day)) have been awaited since 14:30 Perth time on "
          + "\(day + -1): \(found) of \(expected.count) stations have one"
      }
    }
  }

  // MARK: RSS

  /// Returns the station and the day of a price that is read; `nil` for a reject.
  private static func read(
    _ item: [String: String], _ product: Fuel, into reading: inout Reading
  ) -> (code: String, day: Day)? {
    func text(_ name: String) -> String { (item[name] ?? "").plain }
    func raw() -> String {
      ["trading-name", "address", "location", "date", "price", "restrictions"]
        .map { "\($0)=\(text($0))" }.joined(separator: " ")
    }
    func reject(_ reason: Reject.Reason) -> (code: String, day: Day)? {
      reading.rejects.append(Reject(reason, raw: raw()))
      return nil
    }

    let name = text("trading-name")
    let suburb = text("location")
    guard !name.isEmpty, !suburb.isEmpty else { return reject(.stationMissing) }
    guard let price = Price(centsPerLitre: text("price")) else { return reject(.priceUnreadable) }
    guard let day = Day(text("date")), let effectiveAt = begin(of: day) else {
      return reject(.stampUnreadable)
    }
    let restrictions = text("restrictions")
    // A station in the low aromatic fuel programme lists that fuel as plain unleaded.
    let fuel = product == .u91 && restrictions.contains("Low Aromatic Fuel") ? .laf : product

    let station = Station(
      code: code(name: name, address: text("address"), suburb: suburb), state: .wa, name: name,
      brand: text("brand").plainOrNil, address: text("address"), suburb: suburb,
      position: Position(
        latitude: Double(text("latitude")), longitude: Double(text("longitude"))),
      isPublic: !restrictions.contains("Membership") && !restrictions.contains("Permit"),
      details: ["phone": text("phone").plainOrNil])
    reading.stations.append(station)
    reading.take(
      Observation(
        stationCode: station.code, fuel: fuel, price: price, effectiveAt: effectiveAt),
      raw: raw())
    return (station.code, day)
  }

  /// Returns the code of a station. The feed has no id, so the code is the name and the address.
  private static func code(name: String, address: String, suburb: String) -> String {
    "\(name), \(address), \(suburb)".uppercased()
  }

  /// Returns 06:00 Perth time of a day. Perth has no daylight saving time, so every clock time
  /// exists exactly once.
  private static func begin(of day: Day) -> Instant? {
    try? Zone.perth.instant(day, hour: 6)
  }

  // MARK: JSON lists of the web site

  private struct Site: Decodable {
    struct Address: Decodable {
      let line1: String
      let location: String
      let postCode: Int?
      let state: String?
      let latitude: Double?
      let longitude: Double?
    }
    struct Product: Decodable {
      let priceToday: Decimal?
      let priceTomorrow: Decimal?
    }
    let siteName: String
    let address: Address
    let product: Product
    let membershipRequired: Bool?
  }

  private static func readSites(
    _ document: Document, _ fuel: Fuel, of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    let local = Zone.perth.local(document.fetchedAt)
    let today = local.secondsOfDay < 6 * 3600 ? local.day + -1 : local.day
    for record in try decodeJSON([Lenient<Site>].self, from: document) {
      guard let site = reading.take(record) else { continue }
      let name = site.siteName.plain
      let suburb = site.address.location.plain
      let station = Station(
        code: code(name: name, address: site.address.line1.plain, suburb: suburb),
        state: site.address.state.flatMap { Australia.state(writtenAs: $0) } ?? source.state,
        name: name, address: site.address.line1.plain, suburb: suburb,
        postcode: site.address.postCode.map(String.init),
        position: Position(latitude: site.address.latitude, longitude: site.address.longitude),
        isPublic: site.membershipRequired != true)
      reading.stations.append(station)
      // A missing key proves nothing: the station may only be closed at this hour.
      let prices = [(today, site.product.priceToday), (today + 1, site.product.priceTomorrow)]
      for case (let day, let amount?) in prices {
        let raw = "\(station.code) \(day) \(amount)"
        guard let price = Price(centsPerLitre: "\(amount)"), let effectiveAt = begin(of: day) else {
          reading.rejects.append(Reject(.priceUnreadable, raw: raw))
          continue
        }
        reading.take(
          Observation(
            stationCode: station.code, fuel: fuel, price: price, effectiveAt: effectiveAt),
          raw: raw)
      }
    }
  }
}
