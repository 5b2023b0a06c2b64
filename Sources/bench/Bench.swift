import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Simulator
import Store
import Timeline

#if canImport(Glibc)
  import Glibc
#endif

/// Measures how fast history is loaded and a live list is stored, each as a ratio to what PostgreSQL
/// itself does with the same rows in the same run. Machines differ and are shared: ratios count.
///
/// Run by `make bench`, beside the private cluster, with the database named by PG* variables.
@main
struct Bench {
  private var results: [(name: String, value: String, ratio: Double?, goal: String)] = []
  private let environment = ProcessInfo.processInfo.environment
  private let folder: String
  /// Millions of rows of history to measure with.
  private let history: [Int]
  private let program: String

  static func main() throws {
    var bench = try Bench()
    // One part alone, for whoever works on it.
    let part = bench.environment["BENCH_PART"] ?? ""
    if part.isEmpty || part == "backfill" { try bench.backfill() }
    if part.isEmpty || part == "aggregate" { try bench.aggregate() }
    if part.isEmpty || part == "live" { try bench.live() }
    bench.tell()
  }

  private init() throws {
    history = (environment["BENCH_HISTORY"] ?? "1,10,50").split(separator: ",")
      .compactMap { Int($0) }
    program = environment["BENCH_PROGRAM"] ?? ".build/release/bowser"
    folder = FileManager.default.currentDirectoryPath + "/.bowser/bench"
    try? FileManager.default.removeItem(atPath: folder)
  }

  // MARK: History

  private mutating func backfill() throws {
    let rows = environment["BENCH_ROWS"].flatMap { Int($0) } ?? 10_000_000
    let months = 117
    let begin = Month(number: 2016 * 12 + 7)
    note("writing \(rows) rows in \(months) files")
    _ = try SyntheticArchive(seed: 1, firstMonth: begin)
      .write(months: months, rowsPerMonth: rows / months, into: folder + "/archive")
    // A tenth as many other rows of the same months.
    _ = try SyntheticArchive(seed: 2, firstMonth: begin)
      .write(months: months, rowsPerMonth: rows / months / 10, into: folder + "/other")

    try database("bench_empty")
    note("backfill into an empty history")
    let first = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let stored = try connection("bench_empty").query("SELECT count(*) AS n FROM fuel.archive_price")
      .only().integer("n")

    note("the yardstick: \\copy of the same rows, normalised already, into a plain table")
    try sql(
      "bench_empty",
      "\\copy (SELECT station_id, fuel_id, source_id, effective_at, price_tenths, run_id FROM "
        + "fuel.archive_price) TO '\(folder)/rows.tsv'")
    try sql(
      "bench_empty",
      "CREATE TABLE public.plain (station_id integer, fuel_id smallint, source_id smallint, "
        + "effective_at timestamptz, price_tenths integer, run_id integer)")
    let copied = try sql("bench_empty", "\\copy public.plain FROM '\(folder)/rows.tsv'")
    let limit = Double(stored) / copied.seconds
    func loading(_ name: String, _ run: Finished, _ goal: String) {
      let rate = Double(stored) / run.seconds
      add(name, "\(Int(rate / 1_000)) krow/s", rate / limit, goal)
    }
    add("\\copy into a plain table, L", "\(Int(limit / 1_000)) krow/s", nil, "")
    loading("backfill into an empty history, of L", first, "0.6, hold 0.4")
    add("  client memory", "\(first.megabytes) MB", nil, "150, hold 300")

    note("the same files again")
    let again = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/archive")
      .map { "\(folder)/archive/\($0)" }
    let hashed = try run(["sha256sum"] + files)
    add(
      "re-load by the ledger, of sha256sum",
      "\(Int(Double(stored) / again.seconds / 1_000)) krow/s",
      hashed.seconds / again.seconds, "1, hold 0.33")

    note("again without the ledger")
    try sql("bench_empty", "UPDATE fuel.run SET content_digest = NULL")
    let met = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])
    let staged = try sql(
      "bench_empty",
      """
      BEGIN; CREATE TEMPORARY TABLE staged (LIKE public.plain);
      \\copy pg_temp.staged FROM '\(folder)/rows.tsv'
      SELECT count(*) FROM pg_temp.staged AS s WHERE NOT EXISTS (SELECT FROM fuel.archive_price AS k
        WHERE k.station_id = s.station_id AND k.fuel_id = s.fuel_id
          AND k.effective_at = s.effective_at AND k.price_tenths = s.price_tenths);
      ROLLBACK;
      """)
    add(
      "re-load row by row, of psql staging and anti-join",
      "\(Int(Double(stored) / met.seconds / 1_000)) krow/s", staged.seconds / met.seconds,
      "0.8, hold 0.4")
    add("  client memory", "\(met.megabytes) MB", nil, "150, hold 300")
    try drop("bench_empty")

    try database("bench_other")
    note("backfill into a history that holds other rows of the same months")
    _ = try run([program, "backfill", "nsw-fuelcheck", folder + "/other"], in: "bench_other")
    let merged = try run(
      [program, "backfill", "nsw-fuelcheck", folder + "/archive"], in: "bench_other")
    loading("backfill beside other rows of the same months, of L", merged, "0.25, hold 0.15")
    try drop("bench_other")
    try FileManager.default.removeItem(atPath: folder)
  }

  // MARK: Averages

  private mutating func aggregate() throws {
    for million in history.sorted() {
      try aggregate(
        rows: million * 1_000_000,
        isCompared: million == history.sorted().min { abs($0 - 10) < abs($1 - 10) })
    }
  }

  private mutating func aggregate(rows: Int, isCompared: Bool) throws {
    let months = 117
    let begin = Month(number: 2016 * 12 + 7)
    let next = Month(number: begin.number + Int32(months))
    let end = next.firstDay
    let what = "\(rows / 1_000_000) million change points"
    note("writing \(rows) rows in \(months) files")
    let archive = SyntheticArchive(seed: 1, firstMonth: begin)
    _ = try archive.write(months: months, rowsPerMonth: rows / months, into: folder + "/archive")
    try database("bench_empty")
    _ = try run([program, "backfill", "nsw-fuelcheck", folder + "/archive"])

    note("daily averages of all of it")
    let full = try run([program, "aggregate", "--now", "\(end)T00:00:00+10:00"])
    let made = try connection("bench_empty").query("SELECT count(*) AS n FROM fuel.daily_rollup")
      .only().integer("n")
    add(
      "daily averages of \(what)", "\(made) rows in \(Int(full.seconds)) s", nil, "")
    add("  client memory", "\(full.megabytes) MB", nil, "")
    if isCompared {
      let yardstick = try averagesElsewhere(end)
      add(
        "  of \(yardstick.name)", "\(String(format: "%.1f", yardstick.seconds)) s",
        full.seconds / yardstick.seconds, "2, hold 4")
    }

    note("one more day")
    let files = try SyntheticArchive(seed: 3, firstMonth: next)
      .write(months: 1, rowsPerMonth: rows / months, into: folder + "/more")
    for file in files {
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      let day = lines.dropFirst().filter { $0.contains(",\(end) ") }
      try ([lines[0]] + day).joined(separator: "\n").appending("\n")
        .write(toFile: file, atomically: false, encoding: .utf8)
    }
    _ = try run([
      program, "backfill", "nsw-fuelcheck", folder + "/more", "--now", "\(end + 1)T00:30:00+10:00",
    ])
    let more = try run([program, "aggregate", "--now", "\(end + 1)T00:30:00+10:00"])
    add(
      "one more day after \(what), of all of it", "\(Int(more.seconds * 1_000)) ms",
      more.seconds / full.seconds, "0.02, hold 0.05")

    note("one decision that two stations are one")
    let linked = try runLinked(at: "\(end + 1)T00:31:00+10:00")
    add(
      "one link after \(what), of all of it", "\(Int(linked.seconds * 1_000)) ms",
      linked.seconds / full.seconds, "0.02, hold 0.05")
    try finish("bench_empty")
    try FileManager.default.removeItem(atPath: folder)
  }

  /// An aggregate by a configuration in which a person has decided that two stations are one.
  private func runLinked(at now: String) throws -> Finished {
    let records = try connection("bench_empty").query(
      """
      SELECT source.source || ' ' || station.station_code AS record
      FROM fuel.station
      JOIN fuel.source USING (source_id)
      WHERE station.place_id = station.station_id
      ORDER BY station.station_id
      LIMIT 2
      """
    ).map { try $0.text("record") }
    let config = folder + "/config"
    try FileManager.default.copyItem(
      atPath: environment["BOWSER_CONFIG"] ?? "config", toPath: config)
    try """
    [{ on: '2026-07-01', station: '\(records[0])', is: 'same', as: '\(records[1])', why: 'bench' }]
    """.write(toFile: config + "/stations.json5", atomically: false, encoding: .utf8)
    return try run([program, "aggregate", "--now", now, "--config", config])
  }

  /// The same averages of the same facts by DuckDB, or by one plain statement where there is none.
  private func averagesElsewhere(_ end: Day) throws -> (name: String, seconds: Double) {
    let facts = "\(folder)/facts.csv"
    let members = "\(folder)/members.csv"
    try sql(
      "bench_empty",
      """
      \\copy (SELECT station_id, fuel_id, effective_at AT TIME ZONE 'UTC' AS began, price_tenths FROM fuel.archive_price) TO '\(facts)' (FORMAT csv, HEADER)
      \\copy (SELECT region, station_id FROM fuel.region_station) TO '\(members)' (FORMAT csv, HEADER)
      """)
    // Every change holds until the next one, at most thirty days; days are Sydney's.
    func averages(_ local: (String) -> String, _ seconds: (String) -> String) -> String {
      """
      WITH held AS (
        SELECT station_id, fuel_id, price_tenths, began AS from_at,
          least(coalesce(lead(began) OVER (PARTITION BY station_id, fuel_id ORDER BY began), \(local("'\(end)'"))),
            began + interval '30 days') AS to_at
        FROM facts),
      station_day AS (
        SELECT held.station_id, held.fuel_id, days.day,
          sum(held.price_tenths * \(seconds("least(held.to_at, days.ends_at) - greatest(held.from_at, days.begins_at)")))
            / sum(\(seconds("least(held.to_at, days.ends_at) - greatest(held.from_at, days.begins_at)"))) AS price_tenths
        FROM held JOIN days ON days.begins_at < held.to_at AND days.ends_at > held.from_at
        GROUP BY held.station_id, held.fuel_id, days.day)
      SELECT members.region, station_day.fuel_id, station_day.day, avg(station_day.price_tenths) AS mean,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY station_day.price_tenths) AS middle,
        percentile_cont(0.25) WITHIN GROUP (ORDER BY station_day.price_tenths) AS quarter,
        min(station_day.price_tenths) AS lowest, max(station_day.price_tenths) AS highest, count(*) AS stations
      FROM station_day JOIN members USING (station_id)
      GROUP BY members.region, station_day.fuel_id, station_day.day
      """
    }
    if (try? run(["duckdb", "--version"])) != nil {
      let parquet = "\(folder)/facts.parquet"
      _ = try run([
        "duckdb", "-c",
        "COPY (SELECT * FROM read_csv('\(facts)')) TO '\(parquet)' (FORMAT parquet)",
      ])
      let statement = averages({ "timestamp \($0)" }, { "epoch(\($0))" })
      let done = try run([
        "duckdb", "-c",
        """
        CREATE TABLE members AS SELECT * FROM read_csv('\(members)');
        CREATE VIEW facts AS SELECT * FROM read_parquet('\(parquet)');
        CREATE TABLE days AS SELECT d::date AS day,
          timezone('UTC', timezone('Australia/Sydney', d)) AS begins_at,
          timezone('UTC', timezone('Australia/Sydney', d + interval 1 day)) AS ends_at
        FROM range(timestamp '2016-08-01', timestamp '\(end)', interval 1 day) AS r(d);
        CREATE TABLE made AS \(statement);
        """,
      ])
      return ("DuckDB", done.seconds)
    }
    let statement = averages({ "timestamp \($0)" }, { "extract(epoch FROM \($0))" })
    try sql(
      "bench_empty",
      """
      CREATE TABLE public.facts (station_id integer, fuel_id smallint, began timestamp, price_tenths integer);
      CREATE TABLE public.members (region text, station_id integer);
      \\copy public.facts FROM '\(facts)' (FORMAT csv, HEADER)
      \\copy public.members FROM '\(members)' (FORMAT csv, HEADER)
      CREATE TABLE public.days AS SELECT d::date AS day,
        d AT TIME ZONE 'Australia/Sydney' AT TIME ZONE 'UTC' AS begins_at,
        (d + interval '1 day') AT TIME ZONE 'Australia/Sydney' AT TIME ZONE 'UTC' AS ends_at
      FROM generate_series(timestamp '2016-08-01', timestamp '\(end)' - interval '1 day', interval '1 day') AS r(d);
      CREATE INDEX ON public.days (begins_at, ends_at);
      VACUUM ANALYZE public.facts, public.members, public.days;
      """)
    let done = try sql("bench_empty", "CREATE TABLE public.made AS \(statement);")
    return ("one plain statement", done.seconds)
  }

  // MARK: A live list

  private mutating func live() throws {
    let stations = 16_000
    let fuels: [Fuel] = [.u91, .e10, .p95, .p98, .dl]
    try database("bench_live")
    let connection = try connection("bench_live")
    if let statement = environment["BENCH_SET"] { try connection.execute(statement) }
    let store = Store(connection)
    var now = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z
    let source = try store.register(
      SourceRecord(
        feed: "qld-fpd", state: .qld, cadenceMinutes: 60, priceLapsesHours: 1_440,
        sightLapsesHours: 48, attribution: "bench", isEnabled: true, callsPerMonth: 0))
    // What grades cost more or less than unleaded: one price for all of them would be a placeholder.
    let steps = [0, -20, 160, 240, 90]
    var observations: [Observation] = []
    for station in 0..<stations {
      for (fuel, step) in zip(fuels, steps) {
        observations.append(
          Observation(
            stationCode: "\(station)", fuel: fuel,
            price: Price(tenths: 1_500 + station % 400 + step),
            effectiveAt: now - .seconds(3_600 + station)))
      }
    }
    func absorb(_ list: [Observation]) throws -> Double {
      var reading = Reading(coverage: .complete)
      reading.observations = list
      let settled = reading.settled(takenAt: now, horizon: .seconds(600))
      let run = try store.beginRun(source, at: now)
      let document = Document(name: "prices", bytes: [], fetchedAt: now)
      let began = ContinuousClock.now
      let rules = ListRules(window: 48 * 3_600_000_000, refuseBelow: 0.7, partialBelow: 0.95)
      _ = try Merge(store, of: source, rules: rules, now: now).take(
        settled, payload: Payload(documents: [document], fetchedAt: now, takenAt: now), run: run,
        requests: 0, tellsWholeDays: false)
      return seconds(since: began)
    }
    note("a first list of \(observations.count) prices")
    _ = try absorb(observations)
    try connection.execute("VACUUM ANALYZE")

    var held = 0
    for million in history.sorted() {
      note("history of \(million) million rows")
      // The past of each pair, in the order of the table's key, month by month.
      let stamps = (million * 1_000_000 - held) / observations.count
      try fill(store, connection, from: held / observations.count, stamps: max(0, stamps), now: now)
      held += stamps * observations.count
      // A list of before, so that what follows is warm.
      now = now + .seconds(600)
      _ = try absorb(observations)
      var times: [Double] = []
      var wal: [Int] = []
      var bare: [Double] = []
      var before = (takenAt: now, list: observations)
      for turn in 0..<7 {
        before = (now, observations)
        now = now + .seconds(600)
        for position in stride(from: turn, to: observations.count, by: 100) {
          observations[position].price = Price(
            tenths: 1_500 + (position + turn * 7) % 399 + steps[position % 5])
          observations[position].effectiveAt = now - .seconds(60)
        }
        bare.append(try copyBare(connection, observations))
        let lsn = try connection.query("SELECT pg_current_wal_insert_lsn()::text AS lsn").only()
          .text("lsn")
        times.append(try absorb(observations))
        wal.append(
          try connection.query(
            "SELECT (pg_current_wal_insert_lsn() - \(lsn)::pg_lsn)::bigint AS n"
          ).only().integer("n"))
      }
      let time = times.sorted()[3]
      let copy = bare.sorted()[3]
      add(
        "live list, \(million) million rows of history, of bare COPY",
        "\(Int(time * 1_000)) ms, \(wal.sorted()[3] / 1_024) KiB WAL", time / copy,
        "3, hold 5")
      note("late lists of the same size, a hundredth of it new")
      var late: [Double] = []
      let newest = now
      for turn in 0..<3 {
        now = before.takenAt + .seconds(60 * Int64(turn) + 120)
        for position in stride(from: 50 + turn, to: observations.count, by: 100) {
          before.list[position].price = Price(tenths: 1_400 + turn + steps[position % 5])
          before.list[position].effectiveAt = now - .seconds(60)
        }
        late.append(try absorb(before.list))
      }
      now = newest
      add(
        "late list, \(million) million rows of history, of bare COPY",
        "\(Int(late.sorted()[1] * 1_000)) ms", late.sorted()[1] / copy, "")
    }
    try views(connection, now: now)
    try finish("bench_live")
  }

  // MARK: Views

  /// What an analyst waits for: every view for one region and fuel or station, and whole.
  private mutating func views(_ connection: Connection, now: Instant) throws {
    note("the analysts' views")
    _ = try run([program, "aggregate", "--now", now.description], in: "bench_live")
    // Ten years of averages of every region and fuel, which no feed of two hours has.
    try connection.query(
      """
      INSERT INTO fuel.daily_rollup (
        region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage, is_ended)
      SELECT region.region, fuel.fuel_id, day.day::date, price.cpl, price.cpl, price.cpl - 2, price.cpl - 9,
        price.cpl + 9, 100, 1, true
      FROM fuel.region
      JOIN fuel.fuel ON fuel.fuel_id <= 8
      CROSS JOIN generate_series(\(now)::timestamptz - interval '3650 days', \(now)::timestamptz, interval '1 day') AS day (day)
      CROSS JOIN LATERAL (
        SELECT round((170 + 15 * sin(extract(epoch FROM day.day) / 400000))::numeric, 2) AS cpl
      ) AS price
      ON CONFLICT DO NOTHING
      """)
    try connection.execute("VACUUM ANALYZE")
    _ = try run(
      [program, "aggregate", "--now", (now + .seconds(60)).description], in: "bench_live")
    try connection.query(
      "SELECT set_config('bowser.now', \((now + .seconds(60)).description), false)")
    let regional = " WHERE region = 'QLD' AND fuel = 'U91'"
    let station = " WHERE station_id = 77 AND fuel = 'U91'"
    let views: [(name: String, one: String, isWhole: Bool)] = [
      ("stations", " WHERE station_id = 77", true), ("current_prices", station, true),
      ("tomorrow_prices", station, true), ("price_history", station, false),
      ("averages_now", regional, true),
      ("daily_averages", regional + " AND day > current_date - 400", false),
      ("trend_30d", regional, true), ("trend_summary", regional, true), ("cycles", regional, true),
      ("fill_up", regional, true), ("fill_up_scores", regional, true),
      ("station_fill_up", station, true),
      ("station_comparison", " WHERE station_id = 77 AND region = 'QLD' AND fuel = 'U91'", true),
      ("feed_health", "", true), ("ingest_runs", "", true),
    ]
    func milliseconds(_ query: String) throws -> Double {
      let times = try (0..<5).map { _ in
        let began = ContinuousClock.now
        // Rows as the server makes them; how fast they travel is not the view's affair.
        try connection.execute("EXPLAIN (ANALYZE, TIMING OFF) \(query)")
        return seconds(since: began) * 1_000
      }
      return times.sorted()[2]
    }
    for view in views {
      let one = try milliseconds("SELECT * FROM fuel_v1.\(view.name)\(view.one)")
      let whole = view.isWhole ? try milliseconds("SELECT * FROM fuel_v1.\(view.name)") : nil
      add(
        "view \(view.name)",
        String(format: "%.1f ms", one) + (whole.map { String(format: " / %.0f ms", $0) } ?? ""),
        nil,
        "5 / 100 ms, hold 20 / 400")
    }
  }

  /// Stamps every pair so many times, 26 hours apart, further into the past, and makes the spans of it.
  private func fill(
    _ store: Store, _ connection: Connection, from done: Int, stamps: Int, now: Instant
  ) throws {
    // A month at a time, so that rows go in by the order of the key.
    var first = done
    while first < done + stamps {
      let last = min(first + 24, done + stamps)
      try connection.transaction {
        try connection.query(
          """
          SELECT fuel.ensure_price_month(month.at)
          FROM (
            SELECT DISTINCT date_trunc('month', '2026-06-28'::timestamptz - hours.n * interval '26 hours', 'UTC') AS at
            FROM generate_series(\(first)::integer, \(last)::integer) AS hours (n)
          ) AS month
          """)
        try connection.query(
          """
          INSERT INTO fuel.price (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
          SELECT pair.station_id, pair.fuel_id, pair.source_id,
            '2026-06-28'::timestamptz - hours.n * interval '26 hours', 1500 + hours.n % 300 + 40 * pair.fuel_id, 1,
            '2026-06-28'::timestamptz - hours.n * interval '26 hours'
          FROM fuel.current_price AS pair
          CROSS JOIN generate_series(\(first)::integer, \(last - 1)::integer) AS hours (n)
          ORDER BY 1, 2, 4
          """)
      }
      first = last
    }
    try connection.query(
      "INSERT INTO fuel.touched SELECT station_id, fuel_id, '-infinity' FROM fuel.current_price")
    try TimelineUpdate.makeAll(Workers(store), now: now)
    try connection.execute("VACUUM ANALYZE")
  }

  /// The least that storing a list can cost: its rows in a temporary table.
  private func copyBare(_ connection: Connection, _ list: [Observation]) throws -> Double {
    try connection.execute(
      "CREATE TEMPORARY TABLE bare (station_code text, fuel_id smallint, effective_at timestamptz, price_tenths integer)"
    )
    let began = ContinuousClock.now
    try connection.copy(into: "pg_temp.bare", columns: 4) { copy in
      for one in list {
        try copy.beginRow()
        copy.write(one.stationCode)
        copy.write(one.fuel.id ?? 0)
        copy.write((one.effectiveAt ?? .now).microseconds - 946_684_800_000_000)
        copy.write(one.price?.tenths ?? 0)
      }
    }
    let time = seconds(since: began)
    try connection.execute("DROP TABLE pg_temp.bare")
    return time
  }

  // MARK: Doors

  private struct Finished {
    var seconds: Double
    /// The most memory it had at once.
    var megabytes: Int
  }

  /// Runs a program to its end.
  private func run(_ words: [String], in database: String = "bench_empty") throws -> Finished {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.environment = environment.merging(["PGDATABASE": database]) { _, new in new }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let began = ContinuousClock.now
    try process.run()
    var most = 0
    // The system forgets a process's peak when it ends, so it is asked while it runs.
    while process.isRunning {
      let status =
        (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8))
        ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      most = max(most, line?.split(separator: " ").compactMap { Int($0) }.first ?? most)
      usleep(20_000)
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failed(
        description:
          "\(words.prefix(3).joined(separator: " ")) ended with \(process.terminationStatus)")
    }
    return Finished(seconds: seconds(since: began), megabytes: most / 1_024)
  }

  private struct Failed: Error, CustomStringConvertible { let description: String }

  /// Runs statements in psql.
  @discardableResult
  private func sql(_ database: String, _ text: String) throws -> Finished {
    let file = "\(folder)/statements.sql"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    return try run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file], in: database)
  }

  private func connection(_ database: String) throws -> Connection {
    try Connection("dbname=\(database)")
  }

  private func database(_ name: String) throws {
    try drop(name)
    try connection("postgres").execute("CREATE DATABASE \(name)")
    try Migrator(try connection(name)).up()
  }

  /// Drops a database that was measured; BENCH_KEEP leaves it for a look.
  private func finish(_ name: String) throws {
    if environment["BENCH_KEEP"] == nil { try drop(name) }
  }

  private func drop(_ name: String) throws {
    try connection("postgres").execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
  }

  private func seconds(since began: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  // MARK: Results

  private mutating func add(_ name: String, _ value: String, _ ratio: Double?, _ goal: String) {
    results.append((name, value, ratio, goal))
    note("\(name): \(value)\(ratio.map { String(format: ", ratio %.2f", $0) } ?? "")")
  }

  private func note(_ text: String) {
    FileHandle.standardError.write(Data("bench: \(text)\n".utf8))
  }

  /// A table for people and a JSON line for machines.
  private func tell() {
    func column(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    print(column("what", 66) + column("here", 24) + column("ratio", 8) + "goal")
    for result in results {
      let ratio = result.ratio.map { String(format: "%.2f", $0) } ?? ""
      print(column(result.name, 66) + column(result.value, 24) + column(ratio, 8) + result.goal)
    }
    let entries = results.map { result in
      "{\"what\":\"\(result.name.replacing("\\", with: "\\\\"))\",\"here\":\"\(result.value)\""
        + (result.ratio.map { String(format: ",\"ratio\":%.3f", $0) } ?? "") + "}"
    }
    print("{\"bench\":[\(entries.joined(separator: ","))]}")
  }
}
