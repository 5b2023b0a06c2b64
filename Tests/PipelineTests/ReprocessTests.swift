import Feeds
import Foundation
import FuelModel
import Pipeline
import Postgres
import Simulator
import Store
import Synchronization
import TestDatabase
import Testing

/// Documents are kept as they arrived and can be read again.
struct ReprocessTests {
  private static let wrongFuels = ["snapshotMinutes: 60": "fuels: { E10: 'LAF', DL: 'B20' }"]
  private static let instants = (0..<6).map { Bench.end - .seconds(100_000 - $0 * 18_000) }

  /// Reads runs again: all that fetched documents themselves, unless `order` changes the list.
  private func reprocess(_ bench: Bench, _ order: (inout [Int]) -> Void = { _ in }) throws {
    var runs = try bench.lines(
      "SELECT run_id FROM fuel_v1.ingest_runs WHERE replaces_run_id IS NULL ORDER BY run_id"
    ).compactMap { Int($0) }
    order(&runs)
    let store = try bench.store()
    for run in runs {
      let kept = try store.ledger.keptRun(run)
      _ = try Ingest(
        bench.source(kept.feed), store: store, clock: .fixed(Bench.end), log: bench.log
      ).reprocess(kept)
    }
  }

  private func ingest(_ bench: Bench) async throws {
    for instant in Self.instants {
      for feed in ["nsw-fuelcheck", "nt-myfuel"] { try await bench.ingest(feed, at: instant) }
    }
  }

  /// F-B04: fuels that were read wrongly for a day become what they should have been. The order in
  /// which the runs are read again does not matter, nor that they are read twice.
  @Test(.longer) func aMisreadingIsTakenBack() async throws {
    let right = try await TestDatabase.with { target in
      let bench = try Bench(target)
      try await ingest(bench)
      return try bench.stored(withRejects: false)
    }
    for isShuffled in Long.isOn ? [false, true] : [true] {
      let mended = try await TestDatabase.with { target in
        let misled = try Bench(target, changing: Self.wrongFuels)
        try await ingest(misled)
        #expect(try misled.stored(withRejects: false) != right)
        let bench = try Bench(target)
        var random = Random(seed: 3, "again")
        try reprocess(bench) { if isShuffled { $0.shuffle(using: &random) } }
        let once = try bench.stored(withRejects: false)
        try reprocess(bench)
        #expect(try bench.stored(withRejects: false) == once)
        #expect(
          try bench.lines(
            """
            SELECT count(*) FROM fuel.answer JOIN fuel.run USING (run_id)
            WHERE run.outcome = 'superseded' AND is_complete
              OR run.outcome = 'superseded' AND EXISTS (SELECT FROM fuel.price WHERE price.run_id = run.run_id)
            """) == ["0"])
        #expect(
          try bench.lines(
            "SELECT count(*) > 0 FROM fuel.answer JOIN fuel.run USING (run_id) WHERE outcome = 'superseded'"
          )
            == ["t"])
        #expect(
          try bench.lines(
            """
            SELECT count(*) FILTER (WHERE is_complete) AS complete,
              count(*) FILTER (WHERE received <> stored + unchanged + duplicate + rejected) AS wrong
            FROM fuel_v1.ingest_runs
            """) == ["12|0"])
        return once
      }
      let different = Array(Set(mended).symmetricDifference(right).sorted().prefix(4))
      #expect(different == [] as [String], "shuffled: \(isShuffled)")
    }
  }

  /// Reading one run or all of them again without a change, in whatever order, changes nothing.
  @Test func readingAgainWithoutAChangeChangesNothing() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      for step in 0..<5 {
        // The third list renames the stations whose names begin with B. The next has the old names.
        bench.misbehave { request in
          guard request.path.hasSuffix("/prices"), step == 2,
            case .text(let status, let body, let type, _) = bench.feeds.answer(request)
          else { return nil }
          return .text(status, body.replacing("\"name\":\"B", with: "\"name\":\"New B"), type: type)
        }
        for feed in ["nsw-fuelcheck", "vic-fairfuel", "nt-myfuel"] {
          try await bench.ingest(feed, at: Bench.end - .seconds((4 - step) * 20_000))
        }
      }
      bench.misbehave(nil)
      func everything() throws -> [String] {
        try bench.stored()
          + bench.lines(
            """
            SELECT station_code, station_description.name, wording_md5,
              station_description.first_seen_at, last_seen_at, run_id
            FROM fuel.station_description JOIN fuel.station USING (station_id) ORDER BY 1, 3, 4
            """)
      }
      let before = try everything()
      #expect(before.contains { $0.contains("New B") })
      for choice in [[1], [13], [7], [9], [4, 2, 15], Array(1...15)] {
        try reprocess(bench) { $0 = choice }
        let different = Array(Set(try everything()).symmetricDifference(before).sorted().prefix(3))
        #expect(different == [] as [String], "\(choice)")
      }
    }
  }

  /// F-B01, F-B04: an unknown code is kept under its own name, shown and counted. One line of
  /// configuration and the kept documents turn it into the right fuel.
  @Test func anUnknownCodeIsMappedLater() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      bench.misbehave { request in
        guard request.path.hasSuffix("/prices"),
          case .text(let status, let body, let type, _) = bench.feeds.answer(request)
        else { return nil }
        return .text(status, body.replacing("\"E10\"", with: "\"X1\""), type: type)
      }
      let summary = try await bench.ingest("nsw-fuelcheck")
      #expect(summary.counts.unmapped > 8 && summary.counts.rejected < summary.counts.received / 4)
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Bench.end.description), false)")
      func shown(_ fuel: String) throws -> Int {
        return Int(
          try connection.lines(
            "SELECT count(*) FROM fuel_v1.current_prices WHERE fuel = \(fuel)")[0]) ?? -1
      }
      let count = try shown("nsw-fuelcheck:X1")
      #expect(count > 8)
      #expect(try shown("E10") == 0)
      let health = try connection.lines(
        "SELECT why, unmapped_prices FROM fuel_v1.feed_health")
      #expect(health == ["fuel codes not mapped: X1|\(count)"])

      let mapped = try Bench(
        target, changing: ["snapshotMinutes: 60": "fuels: { X1: 'E10 from 2020-01-01' }"])
      try reprocess(mapped)
      #expect(try shown("nsw-fuelcheck:X1") == 0)
      #expect(try shown("E10") == count)
      #expect(try connection.lines("SELECT unmapped_prices FROM fuel_v1.feed_health") == ["0"])
    }
  }

  /// F-B02: a code changes its meaning on a given day.
  @Test func aCodeChangesItsMeaning() throws {
    let bench = try Bench(
      "",
      changing: [
        "snapshotMinutes: 60": "fuels: { P1: 'P95 until 2026-07-01, P98 from 2026-07-01' }"
      ])
    let source = try bench.source("nsw-fuelcheck")
    // Midnight in Sydney is 14:00 UTC the day before.
    let before = try #require(Instant(iso: "2026-06-30T13:59:59Z"))
    #expect(source.fuel("P1", at: before) == .p95)
    #expect(source.fuel("P1", at: before + .seconds(1)) == .p98)
    #expect(source.fuel("U91", at: before) == .u91)
    #expect(source.fuel("Q9", at: before) == .unmapped("Q9"))
    for text in ["P99", "P95 since 2026-07-01", "P95 from July", "P95 from", ""] {
      let broken = try Bench("", changing: ["snapshotMinutes: 60": "fuels: { P1: '\(text)' }"])
      if text.isEmpty {
        #expect(try broken.source("nsw-fuelcheck").fuel("P1", at: before) == .unmapped("P1"))
      } else {
        #expect(throws: (any Error).self) { try broken.source("nsw-fuelcheck") }
      }
    }
  }

  /// F-F08, F-K04: a process died after an update had arrived and before it was read. The next run
  /// reads the update, and no run after that reads it again.
  @Test func theUpdateOfADeadRunIsNotLost() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let begin = Bench.end - .seconds(4 * 3_600)
      try await bench.ingest("nsw-fuelcheck", at: begin)
      try await bench.ingest("nsw-fuelcheck", at: begin + .seconds(1_800))
      let at = begin + .seconds(3_000)
      bench.feeds.set(at)
      let text =
        "{\"stations\":[],\"prices\":[{\"stationcode\":\"1\",\"fueltype\":\"U91\",\"price\":201.3,"
        + "\"lastupdated\":\"01/07/2026 06:40:00\"}]}"
      do {
        let dying = try bench.store()
        let id = try dying.ledger.register(
          SourceRecord(
            feed: "nsw-fuelcheck", state: .nsw, cadenceMinutes: 30, priceLapsesHours: 1440,
            sightLapsesHours: 24, attribution: "", isEnabled: true, callsPerMonth: 0))
        let run = try dying.ledger.beginRun(id, at: at)
        try dying.ledger.keep(
          [Document(name: "news", bytes: Array(text.utf8), fetchedAt: at)], of: run, fetchedAt: at)
      }
      try await bench.ingest("nsw-fuelcheck", at: at + .seconds(600))
      let outcomes = try bench.lines(
        "SELECT kind, outcome, stored FROM fuel_v1.ingest_runs WHERE run_id >= 3 ORDER BY run_id")
      #expect(outcomes.count == 3 && outcomes[0] == "live|superseded|0")
      #expect(outcomes[1] == "reprocess|stored|1")
      #expect(
        try bench.lines(
          "SELECT learnt_at FROM fuel.price WHERE price_tenths = 2013")
          == [try Connection(target).lines("SELECT \(at)::timestamptz")[0]])
      // If it were read again each time, documents that cannot be read would stop every run.
      try await bench.ingest("nsw-fuelcheck", at: at + .seconds(1_200))
      #expect(
        try bench.lines("SELECT count(*) FROM fuel_v1.ingest_runs WHERE kind = 'reprocess'")
          == ["1"])
    }
  }

  /// F-F08, F-F09: between complete lists the program asks only for updates. The next complete list
  /// makes up for lost answers, whether the provider's day begins at midnight UTC or in Sydney.
  @Test(.long, arguments: [nil, Zone.sydney])
  func updatesAreHintsAndListsAreTheTruth(day: Zone?) async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(
        target, changing: ["snapshotMinutes: 60": "snapshotMinutes: 180"], newPricesDay: day)
      var random = Random(seed: 9, "news")
      var lost = 0
      var snapshots: [Instant] = []
      for step in 0..<72 {
        let at = Bench.end - .seconds(36 * 3_600 - step * 1_800)
        if step > 0, random.chance(0.25) {
          lost += 1
          // The provider counts the call, and the answer never arrives.
          bench.misbehave { request in
            guard !request.path.contains("accesstoken") else { return nil }
            _ = bench.feeds.answer(request)
            return .text(500, "")
          }
        }
        do {
          try await bench.ingest("nsw-fuelcheck", at: at)
          if bench.asked.withLock({ $0.last })?.hasSuffix("/prices") == true {
            snapshots.append(at)
          }
        } catch is FeedError {}
        bench.misbehave(nil)
      }
      let asked = bench.asked.withLock { $0 }
      let updates = asked.count { $0.hasSuffix("/prices/new") }
      #expect(updates > 30 && lost > 10 && snapshots.count >= 10)
      for at in snapshots {
        #expect(
          try bench.charged("nsw-fuelcheck", at: at)
            == bench.feeds.truth(of: "nsw-fuelcheck", at: at))
      }
    }
  }

  /// Documents are deleted after their time, but not what they reported. The newest fifty runs keep
  /// theirs, even if the clock has jumped ahead by a year.
  @Test(.long) func documentsAreForgottenInTime() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target)
      let store = try bench.store()
      for step in 0..<60 {
        try await bench.ingest("nt-myfuel", at: Bench.end - .seconds((60 - step) * 3_600))
      }
      let facts = try bench.lines("SELECT count(*) FROM fuel.price")
      let id = try store.ledger.register(
        SourceRecord(
          feed: "nt-myfuel", state: .nt, cadenceMinutes: 30, priceLapsesHours: 8760,
          sightLapsesHours: 24, attribution: "", isEnabled: true, callsPerMonth: 0))
      try store.ledger.pruneBodies(of: id, before: Bench.end + .seconds(365 * 86_400))
      #expect(try bench.lines("SELECT count(DISTINCT run_id) FROM fuel.run_body") == ["50"])
      #expect(
        try bench.lines(
          "SELECT count(*) FROM fuel.body WHERE NOT EXISTS (SELECT FROM fuel.run_body WHERE run_body.sha256 = body.sha256)"
        )
          == ["0"])
      #expect(try bench.lines("SELECT count(*) FROM fuel.price") == facts)
      #expect(throws: BodyError.notKept(1)) { try store.ledger.keptRun(1) }
      #expect(throws: BodyError.unknownRun(999)) { try store.ledger.keptRun(999) }
    }
  }

  /// F-N05: documents are deleted by their age, at whatever minute cron reads the feed.
  @Test(.long) func documentsAreForgottenAtAnyMinute() async throws {
    try await TestDatabase.with { target in
      let bench = try Bench(target, environment: ["BOWSER_NT_MYFUEL_KEEP_BODIES_DAYS": "1"])
      for step in 0..<80 {
        try await bench.ingest(
          "nt-myfuel", at: Bench.end - .seconds((80 - step) * 3_600 - 2_400))
      }
      let kept = try bench.lines("SELECT count(DISTINCT run_id) FROM fuel.run_body")
      #expect(Int(kept[0])! < 75, "\(kept) of 80")
    }
  }
}
