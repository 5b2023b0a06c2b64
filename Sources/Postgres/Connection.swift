import CPostgres

#if canImport(Glibc)
  import Glibc
#endif

/// One session with PostgreSQL over libpq, owned by the run that opened it. Not `Sendable`.
package final class Connection {
  let handle: OpaquePointer
  package private(set) var isRehearsing = false

  /// Opens a session by libpq's own rules and makes it independent of the role's and the server's
  /// defaults: UTC, ISO dates, UTF-8, an empty search path.
  ///
  /// - Parameter target: a URI or keywords; empty means PG* variables, service file and `.pgpass`.
  package init(_ target: String = "", application: String = "bowser") throws(PostgresError) {
    var keywords = ["fallback_application_name", "dbname", "client_encoding"]
    var values = [application, target, "UTF8"]
    if getenv("PGCONNECT_TIMEOUT") == nil {
      // Before dbname, so that a timeout in the target wins over ours.
      keywords.insert("connect_timeout", at: 0)
      values.insert("10", at: 0)
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
    handle = opened
    // Notices are talk of the server about its own work; errors come as results.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    try execute(
      """
      SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';
      SET search_path = ''; SET standard_conforming_strings = on; SET bytea_output = 'hex';
      SET extra_float_digits = 1; SET lock_timeout = '\(Self.lockTimeout)'; SET client_min_messages = 'warning';
      SET statement_timeout = 0;
      SET idle_in_transaction_session_timeout = '10min'
      """)
  }

  deinit { PQfinish(handle) }

  /// Runs one statement with parameters and returns its rows.
  @discardableResult
  package func query(_ statement: SQL) throws(PostgresError) -> Rows {
    let parameters = statement.parameters
    let texts: [String?] = parameters.map { parameter in
      guard case .text(let text) = parameter else { return nil }
      return text
    }
    let result = withCStrings(texts) { pointers in
      var pointers = Array(UnsafeBufferPointer(start: pointers, count: parameters.count))
      var lengths = [Int32](repeating: 0, count: parameters.count)
      var formats = [Int32](repeating: 0, count: parameters.count)
      // The copies live until the statement has been sent.
      var copies: [UnsafeMutablePointer<CChar>] = []
      defer { for copy in copies { copy.deallocate() } }
      for (index, parameter) in parameters.enumerated() {
        guard case .binary(let bytes) = parameter else { continue }
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, bytes.count))
        for (offset, byte) in bytes.enumerated() { copy[offset] = CChar(bitPattern: byte) }
        copies.append(copy)
        pointers[index] = UnsafePointer(copy)
        lengths[index] = Int32(bytes.count)
        formats[index] = 1
      }
      return PQexecParams(
        handle, statement.text, Int32(parameters.count), nil, pointers, lengths, formats, 0)
    }
    return try Rows(checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK]))
  }

  /// How long a statement waits for a lock that another session holds.
  package static let lockTimeout = "20s"

  /// Runs a script without parameters: text that this program itself wrote.
  package func execute(_ script: String) throws(PostgresError) {
    let result = PQexec(handle, script)
    PQclear(try checked(result, expecting: [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY]))
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

  package func commit() throws(PostgresError) {
    try execute(isRehearsing ? "RELEASE SAVEPOINT part" : "COMMIT")
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
      if state == "25006", isStandby { throw .standby }
      throw .refused(sqlState: state, message: oneLine(field(77) ?? ""), detail: field(68))
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
