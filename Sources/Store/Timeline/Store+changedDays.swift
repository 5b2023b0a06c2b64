package import FuelModel
import Postgres
package import Timeline

/// A range of months of a station and fuel whose days have to be made.
package struct MonthSpan: Sendable {
  package var pair: Pair
  package var first: Month
  package var last: Month
}

/// The days that have to be made again, of stations (`fuel.stale_days`) and of averages
/// (`fuel.dirty_day`).
extension Store {
  /// Marks the days on which prices of stations and fuels changed.
  ///
  /// - Parameter isAggregate: whether nobody else can take marks meanwhile.
  package func markChangedDays(
    _ changed: [(pair: Pair, from: Instant, until: Instant)], isAggregate: Bool, now: Instant
  ) throws {
    // In parts, because parameters take several times as much memory as the changes.
    for begin in stride(from: 0, to: changed.count, by: 50_000) {
      let part = changed[begin..<min(begin + 50_000, changed.count)]
      try connection.query(
        """
        SELECT fuel.mark_changed_days(
          \(part.map(\.pair.stationID)), \(part.map(\.pair.fuelID)), \(part.map(\.from)),
          \(part.map(\.until)), \(isAggregate), \(now))
        """)
    }
  }

  /// Records the price days that have ended since the last call.
  package func markEndedDays(now: Instant) throws {
    try connection.transaction {
      try connection.query("SELECT fuel.mark_ended_days(\(now))")
    }
  }

  /// Returns how many stations and fuels wait for their days to be made.
  package func staleDaysCount() throws -> Int {
    try connection.query("SELECT count(*) AS count FROM fuel.stale_days").only().integer("count")
  }

  /// Removes and returns notes about stations and fuels whose days have to be made again.
  ///
  /// - Parameters:
  ///   - count: the largest number of notes to take.
  ///   - share: which share of all stations to take, and of how many.
  ///   - span: if given, only notes about its fuels and its month are taken.
  package func takeStaleDays(
    atMost count: Int = .max, share: (Int, of: Int) = (0, of: 1), in span: DirtySpan? = nil
  ) throws -> [MonthSpan] {
    // The rows are found by their places. What the server knows of a table that fills and empties is
    // out of date, and where it takes the table to be empty it would read all of it for each row.
    // The places are read first: a statement that both locks and removes rows would leave a row
    // that an ingest has changed since it began, because it does not see the new place.
    let places = try connection.query(
      """
      SELECT noted.ctid AS place
      FROM fuel.stale_days AS noted
      JOIN fuel.station USING (station_id)
      LEFT JOIN fuel.counted_place AS counted USING (station_id)
      -- A station that has come since the aggregate began waits for the next one.
      WHERE (counted.station_id IS NOT NULL OR station.place_id <> station.station_id)
        AND noted.station_id % \(share.of)::integer = \(share.0)::integer
        AND (\(optional: span?.fuelIDs)::smallint[] IS NULL OR (
          noted.fuel_id = ANY (\(optional: span?.fuelIDs)::smallint[])
          AND noted.first_month <= \(optional: span?.to)::date
          AND noted.last_month >= date_trunc('month', \(optional: span?.from)::timestamp)))
      ORDER BY noted.station_id, noted.fuel_id
      LIMIT \(count)
      FOR UPDATE OF noted
      """
    ).map { try $0.text("place") }
    guard !places.isEmpty else { return [] }
    return try monthSpans(
      """
      DELETE FROM fuel.stale_days
      WHERE ctid = ANY (\(places)::text[]::tid[])
      RETURNING station_id, fuel_id, first_month, last_month
      """)
  }

  /// Removes and returns the notes about some stations and fuels, for stations that count somewhere.
  package func takeStaleDays(of pairs: [Pair]) throws -> [MonthSpan] {
    try monthSpans(
      """
      DELETE FROM fuel.stale_days
      USING unnest(\(pairs.map(\.stationID))::integer[], \(pairs.map(\.fuelID))::smallint[])
        AS pair (station_id, fuel_id)
      JOIN fuel.counted_place AS counted USING (station_id)
      WHERE stale_days.station_id = pair.station_id AND stale_days.fuel_id = pair.fuel_id
      RETURNING stale_days.station_id, stale_days.fuel_id, first_month, last_month
      """)
  }

  private func monthSpans(_ statement: SQL) throws -> [MonthSpan] {
    try connection.query(statement).map { row in
      MonthSpan(
        pair: try row.pair(),
        first: Month(try row.day("first_month")), last: Month(try row.day("last_month")))
    }.sorted { $0.pair < $1.pair }
  }

  /// Removes the marks of a span of days. Whatever is marked after this concerns prices that the
  /// caller has not seen yet.
  ///
  /// This has to come before any reading. A run that commits later finds no row, waits for this
  /// transaction, and marks its days anew. A run that marked them earlier has committed by the time
  /// this transaction holds the rows. Deleting the marks at the end instead would drop the mark of
  /// a run that committed in between.
  package func takeMarks(of span: DirtySpan) throws {
    try connection.query(
      """
      SELECT FROM fuel.dirty_day
      WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
      ORDER BY fuel_id, day
      FOR UPDATE
      """)
    try connection.query(
      """
      DELETE FROM fuel.dirty_day
      WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
      """)
  }
}
