import FuelModel
import Postgres
package import Timeline

extension Store {
  /// Returns how long each feed and archive is believed, by source and fuel. Only this function of
  /// the program reads these limits.
  package func reportRules() throws -> [Int16: [Int16: ReportRules]] {
    var archived = try archivedTimes()
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

  /// Returns the times that archives cover, by scheme.
  private func archivedTimes() throws -> [String: [(Instant, Instant)]] {
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
    return archived
  }
}
