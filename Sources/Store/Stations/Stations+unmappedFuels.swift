import FuelModel
import Postgres

/// Fuel codes of feeds that no fuel is known for.
extension Stations {
  /// Returns the fuel codes that a feed has reported and nobody has mapped, with their numbers.
  package func unmappedCodes(of source: SourceID) throws -> [String: Int16] {
    Dictionary(
      uniqueKeysWithValues: try connection.query(
        """
        SELECT substr(fuel.fuel, length(source.source) + 2) AS code, fuel.fuel_id
        FROM fuel.source
        JOIN fuel.fuel ON NOT fuel.is_mapped AND starts_with(fuel.fuel, source.source || ':')
        WHERE source.source_id = \(source)
        """
      ).map { (try $0.text("code"), Int16(try $0.integer("fuel_id"))) })
  }

  /// Returns the numbers of the fuel codes that nobody has mapped yet. Each is kept as a fuel of
  /// its own, named by feed and code, so that no join loses its prices.
  func unmappedFuels(
    _ distinct: Reading.Distinct, of source: SourceID
  ) throws -> [Fuel: Int16] {
    var codes: Set<String> = []
    for case .unmapped(let code) in distinct.observations.lazy.map(\.fuel) { codes.insert(code) }
    guard !codes.isEmpty else { return [:] }
    // A new code now and then is a new fuel. Dozens at once mean that the field now holds something
    // else.
    guard codes.count <= 20 else {
      throw Refusal(
        "\(codes.count) unknown fuel codes, such as \(codes.sorted().prefix(3).joined(separator: ", "))"
      )
    }
    try connection.query(
      """
      INSERT INTO fuel.fuel (fuel_id, fuel, name, unit, is_averaged, is_mapped)
      SELECT
        greatest((SELECT max(fuel_id) FROM fuel.fuel), 999) + row_number() OVER (ORDER BY new.code),
        source.source || ':' || new.code, new.code || ' of ' || source.source || ', not mapped yet',
        'unknown', false, false
      FROM fuel.source
      CROSS JOIN unnest(\(codes.sorted())::text[]) AS new (code)
      WHERE source.source_id = \(source)
        AND NOT EXISTS (SELECT FROM fuel.fuel WHERE fuel.fuel = source.source || ':' || new.code)
      """)
    let known = try unmappedCodes(of: source)
    return Dictionary(
      uniqueKeysWithValues: codes.compactMap { code in
        known[code].map { (Fuel.unmapped(code), $0) }
      })
  }
}
