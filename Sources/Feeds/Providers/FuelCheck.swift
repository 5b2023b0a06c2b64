import Configuration
import Foundation
import FuelModel
import HTTP

/// FuelCheck of New South Wales, whose list includes the Australian Capital Territory. Tasmania
/// publishes its own scheme through the same interface, with the same key and quota.
///
/// OAuth client credentials, then JSON; cents per litre. `lastupdated` is **UTC**, although it
/// names no time zone. The list is complete: a fuel that is out of stock is missing. Electric
/// chargers are in the list too, priced in cents per kWh. The limit is 2,500 calls a month; Bowser
/// counts token calls too, because it is not documented whether they are free.
///
/// Source: "Fuel API" at https://api.nsw.gov.au/Product/Index/22
enum FuelCheck: Provider {
  static let id = "fuelcheck"
  static let secretNames = ["key", "secret"]
  static func keysExpire(_ source: Source) -> Bool { true }

  /// Version 1 lists the ACT with New South Wales.
  static func otherStates(_ source: Source) -> [State] {
    source.settings.parameters["states"] == nil ? [.act] : []
  }

  static let fuels: [String: Fuel] = [
    "U91": .u91, "E10": .e10, "P95": .p95, "P98": .p98, "DL": .dl, "PDL": .pdl, "LPG": .lpg,
    "E85": .e85, "B20": .b20, "CNG": .cng, "LNG": .lng, "H2": .h2,
  ]

  static let parameters = ["states": ["NSW", "ACT", "TAS"]]

  // Kept documents and recordings have this name.
  private static let updateName = "news"

  /// Version 1 lists New South Wales and the ACT. Its second call returns the prices that are new
  /// since the previous call with the same key on the same day. Version 2 lists the states that the
  /// query names, such as Tasmania.
  static func calls(_ source: Source, at instant: Instant) -> [Call] {
    let headers = [
      "transactionid": UUID().uuidString,
      "requesttimestamp": instant.twelveHourUTC,
      "Content-Type": "application/json; charset=utf-8",
      "Accept": "application/json",
    ]
    if let states = source.settings.parameters["states"] {
      return [
        Call(
          name: "prices", path: "/FuelPriceCheck/v2/fuel/prices", query: [("states", states)],
          headers: headers, role: .snapshot)
      ]
    }
    let path = "/FuelPriceCheck/v1/fuel/prices"
    return [
      Call(name: "prices", path: path, headers: headers, role: .snapshot),
      Call(name: updateName, path: path + "/new", headers: headers, role: .update),
    ]
  }

  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority {
    let key = secrets["key"]?.reveal() ?? ""
    let pair = Data("\(key):\(secrets["secret"]?.reveal() ?? "")".utf8).base64EncodedString()
    let url = source.url.appending(path: "oauth/client_credential/accesstoken")
      .appending(queryItems: [URLQueryItem(name: "grant_type", value: "client_credentials")])
    let answer = try await ask(
      Request(url: url, headers: ["Authorization": "Basic \(pair)", "Accept": "application/json"]))
    // Every value of the answer is a text, and its content type is not always JSON.
    return try BearerToken.authority(answer, headers: ["apikey": key], at: instant)
  }

  // MARK: Prices

  private struct Lists: Decodable {
    let stations: [Lenient<StationRow>]
    let prices: [Lenient<PriceRow>]
  }

  private struct StationRow: Decodable {
    struct Location: Decodable {
      let latitude: Double
      let longitude: Double
    }
    let code: LooseID
    let name: String
    let brand: String?
    let address: String
    let location: Location?
    let state: String?
  }

  private struct PriceRow: Decodable {
    let stationcode: LooseID
    let fueltype: String
    let price: Decimal
    let lastupdated: String
    let state: String?

    var raw: String {
      "stationcode=\(stationcode.text) fueltype=\(fueltype.plain) price=\(price) "
        + "lastupdated=\(lastupdated.plain)" + (state.map { " state=\($0.plain)" } ?? "")
    }
  }

  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    guard let document = documents.last(where: { ["prices", updateName].contains($0.name) }) else {
      throw .refused("the document 'prices' is missing")
    }
    let isUpdate = document.name == updateName
    if isUpdate { reading.coverage = .partial }
    let lists = try decodeJSON(Lists.self, from: document)
    // An update may be empty. A complete list without stations or prices is an error.
    guard isUpdate || !lists.stations.isEmpty && !lists.prices.isEmpty else {
      throw .malformed(document: document.name, reason: "the list is empty")
    }
    // Codes are unique within a state only.
    var own: Set<String> = []
    var others: Set<String> = []
    for case .read(let row) in lists.stations {
      let station = station(row, of: source)
      if station.stateOutside(of: source.states) == nil {
        own.insert(station.code)
      } else {
        others.insert(station.code)
      }
      reading.stations.append(station)
    }
    let unclear = own.intersection(others)
    for record in lists.prices {
      guard let row = reading.take(record) else { continue }
      // Without its own state, the price of a code of two stations is that of either.
      guard row.state?.plainOrNil != nil || !unclear.contains(row.stationcode.text) else {
        reading.rejects.append(Reject(.otherState, raw: row.raw))
        continue
      }
      read(row, of: source, into: &reading)
    }
  }

  private static func read(_ row: PriceRow, of source: Source, into reading: inout Reading) {
    func reject(_ reason: Reject.Reason) { reading.rejects.append(Reject(reason, raw: row.raw)) }
    let code = row.fueltype.plain
    // Chargers: cents per kWh, and mostly 0 for "unknown". Codes with a dash are search groups of
    // the app.
    guard code != "EV", !code.contains("-") else { return reject(.unsupportedFuel) }
    guard !code.isEmpty else { return reject(.unknownFuel) }
    // A code of a station that this list does not describe is accepted, because a later list may
    // describe the station.
    guard !row.stationcode.text.isEmpty else { return reject(.stationMissing) }
    if let text = row.state?.plainOrNil {
      guard let state = Australia.state(writtenAs: text) else { return reject(.stateUnknown) }
      guard source.states.contains(state) else { return reject(.otherState) }
    }
    guard let effectiveAt = Instant(dayFirstUTC: row.lastupdated) else {
      return reject(.stampUnreadable)
    }
    guard let price = Price(centsPerLitre: "\(row.price)") else { return reject(.priceUnreadable) }
    reading.take(
      Observation(
        stationCode: row.stationcode.text, fuel: source.fuel(code, at: effectiveAt), price: price,
        effectiveAt: effectiveAt),
      raw: row.raw)
  }

  // MARK: Stations

  private static func station(_ row: StationRow, of source: Source) -> Station {
    let postal = PostalAddress(row.address.plain)
    let stated = row.state.flatMap { Australia.state(writtenAs: $0) }
    return Station(
      code: row.code.text,
      // The list of New South Wales states NSW for the stations of the ACT too. Only their
      // addresses show that they are in the ACT.
      state: stated.flatMap { $0 == .nsw ? postal.state : nil } ?? stated ?? postal.state
        ?? source.state,
      name: row.name.plain,
      brand: row.brand?.plainOrNil,
      address: row.address.plain,
      suburb: postal.suburb,
      postcode: postal.postcode,
      position: Position(
        latitude: row.location?.latitude, longitude: row.location?.longitude))
  }
}
