import FuelModel
import Postgres
package import Timeline

/// What averages need beside prices: the states, the regions, and where stations count.
package struct RegionContext: Sendable {
  package var stations: [Int32: CountedStation] = [:]
  package var regions: [AveragedRegion] = []
  package var states: [String] = []
}

extension Days {
  /// Reads the states and the regions, and where each station counts.
  package func regionContext() throws -> RegionContext {
    var context = RegionContext()
    context.states = try connection.query("SELECT state FROM fuel.state ORDER BY state")
      .map { try $0.text("state") }
    let states = Dictionary(
      uniqueKeysWithValues: context.states.enumerated().map { ($0.element, $0.offset) })
    var regions: [String: Int] = [:]
    for row in try connection.query(
      """
      SELECT region, state, nullif(valid_from, '-infinity') AS valid_from,
        nullif(valid_to, 'infinity') AS valid_to, kind = 'state' AS is_state, kind = 'nation' AS is_nation
      FROM fuel.region
      -- A hub leaves the regions of a member to it, but needs the states by which a nation is complete.
      WHERE kind = 'state'
        OR region NOT IN (SELECT region FROM fuel.member_region WHERE member IS NOT NULL)
      ORDER BY region
      """)
    {
      let code = try row.text("region")
      regions[code] = context.regions.count
      context.regions.append(
        AveragedRegion(
          code: code, state: try row.optional("state").flatMap { states[$0] },
          validFrom: try row.optional("valid_from").flatMap { Day($0) },
          validTo: try row.optional("valid_to").flatMap { Day($0) },
          isState: try row.boolean("is_state"), isNation: try row.boolean("is_nation")))
    }
    for row in try connection.query(
      """
      SELECT counted.station_id, counted.state, counted.is_public,
        array_to_string(counted.regions, ',') AS regions
      FROM fuel.counted_place AS counted
      JOIN fuel.station USING (station_id)
      WHERE station.place_id = station.station_id
      """)
    {
      guard let state = states[try row.text("state")] else { continue }
      context.stations[Int32(try row.integer("station_id"))] = CountedStation(
        state: state, isPublic: try row.boolean("is_public"),
        regions: try row.text("regions").split(separator: ",").compactMap { regions[String($0)] })
    }
    for region in context.regions.indices {
      if let state = context.regions[region].state { context.regions[region].coveredIn = [state] }
    }
    // An area across borders is covered where its stations are.
    for station in context.stations.values {
      for region in station.regions
      where context.regions[region].state == nil && !context.regions[region].isNation {
        context.regions[region].coveredIn.insert(station.state)
      }
    }
    return context
  }

  /// Returns the fuels for which averages are made.
  package func averagedFuels() throws -> [Int16] {
    try connection.query("SELECT fuel_id FROM fuel.fuel WHERE is_averaged ORDER BY fuel_id")
      .map { Int16(try $0.integer("fuel_id")) }
  }
}
