import Configuration
import Feeds
import Foundation
import FuelModel
import Simulator
import Synchronization
import TestDatabase
import Testing

@testable import HTTP

struct MyFuelTests {
  /// F-J05, F-J06, F-V02: the data of the page are found in any order of attributes. Numbers may be
  /// texts. Scheduled prices and available fuels may be missing.
  @Test func readsThePage() throws {
    let reading = try Sample.parse(
      [Sample.fixture("myfuel/page.html", at: "2026-08-31T03:00:00Z")], "nt-myfuel")
    #expect(
      reading.observations.filter { $0.fuel == .u91 }.map {
        "\($0.price!.centsPerLitre) \($0.effectiveAt.map { "\($0)" } ?? "now")"
      }
        == ["189.9 now", "195.9 2026-08-31T05:00:00Z"])
    #expect(reading.price("08300042", .laf) == "233.9 now")
    #expect(reading.price("08300042", .pdl) == "none now")
    #expect(reading.price("08300042", .dl) == "none now")
    #expect(reading.reasons == ["record_unreadable", "price_unreadable"])
    let station = try #require(reading.stations.first)
    #expect(station.name == "Tom's &amp; Co" && station.suburb == "Testville")
    #expect(station.postcode == "0830" && station.brand == "Liberty" && !station.isPublic)
    // No price is taken from an outlet that is not active.
    #expect(
      reading.stations.count == 2 && !reading.observations.contains { $0.stationCode == "08700001" }
    )
  }

  /// A scheduled price takes effect at the next 14:30 Darwin time, which is 05:00 UTC.
  @Test(arguments: [
    ("2026-08-31T04:59:59Z", "2026-08-31T05:00:00Z"),
    ("2026-08-31T05:00:00Z", "2026-09-01T05:00:00Z"),
    ("2026-08-31T14:29:00Z", "2026-09-01T05:00:00Z"),
    ("2026-12-31T23:00:00Z", "2027-01-01T05:00:00Z"),
  ])
  func scheduledPricesBeginAtHalfPastTwo(seen: String, begins: String) throws {
    let reading = try Sample.parse([Sample.fixture("myfuel/page.html", at: seen)], "nt-myfuel")
    #expect(reading.observations.compactMap(\.effectiveAt).map { "\($0)" } == [begins])
  }

  /// F-H12: a page without the data is refused. It does not mean that there are no stations.
  @Test(arguments: [
    "<html><body>Maintenance</body></html>", "<input id=\"serverJson\">",
    "<input id=\"serverJson\"><input value=\"{}\">",
    "<input id=\"serverJson\" value=\"{&quot;FuelOutlet&quot;:[]}\">",
    "<input id=\"serverJson\" value=\"{&quot;FuelOutlet&quot;:[\">",
  ])
  func refusesPagesWithoutData(page: String) {
    #expect(throws: FeedError.self) {
      try Sample.parse([Sample.document("page", page)], "nt-myfuel")
    }
  }

  private func source(_ environment: [String: String] = [:]) throws -> Source {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: folder + "/feeds", withIntermediateDirectories: true)
    let text = try String(
      contentsOf: Sample.root.appending(path: "../../config/feeds/nt.json5"), encoding: .utf8)
    try text.replacing("interface: 'page'", with: "interface: 'api'")
      .write(toFile: folder + "/feeds/nt.json5", atomically: false, encoding: .utf8)
    return try #require(Catalogue.sources(in: folder, environment: environment).first)
  }

  /// F-H27: the interface for accounts is read in batches of ten outlets. A missing batch is a
  /// fault and does not close outlets. Repeated and reordered batches yield the same observations.
  @Test func readsTheInterfaceInBatches() async throws {
    let now = SimulatedFeedTests.now
    let feeds = SimulatedFeeds(
      Market(seed: 3, stations: 900, days: SimulatedFeedTests.market.days), at: now)
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    let environment = SimulatedFeeds.keys.merging([
      "BOWSER_NT_MYFUEL_URL": "http://127.0.0.1:\(server.port)/nt-myfuel",
      "BOWSER_NT_MYFUEL_PAUSE_MILLISECONDS": "0",
    ]) { $1 }
    let source = try source(environment)
    #expect(source.secrets == ["username", "password"])
    let fetch = Fetch(
      source,
      client: .session(Limits(timeoutSeconds: 60, maxBodyBytes: 20 << 20, allowLoopback: true)),
      retry: Retry(attempts: 1, deadline: .now + .seconds(20)),
      secrets: Secrets(environment: environment), contact: "")
    let fetched = try await fetch.documents(
      source.provider.calls(source, at: now), clock: .fixed(now), counting: RequestCount())
    #expect(fetched.documents.count >= 4 && fetched.documents[0].name == "outlets")
    let whole = try source.provider.parse(fetched.documents, of: source)
    let api = whole.observations.filter { $0.price != nil && $0.effectiveAt == nil }.count
    #expect(api == feeds.truth(of: "nt-myfuel", at: now).count)
    let shuffled =
      [fetched.documents[0]] + fetched.documents.dropFirst().reversed()
      + [fetched.documents[1]]
    let distinct = try source.provider.parse(shuffled, of: source)
      .distinct(takenAt: now, horizon: source.horizon)
    #expect(distinct.observations.count == whole.observations.count && distinct.duplicates > 0)
    #expect(throws: FeedError.self) {
      try source.provider.parse(Array(fetched.documents.dropLast()), of: source)
    }
  }

  /// Returns why a run of the interface for accounts is refused.
  private func refusal(
    by client: Client, attempts: Int, seconds: Int = 5
  ) async throws -> any Error {
    let environment = SimulatedFeeds.keys.merging([
      "BOWSER_NT_MYFUEL_PAUSE_MILLISECONDS": "0"
    ]) { $1 }
    let source = try source(environment)
    let fetch = Fetch(
      source, client: client, retry: Retry(attempts: attempts, deadline: .now + .seconds(seconds)),
      secrets: Secrets(environment: environment), contact: "")
    do {
      _ = try await fetch.documents(
        source.provider.calls(source, at: SimulatedFeedTests.now), clock: .system,
        counting: RequestCount())
    } catch {
      return error
    }
    struct NotRefused: Error {}
    throw NotRefused()
  }

  /// F-N28: a list of outlets that would need more requests than a valid one can is refused before
  /// the first of them.
  @Test func aListOfTooManyOutletsAsksForNothing() async throws {
    let outlets = (0..<6_000).map { "{\"FuelOutletIdentifier\":\"\($0)\",\"OutletName\":\"x\"}" }
    let list = "{\"Outlets\":[\(outlets.joined(separator: ","))]}"
    let asked = Mutex<[String]>([])
    let client = Client { request async throws(HTTPError) in
      asked.withLock { $0.append(request.url.lastPathComponent) }
      let isToken = request.url.lastPathComponent == "token"
      let body = isToken ? "{\"access_token\":\"t\",\"expires_in\":3600}" : list
      return Response(status: 200, body: Array(body.utf8))
    }
    let error = try await refusal(by: client, attempts: 1)
    #expect("\(error)".contains("600 further requests, more than 500"), "\(error)")
    #expect(asked.withLock { $0 } == ["token", "getReferenceData"])
  }

  /// F-N48: answers that are small enough singly are refused once their total size exceeds the
  /// limit.
  @Test func answersAreBoundedTogether() async throws {
    let outlets = (0..<2_000).map { "{\"FuelOutletIdentifier\":\"\($0)\",\"OutletName\":\"x\"}" }
    let list = Array("{\"Outlets\":[\(outlets.joined(separator: ","))]}".utf8)
    let prices = Array("[\"\(String(repeating: "x", count: 1_500_000))\"]".utf8)
    let asked = Mutex(0)
    let client = Client { request async throws(HTTPError) in
      switch request.url.lastPathComponent {
      case "token":
        return Response(
          status: 200, body: Array("{\"access_token\":\"t\",\"expires_in\":3600}".utf8))
      case "getReferenceData": return Response(status: 200, body: list)
      default:
        asked.withLock { $0 += 1 }
        return Response(status: 200, body: prices)
      }
    }
    let error = try await refusal(by: client, attempts: 1, seconds: 60)
    #expect("\(error)".contains("bytes in total"), "\(error)")
    // The limit of 64 MiB is exceeded by the 45th answer of 1.5 MB. The rest of the 200 batches are
    // not requested.
    #expect(asked.withLock { $0 } == 45)
  }

  /// A refused password is not tried again, since the provider would lock the account.
  @Test func aWrongPasswordIsTriedOnce() async throws {
    let asked = Mutex(0)
    let client = Client { _ async throws(HTTPError) in
      asked.withLock { $0 += 1 }
      return Response(status: 400, body: Array("{\"error\":\"invalid_grant\"}".utf8))
    }
    let error = try await refusal(by: client, attempts: 4)
    let keys = ["BOWSER_NT_MYFUEL_USERNAME", "BOWSER_NT_MYFUEL_PASSWORD"]
    #expect(error as? FeedError == .notAllowed(document: "token", status: 400, keys: keys))
    #expect(asked.withLock { $0 } == 1)
  }
}
