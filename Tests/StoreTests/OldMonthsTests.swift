import FuelModel
import Postgres
import Store
import TestDatabase
import Testing

/// The facts of an old year lie in one table, so that a statement about all time plans few of them.
struct OldMonthsTests {
  private static let days = ["2019-03-05", "2019-07-09", "2021-02-01", "2026-05-04"]

  private static func noon(_ day: String) -> Instant { Instant("\(day)T12:00:00Z") }

  /// Returns a feed that has reported a price on each of the days.
  private func feed(_ target: String) throws -> Feed {
    let feed = try Feed(target)
    for (number, day) in Self.days.enumerated() {
      try feed.reports([.u91("a", 1_800 + number, Self.noon(day))], at: Self.noon(day))
    }
    return feed
  }

  private func tables(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      """
      SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'fuel.price'::regclass ORDER BY inhrelid::regclass::text
      """)
  }

  private func answers(_ feed: Feed) throws -> [String] {
    try feed.connection.lines("SELECT * FROM fuel.price ORDER BY effective_at, run_id")
      + feed.connection.lines("SELECT * FROM fuel_v1.changes ORDER BY change_number, effective_at")
  }

  @Test func theMonthsOfAnOldYearBecomeOneTable() async throws {
    try await TestDatabase.with { target in
      let feed = try feed(target)
      let before = try answers(feed)
      #expect(
        try tables(feed) == [
          "fuel.price_2019_03", "fuel.price_2019_07", "fuel.price_2021_02", "fuel.price_2026_05",
        ])
      // One year at a time. The writer's rights are enough.
      let writer = try Connection(target)
      try writer.execute("SET ROLE fuel_writer")
      #expect(try Store(writer).mergeOldMonths()?.isMerged == true)
      #expect(
        try tables(feed) == ["fuel.price_2019", "fuel.price_2021_02", "fuel.price_2026_05"])
      #expect(try feed.store.mergeOldMonths()?.isMerged == true)
      #expect(try feed.store.mergeOldMonths() == nil)
      #expect(try tables(feed) == ["fuel.price_2019", "fuel.price_2021", "fuel.price_2026_05"])
      #expect(try answers(feed) == before)

      // A late list brings a fact of a month that had none.
      try feed.reports([.u91("a", 1_900, Self.noon("2019-05-01"))], at: Self.noon("2019-05-01"))
      #expect(try tables(feed) == ["fuel.price_2019", "fuel.price_2021", "fuel.price_2026_05"])
      #expect(
        try feed.connection.lines("SELECT price_tenths FROM fuel.price_2019 ORDER BY effective_at")
          == ["1800", "1900", "1801"])
    }
  }

  /// Others do not wait behind the change for a reader that takes its time.
  @Test func aReaderIsNotDisturbed() async throws {
    try await TestDatabase.with { target in
      let feed = try feed(target)
      let reader = try Connection(target)
      try reader.execute("BEGIN")
      _ = try reader.lines("SELECT count(*) FROM fuel.price")
      #expect(try feed.store.mergeOldMonths()?.isMerged == false)
      #expect(try tables(feed).count == 4)
      try reader.execute("COMMIT")
      #expect(try feed.store.mergeOldMonths()?.isMerged == true)
      #expect(try tables(feed).count == 3)
    }
  }

  /// F-N57: a transaction that does not see what others have stored since it began may not drop months,
  /// whoever begins it.
  @Test func noOldViewOfTheFactsIsTaken() async throws {
    try await TestDatabase.with { target in
      let feed = try feed(target)
      for begin in [
        "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN ISOLATION LEVEL SERIALIZABLE",
      ] {
        let other = try Connection(target)
        try other.execute(begin)
        #expect(throws: PostgresError.self) { try other.query("SELECT fuel.copy_price_year(2019)") }
        try other.execute("ROLLBACK")
        try feed.connection.query("SELECT fuel.copy_price_year(2019)")
        try other.execute(begin)
        #expect(throws: PostgresError.self) {
          try other.query("SELECT fuel.merge_price_months(2019)")
        }
        try other.execute("ROLLBACK")
      }
      #expect(try tables(feed).count == 4)
      // The copy is no table of the history yet.
      #expect(
        try feed.connection.lines("SELECT fuel.copied_tables() LIKE '%fuel.price_2019%'") == ["f"])
      // A setting of the database does not keep an aggregate from it.
      try feed.connection.execute(
        """
        DO $$BEGIN
          EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
        END$$
        """)
      #expect(try Store(Connection(target)).mergeOldMonths()?.isMerged == true)
    }
  }

  @Test func noFactIsLostThatArrivesMeanwhile() async throws {
    try await TestDatabase.with { target in
      let feed = try feed(target)
      try feed.connection.query("SELECT fuel.copy_price_year(2019)")
      try feed.reports([.u91("a", 1_900, Self.noon("2019-03-09"))], at: Self.noon("2019-03-09"))
      let before = try answers(feed)
      #expect(try feed.store.mergeOldMonths()?.isMerged == false)
      #expect(try answers(feed) == before)
      #expect(try feed.store.mergeOldMonths()?.isMerged == true)
      #expect(try answers(feed) == before)
      #expect(try tables(feed).first == "fuel.price_2019")
    }
  }
}
