import Foundation
import FuelModel
import Postgres
import Store
import TestDatabase
import Testing

/// The schema as documentation and as a contract.
struct SchemaTests {
  @Test func everythingIsCommented() async throws {
    try await TestDatabase.with { target in
      let bare = try Connection(target).lines(
        """
        SELECT class.oid::regclass AS what
        FROM pg_class AS class
        WHERE class.relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
          AND class.relkind IN ('r', 'p', 'v') AND NOT class.relispartition
          AND obj_description(class.oid) IS NULL
        """)
      #expect(bare == [])
      let columns = try Connection(target).lines(
        """
        SELECT class.oid::regclass || '.' || attribute.attname AS what
        FROM pg_class AS class
        JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid
        WHERE class.relnamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
          AND class.relkind IN ('r', 'p', 'v') AND NOT class.relispartition
          -- Columns of private views are those of their tables, and numbers mean the same everywhere.
          AND (
            class.relnamespace = 'fuel_v1'::regnamespace
            OR class.relkind <> 'v' AND attribute.attname NOT IN (
              'station_id', 'fuel_id', 'source_id', 'region', 'run_id'))
          AND attribute.attnum > 0 AND NOT attribute.attisdropped
          AND col_description(class.oid, attribute.attnum) IS NULL
        """)
      #expect(columns == [])
      let constraints = try Connection(target).lines(
        """
        SELECT constr.conrelid::regclass || '.' || constr.conname AS what
        FROM pg_constraint AS constr
        JOIN pg_class AS class ON class.oid = constr.conrelid
        WHERE class.relnamespace = 'fuel'::regnamespace AND NOT class.relispartition
          -- Since PostgreSQL 18 a column that is NOT NULL has a constraint, which the server names.
          AND constr.contype <> 'n' AND constr.conname !~ '_(pk|uq|fk|ck)$'
        """)
      #expect(constraints == [])
      let functions = try Connection(target).lines(
        """
        SELECT oid::regprocedure AS what FROM pg_proc
        WHERE pronamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace)
          AND obj_description(oid, 'pg_proc') IS NULL
        """)
      #expect(functions == [])
    }
  }

  /// F-V17: a view says the same in every time zone of a session. A day of an interval would have 23
  /// or 25 hours where the clocks of that zone change.
  @Test func noViewCountsInDaysOfTheSession() async throws {
    try await TestDatabase.with { target in
      let views = try Connection(target).lines(
        """
        SELECT schemaname || '.' || viewname AS what
        FROM pg_views
        WHERE schemaname IN ('fuel', 'fuel_v1') AND definition ~ '[0-9]+ days?''::interval'
        """)
      #expect(views == [])
    }
  }

  /// The comment of a column that holds one of some fixed words names each of them.
  @Test(arguments: [
    ("run_outcome_ck", "ingest_runs", "outcome"), ("run_kind_ck", "ingest_runs", "kind"),
    ("aggregate_run_outcome_ck", "aggregate_runs", "outcome"),
    ("verdict_verdict_ck", "fill_up", "verdict"), ("verdict_basis_ck", "fill_up", "basis"),
    ("verdict_state_ck", "fill_up", "market_state"),
    ("verdict_state_ck", "fill_up_history", "market_state"),
    ("verdict_calibration_event_ck", "verdict_calibration", "event"),
  ])
  func everyWordIsExplained(constraint: String, view: String, column: String) async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let rule = try connection.lines(
        """
        SELECT pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conname = \(constraint) AND connamespace = 'fuel'::regnamespace
        """
      ).joined()
      let comment = try connection.lines(
        """
        SELECT col_description(attrelid, attnum) FROM pg_attribute
        WHERE attrelid = ('fuel_v1.' || \(view)::text)::regclass AND attname = \(column)
        """
      ).joined()
      let words = rule.matches(of: /'([a-z0-9_]+)'/).map { String($0.1) }
      let explained = Set(comment.matches(of: /[a-z0-9_]+/).map { String($0.0) })
      #expect(words.count > 2 && Set(words).isSubset(of: explained), "\(comment)")
    }
  }

  /// The nation has no verdict, so no column of `fill_up` speaks of its row.
  @Test func theNationHasNoVerdictToDescribe() async throws {
    try await TestDatabase.with { target in
      let comments = try Connection(target).lines(
        """
        SELECT col_description(attrelid, attnum) FROM pg_attribute
        WHERE attrelid = 'fuel_v1.fill_up'::regclass AND attnum > 0
        """)
      let speaking = comments.filter { $0.contains("nation") }
      #expect(comments.count > 20 && speaking == [])
    }
  }

  /// F-O01: names, order and types of the columns of all views equal the contract file. An added
  /// column must be written down there too.
  @Test func viewsKeepTheirContract() async throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/contract.txt")
    let contract = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    try await TestDatabase.with { target in
      let columns = try Connection(target).lines(
        """
        SELECT class.relname || '.' || attribute.attname || ' '
          || format_type(attribute.atttypid, attribute.atttypmod) AS what
        FROM pg_class AS class
        JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0
        WHERE class.relnamespace = 'fuel_v1'::regnamespace AND class.relkind = 'v'
        ORDER BY class.relname, attribute.attnum
        """)
      let (added, gone) = (Set(columns).subtracting(contract), Set(contract).subtracting(columns))
      let isContract = columns == contract
      #expect(
        isContract,
        "Fixtures/contract.txt lacks \(added.sorted()) and has too much \(gone.sorted()); if both are empty, the order differs"
      )
      let plain = try Connection(target).lines(
        """
        SELECT DISTINCT format_type(attribute.atttypid, NULL)
          || CASE WHEN attribute.atttypid = 'numeric'::regtype AND attribute.atttypmod < 0
            THEN ' without precision' ELSE '' END AS type
        FROM pg_class AS class
        JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0
        WHERE class.relnamespace = 'fuel_v1'::regnamespace AND class.relkind = 'v'
        ORDER BY 1
        """)
      #expect(
        Set(plain).isSubset(of: [
          "text", "bigint", "integer", "boolean", "date", "timestamp with time zone", "numeric",
        ]))
    }
  }

  @Test func aPublishedViewMayNotLoseAColumn() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let error = #expect(throws: PostgresError.self) {
        try connection.execute("CREATE OR REPLACE VIEW fuel_v1.rejects AS SELECT 1 AS run_id")
      }
      #expect(error?.sqlState == "42P16")
    }
  }

  /// F-O02, F-O03, F-Z13: each role has exactly its rights, object by object, and none of the
  /// rights that PostgreSQL gives to everybody.
  @Test func rolesHaveWhatTheyNeedAndNoMore() async throws {
    // Rights on a database are not copied with a template, so this one is migrated from empty.
    try await TestDatabase.withEmpty { target in
      try Migrator(try Connection(target)).up()
      let connection = try Connection(target)
      let readable = try connection.lines(
        """
        SELECT class.oid::regclass AS what
        FROM pg_class AS class JOIN pg_namespace AS space ON space.oid = class.relnamespace
        WHERE class.relkind IN ('r', 'p', 'v', 'm', 'S')
          AND space.nspname NOT IN ('pg_catalog', 'information_schema')
          AND space.nspname NOT LIKE 'pg_toast%'
          AND (has_table_privilege('fuel_reader', class.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
            <> (space.nspname = 'fuel_v1'))
        """)
      #expect(readable == [])
      let writes = try connection.lines(
        """
        SELECT class.oid::regclass AS what
        FROM pg_class AS class
        WHERE class.relnamespace = 'fuel_v1'::regnamespace
          AND has_table_privilege('fuel_reader', class.oid, 'INSERT, UPDATE, DELETE')
        """)
      #expect(writes == [])
      let deletes = try connection.lines(
        """
        SELECT class.relname FROM pg_class AS class
        WHERE class.relnamespace = 'fuel'::regnamespace AND class.relkind IN ('r', 'p')
          AND has_table_privilege('fuel_writer', class.oid, 'DELETE, TRUNCATE')
        ORDER BY 1
        """)
      #expect(
        deletes == [
          "brand_name", "counted_place", "cycle", "daily_rollup",
          "due",
          "market", "market_event", "notice", "notice_rule", "present_span",
          "price_lapse", "region",
          "region_change",
          "region_station", "run_to_read", "source_day", "span", "station_decision",
          "station_doubt",
          "station_habit",
          "station_month", "verdict_calibration", "verdict_score",
        ])
      #expect(
        try connection.lines(
          """
          SELECT has_schema_privilege('fuel_reader', 'fuel', 'USAGE') AS a,
            has_schema_privilege('fuel_reader', 'fuel_v1', 'CREATE') AS b,
            has_schema_privilege('fuel_reader', 'public', 'CREATE') AS c,
            has_database_privilege('fuel_reader', current_database(), 'TEMP') AS d,
            has_schema_privilege('fuel_writer', 'fuel', 'CREATE') AS e
          """) == ["f|f|f|f|f"])
    }
  }

  /// A login in `fuel_reader`, such as an analyst has, can read every view and call functions, and
  /// nothing else.
  @Test func aReadersLoginReadsTheViews() async throws {
    // Rights on a database are not copied with a template, so this one is migrated from empty.
    try await TestDatabase.withEmpty { target in
      try Migrator(try Connection(target)).up()
      let feed = try Feed(target)
      try feed.reports([.u91("1", 1899, Instant.now)], at: Instant.now)
      try feed.aggregate(at: Instant.now)
      let name = target.split(separator: "=")[1]
      try feed.connection.execute("CREATE ROLE analyst_\(name) LOGIN IN ROLE fuel_reader")
      let reader = try Connection("\(target) user=analyst_\(name)")
      let views = try feed.connection.lines(
        "SELECT viewname FROM pg_views WHERE schemaname = 'fuel_v1' ORDER BY 1")
      #expect(views.count >= 13)
      for view in views {
        try reader.execute("SELECT * FROM fuel_v1.\(view)")
      }
      try reader.execute(
        """
        SELECT fuel_v1.price_at(1, 'U91', now()), fuel_v1.average_at('QLD', 'U91', now());
        SELECT * FROM fuel_v1.stations_near(-27, 153, 5)
        """)
      for forbidden in [
        "SELECT * FROM fuel.price", "SELECT * FROM fuel.run", "SELECT fuel.held_at(now())",
        "SELECT fuel.ensure_year(2026)", "CREATE TEMP TABLE t (n integer)",
        "CREATE TABLE public.t (n integer)", "DELETE FROM fuel_v1.rejects",
        "SELECT * FROM fuel.price_now", "COPY fuel_v1.rejects TO PROGRAM 'true'",
      ] {
        let error = #expect(throws: PostgresError.self, "\(forbidden)") {
          try reader.execute(forbidden)
        }
        #expect(error?.isLoginRefused == true || error?.sqlState == "55000", "\(forbidden)")
      }
    }
  }

  /// F-O03: the writer can neither change the schema nor delete history.
  @Test func aWriterCannotDeleteHistory() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      try feed.store.becomeWriter()
      try feed.reports([.u91("1", 1899, Instant.now)], at: Instant.now)
      try feed.aggregate(at: Instant.now)
      for forbidden in [
        "DELETE FROM fuel.price", "TRUNCATE fuel.price", "UPDATE fuel.price SET price_tenths = 1",
        "DELETE FROM fuel.run", "DELETE FROM fuel.verdict", "DROP TABLE fuel.price",
        "CREATE TABLE fuel.t (n integer)", "ALTER TABLE fuel.price DISABLE TRIGGER ALL",
        "DELETE FROM fuel.listing", "UPDATE fuel.verdict SET verdict = 'wait'",
      ] {
        let error = #expect(throws: PostgresError.self, "\(forbidden)") {
          try feed.connection.execute(forbidden)
        }
        #expect(error?.sqlState == "42501", "\(forbidden)")
      }
    }
  }

  /// A type or function of a writer cannot run with the rights of the owner.
  @Test func definersDoNotFollowTheCallersNames() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let open = try connection.lines(
        """
        SELECT oid::regprocedure AS what FROM pg_proc
        WHERE pronamespace IN ('fuel'::regnamespace, 'fuel_v1'::regnamespace) AND prosecdef
          AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
        """)
      #expect(open == [])
      try connection.execute(
        """
        SET ROLE fuel_writer;
        CREATE FUNCTION pg_temp.evil(t pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS
          $$BEGIN RAISE EXCEPTION 'evil runs as %', current_user; END$$;
        CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.evil(VALUE));
        SELECT fuel.ensure_year(2027)
        """)
    }
  }

  @Test func theFuelTableIsTheOneInTheProgram() async throws {
    try await TestDatabase.with { target in
      let rows = try Connection(target).lines(
        "SELECT fuel_id, fuel FROM fuel.fuel ORDER BY fuel_id")
      #expect(
        rows
          == Fuel.allCases.sorted { ($0.id ?? 0) < ($1.id ?? 0) }.map {
            "\($0.id ?? 0)|\($0.rawValue)"
          })
      let zones = try Connection(target).lines("SELECT state, time_zone FROM fuel.state ORDER BY 1")
      #expect(
        zones
          == Australia.states.map { "\($0.code)|\($0.timeZone.rawValue)" }.sorted())
    }
  }

  /// The history could move to a distributed database. Its unique keys begin with the station, it
  /// has no exclusion constraints, and its only triggers keep sums by statement, which each part
  /// could keep for itself.
  @Test func theHistoryCouldBeDistributed() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      #expect(
        try connection.lines(
          """
          SELECT tgname FROM pg_trigger
          WHERE NOT tgisinternal AND tgrelid IN (
            SELECT attrelid FROM pg_attribute WHERE attname IN ('fuel_id', 'station_id'))
            AND tgname NOT IN ('answer_sum', 'archive_price_sum')
            AND tgrelid NOT IN (
              'fuel.station_description'::regclass, 'fuel.station_sighting'::regclass, 'fuel.price_lapse'::regclass,
              'fuel.station'::regclass)
          """) == [])
      #expect(try connection.lines("SELECT conname FROM pg_constraint WHERE contype = 'x'") == [])
      for table in ["price", "listing", "shown_price"] {
        #expect(
          try connection.lines(
            """
            SELECT indexrelid::regclass AS what FROM pg_index
            WHERE indrelid = \("fuel.\(table)")::regclass AND indisunique
              AND indkey[0] <> (SELECT attnum FROM pg_attribute
                WHERE attrelid = indrelid AND attname = 'station_id')
            """) == [])
      }
    }
  }
}
