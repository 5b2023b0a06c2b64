import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// Runs that stop counting and count again.
extension StandingTests {
  /// F-N02: a run whose clock was more than a year ahead has been stored, as could happen before
  /// clocks were compared. Until the run is withdrawn, a station that has gone stays. Afterwards
  /// the run leaves no trace.
  @Test func aRunByAClockAheadIsHealed() async throws {
    let last = Self.begin + .seconds(6 * 3_600)
    func list(_ hour: Int, _ stations: Int) -> [Observation] {
      (0..<stations).map {
        .u91("\(10 + $0)", 1_800 + 50 * hour, Self.begin + .seconds(hour * 3_600 - 900))
      }
    }
    func published(isPoisoned: Bool, isHealed: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        for hour in 0..<6 {
          var at = Self.begin + .seconds(hour * 3_600)
          if hour == 1 {
            if !isPoisoned { continue }
            at = at + .seconds(400 * 86_400)
          }
          try feed.reports(
            list(hour, hour < 3 ? 20 : 19), at: at, now: at, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isHealed {
          let wrong = try #require(try feed.store.ledger.ledgerRun(2))
          _ = try feed.decide(
            wrong.run, takenAt: Self.begin + .seconds(3_600 + 400 * 86_400), counts: false,
            now: last,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        try feed.aggregate(at: last)
        return try feed.published(at: last)
          + feed.connection.lines("SELECT status, last_success_at FROM fuel_v1.feed_health")
      }
    }
    let without = try await published(isPoisoned: false, isHealed: false)
    let poisoned = try await published(isPoisoned: true, isHealed: false)
    let healed = try await published(isPoisoned: true, isHealed: true)
    #expect(poisoned != without)
    Self.compare(healed, without, "healed")
    #expect(without.count { $0.hasPrefix("current|") } == 19)
  }

  /// A wrong price under the stamp of the right one is replaced by the next list, whether the run
  /// is withdrawn or not.
  @Test func aSlipDoesNotOutliveItsList() async throws {
    let last = Self.begin + .seconds(7 * 3_600)
    func history(slips: Bool, isWithdrawn: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        for hour in 0..<6 {
          try feed.reports(
            (0..<20).map {
              .u91("\(10 + $0)", slips && hour == 3 ? 185 : 1_850, Self.begin - .seconds(900))
            }, at: Self.begin + .seconds(hour * 3_600), now: last, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isWithdrawn {
          let wrong = try #require(try feed.store.ledger.ledgerRun(4))
          _ = try feed.decide(
            wrong.run, takenAt: Self.begin + .seconds(3 * 3_600), counts: false, now: last,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        return try feed.published(at: last).filter {
          $0.hasPrefix("history|") || $0.hasPrefix("current|")
        }
      }
    }
    let right = try await history(slips: false, isWithdrawn: false)
    #expect(right.count == 40)
    Self.compare(try await history(slips: true, isWithdrawn: true), right, "withdrawn")
    let prices = { (lines: [String]) in
      Set(lines.filter { $0.hasPrefix("history|") }.map { $0.split(separator: "|")[3] })
    }
    #expect(prices(try await history(slips: true, isWithdrawn: false)) == prices(right))
  }

  /// A list ends the prices that the list before it showed and that it leaves out itself. If that
  /// earlier list is withdrawn, no price is left out any more, and nothing ends.
  @Test func aGapAfterAListThatIsTakenBackEndsNothing() async throws {
    func history(hours: [Int], isWithdrawn: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        let last = Self.begin + .seconds(4 * 3_600)
        for hour in hours {
          try feed.reports(
            (hour == 1 ? 1..<20 : 0..<20).map {
              .u91("\(10 + $0)", 1_850, Self.begin - .seconds(900))
            },
            at: Self.begin + .seconds(hour * 3_600), now: last, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isWithdrawn {
          let wrong = try #require(try feed.store.ledger.ledgerRun(1))
          _ = try feed.decide(
            wrong.run, takenAt: Self.begin, counts: false, now: last,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        return try feed.published(at: last).filter { $0.hasPrefix("history|") }
      }
    }
    let right = try await history(hours: [1, 2, 3], isWithdrawn: false)
    #expect(right.count == 20)
    Self.compare(try await history(hours: [0, 1, 2, 3], isWithdrawn: true), right, "withdrawn")
  }

  /// A station is reported between two lists that both leave it out. The later list ends what was
  /// reported, however long ago that was, and whether or not the station had a price before.
  @Test func gapsThatAreToldAgainEndWhatWasTold() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      func time(_ hour: Int, _ minute: Int = 0) -> Instant {
        Self.begin + .seconds(hour * 3_600 + minute * 60)
      }
      func list(_ hour: Int, others: Int = 20, _ price: (tenths: Int, stampedAt: Instant)?) throws {
        // One station has a new price each hour, so that no list equals another.
        let rest = (0..<others).map {
          Observation.u91("\(10 + $0)", 1_850 + ($0 == 0 ? hour : 0), time($0 == 0 ? hour - 1 : -1))
        }
        try feed.reports(
          rest + [price.map { Observation.u91("1", $0.tenths, $0.stampedAt) }].compactMap(\.self),
          at: time(hour), refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      try list(10, (0, time(9, 30)))
      try list(11, nil)
      // This list is partial and ends nothing. It reports, with an older stamp, that the station
      // does not offer the fuel.
      try list(12, others: 17, (0, time(9)))
      try list(13, nil)
      try list(14, (1_500, time(12, 30)))
      let history = { try feed.published(at: time(14)).filter { $0.hasPrefix("history|1|") } }
      let first = try history()
      #expect(first.count == 2, "\(first)")
      try feed.connection.execute(
        "INSERT INTO fuel.due SELECT 'spans', station_id, fuel_id, '-infinity' FROM fuel.shown_price"
      )
      try TimelineUpdate.makeAll(Workers(feed.store), now: time(14))
      Self.compare(first, try history(), "from the beginning")
    }
  }

  /// A run stores only how it differs from the runs before it. It nevertheless reports the same
  /// after it was withdrawn and counts again, even if an earlier run was withdrawn meanwhile. The
  /// same holds for runs that arrived while it did not count.
  @Test func whatCountsAgainSaysWhatItSaid() async throws {
    /// Hour 1 reports a wrong price. With `slip` 1 it has the stamp of the price before it. With
    /// `slip` 2 it has a stamp of its own, and hour 2 reports it again.
    func history(
      hours: [Int], slip: Int, decisions: [(hour: Int, counts: Bool)] = [], last: Int = 3
    )
      async throws -> [String]
    {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        let end = Self.begin + .seconds(5 * 3_600)
        var runs: [Int: RunID] = [:]
        func report(_ hour: Int) throws {
          let isSlip = (1...slip).contains(hour)
          try feed.reports(
            (0..<20).map { station in
              .u91(
                "\(10 + station)", isSlip ? 1_900 : 1_850,
                Self.begin - .seconds(isSlip && slip == 2 ? 600 : 900))
            }, at: Self.begin + .seconds(hour * 3_600), now: end, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
          let newest = try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]
          runs[hour] = try feed.store.ledger.ledgerRun(Int(newest) ?? 0)?.run
        }
        for hour in hours where hour < last { try report(hour) }
        for (position, (hour, counts)) in decisions.enumerated() {
          // The last list arrives between the decisions.
          if position == decisions.count - 1, hours.contains(last) { try report(last) }
          _ = try feed.decide(
            try #require(runs[hour]), takenAt: Self.begin + .seconds(hour * 3_600), counts: counts,
            now: end, refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        if decisions.isEmpty, hours.contains(last) { try report(last) }
        return try feed.published(at: end).filter { $0.hasPrefix("history|") }
      }
    }
    // The price of hour 2 was first reported in hour 1. The run of hour 1 is withdrawn while that
    // of hour 2 does not count.
    Self.compare(
      try await history(
        hours: [0, 1, 2], slip: 2, decisions: [(2, false), (1, false), (2, true)]),
      try await history(hours: [0, 2], slip: 2), "told by another")
    // The list of hour 2 arrives while the run of hour 1 does not count.
    Self.compare(
      try await history(hours: [0, 1, 2], slip: 1, decisions: [(1, false), (1, true)], last: 2),
      try await history(hours: [0, 1, 2], slip: 1, last: 2), "told without it")
  }
}
