import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// What runs leave to earlier runs.
extension StandingTests {
  /// A feed of twenty stations with hourly answers. The tests watch its first station.
  private struct Watched {
    let feed: Feed
    private var runs: [Int: RunID] = [:]

    init(_ target: String, state: State = .qld, name: String = "qld-fpd") throws {
      feed = try Feed(target, name: name, state: state, sightLapsesHours: 24)
    }

    static func at(_ hour: Int) -> Instant { StandingTests.begin + .seconds(hour * 3_600) }

    /// Stores an answer.
    ///
    /// - Parameter watched: what the answer reports of the first station.
    mutating func reports(
      _ hour: Int, _ watched: [Observation], others: Int = 19, isUpdate: Bool = false,
      stampsOthers: Bool = true, kind: RunKind = .live
    ) throws {
      let rest = (0..<others).map {
        Observation(
          stationCode: "\(11 + $0)", fuel: .u91, price: Price(tenths: 1_700),
          effectiveAt: stampsOthers ? Self.at(-1) : nil)
      }
      try feed.reports(
        watched + (isUpdate ? [] : rest), at: Self.at(hour), now: StandingTests.end,
        coverage: isUpdate ? .partial : .complete, refuseBelow: StandingTests.refuseBelow,
        partialBelow: StandingTests.partialBelow, kind: kind)
      let newest = try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]
      runs[hour] = try feed.store.ledger.ledgerRun(Int(newest) ?? 0)?.run
    }

    func decides(_ hour: Int, counts: Bool) throws {
      _ = try feed.decide(
        try #require(runs[hour]), takenAt: Self.at(hour), counts: counts, now: StandingTests.end,
        refuseBelow: StandingTests.refuseBelow, partialBelow: StandingTests.partialBelow)
    }

    /// Returns the prices of the first station, with the hours from and until which each is
    /// believed.
    func history() throws -> [String] {
      try feed.connection.lines(
        """
        SELECT price_cpl, (extract(epoch FROM valid_from_at - \(Self.at(0))) / 3600)::integer AS since,
          (extract(epoch FROM valid_until_at - \(Self.at(0))) / 3600)::integer AS until
        FROM fuel_v1.price_history JOIN fuel_v1.stations USING (station_id)
        WHERE source_station_code = '10' ORDER BY valid_from_at
        """)
    }
  }

  private func watched(
    state: State = .qld, name: String = "qld-fpd", _ body: (inout Watched) throws -> Void
  ) async throws -> [String] {
    try await TestDatabase.with { target in
      var feed = try Watched(target, state: state, name: name)
      try body(&feed)
      return try feed.history()
    }
  }

  /// A list ends a price of an earlier update that it leaves out. That also holds if the list
  /// before the update left the price out too, and if that list arrived after both.
  @Test(arguments: [[0, 1, 2, 3], [0, 2, 1, 3], [2, 3, 0, 1]])
  func whatAnUpdateReportedIsEndedByTheNextList(order: [Int]) async throws {
    let observations = [Observation.u91("10", 1_900, Watched.at(1) + .seconds(1_800))]
    let history = try await watched { feed in
      for hour in order {
        let first = [Observation.u91("10", 1_850, Watched.at(-1))]
        try feed.reports(
          hour, hour == 0 ? first : hour == 2 ? observations : [], isUpdate: hour == 2)
      }
    }
    #expect(history.last?.hasSuffix("|3") ?? false, "\(history)")
    #expect(history.count == 2)
  }

  /// A list reports the next prices that it shows even when the list that showed them first is
  /// withdrawn.
  @Test func aNextPriceOutlivesTheListThatToldIt() async throws {
    func price(_ tenths: Int) -> Observation {
      Observation(stationCode: "10", fuel: .u91, price: Price(tenths: tenths), effectiveAt: nil)
    }
    let next = Observation.u91("10", 2_000, Watched.at(5))
    let history = try await watched { feed in
      try feed.reports(0, [price(1_850)], stampsOthers: false)
      try feed.reports(1, [price(1_850), next], stampsOthers: false)
      try feed.reports(2, [price(1_870), next], stampsOthers: false)
      try feed.decides(1, counts: false)
    }
    #expect(history == ["185.0|0|2", "187.0|2|5", "200.0|5|29"])
  }

  /// One stamped next price does not turn the other prices, which have no stamp, into stamped ones.
  @Test func whatIsSeenBeginsWhenItIsSeen() async throws {
    func price(_ tenths: Int) -> Observation {
      Observation(stationCode: "10", fuel: .u91, price: Price(tenths: tenths), effectiveAt: nil)
    }
    let other = Observation.u91("9", 2_000, Watched.at(9))
    let late = try await watched { feed in
      for hour in [0, 2, 1] {
        try feed.reports(hour, [price(hour == 1 ? 1_900 : 1_850), other], stampsOthers: false)
      }
    }
    #expect(late == ["185.0|0|1", "190.0|1|2", "185.0|2|26"])
    let withdrawn = try await watched { feed in
      for hour in [0, 2] { try feed.reports(hour, [price(1_850), other], stampsOthers: false) }
      try feed.decides(0, counts: false)
    }
    #expect(withdrawn == ["185.0|2|26"])
  }

  /// An answer of today repeats the prices that an answer of the day before reported for tomorrow.
  /// It still reports them when that earlier answer is withdrawn.
  @Test func answersOfWholeDaysAreFollowedByTheirDay() async throws {
    func days(_ today: Int, _ tomorrow: Int?) -> [Observation] {
      let begin = Watched.at(-2)
      return [Observation.u91("10", today, begin)]
        + (tomorrow.map { [Observation.u91("10", $0, begin + .seconds(86_400))] } ?? [])
    }
    func history(_ body: (inout Watched) throws -> Void) async throws -> [String] {
      try await watched(state: .wa, name: "wa-fuelwatch", body)
    }
    let withdrawn = try await history { feed in
      try feed.reports(8, days(1_850, 1_900), isUpdate: true)
      try feed.reports(23, [.u91("10", 1_900, Watched.at(22))], isUpdate: true)
      try feed.decides(8, counts: false)
    }
    #expect(withdrawn.contains { $0.hasPrefix("190.0|22|") })
    let late = try await history { feed in
      try feed.reports(8, days(1_850, 1_900), isUpdate: true)
      try feed.reports(23, [.u91("10", 1_900, Watched.at(22))], isUpdate: true)
      try feed.reports(9, days(1_850, 2_000), isUpdate: true)
    }
    #expect(late.contains { $0.hasPrefix("190.0|22|") })
    let undone = try await history { feed in
      try feed.reports(1, days(1_800, nil), isUpdate: true)
      try feed.reports(2, days(2_000, nil), isUpdate: true)
      try feed.decides(2, counts: false)
      try feed.reports(3, days(1_800, nil), isUpdate: true)
      try feed.decides(2, counts: true)
    }
    #expect(undone.contains { $0.hasPrefix("180.0|-2|") } && undone.count == 1)
  }
}
