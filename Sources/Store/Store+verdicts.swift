package import FuelModel
import Postgres
package import Timeline
package import Trends

/// What is known of a region and fuel when a verdict has to be given.
package struct RegionNow: Sendable {
  package var region: String
  package var regionName: String
  /// When tomorrow's prices of the price day are published, and that in local time; `nil`: they are not.
  package var announced: (at: Instant, clock: String)?
  package var fuelID: Int16
  package var fuelName: String
  /// The price day of the verdict, and when it ends.
  package var day: Day
  package var dayEndsAt: Instant
  /// Stations with a believed price now.
  package var stations: Int
  /// Of these, those whose next price is known too, and the means of both over just them, c/L.
  package var stationsWithNext: Int
  package var today: Double?
  package var tomorrow: Double?
  package var tomorrowBeginsAt: Instant?
  /// Prices are published a day late: today's average is not known.
  package var isLate: Bool
  /// Daily averages up to today, with late data up to yesterday; `nil`: there are none.
  package var series: DailySeries?

  package init(
    region: String, regionName: String, announced: (at: Instant, clock: String)?, fuelID: Int16,
    fuelName: String, day: Day,
    dayEndsAt: Instant, stations: Int, stationsWithNext: Int, today: Double?, tomorrow: Double?,
    tomorrowBeginsAt: Instant?, isLate: Bool = false, series: DailySeries? = nil
  ) {
    self.region = region
    self.regionName = regionName
    self.announced = announced
    self.fuelID = fuelID
    self.fuelName = fuelName
    self.day = day
    self.dayEndsAt = dayEndsAt
    self.stations = stations
    self.stationsWithNext = stationsWithNext
    self.today = today
    self.tomorrow = tomorrow
    self.tomorrowBeginsAt = tomorrowBeginsAt
    self.isLate = isLate
    self.series = series
  }
}

/// One verdict as it is stored.
package struct VerdictRecord: Sendable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var judgement: Judgement
  package var method: String
  /// The means that it compared, c/L; `nil`: it compared none.
  package var today: Double?
  package var tomorrow: Double?
  package var stations: Int
  package var validUntil: Instant
  /// What it was judged by.
  package var series: DailySeries?

  package init(
    region: String, fuelID: Int16, day: Day, judgement: Judgement, method: String, today: Double?,
    tomorrow: Double?, stations: Int, validUntil: Instant, series: DailySeries?
  ) {
    self.region = region
    self.fuelID = fuelID
    self.day = day
    self.judgement = judgement
    self.method = method
    self.today = today
    self.tomorrow = tomorrow
    self.stations = stations
    self.validUntil = validUntil
    self.series = series
  }
}

/// The daily averages of one region and fuel that verdicts may rest on.
package struct RegionSeries: Sendable {
  package var region: String
  package var fuelID: Int16
  /// With how many stations each rests on, oldest first.
  package var averages: [(day: Day, average: Double, stations: Int)]
}

extension Store {
  /// Every region and fuel with a believed price now, with today beside tomorrow. Means have two
  /// decimals, so that ties are ties everywhere.
  package func regionsNow(now: Instant) throws -> [RegionNow] {
    let known = Dictionary(
      uniqueKeysWithValues: try regionSeries(days: Outlook.mostDays, until: now).map {
        ("\($0.region) \($0.fuelID)", $0)
      })
    let rows = try connection.transaction {
      try connection.query("SELECT set_config('bowser.now', \(now.description), true)")
      return try connection.query(
        """
        SELECT
          region.region,
          region.name,
          region.state,
          price.fuel_id,
          fuel.name AS fuel_name,
          place.day,
          fuel.price_day_begin(place.day + 1, place.time_zone, place.starts) AS day_ends_at,
          -- Where a state publishes late, what is known of all of them is a day old.
          max(region_delay.delay) >= interval '12 hours' OR region.state IS NULL AND EXISTS (
            SELECT
            FROM fuel.source
            WHERE source.delay >= interval '12 hours' AND source.first_taken_at IS NOT NULL
          ) AS is_late,
          count(*) AS stations,
          count(price.next_tenths) AS stations_with_next,
          round(avg(price.price_tenths) FILTER (WHERE price.next_tenths > 0) / 10, 2) AS today_cpl,
          round(avg(price.next_tenths) / 10, 2) AS tomorrow_cpl,
          min(price.next_effective_at) AS tomorrow_begins_at,
          place.announced_at,
          to_char(place.announced_at AT TIME ZONE place.time_zone, 'HH24:MI') AS announced_clock
        FROM fuel.region
        JOIN fuel.region_station USING (region)
        JOIN fuel.region_delay USING (region)
        JOIN (
          SELECT
            price_now.station_id,
            price_now.fuel_id,
            price_now.price_tenths,
            next.next_tenths,
            next.next_effective_at
          FROM fuel.price_now
          LEFT JOIN LATERAL (
            SELECT price_now.next_tenths, price_now.next_effective_at
            WHERE price_now.next_tenths > 0
              AND price_now.next_effective_at < price_now.now_at + interval '36 hours'
          ) AS next ON true
          WHERE price_now.is_counted
        ) AS price USING (station_id)
        JOIN fuel.fuel ON fuel.fuel_id = price.fuel_id AND fuel.is_averaged
        LEFT JOIN fuel.state ON state.state = region.state
        CROSS JOIN LATERAL (
          SELECT
            coalesce(state.time_zone, 'Australia/Sydney') AS time_zone,
            coalesce(state.price_day_starts, '0') AS starts,
            fuel.price_day(
              fuel.clock(), coalesce(state.time_zone, 'Australia/Sydney'),
              coalesce(state.price_day_starts, '0')) AS day
        ) AS local
        CROSS JOIN LATERAL (
          SELECT local.*, fuel.tomorrow_published_at(region.state, local.day) AS announced_at
        ) AS place
        GROUP BY
          region.region, region.name, region.state, price.fuel_id, fuel.name, place.day,
          place.time_zone, place.starts, place.announced_at
        ORDER BY region.region, price.fuel_id
        """)
    }
    return try rows.map { row in
      let region = try row.text("region")
      let fuelID = Int16(try row.integer("fuel_id"))
      let day = try row.day("day")
      let isLate = try row.boolean("is_late")
      return RegionNow(
        region: region, regionName: try row.text("name"),
        announced: try announcement(row), fuelID: fuelID,
        fuelName: try row.text("fuel_name"), day: day, dayEndsAt: try row.instant("day_ends_at"),
        stations: try row.integer("stations"),
        stationsWithNext: try row.integer("stations_with_next"),
        today: try row.optionalDouble("today_cpl"),
        tomorrow: try row.optionalDouble("tomorrow_cpl"),
        tomorrowBeginsAt: try row.optionalInstant("tomorrow_begins_at"), isLate: isLate,
        series: known["\(region) \(fuelID)"].flatMap {
          DailySeries($0.averages, upTo: isLate ? day + -1 : day)
        })
    }
  }

  /// When tomorrow's prices are published, out of a row with `announced_at` and `announced_clock`.
  func announcement(_ row: Row) throws -> (at: Instant, clock: String)? {
    try row.optionalInstant("announced_at").map { ($0, try row.text("announced_clock")) }
  }

  /// The daily averages that verdicts may rest on: of enough stations, for most of the day so far.
  ///
  /// - Parameter days: how many days back from an instant; `nil`: all that are over.
  package func regionSeries(days: Int?, until now: Instant) throws -> [RegionSeries] {
    try connection.query(
      """
      SELECT
        daily_rollup.region,
        daily_rollup.fuel_id,
        string_agg(
          (daily_rollup.day - date '1970-01-01') || ' ' || daily_rollup.average_cpl || ' '
            || daily_rollup.stations,
          ',' ORDER BY daily_rollup.day) AS averages
      FROM fuel.daily_rollup
      JOIN fuel.fuel USING (fuel_id)
      WHERE fuel.is_averaged
        AND daily_rollup.is_usable
        AND (daily_rollup.is_ended OR \(optional: days)::integer IS NOT NULL)
        AND daily_rollup.day > coalesce((\(now)::timestamptz)::date - \(optional: days)::integer, '-infinity')
        AND daily_rollup.day <= (\(now)::timestamptz + interval '14 hours')::date
      GROUP BY daily_rollup.region, daily_rollup.fuel_id
      ORDER BY daily_rollup.region, daily_rollup.fuel_id
      """
    ).map { row in
      RegionSeries(
        region: try row.text("region"), fuelID: Int16(try row.integer("fuel_id")),
        averages: try row.text("averages").split(separator: ",").compactMap { entry in
          let parts = entry.split(separator: " ")
          guard parts.count == 3, let day = Int(parts[0]), let average = Double(parts[1]),
            let stations = Int(parts[2])
          else { return nil }
          return (Day(sinceEpoch: day), average, stations)
        })
    }
  }

  /// Keeps the verdicts that differ from the last one given for their region and fuel. Within a day one
  /// does not turn for a tenth of a cent, and words about a price that moved by less than half a cent are
  /// no news.
  ///
  /// - Returns: how many were new.
  package func keep(_ verdicts: [VerdictRecord], now: Instant) throws -> Int {
    guard !verdicts.isEmpty else { return 0 }
    let judgements = verdicts.map(\.judgement)
    let markets = judgements.map(\.market)
    return try connection.transaction {
      try connection.query(
        """
        INSERT INTO fuel.verdict (
          region, fuel_id, computed_at, day, verdict, basis, rule, method, record_cpl, reason, today_cpl,
          tomorrow_cpl, stations, expected_saving_cpl, confidence, valid_until_at, based_on_day,
          average_cpl, before_cpl, change_1d_cpl, phase, days_in_phase, last_trough_cpl, last_peak_cpl,
          inputs_md5)
        SELECT
          given.region, given.fuel_id, \(now)::timestamptz, given.day, given.verdict, given.basis,
          given.rule, given.method, given.record_cpl, given.reason, given.today_cpl, given.tomorrow_cpl,
          given.stations, given.expected_saving_cpl, given.confidence, given.valid_until_at,
          given.based_on_day, given.average_cpl, given.before_cpl, given.change_1d_cpl, given.phase,
          given.days_in_phase, given.last_trough_cpl, given.last_peak_cpl, md5(given.inputs)::uuid
        FROM unnest(
          \(verdicts.map(\.region))::text[], \(verdicts.map(\.fuelID))::smallint[],
          \(verdicts.map(\.day))::date[], \(judgements.map(\.advice.rawValue))::text[],
          \(judgements.map(\.basis.rawValue))::text[], \(judgements.map(\.rule))::text[],
          \(verdicts.map(\.method))::text[], \(judgements.map(\.record))::numeric(6, 2)[],
          \(judgements.map(\.reason))::text[], \(verdicts.map(\.today))::numeric(6, 2)[],
          \(verdicts.map(\.tomorrow))::numeric(6, 2)[], \(verdicts.map(\.stations))::integer[],
          \(judgements.map(\.expectedSaving))::numeric(6, 2)[],
          \(judgements.map(\.confidence))::numeric(3, 2)[],
          \(verdicts.map(\.validUntil))::timestamptz[], \(markets.map(\.basedOn))::date[],
          \(markets.map(\.average))::numeric(6, 2)[],
          \(verdicts.map { verdict in
            verdict.judgement.market.basedOn.flatMap { verdict.series?[$0 + -1] }
          })::numeric(6, 2)[],
          \(markets.map(\.change))::numeric(6, 2)[],
          \(markets.map { $0.isRising.map { $0 ? "rising" : "falling" } })::text[],
          \(markets.map(\.daysInPhase))::integer[], \(markets.map(\.lastTrough))::numeric(6, 2)[],
          \(markets.map(\.lastPeak))::numeric(6, 2)[],
          \(verdicts.map { $0.series?.text ?? "" })::text[]
        ) AS given (
          region, fuel_id, day, verdict, basis, rule, method, record_cpl, reason, today_cpl, tomorrow_cpl,
          stations, expected_saving_cpl, confidence, valid_until_at, based_on_day, average_cpl,
          before_cpl, change_1d_cpl, phase, days_in_phase, last_trough_cpl, last_peak_cpl, inputs)
        LEFT JOIN LATERAL (
          SELECT verdict.*
          FROM fuel.verdict
          WHERE verdict.region = given.region AND verdict.fuel_id = given.fuel_id
          ORDER BY verdict.computed_at DESC
          LIMIT 1
        ) AS last ON true
        CROSS JOIN LATERAL (
          SELECT abs(last.average_cpl - given.average_cpl) AS cpl
        ) AS moved
        WHERE CASE
          WHEN (last.day, last.method, last.valid_until_at) IS DISTINCT FROM (
              given.day, given.method, given.valid_until_at)
            OR (last.basis = 'tomorrow_price') IS DISTINCT FROM (given.basis = 'tomorrow_price')
            THEN true
          WHEN last.verdict <> given.verdict AND given.basis <> 'tomorrow_price'
            THEN coalesce(moved.cpl >= 0.1, true)
          WHEN (last.verdict, last.basis, last.rule, last.today_cpl, last.tomorrow_cpl)
            IS DISTINCT FROM (
              given.verdict, given.basis, given.rule, given.today_cpl, given.tomorrow_cpl)
            THEN true
          WHEN given.average_cpl IS NULL OR last.average_cpl IS NULL
            THEN last.reason <> given.reason
          ELSE moved.cpl >= 0.5
        END
        ON CONFLICT ON CONSTRAINT verdict_pk DO NOTHING
        """
      ).affected
    }
  }

  /// Keeps where every market stands: whether it cycles, and its last cycles.
  package func keepMarkets(_ verdicts: [VerdictRecord]) throws {
    let cycling = verdicts.filter { $0.judgement.market.isCycling }
    let cycles = cycling.flatMap { verdict in
      verdict.judgement.market.cycles.filter { $0.endsOn != nil }.suffix(5).map { (verdict, $0) }
    }
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.market; DELETE FROM fuel.cycle")
      try connection.query(
        """
        INSERT INTO fuel.market (region, fuel_id, is_cycling, trough_on, typical_days)
        SELECT * FROM unnest(
          \(verdicts.map(\.region))::text[], \(verdicts.map(\.fuelID))::smallint[],
          \(verdicts.map(\.judgement.market.isCycling))::boolean[],
          \(verdicts.map { $0.judgement.market.isCycling ? $0.judgement.market.lastTroughOn : nil })::date[],
          \(verdicts.map(\.judgement.market.typicalDays))::integer[])
        """)
      try connection.query(
        """
        INSERT INTO fuel.cycle (region, fuel_id, trough_on, trough_cpl, peak_on, peak_cpl, ends_on)
        SELECT * FROM unnest(
          \(cycles.map(\.0.region))::text[], \(cycles.map(\.0.fuelID))::smallint[],
          \(cycles.map(\.1.troughOn))::date[], \(cycles.map(\.1.trough))::numeric(6, 2)[],
          \(cycles.map(\.1.peakOn))::date[], \(cycles.map(\.1.peak))::numeric(6, 2)[],
          \(cycles.map(\.1.endsOn))::date[])
        """)
    }
  }

  /// The fuels of which prices are believed now, and the last day of the habits that are known.
  package func habitsDue(now: Instant) throws -> (fuelIDs: [Int16], until: Day?) {
    let row = try connection.query(
      """
      SELECT
        (SELECT max(until_day) FROM fuel.station_habit) AS until_day,
        coalesce((
          SELECT string_agg(DISTINCT pair.fuel_id::text, ',')
          FROM fuel.present_span AS pair
          JOIN fuel.fuel USING (fuel_id)
          JOIN fuel.source ON source.source_id = pair.seen_by
          WHERE fuel.is_averaged AND source.last_taken_at > \(now)::timestamptz - interval '7 days'
        ), '') AS fuel_ids
      """
    ).only()
    return (
      try row.text("fuel_ids").split(separator: ",").compactMap { Int16($0) }.sorted(),
      try row.optional("until_day").flatMap { Day($0) }
    )
  }

  package func keepHabits(_ habits: [StationHabit], until day: Day) throws {
    try connection.transaction {
      try connection.execute("DELETE FROM fuel.station_habit")
      try connection.query(
        """
        INSERT INTO fuel.station_habit (station_id, fuel_id, region, difference_cpl, days, until_day)
        SELECT made.station_id, made.fuel_id, made.region, made.difference / 100.0, made.days, \(day)
        FROM unnest(
          \(habits.map(\.placeID))::integer[], \(habits.map(\.fuelID))::smallint[],
          \(habits.map(\.region))::text[], \(habits.map(\.difference))::integer[],
          \(habits.map(\.days))::integer[]
        ) AS made (station_id, fuel_id, region, difference, days)
        """)
    }
  }
}
