import Foundation
import Postgres
import TestDatabase
import Testing

#if canImport(Glibc)
  import Glibc
#endif

struct ConnectionTests {
  /// F-O36: a full disk is called so.
  @Test func aFullDiskIsNamed() {
    let error = PostgresError.refused(
      sqlState: "53100", message: "could not extend file: wrote only 4096 of 8192 bytes",
      detail: nil)
    #expect("\(error)".hasSuffix("; the disk of the database server is full: free space on it"))
    #expect(error.isOfStorage && !error.mayHeal)
  }

  /// F-O62: a server whose disk is full or failing, or whose data are damaged, needs a person. One
  /// that lacks memory or connections does not.
  @Test func whatTheServersDiskCannotDoIsNoWait() {
    for state in ["53100", "58030", "58P01", "XX001", "XX002"] {
      let error = PostgresError.refused(sqlState: state, message: "x", detail: nil)
      #expect(error.isOfStorage && !error.mayHeal, "\(state)")
    }
    for state in ["53200", "53300", "57P01", "40001"] {
      let error = PostgresError.refused(sqlState: state, message: "x", detail: nil)
      #expect(!error.isOfStorage && error.mayHeal, "\(state)")
    }
    let words = "FATAL:  could not write init file: No space left on device"
    #expect(PostgresError.cannotConnect(words).isOfStorage)
    #expect(!PostgresError.cannotConnect(words).mayHeal)
  }

  /// F-M61: a collation version that does not match is remarked by the server at each connection.
  /// Nothing is printed then, by a connection that is good or by one that fails.
  @Test func nothingIsPrintedWhileConnecting() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      try connection.execute(
        "UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()")
      let saved = dup(STDERR_FILENO)
      let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { unlink(path) }
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      dup2(file, STDERR_FILENO)
      let again = Result { try Connection(target) }
      _ = try? Connection(target + " user=no_such_login")
      dup2(saved, STDERR_FILENO)
      close(saved)
      close(file)
      _ = try again.get()
      // Other tests may print meanwhile.
      #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("collation version"))
    }
  }

  /// F-O36: a session ends in the middle of a function. The text of the function is not shown.
  @Test func aLostConnectionIsToldInOneLine() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      let error = #expect(throws: PostgresError.self) {
        try connection.execute(
          """
          DO $$
          BEGIN
            PERFORM pg_terminate_backend(pg_backend_pid());
            PERFORM pg_sleep(5);
          END
          $$
          """)
      }
      let told = "\(try #require(error))"
      #expect(told.hasPrefix("the database connection was lost: "))
      #expect(
        !told.contains("PERFORM") && !told.contains("PL/pgSQL") && told.count < 300, "\(told)")
    }
  }

  /// F-M05: an error about an unreadable connection string does not repeat it, since any part of it
  /// may be the password.
  @Test(arguments: [
    "postgresql://u:p%zzCANARY@host/x", "host=/nowhere password=my CANARY word",
    "postgresql://u:CANARY/x@host:1/", "password='CANARY", "CANARY=1",
    "host=/nowhere sslmode=CANARY", "postgresql://u:p%zz\"CANARY@host/x",
    "postgres:/u:CANARY@host/x", "postgresl://u:CANARY@host/x", "u:CANARY@host",
    // F-M63
    "postgresql://u:CANARY@[::1/x", "postgresql://u:CANARY@[]/x", "postgresql://u:CANARY@[::1]x/",
    "postgresql://u@h/x?password=my=CANARY", "postgresql://u@h/x?CANARY",
    "postgresql://u@h/x?password=CANARY&sslmode",
    // F-N54
    "postgresql://fuel:s3cr3t@CANARY@127.0.0.1/fuel",
    "dbname=postgresql://fuel:s3cr3t@CANARY@127.0.0.1/fuel",
  ])
  func noPieceOfATargetIsRepeated(target: String) throws {
    let error = #expect(throws: PostgresError.self) { try Connection(target) }
    guard case .malformedTarget? = error else {
      Issue.record("\(error!)")
      return
    }
    #expect(!"\(error!)".contains("CANARY"), "\(error!)")
  }

  /// What is wrong with a target is named where libpq names it: the setting with a wrong value, and
  /// which names there are.
  @Test(arguments: [
    ("host=/nowhere port=CANARY", "\"***\" for connection option \"port\""),
    ("CANARY=1", "or keywords such as host=db dbname=fuel)"),
    ("databse=CANARY", "invalid connection option \"***\" (--db or a PG variable states it"),
    // A password with a blank in it, which libpq takes for the next keyword.
    ("password=CANARY coffee=1", "\"***\" (--db or a PG variable states it"),
    ("host=/nowhere", "--db, 'database' in bowser.json5, PGHOST or PGPORT names another server"),
    (
      "host=127.0.0.1 port=1",
      "--db, 'database' in bowser.json5, PGHOST or PGPORT names another server"
    ),
    ("port=abc", "invalid integer value \"***\" for connection option \"port\" (--db"),
    ("sslmode=yes", "invalid sslmode value: \"***\" (--db"),
    ("target_session_attrs=primery", "invalid target_session_attrs value: \"***\" (--db"),
    ("host=x dbname", "missing \"***\" in connection info string (--db"),
    ("password=my CANARY", "missing \"***\" in connection info string (--db"),
    ("password=host\" CANARY\"host", "missing \"***\" in connection info string"),
    ("postgresql://u:CANARY@[::1/x", "matching \"***\""),
    ("host=a,b,c port=1,2", "could not match 2 port numbers to 3 hosts (--db"),
  ])
  func aWrongTargetIsExplained(target: String, answer: String) throws {
    let error = #expect(throws: PostgresError.self) { try Connection(target) }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains(answer) && !message.contains("CANARY"), "\(message)")
  }

  /// COPY takes no parameters. Values that look like a parameter stay values.
  @Test func copiedValuesStayValues() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      let (first, second) = ("$2'; DROP--", "$1 \\ $10")
      var lengths: [Int32] = []
      try connection.copy(
        from: "SELECT length(\(first)::text), length(\(second)::text)"
      ) { row in
        lengths = [try row.int32(), try row.int32()]
      }
      #expect(lengths == [Int32(first.count), Int32(second.count)])
    }
  }

  /// F-O06, F-S08: values are bound as parameters, whatever they contain.
  @Test func valuesAreNeverPartOfAStatement() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      for text in [
        "'); DROP TABLE x;--", "$$", "\\", "\"", "%s", "{a,b}", "NULL", "é\u{1F600}", "",
      ] {
        let row = try connection.query(
          "SELECT \(text)::text AS value, \([text, "b"])::text[] AS list"
        )
        .only()
        #expect(try row.text("value") == text)
        #expect(
          try connection.query(
            "SELECT (\([text, "b"])::text[])[1] = \(text) AS same"
          ).only().boolean("same"))
      }
      let nothing: String? = nil
      #expect(
        try connection.query("SELECT \(optional: nothing)::text AS value").only()
          .optional("value") == nil)
      let bytes: [UInt8] = [0, 255, 39, 92, 0]
      try connection.execute("CREATE TABLE public.large (bytes bytea)")
      // The second row is sent in three pieces.
      try connection.copy(into: "public.large", columns: 1) { copy in
        for times in [1, 120_000] {
          try copy.beginRow()
          try copy.write(large: Array(repeatElement(bytes, count: times).joined()))
        }
      }
      #expect(
        try connection.lines(
          """
          SELECT bytes = decode(repeat('00ff275c00', octet_length(bytes) / 5), 'hex'), octet_length(bytes),
            left(encode(bytes, 'hex'), 10)
          FROM public.large ORDER BY 2
          """) == ["t|5|00ff275c00", "t|600000|00ff275c00"])
    }
  }

  @Test func aTransactionHoldsOrLeavesNoTrace() async throws {
    struct Stop: Error {}
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      try connection.execute("CREATE TABLE public.t (n integer)")
      var wasStopped = false
      do {
        try connection.transaction {
          try connection.execute("INSERT INTO public.t VALUES (1)")
          throw Stop()
        }
      } catch is Stop {
        wasStopped = true
      }
      #expect(wasStopped)
      try connection.transaction { try connection.execute("INSERT INTO public.t VALUES (2)") }
      #expect(try connection.lines("SELECT n FROM public.t") == ["2"])
    }
  }

  /// Numbers with two and three decimals arrive exactly as PostgreSQL writes them itself.
  @Test func decimalsArriveAsTheyAre() async throws {
    try await TestDatabase.with { target in
      let connection = try Connection(target)
      try connection.execute(
        "CREATE TEMPORARY TABLE pg_temp.sent (cents numeric(6, 2), share numeric(7, 3))")
      let values = [0, 1, 99, 100, 101, 1_000, 9_999, 10_000, 123_456, 999_999]
      try connection.copy(into: "pg_temp.sent", columns: 2) { copy in
        for value in values {
          try copy.beginRow()
          copy.write(value, decimals: 2)
          copy.write(value, decimals: 3)
        }
      }
      let kept = try connection.query(
        """
        SELECT
          bool_and(sent.cents::text = (value / 100.0)::numeric(6, 2)::text) AS has_cents,
          bool_and(sent.share::text = (value / 1000.0)::numeric(7, 3)::text) AS has_shares,
          bool_and(numeric_send(sent.cents) = numeric_send((value / 100.0)::numeric(6, 2))) AS is_alike
        FROM unnest(\(values)::integer[]) WITH ORDINALITY AS value (value, place)
        JOIN (SELECT sent.*, row_number() OVER (ORDER BY cents) AS place FROM pg_temp.sent) AS sent USING (place)
        """
      ).only()
      #expect(try kept.boolean("has_cents") && kept.boolean("has_shares"))
      #expect(try kept.boolean("is_alike"))
    }
  }

  /// A row that COPY refuses fails the whole load, and the session stays usable.
  @Test func aRefusedCopyLeavesTheSessionUsable() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      try connection.execute("CREATE TABLE public.t (n integer CHECK (n < 100), s text)")
      #expect(throws: PostgresError.self) {
        try connection.copy(into: "public.t", columns: 2) { copy in
          for n in Int32(0)..<200 {
            try copy.beginRow()
            copy.write(n)
            copy.writeNull()
          }
        }
      }
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try connection.copy(into: "public.t", columns: 2) { copy in
          try copy.beginRow()
          throw Stop()
        }
      }
      #expect(try connection.lines("SELECT count(*) FROM public.t") == ["0"])
      let loaded = try connection.copy(into: "public.t", columns: 2) { copy in
        for n in Int32(0)..<99 {
          try copy.beginRow()
          copy.write(n)
          copy.write("text \(n) 'é'")
        }
      }
      #expect(loaded == 99)
      #expect(try connection.lines("SELECT s FROM public.t WHERE n = 42") == ["text 42 'é'"])
    }
  }

  /// A session does not depend on defaults of the role or the database.
  @Test func hostileDefaultsChangeNothing() async throws {
    try await TestDatabase.withEmpty { target in
      let name = target.split(separator: "=")[1]
      try Connection(target).execute(
        """
        ALTER DATABASE \(name) SET DateStyle = 'SQL, DMY';
        ALTER DATABASE \(name) SET TimeZone = 'America/New_York';
        ALTER DATABASE \(name) SET search_path = 'nonsense';
        ALTER DATABASE \(name) SET standard_conforming_strings = off;
        ALTER DATABASE \(name) SET client_encoding = LATIN1;
        ALTER DATABASE \(name) SET bytea_output = 'escape'
        """)
      let connection = try Connection(target)
      #expect(
        try connection.lines(
          """
          SELECT '2026-07-02T12:00:00Z'::timestamptz AS t, 'a\\b' AS s, 'é' AS u,
            decode('5c', 'hex') AS b
          """)
          == ["2026-07-02 12:00:00+00|a\\b|é|\\x5c"])
    }
  }

  /// F-M09: faults that may pass by themselves are distinguished from those that need a person,
  /// such as a service that no file defines or TLS that the server does not offer.
  @Test func connectionFaultsAreSorted() {
    func fault(_ target: String) -> PostgresError? {
      do {
        _ = try Connection(target)
        return nil
      } catch {
        return error
      }
    }
    #expect(fault("host=/nowhere")?.mayHeal == true)
    #expect(fault("dbname=missing_database")?.isUnknownDatabase == true)
    #expect(fault("user=nobody_at_all dbname=postgres")?.isLoginRefused == true)
    #expect(fault("service=defined_nowhere")?.isMisconfigured == true)
    let misspelt = PostgresError.cannotConnect(
      "could not translate host name \"localhst\" to address: Name or service not known")
    #expect(misspelt.mayHeal && "\(misspelt)".contains("PGHOST"), "\(misspelt)")
    #expect(fault("options=--work_mem=no dbname=postgres")?.isMisconfigured == true)
    for message in [
      "server does not support SSL, but SSL was required", "SSL error: certificate verify failed",
      "root certificate file \"root.crt\" does not exist",
      "server certificate for \"a\" does not match host name \"b\"",
    ] {
      let tls = PostgresError.cannotConnect("connection to server at \"a\" failed: \(message)")
      #expect(tls.isMisconfigured && !tls.mayHeal, "\(message)")
    }
    let secret = fault("host=/nowhere password=CANARY")
    #expect(secret != nil && !"\(secret!)".contains("CANARY"))
  }

  /// A session that the server ends is reported as lost.
  @Test func aShortTimeLimitIsNamed() throws {
    let reader = try Connection("dbname=postgres options='-c statement_timeout=500ms'")
    #expect(try reader.lines("SELECT current_setting('statement_timeout')") == ["0"])
    try reader.restoreTimeout()
    let error = #expect(throws: PostgresError.self) { try reader.execute("SELECT pg_sleep(30)") }
    #expect(error?.mayHeal == true)
    #expect(
      "\(error!)".contains(
        "the statement_timeout of this login, database or PGOPTIONS is too short"))
  }

  @Test func aTerminatedSessionIsLost() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      let backend = try connection.query("SELECT pg_backend_pid() AS pid").only().integer("pid")
      try Connection(target).query("SELECT pg_terminate_backend(\(backend))")
      let error = #expect(throws: PostgresError.self) {
        // The end may reach the client one statement late.
        try connection.execute("SELECT pg_sleep(0.2)")
        try connection.execute("SELECT 1")
      }
      #expect(error?.mayHeal == true)
    }
  }

  /// F-N14: elements of an array arrive unchanged, even with combining marks on their quotes and
  /// backslashes.
  @Test(arguments: [
    "Shell \"\u{301} Cafe", "A\u{d4e}\",\"B", "Shell \\\u{301} Cafe", "P\u{d4e}\",\"STOLEN",
    "A\u{d4e}\\",
    ",\"\u{301}four", "{}", "NULL", "", "x\u{d4e}\",\"y",
  ])
  func arraysArriveAsTheyAre(text: String) async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      let sent = ["before", text, "after"]
      #expect(
        try connection.query("SELECT * FROM unnest(\(sent)) AS value").map { try $0.text("value") }
          == sent)
      var copied: [String] = []
      try connection.copy(from: "SELECT value FROM unnest(\(sent)::text[]) AS value") { row in
        copied.append(try row.text())
      }
      #expect(copied == sent)
    }
  }

  /// Arrays of every supported type arrive, with NULLs and without elements.
  @Test func arraysOfAllTypesArrive() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      #expect(
        try connection.lines(
          """
          SELECT \([Int16.min, 7])::text AS a, \([Int32.max, -1])::text AS b, \([Int64.min])::text AS c,
            \([1, -2])::text AS d, \([0.5, -1e300])::text AS e, \([true, false])::text AS f,
            \(["x", nil])::text AS g, \([Int32]())::text AS h
          """)
          == [
            "{-32768,7}|{2147483647,-1}|{-9223372036854775808}|{1,-2}|{0.5,-1e+300}|{t,f}|{x,NULL}|{}"
          ])
    }
  }

  /// A NUL in a parameter is a mistake of the program. It is reported as an error and does not
  /// crash the process.
  @Test func aNULIsRefused() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      let error = #expect(throws: PostgresError.self) {
        try connection.query("SELECT \("a\0b")::text")
      }
      #expect(error?.mayHeal == false)
      #expect(throws: PostgresError.self) { try connection.query("SELECT \(["a\0b"])") }
      #expect(try connection.lines("SELECT 1") == ["1"])
    }
  }

  /// F-N03: a statement without an answer ends at the deadline. The error states what it waited
  /// for.
  @Test func aSilentServerIsLeftAtTheDeadline() async throws {
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target, deadline: Deadline(seconds: 1))
      // Without a deadline the statement would succeed.
      let error = #expect(throws: PostgresError.self) {
        try connection.execute("SELECT pg_catalog.pg_sleep(30)")
      }
      #expect(error?.mayHeal == true)
      #expect("\(error!)".contains("SELECT pg_catalog.pg_sleep(30)"), "\(error!)")
    }
  }

  /// F-K08: a pooler that gives one session of the server to several clients in turns is refused. A
  /// pooler that gives each client a session of its own is not.
  @Test(arguments: [true, false])
  func poolersThatShareASessionAreRefused(isShared: Bool) async throws {
    try await TestDatabase.withEmpty { target in
      let pooler = try Pooler(isShared: isShared)
      defer { pooler.close() }
      var told = ""
      do {
        let connection = try Connection(pooler.target(target), deadline: Deadline(seconds: 20))
        #expect(try connection.lines("SELECT 1") == ["1"])
      } catch {
        told = "\(error)"
      }
      #expect(told.contains("a pooler in transaction mode") == isShared, "\(told)")
      #expect(told.isEmpty == !isShared, "\(told)")
    }
  }

  /// F-N08: when the answer to COMMIT is lost, the client asks the server whether the transaction
  /// was committed, and the session goes on.
  @Test(arguments: Proxy.Fault.allCases)
  func aLostAnswerOfCommitIsLookedUp(fault: Proxy.Fault) async throws {
    try await TestDatabase.withEmpty { target in
      try Connection(target).execute("CREATE TABLE public.t (n integer)")
      let proxy = try Proxy(fault, atCommit: 1)
      defer { proxy.close() }
      let connection = try Connection(proxy.target(target), deadline: Deadline(seconds: 2))
      var failure: (any Error)?
      do {
        try connection.transaction { try connection.execute("INSERT INTO public.t VALUES (1)") }
      } catch {
        failure = error
      }
      let isStored = try Connection(target).lines("SELECT n FROM public.t") == ["1"]
      // A committed transaction is reported as committed, and any other one as lost.
      #expect(isStored == (failure == nil), "\(fault): \(failure.map { "\($0)" } ?? "no error")")
      #expect(isStored == (fault == .losesTheAnswer))
      if failure == nil { #expect(try connection.lines("SELECT n FROM public.t") == ["1"]) }
    }
  }
}
