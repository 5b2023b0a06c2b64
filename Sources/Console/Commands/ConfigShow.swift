import Archives
import Configuration
import Feeds
import FuelModel

let configCommand = Command(
  name: "config",
  summary: "Show every setting, its value and where it came from.",
  operands: "show",
  examples: [
    ("bowser config show", "all settings, feeds and archives; secrets are masked"),
    ("bowser config show --json", "the same for programs"),
  ],
  options: [.init(name: "json", value: nil, about: "one JSON object")],
  notes: """
    The JSON object has version (1), folder and sections, a list of objects with name, settings (each
    with key, value and origin) and secrets (each with name and state).
    """
) { invocation in
  guard invocation.operands == ["show"] else {
    throw UsageError.message(
      "type bowser config show; settings are changed in bowser.json5 and in the files of feeds and "
        + "archives, or by environment variables")
  }
  var shown = Shown(folder: try invocation.configurationFolder())
  shown.add("settings", try invocation.settings())
  let secrets = Secrets(environment: invocation.environment)
  for source in try invocation.sources() {
    shown.add(source.feed, source.settings)
    for name in source.secrets {
      let state: String
      do {
        state = "\(try secrets.find(feed: source.account, name: name))"
      } catch {
        state = "missing: \(error)"
      }
      shown.sections[shown.sections.count - 1].secrets.append(.init(name: name, state: state))
    }
  }
  for archive in try Archive.all(in: shown.folder, environment: invocation.environment) {
    shown.add("archive \(archive.id)", archive.settings)
  }
  if invocation.flags.contains("json") {
    try writeJSON(shown)
  } else {
    write(shown.text)
  }
  return .done
}

private struct Shown: Encodable {
  struct Setting: Encodable {
    var key: String
    var value: String
    var origin: String
  }
  struct Secret: Encodable {
    var name: String
    var state: String
  }
  struct Section: Encodable {
    var name: String
    var settings: [Setting]
    var secrets: [Secret] = []
  }

  var version = 1
  var folder: String
  var sections: [Section] = []

  init(folder: String) { self.folder = folder }

  mutating func add(_ name: String, _ settings: Settings<some SettingTable>) {
    let table = Invocation.Table()
    sections.append(
      Section(
        name: name,
        settings: settings.entries.map { key, value, origin in
          // A connection string may contain a password, and the path of a watcher's address is as
          // secret as one.
          let isMasked =
            [table.database.key, table.pingUrl.key].contains(key) && value != .text("")
          return Setting(key: key, value: isMasked ? "***" : "\(value)", origin: "\(origin)")
        }))
  }

  var text: String {
    "folder = \(folder)\n"
      + sections.map { section in
        section.name + "\n"
          + section.settings.map { "  \($0.key) = \($0.value.asTerminalLine)  (\($0.origin))\n" }
          .joined()
          + section.secrets.map { "  secret \($0.name) = \($0.state)\n" }.joined()
      }.joined()
  }
}
