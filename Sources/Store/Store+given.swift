package import FuelModel
import Postgres

/// The verdicts that one method gave for one region and fuel: the last of each day.
package struct DailyVerdicts: Sendable {
  package var region: String
  package var fuelID: Int16
  package var verdicts: [(day: Day, verdict: String)]
}

extension Store {
  /// Returns the last day up to which a method's verdicts were scored; `nil` where they never were.
  package func verdictRecordDay(method: String) throws -> Day? {
    try connection.query(
      "SELECT max(until_day) AS day FROM fuel.verdict_record WHERE method = \(method)"
    ).only().optional("day").flatMap { Day($0) }
  }

  /// Returns the last verdict of each day that a method gave, by region and fuel.
  package func givenVerdicts(method: String) throws -> [DailyVerdicts] {
    try connection.query(
      """
      SELECT given.region, given.fuel_id,
        string_agg((given.day - date '1970-01-01') || ' ' || given.verdict, ',' ORDER BY given.day) AS verdicts
      FROM (
        SELECT DISTINCT ON (verdict.region, verdict.fuel_id, verdict.day)
          verdict.region, verdict.fuel_id, verdict.day, verdict.verdict
        FROM fuel.verdict
        WHERE verdict.method = \(method)
        ORDER BY verdict.region, verdict.fuel_id, verdict.day, verdict.computed_at DESC
      ) AS given
      GROUP BY given.region, given.fuel_id
      """
    ).map { row in
      DailyVerdicts(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        verdicts: try row.text("verdicts").split(separator: ",").compactMap { line in
          let parts = line.split(separator: " ")
          guard parts.count == 2, let day = Int(parts[0]) else { return nil }
          return (Day(sinceEpoch: day), String(parts[1]))
        })
    }
  }

  /// Replaces the stored scores of a method's verdicts, and the calibration: how often the events
  /// that were stated as likely came.
  package func keepVerdictRecord(_ rows: [Columns], method: String) throws {
    try transaction {
      try connection.query("DELETE FROM fuel.verdict_record WHERE method = \(method)")
      try connection.query(
        """
        INSERT INTO fuel.verdict_record
        SELECT *
        FROM jsonb_populate_recordset(NULL::fuel.verdict_record, \(try objects(rows))::jsonb)
        """)
      try connection.execute("SELECT fuel.keep_calibration()")
    }
  }
}
