import CMigrations

/// Brings a database to the schema that this program was built with.
///
/// Numbered files run once, ever, in order, and are never edited afterwards. Routines and views
/// have one current file each and run again whenever their text differs from what is installed.
/// All of them are compiled into the program, so program and SQL cannot disagree.
package struct Migrator {
  /// Why a database cannot be used or changed.
  package enum Refusal: Error, Equatable, CustomStringConvertible {
    case edited(String)
    case newer(database: Int, program: Int)
    case pending([String])

    package var description: String {
      switch self {
      case .edited(let file):
        "\(file) was changed after it had been applied to this database"
      case .newer(let database, let program):
        "the database is at migration \(database), this program knows only \(program): "
          + "install the newer program"
      case .pending(let files):
        "the database lacks \(files.count) change(s), first \(files[0]): run bowser migrate"
      }
    }
  }

  /// One compiled-in file.
  package struct File: Equatable {
    package let name: String
    package let text: String
    /// SHA-256 as hex, computed by the server that records it.
    package let digest: String
    /// The number of a table migration; `nil` for a routine or view.
    package let version: Int?
    /// Whether the database already has this text.
    package let isApplied: Bool
  }

  private let connection: Connection

  // A fixed key of our own: the name in ASCII.
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

  /// Every file with its state in this database, in the order in which they are applied.
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
    var files: [File] = []
    for ((name, text), row) in zip(embedded, digests) {
      let version = Int(name.prefix(4))
      let digest = try row.text("digest")
      if version != nil, let known = applied[name], known != digest { throw Refusal.edited(name) }
      files.append(
        File(
          name: name, text: text, digest: digest, version: version,
          isApplied: applied[name] == digest))
    }
    let newest = files.compactMap(\.version).max() ?? 0
    let reached = applied.keys.compactMap { Int($0.prefix(4)) }.max() ?? 0
    if reached > newest { throw Refusal.newer(database: reached, program: newest) }
    for (name, _) in applied where Int(name.prefix(4)) != nil {
      if !files.contains(where: { $0.name == name }) { throw Refusal.edited(name) }
    }
    return files
  }

  /// Applies what is missing, each file in a transaction of its own under one lock.
  ///
  /// - Returns: the names of the files that were applied.
  @discardableResult
  package func up(report: (String) -> Void = { _ in }) throws -> [String] {
    var names: [String] = []
    for file in try files() where !file.isApplied {
      try connection.transaction {
        try lock()
        // Somebody else may have applied it while we waited for the lock.
        guard try appliedDigests()[file.name] != file.digest else { return }
        // Until all are applied the database is that of no program.
        try forgetProgram()
        try connection.execute(file.text)
        try connection.query(
          """
          INSERT INTO fuel.migration (name, sha256, applied_at)
          VALUES (\(file.name), \(file.digest), now())
          ON CONFLICT ON CONSTRAINT migration_pk
          DO UPDATE SET sha256 = excluded.sha256, applied_at = excluded.applied_at
          """)
        names.append(file.name)
        report(file.name)
      }
    }
    guard try !isKnown() else { return names }
    try connection.transaction {
      try lock()
      try verify()
      try forgetProgram()
      try connection.query("INSERT INTO fuel.program (digest) VALUES (\(Self.digest))")
    }
    return names
  }

  /// Refuses a database that is older or newer than this program, by each of its files.
  package func verify() throws {
    let pending = try files().filter { !$0.isApplied }
    if !pending.isEmpty { throw Refusal.pending(pending.map(\.name)) }
  }

  /// The same by one digest, for the start of a command; by each file only where that differs.
  package func recognise() throws {
    if try !isKnown() { try verify() }
  }

  /// Whether this program's files were all applied, and no other's since.
  private func isKnown() throws -> Bool {
    guard try exists("fuel.program") else { return false }
    return try connection.query("SELECT digest FROM fuel.program").first?.text("digest")
      == Self.digest
  }

  private func forgetProgram() throws {
    if try exists("fuel.program") { try connection.query("DELETE FROM fuel.program") }
  }

  private func lock() throws {
    try connection.query("SELECT pg_advisory_xact_lock(\(Self.lockKey))")
  }

  private func exists(_ table: String) throws -> Bool {
    try connection.query("SELECT to_regclass(\(table)) IS NOT NULL AS found").only()
      .boolean("found")
  }

  // Sixteen hex digits.
  private static let digest: String = {
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

  /// The compiled-in files in order: tables, then routines, then views.
  package static let embedded: [(name: String, text: String)] = (0..<bowser_migration_count()).map {
    index in
    let file = bowser_migration(index)
    let bytes = UnsafeBufferPointer(start: file.bytes, count: file.count)
    return (String(cString: file.name), String(decoding: bytes, as: UTF8.self))
  }
}
