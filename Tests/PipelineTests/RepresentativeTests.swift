import FuelModel
import Logging
import Postgres
import TestDatabase
import Testing

@testable import Pipeline
@testable import Store

/// Tests which record represents a station.
struct RepresentativeTests {
  /// A record with the name that `stations.json5` gives it, such as `nsw 5`.
  private func record(
    _ id: Int, _ name: String, stamped seconds: Int, address: String
  ) -> StationRecord {
    let (source, code) = Self.parts(name)
    let isArchive = source.hasSuffix("-archive")
    return StationRecord(
      id: id, source: source, scheme: isArchive ? String(source.dropLast(8)) : source, code: code,
      isArchive: isArchive, isCoded: true,
      lastReported: isArchive ? nil : Instant(seconds: Int64(seconds)),
      firstDay: Day(sinceEpoch: 20_000 - seconds), lastDay: Day(sinceEpoch: 20_000 - seconds),
      names: [MatchKey.name(name)],
      addresses: [MatchKey.address(address, suburb: "Wyong")])
  }

  private static func parts(_ name: String) -> (source: String, code: String) {
    let parts = name.split(separator: " ").map(String.init)
    return (parts[0], parts[1])
  }

  private func decision(_ first: String, _ second: String) -> StationDecision {
    let (one, other) = (Self.parts(first), Self.parts(second))
    return StationDecision(
      day: Day(sinceEpoch: 20_000), firstSource: one.source, firstCode: one.code,
      secondSource: other.source, secondCode: other.code, isSame: true, reason: "looked")
  }

  /// Links of a person, each with the first record before the second, and what represents their
  /// station.
  static let links: [(links: [[String]], represents: String)] = [
    ([["nsw 5", "nsw 6"]], "nsw 5"),
    ([["nsw 6", "nsw 5"]], "nsw 6"),
    ([["qld 7", "nsw 5"]], "qld 7"),
    // Only the second belongs to a feed.
    ([["nsw-archive 9", "nsw 6"]], "nsw 6"),
    ([["nsw-archive 9", "qld 7"]], "qld 7"),
    // The first has the code of a record of its feed.
    ([["nsw-archive 5", "qld 7"], ["nsw 5", "nsw-archive 5"]], "nsw 5"),
    ([["nsw-archive 6", "nsw-archive 5"]], "nsw-archive 6"),
    // Several records in a row, and several of one.
    ([["nsw 6", "nsw 5"], ["nsw 7", "nsw 6"]], "nsw 7"),
    ([["nsw 9", "qld 7"], ["qld 7", "nsw 6"]], "nsw 9"),
    ([["nsw 6", "nsw 5"], ["nsw 6", "qld 7"]], "nsw 6"),
    // Links that contradict one another.
    ([["nsw 7", "nsw 6"], ["nsw 6", "nsw 5"], ["nsw 5", "nsw 7"]], "nsw 5"),
    ([["nsw 5", "qld 7"], ["qld 8", "nsw 6"], ["nsw 5", "nsw 6"]], "nsw 5"),
  ]

  /// F-S15: the first record that a person names represents the station, whichever reported last
  /// and whatever the order of the links, of the records and of their numbers.
  @Test(arguments: links.indices)
  func theFirstOfALinkRepresents(index: Int) {
    let (links, expected) = Self.links[index]
    let names = Set(links.flatMap { $0 }).sorted()
    let decisions = links.map { decision($0[0], $0[1]) }
    for newest in names.indices {
      let records = names.enumerated().map { number, name in
        record(number, name, stamped: number == newest ? 9 : 0, address: "\(number + 1) Main St")
      }
      let renumbered = records.reversed().map { record -> StationRecord in
        var record = record
        record.id = 100 - record.id
        return record
      }
      let orders: [([StationRecord], [StationDecision])] = [
        (records, decisions), (records, decisions.reversed()), (renumbered, decisions),
      ]
      for (known, decided) in orders {
        let found = Identity.matches(of: known, presence: [:], decisions: decided).byRecord
        let heads = Set(found.values.map(\.station))
        let shown = known.filter { heads.contains($0.id) }.map { $0.source + " " + $0.code }
        #expect(shown == [expected], "newest: \(names[newest])")
      }
    }
  }

  /// F-S15: a code that takes over from the first of a link represents the station, and one that
  /// takes over from the second, of another feed, does not. A record that lost its prices, because
  /// its run was withdrawn, represents nothing.
  @Test func aNewCodeTakesTheRankOfTheOld() {
    func represents(
      _ names: [String], _ newest: Int, _ link: StationDecision, hasPrices: Bool = true
    ) -> String? {
      var records = names.enumerated().map { number, name in
        record(
          number, name, stamped: number == newest ? 9 : number,
          address: name.hasPrefix("nsw") ? "1 Main St" : "2 Low St")
      }
      records[0].hasPrices = hasPrices
      if !hasPrices { records[0].lastReported = nil }
      func listed(_ from: Int64, _ until: Int64) -> Presence {
        Presence(listed: [Instant(seconds: from)..<Instant(seconds: until)])
      }
      let isNew = { (name: String) in name.hasSuffix(" 2") }
      let presence = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { number, name in
          (number, isNew(name) ? listed(500, 900) : listed(0, 500))
        })
      let found = Identity.matches(of: records, presence: presence, decisions: [link]).byRecord
      let heads = Set(found.values.map(\.station))
      return heads.count == 1 ? names[heads.first!] : nil
    }
    let link = decision("nsw 1", "qld 1")
    for newest in 0..<3 {
      #expect(represents(["nsw 1", "qld 1", "qld 2"], newest, link) == "nsw 1")
    }
    #expect(represents(["nsw 1", "qld 1", "nsw 2"], 2, link) == "nsw 2")
    #expect(represents(["nsw 1", "qld 1", "nsw 2"], 1, link) == "nsw 2")
    #expect(represents(["nsw 1", "qld 1"], 1, link, hasPrices: false) == "qld 1")
  }

  /// F-S15: two linked codes report in turn. The station keeps its number with each list, no list
  /// of known stations makes a match due, and lists that arrive in another order end the same.
  @Test func theNumberStaysWithEachList() async throws {
    let begin = Instant("2025-10-10T00:00:00Z")
    let end = begin + .seconds(6 * 86_400)
    let link = decision("nsw-fuelcheck 5", "nsw-fuelcheck 6")
    var found: [[String]] = []
    for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
      try await TestDatabase.with { target in
        let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw)
        var lists: [[Observation]] = []
        var known: [String: Observation] = [
          "5": .u91("5", 1_690, begin), "6": .u91("6", 1_691, begin),
        ]
        for (day, code) in ["5", "6", "5", "6"].enumerated() {
          let stamp = begin + .seconds(Int64(day) * 86_400 + 3_600)
          known[code] = .u91(code, 1_700 + 10 * day, stamp)
          lists.append(known.keys.sorted().map { known[$0]! })
        }
        for (step, day) in order.enumerated() {
          try feed.reports(
            lists[day], at: begin + .seconds(Int64(day) * 86_400 + 7_200), now: end)
          if order.first == 0 {
            var isDue = false
            _ = try feed.store.stations.matchIfDue(decisions: nil) { isDue = true }
            #expect(isDue == (step == 0))
          }
          try Identity.match(feed.store, decisions: [link], now: end, log: Logger(.error))
          let heads = try feed.connection.lines(
            """
            SELECT DISTINCT head.station_code
            FROM fuel.station AS record
            JOIN fuel.station AS head ON head.station_id = record.place_id
            """)
          #expect(heads == ["5"], "list of day \(day)")
        }
        try feed.aggregate(at: end, regions: [.nation, .newSouthWales])
        found.append(try feed.published(at: end))
      }
    }
    #expect(found[0].contains { $0.hasPrefix("history|5|") })
    #expect(firstDifference(found[0], found[1]) == nil)
  }
}
