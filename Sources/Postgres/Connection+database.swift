import CPostgres

extension Connection {
  /// Makes the database that a target names, where the server answers and has none of that name.
  ///
  /// - Parameter target: as for a session.
  /// - Returns: its name; `nil`: it is there.
  /// - Throws: where the server cannot be reached, or the login may not make databases.
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
      // Whatever the templates of this server are encoded in.
      let statement = try other.query(
        """
        SELECT format('CREATE DATABASE %I ENCODING ''UTF8'' TEMPLATE template0', \(String(name))::text) AS text
        """
      ).only().text("text")
      try other.execute(statement)
      return String(name)
    }
  }
}
