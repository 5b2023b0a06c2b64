import Foundation
import FuelModel
import Postgres
import TestDatabase
import Testing

/// Copies on other servers: a standby and a logical subscriber. `config/cluster` makes each server.
struct ReplicationTests {
  private static let now = "2026-07-01T10:05:00Z"

  private func run(_ words: String..., on target: String) throws -> (
    code: Int32, out: String, err: String
  ) {
    let result = try CommandTests.run(words, on: target)
    return (result.code, result.out, result.err)
  }

  private func fill(_ target: String) throws {
    #expect(try run("migrate", on: target).code == 0)
    #expect(
      try run("ingest", "--all", "--replay", CommandTests.recording, on: target).code == 0)
    try load(target, seed: 5)
  }

  private func load(_ target: String, seed: UInt64, year: Int = 2024) throws {
    let archive = try BackfillTests.archive(seed: seed, year: year)
    defer { try? FileManager.default.removeItem(atPath: archive) }
    #expect(try run("backfill", "nsw-fuelcheck", archive, on: target).code == 0)
    #expect(try run("aggregate", "--now", Self.now, on: target).code == 0)
  }

  /// Returns every row of every view that readers can see.
  private func views(_ target: String) throws -> [String] {
    let connection = try Connection(target)
    try connection.query("SELECT set_config('bowser.now', \(Self.now), false)")
    let names = try connection.lines(
      "SELECT viewname FROM pg_views WHERE schemaname = 'fuel_v1' ORDER BY 1")
    #expect(names.count >= 25)
    // Rows are sorted here by bytes, since the collation of text may differ between servers.
    return try (names + ["prices_between('2024-03-01', '2024-04-01')"]).flatMap { name in
      let rows = try connection.query(
        SQL(stringLiteral: "SELECT shown::text AS line FROM fuel_v1.\(name) AS shown"))
      return try rows.map { name + ": " + (try $0.text("line")) }.sorted()
    }
  }

  /// Waits up to 30 seconds until a server has what another has written.
  private func follows(_ isThere: () throws -> Bool) async throws {
    #expect(try await waitUntil(isThere))
  }

  /// A standby gives readers the same answers as its primary. Commands that write end with 75 and
  /// report that the database is a standby.
  @Test(.long) func aStandbyAnswersReaders() async throws {
    let cluster = try Cluster()
    try fill(cluster.target)
    // An interrupted copy leaves its replication slot behind.
    #expect(try cluster.call("replicate"))
    try Connection(cluster.target).execute(
      "SELECT pg_create_physical_replication_slot('bowser_standby')")
    #expect(try cluster.call("standby"))
    #expect(try cluster.call("standby"))
    // These rows are written after the copy was made.
    try load(cluster.target, seed: 6)
    let primary = try Connection(cluster.target)
    let written = try #require(try primary.lines("SELECT pg_current_wal_flush_lsn()").first)
    let copy = try Connection(cluster.standby)
    try await follows {
      try copy.lines("SELECT pg_last_wal_replay_lsn() >= \(written)::pg_lsn") == ["t"]
    }
    let expected = try views(cluster.target)
    #expect(expected.count > 1_000)
    #expect(try views(cluster.standby) == expected)

    for words in [
      ["status", "--now", Self.now], ["show", "perth", "U91", "--now", Self.now],
      ["stations", "--doubtful"],
      ["gaps", "--now", Self.now], ["metrics", "--now", Self.now],
      ["backtest", "--stored"], ["verify"],
      ["aggregate", "--as-of", "2026-07-01T10:00:00Z", "--now", Self.now],
    ] {
      let here = try CommandTests.run(words, on: cluster.target)
      let there = try CommandTests.run(words, on: cluster.standby)
      #expect(there.code == here.code && there.out == here.out, "\(words): \(there.err)")
    }
    let doctor = try run("doctor", on: cluster.standby)
    #expect(
      doctor.out.contains("warn  database                reached: a standby"), "\(doctor.out)")
    #expect(
      !doctor.out.contains("FAIL  rights") && !doctor.out.contains("FAIL  clock"), "\(doctor.out)")

    let archive = try BackfillTests.archive(months: 1, seed: 7)
    defer { try? FileManager.default.removeItem(atPath: archive) }
    for words in [
      ["aggregate"], ["ingest", "qld-fpd", "--replay", CommandTests.recording],
      ["withdraw", "1", "--reason", "a test"], ["backfill", "nsw-fuelcheck", archive],
    ] {
      let refused = try CommandTests.run(words, on: cluster.standby)
      #expect(refused.code == 75, "\(words): \(refused.err)")
      #expect(refused.err.contains("this database is a standby"), "\(words): \(refused.err)")
    }
  }

  /// The publication of docs/operating.md copies existing rows first, and then what runs, archives
  /// and aggregates change.
  @Test(.long) func aSubscriberAnswersReaders() async throws {
    let publisher = try Cluster()
    let subscriber = try Cluster()
    #expect(try publisher.call("replicate"))
    try fill(publisher.target)
    let source = try Connection(publisher.target)
    let page = try DocumentTests.blocks("docs/operating.md", "sql").map(\.text)
    let publish = try #require(page.first { $0.contains("fuel.publish()") })
    let subscribe = try #require(page.first { $0.contains("CREATE SUBSCRIPTION") })
    try source.execute(publish)
    // A second call, as after an upgrade, does no harm.
    try source.execute("SELECT fuel.publish()")

    #expect(try run("migrate", on: subscriber.target).code == 0)
    let copy = try Connection(subscriber.target)
    // CREATE SUBSCRIPTION cannot run in a transaction, and several statements sent at once form
    // one.
    for statement in subscribe.replacing(/'host=[^']*'/, with: "'\(publisher.target)'").split(
      separator: ";")
    {
      try copy.execute(String(statement))
    }
    try await follows {
      try copy.lines(
        "SELECT count(*) > 30 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel") == ["t"]
    }
    func catchUp() async throws {
      let written = try #require(try source.lines("SELECT pg_current_wal_flush_lsn()").first)
      try await follows {
        try source.lines(
          """
          SELECT count(*) FROM pg_replication_slots
          WHERE slot_type = 'logical' AND confirmed_flush_lsn >= \(written)::pg_lsn
          """) == ["1"]
      }
    }
    try await catchUp()
    #expect(try views(subscriber.target) == views(publisher.target))

    // New months, months that are loaded already, a run, a withdrawal, and rows that an aggregate
    // deletes and makes again.
    try load(publisher.target, seed: 6)
    try load(publisher.target, seed: 7, year: 2023)
    #expect(
      try run(
        "ingest", "wa-fuelwatch", "--replay", CommandTests.recording, "--now",
        "2026-07-01T10:04:00Z",
        on: publisher.target
      ).code == 0)
    #expect(try run("withdraw", "1", "--reason", "a test", on: publisher.target).code == 0)
    #expect(
      try run("aggregate", "--rebuild", "--now", Self.now, on: publisher.target).code == 0)
    try await catchUp()
    let expected = try views(publisher.target)
    #expect(expected.count > 1_000)
    #expect(try views(subscriber.target) == expected)
    #expect(
      try copy.lines("SELECT count(*) FROM fuel.archive_price")
        == source.lines("SELECT count(*) FROM fuel.archive_price"))
    let verified = try run("verify", on: subscriber.target)
    #expect(verified.code == 0, "\(verified.out)")
    // F-O35: rows of jobs would stand in the way of those that the publisher sends.
    for job in [
      ["aggregate", "--now", Self.now], ["withdraw", "1", "--undo", "--reason", "a test"],
      ["ingest", "wa-fuelwatch", "--replay", CommandTests.recording, "--now", Self.now],
    ] {
      let refused = try CommandTests.run(job, on: subscriber.target)
      #expect(refused.code == 78, "\(job): \(refused.err)")
      #expect(
        refused.err.contains("by the subscription fuel: run jobs on that server"), "\(refused.err)")
    }
    // Unless the subscription is dropped, the publisher keeps its write-ahead log for ever.
    try copy.execute("DROP SUBSCRIPTION fuel")
    #expect(try source.lines("SELECT count(*) FROM pg_replication_slots") == ["0"])
  }

  @Test func aDatabaseWithRunsIsNoSubscriber() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1_700, Instant(Self.now))], at: Instant(Self.now))
      #expect(throws: PostgresError.self) {
        try feed.connection.execute("SELECT fuel.prepare_subscription()")
      }
      #expect(try feed.connection.lines("SELECT count(*) FROM fuel.run") == ["1"])
    }
  }
}
