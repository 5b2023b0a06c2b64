import FuelModel
import Postgres
import Store
import TestDatabase
import Testing
import Timeline

/// What one run does to the history.
struct AbsorbTests {
  /// F-S23, F-S24: a list is stored beside 6,000 older ones, and an aggregate follows. Few rows of runs
  /// are read, because each statement looks for them in an index.
  @Test func aListReadsFewOfTheOldRuns() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let begin = Instant("2026-06-01T00:00:00Z")
      func report(_ hour: Int) throws {
        try feed.reports(
          (10..<40).map { .u91("\($0)", 1_850 + hour, begin + .seconds(3_600 * hour)) },
          at: begin + .seconds(3_600 * hour), refuseBelow: 0.7, partialBelow: 0.95)
      }
      try report(0)
      let owner = try Connection(target)
      try owner.execute(
        """
        SET session_replication_role = replica;
        CREATE TEMPORARY TABLE copy AS
        SELECT (jsonb_populate_record(run, jsonb_build_object(
          'run_id', 10 + number, 'change_number', 10 + number,
          'taken_at', run.taken_at - number * interval '30 minutes',
          'fetched_at', run.taken_at - number * interval '30 minutes'))).*
        FROM fuel.run, generate_series(1, 6000) AS series (number)
        WHERE run.run_id = 1;
        -- The last column follows from the others.
        ALTER TABLE copy DROP COLUMN confirms;
        INSERT INTO fuel.run OVERRIDING SYSTEM VALUE SELECT * FROM copy;
        SELECT setval(pg_get_serial_sequence('fuel.run', 'run_id'), 30000);
        UPDATE fuel.change_counter SET newest = 30000;
        ANALYZE fuel.run
        """)
      func rowsRead() throws -> Int {
        try feed.connection.execute("SELECT pg_stat_force_next_flush()")
        return try #require(
          Int(
            owner.lines(
              """
              SELECT seq_tup_read + idx_tup_fetch FROM pg_catalog.pg_stat_user_tables
              WHERE relid = 'fuel.run'::regclass
              """)[0]))
      }
      try feed.aggregate(at: begin + .seconds(1_800))
      let before = try rowsRead()
      try report(1)
      try feed.aggregate(at: begin + .seconds(5_400))
      let read = try rowsRead() - before
      #expect((1...2_000).contains(read))
    }
  }

  private let start = Instant("2026-07-01T00:00:00Z")

  private func hour(_ hours: Double) -> Instant { start + .seconds(Int64(hours * 3600)) }

  private func history(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      """
      SELECT station_id, fuel, price_cpl, valid_from_at, valid_until_at
      FROM fuel_v1.price_history ORDER BY 1, 2, 4
      """)
  }

  @Test func theSamePayloadAgainAddsOnlyItsRunRecord() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let observations = [Observation.u91("1", 1899, hour(-1)), .u91("2", 0, hour(-2))]
      let reject = Reject(.unknownFuel, raw: "X1")
      let first = try feed.reports(observations, at: hour(0), rejects: [reject])
      #expect(first.stored == 2 && first.unchanged == 0 && first.rejected == 1)
      let sizes: SQL =
        """
        SELECT (SELECT count(*) FROM fuel.price) AS prices, (SELECT count(*) FROM fuel.listing) AS l,
          (SELECT count(*) FROM fuel.station) AS s, (SELECT count(*) FROM fuel.reject) AS r,
          (SELECT sum(('x' || substr(md5(p::text), 1, 8))::bit(32)::bigint) FROM fuel.shown_price p)
            AS cache, (SELECT count(*) FROM fuel.run) AS runs
        """
      let before = try feed.connection.lines(sizes)
      let second = try feed.reports(observations, at: hour(1), rejects: [reject])
      #expect(second.stored == 0 && second.unchanged == 2 && second.rejected == 1)
      #expect(second.received == 3)
      let after = try feed.connection.lines(sizes)
      #expect(before[0].hasSuffix("|1") && after[0].hasSuffix("|2"))
      #expect(before[0].dropLast(2) == after[0].dropLast(2))
      // The row of the run alone confirms every price in the list.
      try feed.connection.execute("SET bowser.now = '2026-07-01T02:00:00Z'")
      #expect(
        try feed.connection.lines(
          "SELECT DISTINCT confirmed_at FROM fuel_v1.current_prices WHERE price_cpl > 0")
          == ["2026-07-01 01:00:00+00"])
    }
  }

  /// A list confirms the present price also where it announces the next one.
  @Test func aPriceWithASuccessorIsConfirmed() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for step in 0...1 {
        try feed.reports(
          [.u91("1", 1_899, hour(-5)), .u91("1", 1_999, hour(8)), .u91("2", 1_899, hour(-5))],
          at: hour(Double(step)))
      }
      try feed.connection.execute("SET bowser.now = '2026-07-01T02:00:00Z'")
      #expect(
        try feed.connection.lines(
          "SELECT next_price_cpl, confirmed_at FROM fuel_v1.current_prices ORDER BY 1")
          == ["199.9|2026-07-01 01:00:00+00", "NULL|2026-07-01 01:00:00+00"])
    }
  }

  /// F-N45: a feed that sends other invalid records each time does not fill the disk. Up to a limit
  /// the refused records are kept, all of them are counted, and they are deleted after a year.
  @Test(.long) func refusedRecordsHaveALimit() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let limit = InputLimit.rejectsKept.value
      func rubbish(_ numbers: Range<Int>) -> [Reject] {
        numbers.map { Reject(.unknownFuel, raw: "X\($0)") }
      }
      let observations = [Observation.u91("1", 1899, hour(-1))]
      for (turn, numbers) in [0..<limit - 10, limit - 10..<limit + 500].enumerated() {
        let counts = try feed.reports(
          observations, at: hour(Double(turn)), rejects: rubbish(numbers))
        #expect(counts.rejected == numbers.count)
      }
      // Pruning goes by the server's clock, which is ahead of the clock of this market.
      try feed.connection.execute(
        "RESET ROLE; UPDATE fuel.reject SET rejected_at = now(); SET ROLE fuel_writer")
      func kept() throws -> [String] {
        try feed.connection.lines("SELECT count(*) FROM fuel.reject")
      }
      #expect(try kept() == ["\(limit)"])
      let source = feed.id
      try feed.store.ledger.pruneRejects(of: source)
      #expect(try kept() == ["\(limit)"])
      try feed.connection.execute(
        """
        RESET ROLE;
        UPDATE fuel.reject SET rejected_at = now() - interval '370 days' WHERE raw < 'X5';
        SET ROLE fuel_writer
        """)
      try feed.store.ledger.pruneRejects(of: source)
      let left = Int(try kept()[0])!
      #expect((1..<limit).contains(left))
      try feed.reports(observations, at: hour(3), rejects: rubbish(limit + 500..<limit + 507))
      #expect(try kept() == ["\(left + 7)"])
    }
  }

  @Test func aPriceAheadTakesEffectByItself() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24)
      try feed.reports(
        [.u91("1", 1700, hour(-2)), .u91("1", 1899, hour(22)), .u91("2", 1750, hour(22))],
        at: hour(7), coverage: .partial)
      func current(at instant: Instant) throws -> [String] {
        try feed.connection.query("SELECT set_config('bowser.now', \(instant.description), false)")
        return try feed.connection.lines(
          """
          SELECT station_id, price_cpl, next_price_cpl, is_fresh FROM fuel_v1.current_prices
          ORDER BY station_id
          """)
      }
      #expect(try current(at: hour(21.9)) == ["1|170.0|189.9|t"])
      // No run happens in between. The station with a price only for tomorrow now has a price too.
      #expect(try current(at: hour(22)) == ["1|189.9|NULL|t", "2|175.0|NULL|t"])
      #expect(try current(at: hour(46.1)) == ["1|189.9|NULL|f", "2|175.0|NULL|f"])
      #expect(try current(at: hour(24 * 40)) == [])
    }
  }

  /// F-O20: at an instant of the past, the next price is one that was known by then.
  @Test func aPastInstantKnowsNoLaterPrice() async throws {
    try await TestDatabase.with { target in
      let west = try Feed(target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24)
      let north = try Feed(target)
      // The price of tomorrow is stated again for the day after it.
      for (at, tenths, begins) in [(0, 1700, -2), (7, 1899, 22), (31, 1899, 46)] {
        try west.reports(
          [.u91("1", tenths, hour(Double(begins)))], at: hour(Double(at)), coverage: .partial)
      }
      try north.reports([.u91("1", 1600, hour(-1))], at: hour(0))
      try north.reports([.u91("1", 1650, hour(9))], at: hour(10))
      func current(at instant: Instant) throws -> [String] {
        try north.connection.query(
          "SELECT set_config('bowser.now', \(instant.description), false)")
        return try north.connection.lines(
          "SELECT state, price_cpl, next_price_cpl FROM fuel_v1.current_prices ORDER BY state")
      }
      #expect(try current(at: hour(6)) == ["QLD|160.0|NULL", "WA|170.0|NULL"])
      #expect(try current(at: hour(8)) == ["QLD|160.0|NULL", "WA|170.0|189.9"])
      #expect(
        try north.connection.lines("SELECT state, tomorrow_cpl FROM fuel_v1.tomorrow_prices")
          == ["WA|189.9"])
    }
  }

  /// F-F09, F-V02: a price ends when the feed states that the fuel is not available, and when a
  /// complete list leaves it out. When the fuel comes back, a new validity span begins.
  @Test func absenceInACompleteListEndsAPrice() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(-5)), .u91("2", 1799, hour(-5))], at: hour(0))
      try feed.reports([.u91("1", 1899, hour(-5))], at: hour(1))
      try feed.reports([.u91("1", 0, hour(1.5))], at: hour(2))
      try feed.reports([.u91("1", 1909, hour(2.5)), .u91("2", 1799, hour(-5))], at: hour(3))
      try feed.connection.execute("SET bowser.now = '2026-07-01T04:00:00Z'")
      #expect(
        try history(feed) == [
          "1|U91|189.9|2026-06-30 19:00:00+00|2026-07-01 01:30:00+00",
          "1|U91|190.9|2026-07-01 02:30:00+00|NULL",
          "2|U91|179.9|2026-06-30 19:00:00+00|2026-07-01 01:00:00+00",
          "2|U91|179.9|2026-07-01 03:00:00+00|NULL",
        ])
    }
  }

  /// A price that a partial list leaves out does not end.
  @Test func aPartialListEndsNothing() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(-5)), .u91("2", 1799, hour(-5))], at: hour(0))
      try feed.reports([.u91("1", 1899, hour(-5))], at: hour(1), coverage: .partial)
      try feed.connection.execute("SET bowser.now = '2026-07-01T02:00:00Z'")
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel_v1.current_prices") == ["2"])
    }
  }

  /// F-F01, F-F02: a list that shrank by half is refused and changes nothing. A list that shrank a
  /// little is stored, but the prices that it leaves out do not end.
  @Test func aShrunkListIsRefused() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let full = (1...20).map { Observation.u91("\($0)", 1800 + $0, hour(-1)) }
      try feed.reports(full, at: hour(0))
      func absorb(_ count: Int, at takenAt: Instant) throws {
        try feed.reports(
          Array(full.prefix(count)), at: takenAt, refuseBelow: 0.7, partialBelow: 0.95)
      }
      #expect(throws: Refusal("only 10 prices where 20 were listed before: below 70 %")) {
        try absorb(10, at: hour(1))
      }
      try absorb(18, at: hour(2))
      try feed.connection.execute("SET bowser.now = '2026-07-01T03:00:00Z'")
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel_v1.current_prices") == ["20"])
      try absorb(19, at: hour(3))
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel_v1.current_prices") == ["19"])
    }
  }

  /// A list that is too short is judged the same way when it arrives late.
  @Test func aShortListIsPartialWheneverItArrives() async throws {
    var ends: [[String]] = []
    for order in [[0, 1, 2], [0, 2, 1]] {
      let end = try await TestDatabase.with { target in
        let feed = try Feed(target)
        let full = (1...20).map { Observation.u91("\($0)", 1800 + $0, hour(-1)) }
        for position in order {
          let takenAt = hour(Double(position))
          try feed.reports(
            position == 1 ? Array(full.prefix(17)) : full, at: takenAt, now: hour(5),
            refuseBelow: 0.7,
            partialBelow: 0.95)
        }
        return try feed.published(at: hour(5))
      }
      ends.append(end)
    }
    #expect(ends[0] == ends[1] && ends[0].count >= 60)
  }

  /// A run whose clock is behind the stored prices does not turn the price in effect into a future
  /// one.
  @Test func anOldClockDoesNoHarm() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(5))
      try feed.reports([.u91("1", 1799, hour(-3))], at: hour(-2), now: hour(-2))
      try feed.connection.execute("SET bowser.now = '2026-07-01T06:00:00Z'")
      #expect(
        try feed.connection.lines("SELECT price_cpl FROM fuel_v1.current_prices") == ["189.9"])
    }
  }

  /// F-T02, F-F07, F-F09: a price with an older stamp goes into the history and does not replace
  /// the price in effect.
  @Test func anOlderStampDoesNotMoveThePresent() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(1))
      try feed.reports([.u91("1", 1799, hour(-3))], at: hour(2))
      try feed.connection.execute("SET bowser.now = '2026-07-01T03:00:00Z'")
      #expect(
        try feed.connection.lines("SELECT price_cpl FROM fuel_v1.current_prices") == ["189.9"])
      #expect(try history(feed).count == 2)
    }
  }

  /// When two documents report different prices for one instant, the price of the later document
  /// counts, in either order of arrival.
  @Test func ofTwoPricesForOneInstantTheOneLearntLastSpeaks() async throws {
    for order in [[1.0, 2.0], [2.0, 1.0]] {
      try await TestDatabase.with { target in
        let feed = try Feed(target)
        for taken in order {
          try feed.reports(
            [.u91("1", taken == 1 ? 1899 : 1999, hour(0))], at: hour(taken), now: hour(3))
        }
        try feed.connection.execute("SET bowser.now = '2026-07-01T03:00:00Z'")
        #expect(
          try feed.connection.lines("SELECT price_cpl FROM fuel_v1.current_prices") == ["199.9"])
        #expect(try history(feed).count == 1)
      }
    }
  }

  /// A stored price keeps the time of its earliest document, in whatever order documents arrive.
  @Test func aFactKeepsWhenItWasLearntFirst() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(5), now: hour(6))
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(1), now: hour(6))
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(3), now: hour(6))
      #expect(
        try feed.connection.lines("SELECT min(learnt_at) FROM fuel.counted_price")
          == ["2026-07-01 01:00:00+00"])
      #expect(
        try feed.connection.lines("SELECT learnt_at FROM fuel.shown_price")
          == ["2026-07-01 01:00:00+00"])
    }
  }

  /// F-S01, F-B03: a station with a new name is the same station. What its new description leaves
  /// open keeps its value.
  @Test func aRenamedStationIsTheSame() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      func station(_ name: String, _ brand: String?) -> Station {
        Station(
          code: "1", state: .qld, name: name, brand: brand, address: "1 Main Rd",
          position: Position(latitude: -27.123456789, longitude: 153.1))
      }
      try feed.reports(
        [.u91("1", 1899, hour(0))], stations: [station("Caltex A", "Caltex")], at: hour(0))
      try feed.reports([.u91("1", 1899, hour(0))], stations: [station("Ampol A", nil)], at: hour(1))
      // An old description that arrives late changes nothing.
      try feed.reports(
        [.u91("1", 1899, hour(0))], stations: [station("Older", "Old")], at: hour(-9))
      let shown = try feed.connection.lines("SELECT name, brand, latitude FROM fuel_v1.stations")
      #expect(shown == ["Ampol A|Caltex|-27.123457"])
      // An old description counts for a station that has no newer one.
      let gone = Station(code: "9", state: .qld, name: "Gone", address: "")
      try feed.reports([.u91("9", 1899, hour(-8))], stations: [gone], at: hour(-8))
      #expect(
        try feed.connection.lines(
          "SELECT name FROM fuel_v1.stations WHERE source_station_code = '9'")
          == ["Gone"])
    }
  }

  /// F-H28: a price of a station that no site list has described yet is kept.
  @Test func aPriceOfAnUndescribedStationIsKept() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("77", 1899, hour(0))], at: hour(0))
      #expect(
        try feed.connection.lines("SELECT source_station_code, state, name FROM fuel_v1.stations")
          == ["77|QLD|NULL"])
    }
  }

  /// Details are kept with the description that states them. A description without details has the
  /// digest that it had before there were details, so that an upgrade stores none a second time.
  /// The history tells descriptions apart by their details, and `stations --explain`, which shows
  /// none, has one line for both.
  @Test func detailsAreKeptWithADescription() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for (phone, at) in [("07 5550 0000", hour(0)), (nil, hour(1))] as [(String?, Instant)] {
        let station = Station(
          code: "1", state: .qld, name: "Corner", address: "1 Main St", details: ["phone": phone])
        try feed.reports([.u91("1", 1899, at)], stations: [station], at: at)
      }
      let kept = try feed.connection.lines(
        """
        SELECT
          details ->> 'phone' AS phone,
          last_seen_at,
          CASE
            WHEN wording_md5 = md5(ROW(
              state, time_zone, name, brand, address, suburb, postcode, latitude, longitude, is_public)::text)::uuid
            THEN 'as before'
            ELSE 'another'
          END AS digest
        FROM fuel.station_description
        ORDER BY first_seen_at
        """)
      #expect(
        kept == [
          "07 5550 0000|2026-07-01 00:00:00+00|another", "NULL|2026-07-01 01:00:00+00|as before",
        ])
      let history = try feed.connection.lines(
        "SELECT name, details FROM fuel_v1.station_history ORDER BY first_seen_at")
      #expect(history == ["Corner|{\"phone\": \"07 5550 0000\"}", "Corner|NULL"])
      let number = try feed.connection.query("SELECT station_id FROM fuel.station").only()
        .integer("station_id")
      let explained = try feed.store.stations.describedRecords(ofStation: number).map { record in
        record.descriptions.map { $0.text }
      }
      #expect(explained == [["Corner, 1 Main St"]])
      // A description without a telephone number leaves the station its number.
      #expect(
        try feed.connection.lines("SELECT phone FROM fuel_v1.stations") == ["07 5550 0000"])
    }
  }

  @Test func countsThatDoNotAddUpAreRefusedByTheTable() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let run = try feed.store.ledger.beginRun(feed.id, at: hour(0))
      #expect(throws: PostgresError.self) {
        try feed.connection.query("UPDATE fuel.run SET received = 5 WHERE run_id = \(run)")
      }
    }
  }

  /// F-V09: the table itself refuses absurd prices, by its bounds, and whatever is no whole number.
  @Test(arguments: [
    ("-1", "23514"), ("30001", "23514"), ("2147483647", "23514"), ("2147483648", "22003"),
    ("'NaN'::float8", "22003"), ("'Infinity'::float8", "22003"), ("'NaN'::numeric", "0A000"),
    ("'Infinity'::numeric", "0A000"), ("'NaN'", "22P02"),
  ])
  func theTableRefusesAbsurdPrices(tenths: String, state: String) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(0))
      let error = #expect(throws: PostgresError.self) {
        try feed.connection.execute("UPDATE fuel.price SET price_tenths = \(tenths)")
      }
      #expect(error?.sqlState == state, "\(String(describing: error))")
    }
  }

  /// F-K04: a run whose process died is closed by the next run.
  @Test func anInterruptedRunIsClosedByTheNext() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      _ = try feed.store.ledger.beginRun(feed.id, at: hour(0))
      try feed.reports([.u91("1", 1899, hour(0))], at: hour(1))
      #expect(
        try feed.connection.lines("SELECT outcome FROM fuel_v1.ingest_runs ORDER BY run_id")
          == ["interrupted", "stored"])
    }
  }

  /// F-K04: where the lists beside a refused one cannot be judged again, nothing of the refusal is
  /// stored.
  @Test func aRefusalIsStoredWithWhatFollows() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let run = try feed.store.ledger.beginRun(feed.id, at: hour(0))
      let list = ListSummary(takenAt: hour(0), pairs: 1, stations: 1)
      func fail(_ judge: (ListSummary) throws -> [RunID]) throws -> [RunID] {
        try feed.store.ledger.failRun(
          run, at: hour(0), isRefusal: true, error: "too short", payload: nil, list: list,
          requests: 1, judge: judge)
      }
      func outcome() throws -> [String] {
        try feed.connection.lines("SELECT outcome FROM fuel.run")
      }
      #expect(throws: CancellationError.self) { try fail { _ in throw CancellationError() } }
      #expect(try outcome() == ["running"])
      #expect(try fail { $0 == list ? [run] : [] } == [run])
      #expect(try outcome() == ["refused"])
    }
  }

  /// F-O08: a run gets the next number only after the transaction with the number before has ended.
  /// So whoever has seen a number has seen all smaller ones.
  @Test func aNumberWaitsForTheOneBefore() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      var runs: [RunID] = []
      for step in 0..<3 {
        let run = try feed.store.ledger.beginRun(feed.id, at: hour(Double(step)))
        try feed.store.ledger.failRun(
          run, at: hour(Double(step)), isRefusal: false, error: "a test", payload: nil,
          requests: 0)
        runs.append(run)
      }
      let other = try Connection(target)
      try other.execute("SET lock_timeout = '200ms'")
      // The first number also takes what is in the log so far.
      try feed.connection.query("SELECT fuel.number_change(\(runs[0]))")
      try feed.connection.execute("BEGIN")
      try feed.connection.query("SELECT fuel.number_change(\(runs[1]))")
      let error = #expect(throws: PostgresError.self) {
        try other.query("SELECT fuel.number_change(\(runs[2]))")
      }
      #expect(error?.sqlState == "55P03")
      try feed.connection.execute("ROLLBACK")
    }
  }

  /// F-K01: the lock of a feed belongs to one session. It is free again when that session ends in
  /// any way.
  @Test func aFeedHasOneWorkerAtATime() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      do {
        let other = try Feed(target)
        #expect(try other.store.ledger.lock(other.id))
        #expect(try !feed.store.ledger.lock(feed.id))
      }
      // The server notices the end of a session within moments.
      #expect(try await waitUntil { try feed.store.ledger.lock(feed.id) })
    }
  }

  /// F-Z09: a NUL would silently cut off a text on its way to the server. A blank replaces it, and
  /// the text behind it is kept.
  @Test func aNULEndsNoText() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports(
        [.u91("1", 1800, hour(0))], at: hour(0),
        rejects: [Reject(.recordUnreadable, raw: "before\0behind")])
      #expect(
        try feed.connection.lines("SELECT raw, length(raw) FROM fuel_v1.rejects")
          == ["before behind|13"])
    }
  }

  /// F-N26: of a feed that invents fuel codes for days, a hundred codes are kept. Prices under
  /// further codes are rejected and counted. Known fuels are not affected.
  @Test func inventedFuelsHaveAnEnd() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      var (stored, refused) = (0, 0)
      for day in 0..<7 {
        let codes = (0..<20).map { "X\(day * 20 + $0)" }
        let counts = try feed.reports(
          [.u91("1", 1_800 + day, hour(Double(day)))]
            + codes.map {
              Observation(
                stationCode: "1", fuel: .unmapped($0), price: Price(tenths: 1_500),
                effectiveAt: hour(Double(day)))
            }, at: hour(Double(day)))
        #expect(counts.received == 21)
        stored += counts.stored
        refused += counts.rejectedByReason["unknown_fuel"] ?? 0
      }
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel.fuel WHERE NOT is_mapped") == ["100"])
      #expect(stored == 107 && refused == 40, "\(stored) \(refused)")
    }
  }

  /// F-N26: the stations of a feed that invents other stations each time are limited. Stations that
  /// it named first still get prices.
  @Test(.long) func inventedStationsAreBounded() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let most = InputLimit.stations.value
      let start = Instant(seconds: 1_782_000_000)
      func list(_ round: Int) -> [Observation] {
        let at = start + .seconds(3_600 * round)
        return [.u91("true", 1_800 + round, at)]
          + (0..<4_000).map { .u91("\(round)-\($0)", 1_700, at) }
      }
      var refused = 0
      for round in 0..<7 {
        let counts = try feed.reports(
          list(round), at: start + .seconds(3_600 * round), coverage: .partial)
        #expect(counts.received == 4_001)
        #expect(counts.stored + counts.rejected == 4_001)
        refused += counts.rejectedByReason["station_beyond_limit"] ?? 0
      }
      let stations = try feed.connection.query("SELECT count(*) AS n FROM fuel.station").only()
        .integer("n")
      #expect(stations == most)
      #expect(refused == 7 * 4_000 + 1 - most)
      #expect(
        try feed.connection.query(
          """
          SELECT max(price_tenths) AS price FROM fuel.price JOIN fuel.station USING (station_id)
          WHERE station_code = 'true'
          """
        ).only().integer("price") == 1_806)
    }
  }
}
