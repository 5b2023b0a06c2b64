import Foundation
import Postgres
import TestDatabase
import Testing

/// A database that was restored without its privileges.
struct RestoreTests {
  /// Everything that is granted in a database, except on the database itself.
  private func rights(_ target: String) throws -> [String] {
    try Connection(target).lines(
      """
      WITH held (kind, name, acl) AS (
        SELECT 'table', class.oid::regclass::text, class.relacl
        FROM pg_class AS class WHERE class.relnamespace::regnamespace::text LIKE 'fuel%'
        UNION ALL
        SELECT 'column', attribute.attrelid::regclass || '.' || attribute.attname, attribute.attacl
        FROM pg_attribute AS attribute WHERE attribute.attacl IS NOT NULL
        UNION ALL
        SELECT 'function', function.oid::regprocedure::text,
          coalesce(function.proacl, acldefault('f', function.proowner))
        FROM pg_proc AS function WHERE function.pronamespace::regnamespace::text LIKE 'fuel%'
        UNION ALL
        SELECT 'schema', schema.nspname, schema.nspacl FROM pg_namespace AS schema
        WHERE schema.nspname LIKE 'fuel%' OR schema.nspname = 'public'
        UNION ALL
        SELECT 'default', defaults.defaclnamespace::text, defaults.defaclacl
        FROM pg_default_acl AS defaults WHERE defaults.defaclnamespace = 0
      )
      SELECT held.kind, held.name, one.grantee::regrole, one.privilege_type
      FROM held
      CROSS JOIN LATERAL aclexplode(held.acl) AS one
      WHERE one.grantee <> one.grantor
      ORDER BY 1, 2, 3, 4
      """)
  }

  /// F-M62: after a restore without privileges `migrate` grants all of them again: those of an
  /// installation, no more and no fewer. Until then every command says so.
  @Test func migrateGrantsAgainAfterARestore() async throws {
    let archive = try BackfillTests.archive(months: 2, rows: 40)
    let dump = archive + ".dump"
    defer { for path in [archive, dump] { try? FileManager.default.removeItem(atPath: path) } }
    try await TestDatabase.with { target in
      func run(_ words: [String], _ target: String) throws -> CommandTests.Result {
        try CommandTests.run(words + ["--now", "2026-07-01T10:05:00Z"], on: target)
      }
      #expect(try run(["backfill", "nsw-fuelcheck", archive], target).code == 0)
      let replay = ["ingest", "qld-fpd", "--replay", CommandTests.recording]
      #expect(try run(replay, target).code == 0)
      let stored = try await tool("pg_dump", ["-Fc", "-f", dump, "--dbname", target])
      #expect(stored.code == 0, "\(stored)")
      try await TestDatabase.withEmpty { copy in
        let restored = try await tool("pg_restore", ["-x", "-O", "--dbname", copy, dump])
        #expect(restored.code == 0, "\(restored)")
        for words in [["migrate", "verify"], ["doctor"], ["aggregate"]] {
          let lacking = try run(words, copy)
          #expect(lacking.code != 0, "\(words) \(lacking)")
          #expect((lacking.out + lacking.err).contains("bowser migrate"), "\(words) \(lacking)")
        }
        let mended = try CommandTests.run(["migrate", "--verbose"], on: copy)
        #expect(
          mended.code == 0 && mended.err.contains("applied the rights of the roles"), "\(mended)")
        let (found, expected) = (try rights(copy), try rights(target))
        #expect(expected.count > 300)
        #expect(firstDifference(found, expected) == nil)
        let other = ["ingest", "nsw-fuelcheck", "--replay", CommandTests.recording]
        let show = ["show", "brisbane"]
        for words in [["migrate", "verify"], other, ["aggregate"], show, ["doctor"]] {
          let able = try run(words, copy)
          #expect(able.code == 0, "\(words) \(able)")
        }
        #expect(try CommandTests.run(["migrate", "--verbose"], on: copy).err.isEmpty)
      }
    }
  }
}
