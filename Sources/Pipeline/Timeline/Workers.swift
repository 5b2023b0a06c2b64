import Dispatch
import Postgres
package import Store
import Synchronization

/// Connections that share work which can be divided into pieces. Their transactions touch the same
/// rows only where they mark days.
package struct Workers {
  /// The caller's own connection.
  package let first: Store
  /// The number of connections. No more of them work at once than this machine has cores.
  package let count: Int
  private let open: () throws -> Store

  /// Creates a group of connections.
  ///
  /// - Parameter open: opens one more connection with the rights of the first.
  package init(_ first: Store, count: Int, open: @escaping () throws -> Store) {
    self.first = first
    self.count = max(1, count)
    self.open = open
  }

  /// Creates a group that consists of the caller's own connection.
  package init(_ store: Store) {
    self.init(store, count: 1) { store }
  }

  // Two pieces, or a piece and an ingest, may wait for each other's marks. The server then ends one
  // of them, which is tried again, up to this many times in all.
  private static let attempts = 5

  /// Lets every connection take pieces of the work until none is left. The first error ends all of
  /// them, each after its present piece.
  ///
  /// - Parameters:
  ///   - pieces: about how many pieces there are. No more connections than that are used.
  ///   - all: how much there is to do.
  ///   - progress: called with how much is done, and with `all`.
  ///   - begin: returns what a connection does with its share, from its store, its number and the
  ///     number of connections: one piece in a transaction of its own. That returns how much the
  ///     piece was; 0: none was left.
  /// - Throws: the first error.
  func run(
    pieces: Int, of all: Int, progress: (Int, Int) -> Void,
    _ begin: (Store, Int, Int) throws -> () throws -> Int
  ) throws {
    var stores = [first]
    while stores.count < min(count, pieces) { stores.append(try open()) }
    // Safe: each step belongs to one thread and uses nothing of the others, and `progress` is only
    // called under the lock.
    nonisolated(unsafe) let steps = try stores.enumerated().map {
      try begin($1, $0, stores.count)
    }
    let state = Mutex((done: 0, error: (any Error)?.none))
    withoutActuallyEscaping(progress) { progress in
      nonisolated(unsafe) let progress = progress
      DispatchQueue.concurrentPerform(iterations: steps.count) { number in
        do {
          while state.withLock({ $0.error == nil }) {
            let count = try Self.patiently(steps[number])
            guard count > 0 else { return }
            state.withLock { state in
              state.done += count
              progress(min(state.done, all), all)
            }
          }
        } catch {
          state.withLock { state in if state.error == nil { state.error = error } }
        }
      }
    }
    if let error = state.withLock({ $0.error }) { throw error }
  }

  /// Runs a transaction again if the server ended it because of a lock.
  static func patiently<Value>(_ step: () throws -> Value) throws -> Value {
    for _ in 1..<attempts {
      do {
        return try step()
      } catch let error as PostgresError where error.isBlocked {
        continue
      }
    }
    return try step()
  }
}
