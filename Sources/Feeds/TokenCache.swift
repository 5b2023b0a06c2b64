import Configuration
import Foundation
import FuelModel
import Glibc

/// Keeps a provider's token for later runs, in a file that only its owner can read. The file is
/// written under another name and renamed, so that two writers never leave a partial file.
///
/// Any irregularity of the file (another owner, damage, an expired token, other keys) means that
/// there is no token. The text of a token is stored nowhere else.
package struct TokenCache: Sendable {
  private let folder: String?

  /// - Parameter folder: created when first needed; `nil` means that nothing is kept.
  package init(folder: String?) { self.folder = folder }

  /// Returns the folder for tokens: the configured one, that of systemd, that of XDG, or one in the
  /// home directory.
  package static func folder(configured: String, environment: [String: String]) -> String? {
    if !configured.isEmpty { return configured }
    if let folder = environment["STATE_DIRECTORY"], !folder.isEmpty { return folder }
    if let folder = environment["XDG_STATE_HOME"], !folder.isEmpty { return folder + "/bowser" }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return home + "/.local/state/bowser"
  }

  /// Makes a folder for tokens where there is none. Returns why none can be kept there; `nil` where
  /// they can.
  package static func obstacle(in folder: String) -> String? {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      let isThere = FileManager.default.fileExists(atPath: folder)
      return "\(folder) \(isThere ? "is no folder" : "cannot be created")"
    }
    return FileManager.default.isWritableFile(atPath: folder) ? nil : "\(folder) cannot be written"
  }

  private struct Entry: Codable {
    var keys: String
    var expires: Int64
    var headers: [String: String]
  }

  /// Returns the authority that is kept for an account, if it lasts five more minutes and at most a
  /// week.
  func load(_ account: String, keys: [String: Secret], at now: Instant) -> Authority? {
    guard let folder else { return nil }
    let descriptor = open("\(folder)/\(account).token", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid(), status.st_mode & 0o077 == 0
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return nil }
    // A file that cannot be read is replaced after the next exchange.
    guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(bytes[..<count])),
      entry.keys == Self.mark(keys), entry.expires > (now + .seconds(300)).seconds,
      entry.expires < (now + .seconds(7 * 86_400)).seconds
    else { return nil }
    return Authority(headers: entry.headers, expiresAt: Instant(seconds: entry.expires))
  }

  /// Keeps an authority. Where the folder cannot be written, each run costs one more exchange.
  func save(_ authority: Authority, _ account: String, keys: [String: Secret]) {
    guard let folder, let expiresAt = authority.expiresAt else { return }
    let entry = Entry(
      keys: Self.mark(keys), expires: expiresAt.seconds, headers: authority.headers)
    guard let data = try? JSONEncoder().encode(entry), Self.obstacle(in: folder) == nil else {
      return
    }
    let unfinished = "\(folder)/.\(account).\(UUID().uuidString)"
    let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    let written = data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    if written != data.count || rename(unfinished, "\(folder)/\(account).token") != 0 {
      unlink(unfinished)
    }
  }

  func forget(_ account: String) {
    guard let folder else { return }
    unlink("\(folder)/\(account).token")
  }

  /// Returns a number that distinguishes one set of keys from another. It need not be a secure
  /// digest: the same file contains the token itself, and only its owner can read it.
  private static func mark(_ keys: [String: Secret]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for (name, secret) in keys.sorted(by: { $0.key < $1.key }) {
      for byte in "\(name)=\(secret.reveal())\n".utf8 {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      }
    }
    return String(hash, radix: 16)
  }
}
