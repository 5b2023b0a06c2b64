package import FuelModel
import Postgres

/// What the server and the database are like, for `doctor` and for the checks of clocks.
extension Store {
  /// Returns the subscription that brings the rows of this database from another server; `nil` where
  /// there is none.
  package func subscription() throws -> String? {
    try connection.query(
      """
      SELECT min(subscription.subname) AS name
      FROM pg_catalog.pg_subscription AS subscription
      JOIN pg_catalog.pg_subscription_rel AS copied ON copied.srsubid = subscription.oid
      JOIN pg_catalog.pg_class AS class ON class.oid = copied.srrelid
      WHERE class.relnamespace = 'fuel'::regnamespace
      """
    ).only().optional("name")
  }

  /// Returns how many sessions can read a station's whole history at once. Each of them locks every
  /// partition and its key, and the server's lock table has a fixed size.
  package func historyReaders() throws -> Int {
    try connection.query(
      """
      SELECT
        current_setting('max_locks_per_transaction')::bigint
          * current_setting('max_connections')::bigint / greatest(2 * count(*), 1) AS readers
      FROM pg_inherits
      """
    ).only().integer("readers")
  }

  /// Returns who may create temporary tables. Readers should not; the writer stages runs in them.
  /// Rights on a database are not part of its copies and dumps, so they may have been lost.
  package func temporaryTables() throws -> (readers: Bool, writer: Bool) {
    let row = try connection.query(
      """
      SELECT
        has_database_privilege('fuel_reader', current_database(), 'TEMPORARY') AS readers,
        has_database_privilege('fuel_writer', current_database(), 'TEMPORARY') AS writer
      """
    ).only()
    return (try row.boolean("readers"), try row.boolean("writer"))
  }

  /// Returns the name of the database, quoted where SQL requires it.
  package func databaseName() throws -> String {
    try connection.query("SELECT quote_ident(current_database()) AS name").only().text("name")
  }

  /// Returns the collation versions of the database where its indexes may be sorted by another one
  /// than the server has now, as after an upgrade of the system's C library; else `nil`.
  package func collationChange() throws -> (was: String, now: String?)? {
    try connection.query(
      """
      SELECT datcollversion AS was, pg_database_collation_actual_version(oid) AS now
      FROM pg_catalog.pg_database
      WHERE datname = current_database()
        AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)
        AND datcollversion IS NOT NULL
      """
    ).first.map { (try $0.text("was"), try $0.optional("now")) }
  }

  /// Returns the server's clock less this machine's, in seconds.
  package func clockSkewSeconds(of clock: Clock = .system) throws -> Int {
    let row = try connection.query(
      "SELECT extract(epoch FROM clock_timestamp())::bigint AS seconds"
    ).only()
    return try row.integer("seconds") - Int(clock.now().seconds)
  }
}
