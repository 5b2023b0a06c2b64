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
    func report(_ list: List) throws -> (run: Int, isRefused: Bool) {
      var isRefused = false
      var believed: [RunID] = []
      do {
        believed = try feed.reports(
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
        try report(list)
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
  static let seeds = Long.count("STANDING_SEEDS", short: 1, long: 6)

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
      for index in list.observations.indices { list.observations[index].effectiveAt = nil }
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
        let result = try teller.report(list)
        if list.takenAt == lists[wrong].takenAt {
          withdrawn =
            result.isRefused ? nil : try teller.feed.store.ledger.ledgerRun(result.run)?.run
        }
        if random.chance(0.2) { try teller.feed.aggregate(at: Self.end) }
      }
      // A list that was refused does not count anyway.
      guard let withdrawn,
        ["stored", "unchanged"].contains(
          try teller.feed.store.ledger.ledgerRun(withdrawn.number)?.outcome ?? "")
      else { return }
      try teller.decide(withdrawn, takenAt: lists[wrong].takenAt, counts: false)
      Self.compare(
        try teller.outcome(), without, "seed \(seed) without \(lists[wrong].takenAt)")
      try teller.decide(withdrawn, takenAt: lists[wrong].takenAt, counts: true)
      Self.compare(try teller.outcome(), asEver, "seed \(seed) with \(lists[wrong].takenAt)")
    }
  }

  /// F-N58: one answer is stored twice, as a recording that is replayed again is. A longer list of
  /// an earlier day arrives after both. Both are judged again.
  @Test func listsOfOneInstantAreJudgedAlike() async throws {
    func list(_ hour: Int, _ stations: Int) -> List {
      List(
        takenAt: Self.begin + .seconds(hour * 3_600),
        observations: (0..<stations).map { .u91("\(10 + $0)", 1_850, Self.begin - .seconds(900)) },
        stations: [])
    }
    let (long, short) = (list(0, 28), list(30, 13))
    let inOrder = try await outcome(of: [long, short, short])
    #expect(inOrder.contains { $0.contains("refused") })
    Self.compare(try await outcome(of: [short, short, long]), inOrder, "the long list last")
  }

  private func outcome(of lists: [List]) async throws -> [String] {
    try await TestDatabase.with { target in
      let teller = try Teller(target)
      for list in lists { try teller.report(list) }
      return try teller.outcome()
    }
  }

  static func compare(_ left: [String], _ right: [String], _ what: String) {
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
