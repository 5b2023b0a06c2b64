import FuelModel
import Postgres

/// Fuel codes of feeds that no fuel is known for.
extension Stations {
  /// Returns the fuel codes that a feed has reported and nobody has mapped.
  package func unmappedCodes(of source: SourceID) throws -> Set<String> {
    Set(
      try connection.query(
        """
        SELECT substr(fuel.fuel, length(source.source) + 2) AS code
        FROM fuel.source
        JOIN fuel.fuel ON NOT fuel.is_mapped AND starts_with(fuel.fuel, source.source || ':')
        WHERE source.source_id = \(source)
        """
      ).map { try $0.text("code") })
  }

  /// Returns the numbers of the fuel codes that nobody has mapped yet. Each is kept as a fuel of
  /// its own, named by feed and code, so that no join loses its prices.
  func unmappedFuels(_ distinct: Reading.Distinct, of run: RunID) throws -> [Fuel: Int16] {
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
    let rows = try connection.query(
      """
      WITH wanted AS (
        SELECT source.source || ':' || code.code AS fuel, code.code, source.source
        FROM fuel.run
        JOIN fuel.source USING (source_id)
        CROSS JOIN unnest(\(codes.sorted())::text[]) AS code (code)
        WHERE run.run_id = \(run)
      ),
      added AS (
        INSERT INTO fuel.fuel (
          fuel_id, fuel, name, unit, is_averaged, is_mapped)
        SELECT
          greatest((SELECT max(fuel_id) FROM fuel.fuel), 999)
            + row_number() OVER (ORDER BY wanted.fuel),
          wanted.fuel, wanted.code || ' of ' || wanted.source || ', not mapped yet', 'unknown',
          false, false
        FROM wanted
        WHERE NOT EXISTS (SELECT FROM fuel.fuel WHERE fuel.fuel = wanted.fuel)
        RETURNING fuel_id, fuel
      )
      SELECT wanted.code, known.fuel_id
      FROM (SELECT fuel_id, fuel FROM fuel.fuel UNION SELECT fuel_id, fuel FROM added) AS known
      JOIN wanted USING (fuel)
      """)
    var numbers: [Fuel: Int16] = [:]
    for row in rows {
      numbers[.unmapped(try row.text("code"))] = Int16(try row.integer("fuel_id"))
    }
    return numbers
  }
}
