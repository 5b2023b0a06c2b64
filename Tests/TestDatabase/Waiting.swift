package import Foundation

/// Waits until a condition holds. Checks the condition once more after the deadline.
///
/// A loop with `for … where` is no substitute: it checks its condition in every round, even after
/// the condition has held.
///
/// - Returns: whether the condition held in time.
@discardableResult
package func waitUntil(
  within time: Duration = .seconds(60), _ condition: () throws -> Bool
) async throws -> Bool {
  let deadline = ContinuousClock.now + time
  while try !condition() {
    guard ContinuousClock.now < deadline else { return try condition() }
    try await Task.sleep(for: .milliseconds(50))
  }
  return true
}

/// Runs what blocks, such as a statement that waits for a lock, on a thread of its own. The few
/// threads of the tests stay free for the test that ends the wait.
package func onThreadOfItsOwn<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

extension Process {
  /// Waits until the program has ended. After an `await` a test may go on on another thread, where
  /// `waitUntilExit` finds nothing to wait for and keeps a core busy until then.
  package func ended() async throws {
    while isRunning { try await Task.sleep(for: .milliseconds(20)) }
  }
}
