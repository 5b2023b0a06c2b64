package import Configuration
package import FuelModel
package import HTTP

/// Reads the feeds of one shape. A provider never retries, sleeps, logs, caches, reads the clock,
/// touches the database or decides how many rejects are too many: that is done once, around it.
package protocol Provider: Sendable {
  /// The name that configuration files use.
  static var id: String { get }

  /// The names of the secrets that a feed needs, in lower case.
  static func secrets(_ source: Source) -> [String]

  /// Its fuel codes. A code that is not here and not in the feed's configuration is kept unmapped.
  static var fuels: [String: Fuel] { get }

  /// The documents that make up one run at an instant.
  static func calls(_ source: Source, at instant: Instant) -> [Call]

  /// Further documents of the same run that can only be asked for once the first are there: pages,
  /// batches of ids. Asked again with what they brought until there are none.
  static func calls(_ source: Source, after documents: [Document]) throws(FeedError) -> [Call]

  /// Whether further documents may follow.
  static var hasFollowingCalls: Bool { get }

  /// The instant since which there should have been a run: a feed read before it is due again.
  static func due(_ source: Source, at now: Instant) -> Instant

  /// What opens the provider's door, by whatever exchange that takes.
  ///
  /// - Parameter ask: sends a request with the usual limits and retries.
  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority

  /// Whether a refused key may only have expired, so that one new exchange is worth it.
  static func keysExpire(_ source: Source) -> Bool

  /// How its answers are known again in files that people have kept; `nil`: nobody has.
  static var keptAnswers: KeptAnswers? { get }

  /// What the documents say. Pure.
  ///
  /// - Throws: where a document as a whole cannot be believed; single records become rejects.
  static func parse(_ documents: [Document], of source: Source) throws(FeedError) -> Reading
}

extension Provider {
  package static func secrets(_ source: Source) -> [String] { [] }
  package static func keysExpire(_ source: Source) -> Bool { false }
  package static var keptAnswers: KeptAnswers? { nil }
  package static var hasFollowingCalls: Bool { false }
  package static func calls(
    _ source: Source, after documents: [Document]
  ) throws(FeedError) -> [Call] { [] }

  /// By the feed's cadence; cron is never to the second.
  package static func due(_ source: Source, at now: Instant) -> Instant {
    now - .seconds(60 * source.settings.integer("cadenceMinutes") - 30)
  }
  package static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority { Authority(headers: [:]) }
}

/// Whole answers of a provider as files, which nothing but their content tells the time of.
package struct KeptAnswers: Sendable {
  /// What `bowser backfill` calls them, such as `vic-servo-saver`.
  package var name: String
  /// The document that a file is by its first characters: `prices`, or one that goes with every list of prices.
  package var document: @Sendable (_ head: String) -> String?
  /// What tells a list of prices.
  package var expected: String
  /// When the market was as the list shows it; `nil`: it does not say.
  package var shownAt: @Sendable (_ text: String) -> Instant?
}

/// Headers that open a provider's door.
package struct Authority: Sendable, Equatable {
  package var headers: [String: String]
  /// Until when they do; `nil`: they are not worth keeping, because they cost nothing to make.
  package var expiresAt: Instant?

  package init(headers: [String: String], expiresAt: Instant? = nil) {
    self.headers = headers
    self.expiresAt = expiresAt
  }

  /// - Throws: where the text cannot be a token, so that nothing from outside gets into a header.
  init(
    bearer token: String, headers: [String: String] = [:], expiresAt: Instant?
  ) throws(FeedError) {
    guard !token.isEmpty, token.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) })
    else { throw .malformed(document: "token", reason: "access_token is not a token") }
    self.init(
      headers: headers.merging(["Authorization": "Bearer \(token)"]) { $1 }, expiresAt: expiresAt)
  }
}

/// One document to ask for.
package struct Call: Sendable {
  /// The document's name, unique within a run.
  package var name: String
  /// Below the source's address.
  package var path: String
  package var query: [(String, String)]
  package var headers: [String: String]
  /// Sent with POST; empty: GET.
  package var body: [UInt8]
  package var role: Role
  /// Whether the answer is a web page with the data in it. Everywhere else a page is a fault.
  package var isPage: Bool

  /// When a document is worth asking for.
  package enum Role: Sendable {
    /// In every run.
    case always
    /// Brands, regions, sites: they change so rarely that a daily look is enough.
    case reference
    /// Everything there is. Where the provider also has news, only now and then.
    case snapshot
    /// What is new since the last call. Some of it may be lost; the next snapshot repairs that.
    case news
  }

  package init(
    name: String, path: String, query: [(String, String)] = [], headers: [String: String] = [:],
    body: [UInt8] = [], role: Role = .always, isPage: Bool = false
  ) {
    self.name = name
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.role = role
    self.isPage = isPage
  }
}
