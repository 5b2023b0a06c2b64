import Dispatch
import Foundation
import Glibc
import Synchronization

/// A small HTTP/1.1 server on the loopback interface, with one request per connection. The handler
/// determines every answer, byte by byte if necessary, so that the server can simulate both sound
/// and broken feeds.
package final class Server: Sendable {
  /// The request of a client.
  package struct Request: Sendable {
    package var method: String
    /// The decoded path without the query.
    package var path: String
    package var query: [String: String]
    /// Header values by name in lower case.
    package var headers: [String: String]
    package var body: [UInt8]
  }

  /// How the server answers a request.
  package enum Answer: Sendable {
    case text(Int, String, type: String = "application/json", headers: [String: String] = [:])
    /// Writes the parts as they are, status line included, with a pause after each part. Then
    /// closes the connection.
    case raw([[UInt8]], pauseMilliseconds: Int = 0)
    /// Sends nothing for a while. Then closes the connection.
    case silence(seconds: Double)
  }

  package let port: Int
  private let listener: Int32
  private let handler: @Sendable (Request) -> Answer
  private let isStopped = Atomic<Bool>(false)

  /// The server cannot listen.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Listens on 127.0.0.1 at once. Port 0 selects any free port.
  package init(port: Int = 0, handler: @escaping @Sendable (Request) -> Answer) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    guard bound else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw Failure(description: "cannot listen on 127.0.0.1:\(port): \(reason)")
    }
    listener = descriptor
    self.port = Int(UInt16(bigEndian: address.sin_port))
    self.handler = handler
    let thread = Thread { [self] in acceptLoop() }
    thread.start()
  }

  /// Stops accepting connections.
  package func stop() {
    guard !isStopped.exchange(true, ordering: .relaxed) else { return }
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private func acceptLoop() {
    while !isStopped.load(ordering: .relaxed) {
      let connection = accept(listener, nil, nil)
      if connection < 0 {
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      // Each connection has a thread of its own, since an answer may be a long silence and must not
      // delay the others.
      let thread = Thread { [self] in
        serve(connection)
        close(connection)
      }
      thread.stackSize = 512 * 1024
      thread.start()
    }
  }

  private func serve(_ connection: Int32) {
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard let request = read(connection) else { return }
    switch handler(request) {
    case .text(let status, let body, let type, let extra):
      let bytes = Array(body.utf8)
      var head = "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Answer")\r\n"
      head += "Content-Type: \(type)\r\nContent-Length: \(bytes.count)\r\nConnection: close\r\n"
      for (name, value) in extra { head += "\(name): \(value)\r\n" }
      _ = write(connection, Array((head + "\r\n").utf8) + bytes)
    case .raw(let parts, let pause):
      for part in parts {
        guard write(connection, part) else { return }
        if pause > 0 { usleep(UInt32(pause) * 1000) }
      }
    case .silence(let seconds):
      usleep(UInt32(seconds * 1_000_000))
    }
  }

  private func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8192)
    let end = Array("\r\n\r\n".utf8)
    while bytes.count < 65_536 {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes.append(contentsOf: buffer[..<count])
      if bytes.firstRange(of: end) != nil { break }
    }
    guard let range = bytes.firstRange(of: end) else { return nil }
    let lines = String(decoding: bytes[..<range.lowerBound], as: UTF8.self)
      .split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ")
    guard words.count == 3, let parts = URLComponents(string: String(words[1])) else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    var query: [String: String] = [:]
    for item in parts.queryItems ?? [] { query[item.name] = item.value ?? "" }
    // No client of this project announces more than a megabyte.
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    guard (0...(1 << 20)).contains(length) else { return nil }
    // The last bytes received with the head may already be the beginning of the body.
    var body = Array(bytes[range.upperBound...])
    while body.count < length {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      body.append(contentsOf: buffer[..<count])
    }
    return Request(
      method: String(words[0]), path: parts.path, query: query, headers: headers,
      body: Array(body.prefix(length)))
  }

  private func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let sent = bytes[offset...].withUnsafeBytes { rest in
        // A client that has closed its connection must not end this process by SIGPIPE.
        send(connection, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      offset += sent
    }
    return true
  }
}
