import CPostgres

extension Connection {
  /// Creates the database that a target names, where the server is reached but has no such
  /// database.
  ///
  /// - Parameter target: a target as for a session.
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
      let other = try Connection(
        target, "bowser", deadline, connectSeconds: nil, database: "postgres")
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
}
