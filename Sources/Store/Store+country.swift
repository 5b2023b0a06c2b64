package import FuelModel
import Postgres

extension Store {
  /// Replaces the country in the database, and its states, by those of the configuration. Only the
  /// owner of the database may call this.
  ///
  /// - Returns: false where runs of another country or with other clocks are stored. Nothing is
  ///   changed then.
  package func keep(_ country: Country) throws -> Bool {
    try connection.query(
      """
      SELECT fuel.keep_country(
        \(country.code), \(country.name), \(country.timeZone.rawValue), \(country.states.map(\.code)),
        \(country.states.map(\.name)), \(country.states.map(\.timeZone.rawValue)),
        \(country.states.map(\.priceDayStarts))::integer[]) AS is_kept
      """
    ).only().boolean("is_kept")
  }
}
