import FuelModel
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Timeline

/// Which lists of a feed confirm nothing, because it has shown the same prices for too long.
struct FrozenTests {
  private static let begin = Instant("2026-03-20T00:00:00Z")
  private static func hour(_ hours: Int) -> Instant { begin + .seconds(hours * 3_600) }

  private struct List {
    var at: Instant
    var change: Int
    var isWithdrawn = false
  }

  /// Returns a list. Each change is one of a third of the stations: spans of the others have to follow
  /// which lists are frozen, and nothing else.
  private func prices(_ change: Int, stations: Int = 10, isStamped: Bool = true) -> [Observation] {
    (0..<stations).map { number in
      let own = (change + number) / 3
      return Observation(
        stationCode: "\(number)", fuel: .u91, price: Price(tenths: 1_800 + number + own % 400),
        effectiveAt: isStamped ? Self.hour(3 * own - number) : nil)
    }
  }

  /// Returns a feed's lists: it changes every few hours, rests at times, and is frozen at times.
  private func lists(_ random: inout Random) -> [List] {
    var lists: [List] = []
    var hour = 0
    var change = 0
    while lists.count < 100 {
      hour += random.integer(1...6)
      if random.chance(0.05) { hour += random.integer(20...60) }
      change += 1
      lists.append(List(at: Self.hour(hour), change: change))
      // The first freeze is a long one.
      guard lists.count == 21 || (lists.count > 21 && random.chance(0.06)) else { continue }
      for _ in 0..<(lists.count == 21 ? 40 : random.integer(2...40)) {
        hour += random.integer(2...9)
        lists.append(List(at: Self.hour(hour), change: change))
      }
    }
    for index in lists.indices { lists[index].isWithdrawn = random.chance(0.06) }
    return lists
  }

  private func frozen(_ feed: Feed) throws -> [String] {
    try feed.connection.lines(
      """
      SELECT 'frozen', taken_at, frozen_since_at
      FROM fuel.run
      WHERE frozen_since_at IS NOT NULL AND NOT confirms AND outcome IN ('stored', 'unchanged')
      ORDER BY taken_at
      """)
  }

  private func health(_ feed: Feed, at now: Instant) throws -> String {
    try feed.connection.query("SELECT set_config('bowser.now', \(now.description), false)")
    return try feed.connection.lines("SELECT status FROM fuel_v1.feed_health")[0]
  }

  /// F-F04: in whatever order lists arrive, are withdrawn and count again, the same ones are frozen,
  /// and the same is published.
  @Test(.longer, arguments: 0..<Long.count("FROZEN_SEEDS", short: 1, long: 6))
  func everyOrderOfListsIsJudgedAlike(seed: Int) async throws {
    var random = Random(seed: UInt64(seed), "frozen lists")
    let lists = lists(&random)
    let end = (lists.last?.at ?? Self.begin) + .seconds(7_200)
    let isStamped = seed % 2 == 0
    func live(_ order: [Int], withdrawsLast: Bool) async throws -> [String] {
      try await TestDatabase.with { target in
        let name = isStamped ? "qld-fpd" : "nt-myfuel"
        let feed = try Feed(
          target, name: name, state: isStamped ? .qld : .nt, sightLapsesHours: 24)
        func withdraw(_ index: Int, _ run: Int) throws {
          let known = try #require(try feed.store.ledger.ledgerRun(run)).run
          _ = try feed.decide(
            known, takenAt: lists[index].at, counts: false, now: end, refuseBelow: 0,
            partialBelow: 0)
        }
        var runs: [(Int, Int)] = []
        for (step, index) in order.enumerated() {
          let list = lists[index]
          if list.isWithdrawn, !withdrawsLast { continue }
          try feed.reports(
            prices(list.change, isStamped: isStamped), at: list.at, now: end)
          runs.append(
            (index, Int(try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]) ?? 0))
          if step % 40 == 20 { try feed.aggregate(at: end) }
        }
        for (index, run) in runs where lists[index].isWithdrawn { try withdraw(index, run) }
        try feed.aggregate(at: end)
        #expect(
          try Standings.faults(
            of: name, in: feed.store,
            rules: ListRules(window: 86_400_000_000, refuseBelow: 0, partialBelow: 0)) == [])
        // When a station without stamps was last seen is known from the list that arrived first.
        return try frozen(feed)
          + feed.published(at: end).filter { isStamped || !$0.hasPrefix("station|") }
      }
    }
    let plain = try await live(Array(lists.indices), withdrawsLast: false)
    #expect(plain.contains { $0.hasPrefix("frozen") })
    var late = Array(lists.indices)
    for _ in 0..<12 {
      let moved = late.remove(at: random.integer(0...(late.count - 1)))
      late.insert(moved, at: random.integer(0...late.count))
    }
    #expect(try await live(late, withdrawsLast: true) == plain, "seed \(seed)")
    guard Long.isOn else { return }
    #expect(try await live(late.reversed(), withdrawsLast: true) == plain, "seed \(seed)")
  }

  /// F-F04: a late list in a freeze lets the lists after it confirm prices again, also those of stations
  /// of which it states nothing new.
  @Test func aLateListEndsAFreezeForAllStations() async throws {
    let end = Self.hour(124)
    func live(_ steps: [Int]) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        for step in steps {
          var list = prices(step < 120 ? min(step, 40) : 120)
          if step == 80 { list[0].price = Price(tenths: 1_999) }
          try feed.reports(list, at: Self.hour(step), now: end)
        }
        try feed.aggregate(at: end)
        return try frozen(feed) + feed.published(at: end)
      }
    }
    let steps = Array(stride(from: 0, through: 120, by: 4))
    let plain = try await live(steps)
    // Since 40 the same, and since 84 once more.
    #expect(plain.count { $0.hasPrefix("frozen") } == 4 + 3)
    #expect(try await live(steps.filter { $0 != 80 } + [80]) == plain)
  }

  /// F-N60: somebody has changed which lists are frozen. A rebuild judges them again.
  @Test func aRebuildJudgesFrozenListsAgain() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let end = Self.hour(124)
      for step in stride(from: 0, through: 120, by: 4) {
        try feed.reports(prices(min(step, 40)), at: Self.hour(step), now: end)
      }
      try feed.aggregate(at: end)
      func published() throws -> [String] { try frozen(feed) + feed.published(at: end) }
      let plain = try published()
      #expect(plain.count { $0.hasPrefix("frozen") } > 4)
      try feed.connection.execute("UPDATE fuel.run SET frozen_since_at = NULL")
      #expect(try published() != plain)
      try Standings.restoreFrozen(in: feed.store, now: end)
      try feed.aggregate(at: end)
      #expect(try published() == plain)
    }
  }

  /// F-F04: a feed of which few changes are known has no habit, and is believed.
  @Test func aNewFeedHasNoHabit() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      for step in 0..<8 { try feed.reports(prices(step), at: Self.hour(step)) }
      for step in 8..<400 where step % 4 == 0 { try feed.reports(prices(7), at: Self.hour(step)) }
      #expect(try frozen(feed) == [])
    }
  }

  /// F-F04: five stations that change every other day may be still for several days.
  @Test func aSmallFeedMayBeStillForLong() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target)
      var change = 0
      for step in 0..<720 where step % 6 == 0 {
        if step % 48 == 0 { change += 1 }
        try feed.reports(prices(change, stations: 5), at: Self.hour(step))
      }
      for step in 720..<900 where step % 6 == 0 {
        try feed.reports(prices(change, stations: 5), at: Self.hour(step))
      }
      // Its last change was at 672.
      #expect(try frozen(feed).count == (900 - 672 - 144) / 6)
      // A list of which anything has changed is not frozen.
      var last = prices(change, stations: 5)
      last[4].price = Price(tenths: 1_999)
      try feed.reports(last, at: Self.hour(900))
      #expect(try health(feed, at: Self.hour(900)) == "ok")
    }
  }

  /// F-F04: updates between frozen lists cover no day.
  @Test func anUpdateCoversNoFrozenDay() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for step in 0..<48 { try feed.reports(prices(step), at: Self.hour(step)) }
      for step in stride(from: 48, to: 240, by: 4) {
        try feed.reports(prices(47), at: Self.hour(step))
        try feed.reports([], at: Self.hour(step + 1), coverage: .partial)
      }
      let end = Self.hour(240)
      try feed.aggregate(at: end)
      try feed.connection.query("SELECT set_config('bowser.now', \(end.description), false)")
      #expect(
        try feed.connection.lines(
          """
          SELECT DISTINCT is_covered, why FROM fuel_v1.coverage
          WHERE region = 'QLD' AND day BETWEEN '2026-03-26' AND '2026-03-28'
          """) == ["f|frozen"])
    }
  }

  /// F-F04: a list of yesterday that is served for ever confirms nothing, also once the lists of the
  /// time for which a sighting is believed are no longer better.
  @Test func yesterdaysListForEver() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for step in 0..<48 { try feed.reports(prices(step, stations: 40), at: Self.hour(step)) }
      for step in stride(from: 48, to: 200, by: 4) {
        try feed.reports(prices(24, stations: 40), at: Self.hour(step))
      }
      #expect(try health(feed, at: Self.hour(199)) == "stale")
      #expect(
        try feed.connection.lines("SELECT count(*) FROM fuel_v1.current_prices WHERE is_fresh")
          == ["0"])
    }
  }
}
