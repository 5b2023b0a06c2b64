import Foundation
package import FuelModel
package import Postgres

/// Instants outside all time are written as infinite.
extension Instant: ArrayElement {
  package static var typeName: String { "timestamptz" }
  package var parameter: String? {
    self <= .distantPast ? "-infinity" : self >= .distantFuture ? "infinity" : description
  }
}
extension Day: ArrayElement {
  package static var typeName: String { "date" }
  package var parameter: String? { description }
}

extension Row {
  /// Reads a list of texts from a JSON array.
  package func texts(_ column: String) throws -> [String] {
    try JSONDecoder().decode([String].self, from: Data(try text(column).utf8))
  }

  /// Returns an instant that is never NULL.
  package func instant(_ column: String) throws(PostgresError) -> Instant {
    guard let instant = try optionalInstant(column) else {
      throw .unexpectedResult("\(column) is NULL")
    }
    return instant
  }

  /// Returns an instant; `nil` for NULL.
  package func optionalInstant(_ column: String) throws(PostgresError) -> Instant? {
    guard let text = try optional(column) else { return nil }
    guard let instant = Instant(iso: text) else {
      throw .unexpectedResult("\(column) is not an instant: \(text)")
    }
    return instant
  }

  /// Returns a day that is never NULL.
  package func day(_ column: String) throws(PostgresError) -> Day {
    let text = try text(column)
    guard let day = Day(text) else { throw .unexpectedResult("\(column) is not a day: \(text)") }
    return day
  }
}
