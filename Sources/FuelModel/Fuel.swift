/// A grade of fuel by its canonical code. The codes are those of NSW FuelCheck, wherever FuelCheck
/// has one.
///
/// Electricity is not a fuel here: chargers are priced per kWh and rejected as unsupported.
package enum Fuel: Hashable, Sendable {
  case u91, e10, p95, p98, dl, pdl, lpg, e85, b20, laf, e5, lrp, cng, lng, h2
  /// A feed's code that has not been mapped to a fuel yet. Its prices are kept under this code and
  /// are not part of any average.
  case unmapped(String)

  private var numberAndCode: (number: Int16?, code: String) {
    switch self {
    case .u91: (1, "U91")
    case .e10: (2, "E10")
    case .p95: (3, "P95")
    case .p98: (4, "P98")
    case .dl: (5, "DL")
    case .pdl: (6, "PDL")
    case .lpg: (7, "LPG")
    case .e85: (8, "E85")
    case .b20: (9, "B20")
    case .laf: (10, "LAF")
    case .e5: (11, "E5")
    case .lrp: (12, "LRP")
    case .cng: (13, "CNG")
    case .lng: (14, "LNG")
    case .h2: (15, "H2")
    case .unmapped(let code): (nil, code)
    }
  }

  /// The number under which the database stores the fuel; `nil` for an unmapped code. A number
  /// never changes once it is assigned.
  package var id: Int16? { numberAndCode.number }

  /// The range of possible prices of this fuel, in tenths of a cent. It is wide on purpose: 60 c
  /// (April 2020) and 450 c (diesel in the Kimberley, 2026) were real prices, and a narrow band
  /// that fits one year rejects real data in another. LPG was below 50 c before 2010.
  package var band: ClosedRange<Int32> {
    switch self {
    case .u91, .e10, .p95, .p98, .dl, .pdl, .b20, .laf, .e5, .lrp: 400...5_500
    case .lpg: 200...3_000
    case .e85: 500...5_500
    case .cng, .lng, .h2: 200...30_000
    case .unmapped: 1...30_000
    }
  }
}

extension Fuel: RawRepresentable, CaseIterable {
  /// The known fuels, in the order in which every list shows them.
  package static let allCases: [Fuel] = [
    .u91, .e10, .p95, .p98, .dl, .pdl, .lpg, .e85, .b20, .laf, .e5, .lrp, .cng, .lng, .h2,
  ]

  private static let places = Dictionary(
    uniqueKeysWithValues: allCases.enumerated().map { ($0.element.rawValue, $0.offset) })

  /// Whether a list shows the fuel with one code before the fuel with another: the known fuels in
  /// the order of `allCases`, then unmapped codes by their text.
  package static func precedes(_ code: String, _ other: String) -> Bool {
    (places[code] ?? places.count, code) < (places[other] ?? places.count, other)
  }

  /// The canonical code; for an unmapped fuel, the feed's own code.
  package var rawValue: String { numberAndCode.code }

  /// - Returns: `nil` for anything other than a canonical code.
  package init?(rawValue: String) {
    guard let fuel = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = fuel
  }
}
