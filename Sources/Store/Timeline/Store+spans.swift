package import FuelModel
import Postgres
package import Timeline

/// A station and fuel.
package struct Pair: Hashable, Sendable, Comparable {
  package var stationID: Int32
  package var fuelID: Int16

  package init(stationID: Int32, fuelID: Int16) {
    self.stationID = stationID
    self.fuelID = fuelID
  }

  package static func < (left: Pair, right: Pair) -> Bool {
    (left.stationID, left.fuelID) < (right.stationID, right.fuelID)
  }

  // Both are hashed as one number, because tens of thousands of pairs are looked up for each list.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(Int64(stationID) << 16 | Int64(fuelID))
  }
}

/// A station or station record and a fuel, from one instant until another.
package struct Window: Sendable {
  package var pair: Pair
  package var from: Instant
  package var until: Instant

  package init(pair: Pair, from: Instant, until: Instant = .distantFuture) {
    self.pair = pair
    self.from = from
    self.until = until
  }
}

/// A validity span as it is stored, with its end as it is believed now.
package struct StoredSpan: Sendable {
  package var span: Span
  package var believedUntil: Instant
}

extension Store {
  /// Returns notes about what was reported since spans were made, with all notes about a station
  /// together.
  ///
  /// - Parameters:
  ///   - count: the largest number of notes.
  ///   - share: which share of all stations to take, and of how many. A station is in one share
  ///     with all its records.
  package func touched(atMost count: Int, share: (Int, of: Int) = (0, of: 1)) throws -> [Window] {
    try connection.query(
      """
      SELECT noted.station_id, noted.fuel_id, noted.from_at
      FROM fuel.touched AS noted
      JOIN (
        SELECT noted.station_id, noted.fuel_id
        FROM fuel.touched AS noted
        JOIN fuel.station USING (station_id)
        WHERE NOT noted.is_made AND station.place_id % \(share.of)::integer = \(share.0)::integer
        ORDER BY station.place_id, noted.station_id, noted.fuel_id
        LIMIT \(count)
      ) AS next USING (station_id, fuel_id)
      WHERE NOT noted.is_made
      -- All transactions lock these rows in this order.
      ORDER BY noted.station_id, noted.fuel_id
      FOR UPDATE OF noted
      """
    ).map(window)
  }

  /// Keeps notes about spans that have been made, until their doubts are judged.
  ///
  /// - Parameter from: the first instant from which spans were written.
  package func keepMade(_ touched: [Window], from: Instant) throws {
    try connection.query(
      """
      UPDATE fuel.touched AS noted SET
        is_made = true,
        from_at = least(noted.from_at, \(from)::timestamptz)
      FROM unnest(\(touched.map(\.pair.stationID))::integer[], \(touched.map(\.pair.fuelID))::smallint[])
        AS made (station_id, fuel_id)
      WHERE noted.station_id = made.station_id AND noted.fuel_id = made.fuel_id
      """)
  }

  /// Removes the notes about spans that have been made. Returns, for each fuel, the first instant
  /// from which spans were written.
  package func takeMade() throws -> [Int16: Instant] {
    try connection.query(
      """
      WITH made AS MATERIALIZED (
        SELECT station_id, fuel_id FROM fuel.touched WHERE is_made ORDER BY station_id, fuel_id FOR UPDATE
      ),
      taken AS (
        DELETE FROM fuel.touched
        USING made
        WHERE touched.station_id = made.station_id AND touched.fuel_id = made.fuel_id
        RETURNING touched.fuel_id, touched.from_at
      )
      SELECT 0 AS station_id, fuel_id, min(from_at) AS from_at FROM taken GROUP BY fuel_id
      """
    ).map(window).reduce(into: [:]) { $0[$1.pair.fuelID] = $1.from }
  }

  /// Notes that spans have to be made again from an instant on.
  package func touch(_ windows: [Window]) throws {
    guard !windows.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.touch(
        \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
        \(windows.map(\.from))::timestamptz[])
      """)
  }

  /// Returns how many notes there are about spans to be made, after those by month were turned into
  /// notes by station and fuel, and whether any notes about made spans are left.
  package func touchedCount() throws -> (toMake: Int, hasMade: Bool) {
    try connection.query("SELECT fuel.take_touched_months()")
    let row = try connection.query(
      """
      SELECT count(*) FILTER (WHERE NOT is_made) AS to_make, coalesce(bool_or(is_made), false) AS has_made
      FROM fuel.touched
      """
    ).only()
    return (try row.integer("to_make"), try row.boolean("has_made"))
  }

  /// Returns what the current transaction has changed, and ends the recording.
  package func takeChanged() throws -> [Window] {
    let windows = try connection.query(
      """
      SELECT station_id, fuel_id, min(begins_at) AS from_at
      FROM pg_temp.changed
      GROUP BY station_id, fuel_id
      """
    ).map(window)
    try connection.execute("DROP TABLE pg_temp.changed")
    return windows
  }

  private func window(_ row: Row) throws -> Window {
    Window(
      pair: try row.pair(),
      from: try row.text("from_at") == "-infinity" ? .distantPast : try row.instant("from_at"))
  }

  /// Returns the stations whose spans have to be made again because of touched records, and from
  /// which instant on.
  package func stations(of touched: [Window]) throws -> [Window] {
    try connection.query(
      """
      SELECT station_id, fuel_id, from_at
      FROM fuel.touched_stations(
        \(touched.map(\.pair.stationID)), \(touched.map(\.pair.fuelID)), \(touched.map(\.from)))
      ORDER BY station_id, fuel_id
      """
    ).map(window)
  }

  /// Reads everything that was reported about stations and fuels in some windows, and the last
  /// report before each window.
  ///
  /// - Parameter known: facts that were learnt later do not count; `nil` where all count.
  package func evidence(of windows: [Window], known: Instant? = nil) throws -> [Pair: [Evidence]] {
    let known = known ?? .distantFuture
    let earliest = windows.map(\.from).min() ?? .distantPast
    // Most stations were reported within the ten weeks before the window, so the tables of earlier
    // months are not even opened.
    let reportsFrom = earliest == .distantPast ? earliest : earliest - .seconds(70 * 86_400)
    var found: [Pair: [Evidence]] = [:]
    found.reserveCapacity(windows.count)
    // Rows of one pair mostly follow one another.
    var pair: Pair?
    var lines: [Evidence] = []
    func keep() {
      guard let pair else { return }
      found[pair, default: []].append(contentsOf: lines)
      lines.removeAll(keepingCapacity: true)
    }
    /// The records about which nothing was reported shortly before their windows, with their
    /// stations.
    var quiet: [(window: Window, pair: Pair, sourceID: Int16)] = []
    try connection.copy(
      from: """
        SELECT station_id, fuel_id, kind, record_id, source_id, at, price_tenths, learnt_at
        FROM fuel.evidence(
          \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
          \(windows.map(\.from))::timestamptz[],
          \(earliest)::timestamptz, \(reportsFrom)::timestamptz,
          \(known)::timestamptz)
        """
    ) { row in
      let next = Pair(stationID: try row.int32(), fuelID: try row.int16())
      if next != pair {
        keep()
        pair = next
      }
      let kind = Evidence.Kind(rawValue: try row.int16())
      let recordID = try row.int32()
      let line = Evidence(
        kind: kind ?? .price, recordID: recordID, sourceID: try row.int16(),
        at: try row.instant(), price: try row.int32(), learntAt: try row.instant())
      guard kind != nil else {
        let record = Pair(stationID: recordID, fuelID: next.fuelID)
        quiet.append((Window(pair: record, from: line.at), next, line.sourceID))
        return
      }
      lines.append(line)
    }
    keep()
    try addReports(before: quiet, known: known, to: &found)
    return found
  }

  private func addReports(
    before quiet: [(window: Window, pair: Pair, sourceID: Int16)], known: Instant,
    to found: inout [Pair: [Evidence]]
  ) throws {
    guard !quiet.isEmpty else { return }
    let stations = Dictionary(
      quiet.map { ($0.window.pair, (pair: $0.pair, sourceID: $0.sourceID)) }
    ) { first, _ in first }
    let windows = quiet.map(\.window)
    try connection.copy(
      from: """
        SELECT record_id, fuel_id, at, price_tenths, learnt_at
        FROM fuel.reports_before(
          \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
          \(windows.map(\.from))::timestamptz[], \(known)::timestamptz)
        """
    ) { row in
      let record = Pair(stationID: try row.int32(), fuelID: try row.int16())
      let (at, price, learntAt) = (try row.instant(), try row.int32(), try row.instant())
      guard let station = stations[record] else { return }
      found[station.pair, default: []].append(
        Evidence(
          kind: .price, recordID: record.stationID, sourceID: station.sourceID, at: at,
          price: price, learntAt: learntAt))
    }
  }

  /// Reads the stored spans that begin in windows.
  ///
  /// - Parameter before: how many spans before each window are read too.
  package func spans(of windows: [Window], before: Int = 0) throws -> [Pair: [StoredSpan]] {
    var found: [Pair: [StoredSpan]] = [:]
    guard !windows.isEmpty else { return found }
    try connection.copy(
      from: """
        SELECT * FROM fuel.spans_of(
          \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
          \(windows.map(\.from))::timestamptz[],
          \(windows.map(\.until))::timestamptz[], \(before)::integer,
          \(windows.map(\.from).min() ?? .distantPast)::timestamptz,
          \(windows.map(\.until).max() ?? .distantFuture)::timestamptz)
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      found[pair, default: []].append(try storedSpan(&row))
    }
    for pair in found.keys { found[pair]?.sort { $0.span.from < $1.span.from } }
    return found
  }

  private func storedSpan(_ row: inout BinaryRow) throws -> StoredSpan {
    let from = try row.instant()
    let until = try row.instant()
    let lapsesAt = try row.instant()
    let isOpen = try row.int16() == 1
    let isEnded = try row.int16() == 1
    let price = try row.int32()
    let sourceID = try row.int16()
    var span = Span(
      from: from, until: until, lapsesAt: lapsesAt, isOpen: isOpen, isEnded: isEnded, price: price,
      sourceID: sourceID, seenBy: try row.int16(), statedAt: try row.instant(),
      learntAt: try row.instant())
    span.isSuspect = try row.int16() == 1
    let doubt = try row.int16()
    let doubtFrom = try row.instant()
    let doubtUntil = try row.instant()
    if doubt > 0 {
      span.doubt = Doubt(
        reason: doubt == 1 ? .far : .placeholder, from: doubtFrom, until: doubtUntil)
    }
    return StoredSpan(span: span, believedUntil: try row.instant())
  }

  /// Reads the suspect spans of some fuels, whose prices lie far from their stations' own prices
  /// and whose first day touches a given time.
  package func suspects(
    fuelIDs: [Int16], from: Instant, until: Instant
  ) throws -> [Pair: [StoredSpan]] {
    let windows = try connection.query(
      """
      SELECT station_id, fuel_id, from_at
      FROM fuel.span
      WHERE is_suspect
        AND fuel_id = ANY (\(fuelIDs))
        AND from_at > \(from)::timestamptz - interval '24 hours'
        AND from_at < \(until)
      """
    ).map(window)
    var found: [Pair: [StoredSpan]] = [:]
    let begins = Dictionary(grouping: windows, by: \.pair).mapValues { Set($0.map(\.from)) }
    for (pair, spans) in try spans(of: windows) {
      found[pair] = spans.filter { begins[pair]?.contains($0.span.from) ?? false }
    }
    return found
  }

  /// Replaces the spans that begin in windows.
  ///
  /// - Parameter now: the clock, which decides which span is the present one.
  package func replace(_ windows: [Window], with spans: [Pair: [Span]], now: Instant) throws {
    guard !windows.isEmpty else { return }
    try connection.query(
      """
      DELETE FROM fuel.span
      USING unnest(
        \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
        \(windows.map(\.from))::timestamptz[]
      ) AS pair (station_id, fuel_id, from_at)
      WHERE span.station_id = pair.station_id
        AND span.fuel_id = pair.fuel_id
        AND span.from_at >= pair.from_at
        AND span.from_at >= \(windows.map(\.from).min() ?? .distantPast)
      """)
    let years = Set(
      windows.lazy.flatMap { spans[$0.pair] ?? [] }.map { $0.from.utcYear })
    try ensureSpanYears(years)
    // The rows are written in the order of the key.
    try connection.copy(into: "fuel.span", columns: 16) { copy in
      for window in windows {
        for span in spans[window.pair] ?? [] { try write(span, of: window.pair, to: &copy) }
      }
    }
    let emptied = windows.filter { spans[$0.pair]?.isEmpty ?? true }
    if !emptied.isEmpty {
      try connection.query(
        """
        DELETE FROM fuel.present_span
        USING unnest(
          \(emptied.map(\.pair.stationID))::integer[], \(emptied.map(\.pair.fuelID))::smallint[]
        ) AS pair (station_id, fuel_id)
        WHERE present_span.station_id = pair.station_id
          AND present_span.fuel_id = pair.fuel_id
          AND NOT EXISTS (
            SELECT
            FROM fuel.span
            WHERE span.station_id = pair.station_id AND span.fuel_id = pair.fuel_id)
        """)
    }
    try connection.query(
      """
      SELECT fuel.refresh_present_spans(
        \(windows.map(\.pair.stationID)), \(windows.map(\.pair.fuelID)), \(now))
      """)
  }

  /// Creates the missing partitions of `fuel.span` and `fuel.station_month` for some years.
  func ensureSpanYears(_ years: Set<Int>) throws {
    // Usually no partition is missing. Checking costs less than calling the function.
    try connection.query(
      """
      SELECT fuel.ensure_span_year(year)
      FROM unnest(\(years.sorted())::integer[]) AS year
      WHERE to_regclass('fuel.station_month_' || year) IS NULL
      """)
  }

  private func write(_ span: Span, of pair: Pair, to copy: inout BinaryCopy) throws {
    try copy.beginRow()
    copy.write(pair.stationID)
    copy.write(pair.fuelID)
    copy.write(span.from.sinceMillennium)
    copy.write(span.until.sinceMillennium)
    copy.write(span.lapsesAt.sinceMillennium)
    copy.write(span.isOpen)
    copy.write(span.isEnded)
    copy.write(span.price)
    copy.write(span.sourceID)
    copy.write(span.seenBy)
    copy.write(span.statedAt.sinceMillennium)
    copy.write(span.learntAt.sinceMillennium)
    copy.write(span.isSuspect)
    if let doubt = span.doubt {
      copy.write(doubt.reason.rawValue)
      copy.write(doubt.from.sinceMillennium)
      copy.write(doubt.until.sinceMillennium)
    } else {
      for _ in 0..<3 { copy.writeNull() }
    }
  }

  /// Marks the days on which prices of stations and fuels changed.
  ///
  /// For few stations and fuels, days that are made already are changed one by one; for more of
  /// them, whole days are made again.
  ///
  /// - Parameter isAggregate: whether nobody else can take marks meanwhile.
  package func markChangedDays(
    _ changed: [(pair: Pair, from: Instant, until: Instant)], isAggregate: Bool, now: Instant
  ) throws {
    guard !changed.isEmpty else { return }
    try connection.query(
      """
      SELECT fuel.mark_changed_days(
        \(changed.map(\.pair.stationID)), \(changed.map(\.pair.fuelID)), \(changed.map(\.from)),
        \(changed.map(\.until)), \(Self.mostEdits), \(isAggregate),
        \(now))
      """)
  }

  /// Returns the newest span of every fuel at some stations, and whether another one follows it.
  package func presentSpans(
    of stationIDs: [Int32]
  ) throws -> [Int32: [Int16: (span: Span, hasNext: Bool)]] {
    var found: [Int32: [Int16: (span: Span, hasNext: Bool)]] = [:]
    try connection.copy(
      from: """
        SELECT
          station_id, fuel_id, from_at, until_at, lapses_at, is_open::integer::smallint,
          is_ended::integer::smallint, price_tenths, source_id, seen_by, stated_at, learnt_at, 0::smallint,
          CASE doubt WHEN 'far' THEN 1 WHEN 'placeholder' THEN 2 ELSE 0 END::smallint,
          coalesce(doubt_from_at, from_at), coalesce(doubt_until_at, from_at),
          until_at, (next_from_at IS NOT NULL)::integer::smallint
        FROM fuel.present_span
        WHERE station_id = ANY (\(stationIDs)::integer[])
        """
    ) { row in
      let station = try row.int32()
      let fuel = try row.int16()
      let stored = try storedSpan(&row)
      found[station, default: [:]][fuel] = (stored.span, try row.int16() == 1)
    }
    return found
  }

  /// Stores which spans are doubtful.
  ///
  /// - Parameter doubts: the spans by station, fuel and beginning. `nil` removes the doubt.
  package func setDoubts(_ doubts: [(pair: Pair, from: Instant, doubt: Doubt?)]) throws {
    guard !doubts.isEmpty else { return }
    try connection.query(
      """
      WITH judged AS MATERIALIZED (
        SELECT *
        FROM unnest(
          \(doubts.map(\.pair.stationID))::integer[], \(doubts.map(\.pair.fuelID))::smallint[],
          \(doubts.map(\.from))::timestamptz[],
          \(doubts.map { $0.doubt?.reason.rawValue })::text[],
          \(doubts.map { $0.doubt?.from })::timestamptz[],
          \(doubts.map { $0.doubt?.until })::timestamptz[]
        ) AS judged (station_id, fuel_id, from_at, doubt, doubt_from_at, doubt_until_at)
      ),
      present AS (
        UPDATE fuel.present_span AS known SET
          doubt = judged.doubt,
          doubt_from_at = judged.doubt_from_at,
          doubt_until_at = judged.doubt_until_at
        FROM judged
        WHERE known.station_id = judged.station_id
          AND known.fuel_id = judged.fuel_id
          AND known.from_at = judged.from_at
      )
      UPDATE fuel.span AS known SET
        doubt = judged.doubt,
        doubt_from_at = judged.doubt_from_at,
        doubt_until_at = judged.doubt_until_at
      FROM judged
      WHERE known.station_id = judged.station_id
        AND known.fuel_id = judged.fuel_id
        AND known.from_at = judged.from_at
      """)
  }

  // MARK: Rules

  /// Returns how long each feed and archive is believed, by source and fuel. Only this function of
  /// the program reads these limits.
  package func reportRules() throws -> [Int16: [Int16: ReportRules]] {
    var archived: [String: [(Instant, Instant)]] = [:]
    for row in try connection.query(
      """
      SELECT covered.scheme,
        fuel.price_day_begin(covered.first_day, state.time_zone, state.price_day_starts) AS begins_at,
        fuel.price_day_begin(covered.last_day + 1, state.time_zone, state.price_day_starts) AS ends_at
      FROM fuel.archive_intervals() AS covered
      JOIN fuel.source USING (source_id)
      JOIN fuel.state USING (state)
      """)
    {
      archived[try row.text("scheme"), default: []].append(
        (try row.instant("begins_at"), try row.instant("ends_at")))
    }
    let rows = try connection.query(
      """
      SELECT
        source.source_id,
        source.scheme,
        source.kind = 'archive' AS is_archive,
        (extract(epoch FROM source.price_lapses_after) * 1000000)::bigint AS price_lapse,
        (extract(epoch FROM sight.lapses_after) * 1000000)::bigint AS sight_lapse,
        (extract(epoch FROM source.delay) * 1000000)::bigint AS delay,
        source.holding_confirms,
        coalesce((
          SELECT cardinality(run.stamps) > 0
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.composition_id IS NOT NULL
          ORDER BY run.taken_at DESC, run.run_id DESC
          LIMIT 1
        ), true) AS is_stamped,
        source.first_taken_at,
        sight.counts_from_at,
        coalesce((
          SELECT string_agg(
            fuel_id || ' ' || (extract(epoch FROM lapses_after) * 1000000)::bigint, ',')
          FROM fuel.price_lapse
          WHERE price_lapse.source_id = source.source_id
        ), '') AS by_fuel
      FROM fuel.source
      JOIN fuel.sight USING (source_id)
      WHERE source.first_taken_at IS NOT NULL
      """)
    for row in rows where try !row.boolean("is_archive") {
      archived[try row.text("scheme"), default: []].append(
        (try row.instant("first_taken_at"), .distantFuture))
    }
    let fuelIDs = try connection.query("SELECT fuel_id FROM fuel.fuel").map {
      Int16(try $0.integer("fuel_id"))
    }
    var rules: [Int16: [Int16: ReportRules]] = [:]
    for row in rows {
      let isArchive = try row.boolean("is_archive")
      let rule = ReportRules(
        priceLapse: Int64(try row.integer("price_lapse")),
        sightLapse: Int64(try row.integer("sight_lapse")), delay: Int64(try row.integer("delay")),
        countsFrom: try row.optionalInstant("counts_from_at") ?? .distantPast,
        holdingConfirms: try row.boolean("holding_confirms"),
        isStamped: try row.boolean("is_stamped"),
        covered: isArchive ? Coverage(archived[try row.text("scheme")] ?? []) : nil)
      var byFuel = Dictionary(uniqueKeysWithValues: fuelIDs.map { ($0, rule) })
      for entry in try row.text("by_fuel").split(separator: ",") {
        let words = entry.split(separator: " ")
        guard words.count == 2, let fuel = Int16(words[0]), let lapse = Int64(words[1]) else {
          continue
        }
        byFuel[fuel]?.priceLapse = lapse
        // An archive shows nothing between its reports.
        if isArchive { byFuel[fuel]?.sightLapse = lapse }
      }
      rules[Int16(try row.integer("source_id"))] = byFuel
    }
    return rules
  }

  /// Returns, for each feed, the times during which its complete lists follow one another closely
  /// enough, from an instant on.
  ///
  /// - Parameter known: lists fetched later do not count; `nil` where all count.
  package func sightings(
    from: Instant, now: Instant, known: Instant? = nil
  ) throws -> [Int16: Coverage] {
    var intervals: [Int16: [(Instant, Instant)]] = [:]
    for row in try connection.query(
      """
      SELECT source_id, from_at, until_at
      FROM fuel.list_intervals(
        \(from), \(now), \(known ?? .distantFuture))
      """)
    {
      intervals[Int16(try row.integer("source_id")), default: []].append(
        (try row.instant("from_at"), try row.instant("until_at")))
    }
    return intervals.mapValues { Coverage($0) }
  }

  /// Reads the positions of the stations where anybody may buy.
  package func neighbourhood() throws -> Neighbourhood {
    Neighbourhood(
      try connection.query(
        """
        SELECT station_id, state, latitude, longitude
        FROM fuel.station
        WHERE place_id = station_id AND is_public AND latitude IS NOT NULL
        """
      ).map { row in
        Neighbourhood.Station(
          id: Int32(try row.integer("station_id")), state: try row.text("state"),
          latitude: try row.optionalDouble("latitude") ?? 0,
          longitude: try row.optionalDouble("longitude") ?? 0)
      })
  }

  /// Returns the prices that a person has confirmed, in tenths of a cent.
  ///
  /// - Parameter known: later confirmations do not count; `nil` where all count.
  package func confirmedPrices(known: Instant? = nil) throws -> [Pair: Set<Int32>] {
    var found: [Pair: Set<Int32>] = [:]
    for row in try connection.query(
      """
      SELECT station.place_id AS station_id, confirmed.fuel_id, confirmed.price_tenths
      FROM fuel.price_confirmation AS confirmed
      JOIN fuel.station USING (station_id)
      WHERE confirmed.confirmed_at <= \(known ?? .distantFuture)
      """)
    {
      let pair = try row.pair()
      found[pair, default: []].insert(Int32(try row.integer("price_tenths")))
    }
    return found
  }
}

extension Row {
  /// Reads the station and fuel from a row with `station_id` and `fuel_id`.
  func pair() throws -> Pair {
    Pair(stationID: Int32(try integer("station_id")), fuelID: Int16(try integer("fuel_id")))
  }
}

extension BinaryRow {
  /// Reads a `timestamptz` that is never NULL.
  mutating func instant() throws -> Instant {
    let value = try int64()
    if value == .max { return .distantFuture }
    if value == .min { return .distantPast }
    return Instant(microseconds: value + Instant.millennium)
  }
}

extension Instant {
  /// The calendar year in UTC.
  fileprivate var utcYear: Int {
    Day(sinceEpoch: Int((microseconds / 1_000_000 - (microseconds < 0 ? 86_399 : 0)) / 86_400)).year
  }

  fileprivate static let millennium: Int64 = 946_684_800_000_000

  /// The instant as PostgreSQL counts it: microseconds since 2000-01-01 UTC.
  var sinceMillennium: Int64 {
    if self >= .distantFuture { return .max }
    if self <= .distantPast { return .min }
    return microseconds - Self.millennium
  }
}

extension Store {
  /// Returns how many of some stations and fuels have a doubtful price at an instant.
  package func presentDoubts(of pairs: [Pair], at now: Instant) throws -> Int {
    try connection.query(
      """
      SELECT count(*) AS count
      FROM (
        SELECT DISTINCT pair.station_id, pair.fuel_id
        FROM unnest(\(pairs.map(\.stationID))::integer[], \(pairs.map(\.fuelID))::smallint[])
          AS pair (station_id, fuel_id)
      ) AS pair
      JOIN fuel.present_span USING (station_id, fuel_id)
      WHERE doubt_from_at <= \(now) AND doubt_until_at > \(now)
      """
    ).only().integer("count")
  }
}

extension StoredSpan {
  /// The span with its end as it is believed now.
  package var believed: Span {
    var span = span
    span.until = believedUntil
    return span
  }
}
