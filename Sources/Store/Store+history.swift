package import FuelModel
import Postgres

/// A price day that somebody told of.
package struct KnownDay: Sendable {
  package var source: String
  package var scheme: String
  package var isArchive: Bool
  package var day: Day
}

/// How an archive and our own capture agree over a month.
package struct Agreement: Sendable {
  package var archive: String
  package var feed: String
  package var month: Month
  /// Stations and fuels at noon of days, where both tell something.
  package var compared: Int
  package var agreed: Int
  package var stations: Int
}

/// One noon at which they do not.
package struct Disagreement: Sendable {
  package var day: Day
  package var station: Int
  package var name: String
  package var fuel: String
  package var archive: String
  package var feed: String
}

/// What is known of one station record, to explain a match.
package struct RecordStory: Sendable {
  package var source: String
  package var code: String
  package var matchedBy: String
  package var doubt: String?
  package var isHead: Bool
  /// Name, brand and address with the first and the last day they were seen, oldest first.
  package var wordings: [(text: String, first: Day, last: Day)]
}

extension Store {
  /// How many sessions at once can read a station's whole history: each locks every month with its key,
  /// out of a table of fixed size in the server.
  package func historyReaders() throws -> Int {
    try connection.query(
      """
      SELECT
        current_setting('max_locks_per_transaction')::bigint
          * current_setting('max_connections')::bigint / greatest(2 * count(*), 1) AS readers
      FROM pg_inherits
      """
    ).only().integer("readers")
  }

  package func knownDays() throws -> [KnownDay] {
    try connection.query("SELECT * FROM fuel.known_days() ORDER BY scheme, day").map { row in
      KnownDay(
        source: try row.text("source"), scheme: try row.text("scheme"),
        isArchive: try row.boolean("is_archive"), day: try row.day("day"))
    }
  }

  /// - Parameter month: one in which both were told of.
  package func agreement(of archive: String, with feed: String, in month: Month) throws -> Agreement
  {
    let row = try connection.query(
      """
      SELECT
        count(*) AS compared,
        count(*) FILTER (WHERE archive_tenths = feed_tenths) AS agreed,
        count(DISTINCT station_id) AS stations
      FROM fuel.compared_days(\(archive), \(month.firstDay))
      """
    ).only()
    return Agreement(
      archive: archive, feed: feed, month: month, compared: try row.integer("compared"),
      agreed: try row.integer("agreed"), stations: try row.integer("stations"))
  }

  /// The largest first.
  package func disagreements(of archive: String, in month: Month, most: Int) throws
    -> [Disagreement]
  {
    func price(_ tenths: Int) -> String {
      Price(tenths: tenths)?.centsPerLitre ?? "not offered"
    }
    return try connection.query(
      """
      SELECT compared.*, fuel.fuel, station.name
      FROM fuel.compared_days(\(archive), \(month.firstDay)) AS compared
      JOIN fuel.fuel USING (fuel_id)
      JOIN fuel.station USING (station_id)
      WHERE compared.archive_tenths <> compared.feed_tenths
      ORDER BY abs(compared.archive_tenths - compared.feed_tenths) DESC, compared.day,
        compared.station_id, fuel.fuel
      LIMIT \(most)
      """
    ).map { row in
      Disagreement(
        day: try row.day("day"), station: try row.integer("station_id"),
        name: try row.optional("name") ?? "", fuel: try row.text("fuel"),
        archive: price(try row.integer("archive_tenths")),
        feed: price(try row.integer("feed_tenths")))
    }
  }

  /// Every record of the place that a record belongs to; none: there is no such record.
  package func story(ofStation number: Int) throws -> [RecordStory] {
    let rows = try connection.query(
      """
      SELECT
        record.station_id, source.source, record.station_code, record.matched_by,
        record.match_doubt, record.place_id = record.station_id AS is_head, told.name, told.brand,
        told.address, (told.first_seen_at AT TIME ZONE record.time_zone)::date AS first_on,
        ((told.last_seen_at - interval '1 second') AT TIME ZONE record.time_zone)::date
          AS last_on
      FROM fuel.station AS asked
      JOIN fuel.station AS record ON record.place_id = asked.place_id
      JOIN fuel.source ON source.source_id = record.source_id
      LEFT JOIN fuel.station_description AS told ON told.station_id = record.station_id
      WHERE asked.station_id = \(number)
      ORDER BY is_head DESC, source.source, record.station_code, told.first_seen_at, told.name
      """)
    var stories: [RecordStory] = []
    for row in rows {
      let source = try row.text("source")
      let code = try row.text("station_code")
      if stories.last.map({ ($0.source, $0.code) != (source, code) }) ?? true {
        stories.append(
          RecordStory(
            source: source, code: code, matchedBy: try row.text("matched_by"),
            doubt: try row.optional("match_doubt"), isHead: try row.boolean("is_head"),
            wordings: []))
      }
      guard let name = try row.optional("name") else { continue }
      let brand = try row.optional("brand").map { " (\($0))" } ?? ""
      let address = try row.optional("address").map { ", \($0)" } ?? ""
      stories[stories.count - 1].wordings.append(
        (name + brand + address, try row.day("first_on"), try row.day("last_on")))
    }
    return stories
  }

  /// Records that a person should look at: their number, source, code, name and why.
  package func doubtfulRecords() throws -> [(id: Int, source: String, code: String, why: String)] {
    try connection.query(
      """
      SELECT record.station_id, source.source, record.station_code, record.match_doubt
      FROM fuel.station AS record
      JOIN fuel.source USING (source_id)
      WHERE record.match_doubt IS NOT NULL
      ORDER BY source.source, record.station_code
      """
    ).map { row in
      (
        try row.integer("station_id"), try row.text("source"), try row.text("station_code"),
        try row.text("match_doubt")
      )
    }
  }
}
