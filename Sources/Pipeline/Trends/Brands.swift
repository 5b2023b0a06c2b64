package import Configuration
import FuelModel
package import Store

/// Reads from `brands.json5` how feeds write brands: each brand with its other spellings and codes
/// and, where a name changed hands, the days between which they mean this brand.
package func brands(file: String) throws(ConfigurationError) -> [BrandName] {
  let place = String(file.split(separator: "/").last ?? "brands.json5")
  let table = [
    Setting("brand", .text),
    // Separated by commas.
    Setting("also", .text, .text("")),
    Setting("from", .text, .text("")),
    Setting("until", .text, .text("")),
  ]
  var names: [BrandName] = []
  for settings in try Settings.list(file: file, table) {
    let brand = settings.text("brand")
    for written in [brand] + settings.text("also").split(separator: ",").map(String.init) {
      let name = BrandName(
        written: written.plain.lowercased(), brand: brand,
        from: try day("from", settings, place), until: try day("until", settings, place))
      guard !names.contains(where: { $0.written == name.written && $0.from == name.from }) else {
        throw .wrongValue(
          key: written.plain, place: place, expected: "a spelling of only one brand")
      }
      names.append(name)
    }
  }
  return names
}
