import CMigrations
import Glibc

/// Brings a database to the schema that this program was built with.
///
/// The files of tables run once, in order, and are never edited after a release. Each routine and
/// each view has one current file, which runs again whenever its text differs from the installed
/// text. The ledger forgets routines and views that this program does not have.
/// All files are compiled into the program, so that program and SQL cannot disagree.
///
/// Up to version 0.5 numbered files made the tables. The rows of such a database are taken over
/// into tables that are made anew (`Migrations/routines/adopt.sql`).
package struct Migrator {
  /// Why a database cannot be used or changed.
  package enum Refusal: Error, Equatable, CustomStringConvertible {
    case edited(String)
    /// A schema with the name of one of this program's, which this program did not make.
    case foreign(schema: String)
    /// What a file made is there no longer. `isMendable`: applying the file again makes it.
    case damaged([String], isMendable: Bool)
    /// The database has a file that this program does not know.
    case newer(String)
    case pending([String])
    /// The tables are those of a version up to 0.5.
    case earlier(canBeTakenOver: Bool)
    /// The roles lack rights, as after a restore without privileges.
    case unprivileged

    package var description: String {
      switch self {
      case .edited(let file):
        "\(file) was changed after it had been applied to this database: "
          + "install a program that has it as it was applied"
      case .foreign(let schema):
        "the database has a schema \(schema) that bowser did not make: name another database"
      case .damaged(let objects, let isMendable):
        Self.damage(objects, isMendable)
      case .newer(let file):
        "the database has \(file), which this program does not know: install the newer program"
      case .earlier(canBeTakenOver: true):
        "the database has the schema of an earlier version: run bowser migrate"
      case .earlier(canBeTakenOver: false):
        "the database has the schema of a version before 0.5: run bowser migrate of version 0.5, "
          + "then this one"
      case .pending(let files) where files.count == Migrator.embedded.count:
        "the database has no schema of bowser: check that it is the right one, then run "
          + "bowser migrate"
      case .pending(let files):
        "the database lacks \(files.count) change(s), first \(files[0]): run bowser migrate"
      case .unprivileged:
        "fuel_reader and fuel_writer lack rights on the schema, as after a restore without "
          + "privileges: run bowser migrate as its owner, which grants them again"
      }
    }

    private static func damage(_ objects: [String], _ isMendable: Bool) -> String {
      let more = objects.count > 3 ? " and \(objects.count - 3) more" : ""
      let what = objects.prefix(3).joined(separator: ", ") + more
      let advice = isMendable ? "run bowser migrate" : "restore a backup, see docs/operating.md"
      return
        "the schema is damaged: \(what) \(objects.count == 1 ? "is" : "are") missing: \(advice)"
    }
  }

  /// One file that is compiled into the program.
  package struct File: Equatable {
    package let name: String
    package let text: String
    /// SHA-256 in hexadecimal digits, computed by the server that records it.
    package let digest: String
    /// Whether it runs once, as the files of tables do; otherwise it is a routine or view.
    package let runsOnce: Bool
    /// Whether the database already has this text and, for a routine or view, what it makes.
    package let isApplied: Bool
    /// What the text made and the database has no longer, such as `view fuel_v1.fuels`.
    let missing: [String]
  }

  let connection: Connection

  // A fixed key of this program: its name, "bowser", in ASCII.
  private static let lockKey = 0x626f_7773_6572

  package init(_ connection: Connection) { self.connection = connection }

  /// Returns every file with its state in this database, in the order of application.
  ///
  /// - Throws: `Refusal` where an applied file of tables was edited or the database is newer.
  package func files() throws -> [File] {
    // Nothing of the tables of an earlier version is kept as it is.
    let ledger = try appliedDigests()
    let applied = try Self.isEarlier(ledger) ? [:] : ledger
    let embedded = Self.embedded
    let digests = try connection.query(
      """
      SELECT encode(sha256(convert_to(text, 'UTF8')), 'hex') AS digest
      FROM unnest(\(embedded.map(\.text))::text[]) WITH ORDINALITY AS file (text, position)
      ORDER BY position
      """)
    let present = try presentObjects()
    var files: [File] = []
    for ((name, text), row) in zip(embedded, digests) {
      let runsOnce = Self.runsOnce(name)
      let digest = try row.text("digest")
      let isApplied = applied[name] == digest
      if runsOnce, applied[name] != nil, !isApplied { throw Refusal.edited(name) }
      let missing =
        isApplied ? Self.objects[name, default: []].filter { !present.contains($0) } : []
      files.append(
        File(
          name: name, text: text, digest: digest, runsOnce: runsOnce,
          isApplied: isApplied && (runsOnce || missing.isEmpty), missing: missing))
    }
    let known = Set(embedded.map(\.name))
    if let newer = applied.keys.filter({ Self.runsOnce($0) && !known.contains($0) }).min() {
      throw Refusal.newer(newer)
    }
    return files
  }

  private static func runsOnce(_ name: String) -> Bool {
    name.hasPrefix("schema/")
  }

  /// Applies the missing files: all of them in one transaction, or none.
  ///
  /// Readers are not delayed, except by the end of a takeover from version 0.5. A change that waits for a reader delays everybody who comes after it.
  /// Therefore a change waits for one second only, gives up and is tried again.
  ///
  /// - Parameters:
  ///   - attempts: the number of attempts, with two seconds between them.
  ///   - remake: called within the transaction, after every routine and view has been applied
  ///     again; `nil`: they are applied where they are missing.
  /// - Throws: where other sessions were in the way at every attempt.
  @discardableResult
  package func up(
    attempts: Int = 100, report: (String) -> Void = { _ in }, remake: (() throws -> Void)? = nil
  ) throws -> [String] {
    var attempt = 1
    while true {
      do {
        let names = try applyAll(remake)
        for name in names { report(name) }
        return names
      } catch let error as PostgresError where error.isBlocked && attempt < attempts {
        attempt += 1
        sleep(2)
      }
    }
  }

  private func applyAll(_ remake: (() throws -> Void)?) throws -> [String] {
    guard
      try remake != nil || !isKnown()
        || files().contains(where: { !$0.isApplied || !$0.missing.isEmpty })
        || lacksRights()
    else { return [] }
    return try connection.transaction {
      try connection.execute("SET LOCAL lock_timeout = '1s'")
      try connection.query("SELECT pg_advisory_xact_lock(\(Self.lockKey))")
      // Another process may have applied some of the files during the wait.
      let isEarlier = try Self.isEarlier(appliedDigests())
      if isEarlier { try renameEarlier() }
      let files = try files()
      if !isEarlier { try refuseLoss(files) }
      // A hub has given its views and functions other texts, which begin with their own.
      let isHub = try exists("hub.member_pipeline")
      let pending = files.filter { !$0.isApplied || (remake != nil || isHub) && !$0.runsOnce }
      try apply(pending)
      if let remake { try remake() } else if isHub { try connection.execute("SELECT fuel.unite()") }
      if isEarlier { try connection.execute("DROP SCHEMA fuel_before CASCADE") }
      // A file of tables may have dropped what the file of a routine or view had made.
      let dropped = try self.files().filter { !$0.isApplied }
      try apply(dropped)
      let lacksRights = try lacksRights()
      if lacksRights { try grantAgain() }
      try verify()
      if try !isKnown() {
        // Otherwise an older program would believe that its own routine is still installed.
        try connection.query(
          "DELETE FROM fuel.migration WHERE NOT name = ANY (\(Self.embedded.map(\.name)))")
        try connection.execute("DELETE FROM fuel.program")
        try connection.query("INSERT INTO fuel.program (digest) VALUES (\(Self.digest))")
      }
      return (pending + dropped).map(\.name) + (lacksRights ? ["the rights of the roles"] : [])
    }
  }

  /// Makes room for the tables of this program. They belong to whom the former ones belong to.
  private func renameEarlier() throws {
    try connection.execute(
      """
      DO $$
      BEGIN
        EXECUTE format('SET LOCAL ROLE %I', (
          SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'fuel'));
      END
      $$;
      ALTER SCHEMA fuel RENAME TO fuel_before
      """)
  }

  private func apply(_ files: [File]) throws {
    for file in files {
      try connection.execute(file.text)
      try connection.query(
        """
        INSERT INTO fuel.migration (name, sha256, applied_at)
        VALUES (\(file.name), \(file.digest), now())
        ON CONFLICT ON CONSTRAINT migration_pk
        DO UPDATE SET sha256 = excluded.sha256, applied_at = excluded.applied_at
        """)
    }
  }

  /// Refuses a database that is older or newer than this program, by the digest of each file.
  /// Refuses a schema too of which a part was dropped, or on which the roles lack rights.
  package func verify() throws {
    try explained {
      if try Self.isEarlier(appliedDigests()) { throw Refusal.earlier(canBeTakenOver: true) }
      let files = try files()
      let missing = files.flatMap(\.missing)
      if !missing.isEmpty {
        try refuseLoss(files)
        throw Refusal.damaged(missing, isMendable: true)
      }
      let pending = files.filter { !$0.isApplied }
      if !pending.isEmpty { throw Refusal.pending(pending.map(\.name)) }
      if try lacksRights() { throw Refusal.unprivileged }
    }
  }

  /// Does the same by one digest, for the start of a command. Compares each file only where that
  /// digest differs.
  package func recognise() throws {
    try explained { if try !isKnown() { try verify() } }
  }

  /// Whether all files of this program, and of no other one since, were applied.
  private func isKnown() throws -> Bool {
    guard try exists("fuel.program") else { return false }
    return try connection.query("SELECT digest FROM fuel.program").first?.text("digest")
      == Self.digest
  }

  /// Whether numbered files made the tables.
  ///
  /// - Throws: `Refusal.earlier` where they are older than those of version 0.5.
  private static func isEarlier(_ ledger: [String: String]) throws -> Bool {
    guard ledger["schema/roles.sql"] == nil,
      let newest = ledger.keys.filter({ $0.hasPrefix("00") }).max()
    else { return false }
    if newest < "0028" { throw Refusal.earlier(canBeTakenOver: false) }
    return true
  }

  /// Reads the catalogue directly, because the names that this session has cached may be older than
  /// the lock: another process may have made the table during the wait.
  private func exists(_ table: String) throws -> Bool {
    try connection.query(
      """
      SELECT EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS class
        JOIN pg_catalog.pg_namespace AS schema ON schema.oid = class.relnamespace
        WHERE schema.nspname || '.' || class.relname = \(table)
      ) AS found
      """
    ).only().boolean("found")
  }

  /// One number of all files that are compiled into the program, as sixteen hexadecimal digits.
  /// FNV-1a: it tells programs apart, and guards against nobody.
  package static let digest: String = {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for (name, text) in embedded {
      for part in [name, text] {
        for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = hash &* 0x100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }()

  private func appliedDigests() throws -> [String: String] {
    guard try exists("fuel.migration") else { return [:] }
    var digests: [String: String] = [:]
    for row in try connection.query("SELECT name, sha256 FROM fuel.migration") {
      digests[try row.text("name")] = try row.text("sha256")
    }
    return digests
  }

  /// The compiled-in files in the order of application, which `Migrations/order` states.
  package static let embedded: [(name: String, text: String)] = {
    var next = bowser_migration_texts()!
    return String(cString: bowser_migration_names()).split(separator: "\n").map { name in
      let text = String(cString: next)
      next += text.utf8.count + 1
      return (String(name), text)
    }
  }()
}
