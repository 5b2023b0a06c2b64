package import FuelModel
import Postgres
package import Timeline

/// A station or station record and a fuel, from one instant until another.
package struct Window: Hashable, Sendable {
  package var pair: Pair
  package var from: Instant
  package var until: Instant

  package init(pair: Pair, from: Instant, until: Instant = .distantFuture) {
    self.pair = pair
    self.from = from
    self.until = until
  }
}

/// The newest span of a station and fuel that has begun, or the first one if none has.
package struct PresentSpan: Sendable {
  package var span: Span
  /// Whether another span follows it.
  package var hasNext: Bool
}

/// A validity span as it is stored, with its end as it is believed now.
package struct StoredSpan: Sendable {
  package var span: Span
  package var believedUntil: Instant
}

/// What is believed when, as spans, and the reports and rules from which spans are made.
package struct Spans {
  let store: Store
  var connection: Connection { store.connection }

  /// Takes the lock of the timeline until the transaction ends: waits until no other transaction
  /// stores reports or makes spans from them.
  ///
  /// - Parameter isShared: whether others that also share the lock may make spans meanwhile, of
  ///   other stations.
  package func lockTimeline(isShared: Bool = false) throws {
    // A rehearsal is one long transaction, which would hold up all others.
    guard !connection.isRehearsing else { return }
    // Where many feeds are read at once, the last one waits for all the others, hence the longer
    // limit. Any other lock is held for an instant only.
    try connection.execute(
      """
      SET LOCAL lock_timeout = '2min';
      SELECT pg_advisory_xact_lock\(isShared ? "_shared" : "")(3, 0);
      SET LOCAL lock_timeout = '\(Connection.lockTimeout)'
      """)
  }
}

/// The stored validity spans: `fuel.span` and `fuel.present_span`.
extension Spans {
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

  /// Replaces the spans that begin in windows.
  ///
  /// - Parameter now: the clock, which decides which span is the present one.
  package func replace(
    _ windows: [Window], with spans: [Pair: [Span]], now: Instant
  ) throws {
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
    var years: [Int: [(pair: Pair, spans: ArraySlice<Span>)]] = [:]
    for window in windows {
      var rest = (spans[window.pair] ?? [])[...]
      while let year = rest.first?.from.utc.day.year {
        let part = rest.prefix { $0.from.utc.day.year == year }
        years[year, default: []].append((window.pair, part))
        rest = rest.dropFirst(part.count)
      }
    }
    try ensure(years: Set(years.keys))
    // Each partition gets its rows one after another, in the order of the key.
    try connection.copy(into: "fuel.span", columns: 16) { copy in
      for (_, parts) in years.sorted(by: { $0.key < $1.key }) {
        for part in parts {
          for span in part.spans { try write(span, of: part.pair, to: &copy) }
        }
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

  /// Creates the missing partitions of `fuel.price`, `fuel.span` and `fuel.station_month`.
  func ensure(years: Set<Int>) throws {
    try connection.query(
      "SELECT fuel.ensure_year(year) FROM unnest(\(years.sorted())::integer[]) AS year")
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

  /// Returns the newest span of every fuel at some stations.
  package func presentSpans(of stationIDs: [Int32]) throws -> [Int32: [Int16: PresentSpan]] {
    var found: [Int32: [Int16: PresentSpan]] = [:]
    found.reserveCapacity(stationIDs.count)
    try connection.copy(
      from: """
        SELECT
          station_id, fuel_id, from_at, until_at, lapses_at, is_open::integer::smallint,
          is_ended::integer::smallint, price_tenths, source_id, seen_by, stated_at, learnt_at, 0::smallint,
          CASE doubt WHEN 'far' THEN 1 WHEN 'placeholder' THEN 2 ELSE 0 END::smallint,
          coalesce(doubt_from_at, from_at), coalesce(doubt_until_at, from_at),
          until_at, next_from_at IS NOT NULL
        FROM fuel.present_span
        WHERE station_id = ANY (\(stationIDs)::integer[])
        """
    ) { row in
      let station = try row.int32()
      let fuel = try row.int16()
      let span = try storedSpan(&row).span
      found[station, default: [:]][fuel] = PresentSpan(span: span, hasNext: try row.bool())
    }
    return found
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
