import Foundation
import HTTP
import Simulator
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The HTTP client against a server that fails as networks do.
struct ClientTests {
  private func client(_ seconds: Int = 5, maxBytes: Int = 1_000_000) -> Client {
    .session(Limits(timeoutSeconds: seconds, maxBodyBytes: maxBytes, allowLoopback: true))
  }

  private func get(_ server: Server, _ path: String = "/", headers: [String: String] = [:])
    -> Request
  {
    Request(url: URL(string: "http://127.0.0.1:\(server.port)\(path)")!, headers: headers)
  }

  private func error(_ body: () async throws(HTTPError) -> Response) async -> HTTPError? {
    do {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  private static func raw(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// A request that ends up in a message shows neither its headers nor its address.
  @Test func requestsPrintWithoutCredentials() {
    let request = Request(
      method: "POST", url: URL(string: "https://feed.example/token?key=canary")!,
      headers: ["Authorization": "Bearer canary"], body: Array("secret=canary".utf8))
    #expect("\(request)" == "POST feed.example")
    #expect(!String(reflecting: request).contains("canary"))
  }

  @Test func aPlainAnswerArrivesWhole() async throws {
    let server = try Server { request in
      .text(200, "\(request.headers["x-test"] ?? "none") \(request.query["a"] ?? "")")
    }
    defer { server.stop() }
    let response = try await client().send(get(server, "/?a=b%20c", headers: ["X-Test": "yes"]))
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "yes b c")
    #expect(response.headers["content-type"] == "application/json")
  }

  /// F-H01: a closed port and a name that does not resolve are reported as faults that may pass.
  @Test func unreachableServersAreTold() async throws {
    let server = try Server { _ in .text(200, "") }
    let port = server.port
    server.stop()
    let refused = await error { () async throws(HTTPError) in
      try await client().send(Request(url: URL(string: "http://127.0.0.1:\(port)/")!))
    }
    #expect(refused?.mayHeal == true)
    let unknown = await error { () async throws(HTTPError) in
      try await client(3).send(Request(url: URL(string: "https://no-such-host.invalid/")!))
    }
    #expect(unknown?.mayHeal == true)
  }

  /// F-H03, F-H04, F-Z03: a server that is silent, trickles or stalls does not delay the end beyond
  /// the deadline. It may answer in time when asked again.
  @Test(arguments: ["silence", "trickle", "stall"])
  func slowAnswersEndAtTheDeadline(kind: String) async throws {
    let server = try Server { _ in
      switch kind {
      case "silence": return .silence(seconds: 6)
      case "trickle":
        let head = Self.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        return .raw([head] + Array(repeating: [0x78], count: 20), pauseMilliseconds: 300)
      default:
        return .raw(
          [Self.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nxxxxx"), []],
          pauseMilliseconds: 5_000)
      }
    }
    defer { server.stop() }
    // Without the client's own deadline each of these would end in another way, or only after
    // seconds.
    let fault = await error { () async throws(HTTPError) in try await client(1).send(get(server)) }
    #expect(fault == .tooSlow(host: "127.0.0.1", seconds: 1))
    #expect(fault?.mayHeal == true)
  }

  /// F-H02: a connection that is never accepted ends at the deadline too.
  @Test func aHangingConnectEndsAtTheDeadline() async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var fillers: [Int32] = []
    defer { for filler in fillers { close(filler) } }
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(listener, pointer, length)
        _ = listen(listener, 0)
        _ = getsockname(listener, pointer, &length)
        // No process accepts connections, so a few of them fill the queue and the next one hangs.
        for _ in 0..<4 {
          let filler = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
          _ = connect(filler, pointer, length)
          fillers.append(filler)
        }
      }
    }
    let port = UInt16(bigEndian: address.sin_port)
    let fault = await error { () async throws(HTTPError) in
      try await client(1).send(Request(url: URL(string: "http://127.0.0.1:\(port)/")!))
    }
    #expect(fault == .tooSlow(host: "127.0.0.1", seconds: 1))
  }

  /// F-H15: a body shorter than announced, truncated chunks and a garbled head are faults that may
  /// pass.
  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwor",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "garbage\r\n\r\n", "",
  ])
  func brokenTransfersAreFaults(answer: String) async throws {
    let server = try Server { _ in .raw([Self.raw(answer)]) }
    defer { server.stop() }
    let fault = await error { () async throws(HTTPError) in try await client(3).send(get(server)) }
    #expect(fault?.mayHeal == true)
  }

  /// F-H18, F-Z05: a body over the limit is stopped, whether it is sent plain or as a small gzip
  /// bomb.
  @Test(arguments: ["plain", "endless", "bomb"])
  func largeBodiesAreStopped(kind: String) async throws {
    let bomb = try Self.gzip(of: 30_000_000)
    #expect(bomb.count < 100_000)
    let server = try Server { _ in
      switch kind {
      case "plain": return .text(200, String(repeating: "x", count: 3_000_000))
      case "endless":
        let head = Self.raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        return .raw([head] + Array(repeating: [UInt8](repeating: 0x78, count: 100_000), count: 400))
      default:
        let head =
          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
        return .raw([Self.raw(head) + bomb])
      }
    }
    defer { server.stop() }
    let fault = await error { () async throws(HTTPError) in
      try await client(20).send(get(server))
    }
    #expect(fault == .tooLarge(host: "127.0.0.1", limit: 1_000_000))
  }

  private static func gzip(of count: Int) throws -> [UInt8] {
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/bin/sh")
    gzip.arguments = ["-c", "head -c \(count) /dev/zero | gzip -9"]
    let pipe = Pipe()
    gzip.standardOutput = pipe
    try gzip.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    gzip.waitUntilExit()
    return [UInt8](data)
  }

  /// F-H13, F-Z04: no redirect is followed, and no credential reaches a second host.
  @Test(arguments: [
    "http://127.0.0.1:PORT/elsewhere", "/relative", "http://localhost:PORT/",
    "https://example.org/",
    "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "", "ftp://example.org/",
  ])
  func redirectsAreRefused(target: String) async throws {
    let seen = Mutex<[String]>([])
    let second = try Server { request in
      seen.withLock { $0.append(request.path) }
      return .text(200, "{}")
    }
    defer { second.stop() }
    for status in [301, 302, 303, 307, 308] {
      let location = target.replacing("PORT", with: String(second.port))
      let first = try Server { _ in
        .text(status, "", headers: location.isEmpty ? [:] : ["Location": location])
      }
      defer { first.stop() }
      let fault = await error { () async throws(HTTPError) in
        try await client().send(get(first, headers: ["Authorization": "Bearer CANARY"]))
      }
      guard case .redirected(_, status, _) = fault else {
        Issue.record("\(status) to \(location): \(String(describing: fault))")
        continue
      }
      #expect(!"\(fault!)".contains("CANARY"))
      if target == "https://example.org/" { #expect("\(fault!)".contains("to example.org;")) }
    }
    #expect(seen.withLock { $0 } == [])
  }

  /// F-Z01: many redirects at once do not end the process.
  @Test func manyRedirectsAtOnceDoNoHarm() async throws {
    let server = try Server { _ in .text(303, "", headers: ["Location": "/again"]) }
    defer { server.stop() }
    let client = client(20)
    let request = get(server)
    let refused = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<300 {
        group.addTask {
          do {
            _ = try await client.send(request)
            return false
          } catch {
            if case HTTPError.redirected = error { return true }
            return false
          }
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(refused == 300)
  }

  /// F-H31: addresses of internal networks are refused in every notation, unless `allowLoopback`
  /// permits a loopback address.
  @Test(arguments: [
    "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://127.1/",
    "https://2130706433/", "https://0x7f000001/", "https://10.0.0.1/", "https://192.168.1.1/",
    "https://172.16.0.1/", "https://169.254.169.254/", "https://[fe80::1]/", "https://[fd00::1]/",
    "https://[::ffff:127.0.0.1]/", "https://0.0.0.0/", "http://example.org/", "ftp://example.org/",
    "https://user:password@example.org/", "https:///", "https://localhost./",
    "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::a00:1]/",
  ])
  func insideAddressesAreRefused(address: String) throws {
    let url = try #require(URL(string: address))
    let fault = #expect(throws: HTTPError.self) { try checkedHost(of: url, allowLoopback: false) }
    #expect(!"\(fault!)".contains("password"))
    if !address.hasPrefix("https://127"), !address.contains("localhost"), !address.contains("::1"),
      !address.contains("2130706433"), !address.contains("0x7f"), !address.contains("0.0.0.0"),
      !address.contains("127.0.0.1"), !address.contains("7f00:1")
    {
      #expect(throws: HTTPError.self) { try checkedHost(of: url, allowLoopback: true) }
    }
  }

  @Test func publicAddressesAreAllowed() throws {
    for address in ["https://api.onegov.nsw.gov.au/x", "https://8.8.8.8/"] {
      let url = try #require(URL(string: address))
      #expect(try checkedHost(of: url, allowLoopback: false) == url.host)
    }
  }

  /// F-Z06, F-H23: a certificate that no trusted authority has signed is refused, and the message
  /// names the certificate as the cause.
  @Test func selfSignedCertificatesAreRefused() async throws {
    let fault = try await tls([])
    #expect(fault?.mayHeal == true)
    #expect(fault?.description.contains("certificate") == true, "\(String(describing: fault))")
  }

  /// Returns the error of a request to a TLS server with a self-signed certificate.
  private func tls(_ options: [String]) async throws -> HTTPError? {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let make = Process()
    make.executableURL = URL(filePath: "/bin/sh")
    make.arguments = [
      "-c",
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost "
        + "-keyout \(folder)/key -out \(folder)/crt 2>/dev/null",
    ]
    try make.run()
    make.waitUntilExit()
    try #require(make.terminationStatus == 0, "openssl is needed for this test")
    let server = Process()
    server.executableURL = URL(filePath: "/usr/bin/env")
    server.arguments =
      [
        "openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-key", "\(folder)/key", "-cert",
        "\(folder)/crt",
      ] + options
    let output = Pipe()
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    try server.run()
    // It has inherited blocked signals, so that it would outlive SIGTERM.
    defer { kill(server.processIdentifier, SIGKILL) }
    // It names the free port that it was given as soon as it accepts connections.
    var said = ""
    while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
      said += String(decoding: more, as: UTF8.self)
      guard let port = said.firstMatch(of: /ACCEPT 127.0.0.1:([0-9]+)\n/)?.1 else { continue }
      return await error { () async throws(HTTPError) in
        try await client(5).send(Request(url: URL(string: "https://127.0.0.1:\(port)/")!))
      }
    }
    Issue.record("openssl s_server accepts no connections")
    return nil
  }

  /// F-H24: a server that offers only an obsolete protocol is refused.
  @Test func oldProtocolsAreRefused() async throws {
    let fault = try await tls(["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
    #expect(fault?.mayHeal == true)
  }

  /// F-H25: a stalled handshake ends at the deadline.
  @Test func aStalledHandshakeEndsAtTheDeadline() async throws {
    let server = try Server { _ in .silence(seconds: 10) }
    defer { server.stop() }
    let fault = await error { () async throws(HTTPError) in
      try await client(1).send(Request(url: URL(string: "https://127.0.0.1:\(server.port)/")!))
    }
    #expect(fault == .tooSlow(host: "127.0.0.1", seconds: 1))
  }

  /// F-H26: when the first of two addresses of a name is dead, the second is tried.
  @Test func theSecondAddressIsTried() async throws {
    let server = try Server { _ in .text(200, "{}") }
    defer { server.stop() }
    // The server listens on 127.0.0.1 only. On machines with IPv6, localhost is also ::1.
    let response = try await client().send(
      Request(url: URL(string: "http://localhost:\(server.port)/")!))
    #expect(response.status == 200)
  }

  /// F-H19: a server may close a connection between two requests although it had kept it open.
  @Test func closedConnectionsAreOpenedAgain() async throws {
    let count = Mutex(0)
    let server = try Server { _ in
      count.withLock { $0 += 1 }
      // The server promises to keep the connection open and closes it.
      let head = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}"
      return .raw([Self.raw(head)])
    }
    defer { server.stop() }
    let client = client()
    for _ in 0..<20 { #expect(try await client.send(get(server)).status == 200) }
    #expect(count.withLock { $0 } == 20)
  }

  /// F-N11: an authentication challenge is an answer like any other. It is returned once, and the
  /// request is not repeated.
  @Test(arguments: [
    "Basic realm=\"apigee\"", "Digest realm=\"x\", nonce=\"a\"", "Bearer error=\"invalid_token\"",
    "Negotiate",
  ])
  func challengesAreAnswers(challenge: String) async throws {
    let asked = Mutex(0)
    let server = try Server { _ in
      asked.withLock { $0 += 1 }
      return .text(401, "no", headers: ["WWW-Authenticate": challenge])
    }
    defer { server.stop() }
    let response = try await client().send(get(server))
    #expect(response.status == 401)
    #expect(asked.withLock { $0 } == 1)
  }

  /// F-N24: two different lengths make an answer invalid, and another attempt would not help. The
  /// same length twice counts as one.
  @Test func twoLengthsAreOneTooMany() async throws {
    let server = try Server { request in
      let second = request.path == "/same" ? 5 : 4
      return .raw([
        Self.raw(
          "HTTP/1.1 200 OK\r\nContent-Length: \(second)\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        )
      ])
    }
    defer { server.stop() }
    let refusal = await error { () async throws(HTTPError) in
      try await client().send(get(server, "/other"))
    }
    #expect(refusal?.isRefusal == true && refusal?.mayHeal == false, "\(refusal.debugDescription)")
    #expect(try await client().send(get(server, "/same")).body == Self.raw("hello"))
  }
}
