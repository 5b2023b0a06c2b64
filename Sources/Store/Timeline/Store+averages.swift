package import FuelModel
import Postgres
package import Timeline

/// The stored daily averages of regions: `fuel.daily_rollup`.
extension Store {
  /// The largest number of stations and fuels for which a change edits finished averages station by
  /// station. For more of them, whole days are made again.
  package static let mostEdits = 200

  /// Replaces the stored averages of a span of days.
  package func replace(_ span: DirtySpan, with averages: [DailyAverage]) throws {
    try connection.query(
      """
      DELETE FROM fuel.daily_rollup
      WHERE fuel_id = ANY (\(span.fuelIDs)) AND day BETWEEN \(span.from) AND \(span.to)
      """)
    try insert(averages)
  }

  /// Replaces the stored averages of the same regions, fuels and days.
  package func replace(with averages: [DailyAverage]) throws {
    guard !averages.isEmpty else { return }
    try connection.query(
      """
      DELETE FROM fuel.daily_rollup
      USING unnest(
        \(averages.map(\.region))::text[], \(averages.map(\.fuelID))::smallint[],
        \(averages.map(\.day))::date[]
      ) AS made (region, fuel_id, day)
      WHERE daily_rollup.region = made.region
        AND daily_rollup.fuel_id = made.fuel_id
        AND daily_rollup.day = made.day
      """)
    try insert(averages)
  }

  private func insert(_ averages: [DailyAverage]) throws {
    guard !averages.isEmpty else { return }
    try connection.copy(
      into: """
        fuel.daily_rollup (
          region, fuel_id, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, coverage,
          is_ended, excluded_stale, excluded_flagged, excluded_restricted, stations_expected,
          is_complete, is_usable, complete_states, states, totals)
        """, columns: 20
    ) { copy in
      for average in averages {
        try copy.beginRow()
        copy.write(average.region)
        copy.write(average.fuelID)
        copy.write(average.day)
        for value in [
          average.average, average.median, average.quarter, average.lowest, average.highest,
        ] { copy.write(value, decimals: 2) }
        copy.write(Int32(average.stations))
        copy.write(average.coverage, decimals: 3)
        copy.write(average.isEnded)
        copy.write(average.totals.stale)
        copy.write(average.totals.flagged)
        copy.write(average.totals.restricted)
        copy.write(Int32(average.expected))
        copy.write(average.isComplete)
        copy.write(average.isUsable)
        copy.write(Int32(average.completeStates))
        copy.write(Int32(average.states))
        copy.write(bytes: average.totals.bytes)
      }
    }
  }

  // MARK: Changing single days

  /// Reads the stored months of stations and fuels, with one more month on either side.
  package func stationMonths(of spans: [MonthSpan]) throws -> [StationMonth] {
    guard !spans.isEmpty else { return [] }
    var found: [StationMonth] = []
    try connection.copy(
      from: """
        SELECT stored.station_id, stored.fuel_id, stored.month - '1970-01-01'::date AS month,
          stored.days
        FROM unnest(
          \(spans.map(\.pair.stationID))::integer[], \(spans.map(\.pair.fuelID))::smallint[],
          \(spans.map(\.first.firstDay))::date[], \(spans.map(\.last.firstDay))::date[]
        ) AS wanted (station_id, fuel_id, first_month, last_month)
        JOIN fuel.station_month AS stored
          ON stored.station_id = wanted.station_id
          AND stored.fuel_id = wanted.fuel_id
          AND stored.month BETWEEN wanted.first_month - interval '1 month'
            AND wanted.last_month + interval '1 month'
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      let month = Month(Day(sinceEpoch: Int(try row.int32())))
      found.append(
        StationMonth(pair: pair, month: month, days: StationDay.days(from: try row.bytes())))
    }
    return found
  }

  /// Returns the days of fuels that are marked to be made from all stations.
  package func dirtyDays(
    of fuelIDs: [Int16], from first: Day, to last: Day
  ) throws -> Set<FuelDay> {
    Set(
      try connection.query(
        """
        SELECT fuel_id, day FROM fuel.dirty_day
        WHERE fuel_id = ANY (\(fuelIDs)) AND day BETWEEN \(first) AND \(last)
        """
      ).map { FuelDay(fuelID: Int16(try $0.integer("fuel_id")), day: try $0.day("day")) })
  }

  /// Marks days of fuels to be made from all stations.
  package func markDirty(_ days: Set<FuelDay>) throws {
    guard !days.isEmpty else { return }
    let days = days.sorted { ($0.fuelID, $0.day) < ($1.fuelID, $1.day) }
    try connection.query(
      """
      INSERT INTO fuel.dirty_day (fuel_id, day)
      SELECT * FROM unnest(\(days.map(\.fuelID))::smallint[], \(days.map(\.day))::date[])
      ON CONFLICT ON CONSTRAINT dirty_day_pk DO UPDATE SET day = excluded.day
      """)
  }

  /// Reads the stored averages of some regions and fuels between two days.
  ///
  /// - Parameter regions: codes, each with the position that identifies the region in the result.
  /// - Returns: the stored averages. A value of `nil` marks a day that cannot be changed, because
  ///   it has not ended or its totals are not known.
  package func regionDays(
    of regions: [(position: Int, code: String)], fuelIDs: [Int16], from first: Day, to last: Day
  ) throws -> [RegionDay: StoredRegionDay?] {
    var found: [RegionDay: StoredRegionDay?] = [:]
    try connection.copy(
      from: """
        SELECT wanted.position, fuel_id, day - '1970-01-01'::date, is_ended::integer,
          is_complete::integer, complete_states, states, coalesce(totals, '')
        FROM unnest(
          \(regions.map { Int32($0.position) })::integer[], \(regions.map(\.code))::text[]
        ) AS wanted (position, region)
        JOIN fuel.daily_rollup USING (region)
        WHERE fuel_id = ANY (\(fuelIDs)::smallint[]) AND day BETWEEN \(first) AND \(last)
        """
    ) { row in
      let name = RegionDay(
        region: Int(try row.int32()), fuelID: try row.int16(),
        day: Day(sinceEpoch: Int(try row.int32())))
      let isEnded = try row.int32() == 1
      let isComplete = try row.int32() == 1
      let completeStates = Int(try row.int32())
      let states = Int(try row.int32())
      let totals = DayTotals(bytes: try row.bytes())
      found[name] = .some(
        isEnded
          ? totals.map {
            StoredRegionDay(
              totals: $0, isComplete: isComplete, completeStates: completeStates, states: states)
          } : nil)
    }
    return found
  }

  /// Returns the averages of ended days by region, fuel and day, in hundredths of a cent.
  package func regionAverages(
    of fuelIDs: [Int16], from first: Day, to last: Day
  ) throws -> [String: [Int16: [Day: Int]]] {
    var found: [String: [Int16: [Day: Int]]] = [:]
    for row in try connection.query(
      """
      SELECT region, fuel_id, day, (average_cpl * 100)::integer AS average
      FROM fuel.daily_rollup
      WHERE is_ended AND stations >= fuel.minimum_stations()
        AND fuel_id = ANY (\(fuelIDs)) AND day BETWEEN \(first) AND \(last)
      """)
    {
      let fuelID = Int16(try row.integer("fuel_id"))
      found[try row.text("region"), default: [:]][fuelID, default: [:]][try row.day("day")] =
        try row.integer("average")
    }
    return found
  }
}
