package import FuelModel
import Postgres

/// What the database has to know about a feed or an archive.
package struct SourceRecord: Sendable {
  package var feed: String
  package var state: State
  package var cadenceMinutes: Int
  package var priceLapsesHours: Int
  /// The fuels whose prices are believed for a longer or shorter time, by code, in hours.
  package var priceLapsesHoursByFuel: [String: Int]
  package var sightLapsesHours: Int
  package var reportsWholeDays: Bool
  package var licence: String
  package var attribution: String
  package var isEnabled: Bool
  package var callsPerMonth: Int
  /// The feed whose key and quota it shares; `nil` where it has its own.
  package var account: String?
  package var delayHours: Int
  package var holdingConfirms: Bool
  /// The local time from which it has the prices of the next price day, such as `14:30`; `nil`
  /// where it never has them.
  package var publishesTomorrowAt: String?
  /// Whether it is an archive, whose facts come from files about the past.
  package var isArchive: Bool
  /// The feed to whose official scheme it belongs; `nil` where the scheme is its own.
  package var scheme: String?
  /// Whether its station codes are the scheme's own numbers. Otherwise they are made from name and
  /// address.
  package var hasCodes: Bool

  package init(
    feed: String, state: State, cadenceMinutes: Int, priceLapsesHours: Int,
    priceLapsesHoursByFuel: [String: Int] = [:], sightLapsesHours: Int,
    reportsWholeDays: Bool = false, licence: String = "", attribution: String, isEnabled: Bool,
    callsPerMonth: Int, account: String? = nil, delayHours: Int = 0, holdingConfirms: Bool = true,
    publishesTomorrowAt: String? = nil,
    isArchive: Bool = false, scheme: String? = nil, hasCodes: Bool? = nil
  ) {
    self.feed = feed
    self.state = state
    self.cadenceMinutes = cadenceMinutes
    self.priceLapsesHours = priceLapsesHours
    self.priceLapsesHoursByFuel = priceLapsesHoursByFuel
    self.sightLapsesHours = sightLapsesHours
    self.reportsWholeDays = reportsWholeDays
    self.licence = licence
    self.attribution = attribution
    self.isEnabled = isEnabled
    self.callsPerMonth = callsPerMonth
    self.account = account
    self.delayHours = delayHours
    self.holdingConfirms = holdingConfirms
    self.publishesTomorrowAt = publishesTomorrowAt
    self.isArchive = isArchive
    self.scheme = scheme
    self.hasCodes = hasCodes ?? !reportsWholeDays
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
          jsonb_build_object(
            'source', \(record.feed)::text,
            'state', \(record.state.code)::text,
            'cadence', make_interval(mins => \(record.cadenceMinutes)),
            'price_lapses_after', make_interval(hours => \(record.priceLapsesHours)),
            'sight_lapses_after', make_interval(hours => \(record.sightLapsesHours)),
            'tells_whole_days', \(record.reportsWholeDays)::boolean,
            'attribution', \(record.attribution)::text,
            'is_enabled', \(record.isEnabled)::boolean,
            'calls_per_month', \(record.callsPerMonth)::integer,
            'account', \(record.account ?? record.feed)::text,
            'delay', make_interval(hours => \(record.delayHours)),
            'holding_confirms', \(record.holdingConfirms)::boolean,
            'kind', \(record.isArchive ? "archive" : "feed")::text,
            'scheme', \(record.scheme ?? record.feed)::text,
            'has_codes', \(record.hasCodes)::boolean,
            'publishes_tomorrow_at', \(optional: record.publishesTomorrowAt)::time),
          \(lapses.map(\.key))::text[],
          \(lapses.map(\.value))::integer[]) AS source_id
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
