/// A fault of the configuration. Messages contain no value that could be a secret.
package enum ConfigurationError: Error, Equatable, CustomStringConvertible {
  case unreadable(file: String, reason: String)
  /// `known` are all keys that the place may have.
  case unknownKey(String, place: String, suggestion: String?, known: [String])
  case wrongValue(key: String, place: String, expected: String)
  case missingKey(String, place: String)
  /// A secret stands in a configuration file.
  case secretInFile(String, place: String, variable: String)
  case missingSecret(feed: String, name: String, variable: String)
  /// A secret is in a variable, and another variable names a file with it.
  case secretTwice(String)
  case unsafeSecret(String, reason: String)
  /// An environment variable that nothing reads, and those of which one may be meant.
  case unreadVariable(String, likely: [String])
  /// A run is of a feed that the configuration no longer has.
  case unknownFeed(String)
  case noFolder([String])
  case noFeeds
  case noZoneData
  case twice(feed: String, first: String, second: String)

  package var description: String {
    switch self {
    case .unreadable(let file, let reason): "\(file): \(reason)"
    case .unknownKey("pingUrl", let place, _, _):
      "\(place): 'pingUrl' was removed in version 1.0: delete the line; docs/operating.md, Jobs, shows "
        + "how curl tells a watcher the exit code"
    case .unknownKey(let key, let place, let suggestion, let known):
      "\(place): unknown key '\(key)'; "
        + (suggestion.map { "did you mean '\($0)'?" }
          ?? (known.isEmpty ? "there are none" : "one of \(known.joined(separator: ", "))"))
    case .wrongValue(let key, let place, let expected): "\(place): '\(key)' must be \(expected)"
    case .missingKey(let key, let place): "\(place): '\(key)' is missing"
    case .secretInFile(let key, let place, let variable):
      "\(place): '\(key)' does not belong in this file, which others can read: set \(variable), or "
        + "\(variable)_FILE to a file that only you can read"
    case .missingSecret(let feed, let name, let variable):
      "a key is missing: set \(variable), or \(variable)_FILE to a file that only you can read, or "
        + "a systemd credential \(feed).\(name)"
    case .secretTwice(let variable):
      "both \(variable) and \(variable)_FILE are set: unset one of them"
    case .unsafeSecret(let what, let reason): "\(what): \(reason)"
    case .unknownFeed(let feed):
      "the configuration has no feed '\(feed)': put its file back into the folder feeds, or name the "
        + "configuration that has it with --config DIR"
    case .noFeeds: "no feed is switched on: set enabled to true in a file below feeds"
    case .noZoneData:
      "the time zone data of this machine lack Australia/Sydney: install tzdata"
    case .twice(let feed, let first, let second):
      "\(first) and \(second) both describe the feed '\(feed)'"
    case .noFolder(let tried):
      "no configuration found in \(tried.joined(separator: ", ")): set BOWSER_CONFIG, or use --config DIR"
    case .unreadVariable(let name, let likely):
      "nothing reads \(name)"
        + (likely.isEmpty
          ? ": correct its name, or unset it"
          : "; did you mean \(likely.joined(separator: " or "))?")
    }
  }
}
