package import Configuration
import Foundation
import FuelModel
package import Store

private struct RegionTable: SettingTable {
  let region = Setting.text("region")
  let name = Setting.text("name")
  let kind = Setting.choice("kind", ["capital", "area", "rest"], "area")
  let state = Setting.choice("state", Australia.states.map(\.code) + [""], "")
  let centre = Setting.texts("centre", [:])
  let radiusKilometres = Setting.integer("radiusKilometres", 0...3_000, 0)
  // For stations without a position, such as '2000-2234, 2740-2786'.
  let postcodes = Setting.text("postcodes", "")
  let from = Setting.text("from", "")
  let until = Setting.text("until", "")
}

/// Reads the regions that averages are made of. The nation and its states are always among them;
/// capitals and other areas come from `regions.json5`.
package func regions(file: String) throws(ConfigurationError) -> [Region] {
  var regions = [
    Region(
      code: Australia.code, name: Australia.name, kind: "nation", state: nil, centre: nil,
      radiusKilometres: nil)
  ]
  for state in Australia.states {
    regions.append(
      Region(
        code: state.code, name: state.name, kind: "state", state: state, centre: nil,
        radiusKilometres: nil))
  }
  // Before the entries of the file stand the nation and its states.
  let before = regions.count
  for settings in try Settings.list(file: file, RegionTable()) {
    let place = settings.file
    let isRest = settings.kind == "rest"
    let position = isRest ? nil : try centre(settings, place)
    if isRest && settings.state.isEmpty {
      throw .wrongValue(
        key: "state", place: place, expected: "the state that the region is the rest of")
    }
    if !isRest && settings.radiusKilometres == 0 {
      throw .missingKey("radiusKilometres", place: place)
    }
    let code = settings.region
    // The code is part of file names and addresses.
    guard code.wholeMatch(of: /[A-Za-z0-9-]{1,60}/) != nil else {
      throw .wrongValue(key: "region", place: place, expected: "letters, digits and dashes")
    }
    if let other = regions.firstIndex(where: { $0.code.lowercased() == code.lowercased() }) {
      let owner = other < before ? regions[other].name : "entry \(other - before + 1)"
      throw .wrongValue(
        key: "region", place: place,
        expected: "a code that no other region has, and '\(code)' is that of \(owner)")
    }
    regions.append(
      Region(
        code: code, name: settings.name, kind: settings.kind,
        state: Australia.state(settings.state), centre: position,
        radiusKilometres: isRest ? nil : Double(settings.radiusKilometres),
        postcodes: try postcodes(settings.postcodes, place),
        from: try day(settings.from, "from", place),
        until: try day(settings.until, "until", place)))
  }
  return regions
}

private func centre(
  _ settings: Settings<RegionTable>, _ place: String
) throws(ConfigurationError) -> Position {
  let centre = settings.centre
  guard let latitude = centre["latitude"].flatMap(Double.init),
    let longitude = centre["longitude"].flatMap(Double.init), centre.count == 2,
    let position = Position(latitude: latitude, longitude: longitude), Australia.contains(position)
  else {
    throw .wrongValue(
      key: "centre", place: place,
      expected: "{ latitude: ..., longitude: ... } in \(Australia.name)")
  }
  return position
}

private func postcodes(_ text: String, _ place: String) throws(ConfigurationError) -> [String] {
  try text.split(separator: ",").map { part throws(ConfigurationError) in
    let ends = part.filter { $0 != " " }.split(separator: "-").map(String.init)
    if ends.count == 2, ends[0].count == ends[1].count, ends[0] > ends[1] {
      throw .wrongValue(
        key: "postcodes", place: place, expected: "ranges that end after they begin")
    }
    guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last,
      ends.allSatisfy(\.isPostcode)
    else {
      throw .wrongValue(
        key: "postcodes", place: place, expected: "postcodes and ranges, such as 2000-2234, 2745")
    }
    return "\(first)-\(last)"
  }
}

/// Reads a day; `nil`: it is left out.
///
/// - Throws: `ConfigurationError.wrongValue` where the text is not a day.
func day(
  _ text: String, _ key: String, _ place: String
) throws(ConfigurationError) -> Day? {
  if text.isEmpty { return nil }
  guard let day = Day(text) else {
    throw .wrongValue(key: key, place: place, expected: "a day of the calendar such as 2026-07-01")
  }
  return day
}

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

private struct EventTable: SettingTable {
  let on = Setting.text("on")
  let state = Setting.choice("state", Australia.states.map(\.code) + [""], "")
  let fuel = Setting.choice("fuel", Fuel.allCases.map(\.rawValue) + [""], "")
  let what = Setting.text("what")
  // In cents, with at most two decimals.
  let cpl = Setting.decimal("cpl", -500...500)
}

/// Reads events that affected the whole market from `events.json5`. A configuration without that
/// file has none.
package func marketEvents(file: String) throws(ConfigurationError) -> [Columns] {
  guard FileManager.default.fileExists(atPath: file) else { return [] }
  var events: [Columns] = []
  for settings in try Settings.list(file: file, EventTable()) {
    let place = settings.file
    guard let day = try day(settings.on, "on", place), !settings.what.isEmpty else {
      throw .wrongValue(
        key: "on", place: place,
        expected: "a day of the calendar such as 2026-07-01, with a text in what")
    }
    let (state, fuel) = (settings.state, settings.fuel)
    events.append([
      "day": day.description, "state": state.isEmpty ? nil : state,
      "fuel": fuel.isEmpty ? nil : fuel, "what": settings.what.plain, "cpl": settings.cpl,
    ])
  }
  return events
}

private struct MemberTable: SettingTable {
  let member = Setting.text("member")
  let number = Setting.integer("number", 1...200)
  // Separated by commas.
  let states = Setting.text("states")
}

/// Reads from `hub.json5` which members a hub has: their names, their numbers and their states.
package func members(file: String) throws(ConfigurationError) -> [Member] {
  var members: [Member] = []
  for settings in try Settings.list(file: file, MemberTable()) {
    let place = settings.file
    let codes = settings.states.split(separator: ",").map { $0.filter { $0 != " " } }
    let states = codes.compactMap { Australia.state($0) }
    guard !codes.isEmpty, states.count == codes.count, Set(codes).count == codes.count else {
      throw .wrongValue(
        key: "states", place: place,
        expected: "states with commas between them, each once, such as 'NSW, ACT'")
    }
    for (key, isTaken) in [
      ("member", members.contains { $0.name == settings.member }),
      ("number", members.contains { $0.number == settings.number }),
      ("states", members.contains { $0.states.contains(where: states.contains) }),
    ] where isTaken {
      throw .wrongValue(key: key, place: place, expected: "of no other member")
    }
    guard settings.member.wholeMatch(of: /[a-z][a-z0-9_]{0,30}/) != nil else {
      throw .wrongValue(
        key: "member", place: place,
        expected: "small letters, digits and _, as its server is called")
    }
    members.append((name: settings.member, number: settings.number, states: states))
  }
  guard !members.isEmpty else {
    throw .unreadable(file: file, reason: "it names no member, and a hub has at least one")
  }
  return members
}
