import CPostgres
import Glibc

/// One row in the binary COPY format as the server sent it. Columns are read in order.
package struct BinaryRow {
  private var rest: UnsafeRawBufferPointer

  fileprivate init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  // One function for each type: a generic one would be looked up at run time for every value.

  /// Reads a `boolean` that is never NULL.
  package mutating func bool() throws(PostgresError) -> Bool {
    try bytes(of: 1).load(as: UInt8.self) != 0
  }

  /// Reads a `smallint` that is never NULL.
  package mutating func int16() throws(PostgresError) -> Int16 {
    Int16(bigEndian: try bytes(of: 2).loadUnaligned(as: Int16.self))
  }

  /// Reads an `integer` that is never NULL.
  package mutating func int32() throws(PostgresError) -> Int32 {
    Int32(bigEndian: try bytes(of: 4).loadUnaligned(as: Int32.self))
  }

  /// Reads a `bigint`, or a `timestamptz` in microseconds since 2000-01-01, that is never NULL.
  package mutating func int64() throws(PostgresError) -> Int64 {
    Int64(bigEndian: try bytes(of: 8).loadUnaligned(as: Int64.self))
  }

  /// Reads a `text` that is never NULL.
  package mutating func text() throws(PostgresError) -> String {
    String(decoding: try bytes(), as: UTF8.self)
  }

  /// Reads a column's bytes, such as a `bytea`, that are never NULL; valid until the next row.
  package mutating func bytes() throws(PostgresError) -> UnsafeRawBufferPointer {
    guard let base = rest.baseAddress, rest.count >= 4 else {
      throw .unexpectedResult("a column of the wrong type in a binary row")
    }
    let size = Int(Int32(bigEndian: base.loadUnaligned(as: Int32.self)))
    guard size >= 0, rest.count >= 4 + size else {
      throw .unexpectedResult("a column of the wrong type in a binary row")
    }
    defer { rest = UnsafeRawBufferPointer(start: base + 4 + size, count: rest.count - 4 - size) }
    return UnsafeRawBufferPointer(start: base + 4, count: size)
  }

  /// Reads an array with one dimension that is never NULL.
  ///
  /// - Returns: the number of its elements, and the elements, which are read like columns.
  ///
  /// Source: array_send of PostgreSQL.
  package mutating func elements() throws(PostgresError) -> (count: Int, row: BinaryRow) {
    let bytes = try bytes()
    guard bytes.count >= 12 else { throw .unexpectedResult("an array that is too short") }
    guard bytes.loadUnaligned(as: Int32.self) != 0 else {
      return (0, BinaryRow(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(12))))
    }
    guard bytes.count >= 20, Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)) == 1 else {
      throw .unexpectedResult("an array of more than one dimension")
    }
    return (
      Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: Int32.self))),
      BinaryRow(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(20)))
    )
  }

  private mutating func bytes(of size: Int) throws(PostgresError) -> UnsafeRawPointer {
    guard let base = rest.baseAddress, rest.count >= 4 + size,
      Int32(bigEndian: base.loadUnaligned(as: Int32.self)) == Int32(size)
    else { throw .unexpectedResult("a column of the wrong type in a binary row") }
    rest = UnsafeRawBufferPointer(start: base + 4 + size, count: rest.count - 4 - size)
    return base + 4
  }
}

extension Connection {
  /// Reads the rows of a query in the binary COPY format, one at a time.
  ///
  /// COPY takes no parameters, so the values become literals that libpq has quoted.
  package func copy(from query: SQL, _ read: (inout BinaryRow) throws -> Void) throws {
    // All parameters are replaced in one pass, so that text inside a value is never taken for one.
    let values = try query.parameters.map { try literal($0) }
    let text = query.text.replacing(/\$([0-9]+)/) { match in
      Int(match.1).map { values[$0 - 1] } ?? ""
    }
    var isFirst = true
    try copyOut("COPY (\(text)) TO STDOUT (FORMAT binary)") { message in
      var row = message
      // The signature, flags and extension precede the first row, in a message of their own or with
      // it.
      if isFirst {
        row = UnsafeRawBufferPointer(rebasing: row.dropFirst(19))
        isFirst = false
      }
      guard row.count > 2, Int16(bigEndian: row.loadUnaligned(as: Int16.self)) > 0 else { return }
      var columns = BinaryRow(UnsafeRawBufferPointer(rebasing: row.dropFirst(2)))
      try read(&columns)
    }
  }

  private func literal(_ value: String?) throws(PostgresError) -> String {
    guard let value else { return "NULL" }
    guard let quoted = PQescapeLiteral(handle, value, value.utf8.count) else {
      throw .unexpectedResult(oneLine(String(cString: PQerrorMessage(handle))))
    }
    defer { PQfreemem(quoted) }
    return String(cString: quoted)
  }

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
