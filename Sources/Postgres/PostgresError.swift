/// A fault between this program and PostgreSQL.
package enum PostgresError: Error, Equatable, CustomStringConvertible {
  /// No connection could be made. The message is that of libpq.
  case cannotConnect(String)
  /// Libpq cannot read the connection string or a value in it. The message is that of libpq, without
  /// its quotations: they may contain a part of the password.
  case malformedTarget(String)
  /// The connection broke. Committed work stays; the server rolls open transactions back.
  case connectionLost(String)
  /// The server did not answer in time. The session is not usable any more, and the server rolls
  /// its open transaction back.
  case deadline(seconds: Int, waitingFor: String)
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

  /// The code with which the routines of this program refuse what this database is not set up for.
  private static let unfitState = "BW078"

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
    case .unexpectedResult, .readOnly, .unfit, .mayNotBecome, .malformedTarget: false
    case .refused(let state, _, _):
      ["08", "53", "40"].contains(state.prefix(2)) || state.hasPrefix("57P0")
        || ["55P03", "57014", "25P03"].contains(state)
    }
  }

  /// Whether another transaction was in the way, by a deadlock or by a lock held for too long.
  package var isBlocked: Bool { ["40P01", "55P03"].contains(sqlState) }

  // Libpq reports what is wrong with a connection only as text. The words of refused logins and
  // unknown databases are the server's own. A server with messages in another language falls through
  // to "try again", which does little harm.
  private func says(_ texts: [String]) -> Bool {
    guard case .cannotConnect(let message) = self else { return false }
    return texts.contains { message.contains($0) }
  }

  /// Whether the server was reached but refuses the login: wrong password, unknown role, missing
  /// right.
  package var isLoginRefused: Bool {
    if case .mayNotBecome = self { return true }
    return sqlState?.hasPrefix("28") == true || sqlState == "42501"
      || says([
        "authentication failed", "no password supplied", "pg_hba.conf",
        "is not permitted to log in",
      ]) || says(["role \""]) && says(["does not exist"])
  }

  /// Whether the settings of libpq lead to no server that accepts them, or that they accept: a
  /// service that no file defines, TLS that the server does not offer, a certificate that does not
  /// prove the server, or a setting that the server does not have.
  private var isServerUnfound: Bool {
    says([
      "definition of service", "service file \"", "server does not support SSL",
      "root certificate file", "certificate verify failed", "does not match host name",
      "invalid command-line argument", "requires a value", "invalid value for parameter",
      "unrecognized configuration parameter",
    ])
  }

  /// Whether somebody has to change the setup of the login or the database.
  package var isMisconfigured: Bool {
    switch self {
    case .readOnly, .unfit, .malformedTarget: true
    default:
      isUnknownDatabase || isServerUnfound || sqlState?.hasPrefix("42P") == true
        || sqlState == Self.unfitState
    }
  }

  /// Whether the named database does not exist.
  package var isUnknownDatabase: Bool {
    says(["database \""]) && says(["does not exist"]) || sqlState == "3D000"
  }

  /// What leads to another server, login or database than the one of which libpq says only that it
  /// cannot be used.
  private var advice: String {
    let advice: String? =
      if isUnknownDatabase {
        "--db or PGDATABASE names another one; bowser setup creates it"
      } else if says(["password"]) {
        "libpq reads the password from PGPASSWORD or ~/.pgpass"
      } else if says(["role \""]) {
        "--db or PGUSER names another login"
      } else if says(["No such file", "could not translate host name", "Connection refused"]) {
        "--db, 'database' in bowser.json5, PGHOST or PGPORT names another server"
      } else {
        nil
      }
    return advice.map { " (\($0))" } ?? ""
  }

  package var description: String {
    switch self {
    case .cannotConnect(let message):
      "cannot connect to the database: \(message)" + advice
    case .malformedTarget(let message):
      "cannot connect to the database: \(message) (--db or a PG variable states it: a URI such as "
        + "postgresql://login@host/name, or keywords such as host=db dbname=fuel)"
    case .connectionLost(let message): "the database connection was lost: \(message)"
    case .deadline(let seconds, let statement):
      "the deadline of \(seconds) s passed while waiting for the database (--deadline sets another): \(statement)"
    case .refused(Self.unfitState, let message, _): message
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
    if state == "55P03" {
      return "; another session holds it: SELECT pid, pg_blocking_pids(pid) FROM pg_stat_activity"
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
