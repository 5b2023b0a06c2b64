import CPostgres
import Dispatch
import Glibc

extension Connection {
  /// Uses the session alone; the heartbeat does not use it meanwhile.
  func exclusively<Value, Failure>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    use.wait()
    defer { use.signal() }
    return try body()
  }

  /// Restores the time limit of statements that the login, the database or PGOPTIONS sets.
  package func restoreTimeout() throws(PostgresError) {
    hasOwnTimeout = false
    try execute("RESET statement_timeout")
  }

  /// Returns the last result of what was sent, or the first result that begins a COPY.
  ///
  /// - Parameter isSent: what libpq's sending function returned.
  func finalResult(isSent: Int32, of statement: String) throws(PostgresError) -> OpaquePointer? {
    guard isSent == 1 else { throw lost() }
    var last: OpaquePointer?
    while let next = try nextResult(of: statement, freeing: last) {
      if let last { PQclear(last) }
      last = next
      let status = PQresultStatus(next)
      if status == PGRES_COPY_IN || status == PGRES_COPY_OUT { break }
    }
    return last
  }

  private func nextResult(
    of statement: String, freeing last: OpaquePointer?
  ) throws(PostgresError) -> OpaquePointer? {
    do {
      try flush(statement)
      while PQisBusy(handle) == 1 {
        try wait(for: Int16(POLLIN), statement)
        // The result contains the error.
        guard PQconsumeInput(handle) == 1 else { break }
      }
    } catch {
      if let last { PQclear(last) }
      throw error
    }
    return PQgetResult(handle)
  }

  /// Sends what libpq has buffered.
  func flush(_ statement: String) throws(PostgresError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        try wait(for: Int16(POLLIN | POLLOUT), statement)
        // The server may send at the same time. If nobody read its data, it would stop reading.
        guard PQconsumeInput(handle) == 1 else { return }
      // The server is gone; the result contains its last message.
      default: return
      }
    }
  }

  /// Waits until there is data to read from the server, or until it accepts more.
  ///
  /// - Throws: `.deadline` once the deadline has passed. The session is not usable afterwards.
  func wait(for events: Int16, _ statement: String) throws(PostgresError) {
    while true {
      let left = deadline.millisecondsLeft
      if left == 0 {
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
        throw .deadline(seconds: deadline.seconds, waitingFor: beginning(of: statement))
      }
      var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
      let ready = poll(&descriptor, 1, Int32(min(left ?? .max, 60_000)))
      if ready > 0 || (ready < 0 && errno != EINTR) { return }
    }
  }

  /// Returns the first words of a statement.
  private func beginning(of statement: String) -> String {
    let words = statement.split(whereSeparator: \.isWhitespace).prefix(8).joined(separator: " ")
    return words.count <= 80 ? words : words.prefix(80) + "..."
  }

  /// Ends sessions of this program under the same login in the middle of a COPY whose client has
  /// sent nothing for long although its connection is alive. The server ends silent sessions
  /// between statements by itself. In the middle of a COPY it would wait for ever and keep the
  /// locks.
  func endStalled() throws(PostgresError) {
    let silent = try query(
      """
      SELECT string_agg(copy.pid || ':' || copy.bytes_processed, ',') AS sessions
      FROM pg_catalog.pg_stat_progress_copy AS copy
      JOIN pg_catalog.pg_stat_activity AS other USING (pid)
      WHERE other.usename = session_user
        AND other.application_name = \(application)
        AND other.wait_event = 'ClientRead'
        AND other.query_start < clock_timestamp() - make_interval(secs => \(Self.silenceSeconds))
      """
    ).only().optional("sessions")
    guard let silent else { return }
    // A working client sends something within these seconds.
    sleep(5)
    try query(
      """
      SELECT pg_catalog.pg_terminate_backend(copy.pid, 5000)
      FROM pg_catalog.pg_stat_progress_copy AS copy
      JOIN pg_catalog.pg_stat_activity AS other USING (pid)
      WHERE copy.pid || ':' || copy.bytes_processed = ANY (string_to_array(\(silent), ','))
        AND other.wait_event = 'ClientRead'
      """)
  }

  func lost() -> PostgresError {
    .connectionLost(oneLine(String(cString: PQerrorMessage(handle))))
  }
}

/// Sends a statement from time to time, which shows the server that the program behind a session is
/// alive. The server can therefore end silent sessions, whatever locks they hold.
final class Heartbeat {
  private let timer: any DispatchSourceTimer

  /// A reference that crosses threads. It is safe because one thread at a time uses a connection:
  /// the heartbeat does so only where the owner does not.
  private struct Owner: @unchecked Sendable {
    weak var connection: Connection?
  }

  init(of connection: Connection) {
    let owner = Owner(connection: connection)
    timer = DispatchSource.makeTimerSource(queue: Self.queue)
    let seconds = Connection.silenceSeconds / 4
    timer.schedule(deadline: .now() + .seconds(seconds), repeating: .seconds(seconds))
    timer.setEventHandler { owner.connection?.beat() }
    timer.resume()
  }

  func end() { timer.cancel() }

  private static let queue = DispatchQueue(label: "heartbeat", attributes: .concurrent)
}

extension Connection {
  fileprivate func beat() {
    // A session in use needs no heartbeat.
    guard use.wait(timeout: .now()) == .success else { return }
    defer { use.signal() }
    let state = PQtransactionStatus(handle)
    guard state == PQTRANS_IDLE || state == PQTRANS_INTRANS || state == PQTRANS_INERROR else {
      return
    }
    // Where this fails, the owner's next statement fails too.
    if let result = try? finalResult(isSent: PQsendQuery(handle, "SELECT 1"), of: "SELECT 1") {
      PQclear(result)
    }
  }
}
