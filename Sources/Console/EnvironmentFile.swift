import Foundation
import Glibc

/// The file from which jobs take their keys and settings: lines `NAME=value`, which a shell and
/// systemd read alike. Only its owner may read it.
///
/// What a person wrote in it stays: missing variables are added at its end, and nothing is changed.
struct EnvironmentFile {
  let path: String
  /// The variables that were added.
  private(set) var added: [String] = []
  /// The variables to which the file gives another value.
  private(set) var other: [String] = []
  /// Whether the file has the settings of a shell that reads the simulator.
  private(set) var servesSimulator = false

  private static let head = """
    # The environment of the jobs of bowser: keys and settings, a NAME=value in each line, for sh and systemd.
    # bowser setup adds the variables of its shell that are missing here. It changes no line.

    """

  /// Makes the file if there is none, and adds the variables that it lacks.
  ///
  /// - Parameters:
  ///   - folder: the folder of the configuration. If the file cannot be there, it is in the folder
  ///     `.config/bowser` of the user.
  ///   - isShared: whether the folder belongs to the installed program, which is no place for keys.
  init(
    beside folder: String, isShared: Bool, environment: [String: String]
  ) throws {
    path = try Self.path(beside: folder, isShared: isShared, environment)
    let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(path) }
    let data = try file.readToEnd() ?? Data()
    let text = String(decoding: data, as: UTF8.self)
    var lines = text.isEmpty ? Self.head : text.hasSuffix("\n") ? "" : "\n"
    for (name, value) in Self.variables(environment) {
      // A key that is both in a variable and in a file is refused.
      guard !value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else {
        throw FileOutput.Failure(
          description: "\(name) contains a line break or another control character, which \(path) "
            + "cannot hold")
      }
      let twin = name.hasSuffix("_FILE") ? String(name.dropLast(5)) : name + "_FILE"
      if let known = Self.value(of: name, in: text) {
        let forms = [value, shellQuoted(value), "'\(value)'", "\"\(value)\""]
        if !forms.contains(known) { other.append(name) }
      } else if Self.value(of: twin, in: text) != nil {
        other.append(twin)
      } else {
        added.append(name)
        lines += "\(name)=\(shellQuoted(value))\n"
      }
    }
    guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
      throw FileOutput.Failure(
        description:
          "\(path) is to hold keys, and belongs to somebody else or can be read by others: "
          + "chown it to yourself, chmod 600 it, and repeat bowser setup")
    }
    servesSimulator = Self.value(of: "BOWSER_ALLOW_LOOPBACK", in: text + lines) != nil
    guard !added.isEmpty || text.isEmpty else { return }
    do {
      try file.write(contentsOf: Data(lines.utf8))
    } catch {
      // Half a line would be half a key.
      ftruncate(descriptor, off_t(data.count))
      throw FileOutput.Failure(
        description: "\(path) was not written: \(error.localizedDescription)")
    }
  }

  private static func path(
    beside folder: String, isShared: Bool, _ environment: [String: String]
  ) throws -> String {
    let beside = folder + "/environment"
    let isThere = access(beside, F_OK) == 0
    if isThere ? access(beside, R_OK | W_OK) == 0 : !isShared && access(folder, W_OK) == 0 {
      return beside
    }
    let home =
      environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
      ?? FileManager.default.homeDirectoryForCurrentUser.path
    let own = home + "/.config/bowser"
    do {
      try FileManager.default.createDirectory(
        atPath: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw FileOutput.Failure(
        description: "\(own) cannot be created: \(error.localizedDescription)")
    }
    return own + "/environment"
  }

  private static func failure(_ path: String) -> FileOutput.Failure {
    .init(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
  }

  /// The variables of a shell that a job needs: those of this program and of proxies.
  /// Where the configuration and the database are is said in the lines for cron.
  private static func variables(_ environment: [String: String]) -> [(String, String)] {
    let proxies = ["https_proxy", "all_proxy", "no_proxy"]
    let others = proxies + proxies.map { $0.uppercased() }
    let elsewhere = ["CONFIG", "DATABASE"] + Variables.ofOthers
    return environment.filter { name, value in
      !value.isEmpty
        && (others.contains(name)
          || name.hasPrefix("BOWSER_") && !elsewhere.contains(String(name.dropFirst(7))))
    }.sorted { $0.key < $1.key }.map { name, value in
      // A job begins in another folder.
      let isPath = ["_FILE", "_FOLDER"].contains { name.hasSuffix($0) } && !value.hasPrefix("/")
      return (name, isPath ? URL(filePath: value).standardizedFileURL.path : value)
    }
  }

  /// Returns what stands behind the name of a variable, in the last line that sets it.
  private static func value(of name: String, in text: String) -> String? {
    for line in text.split(separator: "\n").reversed() {
      let set = line.trimmingPrefix(/\s*(export\s+)?/)
      if set.hasPrefix("\(name)=") { return String(set.dropFirst(name.count + 1)) }
    }
    return nil
  }
}

/// A word quoted for a shell.
func shellQuoted(_ word: String) -> String {
  word.wholeMatch(of: /[A-Za-z0-9_.,:=@\/+-]+/) != nil
    ? word : "'\(word.replacing("'", with: "'\\''"))'"
}
