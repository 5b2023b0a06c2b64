import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A proxy to the test server on a loopback port. At a message chosen in advance it stops passing
/// data, breaks the connection, or loses an answer.
///
/// It counts messages from clients over all of their sessions. A message is what arrives in one
/// read.
package final class Proxy: Sendable {
  /// What happens at the chosen message.
  package enum Fault: Sendable, CaseIterable {
    /// Nothing passes any more in either direction, and neither side is notified.
    case stops
    /// The message is lost, and both sides see the connection break.
    case drops
    /// The message reaches the server; its answer is lost with the connection.
    case losesTheAnswer
  }

  private struct State {
    var seen = 0
    var commits = 0
    var links: [Link] = []
    var isStopped = false
    var isShut = false
  }

  /// The sockets to a client and to the server. They are closed when no thread uses them any more.
  private final class Link: Sendable {
    let client: Int32
    let server: Int32

    init(client: Int32, server: Int32) {
      self.client = client
      self.server = server
    }

    deinit {
      Glibc.close(client)
      Glibc.close(server)
    }

    func cut() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }
  }

  private let state = Mutex(State())
  private let listener: Int32
  private let fault: Fault
  private let message: Int?
  private let commit: Int?
  package let port: Int

  /// Opens the proxy.
  ///
  /// - Parameters:
  ///   - message: the number of the message at which the fault happens, counted from 1; `nil`:
  ///     none.
  ///   - commit: the number of the COMMIT at which the fault happens, counted from 1; `nil`: none.
  /// - Throws: `PostgresError.cannotConnect` where no port is available.
  package init(_ fault: Fault, atMessage message: Int? = nil, atCommit commit: Int? = nil) throws {
    self.fault = fault
    self.message = message
    self.commit = commit
    let (listener, port) = try listenOnLoopback()
    self.listener = listener
    self.port = port
    Thread.detachNewThread { self.accept() }
  }

  /// Returns a libpq target that leads through the proxy.
  package func target(_ target: String) -> String {
    loopbackTarget(target, port: port)
  }

  /// The number of messages that clients have sent.
  package var seen: Int { state.withLock { $0.seen } }

  /// The number of COMMITs among them.
  package var commits: Int { state.withLock { $0.commits } }

  /// Closes the proxy and all connections through it.
  package func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { state in
      state.isShut = true
      for link in state.links { link.cut() }
    }
  }

  private func accept() {
    defer { Glibc.close(listener) }
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { return }
      guard let upstream = connectToTestServer() else {
        Glibc.close(client)
        continue
      }
      let link = Link(client: client, server: upstream)
      state.withLock { state in
        state.links.append(link)
        if state.isShut { link.cut() }
      }
      for isClient in [true, false] {
        Thread.detachNewThread { self.pass(over: link, isClient: isClient) }
      }
    }
  }

  private enum Fate {
    case pass
    case stop
    case drop
    case passAndDrop
  }

  private func fate(of bytes: ArraySlice<UInt8>) -> Fate {
    state.withLock { state in
      state.seen += 1
      let isCommit = bytes.count >= 12 && bytes.dropFirst(5).starts(with: Array("COMMIT\0".utf8))
      if isCommit { state.commits += 1 }
      guard state.seen == message || (isCommit && state.commits == commit) else { return .pass }
      switch fault {
      case .stops:
        state.isStopped = true
        return .stop
      case .drops: return .drop
      case .losesTheAnswer: return .passAndDrop
      }
    }
  }

  private func pass(over link: Link, isClient: Bool) {
    let (source, sink) = isClient ? (link.client, link.server) : (link.server, link.client)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    defer {
      link.cut()
      state.withLock { state in state.links.removeAll { $0 === link } }
    }
    while true {
      let count = read(source, &buffer, buffer.count)
      guard count > 0 else { return }
      while state.withLock({ $0.isStopped && !$0.isShut }) && !isClient { usleep(50_000) }
      let fate = isClient ? fate(of: buffer[..<count]) : .pass
      switch fate {
      case .pass: break
      case .stop:
        // Neither side is notified. The connection to the server stays open, as in a network that
        // fails silently.
        while !state.withLock({ $0.isShut }) { usleep(50_000) }
        return
      case .drop: return
      case .passAndDrop:
        // The connection to the client is cut before the server receives the message, so that the
        // answer is lost.
        shutdown(source, Int32(SHUT_RDWR))
      }
      var sent = 0
      while sent < count {
        let written = buffer.withUnsafeBytes {
          send(sink, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { return }
        sent += written
      }
      if case .passAndDrop = fate {
        usleep(300_000)
        return
      }
    }
  }
}
