import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Synchronization
import TestDatabase
import Testing

@testable import Store
@testable import Timeline

/// Tests an aggregate whose work is shared by several connections.
struct WorkersTests {
  // 1,200 stations and fuels, so that there are more batches than connections.
  private static let stations = 200
  private static let fuels = ["U91", "E10", "P95", "P98", "DL", "LPG"]
  private static let now = Instant("2025-04-02T02:00:00Z")

  /// Prices of a month. On one day ten neighbours charge half as much again, and so does one
  /// station far from them.
  private static func file(month: Int) -> String {
    var random = Random(seed: UInt64(month), "workers")
    var lines: [(at: String, text: String)] = []
    for station in 0..<stations {
      for (position, fuel) in fuels.enumerated() {
        let level = 1_500 + station % 50 + position * 60
        func add(_ at: String, _ tenths: Int) {
          lines.append(
            (
              at,
              "S\(station),\"\(station + 1) Main St, T\(station) NSW 2000\",T\(station),2000,B,\(fuel),"
                + "\(at),\(tenths / 10).\(tenths % 10)\n"
            ))
        }
        for week in 0..<4 {
          add("2025-0\(month)-0\(1 + week * 2) 1\(random.integer(0...9)):00:00", level + week)
        }
        guard month == 2 else { continue }
        add("2025-02-1\(random.integer(0...1)) 09:00:00", level + 9)
        if station < 10 || station == 150 {
          add("2025-02-12 0\(station % 10):30:00", level * 3 / 2)
          add("2025-02-12 21:00:00", level + 5)
        }
        add("2025-02-20 09:00:00", level + 7)
      }
    }
    return "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
      + lines.sorted { $0.at < $1.at }.map(\.text).joined()
  }

  /// Makes a database that has the prices, of which nothing has been made yet.
  private func withPrices(_ body: (Feed, String) async throws -> Void) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
      for month in 1...3 {
        _ = try await HistoryOrderTests.withFile(Self.file(month: month)) { path in
          try await Backfill(
            HistoryOrderTests.archive("nsw"), store: feed.store, decisions: [],
            clock: .fixed(Self.now), log: Logger(.error)
          ).run([path])
        }
      }
      // Ten neighbours in one town, the others in another.
      try feed.connection.query(
        """
        UPDATE fuel.station SET
          latitude = -33.8 + substring(name FROM 2)::integer % 10 * 0.001,
          longitude = CASE WHEN substring(name FROM 2)::integer < 10 THEN 151.2 ELSE 147.3 END
        """)
      try await body(feed, target)
    }
  }

  private func workers(_ feed: Feed, _ target: String, count: Int) -> Workers {
    Workers(feed.store, count: count) { Store(try Connection(target)) }
  }

  /// Returns spans with their doubts, days of stations, and averages.
  private func made(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      """
      SELECT name, fuel_id, from_at, until_at, price_tenths, doubt, doubt_until_at
      FROM fuel.span JOIN fuel.station USING (station_id) ORDER BY name, fuel_id, from_at
      """)
      + feed.connection.lines(
        """
        SELECT name, fuel_id, month, days FROM fuel.station_month JOIN fuel.station USING (station_id)
        ORDER BY name, fuel_id, month
        """)
      + feed.connection.lines(
        "SELECT to_jsonb(d) - 'made_at' FROM fuel.daily_rollup AS d ORDER BY 1")
  }

  private func doubtful(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      """
      SELECT name, count(*), min(doubt) FROM fuel.span JOIN fuel.station USING (station_id)
      WHERE doubt IS NOT NULL GROUP BY name
      """)
  }

  /// The result is the same however many connections share the work, also where one of them is lost
  /// and the rest is made later.
  @Test func sharedWorkEndsAlike() async throws {
    try await withPrices { feed, target in
      let regions = [Region.nation, .newSouthWales]
      try feed.aggregate(at: Self.now, regions: regions)
      let alone = try made(feed)
      #expect(alone.count > 10_000)
      // The ten neighbours have company, whichever connection made them; the other station has
      // none.
      let doubted = try doubtful(feed)
      #expect(doubted == ["S150|6|far"])

      try await withPrices { feed, target in
        try feed.aggregate(
          at: Self.now, regions: regions, workers: workers(feed, target, count: 3))
        #expect(try made(feed) == alone)
      }

      try await withPrices { feed, target in
        let own = try feed.connection.query("SELECT pg_backend_pid() AS pid").only().integer("pid")
        let admin = try Connection(target)
        let isLost = Mutex(false)
        #expect(throws: PostgresError.self) {
          try TimelineUpdate.makeAll(workers(feed, target, count: 3), now: Self.now) { _, _ in
            let isFirst = isLost.withLock { lost in
              defer { lost = true }
              return !lost
            }
            guard isFirst else { return }
            _ = try? admin.query(
              """
              SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid NOT IN (\(own), pg_backend_pid())
              """)
          }
        }
        let left = try feed.connection.lines(
          "SELECT EXISTS (SELECT FROM fuel.span), EXISTS (SELECT FROM fuel.due WHERE step = 'spans') AS are_left"
        )
        #expect(left == ["t|t"])
        try feed.aggregate(
          at: Self.now, regions: regions, workers: workers(feed, target, count: 2))
        #expect(try made(feed) == alone)
      }
    }
  }

  /// What an aggregate leaves that stops between the last batch and the judgement is judged by the
  /// next one.
  @Test func whatIsMadeIsJudgedLater() async throws {
    try await withPrices { feed, _ in
      try feed.aggregate(at: Self.now, regions: [.nation])
      let doubted = try doubtful(feed)
      #expect(!doubted.isEmpty)
      for outcome in ["done", "interrupted"] {
        try feed.connection.execute(
          """
          UPDATE fuel.span SET doubt = NULL, doubt_from_at = NULL, doubt_until_at = NULL;
          INSERT INTO fuel.aggregate_run (started_at, finished_at, outcome, days, verdicts, new_verdicts)
          VALUES (now(), now(), '\(outcome)', 0, 0, 0)
          """)
        try TimelineUpdate.makeAll(Workers(feed.store), now: Self.now)
        #expect(try doubtful(feed) == (outcome == "done" ? [] : doubted))
      }
    }
  }

  /// A mark that another connection is taking, before its commit, does not count: another
  /// connection that needs the mark waits and marks again.
  @Test func marksThatAreBeingTakenAreMarkedAnew() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1_800, Self.now)], at: Self.now)
      let february = DueSpan(
        fuelIDs: [1], from: Day("2025-02-01")!, to: Day("2025-02-28")!)
      try feed.connection.execute(
        "INSERT INTO fuel.due VALUES ('averages', date '2025-02-01' - '1970-01-01', 1, '2025-02-10', '2025-02-10')"
      )
      let pid = try feed.connection.query("SELECT pg_backend_pid() AS pid").only().integer("pid")
      let watch = try Connection(target)

      try feed.connection.begin()
      _ = try feed.store.due.takeAverages(of: february)
      // A station that is known in January is expected in February.
      let january = MonthSpan(
        pair: Pair(stationID: 1, fuelID: 1), first: Month(Day("2025-01-01")!),
        last: Month(Day("2025-01-01")!))
      let day = StationDay(
        standing: .known, mean: 1, low: 1, high: 1, last: 1, seconds: 86_400)
      async let replaced: Void = onThreadOfItsOwn {
        try Store(try Connection(target)).transactionally { store in
          try store.days.replace(
            [january],
            with: [
              StationMonth(
                pair: january.pair, month: january.first, days: Array(repeating: day, count: 31))
            ], areMarksTaken: true, now: Self.now)
        }
      }
      try await untilSomeoneWaits(for: pid, watch)
      try feed.connection.commit()
      try await replaced
      #expect(
        try feed.connection.lines(
          "SELECT until_on FROM fuel.due WHERE step = 'averages' AND from_on = '2025-02-01'"
        )
          == ["2025-02-28"])
    }
  }

  /// A month that is loaded while an aggregate reads the loaded months is left for the next
  /// aggregate.
  @Test func aMonthThatComesMeanwhileIsKept() async throws {
    try await withPrices { feed, target in
      _ = try feed.store.due.spansDue()
      let watch = try Connection(target)
      func note(_ month: String) throws {
        try watch.query(
          """
          INSERT INTO fuel.due
          SELECT 'months', day - date '1970-01-01', source_id, day, day
          FROM fuel.archive_coverage, (SELECT \(month)::date AS day) AS noted
          LIMIT 1
          """)
      }
      try note("2025-01-01")
      let pid = try feed.connection.query("SELECT pg_backend_pid() AS pid").only().integer("pid")
      try feed.connection.begin()
      _ = try feed.connection.query("SELECT FROM fuel.due WHERE step = 'spans' FOR UPDATE")
      async let read: Void = onThreadOfItsOwn {
        _ = try Store(try Connection(target)).due.spansDue()
      }
      try await untilSomeoneWaits(for: pid, watch)
      try note("2025-03-01")
      try feed.connection.commit()
      try await read
      #expect(
        try watch.lines("SELECT from_on FROM fuel.due WHERE step = 'months'") == ["2025-03-01"])
    }
  }

  /// F-L09: the first two files of an archive that have no station in common are written at once.
  /// One makes the table of the archive, and the other waits for it.
  @Test func theFirstFilesOfAnArchiveAreWrittenAtOnce() async throws {
    try await TestDatabase.with { target in
      let first = try Connection(target)
      try first.execute(
        """
        INSERT INTO fuel.source (
          source, state, cadence, price_lapses_after, sight_lapses_after, tells_whole_days, attribution, is_enabled,
          calls_per_month, account, kind, scheme)
        VALUES ('an-archive', 'QLD', '1 day', '30 days', '2 days', false, 'a test', true, 0, 'an-archive', 'archive', 'x')
        """)
      let pid = try first.query("SELECT pg_backend_pid() AS pid").only().integer("pid")
      let watch = try Connection(target)

      try first.begin()
      try first.execute(Self.beginning("2025-01-01"))
      async let second: Void = onThreadOfItsOwn {
        try Connection(target).execute(Self.beginning("2025-02-01"))
      }
      try await untilSomeoneWaits(for: pid, watch)
      try first.commit()
      try await second
      #expect(
        try watch.lines(
          """
          SELECT count(*) FROM pg_class
          WHERE relnamespace = 'fuel'::regnamespace AND relname ~ '^archive_price_[0-9]+_2025_0[12]$'
          """) == ["2"])
    }
  }

  private static func beginning(_ month: String) -> String {
    "SELECT fuel.begin_archive_month(source_id, '\(month)') FROM fuel.source WHERE source = 'an-archive'"
  }

  private func untilSomeoneWaits(for pid: Int, _ watch: Connection) async throws {
    for _ in 0..<600 {
      let waiting = try watch.lines(
        "SELECT count(*) FROM pg_stat_activity WHERE \(pid) = ANY (pg_blocking_pids(pid))")
      if waiting != ["0"] { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("nobody waited")
  }
}

extension Store {
  fileprivate func transactionally(_ body: (Store) throws -> Void) throws {
    try transaction { try body(self) }
  }
}
