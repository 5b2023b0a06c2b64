import CPostgres
import Glibc

/// Writes rows in PostgreSQL's binary COPY format, which takes half the server's work of the text
/// format.
///
/// Source: https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format".
package struct BinaryCopy: ~Copyable {
  private let connection: Connection
  private var buffer: [UInt8] = []
  private let columns: Int16
  /// The number of rows begun so far.
  package private(set) var rows = 0

  // 256 KiB: large enough that the cost of the calls vanishes, small enough to stay in the cache.
  private static let flushSize = 256 * 1024

  fileprivate init(_ connection: Connection, columns: Int) {
    self.connection = connection
    self.columns = Int16(columns)
    buffer.reserveCapacity(Self.flushSize + 4096)
    buffer += [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]
    append(Int32(0))  // flags
    append(Int32(0))  // length of the header extension
  }

  /// Begins a row, whose columns follow in order.
  package mutating func beginRow() throws(PostgresError) {
    if buffer.count >= Self.flushSize { try flush() }
    rows += 1
    append(columns)
  }

  /// Writes a whole row that the caller has encoded: the number of its columns, then the length and
  /// the bytes of each column, all big-endian.
  package mutating func writeRow(encoded row: UnsafeRawBufferPointer) throws(PostgresError) {
    if buffer.count >= Self.flushSize { try flush() }
    rows += 1
    buffer.append(contentsOf: row)
  }

  /// Writes a `smallint`.
  package mutating func write(_ value: Int16) {
    append(Int32(2))
    append(value)
  }

  /// Writes an `integer`.
  package mutating func write(_ value: Int32) {
    append(Int32(4))
    append(value)
  }

  /// Writes a `bigint`.
  package mutating func write(_ value: Int64) {
    append(Int32(8))
    append(value)
  }

  /// Writes a `boolean`.
  package mutating func write(_ value: Bool) {
    append(Int32(1))
    buffer.append(value ? 1 : 0)
  }

  /// Writes a `text`.
  package mutating func write(_ value: String) {
    var value = value
    value.withUTF8 { bytes in
      append(Int32(bytes.count))
      buffer.append(contentsOf: bytes)
    }
  }

  /// Writes a `numeric` from a number of hundredths (`decimals` is 2) or thousandths (3). The value
  /// is from 0 to less than 10,000.
  ///
  /// Source: numeric_recv of PostgreSQL: digits of base 10,000 in two bytes each, with the weight
  /// of the first digit.
  package mutating func write(_ value: Int, decimals: Int16) {
    let one = decimals == 2 ? 100 : 1_000
    precondition((0..<10_000 * one).contains(value))
    let (whole, part) = (value / one, value % one * (10_000 / one))
    let digits = part > 0 ? (whole > 0 ? [whole, part] : [part]) : whole > 0 ? [whole] : []
    append(Int32(8 + 2 * digits.count))
    append(Int16(digits.count))
    append(Int16(whole > 0 ? 0 : -1))
    append(Int16(0))  // the sign
    append(decimals)
    for digit in digits { append(Int16(digit)) }
  }

  /// Writes bytes that are in the binary form of the column's type.
  package mutating func write(bytes: [UInt8]) {
    append(Int32(bytes.count))
    buffer.append(contentsOf: bytes)
  }

  /// Writes the bytes of a `bytea` that may be large, in pieces.
  package mutating func write(large bytes: [UInt8]) throws(PostgresError) {
    append(Int32(bytes.count))
    var begin = 0
    while begin < bytes.count {
      let end = min(begin + Self.flushSize, bytes.count)
      buffer.append(contentsOf: bytes[begin..<end])
      begin = end
      if buffer.count >= Self.flushSize { try flush() }
    }
  }

  /// Writes NULL.
  package mutating func writeNull() { append(Int32(-1)) }

  private mutating func append(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { buffer.append(contentsOf: $0) }
  }

  private mutating func flush() throws(PostgresError) {
    try connection.putCopyData(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  fileprivate consuming func finish() throws(PostgresError) {
    append(Int16(-1))
    try flush()
  }
}

extension Connection {
  /// Loads rows into a table with one binary COPY.
  ///
  /// - Parameters:
  ///   - table: the qualified name and the column list, which this program wrote.
  ///   - columns: the number of columns in that list.
  /// - Returns: the number of rows that the server loaded.
  @discardableResult
  package func copy(
    into table: StaticString, columns: Int, _ write: (inout BinaryCopy) throws -> Void
  ) throws -> Int {
    try copy("COPY \(table) FROM STDIN (FORMAT binary)", columns: columns, write)
  }

  /// Loads rows into a table that this transaction has created. The rows are frozen from the start,
  /// which means visible to everybody, so that vacuum does not have to freeze them later.
  ///
  /// - Parameter table: a table of schema fuel; lower-case letters, digits and underscores.
  @discardableResult
  package func copy(
    intoNew table: String, columns: Int, _ write: (inout BinaryCopy) throws -> Void
  ) throws -> Int {
    precondition(
      table.utf8.allSatisfy {
        $0 == 0x5F || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0)
      })
    return try copy(
      "COPY fuel.\(table) FROM STDIN (FORMAT binary, FREEZE)", columns: columns, write)
  }

  private func copy(
    _ command: String, columns: Int, _ write: (inout BinaryCopy) throws -> Void
  ) throws -> Int {
    try exclusively {
      let started = try finalResult(isSent: PQsendQuery(handle, command), of: command)
      PQclear(try checked(started, expecting: [PGRES_COPY_IN]))
      var copy = BinaryCopy(self, columns: columns)
      do {
        try write(&copy)
        try copy.finish()
      } catch {
        // Without this the session would stay in COPY mode.
        if PQputCopyEnd(handle, "cancelled") == 1 { try drain(command) }
        throw error
      }
      guard PQputCopyEnd(handle, nil) == 1 else { throw lost() }
      let result = try finalResult(isSent: 1, of: command)
      return try Rows(checked(result, expecting: [PGRES_COMMAND_OK])).affected
    }
  }

  fileprivate func putCopyData(_ bytes: [UInt8]) throws(PostgresError) {
    while true {
      let sent = bytes.withUnsafeBytes { bytes in
        PQputCopyData(
          handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
      }
      guard sent >= 0 else { throw lost() }
      // 0: the buffer of libpq is full.
      if sent == 0 { try wait(for: Int16(POLLIN | POLLOUT), "COPY") }
      try flush("COPY")
      if sent == 1 { return }
    }
  }

  /// Takes all remaining results, so that the session can be used again.
  func drain(_ command: String) throws(PostgresError) {
    if let result = try finalResult(isSent: 1, of: command) { PQclear(result) }
  }
}
