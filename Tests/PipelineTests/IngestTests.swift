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

struct IngestTests {
  /// F-N59: a recorded document is larger than any list, such as a file with holes. It is refused
  /// before it is in memory.
  @Test func aRecordedDocumentHasALimit() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let path = "\(folder)/qld-fpd/20260702T235701Z/prices.json"
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("{}".utf8).write(to: URL(filePath: path))
    let run = try #require(try Recording(folder: folder).runs(of: "qld-fpd").first)
    #expect(try run.documents().map(\.bytes.count) == [2])
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 3 << 30)
    try file.close()
    let error = #expect(throws: IngestError.self) { try run.documents() }
    #expect("\(try #require(error))".contains("prices.json: more than 256 MB"))
  }

  /// A run over HTTP and a replay of the recording of the same answers store the same rows.
  @Test(.longer) func aReplayEqualsTheLiveRun() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let recording = Recording(folder: folder)
    let instants = Long.some(
      [Bench.end - .seconds(90_000), Bench.end - .seconds(40_000), Bench.end], short: 2)
    let live = try await TestDatabase.with { target in
      let bench = try Bench(target)
      for instant in instants {
        for feed in SimulatedFeeds.feeds {
          try await bench.ingest(feed, at: instant, recording: recording)
        }
      }
      let counts = try bench.lines(
        "SELECT source, taken_at, received, stored, unchanged, rejected, payload_sha256 FROM fuel_v1.ingest_runs ORDER BY 1, 2"
      )
      return (try bench.stored(), counts)
    }
    let replayed = try await TestDatabase.with { target in
      let bench = try Bench(target)
      for feed in SimulatedFeeds.feeds {
        for run in try recording.runs(of: feed) {
          _ = try Ingest(
            bench.source(feed), store: bench.store(), clock: .fixed(Bench.end), log: bench.log
          ).replay(run.documents())
        }
      }
      let counts = try bench.lines(
        "SELECT source, taken_at, received, stored, unchanged, rejected, payload_sha256 FROM fuel_v1.ingest_runs ORDER BY 1, 2"
      )
      return (try bench.stored(), counts)
    }
    #expect(live.0.count > 1_000)
    #expect(live.0 == replayed.0)
    #expect(live.1 == replayed.1 && live.1.count == 7 * instants.count)
  }

  /// Ten days of all feeds: after every run the database states what the market charged.
  @Test(.longer) func theHistoryIsTheMarketsTruth() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      var fetches: [(String, Instant)] = []
      let steps = Long.count(short: 8, long: 24)
      for step in 0..<steps {
        let at = Bench.end - .seconds(9 * 86_400 - step * 768_000 / steps)
        for feed in SimulatedFeeds.feeds {
          try await bench.ingest(feed, at: at)
          fetches.append((feed, at))
        }
      }
      var compared = 0
      for (feed, at) in fetches {
        // Victoria reports the prices of a day before.
        let asOf = feed == "vic-fairfuel" ? at - .seconds(86_400) : at
        let truth = bench.feeds.truth(of: feed, at: asOf)
        let stored = try bench.charged(feed, at: asOf)
        #expect(stored == truth, "\(feed) at \(at)")
        compared += truth.count
      }
      #expect(compared > 200 * steps)
    }
  }

  func fault(_ body: () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// F-H05, F-H10, F-H11, F-H12, F-H14, F-H17, F-H29, F-P06, F-P07: nothing of a bad run is stored
  /// but its record, the last good data stay, and its error states what went wrong. It shows the
  /// beginning of a page, names the field that an answer in JSON lacks, and says of a missing page
  /// that the address may have moved.
  @Test(arguments: [
    ("500", 500, "Internal Server Error.", false), ("404", 404, "{}", false),
    ("410", 410, "Gone.", false),
    ("304", 304, "", true), ("html", 200, "<!DOCTYPE html><html>maintenance</html>", true),
    ("empty", 200, "", true), ("newline", 200, "\n", true), ("zip", 200, "PK\u{3}\u{4}xx", true),
    ("pdf", 200, "%PDF-1.4", true), ("json error", 200, "{\"ok\":false}", true),
    ("truncated", 200, "{\"SitePrices\":[{\"SiteId\":1,", true),
  ])
  func aBadAnswerChangesNothing(name: String, status: Int, body: String, isRefusal: Bool)
    async throws
  {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await bench.ingest("qld-fpd")
      let before = try bench.stored()
      // The last of four calls fails.
      bench.misbehave { $0.path.contains("GetSitesPrices") ? .text(status, body) : nil }
      let error = await fault {
        try await bench.ingest("qld-fpd", at: Bench.end + .seconds(90_000))
      }
      #expect(error is FeedError)
      let address = "http://127.0.0.1:\(bench.server.port)/qld-fpd/Price/GetSitesPrices"
      let moved =
        "\(address): the address may have moved; 'url' in feeds/qld.json5, or BOWSER_QLD_FPD_URL"
      let named = [
        "500": "the provider answered 500: Internal Server Error.",
        "404": "status 404 of \(moved)", "410": "status 410 of \(moved)",
        "304": "status 304",
        "html": "an HTML page instead of data: <!DOCTYPE html><html>maintenance",
        "empty": "is empty", "newline": "is empty", "zip": "a ZIP file", "pdf": "a PDF",
        "json error": "'SitePrices' is missing",
      ]
      if let words = named[name] { #expect("\(error!)".contains(words), "\(error!)") }
      #expect(try bench.stored() == before)
      #expect(
        try bench.lines(
          "SELECT outcome, error IS NOT NULL AS e FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1"
        )
          == ["\(isRefusal ? "refused" : "failed")|t"])
      bench.misbehave(nil)
      try await bench.ingest("qld-fpd", at: Bench.end + .seconds(93_000))
    }
  }

  /// F-Z02, F-H17: a gzip body that is cut anywhere is delivered as if it were complete, but the
  /// document in it is incomplete.
  @Test func aCutGzipBodyIsRefused() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let prices = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)[0]
      let plain = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try Data(prices.bytes).write(to: plain)
      let gzip = Process()
      gzip.executableURL = URL(filePath: "/usr/bin/env")
      gzip.arguments = ["gzip", "-c", plain.path]
      let pipe = Pipe()
      gzip.standardOutput = pipe
      try gzip.run()
      let zipped = [UInt8](pipe.fileHandleForReading.readDataToEndOfFile())
      gzip.waitUntilExit()
      func send(_ body: [UInt8]) {
        let head =
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        bench.misbehave { request in
          request.path.hasSuffix("/prices") ? .raw([Array(head.utf8) + body]) : nil
        }
      }
      for cut in stride(from: 0, to: zipped.count - 9, by: 1_000) {
        send(Array(zipped[..<cut]))
        let error = await fault { try await bench.ingest("nsw-fuelcheck") }
        #expect(error is FeedError, "cut at \(cut)")
      }
      #expect(try bench.stored() == [])
      send(zipped)
      #expect(try await bench.ingest("nsw-fuelcheck").counts.stored > 50)
    }
  }

  /// F-V03: a feed whose unit changed is refused as a whole. Its records are counted and kept.
  @Test func aChangedUnitIsRefused() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await bench.ingest("nsw-fuelcheck")
      let before = try bench.stored()
      let prices = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)[0]
      let text = String(decoding: prices.bytes, as: UTF8.self)
      for factor in [10.0, 0.1, 100] {
        let changed = text.replacing(/"price":(\d+\.?\d*)/) { match in
          "\"price\":\((Double(match.1) ?? 0) * factor)"
        }
        bench.misbehave { $0.path.hasSuffix("/prices") ? .text(200, changed) : nil }
        let error = await fault {
          try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(7_200))
        }
        let message = error.map { "\($0)" } ?? ""
        #expect(error is Refusal && message.contains("records are bad"), "\(factor): \(message)")
      }
      #expect(try bench.stored().filter { !$0.contains("price_") } == before)
      #expect(
        try bench.lines(
          """
          SELECT DISTINCT outcome, received = stored + unchanged + duplicate + rejected AS adds_up,
            received > 50 AS counted FROM fuel_v1.ingest_runs WHERE outcome <> 'stored'
          """) == ["refused|t|t"])
      #expect(
        try bench.lines(
          "SELECT count(*) > 50 AS kept FROM fuel_v1.rejects WHERE reason LIKE 'price_%'") == ["t"])
    }
  }

  /// F-L07: a dry run does everything and leaves nothing.
  @Test func aRehearsalLeavesNothing() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let store = try bench.store()
      try store.beginRehearsal()
      let documents = bench.feeds.documents(of: "nsw-fuelcheck", at: Bench.end)
      for _ in 0..<2 {
        let summary = try Ingest(
          bench.source("nsw-fuelcheck"), store: store, clock: .fixed(Bench.end), log: bench.log
        ).replay(documents)
        #expect(summary.counts.received > 50)
      }
      try store.endRehearsal()
      #expect(try bench.stored() == [])
      #expect(try bench.lines("SELECT count(*) FROM fuel.run") == ["0"])
    }
  }

  /// F-H30: filters that only admit browsers also admit an honest user agent that begins like
  /// theirs.
  @Test func theAgentIsHonest() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let agents = Mutex<Set<String>>([])
      bench.misbehave { request in
        let agent = request.headers["user-agent"] ?? ""
        agents.withLock { _ = $0.insert(agent) }
        return agent.hasPrefix("Mozilla/5.0 ") ? nil : .text(403, "<html>blocked</html>")
      }
      for feed in SimulatedFeeds.feeds { try await bench.ingest(feed) }
      #expect(
        agents.withLock { $0 }
          == ["Mozilla/5.0 (compatible; bowser/1.0; +test@example.org)"])
    }
  }

  /// F-F10: a new version of a feed beside the old one is a feed of its own: both run, and neither
  /// reports for the other.
  @Test func twoVersionsStandSideBySide() async throws {
    try await TestDatabase.with { target in
      let old = try Bench(target)
      let new = try Bench(
        target,
        environment: old.environment.filter { $0.key.hasPrefix("BOWSER_SA_FPD_") }
          .reduce(into: [:]) { $0[$1.key.replacing("SA_FPD", with: "SA_FPD_NEXT")] = $1.value },
        changing: ["feed: 'sa-fpd'": "feed: 'sa-fpd-next'"])
      try await old.ingest("sa-fpd")
      new.misbehave { request in
        guard request.path.hasSuffix("GetSitesPrices"),
          case .text(let status, let body, let type, _) = old.feeds.answer(request)
        else { return nil }
        return .text(status, body.replacing("\"FuelId\":2,", with: "\"FuelId\":5,"), type: type)
      }
      try await new.ingest("sa-fpd-next")
      #expect(
        try old.lines(
          "SELECT source, count(*) > 20 FROM fuel.shown_price JOIN fuel.source USING (source_id) GROUP BY 1 ORDER BY 1"
        )
          == ["sa-fpd|t", "sa-fpd-next|t"])
      #expect(
        try old.charged("sa-fpd", at: Bench.end) == old.feeds.truth(of: "sa-fpd", at: Bench.end))
    }
  }

  /// F-K60: the first run of a day deletes what is old. Where a session holds what it would delete,
  /// that costs the run nothing.
  @Test func whatCannotBeDeletedCostsNoRun() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let other = try Connection(target)
      try other.execute("BEGIN; LOCK TABLE fuel.reject IN ACCESS EXCLUSIVE MODE")
      let summary = try await bench.ingest("qld-fpd")
      #expect(summary.counts.stored > 0)
      #expect(try bench.lines("SELECT outcome FROM fuel.run") == ["stored"])
      #expect(bench.lines.withLock { $0.contains { $0.contains("nothing old deleted") } })
      try other.execute("ROLLBACK")
    }
  }

  /// F-K61: a run that fails while it stores says why in its row, also where its refused records
  /// cannot be stored and where its session is lost. Its documents are kept and read by the next run.
  @Test(arguments: [
    ("RAISE EXCEPTION 'no room'", "no room"),
    ("PERFORM pg_terminate_backend(pg_backend_pid())", "terminating connection"),
  ])
  func aRunSaysHowItEnded(breaking: String, words: String) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let owner = try Connection(target)
      try owner.execute(
        """
        CREATE FUNCTION fuel.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN \(breaking); RETURN NEW; END $$;
        CREATE TRIGGER reject_fail BEFORE INSERT ON fuel.reject FOR EACH ROW EXECUTE FUNCTION fuel.fail()
        """)
      // Electric chargers are refused records.
      let error = await fault { try await bench.ingest("nsw-fuelcheck") }
      #expect(error is PostgresError)
      let ended = try bench.lines("SELECT outcome, requests, error FROM fuel.run")
      #expect(
        ended.count == 1 && ended[0].hasPrefix("failed|2|") && ended[0].contains(words), "\(ended)")
      try owner.execute("DROP TRIGGER reject_fail ON fuel.reject")
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(7_200))
      let read = try bench.lines(
        "SELECT kind, outcome FROM fuel.run WHERE run_id <= 2 ORDER BY run_id")
      #expect(read == ["live|superseded", "reprocess|stored"])
    }
  }

  /// Makes each reading of kept documents fail in a manner, and other runs where `also` says so.
  private func breakReadings(_ owner: Connection, _ breaking: String, also: String) throws {
    try owner.execute(
      """
      CREATE FUNCTION fuel.fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF \(also) OR (SELECT kind = 'reprocess' FROM fuel.run WHERE run.run_id = NEW.run_id) THEN
          \(breaking);
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER answer_fail BEFORE INSERT ON fuel.answer FOR EACH ROW EXECUTE FUNCTION fuel.fail()
      """)
  }

  /// F-K62: documents whose reading is cut off are read once the store works again, however often
  /// that took.
  @Test(arguments: [1, 4])
  func aReadingThatIsCutOffIsRepeated(failures: Int) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let owner = try Connection(target)
      try breakReadings(owner, "PERFORM pg_terminate_backend(pg_backend_pid())", also: "true")
      for attempt in 0...failures {
        let error = await fault {
          try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(3_600 * Int64(attempt)))
        }
        #expect(error is PostgresError, "\(attempt)")
      }
      try owner.execute("DROP TRIGGER answer_fail ON fuel.answer")
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(9 * 3_600))
      #expect(
        try bench.lines("SELECT kind, outcome FROM fuel.run ORDER BY run_id")
          == ["live|superseded"] + Array(repeating: "reprocess|failed", count: failures)
          + ["reprocess|stored", "live|unchanged"])
    }
  }

  /// F-K62: documents that cannot be stored hold up no new answer of their feed, and a person is told
  /// of them at each run. A withdrawn run that was to be read again does not hold up its feed either.
  @Test func aReadingThatFailsHoldsUpNothing() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let owner = try Connection(target)
      func hour(_ hours: Int64) -> Instant { Bench.end + .seconds(3_600 * hours) }
      try breakReadings(owner, "RAISE EXCEPTION 'no room'", also: "NEW.run_id = 2")
      try await bench.ingest("nsw-fuelcheck", at: hour(0))
      #expect(await fault { try await bench.ingest("nsw-fuelcheck", at: hour(1)) } is PostgresError)
      let withdrawal = Withdrawal(
        try bench.store(), sources: [try bench.source("nsw-fuelcheck")], clock: .fixed(hour(2)),
        log: bench.log)
      for counts in [false, true] {
        for run in try withdrawal.candidates([1], named: [1], counts: counts).found {
          try withdrawal.decide(run, counts: counts, reason: "a test")
        }
      }
      for attempt in 3...6 as ClosedRange<Int64> {
        try await bench.ingest("nsw-fuelcheck", at: hour(attempt))
      }
      let told = bench.lines.withLock { $0.filter { $0.contains("level=warning") } }
      #expect(told.count == 5 && told.allSatisfy { $0.contains("no room") }, "\(told)")
      // Each is tried in turn.
      #expect(Set(told.map { $0.contains("run=1 ") }) == [false, true])
      #expect(
        try bench.lines("SELECT outcome FROM fuel.run WHERE kind = 'live' ORDER BY run_id")[1...]
          == ["failed", "unchanged", "unchanged", "unchanged", "unchanged"])
      try owner.execute("DROP TRIGGER answer_fail ON fuel.answer")
      try await bench.ingest("nsw-fuelcheck", at: hour(7))
      #expect(
        try bench.lines("SELECT DISTINCT outcome FROM fuel.run WHERE run_id <= 2") == ["superseded"]
      )
      #expect(try bench.lines("SELECT count(*) FROM fuel.run_to_read") == ["0"])
    }
  }

  /// F-K62: documents whose reading has killed the process three times are left to a person.
  @Test func whatKillsItsReaderIsLeft() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let owner = try Connection(target)
      try breakReadings(owner, "RAISE EXCEPTION 'no room'", also: "true")
      #expect(await fault { try await bench.ingest("nsw-fuelcheck") } is PostgresError)
      try owner.execute("DROP TRIGGER answer_fail ON fuel.answer")
      let store = try bench.store()
      let source = try #require(try store.ledger.number(of: "nsw-fuelcheck"))
      for _ in 0..<3 {
        _ = try store.ledger.beginRun(
          source, at: Bench.end, kind: .reprocess(store.ledger.keptRun(1).run))
      }
      try await bench.ingest("nsw-fuelcheck", at: Bench.end + .seconds(3_600))
      #expect(
        try bench.lines("SELECT kind, outcome FROM fuel.run ORDER BY run_id")
          == ["live|failed"] + Array(repeating: "reprocess|interrupted", count: 3) + ["live|stored"]
      )
    }
  }

  /// F-N01: a list that comes late is refused, and still changes the judgement on a later one. That
  /// one was refused too, and is read again.
  @Test func aLateRefusedListLetsALaterOneCount() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      func replay(_ hour: Int64, _ count: Int) throws -> Counts {
        let rows = (1...count).map {
          "{\"SiteId\":\($0),\"FuelId\":2,\"CollectionMethod\":\"T\","
            + "\"TransactionDateUtc\":\"2026-07-01T09:00:00\",\"Price\":1799}"
        }
        let document = Document(
          name: "prices", bytes: Array("{\"SitePrices\":[\(rows.joined(separator: ","))]}".utf8),
          fetchedAt: Bench.end + .seconds(3_600 * hour))
        return try Ingest(
          bench.source("qld-fpd"), store: bench.store(),
          clock: .fixed(Bench.end + .seconds(9 * 86_400)), log: bench.log
        ).replay([document]).counts
      }
      #expect(try replay(0, 30).stored == 30)
      // Three days later it is compared with the first list, and then with the one that comes late.
      #expect(throws: Refusal.self) { try replay(80, 4) }
      #expect(throws: Refusal.self) { try replay(70, 5) }
      #expect(
        try bench.lines("SELECT outcome, replaces_run_id FROM fuel.run ORDER BY run_id")
          == ["stored|NULL", "superseded|NULL", "refused|NULL", "unchanged|2"])
    }
  }

  /// F-O72: a list that comes late is refused, and judged beside it a later one no longer proves
  /// what it leaves out. The refused run has a number, so that services read its source anew.
  @Test func whatALateRefusedListChangesIsNumbered() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let begin = Instant("2026-06-01T00:00:00Z")
      func list(_ hour: Int64, _ codes: ClosedRange<Int>, stampedAt: Int64) throws {
        try feed.reports(
          codes.map { .u91("\($0)", 1_850, begin + .seconds(3_600 * stampedAt)) },
          at: begin + .seconds(3_600 * hour), now: begin + .seconds(86_400), refuseBelow: 0.2,
          partialBelow: 0.9)
      }
      func changes() throws -> [String] {
        try feed.connection.lines(
          "SELECT run_id, what, count(*) FROM fuel_v1.changes GROUP BY 1, 2 ORDER BY 1, 2")
      }
      func ended() throws -> [String] {
        try feed.connection.lines(
          "SELECT count(*) FROM fuel_v1.price_history WHERE valid_until_at <= \(begin + .seconds(14_400))"
        )
      }
      try list(0, 1...60, stampedAt: -1)
      try list(4, 1...58, stampedAt: -1)
      #expect(try changes() == ["1|listed|60", "1|price|60", "2|ended|2"])
      #expect(try ended() == ["2"])
      // Most stamps of the list at 4 are older than those of this one.
      #expect(throws: Refusal.self) { try list(2, 1...10, stampedAt: 1) }
      #expect(try changes() == ["1|listed|60", "1|price|60", "3|history|1"])
      #expect(try ended() == ["0"])
      // A refused list that changes nothing has no number.
      #expect(throws: Refusal.self) { try list(6, 1...10, stampedAt: -1) }
      #expect(try changes() == ["1|listed|60", "1|price|60", "3|history|1"])
      #expect(try feed.store.ledger.verify(head: nil).faults == [])
    }
  }

  /// F-F60: an answer that names sites of another state lists their prices too. Later answers with
  /// the prices alone do not bring them back. F-F63: a station that nobody described is told.
  @Test func sitesOfAnotherStateStayOut() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      func replay(_ step: Int, sites: [Int: Int], prices: [Int]) throws -> Counts {
        let at = Bench.end + .seconds(600 * Int64(step))
        func document(_ name: String, _ key: String, _ rows: [String]) -> Document {
          Document(
            name: name, bytes: Array("{\"\(key)\":[\(rows.joined(separator: ","))]}".utf8),
            fetchedAt: at)
        }
        var documents = [
          document(
            "prices", "SitePrices",
            prices.map {
              "{\"SiteId\":\($0),\"FuelId\":2,\"CollectionMethod\":\"T\","
                + "\"TransactionDateUtc\":\"2026-07-01T09:0\(step):00\",\"Price\":1799}"
            })
        ]
        if !sites.isEmpty {
          documents.insert(
            document(
              "sites", "S",
              sites.sorted { $0.key < $1.key }.map {
                "{\"S\":\($0.key),\"A\":\"\($0.key) Made-Up Rd\",\"N\":\"Servo\",\"B\":1,\"P\":\"4000\","
                  + "\"G1\":1,\"G2\":1,\"G3\":\($0.value),\"Lat\":-27.4,\"Lng\":153.0}"
              }), at: 0)
        }
        return try Ingest(
          bench.source("qld-fpd"), store: bench.store(),
          clock: .fixed(Bench.end + .seconds(86_400)),
          log: bench.log
        ).replay(documents).counts
      }
      let first = try replay(0, sites: [1: 1, 2: 1, 3: 2], prices: [1, 2, 3])
      #expect(first.warnings == ["stations of NSW, which are not of this feed: 1"])
      #expect(first.rejectedByReason == ["other_state": 1] && first.received == 3)
      let later = try replay(1, sites: [:], prices: [1, 2, 3, 4])
      #expect(later.rejectedByReason == ["other_state": 1])
      #expect(
        later.warnings
          == [
            "stations with prices that were described in other states and are not of this feed: 1",
            "stations that have prices and were never described: 1, such as 4",
          ])
      #expect(
        try bench.lines("SELECT station_code FROM fuel.station ORDER BY 1") == ["1", "2", "4"])
      #expect(throws: Refusal.self) { try replay(2, sites: [3: 2], prices: [3]) }
      // The provider mends its list.
      #expect(try replay(3, sites: [1: 1, 2: 1, 3: 1], prices: [1, 2, 3]).rejectedByReason == [:])
      #expect(try replay(4, sites: [:], prices: [1, 2, 3]).rejectedByReason == [:])
    }
  }
}
