package import Configuration
import FuelModel
package import Store

/// Reads how feeds write brands from `brands.json5`: each brand with its other spellings and codes, and
/// the days between which they mean it where a name changed hands.
package func brands(file: String) throws(ConfigurationError) -> [BrandName] {
  let place = String(file.split(separator: "/").last ?? "brands.json5")
  guard case .list(let entries) = try Value.read(file: file) else {
    throw .unreadable(file: file, reason: "the top of the file is not [ ... ]")
  }
  let table = [
    Setting("brand", .text),
    // Separated by commas.
    Setting("also", .text, .text("")),
    Setting("from", .text, .text("")),
    Setting("until", .text, .text("")),
  ]
  var names: [BrandName] = []
  for entry in entries {
    guard case .table(let fields) = entry else {
      throw .unreadable(file: file, reason: "an entry is not { ... }")
    }
    let settings = try Settings(
      table, file: fields, place: place, variablePrefix: "", environment: [:])
    let brand = settings.text("brand")
    for written in [brand] + settings.text("also").split(separator: ",").map(String.init) {
      let name = BrandName(
        written: written.plain.lowercased(), brand: brand,
        from: try day("from", settings, place), until: try day("until", settings, place))
      guard !names.contains(where: { $0.written == name.written && $0.from == name.from }) else {
        throw .wrongValue(key: written.plain, place: place, expected: "a spelling of one brand")
      }
      names.append(name)
    }
  }
  return names
}
