import CPostgres
import Dispatch

#if canImport(Glibc)
  import Glibc
#endif

/// One session with PostgreSQL over libpq, owned by the run that opened it. Not `Sendable`.
///
/// Every wait on it ends: a statement by the deadline, a lock by `lockTimeout`. Where a statement has waited for long,
/// the error names who holds the lock. While this program works elsewhere the session tells the server now and then
/// that it is alive; the server ends a session of a program that has died, and its locks with it.
package final class Connection {
  private(set) var handle: OpaquePointer
  package private(set) var isRehearsing = false
  let target: String
  let application: String
  package let deadline: Deadline
  private var role: String?
  /// The process of the server behind it, whatever stands between.
  private var serverProcess = 0
  // Held while the session is used, by a statement or by the heartbeat.
  let use = DispatchSemaphore(value: 1)
  private var heartbeat: Heartbeat?
  /// For how long a statement waits before somebody asks whom it waits for.
  var patienceMilliseconds = 15_000
  // Whether it asks about another session, and nobody asks about it.
  var isAsking = false
  // Who holds what the statement under way waits for; empty: nobody does.
  var blocker: String?

  /// Opens a session by libpq's own rules and makes it independent of the role's and the server's
  /// defaults: UTC, ISO dates, UTF-8, an empty search path.
  ///
  /// - Parameters:
  ///   - target: a URI or keywords; empty means PG* variables, service file and `.pgpass`.
  ///   - deadline: when everything on it must have ended. Connecting has an end of its own: `connect_timeout`,
  ///     ten seconds for each host unless the caller says otherwise.
  package convenience init(
    _ target: String = "", application: String = "bowser", deadline: Deadline = .never
  ) throws(PostgresError) {
    try self.init(target, application, deadline, connectSeconds: nil)
  }

  /// Another session like this one, to ask about it: it connects within five seconds or not at all.
  func another(_ deadline: Deadline) throws(PostgresError) -> Connection {
    let other = try Connection(target, application, deadline, connectSeconds: 5)
    other.isAsking = true
    return other
  }

  /// Ends sessions of this program that hold their locks and say nothing any more; where that cannot be told, none.
  package func endSilentSessions() {
    guard let other = try? another(Deadline(seconds: 15)) else { return }
    try? other.endStalled()
  }

  init(
    _ target: String, _ application: String, _ deadline: Deadline, connectSeconds: Int?,
    database: String? = nil
  ) throws(PostgresError) {
    self.target = target
    self.application = application
    self.deadline = deadline
    handle = try Self.open(target, application, deadline, connectSeconds, database)
    serverProcess = try setUp()
    // A pooler names a process of its own.
    if connectSeconds == nil, serverProcess != Int(PQbackendPID(handle)) { try refuseSharing() }
    heartbeat = Heartbeat(of: self)
  }

  /// Locks, settings and the role belong to a session of the server: a pooler that lends one to others between
  /// transactions would lend those too.
  private func refuseSharing() throws(PostgresError) {
    let other = try another(Deadline(seconds: 10))
    guard other.serverProcess == serverProcess else { return }
    // What was set stays in the session, which is not ours.
    try? execute("RESET ALL")
    throw .unfit(
      "a pooler in transaction mode stands before the database: name the server itself, or a pool in session mode"
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
    var keywords = ["fallback_application_name", "dbname", "client_encoding"]
    var values = [application, target, "UTF8"]
    // Before dbname, so that what the target says wins over ours. A host that has gone is noticed within a minute.
    var ours = [
      ("keepalives_idle", "20"), ("keepalives_interval", "10"), ("keepalives_count", "4"),
      ("tcp_user_timeout", "60000"),
    ]
    if getenv("PGCONNECT_TIMEOUT") == nil {
      // libpq takes no less than two seconds.
      let left = (deadline.millisecondsLeft ?? 10_000) / 1_000
      ours.append(("connect_timeout", String(min(10, max(2, left)))))
    }
    keywords.insert(contentsOf: ours.map(\.0), at: 0)
    values.insert(contentsOf: ours.map(\.1), at: 0)
    if let database {
      // After the target, so that it wins over what that names.
      keywords.append("dbname")
      values.append(database)
    }
    if let connectSeconds {
      keywords.append("connect_timeout")
      values.append(String(connectSeconds))
    }
    let opened = withCStrings(keywords) { keywordPointers in
      withCStrings(values) { valuePointers in
        PQconnectdbParams(keywordPointers, valuePointers, 1)
      }
    }
    guard let opened else { throw .cannotConnect("out of memory") }
    guard PQstatus(opened) == CONNECTION_OK else {
      let message = oneLine(String(cString: PQerrorMessage(opened)))
      PQfinish(opened)
      let error = PostgresError.cannotConnect(message)
      guard error.isTargetMalformed else { throw error }
      throw .cannotConnect(message.replacing(/"[^"]*"/, with: "\"***\""))
    }
    if let encoding = PQparameterStatus(opened, "server_encoding").map({ String(cString: $0) }),
      encoding != "UTF8"
    {
      PQfinish(opened)
      throw .unfit(
        "the database is encoded in \(encoding), and bowser needs UTF8: "
          + "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0")
    }
    // Notices are talk of the server about its own work; errors come as results.
    PQsetNoticeProcessor(opened, { _, _ in }, nil)
    // Whatever waits does so in `wait`, which knows the deadline.
    PQsetnonblocking(opened, 1)
    return opened
  }

  /// Makes the session independent of defaults.
  ///
  /// - Returns: the number of the server's process.
  private func setUp() throws(PostgresError) -> Int {
    let script =
      """
      SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';
      SET search_path = ''; SET standard_conforming_strings = on; SET bytea_output = 'hex';
      SET extra_float_digits = 1; SET client_min_messages = 'warning';
      SET lock_timeout = '\(Self.lockTimeout)'; SET statement_timeout = \(statementTimeout);
      SET idle_in_transaction_session_timeout = '\(Self.silenceSeconds)s';
      SET idle_session_timeout = '\(Self.silenceSeconds)s';
      SET client_connection_check_interval = '10s';
      SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 4;
      SET tcp_user_timeout = 60000;
      SELECT pg_backend_pid() AS process
      """
    return try exclusively { () throws(PostgresError) -> Int in
      let result = try finalResult(isSent: PQsendQuery(handle, script), of: script)
      return try Rows(checked(result, expecting: [PGRES_TUPLES_OK])).only().integer("process")
    }
  }

  /// How long a statement waits for a lock that another session holds.
  package static let lockTimeout = "20s"

  /// After how many seconds of silence the server takes this program for dead.
  static let silenceSeconds = 100

  // The server stops by itself soon after this side has given up. In milliseconds; 0: never.
  private var statementTimeout: Int { deadline.millisecondsLeft.map { $0 + 5_000 } ?? 0 }

  /// Runs one statement with parameters and returns its rows.
  @discardableResult
  package func query(_ statement: SQL) throws(PostgresError) -> Rows {
    let parameters = statement.parameters
    var texts: [String?] = []
    for parameter in parameters {
      guard case .text(let text?) = parameter else {
        texts.append(nil)
        continue
      }
      // libpq ends a text parameter at its first NUL, which would store half a value without a word. Texts from
      // outside hold none, so that it can only be a mistake of ours.
      guard !text.utf8.contains(0) else { throw .unexpectedResult("a text parameter holds a NUL") }
      texts.append(text)
    }
    return try exclusively { () throws(PostgresError) -> Rows in
      let isSent = withCStrings(texts) { pointers in
        var pointers = Array(UnsafeBufferPointer(start: pointers, count: parameters.count))
        var types = [Oid](repeating: 0, count: parameters.count)
        var lengths = [Int32](repeating: 0, count: parameters.count)
        var formats = [Int32](repeating: 0, count: parameters.count)
        // The copies live until libpq has taken the statement.
        var copies: [UnsafeMutableRawPointer] = []
        defer { for copy in copies { copy.deallocate() } }
        for (index, parameter) in parameters.enumerated() {
          guard case .binary(let bytes, let type, _) = parameter else { continue }
          let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
          bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
          copies.append(copy)
          pointers[index] = UnsafePointer(copy.assumingMemoryBound(to: CChar.self))
          types[index] = type
          lengths[index] = Int32(bytes.count)
          formats[index] = 1
        }
        return PQsendQueryParams(
          handle, statement.text, Int32(parameters.count), types, pointers, lengths, formats, 0)
      }
      let result = try finalResult(isSent: isSent, of: statement.text)
      return try Rows(checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK]))
    }
  }

  /// Runs a script without parameters: text that this program itself wrote.
  package func execute(_ script: String) throws(PostgresError) {
    try exclusively { () throws(PostgresError) in
      let result = try finalResult(isSent: PQsendQuery(handle, script), of: script)
      PQclear(
        try checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY]))
    }
  }

  /// Runs the body inside one transaction: committed when it returns, rolled back when it throws.
  /// In a rehearsal it is a savepoint of the rehearsal.
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

  /// Begins a transaction for work that cannot be one closure; `commit` or `rollBack` ends it.
  package func begin() throws(PostgresError) {
    try execute(isRehearsing ? "SAVEPOINT part" : "BEGIN")
  }

  /// Where the answer is lost the server is asked, in a new session, what became of the transaction; a transaction
  /// that holds is told as that, and the new session goes on. Locks of the old session are gone with it.
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

  /// A new session where a transaction whose answer was lost holds; `nil` where it does not, or nobody can tell.
  private func sessionAfter(commitOf number: String) -> Connection? {
    do {
      let fresh = try another(deadline.extended(toSeconds: 15))
      defer { fresh.isAsking = false }
      for _ in 0..<20 {
        let status = try fresh.query("SELECT pg_xact_status(\(number)::xid8) AS status").only()
          .optional("status")
        guard status == "in progress" else {
          guard status == "committed" else { return nil }
          if let role { try fresh.execute("SET ROLE \(role)") }
          return fresh
        }
        // The server may not have met the end of the old session yet.
        usleep(250_000)
      }
      return nil
    } catch {
      return nil
    }
  }

  /// Where the connection is gone the server rolls back by itself, and the first error counts.
  package func rollBack() {
    try? execute(isRehearsing ? "ROLLBACK TO SAVEPOINT part" : "ROLLBACK")
  }

  /// Opens a transaction around everything until `endRehearsal`, which takes it all back.
  package func beginRehearsal() throws(PostgresError) {
    try execute("BEGIN")
    isRehearsing = true
  }

  package func endRehearsal() throws(PostgresError) {
    isRehearsing = false
    try execute("ROLLBACK")
  }

  /// Becomes another role for the rest of the session, so that even an owner's login runs with
  /// the least rights. The name is one of ours, not from outside.
  package func become(_ role: StaticString) throws(PostgresError) {
    try execute("SET ROLE \(role)")
    self.role = "\(role)"
  }

  /// Where the session leads, as libpq understood the target: no password is among it.
  package var place: (host: String, port: String, database: String, user: String) {
    func text(_ value: UnsafeMutablePointer<CChar>?) -> String {
      value.map { String(cString: $0) } ?? ""
    }
    return (text(PQhost(handle)), text(PQport(handle)), text(PQdb(handle)), text(PQuser(handle)))
  }

  /// Whether transactions of this session may only read, by the settings of its login or its database.
  package func isReadOnly() throws(PostgresError) -> Bool {
    try query("SELECT current_setting('default_transaction_read_only') = 'on' AS is_so").only()
      .boolean("is_so")
  }

  /// Whether the server follows another one, so that nothing can be written.
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
    // The header defines the field codes as C character constants: 'C', 'M', 'D'.
    if let state = field(67) {
      if PQstatus(handle) != CONNECTION_OK {
        throw .connectionLost(oneLine(field(77) ?? "closed by the server"))
      }
      if state == "25006" { throw isStandby ? .standby : .readOnly }
      throw .refused(
        sqlState: state, message: oneLine(field(77) ?? ""), detail: field(68) ?? takeBlocker())
    }
    let message = oneLine(String(cString: PQerrorMessage(handle)))
    if PQstatus(handle) != CONNECTION_OK { throw .connectionLost(message) }
    throw .unexpectedResult(message.isEmpty ? "status \(status.rawValue)" : message)
  }
}

/// Folds a message of several lines into one, for a log line.
func oneLine(_ text: String) -> String {
  text.split(whereSeparator: \.isNewline).map { line in
    String(line.drop(while: \.isWhitespace))
  }.joined(separator: " ")
}

/// Lends an array of C strings, ended by a null pointer; `nil` elements become null pointers.
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
