import Foundation
import FuelModel
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing
import Timeline

/// The judgement of lists depends on which lists there are, but neither on their order of arrival
/// nor on withdrawn lists. The thresholds are those of production. F-N01, F-N02.
struct StandingTests {
  static let begin = Instant("2026-06-01T00:00:00Z")
  static let end = begin + .seconds(8 * 86_400)
  static let refuseBelow = 0.7
  static let partialBelow = 0.95

  /// One list of a feed.
  struct List {
    var takenAt: Instant
    var observations: [Observation]
    var stations: [Station]
  }

  /// Returns four days of lists with every kind of fault: lists that are short or far too short,
  /// lists that lack a fuel or a brand, lists that repeat an old answer, and outages. Stations come
  /// and go.
  static func lists(seed: UInt64) -> [List] {
    var random = Random(seed: seed, "standing")
    let fuels: [Fuel] = [.u91, .dl]
    let codes = (10..<36).map { "\($0)" }
    var prices: [String: (tenths: Int, at: Instant)] = [:]
    var lists: [List] = []
    var at = begin
    var gone: Set<String> = []
    while at < begin + .seconds(4 * 86_400) {
      for code in codes {
        for fuel in fuels where lists.isEmpty || random.chance(0.3) {
          let stamp = at - .seconds(random.integer(60...(lists.isEmpty ? 90_000 : 9_000)))
          if let known = prices["\(code) \(fuel)"], known.at >= stamp { continue }
          prices["\(code) \(fuel)"] = (random.integer(1700...1999), stamp)
        }
      }
      if random.chance(0.2), let code = codes.randomElement(using: &random) {
        if gone.contains(code) { gone.remove(code) } else { gone.insert(code) }
      }
      var named = codes.filter { !gone.contains($0) }
      var listed = fuels
      switch random.integer(0...13) {
      case 0, 1: named.removeFirst(random.integer(2...5))
      case 2: named.removeFirst(random.integer(10...18))
      case 3: listed = [.u91]
      case 4: named.removeAll { Int($0)! < 22 }
      default: break
      }
      var observations = named.flatMap { code in
        listed.compactMap { fuel in
          prices["\(code) \(fuel)"].map {
            Observation(
              stationCode: code, fuel: fuel, price: Price(tenths: $0.tenths), effectiveAt: $0.at)
          }
        }
      }
      // The feed repeats an earlier answer.
      if random.chance(0.08), lists.count > 3 {
        observations = lists[lists.count - 3].observations
      }
      let stations = named.map {
        Station(
          code: $0, state: .qld, name: "Station \($0)", brand: Int($0)! < 22 ? "Coles" : "BP",
          address: "\($0) Main Rd")
      }
      lists.append(
        List(takenAt: at, observations: observations, stations: lists.isEmpty ? stations : []))
      at = at + .seconds(random.chance(0.05) ? 110_000 : random.integer(3_600...20_000))
    }
    return lists
  }

  /// A feed whose answers are kept and read again when the store asks for it, as in the pipeline.
  final class Teller {
    let feed: Feed
    private var kept: [Int: List] = [:]

    init(_ target: String) throws { feed = try Feed(target, sightLapsesHours: 24) }

    /// Stores a list.
    ///
    /// - Returns: the run that stored it, and whether it was refused.
    @discardableResult
    func say(_ list: List) throws -> (run: Int, isRefused: Bool) {
      var isRefused = false
      var believed: [RunID] = []
      do {
        believed = try feed.says(
          list.observations, stations: list.stations, at: list.takenAt, now: end,
          refuseBelow: refuseBelow, partialBelow: partialBelow
        ).believedNow
      } catch is Refusal {
        isRefused = true
      } catch let error as BelievedNow {
        isRefused = true
        believed = error.runs
      }
      let run = Int(try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]) ?? 0
      kept[run] = list
      try readAgain(believed)
      return (run, isRefused)
    }

    func decide(_ run: RunID, takenAt: Instant, counts: Bool) throws {
      try readAgain(
        feed.decide(
          run, takenAt: takenAt, counts: counts, now: end, refuseBelow: refuseBelow,
          partialBelow: partialBelow))
    }

    private func readAgain(_ runs: [RunID]) throws {
      for run in runs {
        guard let list = kept.removeValue(forKey: run.number) else { continue }
        try feed.connection.query(
          "UPDATE fuel.run SET outcome = 'superseded' WHERE run_id = \(run.number)")
        try say(list)
      }
    }

    func outcome() throws -> [String] {
      try feed.aggregate(at: end)
      return try feed.published(at: end)
        + feed.connection.lines(
          """
          SELECT 'list' AS what, taken_at, min(replace(outcome, 'unchanged', 'stored')) AS outcome,
            min(pairs) AS pairs, bool_or(is_complete) AS is_complete, max(error) AS error,
            max(array_to_string(shortcomings, ';')) AS why
          FROM fuel.run
          WHERE outcome IN ('stored', 'unchanged', 'refused')
          GROUP BY taken_at ORDER BY taken_at
          """)
    }
  }

  /// To run more: STANDING_SEEDS=2000 make test-long.
  static let seeds = Long.count("STANDING_SEEDS", short: 3, long: 15)

  @Test(.longer, arguments: 0..<seeds)
  func anyOrderOfListsIsJudgedAlike(seed: Int) async throws {
    let lists = Self.lists(seed: UInt64(seed))
    let plain = try await outcome(of: lists)
    var random = Random(seed: UInt64(seed), "order of lists")
    // The first list brings descriptions, and brands with them.
    let shuffled = try await outcome(
      of: [lists[0]] + lists.dropFirst().shuffled(using: &random))
    #expect(plain.count > 150)
    Self.compare(plain, shuffled, "seed \(seed)")
  }

  /// In a feed without stamps, a price begins with the earliest list that shows it, whichever list
  /// arrives first.
  @Test(.longer, arguments: 0..<seeds)
  func anyOrderOfListsWithoutStampsIsJudgedAlike(seed: Int) async throws {
    let lists = Self.lists(seed: UInt64(seed)).map { list in
      var list = list
      for place in list.observations.indices { list.observations[place].effectiveAt = nil }
      return list
    }
    let plain = try await outcome(of: lists)
    var random = Random(seed: UInt64(seed), "order of lists")
    let shuffled = try await outcome(
      of: [lists[0]] + lists.dropFirst().shuffled(using: &random))
    #expect(plain.count > 150)
    // Lines of stations are not compared. A station that has left was last seen when its last price
    // was learnt, and that depends on which list with this price arrived first.
    func compared(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("station|") } }
    Self.compare(compared(plain), compared(shuffled), "seed \(seed)")
  }

  /// A withdrawn run leaves no trace, whatever came after it, and it can be made to count again.
  @Test(.longer, arguments: 0..<seeds)
  func aWithdrawnRunWasNeverThere(seed: Int) async throws {
    let lists = Self.lists(seed: UInt64(seed))
    var random = Random(seed: UInt64(seed), "withdrawn")
    let wrong = random.integer(1...(lists.count - 1))
    let without = try await outcome(
      of: Array(lists[..<wrong] + lists[(wrong + 1)...]))
    let asEver = try await outcome(of: lists)
    try await TestDatabase.with { target in
      let teller = try Teller(target)
      var withdrawn: RunID?
      // Half of the seeds keep the order in which the lists were taken. There, the lists after the
      // one that is withdrawn were compared with it when they arrived.
      let order =
        seed % 2 == 0 ? lists : [lists[0]] + lists.dropFirst().shuffled(using: &random)
      for list in order {
        let said = try teller.say(list)
        if list.takenAt == lists[wrong].takenAt {
          withdrawn = said.isRefused ? nil : try teller.feed.store.named(said.run)?.run
        }
        if random.chance(0.2) { try teller.feed.aggregate(at: Self.end) }
      }
      // A list that was refused does not count anyway.
      guard let withdrawn,
        ["stored", "unchanged"].contains(
          try teller.feed.store.named(withdrawn.number)?.outcome ?? "")
      else { return }
      try teller.decide(withdrawn, takenAt: lists[wrong].takenAt, counts: false)
      Self.compare(
        try teller.outcome(), without, "seed \(seed) without \(lists[wrong].takenAt)")
      try teller.decide(withdrawn, takenAt: lists[wrong].takenAt, counts: true)
      Self.compare(try teller.outcome(), asEver, "seed \(seed) with \(lists[wrong].takenAt)")
    }
  }

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
          try feed.says(
            list(hour, hour < 3 ? 20 : 19), at: at, now: at, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isHealed {
          let wrong = try #require(try feed.store.named(2))
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
          try feed.says(
            (0..<20).map {
              .u91("\(10 + $0)", slips && hour == 3 ? 185 : 1_850, Self.begin - .seconds(900))
            }, at: Self.begin + .seconds(hour * 3_600), now: last, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isWithdrawn {
          let wrong = try #require(try feed.store.named(4))
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
          try feed.says(
            (hour == 1 ? 1..<20 : 0..<20).map {
              .u91("\(10 + $0)", 1_850, Self.begin - .seconds(900))
            },
            at: Self.begin + .seconds(hour * 3_600), now: last, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
        }
        if isWithdrawn {
          let wrong = try #require(try feed.store.named(1))
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
        let rest = (0..<others).map { Observation.u91("\(10 + $0)", 1_850, time(-1)) }
        try feed.says(
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
      let told = try history()
      #expect(told.count == 2, "\(told)")
      try feed.connection.execute(
        "INSERT INTO fuel.touched SELECT station_id, fuel_id, '-infinity' FROM fuel.current_price")
      try TimelineUpdate.makeAll(Workers(feed.store), now: time(14))
      Self.compare(told, try history(), "from the beginning")
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
        func say(_ hour: Int) throws {
          let isSlip = (1...slip).contains(hour)
          try feed.says(
            (0..<20).map { station in
              .u91(
                "\(10 + station)", isSlip ? 1_900 : 1_850,
                Self.begin - .seconds(isSlip && slip == 2 ? 600 : 900))
            }, at: Self.begin + .seconds(hour * 3_600), now: end, refuseBelow: Self.refuseBelow,
            partialBelow: Self.partialBelow)
          let newest = try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]
          runs[hour] = try feed.store.named(Int(newest) ?? 0)?.run
        }
        for hour in hours where hour < last { try say(hour) }
        for (position, (hour, counts)) in decisions.enumerated() {
          // The last list arrives between the decisions.
          if position == decisions.count - 1, hours.contains(last) { try say(last) }
          _ = try feed.decide(
            try #require(runs[hour]), takenAt: Self.begin + .seconds(hour * 3_600), counts: counts,
            now: end, refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
        }
        if decisions.isEmpty, hours.contains(last) { try say(last) }
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

  /// Later answers repeat prices of whole days. Of what a withdrawn answer reported, that part
  /// counts which later answers repeat.
  @Test(arguments: [[0, 1, 2, 3], [0, 2, 1, 3], [2, 3, 0, 1]])
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
          try feed.says(
            own, at: Self.begin + .seconds(hour * 3_600), now: end, coverage: .partial)
          if hour == 1 {
            wrong = try feed.store.named(
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

  /// Where answers state two prices for one day, the answer taken last holds, whichever arrived
  /// first.
  @Test func answersOfWholeDaysComeInAnyOrder() async throws {
    let day = Self.begin - .seconds(2 * 3_600)
    func published(_ order: [Int]) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(
          target, name: "wa-fuelwatch", state: .wa, priceLapsesHours: 24, sightLapsesHours: 24)
        for hour in order {
          try feed.says(
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

  /// News that repeats earlier news still reports the price when the earlier news is withdrawn.
  @Test func newsThatAreRepeatedOutliveTheFirst() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      let stamp = Self.begin + .seconds(3_000)
      func says(_ hour: Int, _ observations: [Observation], _ coverage: Reading.Coverage) throws {
        try feed.says(
          observations, at: Self.begin + .seconds(hour * 3_600), now: Self.end, coverage: coverage,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      try says(0, (0..<20).map { .u91("\(10 + $0)", 1_850, Self.begin - .seconds(900)) }, .complete)
      for hour in [1, 2] { try says(hour, [.u91("10", 1_900, stamp)], .partial) }
      let first = try #require(try feed.store.named(2))
      _ = try feed.decide(
        first.run, takenAt: Self.begin + .seconds(3_600), counts: false, now: Self.end,
        refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, valid_from FROM fuel_v1.price_history WHERE price_cpl = 190")
          == ["190.0|2026-06-01 00:50:00+00"])
    }
  }

  /// A price that news ended was believed for as long as the lists before the news showed it. A
  /// list that arrives late extends that time, and a list that is withdrawn shortens it.
  @Test func aLateListConfirmsWhatNewsHaveEnded() async throws {
    func history(_ hours: [Int], withdraws hour: Int? = nil) async throws -> [String] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, sightLapsesHours: 24)
        var runs: [Int: RunID] = [:]
        func at(_ hour: Int) -> Instant { Self.begin + .seconds(hour * 3_600) }
        for hour in hours {
          let isNews = hour == 40
          try feed.says(
            (0..<(isNews ? 1 : 20)).map {
              .u91("\(10 + $0)", isNews ? 1_900 : 1_850, isNews ? at(39) : at(-1))
            }, at: at(hour), now: Self.end, coverage: isNews ? .partial : .complete,
            refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
          runs[hour] = try feed.store.named(runs.count + 1)?.run
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

  /// When a list is read again, the lists after it still show its price, even where they stored
  /// nothing because they only repeated it.
  @Test func aListWithoutStampsIsReadAgain() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      func says(_ hour: Int, _ tenths: Int, kind: RunKind = .live) throws {
        try feed.says(
          (0..<20).map {
            Observation(
              stationCode: "\(10 + $0)", fuel: .u91, price: Price(tenths: tenths), effectiveAt: nil)
          }, at: Self.begin + .seconds(hour * 3_600), now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow, kind: kind)
      }
      for (hour, tenths) in [1_850, 1_900, 1_900].enumerated() { try says(hour, tenths) }
      func history() throws -> [String] {
        try feed.connection.lines(
          "SELECT DISTINCT price_cpl, valid_from FROM fuel_v1.price_history ORDER BY 2")
      }
      let right = ["185.0|2026-06-01 00:00:00+00", "190.0|2026-06-01 01:00:00+00"]
      #expect(try history() == right)
      let again = try #require(try feed.store.named(2))
      try says(1, 1_900, kind: .reprocess(again.run))
      #expect(try history() == right)
    }
  }

  /// A feed without stamps shows one price from one month into the next. When the first lists are
  /// withdrawn, the price begins with the next list that shows it, in a month for which no price
  /// was stored before.
  @Test func aPriceWithoutAStampGoesOnInAnotherMonth() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for hour in [-20, -10, 10] {
        try feed.says(
          (0..<20).map {
            Observation(
              stationCode: "\(10 + $0)", fuel: .u91, price: Price(tenths: 1_850), effectiveAt: nil)
          }, at: Self.begin + .seconds(hour * 3_600), now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      for (run, hour) in [(1, -20), (2, -10)] {
        let wrong = try #require(try feed.store.named(run))
        _ = try feed.decide(
          wrong.run, takenAt: Self.begin + .seconds(hour * 3_600), counts: false, now: Self.end,
          refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      #expect(
        try feed.connection.lines("SELECT DISTINCT valid_from FROM fuel_v1.price_history")
          == ["2026-06-01 10:00:00+00"])
    }
  }

  /// A stamp that equals the instant of fetching is a stamp: it stays when the next list repeats
  /// it.
  @Test func aStampStays() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      for hour in 0..<3 {
        let at = Self.begin + .seconds(hour * 3_600)
        try feed.says(
          (0..<12).map { station in
            .u91(
              "\(10 + station)", hour > 0 && station == 0 ? 1_900 : 1_800,
              hour > 0 && station == 0 ? Self.begin + .seconds(3_600) : Self.begin - .seconds(900))
          }, at: at, now: at, refuseBelow: Self.refuseBelow, partialBelow: Self.partialBelow)
      }
      let wrong = try #require(try feed.store.named(2))
      _ = try feed.decide(
        wrong.run, takenAt: Self.begin + .seconds(3_600), counts: false,
        now: Self.begin + .seconds(3 * 3_600), refuseBelow: Self.refuseBelow,
        partialBelow: Self.partialBelow)
      #expect(
        try feed.connection.lines(
          "SELECT price_cpl, valid_from FROM fuel_v1.price_history WHERE price_cpl = 190")
          == ["190.0|2026-06-01 01:00:00+00"])
    }
  }

  // MARK: What runs leave to earlier runs

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
    mutating func says(
      _ hour: Int, _ watched: [Observation], others: Int = 19, isNews: Bool = false,
      stampsOthers: Bool = true, kind: RunKind = .live
    ) throws {
      let rest = (0..<others).map {
        Observation(
          stationCode: "\(11 + $0)", fuel: .u91, price: Price(tenths: 1_700),
          effectiveAt: stampsOthers ? Self.at(-1) : nil)
      }
      try feed.says(
        watched + (isNews ? [] : rest), at: Self.at(hour), now: StandingTests.end,
        coverage: isNews ? .partial : .complete, refuseBelow: StandingTests.refuseBelow,
        partialBelow: StandingTests.partialBelow, kind: kind)
      let newest = try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]
      runs[hour] = try feed.store.named(Int(newest) ?? 0)?.run
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
        SELECT price_cpl, (extract(epoch FROM valid_from - \(Self.at(0))) / 3600)::integer AS since,
          (extract(epoch FROM valid_to - \(Self.at(0))) / 3600)::integer AS until
        FROM fuel_v1.price_history JOIN fuel_v1.stations USING (station_id)
        WHERE feed_station_code = '10' ORDER BY valid_from
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

  /// A list ends a price of earlier news that it leaves out. That also holds if the list before the
  /// news left the price out too, and if that list arrived after both.
  @Test(arguments: [[0, 1, 2, 3], [0, 2, 1, 3], [2, 3, 0, 1]])
  func whatNewsToldIsEndedByTheNextList(order: [Int]) async throws {
    let told = [Observation.u91("10", 1_900, Watched.at(1) + .seconds(1_800))]
    let history = try await watched { feed in
      for hour in order {
        let first = [Observation.u91("10", 1_850, Watched.at(-1))]
        try feed.says(hour, hour == 0 ? first : hour == 2 ? told : [], isNews: hour == 2)
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
      try feed.says(0, [price(1_850)], stampsOthers: false)
      try feed.says(1, [price(1_850), next], stampsOthers: false)
      try feed.says(2, [price(1_870), next], stampsOthers: false)
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
        try feed.says(hour, [price(hour == 1 ? 1_900 : 1_850), other], stampsOthers: false)
      }
    }
    #expect(late == ["185.0|0|1", "190.0|1|2", "185.0|2|26"])
    let withdrawn = try await watched { feed in
      for hour in [0, 2] { try feed.says(hour, [price(1_850), other], stampsOthers: false) }
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
      try feed.says(8, days(1_850, 1_900), isNews: true)
      try feed.says(23, [.u91("10", 1_900, Watched.at(22))], isNews: true)
      try feed.decides(8, counts: false)
    }
    #expect(withdrawn.contains { $0.hasPrefix("190.0|22|") })
    let late = try await history { feed in
      try feed.says(8, days(1_850, 1_900), isNews: true)
      try feed.says(23, [.u91("10", 1_900, Watched.at(22))], isNews: true)
      try feed.says(9, days(1_850, 2_000), isNews: true)
    }
    #expect(late.contains { $0.hasPrefix("190.0|22|") })
    let undone = try await history { feed in
      try feed.says(1, days(1_800, nil), isNews: true)
      try feed.says(2, days(2_000, nil), isNews: true)
      try feed.decides(2, counts: false)
      try feed.says(3, days(1_800, nil), isNews: true)
      try feed.decides(2, counts: true)
    }
    #expect(undone.contains { $0.hasPrefix("180.0|-2|") } && undone.count == 1)
  }

  /// Runs of earlier versions stored only how they differed from the runs that counted. Migration
  /// 0022 stores what such runs showed without a row of their own.
  @Test func whatListsOfBeforeLeftUnsaidIsWrittenDown() async throws {
    func price(_ tenths: Int) -> [Observation] {
      [Observation(stationCode: "10", fuel: .u91, price: Price(tenths: tenths), effectiveAt: nil)]
    }
    try await TestDatabase.withEmpty { target in
      let connection = try Connection(target)
      try Migrator(connection).up()
      var feed = try Watched(target)
      try feed.says(0, price(1_850), stampsOthers: false)
      try feed.says(1, price(1_900), others: 15, stampsOthers: false)
      try feed.says(2, price(1_900), stampsOthers: false)
      let listed = "SELECT count(*) FROM fuel.listing WHERE run_id = 3 AND is_listed" as SQL
      #expect(try connection.lines(listed) == ["4"])
      try connection.query("DELETE FROM fuel.listing WHERE run_id = 3")
      try connection.query("DELETE FROM fuel.migration WHERE name LIKE '0022%'")
      try connection.query("ALTER TABLE fuel.run DROP COLUMN told_days")
      try connection.query("CREATE INDEX run_list_idx ON fuel.run (source_id)")
      #expect(try Migrator(connection).up().contains { $0.hasPrefix("0022") })
      #expect(try connection.lines(listed) == ["4"])
      try feed.decides(1, counts: false)
      #expect(try feed.history() == ["185.0|0|2", "190.0|2|26"])
    }
  }

  private func outcome(of lists: [List]) async throws -> [String] {
    try await TestDatabase.with { target in
      let teller = try Teller(target)
      for list in lists { try teller.say(list) }
      return try teller.outcome()
    }
  }

  private static func compare(_ left: [String], _ right: [String], _ what: String) {
    let more = Set(left).subtracting(right).sorted()
    let less = Set(right).subtracting(left).sorted()
    #expect(more == [] && less == [], "\(what)")
    // Reports a cause before its consequences.
    for kind in ["list|", "history|", ""] {
      let other = less.filter { $0.hasPrefix(kind) }.prefix(3)
      let own = more.filter { $0.hasPrefix(kind) }.prefix(3)
      guard !other.isEmpty || !own.isEmpty else { continue }
      Issue.record("\(what): \(Array(own)) in the place of \(Array(other))")
      break
    }
  }
}
