package import FuelModel
import Postgres

/// What the database has to know about a feed or an archive.
package struct SourceRecord {
  fileprivate let licence: String
  fileprivate let attribution: String
  /// The fuels whose prices are believed for a longer or shorter time, by code, in hours.
  fileprivate let priceLapsesHoursByFuel: [String: Int]
  fileprivate let columns: Columns

  /// Makes a record. Its limits are in hours, and its cadence is in minutes.
  ///
  /// - Parameters:
  ///   - account: the feed whose key and quota it shares; `nil` where it has its own.
  ///   - publishesTomorrowAt: the local time from which it has the prices of the next price day,
  ///     such as `14:30`; `nil` where it never has them.
  ///   - isArchive: whether it is an archive, whose facts come from files about the past.
  ///   - scheme: the feed to whose official scheme it belongs; `nil` where the scheme is its own.
  ///   - hasCodes: whether its station codes are the scheme's own numbers. Otherwise they are made
  ///     from name and address.
  package init(
    feed: String, state: State, cadenceMinutes: Int, priceLapsesHours: Int,
    priceLapsesHoursByFuel: [String: Int] = [:], sightLapsesHours: Int,
    reportsWholeDays: Bool = false, licence: String = "", attribution: String, isEnabled: Bool,
    callsPerMonth: Int, account: String? = nil, delayHours: Int = 0, holdingConfirms: Bool = true,
    publishesTomorrowAt: String? = nil,
    isArchive: Bool = false, scheme: String? = nil, hasCodes: Bool? = nil
  ) {
    self.licence = licence
    self.attribution = attribution
    self.priceLapsesHoursByFuel = priceLapsesHoursByFuel
    columns = [
      "source": feed, "state": state.code, "cadence": "\(cadenceMinutes) minutes",
      "price_lapses_after": "\(priceLapsesHours) hours",
      "sight_lapses_after": "\(sightLapsesHours) hours", "tells_whole_days": reportsWholeDays,
      "attribution": attribution, "is_enabled": isEnabled, "calls_per_month": callsPerMonth,
      "account": account ?? feed, "delay": "\(delayHours) hours",
      "holding_confirms": holdingConfirms, "kind": isArchive ? "archive" : "feed",
      "scheme": scheme ?? feed, "has_codes": hasCodes ?? !reportsWholeDays,
      "publishes_tomorrow_at": publishesTomorrowAt,
    ]
  }
}

extension Ledger {
  /// Returns the number of a feed or archive; `nil` where the database does not know it.
  package func number(of feed: String) throws -> SourceID? {
    try connection.query("SELECT source_id FROM fuel.source WHERE source = \(feed)").first
      .map { SourceID(number: Int16(try $0.integer("source_id"))) }
  }

  /// Returns the feeds that are registered, with their names.
  package func feeds() throws -> [(source: SourceID, feed: String)] {
    try connection.query(
      "SELECT source_id, source FROM fuel.source WHERE kind = 'feed' ORDER BY source_id"
    ).map { row in
      (SourceID(number: Int16(try row.integer("source_id"))), try row.text("source"))
    }
  }

  /// Registers a feed or archive, or updates what is stored about it. Writes only what differs. If
  /// a limit changes that decides how long prices are believed, all spans of the source are marked
  /// to be made again.
  ///
  /// - Parameter now: the instant from which the terms of use count as known.
  package func register(_ record: SourceRecord, now: Instant = .now) throws -> SourceID {
    try store.refuseSubscriber()
    return try connection.transaction {
      let lapses = record.priceLapsesHoursByFuel.sorted { $0.key < $1.key }
      let row = try connection.query(
        """
        SELECT fuel.register(
          \(Columns.objects([record.columns]))::jsonb -> 0, \(lapses.map(\.key)),
          \(lapses.map { Int32($0.value) })) AS source_id
        """
      ).only()
      let id = SourceID(number: Int16(try row.integer("source_id")))
      try connection.query(
        """
        INSERT INTO fuel.terms (source_id, since_at, licence, attribution)
        SELECT \(id)::smallint, \(now)::timestamptz, \(record.licence)::text, \(record.attribution)::text
        WHERE (\(record.licence)::text, \(record.attribution)::text) IS DISTINCT FROM (
          SELECT (terms.licence, terms.attribution)
          FROM fuel.terms
          WHERE terms.source_id = \(id)
          ORDER BY terms.since_at DESC
          LIMIT 1)
        ON CONFLICT DO NOTHING
        """)
      return id
    }
  }

  /// Takes the feed's lock for this session. The server frees it when the session ends in any way.
  package func lock(_ source: SourceID) throws -> Bool {
    // The first key, 1, means that this is a feed's lock. The second key is the feed's number.
    try store.tryLock("SELECT pg_try_advisory_lock(1, \(source)) AS taken")
  }

  /// Releases the feed's lock.
  package func unlock(_ source: SourceID) throws {
    try connection.query("SELECT pg_advisory_unlock(1, \(source))")
  }
}
