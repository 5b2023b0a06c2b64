import Configuration
import Feeds
import Foundation
import FuelModel
import HTTP
import Pipeline
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

/// Runs all feeds at their own cadence for some days, with faults of the network. `make soak` runs
/// weeks of them, set by SOAK_REQUESTS and SOAK_DAYS.
struct SoakTests {
  /// Runs every feed that is due at an instant, as cron does, and returns those that stored
  /// something.
  private struct Cron {
    let bench: Bench
    let store: Store
    let client = Client.session(
      Limits(timeoutSeconds: 3, maxBodyBytes: 20 << 20, allowLoopback: true))
    let tokens = TokenCache(
      folder: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path)
    var sources: [Source]

    init(_ bench: Bench) throws {
      self.bench = bench
      store = try bench.store()
      sources = try SimulatedFeeds.feeds.map { try bench.source($0) }
    }

    func run(at now: Instant, force: Bool = false) async throws -> [(
      feed: String, error: (any Error)?
    )] {
      bench.feeds.set(now)
      var done: [(String, (any Error)?)] = []
      for source in sources {
        let ingest = Ingest(source, store: store, clock: .fixed(now), log: bench.log)
        if try !force && !ingest.isDue() { continue }
        var retry = Retry(attempts: 2, deadline: .now + .seconds(20))
        retry.sleep = { _ in }
        let fetch = Fetch(
          source, client: client, retry: retry,
          secrets: Secrets(environment: bench.environment), tokens: tokens, contact: "")
        do {
          _ = try await ingest.live(fetch)
          done.append((source.feed, nil))
        } catch let error as PostgresError {
          throw error
        } catch {
          done.append((source.feed, error))
        }
      }
      return done
    }
  }

  /// The resident memory of this process in megabytes.
  private func residentMegabytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (Int(text.split(separator: " ")[1]) ?? 0) / 256
  }

  /// Random faults by seed over all feeds, among them redirects to another host: no crash, constant
  /// memory, no credential at the other host, and at the end no price lost or invented.
  @Test(.longer) func aSoakOfFaults() async throws {
    let wanted = Long.count("SOAK_REQUESTS", short: 200, long: 800)
    let other = Mutex<[String]>([])
    let second = try Server { request in
      other.withLock { $0.append("\(request.path) \(request.headers)") }
      return .text(200, "{}")
    }
    defer { second.stop() }
    let elsewhere = "http://127.0.0.1:\(second.port)/elsewhere"
    try await TestDatabase.with { target in
      let bench = try Bench(
        target,
        environment: Dictionary(
          uniqueKeysWithValues: ["NSW_FUELCHECK", "TAS_FUELCHECK"].map {
            ("BOWSER_\($0)_CALLS_PER_MONTH", "0")
          }),
        market: Market(
          seed: 11, stations: 60,
          days: (Zone.sydney.local(Bench.end).day + -16)...(Zone.sydney.local(Bench.end).day + 3)))
      let cron = try Cron(bench)
      let random = Mutex(Random(seed: 41, "soak"))
      let faulty = Mutex(0)
      // Slow faults cost a second each, so only a few of them are included.
      let quick = Fault.all.filter {
        !FaultTests.deadly.contains($0.name)
          && !["silence", "trickle", "stall"].contains($0.name) && !$0.name.contains("huge")
          && !$0.name.contains("megabyte") && !$0.name.contains("bomb")
      }
      bench.misbehave { request in
        random.withLock { random in
          guard random.chance(0.2) else { return nil }
          faulty.withLock { $0 += 1 }
          if random.chance(0.25) {
            return .text(
              random.pick([301, 302, 303, 307, 308]), "", headers: ["Location": elsewhere])
          }
          guard case .text(let status, let body, let type, _) = bench.feeds.answer(request) else {
            return nil
          }
          let isXML = type.contains("xml")
          let fault = random.pick(quick)
          guard fault.format == nil || (fault.format == "xml") == isXML else { return nil }
          return fault.spoil((status, Array(body.utf8), type), &random)
        }
      }
      var at = Bench.end - .seconds(15 * 86_400)
      var good = 0
      var bad = 0
      var memory: [Int] = []
      let began = bench.asked.withLock { $0.count }
      while bench.asked.withLock({ $0.count }) - began < wanted, at < Bench.end {
        for (feed, error) in try await cron.run(at: at) {
          if error == nil { good += 1 } else { bad += 1 }
          if error != nil, random.withLock({ $0.chance(0.3) }) {
            // The test does not wait where a provider asked for a pause of a day.
            try cron.store.ledger.setNotBefore(
              nil,
              of: cron.store.ledger.register(
                SourceRecord(
                  feed: feed, state: .nsw, cadenceMinutes: 30, priceLapsesHours: 1,
                  sightLapsesHours: 1, attribution: "", isEnabled: true, callsPerMonth: 0)))
          }
        }
        if memory.isEmpty || bench.asked.withLock({ $0.count }) > memory.count * max(50, wanted / 8)
        {
          memory.append(try residentMegabytes())
        }
        at = at + .seconds(600)
      }
      #expect(good > 20 && bad > 10 && faulty.withLock { $0 } > wanted / 10)
      #expect(other.withLock { $0 } == [], "a redirect was followed")
      print(
        "soak: \(good) good runs, \(bad) bad, \(bench.asked.withLock { $0.count }) requests, memory \(memory) MB"
      )
      if ProcessInfo.processInfo.environment["SOAK_REQUESTS"] != nil {
        // Alone in its process: after the first quarter, memory stays constant.
        #expect((memory.last ?? 0) - memory[memory.count / 4] < 80, "\(memory)")
      }
      // F-M05: no secret in any log line or stored error.
      let texts =
        bench.lines.withLock { $0 }.joined()
        + (try bench.lines("SELECT coalesce(error, '') FROM fuel.run")).joined()
      for secret in SimulatedFeeds.keys.values where secret != "simulated" {
        #expect(!texts.contains(secret))
      }
      bench.misbehave(nil)
      let connection = try Connection(target)
      try connection.execute("UPDATE fuel.source SET not_before_at = NULL")
      for (feed, error) in try await cron.run(at: at + .seconds(86_400), force: true) {
        #expect(error == nil, "\(feed): \(error!)")
      }
      try compare(bench, at: at + .seconds(86_400))
      #expect(
        try bench.lines(
          "SELECT count(*) FROM fuel_v1.ingest_runs WHERE received <> stored + unchanged + duplicate + rejected"
        )
          == ["0"])
    }
  }

  private func compare(_ bench: Bench, at instant: Instant, feeds: [String] = SimulatedFeeds.feeds)
    throws
  {
    for feed in feeds {
      let asOf = feed == "vic-fairfuel" ? instant - .seconds(86_400) : instant
      let charged = try bench.charged(feed, at: asOf, knownAt: instant + .seconds(60))
      let truth = bench.feeds.truth(of: feed, at: asOf)
      let different = Array(Set(charged).symmetricDifference(truth).sorted().prefix(4))
      #expect(different == [] as [String], "\(feed) at \(asOf)")
      #expect(truth.count > 5)
    }
  }

  /// Days or weeks at the real cadence, over the beginning of summer time, with outages of hours.
  /// For a tenth of the time answers are misread, which is corrected by reading them again. The
  /// history is the market's truth.
  @Test(.long) func weeksAtTheRealCadence() async throws {
    let days = Long.count("SOAK_DAYS", short: 2, long: 2)
    // Summer time begins on the 4th of October.
    let end = try #require(Instant(iso: "2026-10-05T12:00:00Z"))
    let begin = end - .seconds(days * 86_400)
    let market = Market(
      seed: 23, stations: 40,
      days: (Zone.sydney.local(begin).day + -1)...(Zone.sydney.local(end).day + 2))
    try await TestDatabase.with { target in
      // In a market of forty stations, one that closes is more than the usual twentieth of a list.
      let environment = Dictionary(
        uniqueKeysWithValues: SimulatedFeeds.feeds.map {
          ("BOWSER_\($0.uppercased().replacing("-", with: "_"))_PARTIAL_BELOW_SHARE", "0.75")
        })
      let bench = try Bench(target, environment: environment, market: market)
      let misled = try Bench(
        target,
        environment: bench.environment.filter { $0.key.hasSuffix("_URL") }
          .merging(environment) { $1 },
        changing: ["snapshotMinutes: 60": "snapshotMinutes: 60,\n  fuels: { E10: 'LAF' }"],
        market: market)
      var cron = try Cron(bench)
      let right = cron.sources
      let wrong = try SimulatedFeeds.feeds.map { try misled.source($0) }
      var random = Random(seed: 77, "weeks")
      var outages: [String: Instant] = [:]
      let down = Mutex<Set<String>>([])
      bench.misbehave { request in
        let feed = request.path.split(separator: "/").first.map(String.init) ?? ""
        return down.withLock { $0.contains(feed) } ? .text(503, "") : nil
      }
      var lists: [(feed: String, at: Instant)] = []
      var failures = 0
      var at = begin
      while at < end {
        for feed in SimulatedFeeds.feeds where random.chance(0.0015) {
          outages[feed] = at + .seconds(random.integer(7_200...21_600))
        }
        down.withLock { $0 = Set(outages.filter { $0.value > at }.keys) }
        let part = (at.seconds - begin.seconds) * 10 / (end.seconds - begin.seconds)
        cron.sources = part == 3 ? wrong : right
        let before = bench.asked.withLock { $0.count }
        for (feed, error) in try await cron.run(at: at) {
          if error != nil {
            failures += 1
          } else if !bench.asked.withLock({ $0[before...].contains { $0.hasSuffix("/new") } })
            || feed != "nsw-fuelcheck"
          {
            lists.append((feed, at))
          }
        }
        // Cron does not start to the second.
        at = at + .seconds(600 - (random.chance(0.1) ? random.integer(0...20) : 0))
      }
      cron.sources = right
      let misread = try bench.lines(
        "SELECT run_id FROM fuel_v1.ingest_runs WHERE source = 'nsw-fuelcheck' AND fetched_at IS NOT NULL ORDER BY run_id"
      )
      #expect(
        try bench.lines(
          "SELECT count(*) > 0 FROM fuel.price WHERE fuel_id = 10 AND source_id = (SELECT source_id FROM fuel.source WHERE source = 'nsw-fuelcheck')"
        ) == ["t"])
      for run in misread.compactMap({ Int($0) }) {
        let kept = try cron.store.ledger.keptRun(run)
        let source = try #require(right.first { $0.feed == kept.feed })
        _ = try Ingest(source, store: cron.store, clock: .fixed(end), log: bench.log).reprocess(
          kept)
      }
      #expect(failures > 0 && lists.count > days * 150)
      print(
        "weeks: \(days) days, \(lists.count) lists, \(failures) failures, \(misread.count) read again"
      )
      for _ in 0..<min(150, lists.count) {
        let list = random.pick(lists)
        let asOf = list.feed == "vic-fairfuel" ? list.at - .seconds(86_400) : list.at
        let charged = try bench.charged(list.feed, at: asOf, knownAt: end)
        let different = Array(
          Set(charged).symmetricDifference(bench.feeds.truth(of: list.feed, at: asOf)).sorted()
            .prefix(4))
        #expect(different == [] as [String], "\(list.feed) at \(asOf)")
      }
      #expect(
        try bench.lines(
          "SELECT count(*) FROM fuel_v1.current_prices WHERE fuel = 'LAF' AND state <> 'NT'")
          == ["0"])
    }
  }
}
