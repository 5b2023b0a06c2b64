import CPostgres

#if canImport(Glibc)
  import Glibc
#endif

extension Connection {
  /// Passes on what the server writes for a query in one of its text formats, one piece of whole
  /// lines at a time.
  ///
  /// - Parameters:
  ///   - query: a query without parameters, whose values the server's `format` has quoted.
  ///   - options: options of COPY, which this program wrote.
  package func copyText(
    from query: String, options: StaticString, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try copyOut("COPY (\(query)) TO STDOUT (\(options))", take)
  }

  /// Reads the output of a COPY command, one message at a time.
  func copyOut(_ command: String, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
    try exclusively {
      let started = try finalResult(isSent: PQsendQuery(handle, command), of: command)
      PQclear(try checked(started, expecting: [PGRES_COPY_OUT]))
      var failure: (any Error)?
      var pointer: UnsafeMutablePointer<CChar>?
      while true {
        let length = PQgetCopyData(handle, &pointer, 1)
        if length == 0 {
          try wait(for: Int16(POLLIN), command)
          guard PQconsumeInput(handle) == 1 else { throw lost() }
          continue
        }
        guard length > 0, let bytes = pointer else { break }
        defer { PQfreemem(bytes) }
        // After an error the remaining messages are read and dropped, because the session is used
        // again.
        if failure != nil { continue }
        do {
          try take(UnsafeRawBufferPointer(start: bytes, count: Int(length)))
        } catch {
          failure = error
        }
      }
      let result = try finalResult(isSent: 1, of: command)
      PQclear(try checked(result, expecting: [PGRES_COMMAND_OK]))
      if let failure { throw failure }
    }
  }
}
