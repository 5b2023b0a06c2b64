/// The rights of the roles, which a restore without privileges leaves out.
extension Migrator {
  /// Returns whether a role may not read a table or view that all files together let it read. Every
  /// login may ask this.
  func lacksRights() throws -> Bool {
    let readable = Self.objects.values.joined().compactMap { object in
      let words = object.split(separator: " ")
      return words[0] == "function" ? nil : String(words[1])
    }
    return try connection.query(
      """
      SELECT EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS schema ON schema.oid = class.relnamespace
        CROSS JOIN (
          VALUES ('fuel_writer', ARRAY['fuel', 'fuel_v1']), ('fuel_reader', ARRAY['fuel_v1'])
        ) AS role (name, schemas)
        WHERE schema.nspname = ANY (role.schemas)
          AND schema.nspname || '.' || class.relname = ANY (\(readable))
          AND (
            to_regrole(role.name) IS NULL
            OR NOT has_schema_privilege(to_regrole(role.name), schema.oid, 'USAGE')
            OR NOT has_table_privilege(to_regrole(role.name), class.oid, 'SELECT'))
      ) AS lacks
      """
    ).only().boolean("lacks")
  }

  /// Runs a body that reads the ledger. Where it may not, it says whether rights are lost.
  func explained(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PostgresError where error.sqlState == "42501" {
      if try lacksRights() { throw Refusal.unprivileged }
      throw error
    }
  }

  /// Gives and takes all rights anew, in the order in which the files did so.
  func grantAgain() throws {
    // What nobody granted to everybody belongs to nobody else, as after an installation.
    try connection.execute(
      "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA fuel, fuel_v1 FROM PUBLIC")
    // The statements that make roles, and that give or take rights. Each begins a line.
    let statement =
      /(?ms)^(?:GRANT|REVOKE|ALTER DEFAULT PRIVILEGES)\s.+?;$|^DO \$(roles|database)\$$.+?^\$\1\$;$/
    for text in Self.embedded.map(\.text) {
      for match in text.matches(of: statement) { try connection.execute(String(match.0)) }
    }
  }
}
