package import FuelModel
import Postgres

extension Store {
  /// Makes the country of the database, and its states, those of the configuration. For its owner.
  ///
  /// - Returns: false where there are runs of another country, or by other clocks: then nothing is done.
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
