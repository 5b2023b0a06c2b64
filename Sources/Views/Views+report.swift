import FuelModel
import Postgres

extension Views {
  /// Reads what a report shows from the published views, all as of one moment.
  package func marketReport() throws -> MarketReport {
    try connection.transaction {
      try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
      var market = MarketReport(pipeline: try pipeline())
      market.regions = try regions()
      market.feeds = try health()
      try addAverages(to: &market)
      try addFuels(to: &market)
      market.trends = try trends()
      market.verdicts = try verdicts()
      try addScores(to: &market)
      market.offers = try connection.query(
        """
        SELECT current_prices.* FROM fuel_v1.current_prices
        WHERE is_public
        ORDER BY state, lower(suburb), name, station_id, fuel
        """
      ).map { try Offer($0) }
      try addComparisons(to: &market)
      try addDescriptions(to: &market)
      try addStationDays(to: &market)
      try addPriceChanges(to: &market)
      try addOrigins(to: &market)
      market.tomorrow = try tomorrow()
      try addVerdictChanges(to: &market)
      try addStates(to: &market)
      market.json = try marketJSON()
      market.isSimulated = try isSimulated()
      return market
    }
  }

  /// Adds the names of fuels, and which of them have an average or had one in the last days. The
  /// averages must be filled in before.
  private func addFuels(to market: inout MarketReport) throws {
    let known = Set(market.averages.keys.map(\.fuel)).union(
      market.days.filter { $0.value.contains { $0.average != nil } }.keys.map(\.fuel))
    for row in try connection.query("SELECT fuel, name, is_averaged FROM fuel_v1.fuels") {
      let (code, name) = (try row.text("fuel"), try row.text("name"))
      market.fuelNames[code] = name
      if try row.boolean("is_averaged"), known.contains(code) { market.fuels.append((code, name)) }
    }
    market.fuels.sort { Fuel.precedes($0.code, $1.code) }
  }

  /// Adds the averages of now, of each of the last days, and of months.
  private func addAverages(to market: inout MarketReport) throws {
    for average in try averagesNow() where average.average != nil {
      market.averages[.init(average.region, average.fuel)] = average
    }
    market.days = try lastDays()
    market.year = try reportDays(
      """
      SELECT region, fuel, day, average_cpl
      FROM fuel_v1.daily_averages
      WHERE day >= \(optional: market.today)::date - 366
      ORDER BY region, fuel, day
      """)
    market.months = try reportDays(
      """
      SELECT region, fuel, date_trunc('month', day)::date AS day, avg(average_cpl) AS average_cpl
      FROM fuel_v1.daily_averages
      GROUP BY region, fuel, date_trunc('month', day)
      ORDER BY region, fuel, day
      """)
  }

  /// Adds the scores of the verdicts over the stored history.
  private func addScores(to market: inout MarketReport) throws {
    // Only the scores of the method whose verdicts are shown, from the row for all years
    // together.
    market.scores = try keyed(
      """
      WITH scores AS (
        SELECT * FROM fuel_v1.verdict_scores
        WHERE scored = 'replayed' AND year IS NULL AND horizon = 5
      )
      SELECT region, fuel, scores.days, scores.capture, scores.saving_cpl, scores.perfect_cpl,
        scores.from_on,
        (
          SELECT max(habit.capture) FROM scores AS habit
          WHERE habit.region = scores.region AND habit.fuel = scores.fuel
            AND habit.method <> scores.method
        ) AS best_habit
      FROM scores
      JOIN fuel_v1.fill_up USING (region, fuel, method)
      WHERE scores.days >= 60
      """
    ) { row in
      MarketReport.Score(
        windows: try row.integer("days"), capture: try row.optionalDouble("capture"),
        saving: try row.optionalDouble("saving_cpl"),
        perfect: try row.optionalDouble("perfect_cpl"),
        bestHabit: try row.optionalDouble("best_habit"), from: try row.day("from_on"))
    }.mapValues { $0[0] }
  }

  /// Adds the ranking of each market, and how each price compares with the smallest region around it.
  /// Of regions with equally many stations the first counts: a capital comes before its state. The
  /// offers must be filled in before.
  private func addComparisons(to market: inout MarketReport) throws {
    var places: [Int: [String: Int]] = [:]
    for (place, offer) in market.offers.enumerated() {
      places[offer.station, default: [:]][offer.fuel] = place
    }
    // The smallest region comes last, and so it stays.
    for row in try connection.query(
      """
      SELECT station_id, fuel, region, difference_cpl, rank_in_region, stations
      FROM fuel_v1.station_comparison
      ORDER BY price_cpl, station_id, stations DESC,
        array_position(\(market.regions.map(\.code))::text[], region) DESC
      """)
    {
      let (station, fuel) = (try row.integer("station_id"), try row.text("fuel"))
      let region = try row.text("region")
      guard let place = places[station]?[fuel] else { continue }
      market.ranking[.init(region, fuel), default: []].append(place)
      guard let difference = try row.optionalDouble("difference_cpl") else { continue }
      market.comparisons[station, default: [:]][fuel] = MarketReport.Comparison(
        region: region, difference: difference, rank: try row.integer("rank_in_region"),
        stations: try row.integer("stations"))
    }
  }

  /// Adds when the verdict of a region last changed.
  private func addVerdictChanges(to market: inout MarketReport) throws {
    for row in try connection.query(
      """
      SELECT numbered.*
      FROM (
        SELECT turned.*,
          row_number() OVER (PARTITION BY region ORDER BY computed_at DESC, fuel) AS number
        FROM (
          SELECT region, fuel, computed_at, verdict, basis, market_state, reason,
            lag(verdict || ' ' || coalesce(market_state, '')) OVER (
              PARTITION BY region, fuel ORDER BY computed_at) AS before
          FROM fuel_v1.fill_up_history
          WHERE day > (SELECT max(day) FROM fuel_v1.fill_up_history) - 60
        ) AS turned
        WHERE before <> verdict || ' ' || coalesce(market_state, '')
      ) AS numbered
      WHERE number <= 30
      ORDER BY region, number
      """)
    {
      market.verdictChanges[try row.text("region"), default: []].append(
        MarketReport.VerdictChange(
          fuel: try row.text("fuel"), at: try row.instant("computed_at"),
          verdict: try row.text("verdict"), basis: try row.text("basis"),
          reason: try row.text("reason")))
    }
  }

  private func addStates(to market: inout MarketReport) throws {
    for row in try connection.query(
      """
      SELECT DISTINCT ON (region, fuel, known_until_on) region, fuel, known_until_on, market_state
      FROM fuel_v1.fill_up_history
      WHERE market_state IS NOT NULL AND known_until_on IS NOT NULL
        AND day > (SELECT max(day) FROM fuel_v1.fill_up_history) - 92
      ORDER BY region, fuel, known_until_on, computed_at DESC
      """)
    {
      market.states[.init(try row.text("region"), try row.text("fuel")), default: [:]][
        try row.day("known_until_on")] = try row.text("market_state")
    }
  }

  private func reportDays(_ statement: SQL) throws -> [MarketReport.Key: [MarketReport.Day]] {
    try keyed(statement) { row in
      MarketReport.Day(day: try row.day("day"), average: try row.optionalDouble("average_cpl"))
    }
  }

  /// Reads the last thirty days and today so far, oldest first.
  package func lastDays() throws -> [MarketReport.Key: [MarketReport.Day]] {
    try keyed(
      """
      SELECT region, fuel, day, average_cpl, min_cpl, max_cpl, moving_average_7d_cpl
      FROM fuel_v1.trend_30d
      ORDER BY region, fuel, day
      """
    ) { row in
      MarketReport.Day(
        day: try row.day("day"), average: try row.optionalDouble("average_cpl"),
        lowest: try row.optionalDouble("min_cpl"), highest: try row.optionalDouble("max_cpl"),
        movingAverage: try row.optionalDouble("moving_average_7d_cpl"))
    }
  }

  /// Reads the trends of the last thirty days.
  package func trends() throws -> [MarketReport.Key: MarketReport.Trend] {
    try keyed(
      """
      SELECT region, fuel, direction, position_pct, cycle_day, typical_cycle_days
      FROM fuel_v1.trend_summary
      """
    ) { row in
      MarketReport.Trend(
        direction: try row.optional("direction"),
        position: try row.optional("position_pct").flatMap(Int.init),
        cycleDay: try row.optional("cycle_day").flatMap(Int.init),
        typicalCycleDays: try row.optionalDouble("typical_cycle_days").map { Int($0.rounded()) })
    }.mapValues { $0[0] }
  }

  /// Reads the present verdicts: all, or only that of one region and fuel.
  package func verdicts(
    of key: MarketReport.Key? = nil
  ) throws -> [MarketReport.Key: MarketReport.Verdict] {
    try keyed(
      """
      SELECT fill_up.*, row_to_json(fill_up)::text AS json
      FROM fuel_v1.fill_up
      WHERE \(optional: key?.region)::text IS NULL
        OR (region = \(optional: key?.region) AND fuel = \(optional: key?.fuel))
      """
    ) { row in
      var verdict = MarketReport.Verdict(
        verdict: try row.text("verdict"), basis: try row.text("basis"),
        reason: try row.text("reason"), state: try row.optional("market_state"),
        aim: try row.optionalDouble("aim_for_cpl"),
        saving: try row.optionalDouble("expected_saving_cpl"),
        confidence: try row.optionalDouble("confidence"),
        validUntil: try row.instant("valid_until_at"), json: try row.text("json"),
        raised: try row.optionalDouble("share_raised"))
      if let price = try row.optionalDouble("expected_low_cpl") {
        verdict.low = (
          price, try row.day("expected_low_from_on")...(try row.day("expected_low_to_on"))
        )
      }
      if verdict.basis == "tomorrow_price", let now = try row.optionalDouble("today_cpl"),
        let next = try row.optionalDouble("tomorrow_cpl")
      {
        verdict.published = (now, next)
      }
      return verdict
    }.mapValues { $0[0] }
  }

  /// Reads tomorrow's published prices beside today's, where the verdict knows them, and how many
  /// stations get dearer or cheaper.
  package func tomorrow() throws -> [MarketReport.Key: MarketReport.Tomorrow] {
    try keyed(
      """
      SELECT region, fuel, verdict.today_cpl, verdict.tomorrow_cpl, verdict.valid_until_at,
        count(*) FILTER (WHERE tomorrow.comparison = 'dearer') AS dearer,
        count(*) FILTER (WHERE tomorrow.comparison = 'cheaper') AS cheaper,
        count(*) FILTER (WHERE tomorrow.comparison = 'same') AS same
      FROM fuel_v1.fill_up AS verdict
      JOIN fuel_v1.station_comparison AS present USING (region, fuel)
      JOIN fuel_v1.tomorrow_prices AS tomorrow USING (station_id, fuel)
      WHERE verdict.tomorrow_cpl IS NOT NULL
        AND tomorrow.effective_at < verdict.valid_until_at + interval '24 hours'
      GROUP BY region, fuel, verdict.today_cpl, verdict.tomorrow_cpl, verdict.valid_until_at
      """
    ) { row in
      MarketReport.Tomorrow(
        today: try row.double("today_cpl"), tomorrow: try row.double("tomorrow_cpl"),
        dearer: try row.integer("dearer"), cheaper: try row.integer("cheaper"),
        same: try row.integer("same"), effectiveAt: try row.instant("valid_until_at"))
    }.mapValues { $0[0] }
  }

  /// Returns the regions: capitals, areas, rests of states, states and the nation, of each kind the
  /// largest first.
  package func regions() throws -> [MarketReport.Region] {
    try connection.query(
      """
      SELECT region, name, kind, state, time_zone, latitude, longitude FROM fuel_v1.regions
      ORDER BY array_position(ARRAY['capital', 'area', 'rest', 'state', 'nation'], kind), stations DESC, region
      """
    ).map { row in
      MarketReport.Region(
        code: try row.text("region"), name: try row.text("name"), kind: try row.text("kind"),
        state: try row.optional("state"),
        zone: Zone(rawValue: try row.text("time_zone")) ?? .utc,
        centre: try row.position())
    }
  }

  /// Reads the rows of a query, in their order, for each region and fuel.
  private func keyed<Value>(
    _ statement: SQL, _ read: (Row) throws -> Value
  ) throws -> [MarketReport.Key: [Value]] {
    var values: [MarketReport.Key: [Value]] = [:]
    for row in try connection.query(statement) {
      values[MarketReport.Key(try row.text("region"), try row.text("fuel")), default: []].append(
        try read(row))
    }
    return values
  }
}
