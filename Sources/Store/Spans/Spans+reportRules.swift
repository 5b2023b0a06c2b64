import FuelModel
import Postgres
package import Timeline
import Views

extension Spans {
  /// Returns how long each feed and archive is believed, by fuel and source. Only this function of
  /// the program reads these limits.
  package func reportRules() throws -> [Int16: [Int16: ReportRules]] {
    let covered = try coveredTimes()
    var rules: [Int16: [Int16: ReportRules]] = [:]
    for row in try connection.query(
      """
      SELECT source.source_id, lapse.fuel_id, source.holding_confirms, sight.counts_from_at,
        CASE WHEN source.kind = 'archive' THEN source.scheme END AS archived_scheme,
        (extract(epoch FROM lapse.lapses_after) * 1000000)::bigint AS price_lapse,
        -- An archive shows nothing between its reports.
        (extract(epoch FROM CASE WHEN source.kind = 'archive' THEN lapse.lapses_after ELSE sight.lapses_after END)
          * 1000000)::bigint AS sight_lapse,
        (extract(epoch FROM source.delay) * 1000000)::bigint AS delay,
        coalesce((
          SELECT cardinality(run.stamps) > 0
          FROM fuel.run
          WHERE run.source_id = source.source_id AND run.confirms AND run.composition_id IS NOT NULL AND run.pairs > 0
          ORDER BY run.taken_at DESC, run.run_id DESC
          LIMIT 1
        ), true) AS is_stamped
      FROM fuel.source
      JOIN fuel.sight USING (source_id)
      JOIN fuel.lapses() AS lapse USING (source_id)
      WHERE source.first_taken_at IS NOT NULL
      """)
    {
      let source = Int16(try row.integer("source_id"))
      rules[Int16(try row.integer("fuel_id")), default: [:]][source] = ReportRules(
        priceLapse: Int64(try row.integer("price_lapse")),
        sightLapse: Int64(try row.integer("sight_lapse")), delay: Int64(try row.integer("delay")),
        countsFrom: try row.optionalInstant("counts_from_at") ?? .distantPast,
        holdingConfirms: try row.boolean("holding_confirms"),
        isStamped: try row.boolean("is_stamped"),
        covered: try row.optional("archived_scheme").map { covered[$0] ?? Coverage([]) })
    }
    return rules
  }

  /// Returns the times that archives cover and those since the first run of a feed, by scheme.
  private func coveredTimes() throws -> [String: Coverage] {
    var times: [String: [(Instant, Instant)]] = [:]
    for row in try connection.query(
      """
      SELECT covered.scheme,
        fuel.price_day_begin(covered.first_day, state.time_zone, state.price_day_starts) AS begins_at,
        fuel.price_day_begin(covered.last_day + 1, state.time_zone, state.price_day_starts) AS ends_at
      FROM fuel.archive_intervals() AS covered
      JOIN fuel.source USING (source_id)
      JOIN fuel.state USING (state)
      UNION ALL
      SELECT feed.scheme, feed.first_taken_at, NULL
      FROM fuel.source AS feed
      WHERE feed.kind = 'feed' AND feed.first_taken_at IS NOT NULL
      """)
    {
      times[try row.text("scheme"), default: []].append(
        (try row.instant("begins_at"), try row.optionalInstant("ends_at") ?? .distantFuture))
    }
    return times.mapValues { Coverage($0) }
  }
}
