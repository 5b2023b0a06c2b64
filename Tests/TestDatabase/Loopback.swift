import Foundation
import Postgres

#if canImport(Glibc)
  import Glibc
#endif

/// Listens on a free loopback port.
///
/// - Throws: `PostgresError.cannotConnect` where no port is available.
func listenOnLoopback() throws -> (listener: Int32, port: Int) {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isListening = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      bind(listener, address, length) == 0 && listen(listener, 64) == 0
        && getsockname(listener, address, &length) == 0
    }
  }
  guard isListening else { throw PostgresError.cannotConnect("no port for the proxy") }
  return (listener, Int(UInt16(bigEndian: address.sin_port)))
}

/// Connects to the test server, which the environment names.
///
/// - Returns: the socket, or `nil` where the server does not accept the connection.
func connectToTestServer() -> Int32? {
  let environment = ProcessInfo.processInfo.environment
  let server = "\(environment["PGHOST"] ?? "")/.s.PGSQL.\(environment["PGPORT"] ?? "5432")"
  let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(server.utf8)) }
  let result = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard result == 0 else {
    close(upstream)
    return nil
  }
  return upstream
}

/// Returns a libpq target that leads through a loopback port, without encryption.
func loopbackTarget(_ target: String, port: Int) -> String {
  let user = ProcessInfo.processInfo.environment["PGUSER"] ?? NSUserName()
  return "\(target) host=127.0.0.1 port=\(port) user=\(user) sslmode=disable gssencmode=disable"
}
