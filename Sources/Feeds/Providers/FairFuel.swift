import Configuration
import Foundation
import FuelModel
import HTTP

/// Victoria's Fair Fuel Open Data API (Servo Saver).
///
/// JSON; cents per litre; stamps are true UTC. By the rule of the scheme every answer shows the
/// market of **exactly one day before**, which is the feed's delay. At 06:00 Melbourne time every
/// price gets a new stamp, changed or not. Therefore no stamp is older than a day, and none means
/// the last change. A fuel is not available where `isAvailable` is false, and also where it is true
/// and the price is 9999, 9999.9 or 999.9. Ten requests a minute.
///
/// Source: "Fair Fuel Open Data API" v1.0, Service Victoria
enum FairFuel: Provider {
  static let id = "fair-fuel"
  static let secretNames = ["consumer_id"]

  static let fuels: [String: Fuel] = [
    "U91": .u91, "P95": .p95, "P98": .p98, "DSL": .dl, "PDSL": .pdl, "E10": .e10, "E85": .e85,
    "B20": .b20, "LPG": .lpg, "LNG": .lng, "CNG": .cng,
  ]

  // Numbers that stand for "not available", compared before anything else.
  private static let none: Set<Decimal> = [9999, Decimal(99_999) / 10, Decimal(9_999) / 10]

  /// A list shows the market at the instant of its newest stamp.
  static var keptAnswers: KeptAnswers? {
    KeptAnswers(
      name: "vic-servo-saver",
      document: { head in
        head.contains("\"brands\"")
          ? "brands" : head.contains("\"fuelPriceDetails\"") ? "prices" : nil
      },
      expected: "fuelPriceDetails",
      shownAt: { text in
        text.matches(of: /"updatedAt"\s*:\s*"([^"]+)"/).compactMap { Instant(iso: String($0.1)) }
          .max()
      })
  }

  static func calls(_ source: Source, at instant: Instant) -> [Call] {
    // The provider requires a new id for every request.
    func headers() -> [String: String] {
      ["x-transactionid": UUID().uuidString.lowercased(), "Accept": "application/json"]
    }
    return [
      Call(
        name: "brands", path: "/fuel/reference-data/brands", headers: headers(), role: .reference),
      Call(name: "prices", path: "/fuel/prices", headers: headers()),
    ]
  }

  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority {
    Authority(headers: ["x-consumer-id": secrets["consumer_id"]?.reveal() ?? ""])
  }

  // MARK: Prices

  private struct Detail: Listed {
    static let listKey = "fuelPriceDetails"
    let fuelStation: StationRow
    let fuelPrices: [Lenient<PriceRow>]
  }

  private struct StationRow: Decodable {
    struct Location: Decodable {
      let latitude: Double?
      let longitude: Double?
    }
    let id: String
    let name: String
    let brandId: String?
    let address: String
    // It is only shown. One that is not a text must not cost the station its prices.
    let contactPhone: Lenient<String>?
    let location: Location?
  }

  private struct PriceRow: Decodable {
    let fuelType: String
    let price: Decimal?
    let isAvailable: Bool
    let updatedAt: String
  }

  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    let named = Dictionary(documents.map { ($0.name, $0) }) { _, last in last }
    guard let document = named["prices"] else {
      throw .refused("the document 'prices' is missing")
    }
    let brands = try decodeNames(of: Brand.self, from: named["brands"])
    for record in try decodeList(of: Detail.self, from: document) {
      guard let detail = reading.take(record) else { continue }
      guard let code = detail.fuelStation.id.plainOrNil else {
        reading.rejects.append(Reject(.stationMissing, raw: detail.fuelStation.name.plain))
        continue
      }
      reading.stations.append(station(detail.fuelStation, code, brands))
      for record in detail.fuelPrices {
        guard let row = reading.take(record) else { continue }
        read(row, at: code, of: source, into: &reading)
      }
    }
  }

  private static func read(
    _ row: PriceRow, at code: String, of source: Source, into reading: inout Reading
  ) {
    func raw() -> String {
      "id=\(code) fuelType=\(row.fuelType.plain) price=\(row.price.map { "\($0)" } ?? "null") "
        + "isAvailable=\(row.isAvailable) updatedAt=\(row.updatedAt.plain)"
    }
    func reject(_ reason: Reject.Reason) { reading.rejects.append(Reject(reason, raw: raw())) }
    guard let fuelCode = row.fuelType.plainOrNil else { return reject(.unknownFuel) }
    guard let effectiveAt = Instant(iso: row.updatedAt) else { return reject(.stampUnreadable) }
    var price: Price?
    if row.isAvailable, row.price.map({ !none.contains($0) }) ?? true {
      price = row.price.flatMap { Price(centsPerLitre: "\($0)") }
      guard price != nil else { return reject(.priceUnreadable) }
    }
    reading.take(
      Observation(
        stationCode: code, fuel: source.fuel(fuelCode, at: effectiveAt), price: price,
        effectiveAt: effectiveAt),
      raw: raw())
  }

  // MARK: Stations

  private struct Brand: Listed, NamedRecord {
    static let listKey = "brands"
    let id: String
    let name: String
  }

  /// Reads an address such as `1 Linsell Boulevard, Cranbourne East, 3977`: it has no state, and
  /// the suburb may be in upper or lower case.
  private static func station(
    _ row: StationRow, _ code: String, _ brands: [String: String]
  ) -> Station {
    let address = row.address.plain
    var parts = address.split(separator: ",").map { String($0).plain }
    var postcode: String?
    if parts.last?.isPostcode ?? false { postcode = parts.removeLast() }
    var phone: String?
    if case .read(let text)? = row.contactPhone { phone = text.plainOrNil }
    return Station(
      code: code, state: .vic, name: row.name.plain,
      // A brand that the brand list does not contain is shown by its id until the list contains it.
      brand: row.brandId.flatMap { brands.isEmpty ? nil : brands[$0] ?? $0.plainOrNil },
      address: address, suburb: parts.count > 1 ? parts.last : nil, postcode: postcode,
      position: Position(
        latitude: row.location?.latitude, longitude: row.location?.longitude),
      details: ["phone": phone])
  }
}
