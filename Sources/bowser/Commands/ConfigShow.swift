import Archives
import Configuration
import Feeds

let configCommand = Command(
  name: "config",
  summary: "Show every setting, its value and where it came from.",
  operands: "show",
  examples: [("bowser config show", "all settings, feeds and archives; secrets are masked")],
  options: []
) { invocation in
  guard invocation.operands == ["show"] else {
    throw UsageError.message("config show is all there is")
  }
  func section(_ title: String, _ settings: Settings) {
    write("\(title)\n")
    for (key, value, origin) in settings.entries {
      // A connection string may hold a password.
      let shown = key == "database" && value != .text("") ? "***" : "\(value)"
      write("  \(key) = \(shown)  (\(origin))\n")
    }
  }
  write("folder = \(try invocation.configurationFolder())\n")
  section("settings", try invocation.settings())
  let secrets = Secrets(environment: invocation.environment)
  for source in try invocation.sources() {
    section(source.feed, source.settings)
    for name in source.secrets {
      let state: String
      do {
        state = "\(try secrets.find(feed: source.account, name: name))"
      } catch {
        state = "missing: \(error)"
      }
      write("  secret \(name) = \(state)\n")
    }
  }
  for archive in try Archive.all(
    in: try invocation.configurationFolder(), environment: invocation.environment)
  {
    section("archive \(archive.id)", archive.settings)
  }
  return .done
}
