package import FuelModel
import Postgres
import Timeline
import Views

extension Stations {
  /// Runs `body`, which links station records, if anything has come that may change which records
  /// are one station.
  ///
  /// It runs in one transaction that locks every source. Whoever stores more meanwhile waits before
  /// marking it, so no mark is lost.
  ///
  /// - Parameter decisions: the decisions of persons, which replace the stored ones; `nil` leaves
  ///   those as they are.
  /// - Returns: whether one of the decisions was not stored before.
  package func matchIfDue(
    decisions: [StationDecision]?, _ body: () throws -> Void
  ) throws -> Bool {
    let areNew = try decisions.map { try keep($0) } ?? false
    guard try areLinksDue() else { return areNew }
    try connection.transaction {
      try connection.query("SELECT FROM fuel.source ORDER BY source_id FOR UPDATE")
      try connection.execute(
        """
        SELECT fuel.sight_days(source_id, NULL, '-infinity') FROM fuel.source WHERE kind = 'feed' AND NOT has_codes;
        SELECT fuel.date_wordings()
        """)
      try body()
    }
    return areNew
  }

  /// Replaces the stored decisions of persons. If any differs, links are due.
  private func keep(_ decisions: [StationDecision]) throws -> Bool {
    try connection.transaction {
      let (areGone, areNew) = try replaceRows(
        of: "fuel.station_decision",
        by: decisions.map {
          [
            "decided_on": $0.day.description, "first_source": $0.firstSource,
            "first_station": $0.firstCode, "second_source": $0.secondSource,
            "second_station": $0.secondCode, "is_same": $0.isSame, "reason": $0.reason,
          ]
        })
      if areGone || areNew { try connection.execute("UPDATE fuel.source SET are_links_due = true") }
      return areNew
    }
  }

  /// Whether anything has come that may change which records are one station.
  private func areLinksDue() throws -> Bool {
    try connection.query(
      """
      SELECT EXISTS (SELECT FROM fuel.source WHERE source.are_links_due)
        -- A feed reports a station under another record, and more recently, than under the one that
        -- represents it, unless a person placed the former behind the latter.
        OR EXISTS (
          SELECT
          FROM fuel.station AS record
          JOIN fuel.source ON source.source_id = record.source_id AND source.kind = 'feed'
          JOIN fuel.station AS head ON head.station_id = record.place_id
          JOIN fuel.source AS head_source ON head_source.source_id = head.source_id
          JOIN fuel.shown_price AS pair ON pair.station_id = record.station_id
          WHERE record.place_id <> record.station_id
            AND NOT EXISTS (
              SELECT FROM fuel.station_decision AS decision
              WHERE decision.is_same
                AND (decision.first_source, decision.first_station) = (head_source.source, head.station_code)
                AND (decision.second_source, decision.second_station) = (source.source, record.station_code))
            AND pair.stamped_at > (
              SELECT coalesce(max(shown.stamped_at), '-infinity')
              FROM fuel.shown_price AS shown
              WHERE shown.station_id = record.place_id)) AS is_due
      """
    ).only().boolean("is_due")
  }

  /// Returns the stored decisions of persons.
  package func stationDecisions() throws -> [StationDecision] {
    try connection.query("SELECT * FROM fuel.station_decision").map { row in
      StationDecision(
        day: try row.day("decided_on"), firstSource: try row.text("first_source"),
        firstCode: try row.text("first_station"), secondSource: try row.text("second_source"),
        secondCode: try row.text("second_station"), isSame: try row.boolean("is_same"),
        reason: try row.text("reason"))
    }
  }

  /// Returns every feed and archive with the codes of its stations: all codes of these sources, and
  /// none of the others.
  package func stationCodes(of sources: [String]) throws -> [String: Set<String>] {
    var codes: [String: Set<String>] = [:]
    for row in try connection.query(
      """
      SELECT source.source, station.station_code
      FROM fuel.source
      LEFT JOIN fuel.station
        ON station.source_id = source.source_id AND source.source = ANY (\(sources)::text[])
      """)
    {
      let source = try row.text("source")
      codes[source, default: []].formUnion(try row.optional("station_code").map { [$0] } ?? [])
    }
    return codes
  }

  /// Returns every station record of every source, by number.
  package func stationRecords() throws -> [StationRecord] {
    var records = try undescribedRecords()
    try describe(&records)
    return records.values.sorted { $0.id < $1.id }
  }

  private func undescribedRecords() throws -> [Int: StationRecord] {
    var records: [Int: StationRecord] = [:]
    let rows = try connection.query(
      """
      SELECT
        record.station_id, source.source, source.scheme, record.station_code,
        source.kind = 'archive' AS is_archive,
        source.has_codes AS is_coded,
        price.last_at IS NOT NULL OR source.kind = 'archive' AS has_prices,
        price.last_at,
        coalesce(price.learnt_at > coalesce(source.last_listed_at, '-infinity'), false)
          AND source.kind = 'feed' AS awaits_list,
        record.latitude::float8::text AS latitude,
        record.longitude::float8::text AS longitude
      FROM fuel.station AS record
      JOIN fuel.source USING (source_id)
      LEFT JOIN (
        SELECT pair.station_id, max(pair.stamped_at) AS last_at, max(pair.learnt_at) AS learnt_at
        FROM fuel.shown_price AS pair
        GROUP BY pair.station_id
      ) AS price USING (station_id)
      """)
    for row in rows {
      let id = try row.integer("station_id")
      records[id] = StationRecord(
        id: id, source: try row.text("source"), scheme: try row.text("scheme"),
        code: try row.text("station_code"), isArchive: try row.boolean("is_archive"),
        isCoded: try row.boolean("is_coded"), hasPrices: try row.boolean("has_prices"),
        lastReported: try row.optionalInstant("last_at"),
        position: Position(
          latitude: try row.optional("latitude").flatMap { Double($0) },
          longitude: try row.optional("longitude").flatMap { Double($0) }))
      records[id]?.awaitsList = try row.boolean("awaits_list")
    }
    return records
  }

  private func describe(_ records: inout [Int: StationRecord]) throws {
    let descriptions = try connection.query(
      """
      SELECT
        description.station_id, description.name, description.address, description.suburb,
        (min(description.first_seen_at) AT TIME ZONE description.time_zone)::date AS first_on,
        (max(description.last_seen_at - interval '1 second')
          AT TIME ZONE description.time_zone)::date AS last_on
      FROM fuel.station_description AS description
      GROUP BY
        description.station_id, description.name, description.address, description.suburb,
        description.time_zone
      ORDER BY
        description.station_id, description.name, description.address, description.suburb,
        description.time_zone
      """)
    for row in descriptions {
      let first = try row.day("first_on")
      records[try row.integer("station_id")]?.describe(
        name: try row.text("name"), address: try row.text("address"),
        suburb: try row.optional("suburb"), from: first, until: max(first, try row.day("last_on")))
    }
  }

  /// Returns when station records were seen. For the prices of a feed without codes, the days on
  /// which they began count. Codes tell stations apart by themselves.
  package func presence(of records: [Int]) throws -> [Int: Presence] {
    var found: [Int: Presence] = [:]
    guard !records.isEmpty else { return found }
    for row in try connection.query(
      """
      SELECT station_id, month, bit_or(days) AS days
      FROM fuel.station_sighting
      WHERE station_id = ANY (\(records)::integer[])
      GROUP BY station_id, month
      """)
    {
      let month = Month(try row.day("month"))
      let days = UInt32(bitPattern: Int32(try row.integer("days")))
      found[try row.integer("station_id"), default: Presence()].days[month, default: 0] |= days
    }
    for row in try connection.query("SELECT * FROM fuel.listed_times(\(records)::integer[])") {
      let from = try row.instant("from_at")
      let until = try row.optionalInstant("until_at") ?? .distantFuture
      found[try row.integer("station_id"), default: Presence()].listed.append(from..<until)
    }
    return found
  }

  /// Stores the links that matching found, and the pairs that it left for a person to decide.
  ///
  /// - Parameter undecided: feeds that have to be matched again even if nothing new comes.
  /// - Returns: the number of records whose link changed.
  package func link(
    _ matches: [(record: Int, station: Int, by: String, doubt: String?)], likely: [LikelyPair],
    undecided: Set<String>, now: Instant
  ) throws -> Int {
    try connection.query(
      """
      CREATE TEMPORARY TABLE wanted_match ON COMMIT DROP AS
      SELECT wanted.*
      FROM unnest(
        \(matches.map(\.record))::integer[], \(matches.map(\.station))::integer[],
        \(matches.map(\.by))::text[], \(matches.map(\.doubt))::text[]
      ) AS wanted (station_id, place_id, matched_by, match_doubt)
      """)
    let changed = try connection.query(
      "SELECT fuel.link_stations(\(undecided.sorted())) AS changed"
    ).only().integer("changed")
    try connection.execute("DROP TABLE pg_temp.wanted_match")
    try replaceRows(
      of: "fuel.station_doubt",
      by: likely.map {
        ["first_id": $0.first, "second_id": $0.second, "score": $0.score, "why": $0.why]
      })
    return changed
  }
}
