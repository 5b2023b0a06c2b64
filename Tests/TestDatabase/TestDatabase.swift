import Foundation
package import Postgres
import Synchronization

/// A migrated database for each test, copied from a template that is made once.
///
/// The server is the temporary one of `make test`, found by PG* variables. Without it these tests
/// fail; they are never skipped.
package enum TestDatabase {
  private static let count = Atomic<Int>(0)

  /// The template of all processes that use one server. The first makes it while the others wait.
  private static let template: Result<Template, any Error> = Result {
    let name = "template_\(Migrator.digest)"
    let connection = try Connection("dbname=postgres")
    try connection.query("SELECT pg_advisory_lock(hashtext(\(name)))")
    let row = try connection.query(
      """
      SELECT
        EXISTS (SELECT FROM pg_database WHERE datname = \(name)) AS is_made,
        current_setting('server_version_num')::integer AS version
      """
    ).only()
    if try !row.boolean("is_made") {
      // A template with this name is whole, and nobody is connected to it.
      try connection.execute("DROP DATABASE IF EXISTS new_\(name)")
      try connection.execute("CREATE DATABASE new_\(name)")
      try Migrator(try Connection("dbname=new_\(name)")).up()
      try connection.execute("ALTER DATABASE new_\(name) RENAME TO \(name)")
    }
    return Template(
      name: name, options: try row.integer("version") < 150_000 ? "" : "STRATEGY FILE_COPY")
  }

  private struct Template {
    let name: String
    /// How its files are copied. Since PostgreSQL 15 the default is a copy block by block through
    /// the log, which takes twice the time.
    let options: String
  }

  /// Creates a database and passes its libpq target to `body`. The database is deleted with the
  /// server.
  ///
  /// - Parameter original: a database of this server to copy, to which nobody is connected; `nil`:
  ///   one with the schema alone.
  package static func with<Value>(
    copyOf original: String? = nil, _ body: (String) async throws -> Value
  ) async throws -> Value {
    await gate.enter()
    let result: Result<Value, any Error>
    do {
      let template = try self.template.get()
      let process = ProcessInfo.processInfo.processIdentifier
      let name = "test_\(process)_\(count.add(1, ordering: .relaxed).newValue)"
      try Connection("dbname=postgres").execute(
        "CREATE DATABASE \(name) TEMPLATE \(original ?? template.name) \(template.options)")
      result = .success(try await body("dbname=\(name)"))
    } catch {
      result = .failure(error)
    }
    await gate.leave()
    return try result.get()
  }

  private static let gate = Gate()

  /// Limits how many tests run at once, so that the server has connections for all of them.
  private actor Gate {
    private var free = 24
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
      if free > 0 {
        free -= 1
      } else {
        await withCheckedContinuation { waiting.append($0) }
      }
    }

    func leave() {
      if waiting.isEmpty {
        free += 1
      } else {
        waiting.removeFirst().resume()
      }
    }
  }

  /// Creates an empty database without the schema of this project.
  package static func withEmpty<Value>(_ body: (String) async throws -> Value) async throws -> Value
  {
    let process = ProcessInfo.processInfo.processIdentifier
    let name = "empty_\(process)_\(count.add(1, ordering: .relaxed).newValue)"
    try Connection("dbname=postgres").execute("CREATE DATABASE \(name)")
    return try await body("dbname=\(name)")
  }
}

extension Connection {
  /// Returns all rows of a query as lines, to compare whole results.
  package func lines(_ statement: SQL) throws -> [String] {
    let rows = try query(statement)
    return try rows.map { row in
      try rows.columnNames.map { try row.optional($0) ?? "NULL" }.joined(separator: "|")
    }
  }
}

/// Describes briefly where two long lists differ; `nil`: nowhere. An expectation that compares them
/// itself would compute all differences, which takes hours for long lists.
package func firstDifference(_ found: [String], _ expected: [String]) -> String? {
  guard found != expected else { return nil }
  let missing = Set(expected).subtracting(found).sorted()
  let surplus = Set(found).subtracting(expected).sorted()
  return "\(found.count) lines instead of \(expected.count); \(missing.count) missing, such as "
    + "\(missing.prefix(3)); \(surplus.count) too many, such as \(surplus.prefix(3))"
}
