package import FuelModel
import Postgres
package import Timeline
import Views

/// What was reported, from which spans are made.
extension Spans {
  /// Reads everything that was reported about stations and fuels in some windows, and the last
  /// report before each window.
  ///
  /// - Parameter known: facts that were learnt later do not count; `nil` where all count.
  package func evidence(of windows: [Window], known: Instant? = nil) throws -> [Pair: [Evidence]] {
    let known = known ?? .distantFuture
    let earliest = windows.map(\.from).min() ?? .distantPast
    var found: [Pair: [Evidence]] = [:]
    found.reserveCapacity(windows.count)
    try connection.copy(
      from: """
        SELECT station_id, fuel_id, kind, record_id, source_id, at, price_tenths, learnt_at
        FROM fuel.evidence(
          \(windows.map(\.pair.stationID))::integer[], \(windows.map(\.pair.fuelID))::smallint[],
          \(windows.map(\.from))::timestamptz[],
          \(earliest)::timestamptz, \(known)::timestamptz)
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      found[pair, default: []].append(
        Evidence(
          kind: Evidence.Kind(rawValue: try row.int16()) ?? .price, recordID: try row.int32(),
          sourceID: try row.int16(), at: try row.instant(), price: try row.int32(),
          learntAt: try row.instant()))
    }
    return found
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

  /// Returns, for each of some feeds and in order, when complete lists were taken that confirm prices:
  /// those between two instants and the first one after.
  ///
  /// - Parameter known: lists fetched later do not count; `nil` where all count.
  package func lists(
    of feeds: some Collection<Int16>, from: Instant, until: Instant, known: Instant? = nil
  ) throws -> [Int16: [Instant]] {
    let known = known ?? .distantFuture
    var lists: [Int16: [Instant]] = [:]
    try connection.copy(
      from: """
        SELECT feed.source_id, run.taken_at
        FROM unnest(\(feeds.sorted())::smallint[]) AS feed (source_id)
        CROSS JOIN LATERAL (
          SELECT min(after.taken_at) AS at
          FROM fuel.run AS after
          WHERE after.source_id = feed.source_id
            AND after.is_complete
            AND after.confirms
            AND after.taken_at >= \(until)
            AND coalesce(after.fetched_at, after.taken_at) <= \(known)
        ) AS next
        JOIN fuel.run ON run.source_id = feed.source_id
          AND run.is_complete
          AND run.confirms
          AND run.taken_at >= \(from)
          AND run.taken_at <= coalesce(next.at, \(until))
          AND coalesce(run.fetched_at, run.taken_at) <= \(known)
        ORDER BY feed.source_id, run.taken_at
        """
    ) { row in
      lists[try row.int16(), default: []].append(try row.instant())
    }
    return lists
  }
}
