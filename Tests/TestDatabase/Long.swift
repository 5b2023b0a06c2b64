import Foundation
package import Testing

/// How much the tests do: `make test` runs short forms, `make test-long` sets LONG_TESTS.
package enum Long {
  package static let isOn = !(setting("LONG_TESTS") ?? "").isEmpty

  /// Returns how many seeds, kills or requests a test uses. An environment variable of this name
  /// overrides both numbers.
  package static func count(_ variable: String = "", short: Int, long: Int) -> Int {
    setting(variable).flatMap(Int.init) ?? (isOn ? long : short)
  }

  /// Returns what a test is run with: all of it, or in the short form some of it, spread evenly.
  package static func some<Value>(_ all: [Value], short: Int) -> [Value] {
    guard !isOn, short < all.count else { return all }
    return (0..<short).map { all[$0 * all.count / short] }
  }

  private static func setting(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }
}

// `config/tests` finds the tests of `make test-long` by these traits, which must be the first
// argument of `@Test(...)`.
extension Trait where Self == ConditionTrait {
  /// A test that only `make test-long` runs.
  package static var long: Self { .enabled(if: Long.isOn, "long: make test-long") }

  /// A test that `make test` runs with few seeds, kills or requests, and `make test-long` with
  /// many.
  package static var longer: Self { .enabled(if: true) }
}
