import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A connection pooler before the test server, on a loopback port. Like real poolers it reports
/// process numbers of its own.
///
/// Clients that share a session must not send at the same time.
package final class Pooler: Sendable {
  /// Whether all clients use one session of the server in turns, as in transaction mode. Otherwise
  /// each client has a session of its own.
  private let isShared: Bool
  private let listener: Int32
  private let isShut = Atomic<Bool>(false)
  package let port: Int

  /// A session of the server.
  private final class Session {
    let socket: Int32
    /// The client whose statement the server is answering.
    var client: Int32
    /// What the server sent when the session began, as clients get it.
    var greeting: [UInt8] = []
    var isReady = false

    init(_ socket: Int32, client: Int32) {
      self.socket = socket
      self.client = client
    }
  }

  package init(isShared: Bool) throws {
    self.isShared = isShared
    let (listener, port) = try listenOnLoopback()
    self.listener = listener
    self.port = port
    Thread.detachNewThread { self.serve() }
  }

  /// Returns a libpq target that leads through the pooler.
  package func target(_ target: String) -> String {
    loopbackTarget(target, port: port)
  }

  /// Closes the pooler and all connections through it.
  package func close() {
    isShut.store(true, ordering: .relaxed)
  }

  private func serve() {
    var sessions: [Session] = []
    /// The session of each client; `nil` before its first message.
    var clients: [Int32: Session?] = [:]
    while !isShut.load(ordering: .relaxed) {
      let sockets = [listener] + clients.keys + sessions.map(\.socket)
      var waiting = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&waiting, nfds_t(waiting.count), 50) > 0 else { continue }
      for ready in waiting where ready.revents != 0 {
        if ready.fd == listener {
          let client = accept(listener, nil, nil)
          if client >= 0 { clients.updateValue(nil, forKey: client) }
        } else if let session = sessions.first(where: { $0.socket == ready.fd }) {
          if !answer(from: session) { return end(clients.keys, sessions) }
        } else if let known = clients[ready.fd] {
          let bytes = receive(ready.fd)
          // A client that ends says so with an X. That is not for the session, which goes on.
          guard let first = bytes.first, known == nil || first != UInt8(ascii: "X") else {
            clients[ready.fd] = nil
            Glibc.close(ready.fd)
            continue
          }
          guard let session = known ?? (isShared ? sessions.first : nil) else {
            guard let socket = connectToTestServer() else { return end(clients.keys, sessions) }
            let session = Session(socket, client: ready.fd)
            sessions.append(session)
            clients.updateValue(session, forKey: ready.fd)
            send(bytes, to: socket)
            continue
          }
          session.client = ready.fd
          if known == nil {
            // The login of a further client is answered from memory.
            clients.updateValue(session, forKey: ready.fd)
            send(session.greeting, to: ready.fd)
          } else {
            send(bytes, to: session.socket)
          }
        }
      }
    }
    end(clients.keys, sessions)
  }

  /// Passes on what the server sent.
  ///
  /// - Returns: whether the session lives on.
  private func answer(from session: Session) -> Bool {
    let bytes = receive(session.socket)
    guard !bytes.isEmpty else { return false }
    guard !session.isReady else {
      send(bytes, to: session.client)
      return true
    }
    // A greeting is passed on when it is complete, with another process number.
    session.greeting += bytes
    var place = 0
    while place + 5 <= session.greeting.count {
      let length = session.greeting[(place + 1)..<(place + 5)].reduce(0) { $0 << 8 | Int($1) }
      guard place + 1 + length <= session.greeting.count else { return true }
      switch session.greeting[place] {
      case UInt8(ascii: "K"):
        session.greeting.replaceSubrange((place + 5)..<(place + 9), with: [0x7F, 0, 0, 1])
      case UInt8(ascii: "Z"), UInt8(ascii: "E"):
        session.isReady = true
        send(session.greeting, to: session.client)
      default: break
      }
      place += 1 + length
    }
    return true
  }

  private func receive(_ socket: Int32) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(socket, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }

  private func send(_ bytes: [UInt8], to socket: Int32) {
    var sent = 0
    while sent < bytes.count {
      let written = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return }
      sent += written
    }
  }

  private func end(_ clients: some Sequence<Int32>, _ sessions: [Session]) {
    for socket in [listener] + clients + sessions.map(\.socket) { Glibc.close(socket) }
  }
}
