import FuelModel
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// All ways to ask the same question give the same answer. The price of a station at an instant
/// comes from `price_at`, `current_prices`, `price_history` and `prices_between`. The average of a
/// region comes from `average_at` and `averages_now`, and days of stations and regions from the
/// history.
struct EqualAnswerTests {
  static let seeds = Long.count("ANSWER_SEEDS", short: 2, long: 10)

  /// Random histories of a small feed, with typing errors and placeholders among the prices.
  @Test(.longer, arguments: 0..<seeds)
  func everyAnswerIsTheSame(seed: Int) async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      var random = Random(seed: UInt64(seed), "answers")
      for snapshot in OrderTests.snapshots(seed: UInt64(seed)).shuffled(using: &random) {
        let slips = snapshot.observations.map { observation -> Observation in
          guard random.chance(0.03), let price = observation.price else { return observation }
          var slip = observation
          slip.price = Price(tenths: Int(price.tenths) / 2)
          // With the stamp of the right price, the next list would replace the wrong price again.
          slip.effectiveAt = snapshot.takenAt
          return slip
        }
        try feed.reports(
          slips + placeholder(at: snapshot.takenAt), stations: snapshot.stations,
          at: snapshot.takenAt,
          now: OrderTests.end, coverage: snapshot.coverage)
      }
      try feed.aggregate(at: OrderTests.end)
      var differences: [String] = []
      for _ in 0..<12 {
        let at = OrderTests.begin + .seconds(random.integer(1...(9 * 86_400 - 1)))
        differences += try disagreements(feed, at: at)
      }
      differences += try disagreements(feed, at: OrderTests.end - .seconds(2))
      differences += try daysThatDiffer(feed)
      #expect(differences == [])
      // A history without doubtful prices would prove less.
      let doubted = try feed.connection.query(
        "SELECT count(*) FILTER (WHERE is_flagged) AS doubted, count(*) AS spans FROM fuel_v1.price_history"
      ).only()
      #expect(try Int(doubted.text("doubted")) ?? 0 > 0)
      #expect(try Int(doubted.text("spans")) ?? 0 > 40)
    }
  }

  /// Returns the prices of a station that has one price for every grade for two days of the week.
  private func placeholder(at instant: Instant) -> [Observation] {
    let day = (instant.seconds - OrderTests.begin.seconds) / 86_400
    let since = OrderTests.begin + .seconds(day * 86_400)
    return [(Fuel.u91, 1_790), (.p95, 1_900), (.p98, 2_000), (.dl, 1_850)].map { fuel, tenths in
      Observation(
        stationCode: "grades", fuel: fuel,
        price: Price(tenths: day == 3 || day == 4 ? 1_850 : tenths + Int(day)), effectiveAt: since)
    }
  }

  private func disagreements(_ feed: Feed, at instant: Instant) throws -> [String] {
    let connection = feed.connection
    try connection.query("SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
    let history = try connection.lines(
      """
      SELECT station_id, fuel, price_cpl
      FROM fuel_v1.price_history
      WHERE valid_from_at <= \(instant) AND coalesce(valid_until_at, 'infinity') > \(instant)
      ORDER BY 1, 2
      """)
    var answers: [(String, [String])] = []
    answers.append(
      (
        "price_at",
        try connection.lines(
          """
          SELECT pair.station_id, pair.fuel, fuel_v1.price_at(pair.station_id, pair.fuel, \(instant)) AS price
          FROM (SELECT DISTINCT station_id, fuel FROM fuel_v1.price_history) AS pair
          WHERE fuel_v1.price_at(pair.station_id, pair.fuel, \(instant)) IS NOT NULL
          ORDER BY 1, 2
          """)
      ))
    answers.append(
      (
        "prices_between",
        try connection.lines(
          """
          SELECT station_id, fuel, price_cpl
          FROM fuel_v1.prices_between(
            \(instant)::timestamptz, \(instant)::timestamptz + interval '1 second')
          WHERE valid_from_at <= \(instant)
          ORDER BY 1, 2
          """)
      ))
    let average = try connection.lines(
      """
      SELECT fuel.fuel, fuel_v1.average_at('QLD', fuel.fuel, \(instant)) AS average
      FROM fuel_v1.fuels AS fuel WHERE fuel_v1.average_at('QLD', fuel.fuel, \(instant)) IS NOT NULL
      ORDER BY 1
      """)
    try connection.query("SELECT set_config('bowser.now', \(instant.description), false)")
    answers.append(
      (
        "current_prices",
        try connection.lines(
          "SELECT station_id, fuel, price_cpl FROM fuel_v1.current_prices WHERE is_fresh ORDER BY 1, 2"
        )
      ))
    let averageNow = try connection.lines(
      """
      SELECT fuel, average_cpl FROM fuel_v1.averages_now
      WHERE region = 'QLD' AND average_cpl IS NOT NULL ORDER BY 1
      """)
    var differences = answers.filter { $0.1 != history }.map {
      "\(instant) \($0.0): \(firstDifference($0.1, history) ?? "")"
    }
    if average != averageNow {
      differences.append("\(instant) averages_now: \(firstDifference(averageNow, average) ?? "")")
    }
    return differences
  }

  /// Returns days of stations that differ from the history, and days of regions that differ from
  /// the days of stations.
  private func daysThatDiffer(_ feed: Feed) throws -> [String] {
    try feed.connection.query(
      "SELECT set_config('bowser.now', \(OrderTests.end.description), false)")
    return try feed.connection.lines(
      """
      WITH part AS (
        SELECT held.station_id, held.fuel, series.day::date AS day, held.price_tenths,
          extract(epoch FROM piece.until_at - piece.from_at) AS seconds
        FROM (
          SELECT believed.*, fuel.fuel FROM fuel.believed JOIN fuel.fuel USING (fuel_id)
        ) AS held
        CROSS JOIN generate_series(timestamp '2026-03-28', '2026-04-07', interval '1 day') AS series (day)
        CROSS JOIN LATERAL (
          SELECT series.day AT TIME ZONE 'Australia/Brisbane' AS begins_at,
            (series.day + interval '1 day') AT TIME ZONE 'Australia/Brisbane' AS ends_at
        ) AS bounds
        -- What is doubtful is cut out: before the doubt, and after it.
        CROSS JOIN LATERAL (
          SELECT greatest(held.from_at, bounds.begins_at, \(OrderTests.begin)::timestamptz) AS from_at,
            least(held.until_at, bounds.ends_at, coalesce(held.doubt_from_at, 'infinity')) AS until_at
          UNION ALL
          SELECT greatest(held.doubt_until_at, bounds.begins_at, \(OrderTests.begin)::timestamptz),
            least(held.until_at, bounds.ends_at)
          WHERE held.doubt IS NOT NULL
        ) AS piece
        WHERE piece.from_at < piece.until_at
      ),
      wanted AS (
        SELECT station_id, fuel, day,
          round(sum(price_tenths * seconds) / sum(seconds) / 10, 2) AS average,
          min(price_tenths) / 10.0 AS low, max(price_tenths) / 10.0 AS high
        FROM part GROUP BY station_id, fuel, day
      )
      SELECT 'station' AS what, station_id, fuel, day, wanted.average, made.average_cpl
      FROM wanted FULL JOIN fuel_v1.station_days AS made USING (station_id, fuel, day)
      WHERE abs(wanted.average - made.average_cpl) > 0.01
        OR (wanted.average IS NULL) <> (made.average_cpl IS NULL)
        OR wanted.low <> made.min_cpl OR wanted.high <> made.max_cpl
      UNION ALL
      SELECT 'region', count(*), fuel, day, round(avg(average), 2), max(region.average_cpl)
      FROM wanted
      LEFT JOIN (SELECT * FROM fuel_v1.daily_averages WHERE region = 'QLD') AS region USING (fuel, day)
      GROUP BY fuel, day
      HAVING count(*) IS DISTINCT FROM max(region.stations)
        OR count(*) >= 3 AND abs(avg(average) - max(region.average_cpl)) > 0.011
      """)
  }

  /// A price that no list has shown for too long is stale. It is gone once a list leaves it out.
  @Test func whatAListLeavesOutIsGone() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let begin = Instant("2026-06-29T14:00:00Z")
      func shown(_ hours: Int) throws -> [String] {
        let now = begin + .seconds(hours * 3_600)
        try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
        return try feed.connection.lines(
          """
          SELECT source_station_code, is_fresh FROM fuel_v1.current_prices
          JOIN fuel_v1.stations USING (station_id) ORDER BY 1
          """)
      }
      try feed.reports([.u91("a", 1_785, begin), .u91("b", 1_795, begin)], at: begin)
      #expect(try shown(30) == ["a|f", "b|f"])
      try feed.reports([.u91("a", 1_785, begin)], at: begin + .seconds(31 * 3_600))
      #expect(try shown(30) == ["a|t", "b|f"])
      #expect(try shown(32) == ["a|t"])
    }
  }

  /// A placeholder stays one when another fuel of the station changes its price again and again.
  @Test func aPlaceholderStaysOne() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-29T14:00:00Z")
      func list(_ day: Int) -> [Observation] {
        [Fuel.u91, .p95, .p98].map { fuel in
          let changes = fuel == .u91 && day > 0
          return Observation(
            stationCode: "x", fuel: fuel, price: Price(tenths: changes ? 1_750 + day : 1_850),
            effectiveAt: begin + .seconds(changes ? day * 86_400 : 0))
        }
      }
      for day in 0...5 { try feed.reports(list(day), at: begin + .seconds(day * 86_400)) }
      let now = begin + .seconds(6 * 86_400)
      try feed.aggregate(at: now)
      try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
      #expect(
        try feed.connection.lines(
          "SELECT fuel, price_cpl FROM fuel_v1.price_history WHERE flag_reason = 'placeholder' ORDER BY 1"
        )
          == ["P95|185.0", "P98|185.0", "U91|185.0"])
    }
  }

  /// F-N32: one price for every grade of petrol, beside another diesel price, is a placeholder. The
  /// present average, the average at an instant and the average of the day leave out the same
  /// stations, and the reason is shown.
  @Test func aPlaceholderIsOneEverywhere() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      let begin = Instant("2026-06-29T14:00:00Z")
      func price(_ code: String, _ fuel: Fuel, _ tenths: Int, since: Instant) -> Observation {
        Observation(stationCode: code, fuel: fuel, price: Price(tenths: tenths), effectiveAt: since)
      }
      func list(placeholder: Bool, since: Instant) -> [Observation] {
        ["a", "b", "c", "d"].flatMap { code in
          [price(code, .u91, 1_785, since: begin), price(code, .p98, 2_010, since: begin)]
        }
          + [(Fuel.u91, 1_790), (.p95, 1_920), (.p98, 2_020)].map { fuel, tenths in
            price("x", fuel, placeholder ? 1_850 : tenths, since: placeholder ? since : begin)
          } + [price("x", .dl, 1_990, since: begin)]
      }
      try feed.reports(list(placeholder: false, since: begin), at: begin)
      let since = begin + .seconds(86_400)
      for hour in 0...30 {
        try feed.reports(list(placeholder: true, since: since), at: since + .seconds(hour * 3_600))
      }
      let now = since + .seconds(31 * 3_600)
      try feed.aggregate(at: now)
      try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
      #expect(
        try feed.connection.lines(
          """
          SELECT average_cpl, stations, excluded_flagged FROM fuel_v1.averages_now
          WHERE region = 'QLD' AND fuel = 'U91'
          """) == ["178.50|4|1"])
      #expect(
        try feed.connection.lines(
          """
          SELECT average_cpl, stations, excluded_flagged FROM fuel_v1.daily_averages
          WHERE region = 'QLD' AND fuel = 'U91' AND day = '2026-07-01'
          """) == ["178.50|4|1"])
      #expect(
        try feed.connection.lines(
          "SELECT fuel_v1.average_at('QLD', 'U91', \(now)::timestamptz - interval '1 hour')")
          == ["178.50"])
      #expect(
        try feed.connection.lines(
          """
          SELECT fuel, is_flagged, flag_reason FROM fuel_v1.current_prices
          JOIN fuel_v1.stations USING (station_id) WHERE source_station_code = 'x' ORDER BY 1
          """) == ["DL|f|NULL", "P95|t|placeholder", "P98|t|placeholder", "U91|t|placeholder"])
    }
  }
}
