import Configuration
import Feeds
import FuelModel
import Fuzzing
import Simulator
import Testing

@testable import HTTP

/// Answers to requests for a token are untrusted input, like any other answer.
struct TokenTests {
  private func authority(_ body: String) async throws -> Authority {
    let source = try Sample.source("nsw-fuelcheck")
    let now = try #require(Instant(iso: "2026-07-02T12:00:00Z"))
    return try await source.provider.authorise(source, [:], at: now) {
      _ async throws(FeedError) in Response(status: 200, body: Array(body.utf8))
    }
  }

  /// F-N12: an excessive lifetime is cut to seven days at most. A token with an invalid lifetime is
  /// not kept.
  @Test(arguments: [
    ("9300000000000", true), ("9223372036854775807", true), ("3600", true), ("0", false),
    ("-1", false), ("99999999999999999999", false),
  ])
  func lifetimesAreBounded(seconds: String, isKept: Bool) async throws {
    let now = try #require(Instant(iso: "2026-07-02T12:00:00Z"))
    let kept = try await authority("{\"access_token\":\"abc\",\"expires_in\":\"\(seconds)\"}")
    #expect((kept.expiresAt != nil) == isKept)
    #expect(kept.expiresAt.map { $0 > now && $0 <= now + .seconds(7 * 86_400) } ?? true)
  }

  /// F-N13: an excessive token, two tokens, and an answer without a valid token are refused. The
  /// error shows none of them.
  @Test(arguments: [
    "{\"access_token\":\"\(String(repeating: "C", count: 1_000_000))\"}",
    "{\"access_token\":\"CCC1\",\"access_token\":\"CCC2\"}",
    "{\"access_token\":\"CCC1\",\"access\\u005ftoken\":\"CCC2\"}",
    "{\"access_token\":\"CCC\\r\\nX-Evil: 1\"}", "{\"access_token\":\"\"}",
    "{\"access_token\":\"CCC\u{131}\"}",
    String(repeating: "[", count: 100_000), "CCC",
  ])
  func whatIsNoTokenIsRefused(body: String) async {
    let error = await #expect(throws: FeedError.self) { try await authority(body) }
    let message = error.map { "\($0)" } ?? ""
    #expect(!message.contains("CCC"), "\(message)")
  }

  /// The settings that reach the process that reads documents contain no secret.
  @Test func settingsAreNoSecrets() throws {
    for feed in ["nsw-fuelcheck", "qld-fpd", "nt-myfuel", "vic-fairfuel", "wa-fuelwatch"] {
      let source = try Sample.source(feed)
      let prefix = "BOWSER_" + feed.uppercased().replacing("-", with: "_") + "_"
      let secrets = source.secrets.map { prefix + $0.uppercased() }
      #expect(
        Set(Source.variables(of: feed)).isDisjoint(with: secrets + secrets.map { $0 + "_FILE" }))
      #expect(Source.variables(of: feed).contains(prefix + "FUELS"))
    }
  }
}

/// The answer of the process that reads documents.
struct ReadingFrameTests {
  /// A reading is the same on both sides. If its bytes are changed or cut anywhere, it is refused
  /// or consists of plain values, and it never ends the process that receives it.
  @Test(arguments: ["qld-fpd", "wa-fuelwatch", "nsw-fuelcheck", "vic-fairfuel", "nt-myfuel"])
  func readingsArriveAsTheyAre(feed: String) throws {
    let source = try Sample.source(feed)
    let now = try #require(Instant(iso: "2026-07-02T12:00:00Z"))
    let today = Zone.sydney.local(now).day
    let feeds = SimulatedFeeds(
      Market(seed: 5, stations: 30, days: (today + -3)...(today + 2)), at: now)
    let documents = feeds.documents(of: feed, at: now)
    let answer = try ReadingRequest(.reading, documents).carriedOut(for: source)
    let here = try source.provider.parse(documents, of: source)
    let there = try ReadingRequest.reading(from: answer)
    #expect(there.observations == here.observations && !here.observations.isEmpty)
    #expect(there.stations == here.stations)
    #expect(there.rejects == here.rejects && there.warnings == here.warnings)
    #expect(there.coverage == here.coverage && there.awaitsTomorrow == here.awaitsTomorrow)
    var random = Random(seed: 14, feed)
    var (refused, read) = (0, 0)
    for _ in 0..<400 {
      var bent = answer
      if random.chance(0.2) {
        bent.removeLast(random.integer(1...min(bent.count, 200)))
      } else {
        for _ in 0...random.integer(0...3) {
          bent[random.integer(0...bent.count - 1)] = UInt8(random.integer(0...255))
        }
      }
      do {
        let reading = try ReadingRequest.reading(from: bent)
        read += 1
        #expect(reading.stations.allSatisfy { $0.name.plain == $0.name })
        #expect(reading.observations.allSatisfy { !$0.stationCode.utf8.contains(0) })
      } catch {
        refused += 1
      }
    }
    #expect(refused > 0 && read > 0, "\(refused) refused, \(read) read")
  }

  /// The details of a station arrive by their names. More of them than a station may have are
  /// refused.
  @Test func detailsArriveAsTheyAre() throws {
    func station(_ details: Int) -> Station {
      var station = Station(code: "1", state: .qld, name: "Corner", address: "1 Main St")
      for number in 0..<details { station.details["detail \(number)"] = "value \(number)" }
      return station
    }
    func arrived(_ station: Station) throws -> [Station] {
      var reading = Reading(coverage: .complete)
      reading.stations = [station]
      var frame = FrameWriter()
      reading.write(to: &frame)
      var reader = FrameReader(frame.bytes)
      return try Reading(from: &reader).stations
    }
    let most = station(InputLimit.details.value)
    let read = try arrived(most)
    #expect(read == [most])
    #expect(throws: FrameReader.Broken.self) {
      try arrived(station(InputLimit.details.value + 1))
    }
  }
}
