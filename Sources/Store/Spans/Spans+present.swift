package import FuelModel
import Postgres

/// The newest span of every station and fuel, kept beside the spans: `fuel.present_span`.
extension Spans {
  /// Copies the newest spans to `fuel.present_span` again where the next price has begun by `now`. In
  /// Western Australia that is every price, each morning. Until then every reader has to look these
  /// prices up in the history.
  package func advancePresent(now: Instant) throws {
    let hasBegun = try connection.query(
      """
      SELECT EXISTS (
        SELECT FROM fuel.present_span WHERE present_span.next_from_at <= \(now)) AS has_begun
      """
    ).only().boolean("has_begun")
    guard hasBegun else { return }
    try connection.transaction {
      try lockTimeline()
      try connection.query(
        """
        SELECT fuel.refresh_present_spans(array_agg(station_id), array_agg(fuel_id), \(now))
        FROM fuel.present_span
        WHERE next_from_at <= \(now)
        HAVING count(*) > 0
        """)
    }
  }

  /// Makes `fuel.present_span` again from the spans. A rebuild does so, because spans that come out as
  /// they are stored are not copied.
  package func copyPresent(now: Instant) throws {
    try connection.transaction {
      try lockTimeline()
      try connection.query("DELETE FROM fuel.present_span")
      try connection.query(
        """
        SELECT fuel.refresh_present_spans(array_agg(station_id), array_agg(fuel_id), \(now))
        FROM (SELECT DISTINCT station_id, fuel_id FROM fuel.span) AS pair
        HAVING count(*) > 0
        """)
    }
  }
}
