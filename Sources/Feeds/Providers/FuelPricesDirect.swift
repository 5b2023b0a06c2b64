import Configuration
import Foundation
import FuelModel
import HTTP

/// The interface for publishers of Queensland and South Australia ("FPPDirect API OUT").
///
/// JSON; prices in **tenths of a cent**, 9999 for "not available". Stamps are UTC, although they do
/// not state it, and mean the last report, not the last change. Each method may be called once a
/// minute, reference lists once a day; a breach costs the token. The list contains the whole state:
/// a price that is missing is not offered.
///
/// Source: "Fuel Prices QLD Direct API (OUT)" v1.5, https://www.fuelpricesqld.com.au;
/// "SAFPIS API (OUT)" v1.2, https://www.safuelpricinginformation.com.au
enum FuelPricesDirect: Provider {
  static let id = "fuel-prices-direct"
  static let secretNames = ["token"]

  static let fuels: [String: Fuel] = [
    "2": .u91, "3": .dl, "4": .lpg, "5": .p95, "6": .dl, "8": .p98, "11": .lrp, "12": .e10,
    "13": .e5, "14": .pdl, "16": .b20, "19": .e85, "21": .laf, "22": .cng, "23": .lng,
  ]
  // Combined search groups, which are not fuels.
  private static let groups: Set<Int64> = [999, 1000]

  // The states by their ids on level 3 of the region list.
  private static let states: [Int64: State] = [
    1: .qld, 2: .nsw, 3: .vic, 4: .sa, 5: .wa, 6: .act, 7: .tas, 8: .nt,
  ]

  static let parameters = ["geoRegionId": states.keys.sorted().map(String.init)]

  static func calls(_ source: Source, at instant: Instant) -> [Call] {
    let region = source.settings.parameters["geoRegionId"] ?? "1"
    let country = [("countryId", "21")]
    let state = country + [("geoRegionLevel", "3"), ("geoRegionId", region)]
    return [
      Call(
        name: "brands", path: "/Subscriber/GetCountryBrands", query: country, role: .reference),
      Call(
        name: "regions", path: "/Subscriber/GetCountryGeographicRegions", query: country,
        role: .reference),
      Call(
        name: "sites", path: "/Subscriber/GetFullSiteDetails", query: state, role: .reference),
      Call(name: "prices", path: "/Price/GetSitesPrices", query: state),
    ]
  }

  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority {
    Authority(headers: [
      "Authorization": "FPDAPI SubscriberToken=\(secrets["token"]?.reveal() ?? "")",
      "Content-Type": "application/json",
      // Without this header the service may answer in XML.
      "Accept": "application/json",
    ])
  }

  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError) {
    let named = Dictionary(documents.map { ($0.name, $0) }) { _, last in last }
    if let sites = named["sites"] {
      try readStations(
        sites, brands: try decodeNames(of: Brand.self, from: named["brands"]),
        suburbs: try suburbNames(named["regions"]), source: source, into: &reading)
    }
    if let prices = named["prices"] {
      // For a wrong region the list is empty.
      for record in try decodeList(of: PriceRow.self, from: prices) {
        guard let row = reading.take(record) else { continue }
        read(row, of: source, into: &reading)
      }
    } else {
      reading.coverage = .partial
    }
  }

  // MARK: Prices

  private struct PriceRow: Listed {
    static let listKey = "SitePrices"
    let site: LooseID
    let fuel: Int64
    let stamp: String
    let amount: Decimal

    enum CodingKeys: String, CodingKey {
      case site = "SiteId"
      case fuel = "FuelId"
      case stamp = "TransactionDateUtc"
      case amount = "Price"
    }

    var raw: String {
      "SiteId=\(site.text) FuelId=\(fuel) TransactionDateUtc=\(stamp.plain) Price=\(amount)"
    }
  }

  private static func read(_ row: PriceRow, of source: Source, into reading: inout Reading) {
    func reject(_ reason: Reject.Reason) { reading.rejects.append(Reject(reason, raw: row.raw)) }
    guard !row.site.text.isEmpty else { return reject(.stationMissing) }
    guard !groups.contains(row.fuel) else { return reject(.unsupportedFuel) }
    guard let effectiveAt = Instant(iso: row.stamp, assumingUTC: true) else {
      return reject(.stampUnreadable)
    }
    // Compared before any division: 9999 is a sentinel, not 999.9 cents.
    let price = row.amount == 9999 ? nil : Price(tenthsText: "\(row.amount)")
    guard price != nil || row.amount == 9999 else { return reject(.priceUnreadable) }
    reading.take(
      Observation(
        stationCode: row.site.text, fuel: source.fuel(String(row.fuel), at: effectiveAt),
        price: price, effectiveAt: effectiveAt),
      raw: row.raw)
  }

  // MARK: Reference lists

  private struct Brand: Listed, NamedRecord {
    static let listKey = "Brands"
    let id: Int64
    let name: String

    enum CodingKeys: String, CodingKey {
      case id = "BrandId"
      case name = "Name"
    }
  }

  private struct Region: Listed {
    static let listKey = "GeographicRegions"
    let level: Int
    let id: Int64
    let name: String

    enum CodingKeys: String, CodingKey {
      case level = "GeoRegionLevel"
      case id = "GeoRegionId"
      case name = "Name"
    }
  }

  /// Returns suburb names by id. Ids are unique only within a level: 257 of them occur on two
  /// levels.
  private static func suburbNames(_ document: Document?) throws(FeedError) -> [Int64: String] {
    guard let document else { return [:] }
    var names: [Int64: String] = [:]
    for case .read(let region) in try decodeList(
      of: Region.self, from: document, mayBeEmpty: true) where region.level == 1
    {
      names[region.id] = region.name.plain
    }
    return names
  }

  private struct Site: Listed {
    static let listKey = "S"
    let id: LooseID
    let address: String?
    let name: String
    let brand: Int64?
    let postcode: String?
    let suburb: Int64?
    let state: Int64?
    let latitude: Double?
    let longitude: Double?

    enum CodingKeys: String, CodingKey {
      case id = "S"
      case address = "A"
      case name = "N"
      case brand = "B"
      case postcode = "P"
      case suburb = "G1"
      case state = "G3"
      case latitude = "Lat"
      case longitude = "Lng"
    }
  }

  private static func readStations(
    _ document: Document, brands: [Int64: String], suburbs: [Int64: String], source: Source,
    into reading: inout Reading
  ) throws(FeedError) {
    for case .read(let site) in try decodeList(of: Site.self, from: document)
    where !site.id.text.isEmpty {
      reading.stations.append(
        Station(
          code: site.id.text,
          state: site.state.flatMap { states[$0] } ?? source.state,
          name: site.name.plain,
          // A brand that the brand list does not contain is shown by its number until the list
          // contains it.
          brand: site.brand.flatMap { brands.isEmpty ? nil : brands[$0] ?? String($0) },
          address: site.address?.plain ?? "",
          suburb: site.suburb.flatMap { suburbs[$0] },
          postcode: site.postcode?.plainOrNil,
          position: Position(latitude: site.latitude, longitude: site.longitude)))
    }
  }
}
