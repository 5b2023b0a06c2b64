import CPostgres
import Dispatch
import Glibc

/// One session with PostgreSQL over libpq, owned by the run that opened it. Not `Sendable`.
///
/// Every wait has an end: a statement ends at the deadline, and a wait for a lock after
/// `lockTimeout`. While this program is busy with other work, a heartbeat keeps the session alive.
/// The server ends the session of a program that has died, and releases its locks.
package final class Connection {
  private(set) var handle: OpaquePointer
  package private(set) var isRehearsing = false
  let target: String
  let application: String
  package let deadline: Deadline
  private var role: String?
  /// The process id of the server's session, even where a pooler stands in between.
  private var serverProcess = 0
  // Whether a statement ends by the time limit of this program and not by one of the login, the
  // database or PGOPTIONS.
  var hasOwnTimeout = false
  // Held while a statement or the heartbeat uses the session.
  let use = DispatchSemaphore(value: 1)
  private var heartbeat: Heartbeat?

  /// Opens a session by libpq's own rules, and makes it independent of the defaults of the role and
  /// the server: UTC, ISO dates, UTF-8, an empty search path.
  ///
  /// - Parameters:
  ///   - target: a URI or keywords; empty means PG* variables, service file and `.pgpass`.
  ///   - deadline: when all work on the session must have ended. Connecting has its own limit,
  ///     `connect_timeout`: ten seconds for each host, unless the caller states another one.
  ///   - connectSeconds: the limit of connecting, where this is a session about another one.
  ///   - database: overrides the database that the target names.
  package init(
    _ target: String = "", application: String = "bowser", deadline: Deadline = .never,
    connectSeconds: Int? = nil, database: String? = nil
  ) throws(PostgresError) {
    self.target = target
    self.application = application
    self.deadline = deadline
    handle = try Self.open(target, application, deadline, connectSeconds, database)
    serverProcess = try setUp()
    // The process numbers differ behind a pooler, which reports a number of its own.
    if connectSeconds == nil, serverProcess != Int(PQbackendPID(handle)) { try refuseSharing() }
    heartbeat = Heartbeat(of: self)
  }

  /// Opens another session, about this one or its run. It connects within five seconds or fails.
  package func another(_ deadline: Deadline) throws(PostgresError) -> Connection {
    try Connection(target, application: application, deadline: deadline, connectSeconds: 5)
  }

  /// Ends sessions of this program that hold locks but send nothing any more. Does nothing where
  /// they cannot be determined.
  package func endSilentSessions() {
    guard let other = try? another(Deadline(seconds: 15)) else { return }
    try? other.endStalled()
  }

  /// Throws where a pooler shares this session between clients. Locks, settings and the role belong
  /// to a session of the server: a pooler that gives the session to other clients between
  /// transactions would give them those as well.
  private func refuseSharing() throws(PostgresError) {
    let other = try another(Deadline(seconds: 10))
    guard other.serverProcess == serverProcess else { return }
    // The settings would stay in the session, which belongs to the pooler.
    try? execute("RESET ALL")
    throw .unfit(
      "the connection goes through a pooler in transaction mode: connect to the server itself, or to a pooler in session mode"
    )
  }

  deinit {
    heartbeat?.end()
    PQfinish(handle)
  }

  private static func open(
    _ target: String, _ application: String, _ deadline: Deadline, _ connectSeconds: Int?,
    _ database: String?
  ) throws(PostgresError) -> OpaquePointer {
    try refuseMalformed(target)
    // A later parameter overrides an earlier one, as the target does these. A dead host is noticed
    // within a minute.
    var parameters = [
      ("keepalives_idle", "20"), ("keepalives_interval", "10"),
      ("keepalives_count", "4"), ("tcp_user_timeout", "60000"),
    ]
    if getenv("PGCONNECT_TIMEOUT") == nil {
      // libpq does not accept less than two seconds.
      let left = (deadline.millisecondsLeft ?? 10_000) / 1_000
      parameters.append(("connect_timeout", String(min(10, max(2, left)))))
    }
    parameters += [
      ("fallback_application_name", application), ("dbname", target), ("client_encoding", "UTF8"),
    ]
    if let database { parameters.append(("dbname", database)) }
    if let connectSeconds { parameters.append(("connect_timeout", String(connectSeconds))) }
    let (keywords, values) = (parameters.map(\.0), parameters.map(\.1))
    let opened = withCStrings(keywords) { keywordPointers in
      withCStrings(values) { valuePointers in
        silentlyConnected(keywordPointers, valuePointers)
      }
    }
    guard let opened else { throw .cannotConnect("out of memory") }
    guard PQstatus(opened) == CONNECTION_OK else {
      let message = oneLine(String(cString: PQerrorMessage(opened)))
      PQfinish(opened)
      // Libpq itself refuses a value of a setting, in words of its own.
      let isMalformed =
        message.hasPrefix("invalid ")
        || ["invalid port number", "could not match", "could not parse network address"]
          .contains { message.contains($0) }
      throw isMalformed ? .malformedTarget(masked(message)) : .cannotConnect(message)
    }
    if let encoding = PQparameterStatus(opened, "server_encoding").map({ String(cString: $0) }),
      encoding != "UTF8"
    {
      PQfinish(opened)
      throw .unfit(
        "the database is encoded in \(encoding), and bowser needs UTF8: "
          + "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0")
    }
    // The context of an error is the text of this program's own functions.
    PQsetErrorContextVisibility(opened, PQSHOW_CONTEXT_NEVER)
    // All waiting happens in `wait`, which knows the deadline.
    PQsetnonblocking(opened, 1)
    return opened
  }

  /// Makes the session independent of defaults.
  ///
  /// - Returns: the process id of the server's session.
  private func setUp() throws(PostgresError) -> Int {
    let script =
      """
      SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';
      SET default_transaction_isolation = 'read committed'; SET search_path = '';
      SET standard_conforming_strings = on; SET bytea_output = 'hex';
      SET extra_float_digits = 1; SET client_min_messages = 'warning'; SET jit = off;
      SET lock_timeout = '\(Self.lockTimeout)'; SET statement_timeout = \(statementTimeout);
      SET idle_in_transaction_session_timeout = '\(Self.silenceSeconds)s';
      SET idle_session_timeout = '\(Self.silenceSeconds)s';
      SET client_connection_check_interval = '10s';
      SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 4;
      SET tcp_user_timeout = 60000;
      SELECT pg_backend_pid() AS process
      """
    let process = try exclusively { () throws(PostgresError) -> Int in
      let result = try finalResult(isSent: PQsendQuery(handle, script), of: script)
      return try Rows(checked(result, expecting: [PGRES_TUPLES_OK])).only().integer("process")
    }
    hasOwnTimeout = true
    return process
  }

  /// How long a statement waits for a lock that another session holds.
  package static let lockTimeout = "20s"

  /// The number of seconds of silence after which the server takes this program for dead.
  static let silenceSeconds = 100

  // Milliseconds; 0 means no limit. The server stops the statement five seconds after the deadline.
  private var statementTimeout: Int { deadline.millisecondsLeft.map { $0 + 5_000 } ?? 0 }

  /// Runs one statement with parameters and returns its rows.
  @discardableResult
  package func query(_ statement: SQL) throws(PostgresError) -> Rows {
    // libpq ends a parameter at its first NUL and would store half a value without an error. Texts
    // from outside contain no NUL, so a NUL is a fault of this program.
    guard !statement.parameters.contains(where: { $0?.utf8.contains(0) == true }) else {
      throw .unexpectedResult("a text parameter contains a NUL")
    }
    return try exclusively { () throws(PostgresError) -> Rows in
      let isSent = withCStrings(statement.parameters) { pointers in
        PQsendQueryParams(
          handle, statement.text, Int32(statement.parameters.count), nil, pointers, nil, nil, 0)
      }
      let result = try finalResult(isSent: isSent, of: statement.text)
      return try Rows(checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK]))
    }
  }

  /// Runs a script without parameters, which this program itself wrote.
  package func execute(_ script: String) throws(PostgresError) {
    try exclusively { () throws(PostgresError) in
      let result = try finalResult(isSent: PQsendQuery(handle, script), of: script)
      PQclear(
        try checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY]))
    }
  }

  /// Runs the body inside one transaction, which is committed when the body returns and rolled back
  /// when it throws. In a rehearsal the transaction is a savepoint.
  @discardableResult
  package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    try begin()
    do {
      let value = try body()
      try commit()
      return value
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins a transaction for work that cannot be one closure. `commit` or `rollBack` ends it.
  package func begin() throws(PostgresError) {
    try execute(isRehearsing ? "SAVEPOINT part" : "BEGIN")
  }

  /// Commits the transaction. Where the server's answer is lost, a new session asks whether the
  /// transaction was committed. If it was, this object continues with the new session; the locks of
  /// the old session are gone.
  ///
  /// - Throws: where the commit failed, or where its result cannot be determined.
  package func commit() throws(PostgresError) {
    guard !isRehearsing else { return try execute("RELEASE SAVEPOINT part") }
    let number = try query("SELECT pg_current_xact_id_if_assigned()::text AS number").only()
      .optional("number")
    do {
      try execute("COMMIT")
    } catch {
      guard error.isLost, let number, let fresh = sessionAfter(commitOf: number) else {
        throw error
      }
      swap(&handle, &fresh.handle)
    }
  }

  /// Returns a new session if a transaction whose answer was lost has been committed; `nil` where
  /// it was not, or where this cannot be determined.
  private func sessionAfter(commitOf number: String) -> Connection? {
    do {
      let fresh = try another(deadline.extended(toSeconds: 15))
      for _ in 0..<20 {
        let status = try fresh.query("SELECT pg_xact_status(\(number)::xid8) AS status").only()
          .optional("status")
        guard status == "in progress" else {
          guard status == "committed" else { return nil }
          if let role { try fresh.execute("SET ROLE \(role)") }
          return fresh
        }
        // The server may not have noticed the end of the old session yet.
        usleep(250_000)
      }
      return nil
    } catch {
      return nil
    }
  }

  /// Rolls the transaction back. Errors are ignored: where the connection is gone, the server rolls
  /// back by itself, and the error that led here is the one to report.
  package func rollBack() {
    try? execute(isRehearsing ? "ROLLBACK TO SAVEPOINT part" : "ROLLBACK")
  }

  /// Opens a transaction around all work until `endRehearsal`, which rolls all of it back. Functions
  /// of the database know it by `bowser.is_rehearsal`.
  package func beginRehearsal() throws(PostgresError) {
    try execute("BEGIN; SET LOCAL bowser.is_rehearsal = 'on'")
    isRehearsing = true
  }

  /// Rolls back everything since `beginRehearsal`.
  package func endRehearsal() throws(PostgresError) {
    isRehearsing = false
    try execute("ROLLBACK")
  }

  /// Changes to another role for the rest of the session, so that even a login of the owner works
  /// with the fewest rights. The name is one of this program's own, never from outside.
  package func become(_ role: StaticString) throws(PostgresError) {
    do {
      try execute("SET ROLE \(role)")
    } catch {
      guard error.sqlState == "42501" else { throw error }
      throw .mayNotBecome(role: "\(role)", login: endpoint.user)
    }
    self.role = "\(role)"
  }

  /// Where the session leads, as libpq understood the target. It does not include the password.
  package var endpoint: (host: String, port: String, database: String, user: String) {
    func text(_ value: UnsafeMutablePointer<CChar>?) -> String {
      value.map { String(cString: $0) } ?? ""
    }
    return (text(PQhost(handle)), text(PQport(handle)), text(PQdb(handle)), text(PQuser(handle)))
  }

  /// Whether transactions of this session are read-only by the settings of its login or database.
  package func isReadOnly() throws(PostgresError) -> Bool {
    try query("SELECT current_setting('default_transaction_read_only') = 'on' AS is_so").only()
      .boolean("is_so")
  }

  /// Whether the server follows another server, so that nothing can be written.
  package var isStandby: Bool {
    PQparameterStatus(handle, "in_hot_standby").map { String(cString: $0) } == "on"
  }

  func checked(
    _ result: OpaquePointer?, expecting statuses: [ExecStatusType]
  ) throws(PostgresError) -> OpaquePointer {
    let status = PQresultStatus(result)
    if let result, statuses.contains(status) { return result }
    defer { PQclear(result) }
    func field(_ code: Int32) -> String? {
      PQresultErrorField(result, code).map { String(cString: $0) }
    }
    // The header of libpq defines the field codes as the C characters "C", "M" and "D".
    if let state = field(67) {
      if PQstatus(handle) != CONNECTION_OK {
        throw .connectionLost(oneLine(field(77) ?? "closed by the server"))
      }
      if state == "25006" { throw isStandby ? .standby : .readOnly }
      let message = oneLine(field(77) ?? "")
      let isTooSoon =
        state == "57014" && !hasOwnTimeout && message.contains("statement timeout")
      throw .refused(
        sqlState: state, message: message,
        detail: isTooSoon
          ? "the statement_timeout of this login, database or PGOPTIONS is too short"
          : field(68))
    }
    let message = oneLine(String(cString: PQerrorMessage(handle)))
    if PQstatus(handle) != CONNECTION_OK { throw .connectionLost(message) }
    throw .unexpectedResult(message.isEmpty ? "status \(status.rawValue)" : message)
  }
}

/// Joins the lines of a message into one, for a log line.
func oneLine(_ text: String) -> String {
  text.split(whereSeparator: \.isNewline).map { line in
    String(line.drop(while: \.isWhitespace))
  }.joined(separator: " ")
}

/// Lends an array of C strings with a null pointer at its end; `nil` elements become null pointers.
func withCStrings<Value>(
  _ strings: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
  var pointers: [UnsafePointer<CChar>?] = strings.map { string in
    string.map { UnsafePointer(strdup($0)) }
  }
  pointers.append(nil)
  defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
  return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
}
