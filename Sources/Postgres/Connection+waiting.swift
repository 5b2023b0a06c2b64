import CPostgres
import Dispatch

#if canImport(Glibc)
  import Glibc
#endif

extension Connection {
  /// Uses the session alone: the heartbeat stays away meanwhile.
  func exclusively<Value, Failure>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    use.wait()
    defer { use.signal() }
    return try body()
  }

  /// The last result of what was sent, or the first one that begins a COPY.
  ///
  /// - Parameters:
  ///   - isSent: what libpq's function that sends it answered.
  ///   - statement: its text, for messages.
  func finalResult(isSent: Int32, of statement: String) throws(PostgresError) -> OpaquePointer? {
    blocker = nil
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
        // What went wrong stands in the result.
        guard PQconsumeInput(handle) == 1 else { break }
      }
    } catch {
      if let last { PQclear(last) }
      throw error
    }
    return PQgetResult(handle)
  }

  /// Sends what libpq holds back.
  func flush(_ statement: String) throws(PostgresError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        try wait(for: Int16(POLLIN | POLLOUT), statement)
        // The server may send while we do, and would stop to read where nobody takes that.
        guard PQconsumeInput(handle) == 1 else { return }
      // The server has gone; its last words are in the result.
      default: return
      }
    }
  }

  /// Waits until the server can be read from, or takes more.
  ///
  /// - Throws: `.deadline` once it has passed. The session is of no use then.
  func wait(for events: Int16, _ statement: String) throws(PostgresError) {
    var waited = 0
    let began = ContinuousClock.now
    while true {
      let left = deadline.millisecondsLeft
      if left == 0 {
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
        throw .deadline(
          seconds: deadline.seconds, waitingFor: beginning(of: statement), blocker: takeBlocker())
      }
      // The last look at who blocks is taken shortly before the end.
      let look =
        blocker == nil && !isAsking
        ? max(0, min(patienceMilliseconds, (left ?? .max) - 2_000) - waited) : Int.max
      var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
      let ready = poll(&descriptor, 1, Int32(min(left ?? .max, max(look, 1), 60_000)))
      if ready > 0 { return }
      if ready < 0, errno != EINTR { return }
      let passed = (ContinuousClock.now - began).components
      waited = Int(passed.seconds) * 1_000 + Int(passed.attoseconds / 1_000_000_000_000_000)
      if blocker == nil, !isAsking, waited >= patienceMilliseconds || (left ?? .max) <= 2_000 {
        blocker = whoBlocks() ?? ""
      }
    }
  }

  /// The first words of a statement.
  private func beginning(of statement: String) -> String {
    let words = statement.split(whereSeparator: \.isWhitespace).prefix(8).joined(separator: " ")
    return words.count <= 80 ? words : words.prefix(80) + "..."
  }

  /// Who holds what a statement waited for, if it waited for long: told once.
  func takeBlocker() -> String? {
    defer { blocker = nil }
    guard let found = blocker, !found.isEmpty else { return nil }
    return found
  }

  /// Asked in a session of its own, because this one waits.
  private func whoBlocks() -> String? {
    let process = PQbackendPID(handle)
    do {
      let other = try another(Deadline(seconds: 10))
      try other.endStalled()
      return try other.query(
        """
        SELECT string_agg(
          format(
            'session %s of %s (%s), connected since %s', other.pid, other.usename,
            coalesce(nullif(other.application_name, ''), 'no name'),
            to_char(other.backend_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')), '; ' ORDER BY other.pid) AS sessions
        FROM pg_catalog.pg_stat_activity AS other
        WHERE other.pid = ANY (pg_catalog.pg_blocking_pids(\(process)))
        """
      ).only().optional("sessions").map { "blocked by \($0)" }
    } catch {
      return nil
    }
  }

  /// Ends sessions of this program under the same login whose client has sent nothing for long in the middle of a COPY,
  /// although its connection is alive. Between statements the server ends such a session by itself; there it waits for
  /// ever, with its locks.
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
    // One that works sends something meanwhile.
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

/// Tells the server from time to time that the program behind a session is alive, so that the server may end sessions
/// that are silent, whatever they hold.
final class Heartbeat {
  private let timer: any DispatchSourceTimer

  /// A connection is used by one thread at a time: by this one only where its owner does not.
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
    // Whoever uses it is alive.
    guard use.wait(timeout: .now()) == .success else { return }
    defer { use.signal() }
    let state = PQtransactionStatus(handle)
    guard state == PQTRANS_IDLE || state == PQTRANS_INTRANS || state == PQTRANS_INERROR else {
      return
    }
    // Where it fails the owner's next statement does too.
    if let result = try? finalResult(isSent: PQsendQuery(handle, "SELECT 1"), of: "SELECT 1") {
      PQclear(result)
    }
  }
}
