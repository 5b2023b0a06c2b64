import Dispatch
import Logging
import Postgres
package import Store
import Synchronization

/// Connections that share a work which falls into pieces. They meet only where they mark days.
package struct Workers {
  /// The caller's own connection.
  package let first: Store
  /// How many there are; no more of them work at once than this machine has cores.
  package let count: Int
  private let open: () throws -> Store

  /// - Parameter open: makes one more connection with the rights of the first.
  package init(_ first: Store, count: Int = 1, open: @escaping () throws -> Store) {
    self.first = first
    self.count = max(1, count)
    self.open = open
  }

  /// One connection, the caller's own.
  package init(_ store: Store) {
    self.init(store) { store }
  }

  // Two pieces may wait for each other's marks, or for those of a list: one of them is then done again.
  private static let attempts = 5

  /// Has every connection take pieces of the work until none is left. The first error ends all of them, each after its
  /// own piece.
  ///
  /// - Parameters:
  ///   - pieces: how many there are, about: there are no more connections than that.
  ///   - begin: what a connection needs for its share: the store, and which of how many it is.
  ///   - step: takes one piece in a transaction of its own; `false`: none was left.
  func run<Share>(
    pieces: Int, log: Logger, _ begin: (Store, Int, Int) throws -> Share,
    _ step: (Share) throws -> Bool
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
    // Each share is one thread's alone, and a step uses nothing but its share and what it locks.
    nonisolated(unsafe) let shares = try stores.enumerated().map {
      try begin($1, $0, stores.count)
    }
    let failed = Mutex<(any Error)?>(nil)
    withoutActuallyEscaping(step) { step in
      nonisolated(unsafe) let step = step
      DispatchQueue.concurrentPerform(iterations: shares.count) { number in
        do {
          while try failed.withLock({ $0 == nil }) && Self.patiently({ try step(shares[number]) }) {
          }
        } catch {
          failed.withLock { first in if first == nil { first = error } }
        }
      }
    }
    if let error = failed.withLock({ $0 }) { throw error }
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
