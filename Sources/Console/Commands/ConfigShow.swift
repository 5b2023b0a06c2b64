import Archives
import Configuration
import Feeds
import FuelModel

let configCommand = Command(
  name: "config",
  summary: "Show every setting, its value and where it came from.",
  operands: "show",
  examples: [
    ("bowser config show", "all settings, feeds and archives; secrets are masked")
  ]
) { invocation in
  guard invocation.operands == ["show"] else {
    throw UsageError.message(
      "type bowser config show; settings are changed in bowser.json5 and in the files of feeds and "
        + "archives, or by environment variables")
  }
  let folder = try invocation.configurationFolder()
  var text = "folder = \(folder)\nsettings\n" + lines(try invocation.settings())
  let secrets = Secrets(environment: invocation.environment)
  for source in try invocation.sources() {
    text += "\(source.feed)\n" + lines(source.settings)
    for name in source.secrets {
      let state: String
      do {
        state = "\(try secrets.find(feed: source.account, name: name))"
      } catch {
        state = "missing: \(error)"
      }
      text += "  secret \(name) = \(state)\n"
    }
  }
  for archive in try Archive.all(in: folder, environment: invocation.environment) {
    text += "archive \(archive.id)\n" + lines(archive.settings)
  }
  write(text)
  return .done
}

private func lines(_ settings: Settings<some SettingTable>) -> String {
  settings.entries.map { key, value, origin in
    // A connection string may contain a password.
    let isMasked = key == Invocation.Table().database.key && value != .text("")
    return "  \(key) = \(isMasked ? "***" : "\(value)".asTerminalLine)  (\(origin))\n"
  }.joined()
}
