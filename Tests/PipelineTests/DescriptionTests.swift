import FuelModel
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// How runs that no longer count described stations.
struct DescriptionTests {
  private static let begin = Instant("2026-06-01T00:00:00Z")
  private static let codes = (10..<30).map { "\($0)" }

  private static func at(_ hour: Int) -> Instant { begin + .seconds(hour * 3_600) }

  /// A station under one of two names. The second name comes with another brand and place.
  private static func station(_ code: String, isSecond: Bool) -> Station {
    Station(
      code: code, state: .qld, name: isSecond ? "Second \(code)" : "First \(code)",
      brand: isSecond ? "BP" : "Coles", address: "\(code) Main Rd", suburb: "Roma",
      postcode: "4455",
      position: Position(latitude: isSecond ? -26.9 : -26.5, longitude: 148.8))
  }

  /// A list of a feed: the hour at which it was taken, the number of its stations, and under which
  /// names it describes them.
  private typealias List = (hour: Int, stations: Int, isSecond: Bool)

  /// Returns how stations are described after lists have come and some runs were withdrawn, with
  /// what `verify` finds.
  ///
  /// - Parameters:
  ///   - runs: the lists to withdraw, by their position from 1 on.
  ///   - rereading: the lists that are read again before the next one comes.
  ///   - renaming: lists that are read again at the end, under the other names.
  ///   - late: a list that comes after the withdrawals.
  private func described(
    _ lists: [List], withdrawing runs: [Int] = [], rereading: Set<Int> = [], renaming: [Int] = [],
    late: List? = nil
  ) async throws -> [String] {
    try await TestDatabase.with { target in
      let feed = try Feed(target, sightLapsesHours: 24)
      func report(_ list: List, kind: RunKind = .live) throws {
        let codes = Self.codes.prefix(list.stations)
        do {
          try feed.reports(
            codes.map { .u91($0, 1_850, Self.begin - .seconds(900)) },
            stations: codes.map { Self.station($0, isSecond: list.isSecond) },
            at: Self.at(list.hour), now: Self.at(9), refuseBelow: 0.7, partialBelow: 0.95,
            kind: kind)
        } catch is Refusal {} catch is BelievedNow {}
      }
      func newest() throws -> RunID {
        let number = try feed.connection.lines("SELECT max(run_id) FROM fuel.run")[0]
        return try #require(try feed.store.ledger.ledgerRun(Int(number) ?? 0)).run
      }
      var stored: [RunID] = []
      for (position, list) in lists.enumerated() {
        try report(list)
        if rereading.contains(position + 1) { try report(list, kind: .reprocess(newest())) }
        stored.append(try newest())
      }
      for number in renaming {
        let list = lists[number - 1]
        try report(
          (list.hour, list.stations, !list.isSecond), kind: .reprocess(stored[number - 1]))
        stored[number - 1] = try newest()
      }
      for number in runs {
        _ = try feed.decide(
          stored[number - 1], takenAt: Self.at(lists[number - 1].hour), counts: false,
          now: Self.at(9),
          refuseBelow: 0.7, partialBelow: 0.95)
      }
      if let late { try report(late) }
      try feed.aggregate(at: Self.at(9))
      #expect(try feed.store.ledger.verify(head: nil).faults == [])
      return try feed.connection.lines(
        """
        SELECT name, brand, latitude::text, has_moved::text FROM fuel_v1.stations
        UNION ALL
        SELECT name, 'seen', first_seen_at::text, last_seen_at::text FROM fuel_v1.station_history
        """
      ).sorted()
    }
  }

  /// F-V21: a list that gave stations another name, brand and place is withdrawn, or refused when
  /// an earlier list arrives. The stations are described as without it.
  @Test(arguments: [false, true])
  func aListThatIsTakenBackLeavesNoName(isRefused: Bool) async throws {
    let plain = try await described([(0, 20, false), (2, 20, false)])
    #expect(plain.contains("First 10|Coles|-26.500000|false"))
    if isRefused {
      let second: List = (4, 10, true)
      let late: [List] = [second, (0, 20, false), (2, 20, false)]
      #expect(try await described(late) == plain)
      #expect(try await described(late, rereading: [1]) == plain)
    } else {
      let last = try await described(
        [(0, 20, false), (2, 20, false), (4, 20, true)], withdrawing: [3])
      #expect(last == plain)
      let first = try await described(
        [(-1, 20, true), (0, 20, false), (2, 20, false)], withdrawing: [1])
      #expect(first == plain)
    }
  }

  /// F-V22: of three equal lists the second is read again, and the first or the last is withdrawn.
  /// The stations were seen in the two that are left.
  @Test func aListThatWasReadAgainIsANeighbour() async throws {
    let lists: [List] = [(-1, 20, false), (0, 20, false), (2, 20, false)]
    let plain = try await described([lists[1], lists[2]])
    #expect(try await described(lists, withdrawing: [1], rereading: [2]) == plain)
    let others: [List] = [(0, 20, false), (2, 20, false), (4, 20, false)]
    #expect(try await described(others, withdrawing: [3], rereading: [2]) == plain)
  }

  /// F-V22: a list is withdrawn that was read again itself, as its neighbours were.
  @Test func aListThatWasReadAgainIsTakenBack() async throws {
    let plain = try await described([(0, 20, false), (2, 20, false)])
    #expect(
      try await described(
        [(-1, 20, false), (0, 20, false), (2, 20, false)], withdrawing: [1], rereading: [1, 2])
        == plain)
    let last: [List] = [(0, 20, false), (2, 20, false), (4, 20, false)]
    #expect(try await described(last, withdrawing: [3], rereading: [2, 3]) == plain)
    // What comes later than the lists that are left gives the stations their names.
    let renamed: [List] = [(0, 20, false), (2, 20, true), (4, 20, true)]
    #expect(
      try await described(renamed, withdrawing: [3], rereading: [2, 3], late: (3, 20, false))
        == described([(0, 20, false), (2, 20, true), (3, 20, false)]))
  }

  /// F-V25: a name comes back, and the first or the last list is withdrawn. The others keep their
  /// names. In any order in which lists are read again under other names, those end in their place.
  @Test func namesThatComeBackKeepTheirLists() async throws {
    let last: [List] = [(0, 20, false), (1, 20, false), (2, 20, true), (3, 20, false)]
    #expect(
      try await described(last, withdrawing: [4]) == described(Array(last.prefix(3))))
    let first: [List] = [(0, 20, false), (1, 20, true), (2, 20, false), (3, 20, false)]
    #expect(
      try await described(first, withdrawing: [1]) == described(Array(first.dropFirst())))
    let lists: [List] = [(0, 20, false), (1, 20, false), (2, 20, false)]
    let renamed = try await described(lists.map { ($0.hour, $0.stations, true) })
    for order in [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] {
      #expect(try await described(lists, renaming: order) == renamed, "\(order)")
    }
    #expect(
      try await described(lists, renaming: [2])
        == described([lists[0], (1, 20, true), lists[2]]))
  }
}
