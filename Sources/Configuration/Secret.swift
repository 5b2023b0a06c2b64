import Foundation

#if canImport(Glibc)
  import Glibc
#endif

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

  package func find(feed: String, name: String) throws(ConfigurationError) -> Secret {
    let variable = Self.variable(feed: feed, name: name)
    if let text = environment[variable], !text.isEmpty {
      return try checked(text, what: variable)
    }
    if let path = environment[variable + "_FILE"], !path.isEmpty {
      return try read(path, what: variable + "_FILE")
    }
    if let folder = environment["CREDENTIALS_DIRECTORY"] {
      let path = "\(folder)/\(feed).\(name)"
      if access(path, F_OK) == 0 { return try read(path, what: path) }
    }
    throw .missingSecret(feed: feed, name: name, variable: variable)
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
