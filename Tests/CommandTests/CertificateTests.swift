import Foundation
import FuelModel
import Simulator
import TestDatabase
import Testing

/// Runs against HTTPS servers whose certificates come from an authority of the test.
///
/// The program trusts the authorities of the system and no others. So each run sees, in a mount
/// namespace of its own, a file of authorities that names the test's authority. Without that, every
/// certificate would be refused for its unknown authority, and nothing else of it would be tested.
struct CertificateTests {
  private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

  /// How a program gets a mount namespace of its own. Root needs no other user for that, and would
  /// lose its access to the folders of others.
  private static let unshare = ["unshare", getuid() == 0 ? "-m" : "-rm"]

  /// Whether runs can get another file of authorities here.
  static let mayTrust: Bool = {
    guard FileManager.default.fileExists(atPath: authorities) else { return false }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = unshare + ["mount", "--bind", "/dev/null", authorities]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// Makes an authority, and certificates for `localhost`, for another host, and for `localhost` in
  /// the year 2020.
  private static let makeCertificates = """
    set -e
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=an authority" \\
      -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key -out request
    printf 'subjectAltName=DNS:localhost' >names.valid
    printf 'subjectAltName=DNS:feed.example' >names.other
    for name in valid other; do
      openssl x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 \\
        -extfile names.$name -out $name.crt
    done
    touch index
    printf '%s\\n' '[ca]' 'default_ca = here' '[here]' 'database = index' 'rand_serial = yes' \\
      'new_certs_dir = .' 'default_md = sha256' 'policy = any' '[any]' 'commonName = supplied' \\
      >ca.cnf
    openssl ca -batch -config ca.cnf -notext -cert ca.crt -keyfile ca.key \\
      -startdate 20200101000000Z -enddate 20200201000000Z \\
      -extfile names.valid -in request -out expired.crt
    """

  /// F-H21, F-H22: a certificate that has expired, and one for another host, are refused although
  /// the system trusts their authority. The run ends with 69, and the message names the cause. The
  /// page of the server with a valid certificate arrives, and is refused for what it is.
  @Test(
    .enabled(if: mayTrust, "needs user namespaces, and \(authorities)"),
    arguments: [
      ("valid", 65, "an HTML page"), ("expired", 69, "certificate has expired"),
      ("other", 69, "subject name"),
    ] as [(String, Int32, String)])
  func certificatesAreChecked(name: String, code: Int32, words: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let made = try await tool("sh", ["-c", "cd '\(folder)'\n\(Self.makeCertificates)"])
    try #require(made.code == 0, "\(made.err)")
    let free = try Server { _ in .text(200, "") }
    let port = free.port
    free.stop()
    let server = Process()
    server.executableURL = URL(filePath: "/usr/bin/env")
    server.arguments = [
      "openssl", "s_server", "-www", "-accept", "127.0.0.1:\(port)", "-key", "\(folder)/key",
      "-cert", "\(folder)/\(name).crt",
    ]
    let said = Pipe()
    server.standardInput = FileHandle.nullDevice
    server.standardOutput = said
    server.standardError = FileHandle.nullDevice
    try server.run()
    // It has inherited blocked signals, so that it would outlive SIGTERM.
    defer { kill(server.processIdentifier, SIGKILL) }
    // The server says ACCEPT when it listens.
    var heard = ""
    while !heard.contains("ACCEPT") {
      let piece = said.fileHandleForReading.availableData
      try #require(!piece.isEmpty, "openssl s_server does not listen: \(heard)")
      heard += String(decoding: piece, as: UTF8.self)
    }
    try await TestDatabase.with { target in
      let user = ProcessInfo.processInfo.environment["PGUSER"] ?? NSUserName()
      let process = CommandTests.process(
        ["ingest", "wa-fuelwatch", "--now", "\(WorkerProcessTests.now)"], "\(target) user=\(user)",
        [
          "BOWSER_ALLOW_LOOPBACK": "true", "BOWSER_ATTEMPTS": "1",
          "BOWSER_WA_FUELWATCH_URL": "https://localhost:\(port)",
        ])
      let program = process.executableURL?.path ?? ""
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments =
        Self.unshare + [
          "sh", "-c", "mount --bind \"$0\" \(Self.authorities) && exec \"$@\"",
          "\(folder)/ca.crt", program,
        ] + (process.arguments ?? [])
      let result = try await finished(process)
      #expect(result.code == code, "\(result)")
      #expect(result.err.contains(words), "\(result.err)")
    }
  }
}
