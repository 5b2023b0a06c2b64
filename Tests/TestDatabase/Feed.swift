package import FuelModel
package import Pipeline
package import Postgres
package import Store
import Timeline

/// A feed in a test database. Tests decide what it reports.
package struct Feed {
  package let connection: Connection
  package let store: Store
  package let id: SourceID
  package let delay: Duration
  private let window: Int64
  private let reportsWholeDays: Bool

  package init(
    _ target: String, name: String = "qld-fpd", state: State = .qld, priceLapsesHours: Int = 720,
    sightLapsesHours: Int = 48, delayHours: Int = 0, holdingConfirms: Bool = true,
    cadenceMinutes: Int = 60
  ) throws {
    connection = try Connection(target)
    store = Store(connection)
    id = try store.ledger.register(
      SourceRecord(
        feed: name, state: state, cadenceMinutes: cadenceMinutes,
        priceLapsesHours: priceLapsesHours,
        sightLapsesHours: sightLapsesHours, reportsWholeDays: state == .wa, attribution: "a test",
        isEnabled: true, callsPerMonth: 0, delayHours: delayHours,
        holdingConfirms: holdingConfirms))
    delay = .seconds(3_600 * delayHours)
    window = Int64(sightLapsesHours) * 3_600_000_000
    reportsWholeDays = state == .wa
  }

  /// Stores what the feed reports at an instant.
  ///
  /// - Throws: `Refusal` where the list is refused; `BelievedNow` where that lets other lists be
  ///   believed.
  @discardableResult
  package func reports(
    _ observations: [Observation], stations: [Station] = [], at takenAt: Instant,
    now: Instant? = nil,
    coverage: Reading.Coverage = .complete, rejects: [Reject] = [], refuseBelow: Double = 0,
    partialBelow: Double = 0, kind: RunKind = .live, leavesSpans: Bool = false
  ) throws -> Counts {
    var reading = Reading(coverage: coverage)
    reading.observations = observations
    reading.stations = stations
    reading.rejects = rejects
    let distinct = reading.distinct(takenAt: takenAt, horizon: .seconds(172_800))
    let days = Set(observations.map(\.effectiveAt)).count
    let document = Document(
      name: reportsWholeDays ? "prices of \(days) days" : "prices", bytes: Array("x".utf8),
      fetchedAt: takenAt)
    let run = try store.ledger.beginRun(id, at: now ?? takenAt, kind: kind)
    // Answers with whole days are distinguished by their documents.
    if reportsWholeDays { try store.ledger.keep([document], of: run, fetchedAt: takenAt) }
    let payload = Payload(
      documents: [document], fetchedAt: takenAt, takenAt: takenAt - delay)
    let rules = ListRules(
      window: window, refuseBelow: refuseBelow, partialBelow: partialBelow)
    do {
      return try Merge(
        store, of: id, rules: rules, now: now ?? takenAt, leavesSpans: leavesSpans
      ).take(
        distinct, payload: payload, run: run, requests: 0, reportsWholeDays: reportsWholeDays)
    } catch let refusal as Refusal {
      let unread = try store.ledger.failRun(
        run, at: now ?? takenAt, isRefusal: true, error: "\(refusal)", payload: payload,
        counts: Counts(refusing: distinct), rejects: distinct.rejects, list: refusal.list,
        requests: 0
      ) {
        try Standings(store, of: id, rules: rules, now: now ?? takenAt)
          .judgeAgain(beside: $0, of: run)
      }
      if !unread.isEmpty { throw BelievedNow(runs: unread) }
      throw refusal
    }
  }

  /// Withdraws a run, or counts it again.
  ///
  /// - Returns: lists that were refused when they arrived and would be believed now.
  package func decide(
    _ run: RunID, takenAt: Instant, counts: Bool, now: Instant, refuseBelow: Double,
    partialBelow: Double
  ) throws -> [RunID] {
    let rules = ListRules(window: window, refuseBelow: refuseBelow, partialBelow: partialBelow)
    return try Standings(store, of: id, rules: rules, now: now)
      .decide(run, takenAt: takenAt - delay, counts: counts, reason: "a test")
  }

  /// Makes every day again that is due.
  package func aggregate(
    at now: Instant, regions: [Region] = [.queensland, .nation], workers: Workers? = nil
  ) throws {
    // Where no aggregate before it ended well, an aggregate judges all doubts anew.
    let run = try store.ledger.beginAggregate(at: now)
    _ = try store.stations.refreshRegions(regions)
    try TimelineUpdate.countStations(store, now: now)
    let workers = workers ?? Workers(store)
    try TimelineUpdate.makeAll(workers, now: now)
    try store.days.refreshSourceDays(now: now)
    try DayUpdate.makeStationDays(workers, now: now)
    try DayUpdate.makeRegionDays(try store.due.dueSpans(now: now), workers, now: now)
    try store.spans.advancePresent(now: now)
    try store.verdicts.withPricesNow(now: now) {
      _ = try connection.query("SELECT fuel.refresh_changes(\(now))")
    }
    try store.ledger.finishAggregate(run, at: now, days: 0, verdicts: 0, newVerdicts: 0)
  }

  /// Returns everything that a reader can see of stations, prices and averages at an instant, as
  /// sorted lines.
  package func published(at now: Instant) throws -> [String] {
    try shown(at: now).sorted()
  }

  private func shown(at now: Instant) throws -> [String] {
    try connection.query("SELECT set_config('bowser.now', \(now.description), false)")
    // Station numbers depend on the order of arrival, so the station codes of the feed are
    // compared.
    return try connection.lines(
      """
      SELECT 'history' AS what, station.source_station_code AS code, history.fuel,
        history.price_cpl::text AS a, history.valid_from_at::text AS b, history.valid_until_at::text AS c,
        history.source
      FROM fuel_v1.price_history AS history JOIN fuel_v1.stations AS station USING (station_id)
      ORDER BY 2, 3, 5
      """)
      + connection.lines(
        """
        SELECT 'current' AS what, station.source_station_code AS code, price.fuel,
          price.price_cpl::text AS a, price.effective_at::text AS b, price.is_fresh::text AS c,
          price.next_price_cpl::text AS d, price.next_effective_at::text AS e,
          price.confirmed_at::text AS f
        FROM fuel_v1.current_prices AS price JOIN fuel_v1.stations AS station USING (station_id)
        ORDER BY 2, 3
        """)
      + connection.lines(
        """
        SELECT 'station' AS what, source_station_code, state, name, brand, first_seen_at::text,
          last_seen_at::text, is_open::text
        FROM fuel_v1.stations ORDER BY 2
        """)
      + connection.lines(
        """
        SELECT 'record' AS what, station.source || ' ' || station.source_station_code, record.source,
          record.source_station_code, record.matched_by, record.match_doubt
        FROM fuel_v1.station_records AS record
        JOIN fuel_v1.stations AS station USING (station_id)
        ORDER BY 3, 4
        """)
      + connection.lines(
        """
        SELECT 'description' AS what, station.source_station_code, description.source,
          description.name, description.address, description.first_seen_at::text,
          description.last_seen_at::text
        FROM fuel_v1.station_history AS description
        JOIN fuel_v1.stations AS station USING (station_id)
        ORDER BY 2, 3, 4, 5, 6
        """)
      + connection.lines("SELECT * FROM fuel_v1.daily_averages ORDER BY region, fuel, day")
      + connection.lines(
        """
        SELECT 'day' AS what, station.source_station_code, made.fuel, made.day, made.average_cpl, made.min_cpl,
          made.max_cpl, made.last_cpl, made.coverage
        FROM fuel_v1.station_days AS made JOIN fuel_v1.stations AS station USING (station_id)
        ORDER BY 2, 3, 4
        """)
      + connection.lines("SELECT * FROM fuel_v1.coverage ORDER BY region, source, day")
      + connection.lines(
        """
        SELECT region, fuel, average_cpl::text, stations::text, excluded_stale::text,
          change_24h_cpl::text, change_7d_cpl::text
        FROM fuel_v1.averages_now ORDER BY region, fuel
        """)
  }
}

/// A list was refused, and because of it other lists are believed that were refused before.
package struct BelievedNow: Error {
  package var runs: [RunID]
}

extension Region {
  package static let queensland = Region(
    code: "QLD", name: "Queensland", kind: "state", state: .qld, centre: nil, radiusKilometres: nil)
  package static let nation = Region(
    code: "AU", name: "Australia", kind: "nation", state: nil, centre: nil, radiusKilometres: nil)
}

extension Instant {
  /// Reads an instant in ISO 8601. A mistake in a test stops the test.
  package init(_ text: String) {
    guard let instant = Instant(iso: text) else { preconditionFailure("no instant: \(text)") }
    self = instant
  }
}

extension Observation {
  /// Returns one price of unleaded, in tenths of a cent; 0: not offered.
  package static func u91(_ code: String, _ tenths: Int, _ effectiveAt: Instant) -> Observation {
    Observation(
      stationCode: code, fuel: .u91, price: Price(tenths: tenths), effectiveAt: effectiveAt)
  }
}
