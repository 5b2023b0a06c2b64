import CMigrations

#if canImport(Glibc)
  import Glibc
#endif

/// Brings a database to the schema that this program was built with.
///
/// Numbered files run once, in order, and are never edited afterwards. Each routine and each view
/// has one current file, which runs again whenever its text differs from the installed text. The
/// ledger forgets routines and views that this program does not have.
/// All files are compiled into the program, so that program and SQL cannot disagree.
package struct Migrator {
  /// Why a database cannot be used or changed.
  package enum Refusal: Error, Equatable, CustomStringConvertible {
    case edited(String)
    /// A schema with the name of one of this program's, which this program did not make.
    case foreign(schema: String)
    /// What a file made is there no longer. `isMendable`: applying the file again makes it.
    case damaged([String], isMendable: Bool)
    case newer(database: Int, program: Int)
    case pending([String])
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
      case .newer(let database, let program):
        "the database is at migration \(database), this program knows only \(program): "
          + "install the newer program"
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
    /// The number of a numbered file; `nil` for a routine or view.
    package let version: Int?
    /// Whether the database already has this text and, for a routine or view, what it makes.
    package let isApplied: Bool
    /// What the text made and the database has no longer, such as `view fuel_v1.fuels`.
    let missing: [String]
  }

  let connection: Connection

  // The digests of earlier texts of these files, in databases that were migrated with them. Both
  // texts leave the same schema and mark the same days: 0023 marked the days that 0025 marks now,
  // and 0026 changed only in its comments.
  private static let earlierDigests: [String: String] = [
    "0023_days_in_bytes.sql": "4ce5c5d5dfc5527f586254547d8596648c07427be22c40a85ad20f4fc69f08b1",
    "0025_bound_by_time.sql": "748a8de73e2878479e05fa2f0dd3f80e5e15d24e0eca529b8e9d894c70c8c3a2",
    "0026_know_by_digest.sql": "452f79e3c12ae4619a278e2e2f983eec9c7986c9413acc86adb1311e0921a1f4",
  ]

  // A fixed key of this program: its name, "bowser", in ASCII.
  private static let lockKey = 0x626f_7773_6572

  package init(_ connection: Connection) { self.connection = connection }

  /// The names of the views that this program publishes.
  package static var publishedViews: [String] {
    embedded.compactMap { file in
      guard file.name.hasPrefix("views/"), !file.name.hasPrefix("views/private_") else {
        return nil
      }
      return String(file.name.dropFirst(6).split(separator: ".")[0])
    }.sorted()
  }

  /// Returns every file with its state in this database, in the order of application.
  ///
  /// - Throws: `Refusal` where an applied migration was edited or the database is newer.
  package func files() throws -> [File] {
    let applied = try appliedDigests()
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
      let version = Int(name.prefix(4))
      let digest = try row.text("digest")
      let isApplied = applied[name].map { $0 == digest || $0 == Self.earlierDigests[name] } ?? false
      if version != nil, applied[name] != nil, !isApplied { throw Refusal.edited(name) }
      let missing =
        isApplied ? Self.objects[name, default: []].filter { !present.contains($0) } : []
      files.append(
        File(
          name: name, text: text, digest: digest, version: version,
          isApplied: isApplied && (version != nil || missing.isEmpty), missing: missing))
    }
    let newest = files.compactMap(\.version).max() ?? 0
    let reached = applied.keys.compactMap { Int($0.prefix(4)) }.max() ?? 0
    if reached > newest { throw Refusal.newer(database: reached, program: newest) }
    for (name, _) in applied where Int(name.prefix(4)) != nil {
      if !files.contains(where: { $0.name == name }) { throw Refusal.edited(name) }
    }
    return files
  }

  /// Applies the missing files: all of them in one transaction, or none.
  ///
  /// Readers are not delayed. A change that waits for a reader delays everybody who comes after it.
  /// Therefore a change waits for one second only, gives up and is tried again.
  ///
  /// - Parameters:
  ///   - attempts: the number of attempts, with two seconds between them.
  ///   - report: called with the name of each applied file, once all are applied.
  /// - Returns: the names of the files that were applied.
  /// - Throws: where other sessions were in the way at every attempt; the error names them.
  @discardableResult
  package func up(attempts: Int = 100, report: (String) -> Void = { _ in }) throws -> [String] {
    let patience = connection.patienceMilliseconds
    connection.patienceMilliseconds = 300
    defer { connection.patienceMilliseconds = patience }
    var attempt = 1
    while true {
      do {
        let names = try applyAll()
        for name in names { report(name) }
        return names
      } catch let error as PostgresError where error.isBlocked && attempt < attempts {
        attempt += 1
        sleep(2)
      }
    }
  }

  private func applyAll() throws -> [String] {
    guard
      try !isKnown() || files().contains(where: { !$0.isApplied || !$0.missing.isEmpty })
        || lacksRights()
    else { return [] }
    return try connection.transaction {
      try connection.execute("SET LOCAL lock_timeout = '1s'")
      try lock()
      // Another process may have applied some of the files during the wait.
      let files = try files()
      try refuseLoss(files)
      let pending = files.filter { !$0.isApplied }
      try apply(pending)
      // A numbered file may have dropped what the file of a routine or view had made.
      let dropped = try self.files().filter { !$0.isApplied }
      try apply(dropped)
      let lacksRights = try lacksRights()
      if lacksRights { try grantAgain() }
      try verify()
      if try !isKnown() {
        // A program that still has such a file then applies it again, since other files may have
        // replaced what it made.
        try connection.query(
          "DELETE FROM fuel.migration WHERE NOT name = ANY (\(Self.embedded.map(\.name)))")
        try connection.execute("DELETE FROM fuel.program")
        try connection.query("INSERT INTO fuel.program (digest) VALUES (\(Self.digest))")
      }
      return (pending + dropped).map(\.name) + (lacksRights ? ["the rights of the roles"] : [])
    }
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

  private func lock() throws {
    try connection.query("SELECT pg_advisory_xact_lock(\(Self.lockKey))")
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
  package static let digest: String = {
    let digits = String(bowser_migration_digest(), radix: 16)
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

  /// The compiled-in files in order: numbered files, then routines, then views.
  package static let embedded: [(name: String, text: String)] = (0..<bowser_migration_count()).map {
    index in
    let file = bowser_migration(index)
    let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
    return (String(cString: file.name), String(decoding: bytes, as: UTF8.self))
  }
}
