package import Configuration
package import FuelModel
package import HTTP

/// Reads the feeds of one shape. A provider never retries, sleeps, logs, caches, reads the clock,
/// touches the database or decides how many rejects are too many: that is done once, around it.
package protocol Provider: Sendable {
  /// The name that configuration files use.
  static var id: String { get }

  /// The names of the secrets it needs, in lower case.
  static var secrets: [String] { get }

  /// The documents that make up one run at an instant.
  static func calls(_ source: Source, at instant: Instant) -> [Call]

  /// The instant since which there should have been a run: a feed read before it is due again.
  static func due(_ source: Source, at now: Instant) -> Instant

  /// The headers that open the provider's door, by whatever exchange that takes.
  ///
  /// - Parameter ask: sends a request with the usual limits and retries.
  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> [String: String]

  /// Whether a refused key may only have expired, so that one new exchange is worth it.
  static var keysExpire: Bool { get }

  /// What the documents say. Pure.
  ///
  /// - Throws: where a document as a whole cannot be believed; single records become rejects.
  static func parse(_ documents: [Document], of source: Source) throws(FeedError) -> Reading
}

extension Provider {
  package static var secrets: [String] { [] }
  package static var keysExpire: Bool { false }

  /// By the feed's cadence; cron is never to the second.
  package static func due(_ source: Source, at now: Instant) -> Instant {
    now - .seconds(60 * source.settings.integer("cadenceMinutes") - 30)
  }
  package static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> [String: String] { [:] }
}

/// One document to ask for.
package struct Call: Sendable {
  /// The document's name, unique within a run.
  package var name: String
  /// Below the source's address.
  package var path: String
  package var query: [(String, String)]
  package var headers: [String: String]
  /// Whether it changes so rarely that a daily look is enough: brands, regions, sites.
  package var isReference: Bool

  package init(
    name: String, path: String, query: [(String, String)] = [], headers: [String: String] = [:],
    isReference: Bool = false
  ) {
    self.name = name
    self.path = path
    self.query = query
    self.headers = headers
    self.isReference = isReference
  }
}
