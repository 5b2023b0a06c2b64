package import Configuration
import FuelModel
package import Store

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
    members.append(Member(name: settings.member, number: settings.number, states: states))
  }
  guard !members.isEmpty else {
    throw .unreadable(file: file, reason: "it names no member, and a hub has at least one")
  }
  return members
}
