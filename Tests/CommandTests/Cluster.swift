import Foundation

/// A private PostgreSQL cluster in a folder of its own, made by `config/cluster` as in a checkout.
final class Cluster {
  let folder: String
  let target: String
  /// The folder of the server's data and socket.
  let home: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: folder + "/.bowser", withIntermediateDirectories: true)
    // When the tests run as root, the server runs as another user, who must be able to read these
    // folders.
    for path in [folder, folder + "/.bowser"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder + "/config")
    let ready = try Self.call(folder, ["start"]) && Self.call(folder, ["create", "bowser"])
    guard ready else { throw CocoaError(.fileNoSuchFile) }
    home = URL(filePath: folder + "/.bowser/cluster").resolvingSymlinksInPath().path
    target = "host=\(home)/socket user=bowser dbname=bowser"
  }

  func database(_ name: String) -> String { "host=\(home)/socket user=bowser dbname=\(name)" }

  /// Ends the server without a shutdown, as a power cut does, and starts it again.
  func crash() throws {
    let lines = try String(contentsOfFile: home + "/data/postmaster.pid", encoding: .utf8)
    guard let number = lines.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    kill(number, SIGQUIT)
    for _ in 0..<200 where FileManager.default.fileExists(atPath: home + "/data/postmaster.pid") {
      usleep(50_000)
    }
    guard try call("start") else { throw CocoaError(.fileNoSuchFile) }
  }

  var standby: String { target.replacing("/socket ", with: "/standby/socket ") }

  func call(_ words: String...) throws -> Bool { try Self.call(folder, words) }

  private static func call(_ folder: String, _ words: [String]) throws -> Bool {
    let process = Process()
    // The script closes all inherited files but the standard three. A server that kept one open
    // would make this process wait until the server ends.
    process.executableURL = URL(filePath: "/bin/bash")
    let script = """
      for file in /proc/self/fd/*; do
        number=${file##*/}
        if [ "$number" -gt 2 ]; then eval "exec $number>&-"; fi
      done
      exec "$@"
      """
    process.arguments = ["-c", script, "bash", folder + "/config/cluster"] + words
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  deinit {
    _ = try? call("stop")
    // `.bowser/cluster` may be a symbolic link to a folder elsewhere.
    try? FileManager.default.removeItem(
      at: URL(filePath: folder + "/.bowser/cluster").resolvingSymlinksInPath())
    try? FileManager.default.removeItem(atPath: folder)
  }
}
