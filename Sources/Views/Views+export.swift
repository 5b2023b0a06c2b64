package import FuelModel
import Postgres

/// The formats in which a published view is written for other programs.
package enum ExportFormat: String, CaseIterable, Sendable {
  /// RFC 4180 with a header and LF. An empty field is NULL. A text that a spreadsheet would take
  /// for a formula is prefixed with an apostrophe.
  case csv
  /// One JSON object per line.
  case ndjson
}

extension Views {
  /// Returns the names of the published views in alphabetical order.
  package func publishedViews() throws -> [String] {
    try connection.query(
      "SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'fuel_v1' ORDER BY viewname"
    ).map { try $0.text("viewname") }
  }

  /// Returns the column that `--since` and `--until` compare; `nil` where a view shows only the
  /// present.
  package static func timeColumn(of view: String) -> String? {
    let columns = [
      "aggregate_runs": "started_at", "brand_daily": "day", "changes": "finished_at",
      "coverage": "day", "cycles": "trough_on", "daily_averages": "day", "market_events": "day",
      "price_changes": "changed_at", "station_days": "day", "fill_up_history": "computed_at",
      "ingest_runs": "started_at",
      "price_history": "valid_from_at", "rejects": "rejected_at", "trend_30d": "day",
    ]
    return columns[view]
  }

  /// Writes the rows of a view, with instants in UTC such as `2026-07-02T12:00:00Z`.
  ///
  /// - Parameters:
  ///   - view: one of `publishedViews`.
  ///   - since: the first instant of the rows' time column, or the UTC day of that instant.
  ///   - until: the instant before which the rows lie.
  ///   - take: receives the written bytes.
  package func export(
    _ view: String, as format: ExportFormat, since: Instant? = nil, until: Instant? = nil,
    _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    // The server composes the statement, because it quotes names and values best.
    let statement = try connection.query(
      """
      SELECT format(
        'SELECT %s FROM fuel_v1.%I AS line%s%s',
        string_agg(
          CASE
            WHEN attribute.atttypid = 'timestamptz'::regtype
              THEN format('replace(to_json(line.%1$I) #>> ''{}'', ''+00:00'', ''Z'') AS %1$I', attribute.attname)
            WHEN attribute.atttypid = 'boolean'::regtype AND \(format == .csv)
              THEN format('line.%1$I::text AS %1$I', attribute.attname)
            WHEN attribute.atttypid = 'text'::regtype AND \(format == .csv)
              THEN format(
                'CASE WHEN line.%1$I ~ ''^[-+=@\\t\\r]'' AND line.%1$I !~ ''^[-+]?[0-9.]+$'' THEN '''''''' || line.%1$I ELSE line.%1$I END AS %1$I',
                attribute.attname)
            ELSE format('line.%I', attribute.attname)
          END,
          ', ' ORDER BY attribute.attnum),
        \(view)::text,
        CASE WHEN \(optional: Self.timeColumn(of: view))::text IS NOT NULL THEN format(
          ' WHERE line.%1$I >= %2$L AND line.%1$I < %3$L', \(optional: Self.timeColumn(of: view))::text,
          \(since?.description ?? "-infinity")::text, \(until?.description ?? "infinity")::text)
        END,
        -- Sorting the whole history would cost more than writing it.
        CASE
          WHEN \(view)::text = 'price_history' THEN ''
          ELSE ' ORDER BY ' || string_agg(attribute.attnum::text, ', ' ORDER BY attribute.attnum)
        END) AS text
      FROM pg_catalog.pg_attribute AS attribute
      WHERE attribute.attrelid = format('fuel_v1.%I', \(view)::text)::regclass AND attribute.attnum > 0
      """
    ).only().text("text")
    switch format {
    case .csv:
      try connection.copyText(from: statement, options: "FORMAT csv, HEADER", take)
    case .ndjson:
      // The quote and the delimiter are control characters, which JSON never contains unescaped.
      try connection.copyText(
        from: "SELECT row_to_json(object) FROM (\(statement)) AS object",
        options: "FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02'", take)
    }
  }
}
