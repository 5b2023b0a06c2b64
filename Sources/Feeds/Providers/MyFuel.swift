import Configuration
import Foundation
import FuelModel
import HTTP

/// MyFuel NT of the Northern Territory, by its public page of results or by its interface for
/// account holders (`parameters: { interface: 'page' }` or `'api'`).
///
/// Cents per litre. **No price has a stamp**: a price holds at the instant at which it is seen.
/// Since 2026 prices change at 14:30 Darwin time with a day's notice; a scheduled price is the next
/// one. 0 and null mean that there is no price. Many communities sell low aromatic fuel instead of
/// unleaded.
/// Source: https://myfuelnt.nt.gov.au. No original answer is public, so both readers are tolerant.
enum MyFuel: Provider {
  static let id = "myfuel"
  static let hasFollowingCalls = true

  static let fuels: [String: Fuel] = [
    "U91": .u91, "P95": .p95, "P98": .p98, "DL": .dl, "PD": .pdl, "E10": .e10, "E85": .e85,
    "B20": .b20, "LPG": .lpg, "LAF": .laf,
  ]

  // The interface refuses longer lists.
  private static let outletsPerCall = 10

  static let parameters = ["interface": ["page", "api"]]

  private static func isPage(_ source: Source) -> Bool {
    source.settings.parameters["interface"] != "api"
  }

  static let secretNames = ["username", "password"]

  static func secrets(_ source: Source) -> [String] { isPage(source) ? [] : secretNames }

  static func keysExpire(_ source: Source) -> Bool { !isPage(source) }

  static func calls(_ source: Source, at instant: Instant) -> [Call] {
    isPage(source)
      ? [Call(name: "page", path: "/Home/Results", isPage: true)]
      : [Call(name: "outlets", path: "/api/v1/getReferenceData")]
  }

  static func codes(in documents: [Document]) throws(FeedError) -> [String] {
    guard documents.count == 1, let list = documents.first, list.name == "outlets" else {
      return []
    }
    let codes = try decodeJSON(Reference.self, from: list).outlets.compactMap { record in
      if case .read(let outlet) = record { outlet.id.text } else { nil }
    }
    guard !codes.isEmpty else {
      throw .malformed(document: list.name, reason: "the list is empty")
    }
    return codes
  }

  /// Returns the calls for the prices of outlets, ten outlets in each call.
  static func calls(_ source: Source, for codes: [String]) -> [Call] {
    stride(from: 0, to: codes.count, by: outletsPerCall).map { start in
      let batch = codes[start..<min(start + outletsPerCall, codes.count)]
      let body = (try? JSONEncoder().encode(["FuelOutletIdentifier": Array(batch)])) ?? Data()
      return Call(
        name: "prices-\(start / outletsPerCall + 1)",
        path: "/api/v1/getFuelPrice/fuelOutletIdentifier",
        headers: ["Content-Type": "application/json", "Accept": "application/json"],
        body: [UInt8](body))
    }
  }

  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority {
    guard !isPage(source) else { return Authority(headers: [:]) }
    func encoded(_ name: String) -> String {
      let allowed = CharacterSet.alphanumerics
      return (secrets[name]?.reveal() ?? "").addingPercentEncoding(withAllowedCharacters: allowed)
        ?? ""
    }
    let form =
      "grant_type=password&username=\(encoded("username"))&password=\(encoded("password"))"
    let answer: Response
    do {
      answer = try await ask(
        Request(
          method: "POST", url: source.url.appending(path: "api/token"),
          headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.utf8)))
    } catch {
      // The provider locks an account after wrong passwords, and answers 400 where it refuses one.
      if case .unavailable(_, _, status: 400) = error {
        throw .notAllowed(document: "token", status: 400)
      }
      throw error
    }
    return try BearerToken.authority(answer, at: instant)
  }

  // MARK: Reading

  private struct Page: Decodable {
    let outlets: [Lenient<Outlet>]
    let brands: [Lenient<Brand>]?
    enum CodingKeys: String, CodingKey {
      case outlets = "FuelOutlet"
      case brands = "FuelBrandList"
    }
  }

  private struct Reference: Decodable {
    let outlets: [Lenient<Outlet>]
    let brands: [Lenient<Brand>]?
    enum CodingKeys: String, CodingKey {
      case outlets = "Outlets"
      case brands = "Brands"
    }
  }

  private struct Brand: NamedRecord {
    let id: String
    let name: String
    enum CodingKeys: String, CodingKey {
      case id = "BrandIdentifier"
      case name = "BrandName"
    }
  }

  private struct Outlet: Decodable {
    let id: LooseID
    let name: String
    let brand: String?
    let address: String?
    let suburb: String?
    let postcode: LooseID?
    let latitude: Double?
    let longitude: Double?
    let isActive: Bool?
    let fuels: [Lenient<FuelRow>]?

    enum CodingKeys: String, CodingKey {
      case id = "FuelOutletIdentifier"
      case name = "OutletName"
      case brand = "FuelBrandIdentifier"
      case address = "Address"
      case suburb = "Suburb"
      case postcode = "Postcode"
      case latitude = "Latitude"
      case longitude = "Longitude"
      case isActive = "IsActive"
      case fuels = "AvailableFuels"
    }
  }

  private struct PriceList: Decodable {
    let id: LooseID
    let fuels: [Lenient<FuelRow>]
    enum CodingKeys: String, CodingKey {
      case id = "FuelOutletIdentifier"
      case fuels = "AvailableFuel"
    }
  }

  /// An amount as a number or a text; answers with either have been seen.
  private struct Amount: Decodable {
    let text: String
    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let number = try? value.decode(Decimal.self) {  // not a number: it must be a text
        text = "\(number)"
      } else {
        text = try value.decode(String.self).plain
      }
    }
    var isNone: Bool { text.isEmpty || Decimal(string: text) == 0 }
  }

  private struct FuelRow: Decodable {
    let code: String
    let price: Amount?
    // The page writes `isAvailable`, the interface `IsAvailable`.
    let isAvailableOnPage: Bool?
    let isAvailableInInterface: Bool?
    let scheduled: Amount?
    let isScheduledAvailable: Bool?

    private enum CodingKeys: String, CodingKey {
      case code = "FuelCode"
      case price = "Price"
      case isAvailableOnPage = "isAvailable"
      case isAvailableInInterface = "IsAvailable"
      case scheduled = "PriceScheduled"
      case isScheduledAvailable = "isAvailableScheduled"
    }

    var isAvailable: Bool? { isAvailableOnPage ?? isAvailableInInterface }

    func raw(_ outlet: String) -> String {
      "FuelOutletIdentifier=\(outlet) FuelCode=\(code.plain) Price=\(price?.text ?? "null") "
        + "isAvailable=\(isAvailable.map(String.init) ?? "none") "
        + "PriceScheduled=\(scheduled?.text ?? "null")"
    }
  }

  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    guard let first = documents.first else { throw .refused("no documents") }
    let outlets: [Lenient<Outlet>]
    let brands: [String: String]
    if first.name == "page" {
      let page = try decodeJSON(Page.self, from: try pageData(first))
      (outlets, brands) = (page.outlets, names(page.brands))
    } else {
      let reference = try decodeJSON(Reference.self, from: first)
      (outlets, brands) = (reference.outlets, names(reference.brands))
    }
    guard !outlets.isEmpty else {
      throw .malformed(document: first.name, reason: "the list of outlets is empty")
    }
    let known = read(outlets, brands, first.fetchedAt, of: source, into: &reading)
    guard first.name != "page" else { return }
    var answered: Set<String> = []
    // An answer may have no prices.
    for document in documents.dropFirst() where document.emptiness != "[]" {
      for record in try decodeJSON([Lenient<PriceList>].self, from: document) {
        guard let list = reading.take(record) else { continue }
        guard known.contains(list.id.text) else {
          reading.rejects.append(Reject(.stationMissing, raw: list.id.text))
          continue
        }
        answered.insert(list.id.text)
        for record in list.fuels {
          guard let row = reading.take(record) else { continue }
          read(row, at: list.id.text, document.fetchedAt, of: source, into: &reading)
        }
      }
    }
    // A requested outlet without an answer means a lost page of the list, not a closed outlet.
    guard answered.count * 10 >= known.count * 9 else {
      throw .refused("prices of only \(answered.count) of \(known.count) outlets were received")
    }
    if answered.count < known.count { reading.coverage = .partial }
  }

  /// Reads the outlets, and their prices where they state them. Returns the codes of the outlets.
  private static func read(
    _ outlets: [Lenient<Outlet>], _ brands: [String: String], _ seenAt: Instant,
    of source: Source, into reading: inout Reading
  ) -> Set<String> {
    var known: Set<String> = []
    for record in outlets {
      guard let outlet = reading.take(record) else { continue }
      guard !outlet.id.text.isEmpty else {
        reading.rejects.append(Reject(.stationMissing, raw: outlet.name.plain))
        continue
      }
      known.insert(outlet.id.text)
      reading.stations.append(station(outlet, brands))
      guard outlet.isActive != false else { continue }
      for record in outlet.fuels ?? [] {
        guard let row = reading.take(record) else { continue }
        read(row, at: outlet.id.text, seenAt, of: source, into: &reading)
      }
    }
    return known
  }

  private static func read(
    _ row: FuelRow, at outlet: String, _ seenAt: Instant, of source: Source,
    into reading: inout Reading
  ) {
    guard let code = row.code.plainOrNil else {
      reading.rejects.append(Reject(.unknownFuel, raw: row.raw(outlet)))
      return
    }
    let fuel = source.fuel(code, at: seenAt)
    func take(_ amount: Amount?, _ isOffered: Bool, from effectiveAt: Instant?) {
      var price: Price?
      if isOffered, let amount, !amount.isNone {
        price = Price(centsPerLitre: amount.text)
        guard price != nil else {
          reading.rejects.append(Reject(.priceUnreadable, raw: row.raw(outlet)))
          return
        }
      }
      reading.take(
        Observation(stationCode: outlet, fuel: fuel, price: price, effectiveAt: effectiveAt),
        raw: row.raw(outlet))
    }
    take(row.price, row.isAvailable != false, from: nil)
    // Where no price is scheduled, the present price continues.
    if let scheduled = row.scheduled, !scheduled.isNone, row.isScheduledAvailable != false {
      take(scheduled, true, from: nextChange(after: seenAt))
    }
  }

  /// Returns the next 14:30 Darwin time. Darwin has no daylight saving time, so every clock time
  /// exists exactly once.
  private static func nextChange(after instant: Instant) -> Instant? {
    let local = Zone.darwin.local(instant)
    let day = local.secondsOfDay < 14 * 3_600 + 30 * 60 ? local.day : local.day + 1
    return try? Zone.darwin.instant(day, hour: 14, minute: 30)
  }

  private static func station(_ outlet: Outlet, _ brands: [String: String]) -> Station {
    let address = outlet.address?.plain ?? ""
    return Station(
      code: outlet.id.text, state: .nt, name: outlet.name.plain,
      brand: outlet.brand.flatMap { brands[$0] ?? $0.plainOrNil },
      address: address, suburb: outlet.suburb?.plainOrNil,
      // Postcodes of the territory begin with 0, which is lost where they are numbers.
      postcode: outlet.postcode.map {
        String(repeating: "0", count: max(0, 4 - $0.text.count)) + $0.text
      },
      position: Position(latitude: outlet.latitude, longitude: outlet.longitude),
      isPublic: !address.uppercased().contains("PERMIT ONLY"))
  }

  // MARK: The page

  /// Returns the JSON in the `value` of the element with the id `serverJson`, whatever the order
  /// and the quotes of its attributes.
  private static func pageData(_ document: Document) throws(FeedError) -> Document {
    if let empty = document.emptiness {
      throw .malformed(document: document.name, reason: Document.isEmpty(empty))
    }
    guard let text = String(validating: document.bytes, as: UTF8.self) else {
      throw .malformed(document: document.name, reason: "not UTF-8")
    }
    guard let id = text.firstRange(of: /\bid\s*=\s*["']serverJson["']/),
      let start = text[..<id.lowerBound].lastIndex(of: "<"),
      let found = text[start...].firstMatch(of: /\bvalue\s*=\s*(?:"([^"]*)"|'([^']*)')/),
      !text[start..<found.range.lowerBound].contains(">"),
      let value = found.1 ?? found.2
    else { throw .malformed(document: document.name, reason: "the page has no serverJson") }
    return Document(
      name: document.name, bytes: Array(unescaped(value).utf8), fetchedAt: document.fetchedAt)
  }

  /// Replaces the character references of HTML; an unknown one stays as it is.
  private static func unescaped(_ text: Substring) -> String {
    String(text).replacing(/&(#x[0-9A-Fa-f]{1,6}|#[0-9]{1,7}|[a-z]{2,6});/) { match in
      let name = match.1
      if name.hasPrefix("#") {
        let number =
          name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        return number.flatMap(Unicode.Scalar.init).map { String($0) } ?? String(match.0)
      }
      let known = ["quot": "\"", "amp": "&", "apos": "'", "lt": "<", "gt": ">", "nbsp": " "]
      return known[String(name)] ?? String(match.0)
    }
  }
}
