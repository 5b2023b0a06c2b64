import Foundation
package import FuelModel
import Postgres
import Views

/// The verdict that was given last for a region and fuel, reduced to what decides whether the next
/// one differs. Averages are in c/L.
package struct LastVerdict: Sendable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var verdict: String
  package var basis: String
  package var rule: String?
  package var method: String
  package var reason: String
  package var today: Double?
  package var tomorrow: Double?
  package var average: Double?
  package var validUntil: Instant
}

/// The daily averages of one region and fuel on which verdicts may rest.
package struct RegionSeries: Sendable {
  package var region: String
  package var fuelID: Int16
  /// The averages in c/L with the numbers of their stations, oldest first.
  package var averages: [(day: Day, average: Double, stations: Int)]
}

/// Verdicts, their scores, and what is known when they are given.
package struct Verdicts {
  package let store: Store
  var connection: Connection { store.connection }
}

extension Verdicts {
  /// Reads the daily averages on which verdicts may rest: those over enough stations and for most
  /// of the day so far.
  ///
  /// - Parameters:
  ///   - fuelIDs: the fuels to read; `nil` for all.
  ///   - days: how many days before `now` are read, with the days still under way; `nil` for all
  ///     days that are over.
  package func regionSeries(
    of fuelIDs: [Int16]? = nil, days: Int?, until now: Instant
  ) throws -> [RegionSeries] {
    try connection.query(
      """
      SELECT
        daily_rollup.region,
        daily_rollup.fuel_id,
        string_agg(
          (daily_rollup.day - date '1970-01-01') || ' ' || daily_rollup.average_cpl || ' '
            || daily_rollup.stations,
          ',' ORDER BY daily_rollup.day) AS averages
      FROM fuel.daily_rollup
      JOIN fuel.fuel USING (fuel_id)
      WHERE fuel.is_averaged
        AND (\(optional: fuelIDs)::smallint[] IS NULL
          OR daily_rollup.fuel_id = ANY (\(optional: fuelIDs)::smallint[]))
        AND daily_rollup.is_usable
        AND (daily_rollup.is_ended OR \(optional: days)::integer IS NOT NULL)
        AND daily_rollup.day > coalesce((\(now)::timestamptz)::date - \(optional: days)::integer, '-infinity')
        AND daily_rollup.day <= (\(now)::timestamptz + interval '14 hours')::date
      GROUP BY daily_rollup.region, daily_rollup.fuel_id
      ORDER BY daily_rollup.region, daily_rollup.fuel_id
      """
    ).map { row in
      RegionSeries(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        averages: try row.text("averages").split(separator: ",").compactMap { entry in
          let parts = entry.split(separator: " ")
          guard parts.count == 3, let day = Int(parts[0]), let average = Double(parts[1]),
            let stations = Int(parts[2])
          else { return nil }
          return (Day(sinceEpoch: day), average, stations)
        })
    }
  }

  /// Returns the newest verdicts of some regions and fuels. Verdicts with a later instant than
  /// `now`, which a clock that was ahead has left, are ignored.
  package func lastVerdicts(
    regions: [String], fuelIDs: [Int16], now: Instant
  ) throws -> [LastVerdict] {
    try connection.query(
      """
      SELECT last.*
      FROM unnest(\(regions)::text[], \(fuelIDs)::smallint[]) AS given (region, fuel_id)
      CROSS JOIN LATERAL (
        SELECT verdict.*
        FROM fuel.verdict
        WHERE verdict.region = given.region AND verdict.fuel_id = given.fuel_id
          AND verdict.computed_at <= \(now)
        ORDER BY verdict.computed_at DESC
        LIMIT 1
      ) AS last
      """
    ).map { row in
      LastVerdict(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        day: try row.day("day"), verdict: try row.text("verdict"), basis: try row.text("basis"),
        rule: try row.optional("rule"), method: try row.text("method"),
        reason: try row.text("reason"), today: try row.optionalDouble("today_cpl"),
        tomorrow: try row.optionalDouble("tomorrow_cpl"),
        average: try row.optionalDouble("average_cpl"),
        validUntil: try row.instant("valid_until_at"))
    }
  }

  /// Stores verdicts. One that is stored already is left as it is.
  ///
  /// - Parameter rows: the columns of `fuel.verdict`, without `computed_at`.
  /// - Returns: the number of verdicts that were added.
  package func keepVerdicts(_ rows: [Columns], now: Instant) throws -> Int {
    try connection.query(
      """
      INSERT INTO fuel.verdict
      SELECT made.*
      FROM jsonb_array_elements(\(try Columns.objects(rows))::jsonb) AS given
      -- A function in FROM is called once a row; `(f()).*` would call it once a column.
      CROSS JOIN LATERAL jsonb_populate_record(
        NULL::fuel.verdict,
        given || jsonb_build_object('computed_at', \(now.description)::text)) AS made
      ON CONFLICT ON CONSTRAINT verdict_pk DO NOTHING
      """
    ).affected
  }

  /// Replaces the stored state of every market, and stores cycles. Only cycles that differ from the
  /// stored ones are written, because those of the past hardly ever do.
  ///
  /// - Parameter fuelIDs: the fuels of these cycles, of which no others remain; `nil` for all.
  package func keepMarkets(
    _ markets: [Columns], cycles: [Columns], allOf fuelIDs: [Int16]?
  ) throws {
    let cycles = try Columns.objects(cycles)
    try connection.transaction {
      try store.stations.replaceRows(of: "fuel.market", by: markets)
      try connection.query(
        """
        DELETE FROM fuel.cycle
        WHERE (\(optional: fuelIDs)::smallint[] IS NULL
            OR cycle.fuel_id = ANY (\(optional: fuelIDs)::smallint[]))
          AND (cycle.region, cycle.fuel_id, cycle.trough_on) NOT IN (
            SELECT made.region, made.fuel_id, made.trough_on
            FROM jsonb_populate_recordset(NULL::fuel.cycle, \(cycles)::jsonb) AS made)
        """)
      try connection.query(
        """
        INSERT INTO fuel.cycle
        SELECT * FROM jsonb_populate_recordset(NULL::fuel.cycle, \(cycles)::jsonb)
        EXCEPT
        SELECT * FROM fuel.cycle
        ON CONFLICT ON CONSTRAINT cycle_pk DO UPDATE SET
          trough_cpl = excluded.trough_cpl, peak_on = excluded.peak_on,
          peak_cpl = excluded.peak_cpl, ends_on = excluded.ends_on
        """)
    }
  }
}

/// The values of a row by the names of its columns, for `jsonb_populate_record` and for programs. A
/// column without a value is NULL.
package struct Columns: Encodable, ExpressibleByDictionaryLiteral {
  private let values: [(name: String, value: (any Encodable)?)]

  package init(_ values: [(String, (any Encodable)?)]) {
    self.values = values.map { (name: $0.0, value: $0.1) }
  }

  package init(dictionaryLiteral values: (String, (any Encodable)?)...) { self.init(values) }

  /// Returns rows as a JSON array of objects.
  static func objects(_ rows: [Columns]) throws -> String {
    String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: JSONKey.self)
    for (name, value) in values {
      if let value {
        try object.encode(value, forKey: JSONKey(stringValue: name))
      } else {
        try object.encodeNil(forKey: JSONKey(stringValue: name))
      }
    }
  }
}
