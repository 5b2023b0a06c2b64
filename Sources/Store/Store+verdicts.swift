package import FuelModel
import Postgres

/// What is known of a region and fuel when a verdict has to be given.
package struct Outlook: Sendable, Equatable {
  package var region: String
  package var regionName: String
  package var state: State?
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

  package init(
    region: String, regionName: String, state: State?, fuelID: Int16, fuelName: String, day: Day,
    dayEndsAt: Instant, stations: Int, stationsWithNext: Int, today: Double?, tomorrow: Double?,
    tomorrowBeginsAt: Instant?
  ) {
    self.region = region
    self.regionName = regionName
    self.state = state
    self.fuelID = fuelID
    self.fuelName = fuelName
    self.day = day
    self.dayEndsAt = dayEndsAt
    self.stations = stations
    self.stationsWithNext = stationsWithNext
    self.today = today
    self.tomorrow = tomorrow
    self.tomorrowBeginsAt = tomorrowBeginsAt
  }
}

/// One verdict as it is stored.
package struct VerdictRecord: Sendable, Equatable {
  package var region: String
  package var fuelID: Int16
  package var day: Day
  package var verdict: String
  package var basis: String
  package var rule: String?
  package var method: String
  package var reason: String
  package var today: Double?
  package var tomorrow: Double?
  package var stations: Int
  package var expectedSaving: Double?
  package var validUntil: Instant

  package init(
    region: String, fuelID: Int16, day: Day, verdict: String, basis: String, rule: String?,
    method: String, reason: String, today: Double?, tomorrow: Double?, stations: Int,
    expectedSaving: Double?, validUntil: Instant
  ) {
    self.region = region
    self.fuelID = fuelID
    self.day = day
    self.verdict = verdict
    self.basis = basis
    self.rule = rule
    self.method = method
    self.reason = reason
    self.today = today
    self.tomorrow = tomorrow
    self.stations = stations
    self.expectedSaving = expectedSaving
    self.validUntil = validUntil
  }
}

extension Store {
  /// Every region and fuel with a believed price now, with today beside tomorrow. Means have two
  /// decimals, so that ties are ties everywhere.
  package func outlooks(now: Instant) throws -> [Outlook] {
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
          count(*) AS stations,
          count(price.next_tenths) AS stations_with_next,
          round(avg(price.price_tenths) FILTER (WHERE price.next_tenths > 0) / 10, 2) AS today_cpl,
          round(avg(price.next_tenths) / 10, 2) AS tomorrow_cpl,
          min(price.next_effective_at) AS tomorrow_begins_at
        FROM fuel.region
        JOIN fuel.region_station USING (region)
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
        ) AS place
        GROUP BY
          region.region, region.name, region.state, price.fuel_id, fuel.name, place.day,
          place.time_zone, place.starts
        ORDER BY region.region, price.fuel_id
        """)
    }
    return try rows.map { row in
      Outlook(
        region: try row.text("region"), regionName: try row.text("name"),
        state: try row.optional("state").flatMap { State(rawValue: $0) },
        fuelID: Int16(try row.integer("fuel_id")), fuelName: try row.text("fuel_name"),
        day: try row.day("day"), dayEndsAt: try row.instant("day_ends_at"),
        stations: try row.integer("stations"),
        stationsWithNext: try row.integer("stations_with_next"),
        today: try row.optionalDouble("today_cpl"),
        tomorrow: try row.optionalDouble("tomorrow_cpl"),
        tomorrowBeginsAt: try row.optionalInstant("tomorrow_begins_at"))
    }
  }

  /// Keeps the verdicts that differ from the last one given for their region and fuel.
  ///
  /// - Returns: how many were new.
  package func keep(_ verdicts: [VerdictRecord], now: Instant) throws -> Int {
    guard !verdicts.isEmpty else { return 0 }
    return try connection.transaction {
      try connection.query(
        """
        INSERT INTO fuel.verdict (
          region, fuel_id, computed_at, day, verdict, basis, rule, method, reason, today_cpl,
          tomorrow_cpl, stations, expected_saving_cpl, valid_until_at)
        SELECT
          given.region, given.fuel_id, \(now)::timestamptz, given.day, given.verdict, given.basis,
          given.rule, given.method, given.reason, given.today_cpl, given.tomorrow_cpl,
          given.stations, given.expected_saving_cpl, given.valid_until_at
        FROM unnest(
          \(verdicts.map(\.region))::text[], \(verdicts.map(\.fuelID))::smallint[],
          \(verdicts.map(\.day))::date[], \(verdicts.map(\.verdict))::text[],
          \(verdicts.map(\.basis))::text[], \(verdicts.map(\.rule))::text[],
          \(verdicts.map(\.method))::text[], \(verdicts.map(\.reason))::text[],
          \(verdicts.map(\.today))::numeric(6, 2)[], \(verdicts.map(\.tomorrow))::numeric(6, 2)[],
          \(verdicts.map(\.stations))::integer[],
          \(verdicts.map(\.expectedSaving))::numeric(6, 2)[],
          \(verdicts.map(\.validUntil))::timestamptz[]
        ) AS given (
          region, fuel_id, day, verdict, basis, rule, method, reason, today_cpl, tomorrow_cpl,
          stations, expected_saving_cpl, valid_until_at)
        LEFT JOIN LATERAL (
          SELECT verdict.*
          FROM fuel.verdict
          WHERE verdict.region = given.region AND verdict.fuel_id = given.fuel_id
          ORDER BY verdict.computed_at DESC
          LIMIT 1
        ) AS last ON true
        WHERE (
            last.day, last.verdict, last.basis, last.rule, last.method, last.reason,
            last.valid_until_at
          ) IS DISTINCT FROM (
            given.day, given.verdict, given.basis, given.rule, given.method, given.reason,
            given.valid_until_at)
        ON CONFLICT ON CONSTRAINT verdict_pk DO NOTHING
        """
      ).affected
    }
  }
}
