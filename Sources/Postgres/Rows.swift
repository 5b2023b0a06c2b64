import CPostgres

/// The rows of one result. Values are read by the name of the column, in PostgreSQL's text form.
package final class Rows: RandomAccessCollection {
  private let result: OpaquePointer
  private let columns: [String: Int32]

  init(_ result: OpaquePointer) {
    self.result = result
    var columns: [String: Int32] = [:]
    for index in 0..<PQnfields(result) {
      columns[String(cString: PQfname(result, index))] = index
    }
    self.columns = columns
  }

  deinit { PQclear(result) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { Int(PQntuples(result)) }
  package subscript(position: Int) -> Row { Row(rows: self, index: Int32(position)) }

  /// The names of the columns in order.
  package var columnNames: [String] {
    (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }
  }

  /// The number of rows that a statement without result rows affected.
  package var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// Returns the row of a result that must have exactly one.
  package func only() throws(PostgresError) -> Row {
    guard count == 1 else { throw .unexpectedResult("\(count) rows where one was expected") }
    return self[0]
  }

  func value(_ column: String, _ row: Int32) throws(PostgresError) -> String? {
    guard let index = columns[column] else { throw .unexpectedResult("no column \(column)") }
    guard PQgetisnull(result, row, index) == 0 else { return nil }
    return String(cString: PQgetvalue(result, row, index))
  }
}

/// One row of a result.
package struct Row {
  let rows: Rows
  let index: Int32

  /// Returns the text of a column; `nil` for NULL.
  package func optional(_ column: String) throws(PostgresError) -> String? {
    try rows.value(column, index)
  }

  /// Returns the text of a column that is never NULL.
  package func text(_ column: String) throws(PostgresError) -> String {
    guard let value = try optional(column) else { throw .unexpectedResult("\(column) is NULL") }
    return value
  }

  /// Returns an integer that is never NULL.
  package func integer(_ column: String) throws(PostgresError) -> Int {
    let value = try text(column)
    guard let number = Int(value) else {
      throw .unexpectedResult("\(column) is not an integer: \(value)")
    }
    return number
  }

  /// Returns a number that is never NULL.
  package func double(_ column: String) throws(PostgresError) -> Double {
    guard let value = try optionalDouble(column) else {
      throw .unexpectedResult("\(column) is NULL")
    }
    return value
  }

  /// Returns a number; `nil` for NULL.
  package func optionalDouble(_ column: String) throws(PostgresError) -> Double? {
    guard let value = try optional(column) else { return nil }
    guard let number = Double(value) else {
      throw .unexpectedResult("\(column) is not a number: \(value)")
    }
    return number
  }

  /// Returns a boolean that is never NULL.
  package func boolean(_ column: String) throws(PostgresError) -> Bool {
    try text(column) == "t"
  }
}
