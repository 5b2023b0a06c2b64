/// A fault between this program and PostgreSQL.
package enum PostgresError: Error, Equatable, CustomStringConvertible {
  /// No connection could be made. The message is that of libpq, without the quotations from a
  /// connection string that libpq cannot read: they may contain a part of the password.
  case cannotConnect(String)
  /// The connection broke. Committed work stays; the server rolls open transactions back.
  case connectionLost(String)
  /// The server did not answer in time. The session is not usable any more, and the server rolls
  /// its open transaction back.
  case deadline(seconds: Int, waitingFor: String, blocker: String?)
  /// The server refused a statement.
  case refused(sqlState: String, message: String, detail: String?)
  /// The server follows another server and accepts no writes.
  case standby
  /// The settings of the login or the database make it read-only.
  case readOnly
  /// The login is no member of the role that a command takes.
  case mayNotBecome(role: String, login: String)
  /// The database, or a pooler before it, is set up in a way that this program cannot work with.
  case unfit(String)
  /// A result did not have the shape that the program expects.
  case unexpectedResult(String)

  package var sqlState: String? {
    if case .refused(let state, _, _) = self { return state }
    return nil
  }

  /// Whether the session is gone, so that the outcome of the last statement is unknown.
  var isLost: Bool {
    switch self {
    case .connectionLost, .deadline: true
    default: false
    }
  }

  /// Whether the server cannot write or read its own files: its disk is full or failing, or its
  /// data are damaged. No later start mends that.
  package var isOfStorage: Bool {
    switch self {
    case .refused(let state, _, _): Self.isOfStorage(state)
    case .cannotConnect(let message), .connectionLost(let message):
      ["No space left on device", "Disk quota exceeded", "Input/output error"].contains {
        message.contains($0)
      }
    default: false
    }
  }

  // 53100 is a full disk, class 58 a fault of the server's system, and XX001 and XX002 mean data
  // and indexes that are damaged.
  private static func isOfStorage(_ state: String) -> Bool {
    ["53100", "XX001", "XX002"].contains(state) || state.hasPrefix("58")
  }

  /// Whether the same work may succeed later although nobody changes anything: after a lost
  /// connection, lack of resources, a serialisation failure, a shutdown, or a lock of another
  /// session.
  package var mayHeal: Bool {
    switch self {
    case _ where isOfStorage: false
    // A standby accepts writes once it has become the primary server.
    case .connectionLost, .deadline, .standby: true
    case .cannotConnect: !isLoginRefused && !isMisconfigured
    case .unexpectedResult, .readOnly, .unfit, .mayNotBecome: false
    case .refused(let state, _, _):
      ["08", "53", "40"].contains(state.prefix(2)) || state.hasPrefix("57P0")
        || ["55P03", "57014", "25P03"].contains(state)
    }
  }

  /// Whether another transaction was in the way, by a deadlock or by a lock held for too long.
  package var isBlocked: Bool { ["40P01", "55P03"].contains(sqlState) }

  // What is wrong with a connection that failed. libpq reports it only as text.
  private enum Meaning {
    case loginRefused, targetMalformed, serverUnfound, unknownDatabase
  }
  private typealias MeaningRow = (words: [String], meaning: Meaning?, advice: String?)

  // A text has a meaning if it contains all words of a row. The words of refused logins and unknown
  // databases are the server's own. A server with messages in another language falls through to
  // "try again", which does little harm.
  // A row without a meaning has advice only: the server may come up, so the next run tries again.
  private static let meanings: [MeaningRow] = {
    let password = "libpq reads the password from PGPASSWORD or ~/.pgpass"
    let another = "--db, 'database' in bowser.json5, PGHOST or PGPORT names another server"
    return [
      (["password authentication failed"], .loginRefused, password),
      (["authentication failed"], .loginRefused, nil),
      (["no password supplied"], .loginRefused, password),
      (["pg_hba.conf"], .loginRefused, nil),
      (["is not permitted to log in"], .loginRefused, nil),
      (["role \"", "does not exist"], .loginRefused, "--db or PGUSER names another login"),
      (
        ["database \"", "does not exist"], .unknownDatabase,
        "--db or PGDATABASE names another one; bowser setup creates it"
      ),
      (
        ["invalid connection option"], .targetMalformed,
        "the names are libpq's, such as host, port, dbname and user"
      ),
      (
        ["missing \"", "in connection info string"], .targetMalformed,
        "a setting is written keyword=value, and a value with a blank in it 'value'"
      ),
      (["invalid URI"], .targetMalformed, nil),
      (
        ["unexpected character \""], .targetMalformed, "an IPv6 address in a URI stands in brackets"
      ),
      (["when looking for matching \""], .targetMalformed, "an IPv6 address ends with ]"),
      (["key/value separator \""], .targetMalformed, nil),
      ([" in URI"], .targetMalformed, nil),
      (["more than one @"], .targetMalformed, nil),
      (["invalid port number"], .targetMalformed, "PGPORT or --db sets it"),
      (["invalid integer value"], .targetMalformed, "--db or its PG variable sets it"),
      (
        ["invalid sslmode value"], .targetMalformed,
        "PGSSLMODE or --db sets it: disable, allow, prefer, require, verify-ca or verify-full"
      ),
      (
        ["invalid target_session_attrs value"], .targetMalformed,
        "PGTARGETSESSIONATTRS or --db sets it: any or read-write"
      ),
      (["could not match", "port numbers"], .targetMalformed, "PGPORT, PGHOST or --db sets them"),
      (["could not parse network address"], .targetMalformed, "PGHOSTADDR or --db sets it"),
      (["invalid command-line argument"], .serverUnfound, "PGOPTIONS or --db sets it"),
      (["FATAL:  --", "requires a value"], .serverUnfound, "PGOPTIONS or --db sets it"),
      (["unterminated quoted string"], .targetMalformed, nil),
      (["invalid percent-encoded token"], .targetMalformed, nil),
      (["forbidden value"], .targetMalformed, nil),
      (["no URI"], .targetMalformed, nil),
      (
        ["definition of service"], .serverUnfound,
        "PGSERVICE or --db names a section of ~/.pg_service.conf"
      ),
      (["service file \""], .serverUnfound, nil),
      (["server does not support SSL"], .serverUnfound, "PGSSLMODE or --db asks for it"),
      (["root certificate file"], .serverUnfound, nil),
      (["certificate verify failed"], .serverUnfound, nil),
      (["does not match host name"], .serverUnfound, nil),
      (["invalid value for parameter"], .serverUnfound, "PGOPTIONS or --db sets it"),
      (["unrecognized configuration parameter"], .serverUnfound, "PGOPTIONS or --db sets it"),
      (["on socket", "Permission denied"], nil, "this user may not open the socket"),
      (["on socket", "No such file"], nil, another),
      (["could not translate host name"], nil, another),
      (["Connection refused"], nil, another),
    ]
  }()

  private static func rows(for message: String) -> [MeaningRow] {
    meanings.filter { row in row.words.allSatisfy { message.contains($0) } }
  }

  private func means(_ meaning: Meaning) -> Bool {
    guard case .cannotConnect(let message) = self else { return false }
    return Self.rows(for: message).contains { $0.meaning == meaning }
  }

  /// Whether the server was reached but refuses the login: wrong password, unknown role, missing
  /// right.
  package var isLoginRefused: Bool {
    if case .mayNotBecome = self { return true }
    return means(.loginRefused) || sqlState?.hasPrefix("28") == true || sqlState == "42501"
  }

  /// Whether the connection string is malformed.
  package var isTargetMalformed: Bool { means(.targetMalformed) }

  /// Whether the settings of libpq lead to no server that accepts them, or that they accept: a
  /// service that no file defines, TLS that the server does not offer, a certificate that does not
  /// prove the server, or a setting that the server does not have.
  package var isServerUnfound: Bool { means(.serverUnfound) }

  /// Whether somebody has to change the setup of the login or the database.
  package var isMisconfigured: Bool {
    switch self {
    case .readOnly, .unfit: true
    default:
      isUnknownDatabase || isTargetMalformed || isServerUnfound
        || sqlState?.hasPrefix("42P") == true
    }
  }

  /// Whether the named database does not exist.
  package var isUnknownDatabase: Bool { means(.unknownDatabase) || sqlState == "3D000" }

  /// What leads to another server, login or database than the one of which libpq says only that it
  /// cannot be used.
  private static func advice(on message: String) -> String {
    rows(for: message).lazy.compactMap(\.advice).first.map { " (\($0))" } ?? ""
  }

  package var description: String {
    switch self {
    case .cannotConnect(let message):
      "cannot connect to the database: \(message)" + Self.advice(on: message)
    case .connectionLost(let message): "the database connection was lost: \(message)"
    case .deadline(let seconds, let statement, let blocker):
      "the deadline of \(seconds) s passed while waiting for the database: \(statement)"
        + (blocker.map { " (\($0))" } ?? "")
    case .refused(let state, let message, let detail):
      "the database refused (\(state)): \(message)" + (detail.map { " (\($0))" } ?? "")
        + advice(state, message)
    case .standby:
      "this database is a standby, which accepts no writes: connect to the primary server, or promote this one"
    case .readOnly:
      "this login or database is set to read only (default_transaction_read_only), but bowser has to write"
    case .mayNotBecome(let role, let login):
      "the login \(login) is no member of \(role): run GRANT \(role) TO \"\(login)\", see Roles in "
        + "docs/operating.md"
    case .unfit(let why): why
    case .unexpectedResult(let what): "unexpected answer from the database: \(what)"
    }
  }

  /// Who can do what was refused for lack of rights, and what shows which part of the schema is
  /// gone. The rules by which no role may bend what is stored refuse with 42501 too, in words of
  /// their own.
  private func advice(_ state: String, _ message: String) -> String {
    // All SQL is this program's own, so a name of the schema that is unknown ought to be there.
    if ["42P01", "42883"].contains(state), message.contains(/\bfuel(_v1)?\./) {
      return "; bowser migrate verify says what the schema lacks"
    }
    if state == "53100" { return "; the disk of the database server is full: free space on it" }
    if Self.isOfStorage(state) {
      return "; the database server cannot use its own files: its log and its disk say why"
    }
    guard state == "42501" else { return "" }
    for right in ["CREATEROLE", "CREATEDB"]
    where message.contains(right) || right == "CREATEDB" && message.contains("create database") {
      return "; a superuser grants it: ALTER ROLE this_login \(right)"
    }
    guard message.hasPrefix("permission denied") else { return "" }
    return
      "; bowser migrate and setup need the owner, jobs a member of fuel_writer, readers one of "
      + "fuel_reader, see Roles in docs/operating.md; after a restore without privileges bowser migrate "
      + "grants them again"
  }
}
