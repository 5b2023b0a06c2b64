extension Migrator {
  /// What each file makes and a database must have after all files: its tables, views and
  /// functions, such as `view fuel_v1.fuels`.
  ///
  /// The list follows from the texts, in which each statement begins a line.
  static let objects: [String: [String]] = Dictionary(
    uniqueKeysWithValues: embedded.map { name, text in
      let made = text.matches(
        of: /(?m)^CREATE (?:OR REPLACE )?(TABLE|FUNCTION|VIEW) (fuel[\w.]*)/
      ).map { "\($0.1.lowercased()) \($0.2)" }
      // A function may have several forms.
      return (name, Set(made).sorted())
    })

  /// Returns the tables, views and functions of this program's schemas in the database. The
  /// catalogue is readable by every login.
  func presentObjects() throws -> Set<String> {
    Set(
      try connection.query(
        """
        SELECT
          CASE class.relkind WHEN 'v' THEN 'view' ELSE 'table' END || ' ' || schema.nspname || '.' || class.relname
            AS object
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS schema ON schema.oid = class.relnamespace
        WHERE schema.nspname IN ('fuel', 'fuel_v1') AND class.relkind IN ('r', 'p', 'v')
        UNION ALL
        SELECT DISTINCT 'function ' || schema.nspname || '.' || function.proname
        FROM pg_catalog.pg_proc AS function
        JOIN pg_catalog.pg_namespace AS schema ON schema.oid = function.pronamespace
        WHERE schema.nspname IN ('fuel', 'fuel_v1')
        """
      ).map { try $0.text("object") })
  }

  /// Throws where applying files cannot lead to this program's schema: a table was dropped, with
  /// its rows, or the schema is that of another program.
  func refuseLoss(_ files: [File]) throws {
    let lost = files.filter(\.runsOnce).flatMap(\.missing)
    if !lost.isEmpty { throw Refusal.damaged(lost, isMendable: false) }
    guard !files.contains(where: \.isApplied) else { return }
    let other = try connection.query(
      """
      SELECT schema.nspname AS name
      FROM pg_catalog.pg_namespace AS schema
      WHERE schema.nspname IN ('fuel', 'fuel_v1')
      ORDER BY name
      """
    ).first?.text("name")
    if let other { throw Refusal.foreign(schema: other) }
  }
}
