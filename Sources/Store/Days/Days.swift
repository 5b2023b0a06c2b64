package import FuelModel
import Postgres
package import Timeline
import Views

/// One month of a station and fuel, with its days from the first on.
package struct StationMonth: Sendable {
  package var pair: Pair
  package var month: Month
  package var days: [StationDay]

  package init(pair: Pair, month: Month, days: [StationDay]) {
    self.pair = pair
    self.month = month
    self.days = days
  }
}

/// Days of stations and averages of regions.
package struct Days {
  let store: Store
  var connection: Connection { store.connection }
}

/// The stored days of stations: `fuel.station_month`.
extension Days {
  /// Replaces the stored months of stations.
  ///
  /// The number of stations expected in a month, and in the one after it, depends on the stations
  /// known in that month. Where this changes, the averages of both months are marked.
  ///
  /// - Parameter areMarksTaken: whether another connection may be making averages, so that an
  ///   existing mark may vanish at any instant.
  package func replace(
    _ spans: [MonthSpan], with months: [StationMonth], areMarksTaken: Bool = false, now: Instant
  ) throws {
    let known = months.filter { $0.days.contains { $0.standing == .known } }
    try connection.query(
      """
      WITH removed AS (
        DELETE FROM fuel.station_month
        USING unnest(
          \(spans.map(\.pair.stationID))::integer[], \(spans.map(\.pair.fuelID))::smallint[],
          \(spans.map(\.first.firstDay))::date[], \(spans.map(\.last.firstDay))::date[]
        ) AS made (station_id, fuel_id, first_month, last_month)
        WHERE station_month.station_id = made.station_id
          AND station_month.fuel_id = made.fuel_id
          AND station_month.month BETWEEN made.first_month AND made.last_month
        RETURNING station_month.station_id, station_month.fuel_id, station_month.month, known_days
      ),
      changed AS (
        SELECT DISTINCT fuel_id, month
        FROM (SELECT station_id, fuel_id, month FROM removed WHERE known_days > 0) AS before
        FULL JOIN unnest(
          \(known.map(\.pair.stationID))::integer[], \(known.map(\.pair.fuelID))::smallint[],
          \(known.map(\.month.firstDay))::date[]
        ) AS after (station_id, fuel_id, month) USING (station_id, fuel_id, month)
        WHERE before IS NULL OR after IS NULL
      )
      SELECT fuel.touch_averages(
        array_agg(changed.fuel_id),
        array_agg(
          daterange(changed.month, (changed.month + interval '2 months')::date)
            * daterange(NULL, (\(now)::timestamptz AT TIME ZONE 'UTC' + interval '14 hours')::date, '[]')),
        NOT \(areMarksTaken)::boolean)
      FROM changed
      HAVING count(*) > 0
      """)
    let years = Dictionary(grouping: months) { $0.month.firstDay.year }
    try store.spans.ensure(years: Set(years.keys))
    // Each partition gets its rows one after another.
    try connection.copy(into: "fuel.station_month", columns: 5) { copy in
      for month in years.sorted(by: { $0.key < $1.key }).flatMap(\.value) {
        try copy.beginRow()
        copy.write(month.pair.stationID)
        copy.write(month.pair.fuelID)
        copy.write(month.month.firstDay)
        copy.write(Int32(month.days.count { $0.standing == .known }))
        copy.write(bytes: StationDay.bytes(of: month.days))
      }
    }
  }

  /// Reads the days of stations within one month.
  ///
  /// - Parameter body: receives a station and fuel, whether a price is known on any day of the
  ///   whole month, and the days from `first` on, as far as they are made.
  package func stationDays(
    of fuelIDs: [Int16], from first: Day, to last: Day,
    _ body: (Pair, Bool, ArraySlice<StationDay>) -> Void
  ) throws {
    try connection.copy(
      from: """
        SELECT station_id, fuel_id, known_days, days
        FROM fuel.known_month
        WHERE month = \(Month(first).firstDay) AND fuel_id = ANY (\(fuelIDs)::smallint[])
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      let isKnown = try row.int32() > 0
      body(
        pair, isKnown,
        StationDay.days(from: try row.bytes()).prefix(last.day).dropFirst(first.day - 1))
    }
  }

  /// Returns the stations and fuels with a known price in a month.
  package func knownPairs(of fuelIDs: [Int16], in month: Month) throws -> Set<Pair> {
    var found: Set<Pair> = []
    try connection.copy(
      from: """
        SELECT station_id, fuel_id
        FROM fuel.known_month
        WHERE month = \(month.firstDay) AND fuel_id = ANY (\(fuelIDs)::smallint[]) AND known_days > 0
        """
    ) { row in
      found.insert(Pair(stationID: try row.int32(), fuelID: try row.int16()))
    }
    return found
  }

  /// Returns every station of some fuels that has validity spans, with the fuel.
  package func pairs(ofFuels fuelIDs: [Int16]) throws -> [Pair] {
    try connection.query(
      """
      SELECT station_id, fuel_id FROM fuel.present_span WHERE fuel_id = ANY (\(fuelIDs))
      ORDER BY station_id, fuel_id
      """
    ).map { try $0.pair() }
  }
}
