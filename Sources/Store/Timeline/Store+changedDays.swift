package import FuelModel
import Postgres

extension Store {
  /// Marks the days on which prices of stations and fuels changed.
  ///
  /// For few stations and fuels, days that are made already are changed one by one; for more of
  /// them, whole days are made again.
  ///
  /// - Parameter isAggregate: whether nobody else can take marks meanwhile.
  package func markChangedDays(
    _ changed: [(pair: Pair, from: Instant, until: Instant)], isAggregate: Bool, now: Instant
  ) throws {
    guard !changed.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.mark_changed_days(
        \(changed.map(\.pair.stationID)), \(changed.map(\.pair.fuelID)), \(changed.map(\.from)),
        \(changed.map(\.until)), \(Self.mostEdits), \(isAggregate),
        \(now))
      """)
  }
}
