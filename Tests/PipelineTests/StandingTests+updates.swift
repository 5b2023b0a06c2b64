import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Answers that are no list: updates, and the prices of whole days.
extension StandingTests {
  /// Later answers repeat prices of whole days. Of what a withdrawn answer reported, that part
  /// counts which later answers repeat.
  @Test(.longer, arguments: Long.some([[0, 2, 1, 3], [0, 1, 2, 3], [2, 3, 0, 1]], short: 1))
  func anAnswerOfWholeDaysIsTakenBack(order: [Int]) async throws {
    let end = Self.begin + .seconds(4 * 86_400)
    // 22:00 UTC is 06:00 in Perth.
    let day = Self.begin - .seconds(2 * 3_600)
    func published(_ order: [Int], isWithdrawn: Bool, isUndone: Bool = false) async throws
      -> [String]
    {
      try await TestDatabase.with { target in
        let feed = try Feed(
          target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
        var wrong: RunID?
        for hour in order {
          // The wrong answer (hour 1) is wrong for all stations but the first. It is also the first
          // answer that reports that station.
          let observations = (0..<12).map { station in
            Observation.u91(
              "\(10 + station)", (hour == 1 && station > 0 ? 2_000 : 1_800) + station, day)
          }
          let own = hour == 0 ? Array(observations.dropFirst()) : observations
          try feed.reports(
            own, at: Self.begin + .seconds(hour * 3_600), now: end, coverage: .partial)
          if hour == 1 {
            wrong = try feed.store.ledger.ledgerRun(
              Int(feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]) ?? 0)?.run
          }
        }
        for counts in [isWithdrawn ? false : nil, isUndone ? true : nil].compactMap({ $0 }) {
          _ = try feed.decide(
            try #require(wrong), takenAt: Self.begin + .seconds(3_600), counts: counts, now: end,
            refuseBelow: 0, partialBelow: 0)
        }
        try feed.aggregate(at: end, regions: [.nation])
        return try feed.published(at: end).filter { !$0.hasPrefix("station|") }
      }
    }
    let without = try await published(order.filter { $0 != 1 }, isWithdrawn: false)
    #expect(without.count { $0.hasPrefix("history|") } == 12)
    Self.compare(try await published(order, isWithdrawn: true), without, "withdrawn \(order)")
    Self.compare(
      try await published(order, isWithdrawn: true, isUndone: true),
      try await published(order, isWithdrawn: false), "undone \(order)")
  }

  /// F-S20: the days on which stations without codes were seen grow with each answer of whole days,
  /// so that no aggregate reads the facts of all years again. They are found anew where facts are
  /// gone.
  @Test func sightingsGrowWithWholeDays() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(
        target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
      try feed.connection.execute("UPDATE fuel.source SET has_codes = false")
      let end = Self.begin + .seconds(4 * 86_400)
      func match() throws {
        try Identity.match(feed.store, decisions: [], now: end, log: Logger(.error))
      }
      func days() throws -> [String] {
        try feed.connection.lines(
          "SELECT station_id, month, days::bit(31) FROM fuel.station_sighting ORDER BY 1, 2")
      }
      func report(_ number: Int) throws {
        try feed.reports(
          (0..<3).map { .u91("\($0)", 1_800 + number, Self.begin + .seconds(number * 86_400)) },
          at: Self.begin + .seconds(number * 86_400), now: end, coverage: .partial)
      }
      try report(0)
      try match()
      let first = try days()
      #expect(first.count == 3)
      try report(1)
      let both = try days()
      #expect(both.count == 3 && both != first)
      try feed.connection.execute(
        "DELETE FROM fuel.station_sighting; UPDATE fuel.source SET are_links_due = true")
      try match()
      #expect(try days() == both)
      let run = try #require(try feed.store.ledger.ledgerRun(2)).run
      _ = try feed.decide(
        run, takenAt: Self.begin + .seconds(86_400), counts: false, now: end, refuseBelow: 0,
        partialBelow: 0)
      try match()
      #expect(try days() == first)
    }
  }

  /// Where answers state two prices for one day, the answer taken last holds, whichever arrived
  /// first.
  @Test func answersOfWholeDaysComeInAnyOrder() async throws {
    let day = Self.begin - .seconds(2 * 3_600)
    func published(_ order: [Int]) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(
          target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
        for hour in order {
          try feed.reports(
            (0..<12).map { .u91("\(10 + $0)", hour == 1 ? 2_000 : 1_800, day) },
            at: Self.begin + .seconds(hour * 3_600), now: Self.end, coverage: .partial)
        }
        return try feed.published(at: Self.begin + .seconds(3 * 3_600))
          .filter { $0.hasPrefix("history|") || $0.hasPrefix("current|") }
      }
    }
    let right = try await published([0, 1, 2])
    #expect(right.count { $0.contains("|180.0|") } == 24)
    Self.compare(try await published([0, 2, 1]), right, "late")
  }

  /// An update that repeats an earlier one still reports the price when the earlier one is
  /// withdrawn.
  @Test func aRepeatedUpdateOutlivesTheFirst() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let stamp = Self.begin + .seconds(3_000)
      func reports(
        _ hour: Int, _ observations: [Observation], _ coverage: Reading.Coverage
      ) throws {
        try feed.reports(
          observations, at: Self.begin + .seconds(hour * 3_600), now: Self.end, coverage: coverage,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      try reports(
        0, (0..<20).map { .u91("\(10 + $0)", 1_850, Self.begin - .seconds(900)) }, .complete)
      for hour in [1, 2] { try reports(hour, [.u91("10", 1_900, stamp)], .partial) }
      let first = try #require(try feed.store.ledger.ledgerRun(2))
      _ = try feed.decide(
        first.run, takenAt: Self.begin + .seconds(3_600), counts: false, now: Self.end,
        refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, valid_from_at FROM fuel_v1.price_history WHERE price_cpl = 190")
          == ["190.0|2026-06-01 00:50:00+00"])
    }
  }

  /// A price that an update ended was believed for as long as the lists before the update showed
  /// it. A list that arrives late extends that time, and a list that is withdrawn shortens it.
  @Test func aLateListConfirmsWhatAnUpdateEnded() async throws {
    func history(_ hours: [Int], withdraws hour: Int? = nil) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        var runs: [Int: RunID] = [:]
        func at(_ hour: Int) -> Instant { Self.begin + .seconds(hour * 3_600) }
        for hour in hours {
          let isUpdate = hour == 40
          try feed.reports(
            (0..<(isUpdate ? 1 : 20)).map {
              .u91("\(10 + $0)", isUpdate ? 1_900 : 1_850, isUpdate ? at(39) : at(-1))
            }, at: at(hour), now: Self.end, coverage: isUpdate ? .partial : .complete,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
          runs[hour] = try feed.store.ledger.ledgerRun(runs.count + 1)?.run
        }
        if let hour {
          _ = try feed.decide(
            try #require(runs[hour]), takenAt: at(hour), counts: false, now: Self.end,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        return try feed.published(at: Self.end).filter { $0.hasPrefix("history|10|") }
      }
    }
    let right = try await history([0, 20, 40])
    let without = try await history([0, 40])
    #expect(right.count == 2 && right != without)
    Self.compare(try await history([0, 40, 20]), right, "late")
    Self.compare(try await history([0, 20, 40], withdraws: 20), without, "withdrawn")
  }
}
