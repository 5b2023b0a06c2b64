import Foundation

/// A private cluster in a folder of its own, as in a checkout.
final class Cluster {
  let folder: String
  let target: String
  /// Where the server keeps its data and its socket.
  let home: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(
      atPath: folder + "/.bowser", withIntermediateDirectories: true)
    // Its server runs as a user of its own where we are root.
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

  /// Ends the server as a power cut does, and starts it again.
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
    // What the server inherits of ours would keep us waiting for its end.
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
    // It may lie elsewhere.
    try? FileManager.default.removeItem(
      at: URL(filePath: folder + "/.bowser/cluster").resolvingSymlinksInPath())
    try? FileManager.default.removeItem(atPath: folder)
  }
}
