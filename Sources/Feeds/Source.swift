package import Configuration
package import Foundation
package import FuelModel

/// One feed as its configuration file describes it.
package struct Source: Sendable {
  /// The feed's id, such as `qld-fpd`.
  package let feed: String
  /// The provider type that reads the feed.
  package let provider: any Provider.Type
  /// The state whose price days and zone apply where the feed itself states none.
  package let state: State
  package let country: Country
  package let url: URL
  package let settings: Settings
  /// The local time from which on the feed has the prices of the next price day; `nil` means never.
  package let publishesTomorrowAt: String?
  private let mapping: FuelMapping

  /// Every setting that a feed's file may hold.
  package static let table: [Setting] = [
    Setting("feed", .text),
    Setting("provider", .text),
    Setting("state", .text),
    Setting("url", .text),
    Setting("enabled", .boolean, .boolean(true)),
    Setting("parameters", .texts, .table([:])),
    // How often a run is expected, in minutes. The feed's health is measured against it.
    Setting("cadenceMinutes", .integer(1...10_080)),
    // A price lapses this long after its own stamp, ...
    Setting("priceLapsesHours", .integer(1...100_000)),
    // Other hours for single fuels: { DL: 1440 }.
    Setting(
      "priceLapsesHoursByFuel", .integers(keys: Fuel.allCases.map(\.rawValue), 1...100_000),
      .table([:])),
    // ... and this long after it was last listed.
    Setting("sightLapsesHours", .integer(1...100_000)),
    // Whether prices are fixed for whole price days.
    Setting("tellsWholeDays", .boolean, .boolean(false)),
    // A run with more than this share of unreadable records is refused.
    Setting("maxRejectShare", .share, .number(0.02)),
    // A list with less than this share of the prices listed before is refused, or is only partial.
    Setting("refuseBelowShare", .share, .number(0.7)),
    Setting("partialBelowShare", .share, .number(0.95)),
    // Fuels of codes that the provider's list lacks, or of codes that changed, with days where
    // needed: { X1: 'E10', P1: 'P95 until 2026-07-01, P98 from 2026-07-01' }.
    Setting("fuels", .texts, .table([:])),
    // How old prices are when they are published, by the rule of the scheme.
    Setting("delayHours", .integer(0...168), .number(0)),
    // The local time from which on the next price day's prices are published, such as 14:30; empty
    // means never.
    Setting("publishesTomorrowAt", .text, .text("")),
    // Whether a doubtful price that is still reported after a day is believed.
    Setting("holdingConfirms", .boolean, .boolean(true)),
    // How far ahead of the fetch a stamp may lie.
    Setting("horizonMinutes", .integer(0...4_320), .number(10)),
    // The provider's own limits; 0 means no limit.
    Setting("callsPerMonth", .integer(0...1_000_000), .number(0)),
    Setting("callsPerMinute", .integer(0...1_000), .number(0)),
    // The feed whose key, token and quota this feed shares; empty means its own.
    Setting("account", .text, .text("")),
    // For a provider that also lists what is new: the minutes between two whole lists.
    Setting("snapshotMinutes", .integer(0...1_440), .number(0)),
    // How long the documents of runs are kept.
    Setting("keepBodiesDays", .integer(1...3_650), .number(30)),
    Setting("leastSecondsBetweenRuns", .integer(0...86_400), .number(0)),
    Setting("pauseMilliseconds", .integer(0...60_000), .number(0)),
    Setting("referenceHours", .integer(1...720), .number(24)),
    Setting("licence", .text),
    Setting("attribution", .text),
  ]

  /// Returns the environment variables that set a feed's settings; none of them is a secret.
  package static func variables(of feed: String) -> [String] {
    table.map { $0.variable(prefix: prefix(of: feed)) }
  }

  private static func prefix(of feed: String) -> String {
    "BOWSER_" + feed.uppercased().replacing("-", with: "_")
  }

  /// Reads one configuration file.
  package init(
    file: String, environment: [String: String], country: Country = .australia
  ) throws(ConfigurationError) {
    let entries = try Value.table(file: file)
    let place = String(file.split(separator: "/").suffix(2).joined(separator: "/"))
    guard case .text(let feed)? = entries["feed"] else {
      throw .missingKey("feed", place: place)
    }
    settings = try Settings(
      Self.table, file: entries, place: place,
      variablePrefix: Self.prefix(of: feed),
      environment: environment)
    self.feed = feed
    self.country = country
    state = try country.state(of: settings, place: place)
    // Plain HTTP is accepted here for simulators; the client allows it to this machine only.
    guard let url = URL(string: settings.text("url")), url.host != nil, url.user == nil,
      url.password == nil, ["https", "http"].contains(url.scheme?.lowercased())
    else {
      throw .wrongValue(key: "url", place: place, expected: "an https address without credentials")
    }
    self.url = url
    guard let provider = Catalogue.provider(named: settings.text("provider")) else {
      throw .wrongValue(
        key: "provider", place: place,
        expected: "one of \(Catalogue.providers.map { $0.id }.joined(separator: ", "))")
    }
    self.provider = provider
    guard feed.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D }) else {
      throw .wrongValue(key: "feed", place: place, expected: "lower-case letters and dashes")
    }
    let clock = settings.text("publishesTomorrowAt")
    guard clock.isEmpty || clock.wholeMatch(of: /([01][0-9]|2[0-3]):[0-5][0-9]/) != nil else {
      throw .wrongValue(key: "publishesTomorrowAt", place: place, expected: "a time such as 14:30")
    }
    publishesTomorrowAt = clock.isEmpty ? nil : clock
    mapping = try FuelMapping(settings.texts("fuels"), place: place)
  }

  /// The feed whose secrets and quota this feed uses.
  package var account: String {
    let account = settings.text("account")
    return account.isEmpty ? feed : account
  }

  package var secrets: [String] { provider.secrets(self) }

  /// Returns the error for the first secret that is missing, which states how to set it; `nil`
  /// where there is none.
  ///
  /// - Throws: where a secret exists but cannot be used.
  package func missingSecret(
    in secrets: Secrets
  ) throws(ConfigurationError) -> ConfigurationError? {
    for name in self.secrets {
      do {
        _ = try secrets.find(feed: account, name: name)
      } catch {
        if case .missingSecret = error { return error }
        throw error
      }
    }
    return nil
  }

  /// The shortest pause before a request is repeated, by the provider's own rules.
  package var leastSecondsBetweenCalls: Int {
    let perMinute = settings.integer("callsPerMinute")
    return max(
      settings.integer("leastSecondsBetweenRuns"), perMinute > 0 ? (59 + perMinute) / perMinute : 0)
  }

  package var delay: Duration { .seconds(3_600 * settings.integer("delayHours")) }

  /// Returns the fuel of a feed's code at an instant: by the configuration, otherwise by the
  /// provider's list. An unknown code is unmapped; its text is empty where the code is too long.
  package func fuel(_ code: String, at instant: Instant) -> Fuel {
    mapping.fuel(code, on: state.timeZone.local(instant).day) ?? provider.fuels[code]
      ?? .unmapped(code.utf8.count <= InputLimit.fuelCodeBytes.value ? code.plain : "")
  }

  package var horizon: Duration { .seconds(60 * settings.integer("horizonMinutes")) }
}
