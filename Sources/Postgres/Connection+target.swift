import CPostgres
import Foundation

// Keeps the password that a target may contain out of messages.
extension Connection {
  /// Refuses a URI of which libpq would take a part of the password for the host, and one that it
  /// would take for a name: a misspelt one as the target, or one in
  /// PGDATABASE or PGHOST that the target does not override. Libpq and the server repeat names in
  /// their messages, and such a name may contain the password.
  static func refuseMisplacedURI(_ target: String) throws(PostgresError) {
    // Libpq ends the password at the first @ and takes the rest of it for a part of the host.
    if let scheme = target.firstRange(of: "://") {
      let authority = target[scheme.upperBound...].prefix { !"/? ".contains($0) }
      if authority.count(where: { $0 == "@" }) > 1 {
        throw .cannotConnect("the URI has more than one @: an @ in a password is written %40")
      }
    }
    guard !target.hasPrefix("postgresql://"), !target.hasPrefix("postgres://") else { return }
    let isName = !target.isEmpty && !target.contains("=")
    if isName, target.contains("/") || target.contains("@") {
      throw .cannotConnect(
        "the target is no URI, which begins with postgresql://, and has no keywords such as dbname=fuel"
      )
    }
    for (variable, keyword) in [("PGDATABASE", "dbname"), ("PGHOST", "host")] {
      let isOverridden = target.contains(keyword) || (isName && keyword == "dbname")
      guard !isOverridden, let value = getenv(variable), String(cString: value).contains("://")
      else { continue }
      throw .cannotConnect("\(variable) takes a name and no URI: --db or BOWSER_DATABASE takes one")
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
