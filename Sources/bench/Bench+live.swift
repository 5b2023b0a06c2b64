import FuelModel
import Pipeline
import Postgres
import Store
import Timeline

extension Bench {
  /// A market that one feed reports, list by list.
  private struct LiveMarket {
    /// How much more each fuel costs than unleaded, in tenths of a cent. One price for all fuels
    /// would be taken for a placeholder.
    private static let grades: [(fuel: Fuel, step: Int)] = [
      (.u91, 0), (.e10, -20), (.p95, 160), (.p98, 240), (.dl, 90),
    ]
    var now = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z
    var stations: [Station] = []
    var observations: [Observation] = []

    init(stations count: Int) {
      for number in 0..<count { open(number) }
    }

    private mutating func open(_ number: Int) {
      stations.append(
        Station(
          code: "\(number)", state: .qld, name: "Station \(number)", brand: "Brand \(number % 40)",
          address: "\(number) Bench Road", suburb: "Suburb \(number % 900)", postcode: "4000",
          position: Position(
            latitude: -27 + Double(number % 300) / 100, longitude: 150 + Double(number / 300) / 100)
        ))
      for grade in Self.grades {
        observations.append(
          Observation(
            stationCode: "\(number)", fuel: grade.fuel,
            price: Price(tenths: 1_500 + number % 400 + grade.step),
            effectiveAt: now - .seconds(3_600 + number)))
      }
    }

    /// Changes one price in every `share`. `turn` determines which ones.
    mutating func change(oneIn share: Int, turn: Int) {
      for position in stride(from: turn % share, to: observations.count, by: share) {
        change(position, to: 1_500 + (position + turn * 7) % 399)
      }
    }

    /// A price jump at two stations in five: on an even turn all of their fuels cost 15 c more, and
    /// on an odd turn they cost what they did before.
    mutating func jump(turn: Int) {
      for position in observations.indices where position / Self.grades.count % 5 < 2 {
        let number = position / Self.grades.count
        change(position, to: 1_500 + number % 400 + (turn % 2 == 0 ? 150 : 0))
      }
    }

    private mutating func change(_ position: Int, to tenths: Int) {
      observations[position].price = Price(
        tenths: tenths + Self.grades[position % Self.grades.count].step)
      observations[position].effectiveAt = now - .seconds(60)
    }
  }

  /// Measures what it costs to store a list beside a year of history. Returns the number of prices
  /// in that history.
  mutating func live() throws -> Int {
    try database("bench_live")
    let connection = try connection("bench_live")
    let store = Store(connection)
    let source = try store.ledger.register(
      SourceRecord(
        feed: "qld-fpd", state: .qld, cadenceMinutes: 60, priceLapsesHours: 1_440,
        sightLapsesHours: 48, attribution: "bench", isEnabled: true, callsPerMonth: 0))
    var market = LiveMarket(stations: 16_000)
    note("a first list of \(market.observations.count) prices")
    _ = try absorb(market, of: source, describes: true)
    try connection.execute("VACUUM ANALYZE")
    note("a year of history")
    try fill(store, connection, now: market.now)
    // A list that is not measured warms the caches for the next ones.
    market.now = market.now + .seconds(600)
    _ = try absorb(market, of: source)

    /// Takes as many lists as `turns` and adds their median time, with its ratio to that of a bare
    /// COPY of the same lists.
    func measure(
      _ name: String, _ goal: Run.Goal, turns: Int, _ change: (inout LiveMarket, Int) -> Void
    ) throws {
      var times: [Double] = []
      var bare: [Double] = []
      for turn in 0..<turns {
        market.now = market.now + .seconds(600)
        change(&market, turn)
        bare.append(try copyBare(connection, market.observations))
        times.append(try absorb(market, of: source))
      }
      let time = times.sorted()[turns / 2]
      add(
        "\(name), 1 year of history, of bare COPY", "\(Int(time * 1_000)) ms",
        time / bare.sorted()[turns / 2], goal)
    }
    try measure("live list, 1 % changed", .init(wanted: 4, hold: 8), turns: 7) {
      $0.change(oneIn: 100, turn: $1)
    }
    try measure("live list, a jump of 40 %", .init(wanted: 30, hold: 70), turns: 3) {
      $0.jump(turn: $1)
    }
    try drop("bench_live")
    return market.observations.count * Self.stamps
  }

  /// Stores the list of a market as a run does. Returns seconds.
  private func absorb(
    _ market: LiveMarket, of source: SourceID, describes: Bool = false
  ) throws -> Double {
    let now = market.now
    // Each list gets a new connection, as each run by cron does, so that nothing is planned and no
    // table is open yet.
    let store = Store(try self.connection("bench_live"))
    var reading = Reading(coverage: .complete)
    reading.observations = market.observations
    if describes { reading.stations = market.stations }
    let distinct = reading.distinct(takenAt: now, horizon: .seconds(600))
    let run = try store.ledger.beginRun(source, at: now)
    let document = Document(name: "prices", bytes: [], fetchedAt: now)
    let began = ContinuousClock.now
    let rules = ListRules(window: 48 * 3_600_000_000, refuseBelow: 0.7, partialBelow: 0.95)
    _ = try Merge(store, of: source, rules: rules, now: now).take(
      distinct, payload: Payload(documents: [document], fetchedAt: now, takenAt: now), run: run,
      requests: 0, reportsWholeDays: false)
    return seconds(since: began)
  }

  /// The price changes of each station and fuel in the year of history.
  private static let stamps = 52

  /// Adds a year of prices for every station and fuel, and makes the validity spans of all of them.
  private func fill(_ store: Store, _ connection: Connection, now: Instant) throws {
    // The newest price is three days old. Each statement adds about a month, so that the rows are
    // stored nearly in the order of the key.
    for first in stride(from: 0, to: Self.stamps, by: 4) {
      try connection.transaction {
        try connection.query(
          """
          SELECT fuel.ensure_year(
            extract(year FROM '2026-06-28'::timestamptz - stamp.n * interval '1 week')::integer)
          FROM generate_series(\(first)::integer, \(first + 3)::integer) AS stamp (n)
          """)
        try connection.query(
          """
          INSERT INTO fuel.price (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)
          SELECT pair.station_id, pair.fuel_id, pair.source_id,
            '2026-06-28'::timestamptz - stamp.n * interval '1 week',
            1500 + stamp.n % 300 + 40 * pair.fuel_id, 1,
            '2026-06-28'::timestamptz - stamp.n * interval '1 week'
          FROM fuel.shown_price AS pair
          CROSS JOIN generate_series(\(first)::integer, \(first + 3)::integer) AS stamp (n)
          ORDER BY 1, 2, 4
          """)
      }
    }
    try connection.query(
      "INSERT INTO fuel.due SELECT 'spans', station_id, fuel_id, '-infinity' FROM fuel.shown_price ON CONFLICT DO NOTHING"
    )
    try TimelineUpdate.makeAll(Workers(store), now: now)
    try connection.execute("VACUUM ANALYZE")
  }

  /// The least that storing a list can cost: copying its rows into a temporary table. Returns
  /// seconds.
  private func copyBare(_ connection: Connection, _ list: [Observation]) throws -> Double {
    try connection.execute(
      "CREATE TEMPORARY TABLE bare (station_code text, fuel_id smallint, effective_at timestamptz, price_tenths integer)"
    )
    let began = ContinuousClock.now
    try connection.copy(into: "pg_temp.bare", columns: 4) { copy in
      for one in list {
        try copy.beginRow()
        copy.write(one.stationCode)
        copy.write(one.fuel.id ?? 0)
        copy.write((one.effectiveAt ?? .now).microseconds - 946_684_800_000_000)
        copy.write(one.price?.tenths ?? 0)
      }
    }
    let time = seconds(since: began)
    try connection.execute("DROP TABLE pg_temp.bare")
    return time
  }
}
