import CPostgres

#if canImport(Glibc)
  import Glibc
#endif

extension Connection {
  /// Hands on what the server writes for a query in one of its text formats, a piece of whole lines at
  /// a time.
  ///
  /// - Parameters:
  ///   - query: a query without parameters, as `format` of the server quoted it.
  ///   - options: of COPY, as this program wrote them.
  package func copyText(
    from query: String, options: StaticString, _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try copyOut("COPY (\(query)) TO STDOUT (\(options))", take)
  }

  /// Reads what a COPY command sends, one message at a time.
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
        // The rest is drained: the session is used again.
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
