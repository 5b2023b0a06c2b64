import Archives
import Configuration
import Feeds

/// The environment variables that begin with BOWSER_: which of them something reads, and which one
/// is probably meant by one that nothing reads.
struct Variables {
  private static let prefix = "BOWSER_"
  // The Makefile hands the commit to the compiler, and contrib/grafana reads a password.
  static let ofOthers = ["COMMIT", "GRAFANA_PASSWORD"]
  // Names that people try for others.
  private static let nicknames = [
    "DB": "DATABASE", "DATABASE_URL": "DATABASE", "CONFIG_DIR": "CONFIG", "CONFIG_FOLDER": "CONFIG",
  ]
  /// The names of what is read, without the prefix.
  private let known: [String]
  /// How the names of each feed begin.
  private let feeds: [String]

  /// - Parameter sources: the feeds of the configuration.
  init(_ sources: [Source]) {
    var variables = ["BOWSER_CONFIG"] + Invocation.Table().variables(prefix: "BOWSER")
    var secrets: [String] = []
    for source in sources {
      variables += Source.variables(of: source.feed)
      secrets += source.provider.secretNames.map {
        Secrets.variable(feed: source.account, name: $0)
      }
    }
    variables += secrets.flatMap { [$0, $0 + "_FILE"] }
    for archive in ArchiveFormat.all { variables += Archive.variables(of: archive.id) }
    // Two feeds may use the same keys.
    var seen: Set<String> = []
    known = variables.map { String($0.dropFirst(Self.prefix.count)) }
      .filter { seen.insert($0).inserted }
    feeds = sources.map {
      String(Secrets.variable(feed: $0.feed, name: "").dropFirst(Self.prefix.count))
    }
  }

  /// Returns the variables of an environment that nothing reads. Those of receivers of notices have
  /// names of their own, and `notify` says which one it lacks.
  func unread(in environment: [String: String]) -> [String] {
    environment.filter { $0.key.hasPrefix(Self.prefix) && !$0.value.isEmpty }.keys.sorted().filter {
      let name = String($0.dropFirst(Self.prefix.count))
      return !known.contains(name) && !Self.ofOthers.contains(name)
        && name.wholeMatch(of: /NOTIFY_[A-Z0-9_]+_URL(_FILE)?/) == nil
    }
  }

  /// Returns the variables of which one is probably meant by another, which nothing reads. `nil`
  /// where that may be one of another program; empty where it is not, but nothing is similar.
  func meant(by variable: String) -> [String]? {
    let name = String(variable.dropFirst(Self.prefix.count))
    let parts = Self.parts(name)
    func variables(_ names: [String]) -> [String]? {
      (1...4).contains(names.count) ? names.map { Self.prefix + $0 } : nil
    }
    if let meant = Self.nicknames[name] { return variables([meant]) }
    if let same = known.first(where: { Self.parts($0).joined() == parts.joined() }) {
      return variables([same])
    }
    // The beginning of a name is as likely as a slip in it.
    if let begun = variables(known.filter { $0.hasPrefix(name + "_") }) { return begun }
    // What begins like the variables of a feed is meant for it.
    let feed = feeds.first { name.hasPrefix($0) }
    let likely = known.filter { feed.map($0.hasPrefix) ?? true }
    let slips = likely.filter { Self.isSlip(parts, for: Self.parts($0)) }
    if let best = nearest(to: name, in: slips) ?? slips.first { return variables([best]) }
    return feed == nil ? nil : []
  }

  private static func parts(_ name: String) -> [String] {
    name.split(separator: "_").map(String.init)
  }

  /// Whether each part between underscores is similar to its counterpart. As a whole, the names of
  /// two feeds would be similar too.
  private static func isSlip(_ parts: [String], for others: [String]) -> Bool {
    parts.count == others.count
      && zip(parts, others).allSatisfy { $0 == $1 || nearest(to: $0, in: [$1]) != nil }
  }
}

extension Invocation {
  /// Refuses a variable that nothing reads and that is probably meant for this program. Without a
  /// word, a feed would stay unread or another database would be used.
  func refuseUnreadVariables() throws {
    // A feed that cannot be read is reported by the command that reads it.
    guard !Variables([]).unread(in: environment).isEmpty, let sources = try? sources() else {
      return
    }
    let variables = Variables(sources)
    for name in variables.unread(in: environment) {
      guard let likely = variables.meant(by: name) else { continue }
      throw ConfigurationError.unreadVariable(name, likely: likely)
    }
  }
}
