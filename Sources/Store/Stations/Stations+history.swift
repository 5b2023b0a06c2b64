package import FuelModel
import Postgres
import Timeline
import Views

/// A price day that a feed or an archive covers.
package struct KnownDay: Sendable {
  package var source: String
  package var scheme: String
  package var isArchive: Bool
  package var day: Day
}

/// What is known about one station record, to explain its link.
package struct DescribedRecord: Sendable {
  package var source: String
  package var code: String
  package var matchedBy: String
  package var doubt: String?
  /// Whether the station is stored under the number of this record.
  package var isHead: Bool
  /// Its name, brand and address, with the first and the last day on which they were seen, oldest
  /// first.
  package var descriptions: [(text: String, first: Day, last: Day)]
}

extension Stations {
  /// Returns the price days that each feed and archive covers, by scheme and day.
  package func knownDays(now: Instant) throws -> [KnownDay] {
    try connection.query(
      """
      SELECT source.source, source.scheme, source.kind = 'archive' AS is_archive, covered.day
      FROM fuel.covered_days(\(now)) AS covered
      JOIN fuel.source USING (source_id)
      ORDER BY source.scheme, covered.day
      """
    ).map { row in
      KnownDay(
        source: try row.text("source"), scheme: try row.text("scheme"),
        isArchive: try row.boolean("is_archive"), day: try row.day("day"))
    }
  }

  /// Returns every station record of the station to which a record belongs. The result is empty
  /// where there is no such record.
  package func describedRecords(ofStation number: Int) throws -> [DescribedRecord] {
    let rows = try connection.query(
      """
      SELECT
        record.station_id, source.source, record.station_code, record.matched_by,
        record.match_doubt, record.place_id = record.station_id AS is_head, description.name,
        description.brand, description.address,
        (min(description.first_seen_at) AT TIME ZONE record.time_zone)::date AS first_on,
        ((max(description.last_seen_at) - interval '1 second') AT TIME ZONE record.time_zone)::date
          AS last_on
      FROM fuel.station AS asked
      JOIN fuel.station AS record ON record.place_id = asked.place_id
      JOIN fuel.source ON source.source_id = record.source_id
      LEFT JOIN fuel.station_description AS description
        ON description.station_id = record.station_id
      WHERE asked.station_id = \(number)
      GROUP BY
        record.station_id, source.source, description.name, description.brand, description.address
      ORDER BY
        is_head DESC, source.source, record.station_code, min(description.first_seen_at),
        description.name
      """)
    var records: [DescribedRecord] = []
    for row in rows {
      let source = try row.text("source")
      let code = try row.text("station_code")
      if records.last.map({ ($0.source, $0.code) != (source, code) }) ?? true {
        records.append(
          DescribedRecord(
            source: source, code: code, matchedBy: try row.text("matched_by"),
            doubt: try row.optional("match_doubt"), isHead: try row.boolean("is_head"),
            descriptions: []))
      }
      guard let name = try row.optional("name") else { continue }
      let brand = try row.optional("brand").map { " (\($0))" } ?? ""
      let address = try row.optional("address").map { ", \($0)" } ?? ""
      records[records.count - 1].descriptions.append(
        (name + brand + address, try row.day("first_on"), try row.day("last_on")))
    }
    return records
  }

  /// Returns the pairs of station records that may be one station, the likeliest first.
  package func doubtfulPairs() throws -> [DoubtfulPair] {
    try connection.query(
      """
      SELECT
        doubt.score, doubt.why,
        first_source.source AS first_source, first.station_code AS first_code,
        concat_ws(', ', first.name, first.address) AS first_text,
        second_source.source AS second_source, second.station_code AS second_code,
        concat_ws(', ', second.name, second.address) AS second_text
      FROM fuel.station_doubt AS doubt
      JOIN fuel.station AS first ON first.station_id = doubt.first_id
      JOIN fuel.source AS first_source ON first_source.source_id = first.source_id
      JOIN fuel.station AS second ON second.station_id = doubt.second_id
      JOIN fuel.source AS second_source ON second_source.source_id = second.source_id
      ORDER BY doubt.score DESC, first_source.source, first.station_code, second.station_code
      """
    ).map { row in
      DoubtfulPair(
        score: try row.integer("score"), why: try row.text("why"),
        first: try record(row, "first"), second: try record(row, "second"))
    }
  }

  private func record(_ row: Row, _ which: String) throws -> DoubtfulPair.Record {
    .init(
      source: try row.text(which + "_source"), code: try row.text(which + "_code"),
      text: try row.text(which + "_text"))
  }
}

/// Two station records that may be one station.
package struct DoubtfulPair: Sendable {
  /// One of the two station records.
  package struct Record: Sendable {
    package var source: String
    package var code: String
    /// Its newest name and address.
    package var text: String
  }

  /// From 0 to 100.
  package var score: Int
  package var why: String
  package var first: Record
  package var second: Record
}
