package import Configuration
package import Foundation
package import FuelModel

/// One feed as its configuration file describes it.
package struct Source: Sendable {
  /// The feed's id, such as `qld-fpd`.
  package let feed: String
  /// Which provider type reads it.
  package let provider: any Provider.Type
  /// The state whose price day and zone apply where the feed itself names none.
  package let state: State
  package let url: URL
  package let settings: Settings

  /// Every setting that a feed's file may hold.
  package static let table: [Setting] = [
    Setting("feed", .text),
    Setting("provider", .text),
    Setting("state", .choice(State.allCases.map(\.rawValue))),
    Setting("url", .text),
    Setting("enabled", .boolean, .boolean(true)),
    Setting("parameters", .texts, .table([:])),
    // How often somebody is expected to run it; health is judged by this.
    Setting("cadenceMinutes", .integer(1...10_080)),
    // A price is not believed for longer than this after its own stamp ...
    Setting("priceLapsesHours", .integer(1...100_000)),
    // ... nor for longer than this after it was last seen listed.
    Setting("sightLapsesHours", .integer(1...100_000)),
    // Whether its prices are fixed for whole price days.
    Setting("tellsWholeDays", .boolean, .boolean(false)),
    // More unreadable records than this share refuse the run.
    Setting("maxRejectShare", .share, .number(0.02)),
    // Fewer prices than this share of those listed before: the run is refused, or only partial.
    Setting("refuseBelowShare", .share, .number(0.7)),
    Setting("partialBelowShare", .share, .number(0.95)),
    // How far ahead a stamp may lie.
    Setting("horizonMinutes", .integer(0...4_320), .number(10)),
    // The provider's own limits; 0 is none.
    Setting("callsPerMonth", .integer(0...1_000_000), .number(0)),
    Setting("leastSecondsBetweenRuns", .integer(0...86_400), .number(0)),
    Setting("pauseMilliseconds", .integer(0...60_000), .number(0)),
    Setting("referenceHours", .integer(1...720), .number(24)),
    Setting("licence", .text),
    Setting("attribution", .text),
  ]

  /// Reads one configuration file.
  package init(file: String, environment: [String: String]) throws(ConfigurationError) {
    let entries = try Value.table(file: file)
    let place = String(file.split(separator: "/").suffix(2).joined(separator: "/"))
    guard case .text(let feed)? = entries["feed"] else {
      throw .missingKey("feed", place: place)
    }
    settings = try Settings(
      Self.table, file: entries, place: place,
      variablePrefix: "BOWSER_" + feed.uppercased().replacing("-", with: "_"),
      environment: environment)
    self.feed = feed
    guard let state = State(rawValue: settings.text("state")) else {
      throw .wrongValue(key: "state", place: place, expected: "a state")
    }
    self.state = state
    // Plain HTTP passes here for simulators; the client allows it to this machine only.
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
  }

  package var horizon: Duration { .seconds(60 * settings.integer("horizonMinutes")) }
}
