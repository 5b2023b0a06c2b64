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
  /// value may contain quotes, so everything between the first and the last one is replaced. What
  /// is libpq's own stays: the name of a setting, and a sign that it misses.
  static func masked(_ message: String) -> String {
    // Where libpq finds the fault only when it connects, it says first where to.
    if let failed = message.firstRange(of: " failed: "), message.hasPrefix("connection to server") {
      let server = message[..<failed.upperBound]
      return server.replacing(/".*"/, with: "\"***\"")
        + masked(String(message[failed.upperBound...]))
    }
    // libpq quotes the character and what follows, with its own words between them.
    if message.hasPrefix("unexpected character") {
      return "unexpected character in URI behind an IPv6 address"
    }
    let setting = message.firstMatch(of: #/ for connection option "[a-z_]+"$/#).map { $0.output }
    let text = message.dropLast(setting?.count ?? 0)
    guard text.hasPrefix("invalid connection option") else {
      let sign = text.firstMatch(of: /^[^"]*"[=\]]"/)?.output ?? ""
      let rest = text.dropFirst(sign.count).replacing(/"(.*)"/) { quoted in
        names.contains(String(quoted.1)) ? String(quoted.0) : "\"***\""
      }
      return "\(sign)\(rest)\(setting ?? "")"
    }
    if let word = text.firstMatch(of: /"([a-z_]+)"/)?.1, let meant = keyword(meantBy: String(word))
    {
      return "invalid connection option \"\(word)\"; did you mean \(meant)?"
    }
    return "invalid connection option \"***\" "
      + "(the names are libpq's, such as host, port, dbname and user)"
  }

  /// The names of libpq's settings.
  private static let names: Set<String> = {
    guard let options = PQconndefaults() else { return [] }
    defer { PQconninfoFree(options) }
    return Set(
      sequence(first: options) { $0 + 1 }.lazy.prefix { $0.pointee.keyword != nil }
        .map { String(cString: $0.pointee.keyword) })
  }()

  // Keywords of libpq, and other words that people take for them.
  private static let keywords = [
    "db": "dbname", "database": "dbname", "dbname": "dbname", "name": "dbname",
    "hostname": "host", "server": "host", "hostaddr": "hostaddr", "username": "user",
    "login": "user", "password": "password", "passwd": "password", "passfile": "passfile",
    "service": "service", "options": "options", "sslmode": "sslmode", "sslcert": "sslcert",
    "sslkey": "sslkey", "sslrootcert": "sslrootcert", "connect_timeout": "connect_timeout",
    "application_name": "application_name", "target_session_attrs": "target_session_attrs",
  ]

  /// Returns the keyword that a word means: one that people take for it, or one with a slip; `nil`
  /// where it is similar to none. Any other word may be a part of a password with a blank in it.
  private static func keyword(meantBy word: String) -> String? {
    func isSlip(_ known: String) -> Bool {
      let (one, other) = (Array(word), Array(known))
      let head = zip(one, other).prefix { $0 == $1 }.count
      let ends = (one.dropFirst(head), other.dropFirst(head))
      let tail = zip(ends.0.reversed(), ends.1.reversed()).prefix { $0 == $1 }.count
      let (left, right) = (Array(ends.0.dropLast(tail)), Array(ends.1.dropLast(tail)))
      return left.count <= 1 && right.count <= 1
        || left.count == 2 && left == Array(right.reversed())
    }
    if let meant = keywords[word] { return meant }
    // In a short word one slip is a large part of it.
    return keywords.keys.sorted().first { $0.count > 5 && isSlip($0) }.flatMap { keywords[$0] }
  }
}
