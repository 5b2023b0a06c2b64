import Foundation
import Glibc

/// A secret that prints as `***`, so that no log line or error can contain it by accident.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let text: String

  package init(_ text: String) { self.text = text }

  /// Returns the secret itself, for the request that needs it, to mask it in messages, and to tell
  /// one key from another.
  package func reveal() -> String { text }

  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The sources of the secrets of feeds and of receivers of notices: the environment, a file that
/// only its owner can read, or a systemd credential. Secrets never come from the command line or
/// the configuration files.
package struct Secrets: Sendable {
  private let environment: [String: String]

  package init(environment: [String: String]) { self.environment = environment }

  /// Returns the environment variable of a secret: `BOWSER_QLD_FPD_TOKEN` for `qld-fpd` and
  /// `token`.
  package static func variable(feed: String, name: String) -> String {
    "BOWSER_" + "\(feed)_\(name)".uppercased().replacing("-", with: "_")
  }

  /// Returns a secret of a feed from its variable, its file or the credentials of systemd.
  ///
  /// - Throws: where it is missing, stated twice, or readable for others.
  package func find(feed: String, name: String) throws(ConfigurationError) -> Secret {
    let variable = Self.variable(feed: feed, name: name)
    let path = file(of: variable)
    let secret: Secret
    if let text = value(of: variable) {
      // Either could be the one that is out of date.
      if path != nil { throw .secretTwice(variable) }
      secret = try checked(text, what: variable)
    } else if let path {
      secret = try read(path, what: variable + "_FILE")
    } else if let path = credential(feed: feed, name: name) {
      secret = try read(path, what: path)
    } else {
      throw .missingSecret(feed: feed, name: name, variable: variable)
    }
    // The files of systemd and Docker do not treat quotes as a shell does. A person may have chosen
    // a password with quotes.
    let text = secret.reveal()
    if name != "password", let quote = text.first, "'\"".contains(quote), text.count > 1,
      text.last == quote
    {
      throw .unsafeSecret(
        variable, reason: "the secret begins and ends with a quote, which is no part of a key")
    }
    return secret
  }

  /// Returns what a secret comes from: a variable or a credential; `nil` where there is none. It is
  /// a name and no path, because messages with it are kept in the database.
  package func origin(feed: String, name: String) -> String? {
    let variable = Self.variable(feed: feed, name: name)
    if value(of: variable) != nil { return variable }
    if file(of: variable) != nil { return variable + "_FILE" }
    return credential(feed: feed, name: name).map { _ in "the credential \(feed).\(name)" }
  }

  /// An empty variable is one that is not set.
  private func value(of variable: String) -> String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func credential(feed: String, name: String) -> String? {
    guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
    let path = "\(folder)/\(feed).\(name)"
    return access(path, F_OK) == 0 ? path : nil
  }

  /// Returns the path that the `_FILE` variable of a secret names. The units of systemd name the
  /// credentials of all feeds, whether there are any or not: one that was not loaded is no path.
  private func file(of variable: String) -> String? {
    guard let path = value(of: variable + "_FILE") else { return nil }
    guard let folder = environment["CREDENTIALS_DIRECTORY"], path.hasPrefix(folder + "/"),
      access(path, F_OK) != 0
    else { return path }
    return nil
  }

  private func read(_ path: String, what: String) throws(ConfigurationError) -> Secret {
    // The file is opened first and checked by its descriptor, so that the checked file is the one
    // read.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let reason = errno == ELOOP ? "is a symbolic link" : String(cString: strerror(errno))
      throw .unsafeSecret(what, reason: "the file cannot be read: \(reason)")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unsafeSecret(what, reason: "is not an ordinary file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .unsafeSecret(what, reason: "the file belongs to another user")
    }
    // systemd grants the service's user access to its credentials by an ACL, which the mode shows
    // as rights of the group.
    let isCredential =
      status.st_uid == 0
      && environment["CREDENTIALS_DIRECTORY"].map { path.hasPrefix($0 + "/") } ?? false
    guard status.st_mode & (isCredential ? 0o037 : 0o077) == 0 else {
      throw .unsafeSecret(what, reason: "others can read the file: chmod 600")
    }
    var bytes = [UInt8](repeating: 0, count: 4_097)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0, count <= 4_096, let text = String(validating: bytes[..<count], as: UTF8.self)
    else { throw .unsafeSecret(what, reason: "the file is not a text of at most 4,096 bytes") }
    return try checked(text, what: what)
  }

  private func checked(_ text: String, what: String) throws(ConfigurationError) -> Secret {
    // Editors end files with a line break, which is not part of the secret.
    let trimmed = text.hasSuffix("\n") ? String(text.dropLast()) : text
    guard !trimmed.isEmpty else { throw .unsafeSecret(what, reason: "the secret is empty") }
    guard trimmed.unicodeScalars.allSatisfy({ (0x21...0x7E).contains($0.value) }) else {
      throw .unsafeSecret(what, reason: "the secret contains blanks or control characters")
    }
    return Secret(trimmed)
  }
}
