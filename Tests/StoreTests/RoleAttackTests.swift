import Foundation
import FuelModel
import Pipeline
import Postgres
import TestDatabase
import Testing
import Timeline
import Views

@testable import Store

/// What a stolen login can do to the history, and how the damage is found. The attacks are
/// generated from the system catalogue, so a new function or column is attacked without a change
/// here.
struct RoleAttackTests {
  private static let end = Instant(seconds: 1_782_900_000)

  /// Tables that can be computed again from reported prices and the configuration. A writer may
  /// change them. Every other table is evidence, whose rows must neither go nor change.
  private static let derived: Set<String> = [
    "aggregate_run", "brand_name", "counted_place",
    "cycle",
    "shown_price", "daily_rollup", "due", "market", "market_event",
    "notice", "notice_rule",
    "present_span",
    "price", "listing", "price_lapse", "region",
    "region_change", "region_station", "source_day", "span", "station_decision",
    "station_doubt",
    "station_habit", "station_month", "state", "verdict_score",
  ]

  /// Columns of evidence that may change, by table, as SQL. The comparison leaves them out. Among
  /// them are columns of runs and sources whose changes the audit log records.
  private static let kept = [
    "run": """
    ARRAY[
      'outcome', 'is_complete', 'is_repeat', 'confirms', 'frozen_since_at', 'describes_stations', 'error', 'warnings',
      'shortcomings', 'awaits_tomorrow']
    """,
    "source": """
    ARRAY[
      'state', 'cadence', 'price_lapses_after', 'sight_lapses_after', 'tells_whole_days', 'attribution', 'is_enabled',
      'calls_per_month', 'first_taken_at', 'last_taken_at', 'last_listed_at', 'not_before_at', 'account', 'delay',
      'holding_confirms', 'scheme', 'are_links_due', 'has_codes', 'changes', 'publishes_tomorrow_at',
      'days_known_until_at']
    """,
    "station": """
    ARRAY[
      'state', 'time_zone', 'name', 'brand', 'address', 'suburb', 'postcode', 'latitude', 'longitude', 'is_public',
      'first_seen_at', 'has_moved', 'place_id', 'matched_by', 'match_doubt']
    """,
    "station_sighting": "ARRAY['days']", "archive_coverage": "ARRAY['last_day', 'days']",
    "station_description": "ARRAY['first_seen_at', 'last_seen_at', 'run_id']",
    "change_counter": "ARRAY['newest']", "fact_sum": "ARRAY['change_number']",
    "audit_log": "ARRAY['change_number']",
  ]

  /// Makes a history of a few lists, an archive, a withdrawn run, refused records, documents, a
  /// confirmed price and the results of an aggregate.
  private func history(_ target: String) throws -> Feed {
    let feed = try Feed(target)
    for step in 0..<6 {
      let at = Self.end - .seconds(86_400 * 20 - step * 7_200)
      try feed.reports(
        (1...6).map { .u91("\($0)", 1_800 + 7 * step + $0, at) },
        stations: (1...6).map {
          Station(
            code: "\($0)", state: .qld, name: "Station \($0)", brand: nil,
            address: "\($0) Street", suburb: nil, postcode: nil, position: nil, isPublic: true)
        }, at: at, rejects: [Reject(.priceUnreadable, raw: "record \(step)")])
    }
    let run = try feed.connection.query("SELECT max(run_id) AS run FROM fuel.run").only()
      .integer("run")
    _ = try feed.decide(
      RunID(number: run), takenAt: Self.end - .seconds(86_400 * 20 - 5 * 7_200), counts: false,
      now: Self.end, refuseBelow: 0, partialBelow: 0)
    try feed.aggregate(at: Self.end)
    try feed.connection.execute(
      """
      INSERT INTO fuel.source (
        source, state, cadence, price_lapses_after, sight_lapses_after, tells_whole_days, attribution, is_enabled,
        calls_per_month, account, kind, scheme)
      VALUES ('an-archive', 'QLD', '1 day', '30 days', '2 days', false, 'a test', true, 0, 'an-archive', 'archive', 'x');
      INSERT INTO fuel.run (
        source_id, started_at, taken_at, outcome, is_complete, describes_stations, documents, payload_bytes, requests,
        received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged, kind)
      SELECT source_id, '2025-01-31', '2025-01-31', 'stored', false, false, '{}', 0, 0, 6, 6, 0, 0, 0, '{}', 0, 'backfill'
      FROM fuel.source WHERE source = 'an-archive';
      SELECT fuel.begin_archive_month(source_id, '2025-01-01') FROM fuel.source WHERE source = 'an-archive';
      DO $$
      DECLARE archive smallint; last_run integer;
      BEGIN
        SELECT source_id INTO archive FROM fuel.source WHERE source = 'an-archive';
        SELECT max(run_id) INTO last_run FROM fuel.run;
        EXECUTE format(
          'INSERT INTO fuel.archive_price_%s_2025_01 SELECT station_id, 1, %s, ''2025-01-10'', 1700 + station_id, %s '
          'FROM fuel.station', archive, archive, last_run);
        PERFORM fuel.attach_archive_month(archive, '2025-01-01');
        INSERT INTO fuel.archive_coverage VALUES (archive, '2025-01-01', '2025-01-20', 7);
        INSERT INTO fuel.station_sighting SELECT station_id, md5('x')::uuid, '2025-01-01', 7 FROM fuel.station;
        INSERT INTO fuel.archive_price SELECT station_id, 2, archive, '2025-01-11', 1710, last_run FROM fuel.station;
        PERFORM fuel.number_change(last_run);
        -- A year later they may go.
        UPDATE fuel.reject SET rejected_at = now();
        INSERT INTO fuel.body SELECT sha256(bytes), bytes, now() FROM (
          SELECT convert_to('a document ' || run_id, 'UTF8') AS bytes FROM fuel.run) AS came;
        INSERT INTO fuel.run_body SELECT run_id, 'prices', sha256(convert_to('a document ' || run_id, 'UTF8')), now()
        FROM fuel.run;
        INSERT INTO fuel.price_confirmation SELECT station_id, 1, 1801, 'a person', now() FROM fuel.station LIMIT 1;
      END
      $$
      """)
    return feed
  }

  /// Returns one query for all evidence, with the name of the table and the text of the row.
  private func evidence(_ connection: Connection) throws -> String {
    try connection.query(
      """
      SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = 'fuel'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      ORDER BY 1
      """
    ).map { try $0.text("name") }.filter { !Self.derived.contains($0) }.map { name in
      "SELECT '\(name)' AS name, (to_jsonb(t) - \(Self.kept[name] ?? "'{}'::text[]"))::text AS line FROM fuel.\(name) AS t"
    }.joined(separator: " UNION ALL ")
  }

  /// Returns values to attack with, as SQL, for a type.
  private static func values(_ type: String) -> [String] {
    switch type {
    case "integer", "bigint":
      ["1", "(SELECT max(run_id) FROM fuel.run)", "3", "5", "0", "NULL", "2147483647"]
    case "smallint":
      [
        "1::smallint", "(SELECT max(source_id) FROM fuel.source)", "NULL", "0::smallint",
        "32767::smallint",
      ]
    case "integer[]":
      [
        "(SELECT array_agg(station_id) FROM fuel.station)",
        "(SELECT array_agg(run_id) FROM fuel.run)", "'{}'", "NULL",
      ]
    case "smallint[]": ["(SELECT array_agg(1::smallint) FROM fuel.station)", "'{1}'", "NULL"]
    case "timestamp with time zone": ["'infinity'", "'-infinity'", "now()", "'2026-06-12'", "NULL"]
    case "timestamp with time zone[]":
      ["(SELECT array_agg('-infinity'::timestamptz) FROM fuel.station)", "'{infinity}'", "NULL"]
    case "text":
      [
        "'withdrawn'", "'superseded'", "'refused'", "'stored'", "'x''; DROP TABLE fuel.price; --'",
        "NULL",
      ]
    case "text[]":
      ["'{withdrawn}'", "'{}'", "(SELECT array_agg(station_code) FROM fuel.station)", "NULL"]
    case "boolean": ["true", "false", "NULL"]
    case "date": ["'2025-01-01'", "'2026-06-01'", "'infinity'", "NULL"]
    case "date[]": ["'{2025-01-01}'", "NULL"]
    case "interval": ["'0'", "'100 years'", "NULL"]
    case "interval[]": ["'{0}'", "NULL"]
    case "numeric", "numeric(9,6)", "numeric(6,1)": ["0", "1", "99", "NULL"]
    case "bytea": ["'\\x00'", "NULL"]
    case "jsonb": ["'{}'", "NULL"]
    case "uuid": ["md5('y')::uuid", "NULL"]
    case "time without time zone": ["'12:00'", "NULL"]
    case "fuel.run": ["(SELECT run FROM fuel.run AS run LIMIT 1)"]
    default: ["NULL"]
    }
  }

  /// The temporary tables that the writer's functions read, filled as an attacker would fill them.
  private static let staging = """
    CREATE TEMPORARY TABLE staged_sighting AS
      SELECT station_id, md5('x')::uuid AS wording_md5, '2025-01-01'::date AS month, 0 AS days FROM fuel.station;
    CREATE TEMPORARY TABLE staged_archive_price AS SELECT * FROM fuel.archive_price
    """

  /// F-N25: no function that a role may execute, and no column that it may change, removes a stored
  /// fact, changes its origin, or stops it from counting without a trace.
  @Test(.longer, arguments: Long.some(["fuel_writer", "fuel_reader"], short: 1))
  func noRoleBendsHistory(role: String) async throws {
    // Rights on a database are not copied with a template, so this one is migrated from empty.
    try await TestDatabase.withEmpty { target in
      try Migrator(try Connection(target)).up()
      _ = try history(target)
      let connection = try Connection(target)
      let login = "thief_\(role)_\(target.split(separator: "=")[1])"
      try connection.execute("CREATE ROLE \(login) LOGIN IN ROLE \(role)")
      let evidence = try evidence(connection)
      try connection.execute(
        "CREATE VIEW public.present AS \(evidence); CREATE TABLE public.evidence AS TABLE public.present"
      )
      try connection.execute(
        "CREATE TABLE public.standing AS SELECT run_id, outcome FROM fuel.run")
      #expect(
        try connection.query("SELECT count(DISTINCT name) AS n FROM public.evidence").only()
          .integer("n") >= 17)

      var attacks: [String] = []
      for row in try connection.query(
        """
        SELECT oid::regprocedure::text AS what, pronamespace::regnamespace || '.' || quote_ident(proname) AS name,
          array_to_string(
            ARRAY(SELECT format_type(type, NULL) FROM unnest(proargtypes) AS type), ';') AS types,
          prosecdef OR provolatile = 'v' AS may_write
        FROM pg_proc
        WHERE pronamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
          AND prorettype <> 'trigger'::regtype AND has_function_privilege(\(role), oid, 'EXECUTE')
        ORDER BY 1
        """)
      {
        let types = try row.text("types").split(separator: ";").map { Self.values(String($0)) }
        let most = try row.boolean("may_write") ? 36 : 2
        var calls: Set<String> = []
        // Each parameter takes all its values, combined with changing values of the others.
        for round in 0..<most {
          let words = types.enumerated().map { index, values in
            values[
              (round / (index == 0 ? 1 : index * 2 + 1) + (index == 0 ? 0 : round)) % values.count]
          }
          calls.insert("SELECT * FROM \(try row.text("name"))(\(words.joined(separator: ", ")))")
        }
        attacks += calls.sorted()
      }
      for row in try connection.query(
        """
        SELECT class.oid::regclass::text AS name, quote_ident(attname) AS attribute, format_type(atttypid, NULL) AS type
        FROM pg_class AS class JOIN pg_attribute AS attribute ON attrelid = class.oid
        WHERE relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace) AND relkind IN ('r', 'p', 'v')
          AND attnum > 0 AND NOT attisdropped AND has_column_privilege(\(role), class.oid, attnum, 'UPDATE')
        ORDER BY 1, attnum
        """)
      {
        let (name, column) = (try row.text("name"), try row.text("attribute"))
        for value in Self.values(try row.text("type"))
          + ["(SELECT other.\(column) FROM \(name) AS other ORDER BY other DESC LIMIT 1)"]
        {
          attacks.append("UPDATE \(name) SET \(column) = \(value)")
        }
      }
      let columnAttacks = attacks.count
      for name in try connection.lines(
        """
        SELECT oid::regclass::text AS name FROM pg_class
        WHERE relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace) AND relkind IN ('r', 'p', 'v', 'S')
        """)
      {
        attacks += [
          "DELETE FROM \(name)", "TRUNCATE \(name) CASCADE", "DROP TABLE \(name) CASCADE",
          "ALTER TABLE \(name) DISABLE TRIGGER ALL", "ALTER TABLE \(name) RENAME TO gone",
          "CREATE RULE nothing AS ON INSERT TO \(name) DO INSTEAD NOTHING",
          "CREATE TRIGGER nothing BEFORE INSERT ON \(name) FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        ]
      }
      attacks += [
        "SET session_replication_role = replica", "SET ROLE postgres",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT lo_import('/etc/passwd')", "COPY fuel.price TO PROGRAM 'cat'",
        "UPDATE fuel.run SET outcome = 'withdrawn'; SELECT fuel.forget_descriptions(run_id) FROM fuel.run",
        "UPDATE fuel.run SET outcome = 'refused'; SELECT fuel.forget_descriptions(run_id) FROM fuel.run",
        "DELETE FROM fuel.answer", "UPDATE fuel.answer SET tenths = '{}'",
        "UPDATE fuel.run SET outcome = 'running'; UPDATE fuel.run SET taken_at = 'infinity', stored = 0",
        "INSERT INTO fuel.fact_sum VALUES (1, NULL, 1, 1)",
        "INSERT INTO fuel.audit_log DEFAULT VALUES",
        "INSERT INTO fuel.chain_link VALUES (9, sha256('x'))", "SELECT fuel.add_link(9)",
      ]
      // What an attack lost, planned once.
      try connection.execute(
        "PREPARE lost AS TABLE public.evidence EXCEPT TABLE public.present")
      // The thief's temporary tables are made once. Each attack is undone back to this point.
      try connection.execute("BEGIN; SET SESSION AUTHORIZATION \(login)")
      if role == "fuel_writer" { try connection.execute(Self.staging) }
      try connection.execute("SET LOCAL statement_timeout = '1s'; SAVEPOINT attack")
      var done = 0
      for attack in attacks where !attack.contains("pg_terminate_backend") {
        defer { try? connection.execute("ROLLBACK TO SAVEPOINT attack") }
        do {
          try connection.execute(attack + "; SET CONSTRAINTS ALL IMMEDIATE")
          done += 1
        } catch {
          // A refused attack has changed nothing.
          continue
        }
        try connection.execute("RESET SESSION AUTHORIZATION; SET LOCAL statement_timeout = 0")
        let lost = try connection.lines("EXECUTE lost")
        #expect(
          lost.isEmpty,
          "\(attack): \(lost.prefix(2)). If a writer may change this column, name it in `kept`; otherwise take back its GRANT UPDATE"
        )
        // A changed outcome of a run must stand in the audit log under the login of the attacker.
        let hidden = try connection.lines(
          """
          SELECT run.run_id, run.outcome
          FROM fuel.run
          JOIN public.standing USING (run_id)
          WHERE run.outcome <> standing.outcome
            AND NOT EXISTS (
              SELECT FROM fuel.audit_log AS entry
              WHERE entry.table_name = 'run' AND entry.login = \(login)
                AND (entry.became ->> 'run_id')::integer = run.run_id
                AND entry.became ->> 'outcome' = run.outcome)
          """)
        #expect(hidden.isEmpty, "\(attack): \(hidden.prefix(2))")
      }
      try connection.execute("ROLLBACK")
      // If every attack failed, for instance by its syntax, the test would prove nothing.
      if role == "fuel_writer" {
        #expect(
          attacks.count > 1_500 && columnAttacks > 800 && done > 300, "\(attacks.count) \(done)")
      } else {
        #expect(attacks.count > 400 && done > 20, "\(attacks.count) \(done)")
      }
      print("\(role): \(attacks.count) attacks, \(done) were carried out, none bent history")
    }
  }

  /// F-N25: records of sightings and coverage can grow but not shrink, and runs keep their change
  /// numbers. F-N51: a writer chooses no number.
  @Test func whatGrowsDoesNotShrink() async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      try feed.store.becomeWriter()
      for forbidden in [
        "UPDATE fuel.station_description SET last_seen_at = first_seen_at",
        "UPDATE fuel.station_description SET first_seen_at = last_seen_at",
        "UPDATE fuel.station_description SET run_id = run_id + 1",
        "UPDATE fuel.station_sighting SET days = 1",
        "UPDATE fuel.archive_coverage SET last_day = month",
        "UPDATE fuel.archive_coverage SET days = 8",
        "UPDATE fuel.change_counter SET newest = 0",
        // A later run would find these numbers taken.
        Self.run("started_at, run_id", "now(), 1000 + source_id"),
        Self.run("started_at, change_number", "now(), 1000 + source_id"),
        "INSERT INTO fuel.withdrawal (run_id, decided_at, counts_again, reason, change_number) VALUES (1, now(), false, 'x', 9)",
        "BEGIN; UPDATE fuel.run SET outcome = 'withdrawn' WHERE run_id = 1; COMMIT",
        "BEGIN; UPDATE fuel.run SET outcome = 'refused' WHERE run_id = 1; COMMIT",
        "UPDATE fuel.run SET error = 'the provider lies' WHERE run_id = 1",
        "UPDATE fuel.run SET is_overtaken = true WHERE run_id = 1",
        "UPDATE fuel.run SET warnings = '{all is well}' WHERE run_id = 1",
        "UPDATE fuel.run SET awaits_tomorrow = NOT awaits_tomorrow WHERE run_id = 1",
        """
        UPDATE fuel.run SET describes_stations = true WHERE run_id = (
          SELECT run_id FROM fuel.run WHERE outcome = 'withdrawn')
        """,
      ] {
        let error = #expect(throws: PostgresError.self, "\(forbidden)") {
          try feed.connection.execute(forbidden)
        }
        try? feed.connection.execute("ROLLBACK")
        #expect(error?.sqlState == "42501", "\(forbidden)")
      }
      try feed.connection.execute(
        "UPDATE fuel.station_sighting SET days = 15; UPDATE fuel.archive_coverage SET last_day = '2025-01-25', days = 15"
      )
      #expect(throws: PostgresError.self) {
        try feed.connection.execute("SELECT fuel.number_change(1)")
      }
    }
  }

  /// A run that a thief invents, with these values of its own.
  private static func run(_ columns: String, _ values: String) -> String {
    """
    INSERT INTO fuel.run (
      source_id, outcome, is_complete, describes_stations, documents, payload_bytes, requests, received, stored,
      unchanged, duplicate, rejected, rejected_by_reason, flagged, \(columns))
    OVERRIDING SYSTEM VALUE
    SELECT source_id, 'failed', false, false, '{}', 0, 1000000000, 0, 0, 0, 0, 0, '{}', 0, \(values)
    FROM fuel.source
    """
  }

  /// F-N51: runs that a thief dates in a later month use up no calls of this month.
  @Test func callsOfTheFutureAreNotCounted() async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      let before = try feed.store.ledger.callLimits(of: feed.id, now: Self.end, until: Self.end)
      try feed.store.becomeWriter()
      try feed.connection.execute(Self.run("started_at", "'9999-01-01'"))
      let after = try feed.store.ledger.callLimits(of: feed.id, now: Self.end, until: Self.end)
      #expect(after.callsThisMonth == before.callsThisMonth)
    }
  }

  private func verified(_ target: String, head: String? = nil) throws -> [String] {
    try Store(try Connection(target)).ledger.verify(head: head) { store in
      try Standings.faults(
        of: "qld-fpd", in: store,
        rules: ListRules(window: 2 * 86_400_000_000, refuseBelow: 0, partialBelow: 0))
        + Refold.faults(in: store)
    }.faults
  }

  /// `verify` finds no fault in a history that only the program has changed: by lists, archives,
  /// withdrawals and their undoing.
  @Test func anHonestHistoryIsVerified() async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      #expect(try verified(target) == [])
      let head = try feed.connection.query("SELECT chain_head FROM fuel_v1.pipeline").only()
        .text("chain_head")
      let run = try feed.connection.query(
        "SELECT run_id, taken_at FROM fuel.run WHERE outcome = 'withdrawn'"
      ).only()
      _ = try feed.decide(
        RunID(number: try run.integer("run_id")), takenAt: try run.instant("taken_at"),
        counts: true, now: Self.end, refuseBelow: 0, partialBelow: 0)
      // Later lists store only their difference from earlier ones. A list that arrives late adds
      // rows that later lists had left out.
      try feed.reports(
        [.u91("1", 1_700, Self.end - .seconds(86_400 * 20 - 9_000))],
        at: Self.end - .seconds(86_400 * 20 - 9_000))
      #expect(try verified(target, head: head) == [])
      #expect(
        try verified(target, head: String(repeating: "0", count: 64))
          == [
            "the chain does not contain \(String(repeating: "0", count: 64)): "
              + "it is mistyped, or the history was written anew since"
          ])
      #expect(
        try Store(try Connection(target)).ledger.loggedChanges().contains { $0.table == "run" })
    }
  }

  /// F-S18: what is stored about the order of runs is compared with their instants.
  @Test func theOrderOfRunsIsVerified() async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      let run = try feed.connection.query(
        """
        UPDATE fuel.run SET is_overtaken = NOT is_overtaken
        WHERE run_id = (SELECT max(run_id) FROM fuel.run WHERE change_number IS NOT NULL)
        RETURNING run_id
        """
      ).only().integer("run_id")
      #expect(
        try verified(target)
          == ["run \(run): whether a later list came before it is stored wrongly"])
    }
  }

  /// F-N51: what a stolen writer login leaves behind stops nothing. The tables refuse instants
  /// without an end, by which a provider would be left alone for ever, or which the program cannot
  /// read. A month of an archive that was begun and not attached is begun again, empty. A run that is
  /// under way gets no change number.
  @Test func whatAWriterLeavesBehindIsHealed() async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      try feed.store.becomeWriter()
      for endless in [
        "UPDATE fuel.source SET not_before_at = 'infinity'",
        "UPDATE fuel.source SET first_taken_at = '-infinity'",
        "UPDATE fuel.source SET last_taken_at = 'infinity'",
        "UPDATE fuel.source SET last_listed_at = 'infinity'",
        Self.run("started_at", "'infinity'"), Self.run("started_at, taken_at", "now(), 'infinity'"),
      ] {
        let error = #expect(throws: PostgresError.self, "\(endless)") {
          try feed.connection.execute(endless)
        }
        #expect(error?.sqlState == "23514", "\(endless)")
      }
      try feed.connection.execute(
        """
        SELECT fuel.begin_archive_month(source_id, '2025-02-01') FROM fuel.source WHERE kind = 'archive';
        DO $$
        DECLARE archive smallint;
        BEGIN
          SELECT source_id INTO archive FROM fuel.source WHERE source = 'an-archive';
          EXECUTE format(
            'INSERT INTO fuel.archive_price_%s_2025_02 SELECT station_id, 1, %s, ''2025-02-10'', 1, 1 FROM fuel.station',
            archive, archive);
        END
        $$;
        """)
      #expect(
        try !feed.connection.query(
          """
          SELECT EXISTS (
            SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE relname LIKE 'archive_price_%_2025_02') AS is_there
          """
        ).only().boolean("is_there"))
      try feed.connection.execute(
        """
        SELECT fuel.begin_archive_month(source_id, '2025-02-01') FROM fuel.source WHERE kind = 'archive';
        SELECT fuel.attach_archive_month(source_id, '2025-02-01') FROM fuel.source WHERE kind = 'archive';
        """)
      #expect(try verified(target) == [])
      #expect(
        try feed.connection.lines("SELECT FROM fuel.archive_price WHERE price_tenths = 1").isEmpty)
      let run = try feed.store.ledger.openRun(feed.id, at: Self.end, kind: .live, digest: nil)
      #expect(throws: PostgresError.self) {
        try feed.connection.execute("SELECT fuel.number_change(\(run.number))")
      }
    }
  }

  private static let planted = [
    "UPDATE fuel.price SET price_tenths = price_tenths + 1 WHERE station_id = 1 AND run_id = 2",
    "DELETE FROM fuel.price WHERE station_id = 2 AND run_id = 3",
    "UPDATE fuel.price SET run_id = 4 WHERE station_id = 2 AND run_id = 3",
    "UPDATE fuel.archive_price SET effective_at = effective_at + interval '1 hour' WHERE station_id = 1",
    "UPDATE fuel.listing SET is_listed = NOT is_listed WHERE station_id = 1",
    """
    SET session_replication_role = replica;
    INSERT INTO fuel.price VALUES (1, 1, 1, '2026-06-20', 1, 3, now())
    """,
    """
    INSERT INTO fuel.price VALUES (1, 1, 1, '2026-06-20', 1, 999999, now());
    INSERT INTO fuel.fact_sum (run_id, facts, hash_sum)
    SELECT run_id, 1, hash FROM fuel.fact_hash WHERE run_id = 999999
    """,
    "INSERT INTO fuel.price VALUES (1, 1, 1, '2026-06-20', 1, 999999, now())",
    "UPDATE fuel.run SET taken_at = taken_at + interval '1 minute' WHERE run_id = 2",
    "UPDATE fuel.run SET received = received + 1, unchanged = unchanged + 1 WHERE run_id = 3",
    "UPDATE fuel.fact_sum SET facts = facts + 1 WHERE run_id = 2",
    "DELETE FROM fuel.audit_log WHERE table_name = 'run'",
    "UPDATE fuel.audit_log SET login = 'nobody'",
    "UPDATE fuel.withdrawal SET reason = 'another'",
    "UPDATE fuel.run SET outcome = 'withdrawn' WHERE run_id = 2",
    "UPDATE fuel.run SET outcome = 'stored' WHERE outcome = 'withdrawn'",
    "UPDATE fuel.run SET outcome = 'superseded' WHERE run_id = 2",
    "UPDATE fuel.run SET outcome = 'refused', error = 'too short' WHERE run_id = 2",
    "UPDATE fuel.run SET outcome = 'failed' WHERE run_id = 2",
    "UPDATE fuel.run SET is_complete = false WHERE run_id = 2",
    "UPDATE fuel.station SET is_public = false WHERE station_id = 1",
    "UPDATE fuel.station SET name = 'Another' WHERE station_id = 1",
    "UPDATE fuel.station SET first_seen_at = '2027-01-01' WHERE station_id = 1",
    "UPDATE fuel.station_description SET is_public = false WHERE station_id = 1",
    "TRUNCATE fuel.chain_link",
    "DELETE FROM fuel.chain_link WHERE change_number = 3",
    "DELETE FROM fuel.chain_link WHERE change_number = (SELECT max(change_number) FROM fuel.chain_link)",
    """
    ALTER TABLE fuel.body DROP CONSTRAINT body_digest_ck;
    UPDATE fuel.body SET bytes = 'another' WHERE bytes = 'a document 2'
    """,
  ]

  /// F-N25, F-N52: whatever a superuser changes without the program is found, and so are facts of a
  /// run that does not exist, which a writer can store.
  @Test(.longer, arguments: Long.some(planted, short: 8))
  func whatIsPlantedIsFound(by statement: String) async throws {
    try await TestDatabase.with { target in
      let feed = try history(target)
      #expect(try verified(target) == [])
      try feed.connection.execute(statement)
      let faults = try verified(target)
      #expect(!faults.isEmpty, "\(statement)")
      if statement.contains("999999") {
        #expect(faults.contains { $0.hasPrefix("run 999999 does not exist") }, "\(faults)")
      }
    }
  }
}
