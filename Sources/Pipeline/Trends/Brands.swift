package import Configuration
import FuelModel
package import Store

private struct BrandTable: SettingTable {
  let brand = Setting.text("brand")
  // Separated by commas.
  let also = Setting.text("also", "")
  let from = Setting.text("from", "")
  let until = Setting.text("until", "")
  let membersOnly = Setting.boolean("membersOnly", false)
}

/// Reads from `brands.json5` how feeds write brands: each brand with its other spellings and codes,
/// where a name changed hands, the days between which they mean this brand, and whether it sells to
/// members only.
package func brands(file: String) throws(ConfigurationError) -> [BrandName] {
  var names: [BrandName] = []
  for settings in try Settings.list(file: file, BrandTable()) {
    let place = settings.file
    let brand = settings.brand
    for written in [brand] + settings.also.split(separator: ",").map(String.init) {
      let name = BrandName(
        written: written.plain.lowercased(), brand: brand,
        from: try day(settings.from, "from", place),
        until: try day(settings.until, "until", place), isMembersOnly: settings.membersOnly)
      guard !names.contains(where: { $0.written == name.written && $0.from == name.from }) else {
        throw .wrongValue(
          key: written.plain, place: place, expected: "a spelling of only one brand")
      }
      names.append(name)
    }
  }
  return names
}
