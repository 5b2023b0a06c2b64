/// How much must be known for a mean to be published or a day to be complete. SQL has the same values:
/// `fuel.minimum_stations()` and `fuel.minimum_coverage()`.
package enum LeastSample {
  /// Means over fewer stations are anecdotes.
  package static let stations = 3
  /// The share of a day for which a price must be believed, in thousandths.
  package static let coverage = 750
}
