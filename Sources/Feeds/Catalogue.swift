package import Configuration
import Foundation
import FuelModel

/// Every provider that this program reads, and every feed that a configuration folder describes.
package enum Catalogue {
  package static let providers: [any Provider.Type] = [
    FairFuel.self,
    FuelCheck.self,
    FuelPricesDirect.self,
    FuelWatch.self,
    MyFuel.self,
  ]

  /// The feeds of `<folder>/feeds/*.json5` in the order of their names.
  package static func sources(
    in folder: String, environment: [String: String]
  ) throws(ConfigurationError) -> [Source] {
    let names = try Value.names(in: folder + "/feeds")
    var sources: [Source] = []
    var files: [String: String] = [:]
    // Such a file was meant to be read, unless it is the copy of one that is.
    if let stray = names.first(where: {
      $0.hasSuffix(".json") && !names.contains($0 + "5")
    }) {
      throw .unreadable(
        file: "feeds/\(stray)", reason: "is not read: rename it to \(stray)5")
    }
    for name in names where name.hasSuffix(".json5") {
      let source = try Source(file: "\(folder)/feeds/\(name)", environment: environment)
      if let first = files[source.feed] {
        throw .twice(feed: source.feed, first: "feeds/\(first)", second: "feeds/\(name)")
      }
      files[source.feed] = name
      sources.append(source)
    }
    // An account that is a slip is refused. Otherwise a key would be missing under a name that
    // nobody knows. The account of a feed that this configuration lacks is none.
    let feeds = sources.map(\.feed)
    for source in sources where !feeds.contains(source.account) {
      guard let likely = nearest(to: source.account, in: feeds) else { continue }
      throw source.settings.wrong(
        "account", expected: "a feed, and '\(source.account)' is none; did you mean '\(likely)'?")
    }
    return sources
  }
}
