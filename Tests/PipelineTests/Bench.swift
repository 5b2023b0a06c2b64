import Configuration
import Feeds
import Foundation
import FuelModel
import HTTP
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

/// A simulated market behind a real HTTP server, and a pipeline with a database of its own that
/// reads it.
final class Bench: Sendable {
  static let end = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z
  static let market = Market(
    seed: 11, stations: 60,
    days: (Zone.sydney.local(end).day + -10)...(Zone.sydney.local(end).day + 3))

  let feeds: SimulatedFeeds
  let server: Server
  /// The paths that were requested from the providers.
  let asked = Mutex<[String]>([])
  let lines = Mutex<[String]>([])
  private let fault = Mutex<Fault?>(nil)

  /// An object of its own, because every access to a function in a mutex would wrap that function
  /// once more.
  private final class Fault: Sendable {
    let answer: @Sendable (Server.Request) -> Server.Answer?
    init(_ answer: @escaping @Sendable (Server.Request) -> Server.Answer?) { self.answer = answer }
  }
  let environment: [String: String]
  let target: String

  /// The folder of the configuration: the project's own, or a copy with changes.
  let folder: String

  /// Creates a bench.
  ///
  /// - Parameters:
  ///   - changing: texts to replace in the configuration files of the feeds, with their
  ///     replacements. If there are any, the bench uses a changed copy of the configuration.
  ///   - newPricesDay: the time zone whose midnight empties FuelCheck's list of new prices; `nil`:
  ///     UTC.
  init(
    _ target: String, environment extra: [String: String] = [:],
    changing: [String: String] = [:], market: Market = Bench.market, newPricesDay: Zone? = nil
  ) throws {
    self.target = target
    feeds = SimulatedFeeds(market, at: Bench.end, newPricesDay: newPricesDay)
    folder = try Self.configuration(changing)
    let box = Box()
    server = try Server { request in box.answer(request) }
    var environment = SimulatedFeeds.keys
    for feed in SimulatedFeeds.feeds {
      let prefix = "BOWSER_" + feed.uppercased().replacing("-", with: "_")
      environment["\(prefix)_URL"] = "http://127.0.0.1:\(server.port)/\(feed)"
      environment["\(prefix)_PAUSE_MILLISECONDS"] = "0"
      environment["\(prefix)_CALLS_PER_MINUTE"] = "0"
    }
    self.environment = environment.merging(extra) { _, extra in extra }
    box.bench.withLock { $0 = self }
  }

  deinit { server.stop() }

  private final class Box: Sendable {
    let bench = Mutex<Bench?>(nil)
    func answer(_ request: Server.Request) -> Server.Answer {
      guard let bench = bench.withLock({ $0 }) else { return .silence(seconds: 0) }
      bench.asked.withLock { $0.append(request.path) }
      if let answer = bench.fault.withLock({ $0 })?.answer(request) { return answer }
      return bench.feeds.answer(request)
    }
  }

  /// Makes the server answer with this function from now on. Where the function returns `nil`, the
  /// simulated feed answers; so does it everywhere if the function is `nil`.
  func misbehave(_ fault: (@Sendable (Server.Request) -> Server.Answer?)?) {
    let fault = fault.map { Fault($0) }
    self.fault.withLock { $0 = fault }
  }

  func source(_ feed: String) throws -> Source {
    try #require(
      try Catalogue.sources(in: folder, environment: environment).first { $0.feed == feed })
  }

  private static func configuration(_ changes: [String: String]) throws -> String {
    let own = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config").standardized.path
    guard !changes.isEmpty else { return own }
    let copy = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: copy + "/feeds", withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: own + "/feeds") {
      var text = try String(contentsOfFile: "\(own)/feeds/\(name)", encoding: .utf8)
      for (old, new) in changes { text = text.replacing(old, with: new) }
      try text.write(toFile: "\(copy)/feeds/\(name)", atomically: false, encoding: .utf8)
    }
    return copy
  }

  func store() throws -> Store {
    let store = Store(try Connection(target))
    try store.becomeWriter()
    return store
  }

  var log: Logger { Logger(.debug) { [self] line in lines.withLock { $0.append(line) } } }

  /// Performs one run of one feed at an instant.
  @discardableResult
  func ingest(
    _ feed: String, at instant: Instant = Bench.end, recording: Recording? = nil, attempts: Int = 1,
    timeoutSeconds: Int = 60
  ) async throws -> Ingest.Summary {
    feeds.set(instant)
    let source = try source(feed)
    var retry = Retry(attempts: attempts, deadline: .now + .seconds(120))
    retry.sleep = { _ in }
    let fetch = Fetch(
      source,
      client: .session(
        Limits(timeoutSeconds: timeoutSeconds, maxBodyBytes: 20 << 20, allowLoopback: true)),
      retry: retry,
      secrets: Secrets(environment: environment), contact: "test@example.org")
    return try await Ingest(source, store: store(), clock: .fixed(instant), log: log)
      .live(fetch, recording: recording)
  }

  func lines(_ statement: SQL) throws -> [String] { try Connection(target).lines(statement) }

  /// Returns what the stations of a feed charged at an instant according to the stored history, in
  /// the format in which the market lists its true prices.
  func charged(
    _ feed: String, at instant: Instant, knownAt: Instant = Bench.end + .seconds(3_600)
  ) throws -> [String] {
    let connection = try Connection(target)
    try connection.query("SELECT set_config('bowser.now', \(knownAt.description), false)")
    return try connection.lines(
      """
      SELECT station.name, fuel.fuel, (price.price_tenths / 10.0)::numeric(5, 1) AS price
      FROM fuel.held_at(\(instant)) AS price
      JOIN fuel.station USING (station_id) JOIN fuel.fuel USING (fuel_id)
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(feed)
      """
    ).sorted()
  }

  /// Returns everything that is stored, with the feeds' station codes in place of numbers.
  ///
  /// - Parameter withRejects: whether rejects are included.
  func stored(withRejects: Bool = true) throws -> [String] {
    try lines(
      """
      SELECT source.source, station_code, price.fuel_id, effective_at, price_tenths, min(learnt_at)
      FROM fuel.counted_price AS price JOIN fuel.station USING (station_id)
      JOIN fuel.source ON source.source_id = price.source_id
      GROUP BY 1, 2, 3, 4, 5
      ORDER BY 1, 2, 3, 4, 5
      """)
      + lines(
        """
        SELECT source.source, station_code, listing.fuel_id, changed_at, is_listed
        FROM (
          SELECT *, lag(is_listed, 1, false) OVER (
            PARTITION BY station_id, fuel_id, source_id ORDER BY changed_at, is_listed) AS was_listed
          FROM fuel.counted_listing
        ) AS listing
        JOIN fuel.station USING (station_id)
        JOIN fuel.source ON source.source_id = listing.source_id
        WHERE listing.is_listed <> listing.was_listed
          -- Without a price it says nothing.
          AND EXISTS (
            SELECT FROM fuel.counted_price AS price
            WHERE price.station_id = listing.station_id AND price.fuel_id = listing.fuel_id
              AND price.source_id = listing.source_id)
        ORDER BY 1, 2, 3, 4
        """)
      + lines(
        """
        SELECT source, source_station_code, state, name, brand, address, suburb, postcode, latitude,
          longitude, is_public, first_seen_at
        FROM fuel_v1.stations ORDER BY 1, 2
        """)
      + (withRejects
        ? lines("SELECT source, reason, raw FROM fuel_v1.rejects ORDER BY 1, 2, 3") : [])
      + lines(
        """
        SELECT pair.source_id, station_code, pair.fuel_id, price_tenths, stamped_at, learnt_at,
          is_listed
        FROM fuel.shown_price AS pair JOIN fuel.station USING (station_id) ORDER BY 1, 2, 3
        """)
  }
}
