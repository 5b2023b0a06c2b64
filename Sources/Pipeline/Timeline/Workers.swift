import Dispatch
package import Logging
import Postgres
package import Store
import Synchronization

/// Connections that share a work which falls into pieces. They meet only where they mark days.
package struct Workers {
  /// The caller's own connection.
  package let first: Store
  /// How many there are; no more of them work at once than this machine has cores.
  package let count: Int
  private var log = Logger(.error)
  private let open: () throws -> Store

  /// - Parameter open: makes one more connection with the rights of the first.
  package init(_ first: Store, count: Int, open: @escaping () throws -> Store) {
    self.first = first
    self.count = max(1, count)
    self.open = open
  }

  /// The same, with a log for what goes wrong and is borne.
  package func telling(_ log: Logger) -> Workers {
    var workers = self
    workers.log = log
    return workers
  }

  /// One connection, the caller's own.
  package init(_ store: Store) {
    self.init(store, count: 1) { store }
  }

  // Two pieces may wait for each other's marks, or for those of a list: one of them is then done again.
  private static let attempts = 5

  /// Has every connection take pieces of the work until none is left. The first error ends all of them, each after its
  /// own piece.
  ///
  /// - Parameters:
  ///   - pieces: how many there are, about: there are no more connections than that.
  ///   - all: how much there is to do.
  ///   - progress: called with how much of how much is done.
  ///   - begin: what a connection needs for its share: the store, and which of how many it is.
  ///   - step: does one piece in a transaction of its own, and says how much that was; 0: none was left.
  func run<Share>(
    pieces: Int, of all: Int, progress: (Int, Int) -> Void,
    _ begin: (Store, Int, Int) throws -> Share, _ step: (Share) throws -> Int
  ) throws {
    var stores = [first]
    while stores.count < min(count, pieces) {
      do {
        stores.append(try open())
      } catch let error as PostgresError where error.mayHeal {
        log.info("fewer connections share the work", ["count": stores.count, "error": "\(error)"])
        break
      }
    }
    // Each share is one thread's alone, a step uses nothing but its share, and progress is told by one at a time.
    nonisolated(unsafe) let shares = try stores.enumerated().map {
      try begin($1, $0, stores.count)
    }
    let state = Mutex((done: 0, error: (any Error)?.none))
    withoutActuallyEscaping(step) { step in
      withoutActuallyEscaping(progress) { progress in
        nonisolated(unsafe) let (step, progress) = (step, progress)
        DispatchQueue.concurrentPerform(iterations: shares.count) { number in
          do {
            while state.withLock({ $0.error == nil }) {
              let count = try Self.patiently { try step(shares[number]) }
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
    }
    if let error = state.withLock({ $0.error }) { throw error }
  }

  /// Does a transaction again that has met another.
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
