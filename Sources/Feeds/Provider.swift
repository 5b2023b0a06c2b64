package import Configuration
package import FuelModel
package import HTTP

/// Reads the feeds of one provider's interface. A provider never retries, sleeps, logs, caches,
/// reads the clock, uses the database or decides how many rejects are too many. The code around it
/// does all of this once, for all providers.
package protocol Provider: Sendable {
  /// The name of the provider in configuration files.
  static var id: String { get }

  /// The names of all secrets that feeds of the provider may need, in lower case.
  static var secretNames: [String] { get }

  /// The names of the secrets that a feed needs.
  static func secrets(_ source: Source) -> [String]

  /// The parameters that the file of a feed may have, each with the values that it accepts; empty:
  /// any value.
  static var parameters: [String: [String]] { get }

  /// The fuels of the provider's codes. A code that is neither here nor in the feed's configuration
  /// is kept unmapped.
  static var fuels: [String: Fuel] { get }

  /// Returns the calls whose documents make up a run at an instant.
  static func calls(_ source: Source, at instant: Instant) -> [Call]

  /// Returns the codes in the documents of a run of which further calls of the run are made. It is
  /// called again with all documents until it returns none.
  static func codes(in documents: [Document]) throws(FeedError) -> [String]

  /// Returns the further calls of a run for codes that its documents contain.
  static func calls(_ source: Source, for codes: [String]) -> [Call]

  /// Whether further calls may follow.
  static var hasFollowingCalls: Bool { get }

  /// Returns the instant since which a run has been due: a feed with an older run has to be read.
  ///
  /// - Parameter isAwaiting: whether the last run lacked prices that should have been published.
  static func due(_ source: Source, at now: Instant, isAwaiting: Bool) -> Instant

  /// Obtains the headers that give access to the provider, by whatever exchange that takes.
  ///
  /// - Parameter ask: sends a request with the usual limits and retries.
  static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority

  /// Other states than the feed's own whose stations are in its lists.
  static func otherStates(_ source: Source) -> [State]

  /// Whether refused access may only mean an expired token, so that one new exchange is worth
  /// trying.
  static func keysExpire(_ source: Source) -> Bool

  /// How to recognise this provider's answers in files that people have kept; `nil` where nobody
  /// has kept any.
  static var keptAnswers: KeptAnswers? { get }

  /// Reads the content of the documents. Its result depends on them and on the feed only.
  ///
  /// - Parameter reading: an empty reading of complete coverage.
  /// - Throws: where a document as a whole is not credible; single bad records become rejects.
  static func parse(
    _ documents: [Document], of source: Source, into reading: inout Reading
  ) throws(FeedError)
}

extension Provider {
  package static var secretNames: [String] { [] }
  package static func secrets(_ source: Source) -> [String] { secretNames }
  package static var parameters: [String: [String]] { [:] }
  package static func keysExpire(_ source: Source) -> Bool { false }
  package static func otherStates(_ source: Source) -> [State] { [] }
  package static var keptAnswers: KeptAnswers? { nil }
  package static var hasFollowingCalls: Bool { false }
  package static func codes(in documents: [Document]) throws(FeedError) -> [String] { [] }
  package static func calls(_ source: Source, for codes: [String]) -> [Call] { [] }

  /// By the feed's cadence, less 30 seconds because cron does not start to the second.
  package static func due(_ source: Source, at now: Instant, isAwaiting: Bool) -> Instant {
    now - .seconds(60 * source.settings.cadenceMinutes - 30)
  }
  package static func authorise(
    _ source: Source, _ secrets: [String: Secret],
    at instant: Instant, ask: (Request) async throws(FeedError) -> Response
  ) async throws(FeedError) -> Authority { Authority(headers: [:]) }
}

/// Complete answers of a provider in files. Only the content shows when such an answer was fetched.
package struct KeptAnswers: Sendable {
  /// The name of such files in `bowser backfill`, such as `vic-servo-saver`.
  package var name: String
  /// Returns the name of the document in a file with the given first characters: `prices`, or a
  /// document that belongs to every list of prices. `nil` for any other file.
  package var document: @Sendable (_ head: String) -> String?
  /// The text that identifies a list of prices, for messages.
  package var expected: String
  /// Returns the instant of the market that the list shows; `nil` where the list does not state it.
  package var shownAt: @Sendable (_ text: String) -> Instant?
}

/// Headers that give access to a provider.
package struct Authority: Sendable, Equatable {
  package var headers: [String: String]
  /// Until when the headers are valid; `nil` where they are not worth keeping for later runs.
  package var expiresAt: Instant?
}

/// The request for one document.
package struct Call: Sendable {
  /// The name of the document, unique within a run.
  package var name: String
  /// The path below the address of the source.
  package var path: String
  package var query: [(String, String)] = []
  package var headers: [String: String] = [:]
  /// The body, sent with POST; an empty body means GET.
  package var body: [UInt8] = []
  package var role = Role.always
  /// Whether the answer is a web page that contains the data. For any other call a page is an
  /// error.
  package var isPage = false

  /// When a document is requested.
  package enum Role: Sendable {
    /// In every run.
    case always
    /// Brands, regions, sites: they change so rarely that a request a day is enough.
    case reference
    /// The whole list. Where the provider also lists what is new, it is requested less often.
    case snapshot
    /// What is new since the last call. If some of it is lost, the next snapshot repairs that.
    case update
  }
}
