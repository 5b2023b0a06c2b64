import FuelModel

/// The names of fuels that mean the same everywhere, beside those of each archive. A name that may
/// mean two fuels, such as "premium", is not among them.
enum FuelName {
  private static let fuels: [String: Fuel] = {
    let names: [Fuel: [String]] = [
      .u91: [
        "u91", "ulp", "ulp 91", "unleaded", "unleaded 91", "unleaded petrol", "regular unleaded",
        "regular unleaded 91", "regular unleaded petrol", "regular 91", "91 ron", "ron 91",
        "unleaded 91 ron",
      ],
      .e10: [
        "e10", "ethanol 94", "ethanol 94 e10", "ethanol 10", "unleaded e10", "e10 unleaded",
        "e10 94", "unleaded 94",
      ],
      .p95: [
        "p95", "pulp 95", "premium 95", "premium unleaded 95", "premium 95 unleaded", "unleaded 95",
        "95 ron", "ron 95", "pulp 95 ron", "pulp 95 96 ron",
      ],
      .p98: [
        "p98", "pulp 98", "premium 98", "premium unleaded 98", "premium 98 unleaded", "unleaded 98",
        "98 ron", "ron 98", "98r", "pulp 98 ron",
      ],
      .dl: ["dl", "dsl", "diesel", "ulsd"],
      .pdl: ["pdl", "pd", "pdsl", "bdl", "premium diesel", "brand diesel", "diesel premium"],
      .lpg: ["lpg", "autogas", "liquefied petroleum gas", "liquid petroleum gas"],
      .e85: ["e85", "ethanol 85", "ethanol 105", "ethanol 105 e85"],
      .b20: ["b20", "biodiesel 20", "bio diesel 20", "biodiesel b20", "bio diesel b20"],
      .laf: ["laf", "opal", "low aromatic fuel"],
      .lrp: ["lrp", "lead replacement petrol"],
      .cng: ["cng", "compressed natural gas"],
      .lng: ["lng", "liquefied natural gas"],
    ]
    var fuels: [String: Fuel] = [:]
    for (fuel, all) in names { for name in all { fuels[name] = fuel } }
    return fuels
  }()

  /// Returns the fuel that a name means, such as `Ethanol 94 (E10)`; `nil` where it is unknown.
  static func fuel(_ name: String) -> Fuel? {
    if let fuel = fuels[folded(name)] { return fuel }
    // Both a name and its code: the two have to mean the same.
    let parts = name.split { "()[]".contains($0) }.map { folded(String($0)) }
      .filter { !$0.isEmpty }
    guard parts.count == 2, let fuel = fuels[parts[0]], fuels[parts[1]] == fuel else { return nil }
    return fuel
  }

  private static func folded(_ name: String) -> String {
    name.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
  }
}
