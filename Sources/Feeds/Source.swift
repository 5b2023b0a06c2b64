package import Configuration
package import Foundation
package import FuelModel
import HTTP

/// One feed as its configuration file describes it.
package struct Source: Sendable {
  /// The feed's id, such as `qld-fpd`.
  package let feed: String
  /// The provider type that reads the feed.
  package let provider: any Provider.Type
  /// The state whose price days and zone apply where the feed itself states none.
  package let state: State
  /// The states whose stations its lists have.
  package var states: [State] { [state] + provider.otherStates(self) }
  package let url: URL
  package let settings: Settings<Table>
  /// The local time from which on the feed has the prices of the next price day; `nil` means never.
  package let publishesTomorrowAt: String?
  private let mapping: FuelMapping

  /// Every setting that a feed's file may hold.
  package struct Table: SettingTable {
    package let feed = Setting.text("feed")
    package let provider = Setting.text("provider")
    package let state = Setting.text("state")
    package let url = Setting.text("url")
    package let enabled = Setting.boolean("enabled", true)
    package let parameters = Setting.texts("parameters", [:])
    // How often a run is expected, in minutes. The feed's health is measured against it.
    package let cadenceMinutes = Setting.integer("cadenceMinutes", 1...10_080)
    // A price lapses this long after its own stamp, ...
    package let priceLapsesHours = Setting.integer("priceLapsesHours", 1...100_000)
    // Other hours for single fuels: { DL: 1440 }.
    package let priceLapsesHoursByFuel = Setting.integers(
      "priceLapsesHoursByFuel", keys: Fuel.allCases.map(\.rawValue), 1...100_000)
    // ... and this long after it was last listed.
    package let sightLapsesHours = Setting.integer("sightLapsesHours", 1...100_000)
    // Whether prices are fixed for whole price days.
    package let reportsWholeDays = Setting.boolean("tellsWholeDays", false)
    // A list with more than this share of unreadable records is only partial.
    package let maxRejectShare = Setting.share("maxRejectShare", 0.02)
    // A list with less than this share of the prices listed before is refused, or is only partial.
    package let refuseBelowShare = Setting.share("refuseBelowShare", 0.2)
    package let partialBelowShare = Setting.share("partialBelowShare", 0.95)
    // Fuels of codes that the provider's list lacks, or of codes that changed, with days where
    // needed: { X1: 'E10', P1: 'P95 until 2026-07-01, P98 from 2026-07-01' }.
    package let fuels = Setting.texts("fuels", [:])
    // How old prices are when they are published, by the rule of the scheme.
    package let delayHours = Setting.integer("delayHours", 0...168, 0)
    // The local time from which on the next price day's prices are published, such as 14:30; empty
    // means never.
    package let publishesTomorrowAt = Setting.text("publishesTomorrowAt", "")
    // Whether a doubtful price that is still reported after a day is believed.
    package let holdingConfirms = Setting.boolean("holdingConfirms", true)
    // How far ahead of the fetch a stamp may lie.
    package let horizonMinutes = Setting.integer("horizonMinutes", 0...4_320, 10)
    // The provider's own limits; 0 means no limit.
    package let callsPerMonth = Setting.integer("callsPerMonth", 0...1_000_000, 0)
    package let callsPerMinute = Setting.integer("callsPerMinute", 0...1_000, 0)
    // The feed whose key, token and quota this feed shares; empty means its own.
    package let account = Setting.text("account", "")
    // For a provider that also lists what is new: the minutes between two whole lists.
    package let snapshotMinutes = Setting.integer("snapshotMinutes", 0...1_440, 0)
    // How long the documents of runs are kept.
    package let keepBodiesDays = Setting.integer("keepBodiesDays", 1...3_650, 30)
    package let leastSecondsBetweenRuns = Setting.integer("leastSecondsBetweenRuns", 0...86_400, 0)
    package let pauseMilliseconds = Setting.integer("pauseMilliseconds", 0...60_000, 0)
    package let referenceHours = Setting.integer("referenceHours", 1...720, 24)
    package let licence = Setting.text("licence")
    package let attribution = Setting.text("attribution")
  }

  /// Returns the environment variables that set a feed's settings; none of them is a secret.
  package static func variables(of feed: String) -> [String] {
    Table().variables(prefix: prefix(of: feed))
  }

  /// The environment variable that sets the address of the feed.
  var urlVariable: String { Self.prefix(of: feed) + "_URL" }

  /// Returns the address of a path of the feed for messages, without what may hold a key.
  func shownAddress(_ path: String) -> String {
    var parts = URLComponents(string: url.absoluteString + path)
    parts?.query = nil
    parts?.fragment = nil
    return parts?.string ?? url.host ?? ""
  }

  private static func prefix(of feed: String) -> String {
    "BOWSER_" + feed.uppercased().replacing("-", with: "_")
  }

  /// Reads one configuration file.
  package init(file: String, environment: [String: String]) throws(ConfigurationError) {
    let entries = try Value.table(file: file)
    let place = String(file.split(separator: "/").suffix(2).joined(separator: "/"))
    let feed = try Value.name(of: "feed", in: entries, place: place)
    for key in entries.keys.sorted()
    where ["token", "key", "secret", "username", "password"].contains(key) {
      throw .secretInFile(
        key, place: place, variable: Secrets.variable(feed: feed, name: key))
    }
    settings = try Settings(
      Table(), file: entries, place: place,
      variablePrefix: Self.prefix(of: feed),
      environment: environment)
    self.feed = feed
    guard let state = Australia.state(settings.state) else {
      throw .wrongValue(
        key: "state", place: place,
        expected: "one of \(Australia.states.map(\.code).joined(separator: ", "))")
    }
    self.state = state
    // Plain HTTP is accepted here for simulators on this machine. The client calls them only where
    // `allowLoopback` is set.
    guard let url = URL(string: settings.url), url.user == nil, url.password == nil,
      let host = url.host,
      url.scheme?.lowercased() == "https" || url.scheme?.lowercased() == "http" && isLoopback(host)
    else {
      throw settings.wrong("url", expected: "an https address without credentials")
    }
    self.url = url
    let named = settings.provider
    guard let provider = Catalogue.providers.first(where: { $0.id == named }) else {
      throw .wrongValue(
        key: "provider", place: place,
        expected: "one of \(Catalogue.providers.map { $0.id }.joined(separator: ", "))")
    }
    self.provider = provider
    try Self.check(settings.parameters, of: provider, place: place)
    guard feed.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D }) else {
      throw .wrongValue(key: "feed", place: place, expected: "lower-case letters and dashes")
    }
    let clock = settings.publishesTomorrowAt
    guard clock.isEmpty || clock.wholeMatch(of: /([01][0-9]|2[0-3]):[0-5][0-9]/) != nil else {
      throw .wrongValue(key: "publishesTomorrowAt", place: place, expected: "a time such as 14:30")
    }
    publishesTomorrowAt = clock.isEmpty ? nil : clock
    mapping = try FuelMapping(settings.fuels, place: place)
  }

  /// Refuses parameters that the provider does not have, and values that it does not accept.
  private static func check(
    _ parameters: [String: String], of provider: any Provider.Type, place: String
  ) throws(ConfigurationError) {
    let known = provider.parameters
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
      guard let accepts = known[name] else {
        let names = known.keys.sorted()
        throw .unknownKey(
          name, place: "\(place), 'parameters'", suggestion: nearest(to: name, in: names),
          known: names)
      }
      guard accepts.isEmpty || accepts.contains(value) else {
        throw .wrongValue(
          key: name, place: "\(place), 'parameters'",
          expected: "one of \(accepts.joined(separator: ", "))")
      }
    }
  }

  /// The feed whose secrets and quota this feed uses.
  package var account: String {
    let account = settings.account
    return account.isEmpty ? feed : account
  }

  package var secrets: [String] { provider.secrets(self) }

  /// Returns the error for each secret that is missing, which states how to set it.
  ///
  /// - Throws: where a secret exists but cannot be used.
  package func missingSecrets(
    in secrets: Secrets
  ) throws(ConfigurationError) -> [ConfigurationError] {
    var missing: [ConfigurationError] = []
    for name in self.secrets {
      do {
        _ = try secrets.find(feed: account, name: name)
      } catch {
        guard case .missingSecret = error else { throw error }
        missing.append(error)
      }
    }
    return missing
  }

  /// The shortest pause before a request is repeated, by the provider's own rules.
  package var leastSecondsBetweenCalls: Int {
    let perMinute = settings.callsPerMinute
    return max(
      settings.leastSecondsBetweenRuns, perMinute > 0 ? (59 + perMinute) / perMinute : 0)
  }

  package var delay: Duration { .seconds(3_600 * settings.delayHours) }

  /// Returns the fuel of a feed's code at an instant: by the configuration, otherwise by the
  /// provider's list. An unknown code is unmapped; its text is empty where the code is too long.
  package func fuel(_ code: String, at instant: Instant) -> Fuel {
    mapping.fuel(code, on: state.timeZone.local(instant).day) ?? provider.fuels[code]
      ?? .unmapped(code.utf8.count <= InputLimit.fuelCodeBytes.value ? code.plain : "")
  }

  package var horizon: Duration { .seconds(60 * settings.horizonMinutes) }
}
