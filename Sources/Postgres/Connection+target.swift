import CPostgres
import Glibc

extension Connection {
  /// Creates the database that a target names, where the server is reached but has no such
  /// database.
  ///
  /// - Returns: the name of the new database; `nil` where the database exists already.
  /// - Throws: where the server cannot be reached, or the login may not create databases.
  package static func makeDatabase(
    _ target: String, deadline: Deadline
  ) throws(PostgresError) -> String? {
    do {
      _ = try Connection(target, deadline: deadline)
      return nil
    } catch {
      guard case .cannotConnect(let message) = error, error.isUnknownDatabase,
        let name = message.firstMatch(of: /database "(.+)" does not exist/)?.1
      else { throw error }
      let other = try Connection(target, deadline: deadline, database: "postgres")
      // `template0` and the encoding make it UTF-8, whatever encoding the server's templates have.
      let statement = try other.query(
        """
        SELECT format('CREATE DATABASE %I ENCODING ''UTF8'' TEMPLATE template0', \(String(name))::text) AS text
        """
      ).only().text("text")
      try other.execute(statement)
      return String(name)
    }
  }

  /// Connects as `PQconnectdbParams` does, but prints nothing that the server remarks meanwhile.
  /// Notices are remarks of the server about its own work; errors arrive as results. libpq takes
  /// the silence only for a connection that has begun, so this one begins anew with it.
  static func silentlyConnected(
    _ keywords: UnsafePointer<UnsafePointer<CChar>?>, _ values: UnsafePointer<UnsafePointer<CChar>?>
  ) -> OpaquePointer? {
    guard let connection = PQconnectStartParams(keywords, values, 1) else { return nil }
    // A connection that failed at once keeps its error.
    guard PQstatus(connection) != CONNECTION_BAD else { return connection }
    PQsetNoticeProcessor(connection, { _, _ in }, nil)
    PQreset(connection)
    return connection
  }

  // MARK: The password that a target may contain

  /// Refuses a target that libpq cannot read, and a URI that it would read wrongly: one of which it
  /// would take a part of the password for the host, or one that it would take for a name, as the
  /// target or in PGDATABASE or PGHOST. Libpq and the server repeat names in their messages, and such
  /// a name may contain the password.
  static func refuseMalformed(_ target: String) throws(PostgresError) {
    // Libpq ends the password at the first @ and takes the rest of it for a part of the host.
    if let scheme = target.firstRange(of: "://") {
      let authority = target[scheme.upperBound...].prefix { !"/? ".contains($0) }
      if authority.count(where: { $0 == "@" }) > 1 {
        throw .malformedTarget("the URI has more than one @: an @ in a password is written %40")
      }
    }
    let isURI = target.hasPrefix("postgresql://") || target.hasPrefix("postgres://")
    if isURI || target.contains("=") {
      var message: UnsafeMutablePointer<CChar>?
      guard let options = PQconninfoParse(target, &message) else {
        defer { PQfreemem(message) }
        throw .malformedTarget(masked(oneLine(message.map { String(cString: $0) } ?? "no memory")))
      }
      PQconninfoFree(options)
    }
    guard !isURI else { return }
    let isName = !target.isEmpty && !target.contains("=")
    if isName, target.contains("/") || target.contains("@") {
      throw .malformedTarget("the target is no URI and has no keywords")
    }
    for (variable, keyword) in [("PGDATABASE", "dbname"), ("PGHOST", "host")] {
      let isOverridden = target.contains(keyword) || (isName && keyword == "dbname")
      guard !isOverridden, let value = getenv(variable), String(cString: value).contains("://")
      else { continue }
      throw .malformedTarget("\(variable) takes a name and no URI")
    }
  }

  /// Replaces what libpq quotes of a malformed target, since any part of it may be the password. A
  /// value may contain quotes, so everything between the first and the last one is replaced. The name
  /// of the setting at the end is libpq's own.
  static func masked(_ message: String) -> String {
    let setting = message.firstMatch(of: #/ for connection option "[a-z_]+"$/#)?.output ?? ""
    return "\(message.dropLast(setting.count).replacing(/".*"/, with: "\"***\""))\(setting)"
  }
}
