/// Waits until a condition holds, and looks at it once more before it gives up.
///
/// `for … where` is no such wait: it asks its condition in every round, also after it has held.
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
