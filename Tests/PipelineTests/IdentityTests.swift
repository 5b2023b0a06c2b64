import Foundation
import FuelModel
import Testing

@testable import Pipeline
@testable import Store

/// Tests which records are one station, case by case.
struct IdentityTests {
  private static let month = Month(Day(year: 2025, month: 3, day: 1)!)

  private func feed(
    _ id: Int, _ code: String, _ name: String, _ address: String, hasPrices: Bool = true
  )
    -> StationRecord
  {
    StationRecord(
      id: id, source: "feed", scheme: "s", code: code, isArchive: false, isCoded: true,
      hasPrices: hasPrices, names: [MatchKey.name(name)],
      addresses: [MatchKey.address(address, suburb: "Wyong")])
  }

  private func archive(_ id: Int, _ name: String, _ address: String, month: Int32 = 0)
    -> StationRecord
  {
    let key = MatchKey.address(address, suburb: "Wyong")
    let day = Month(number: Self.month.number + month).firstDay
    return StationRecord(
      id: id, source: "archive", scheme: "s", code: MatchKey.name(name) + "|" + key,
      isArchive: true, isCoded: false, firstDay: day, lastDay: day,
      names: [MatchKey.name(name)], addresses: [key])
  }

  private func matches(
    _ records: [StationRecord], _ days: [Int: UInt32] = [:], _ decisions: [StationDecision] = []
  ) -> [Int: Identity.Match] {
    Identity.matches(
      of: records, presence: days.mapValues { Presence(days: [Self.month: $0]) },
      decisions: decisions
    ).byRecord
  }

  /// F-S01: a different name at the same address at a different time is the same station.
  @Test func renamedStationsAreOne() {
    let records = [
      archive(1, "Caltex Wyong", "1 Main Street"), archive(2, "Ampol Wyong", "1 MAIN ST", month: 5),
      feed(3, "77", "Ampol Foodary Wyong", "1 Main St., Wyong NSW 2259"),
    ]
    let found = matches(records, [1: 0b0111, 2: 0b1000])
    #expect(found.mapValues(\.station) == [1: 3, 2: 3, 3: 3])
    #expect(found[1]?.by == "address" && found[1]?.doubt == nil)
    // Without a record of the feed, the earliest record heads the station.
    #expect(
      matches(Array(records.prefix(2)), [1: 0b0111, 2: 0b1000]).mapValues(\.station)
        == [1: 1, 2: 1])
  }

  /// Two names on the same days are two stations. Names decide which code belongs to which.
  @Test func twinsStayTwo() {
    let records = [
      archive(1, "BP Wyong Northbound", "M1 Motorway"),
      archive(2, "BP Wyong Southbound", "M1 Motorway"),
      feed(3, "201", "BP Wyong Northbound", "M1 Motorway"),
      feed(4, "202", "BP Wyong Southbound", "M1 Motorway"),
    ]
    let days: [Int: UInt32] = [1: 0b11111, 2: 0b11111]
    #expect(matches(records, days).mapValues(\.station) == [1: 3, 2: 4, 3: 3, 4: 4])
    #expect(matches(Array(records.prefix(2)), days).mapValues(\.station) == [1: 1, 2: 2])
    // Both were renamed; their directions decide.
    let renamed = matches(
      [
        archive(1, "BP Wyong Northbound", "M1 Motorway"),
        archive(2, "BP Wyong Southbound", "M1 Motorway"),
        archive(5, "Ampol Wyong Northbound", "M1 Motorway", month: 1),
        archive(6, "Ampol Wyong Southbound", "M1 Motorway", month: 1),
      ], [1: 0b111, 2: 0b111, 5: 0b111000, 6: 0b111000])
    #expect(renamed.mapValues(\.station) == [1: 1, 2: 2, 5: 1, 6: 2])
  }

  /// F-L08: records that names cannot decide are not linked and are shown.
  @Test func doubtIsShown() {
    let found = matches(
      [
        archive(1, "Corner Store", "9 High St"), feed(3, "301", "United Wyong", "9 High St"),
        feed(4, "302", "Metro Wyong", "9 High St"),
      ])
    #expect(found[1]?.station == 1)
    #expect(found[1]?.doubt == "feed lists 301, 302 at its address")
    // A charger at the address is no rival.
    let charger = matches(
      [
        archive(1, "Corner Store", "9 High St"), feed(3, "301", "United Wyong", "9 High St"),
        feed(4, "302", "Metro Wyong", "9 High St", hasPrices: false),
      ])
    #expect(charger[1] == Identity.Match(station: 3, by: "address", doubt: nil))
  }

  /// House numbers in one street may overlap. The number of a shop is not a house number.
  @Test func houseNumbersMayDiffer() {
    let found = matches(
      [
        archive(1, "Shell Wyong", "396-404 Forest Road"),
        feed(2, "1", "OTR Wyong", "396 Forest Rd"),
        archive(3, "Metro", "Shop 6, 148 Long Rd"), feed(4, "2", "Metro Long Road", "148 Long Rd"),
        feed(5, "3", "Other", "6 Long Rd"),
      ])
    #expect(found.mapValues(\.station) == [1: 2, 2: 2, 3: 4, 4: 4, 5: 5])
  }

  /// A person's decision overrides every rule, in both directions. When the decision is withdrawn,
  /// so is its effect.
  @Test func aPersonDecides() {
    func decision(_ isSame: Bool, _ code: String) -> StationDecision {
      StationDecision(
        day: Day(sinceEpoch: 20_000), firstSource: "feed", firstCode: "301",
        secondSource: "archive",
        secondCode: code, isSame: isSame, reason: "looked")
    }
    let records = [
      archive(1, "Corner Store", "9 High St"), feed(3, "301", "United Wyong", "11 Low St"),
      archive(4, "United Wyong", "11 Low St"),
    ]
    let same = decision(true, records[0].code)
    let other = decision(false, records[2].code)
    #expect(matches(records).mapValues(\.station) == [1: 1, 3: 3, 4: 3])
    let decided = matches(records, [:], [same, other])
    #expect(decided.mapValues(\.station) == [1: 3, 3: 3, 4: 4])
    #expect(decided[1]?.by == "person")
  }

  /// Where the feed lists two names at one address, the records with those names belong to them,
  /// even if archives report only a few days of them.
  @Test func twinsOfFewDaysStayTwo() {
    let records = [
      archive(1, "BP Wyong Northbound", "M1 Motorway 7"),
      archive(2, "BP Wyong Southbound", "M1 Motorway 7"),
      feed(3, "201", "BP Wyong Northbound", "M1 Motorway 7"),
      feed(4, "202", "BP Wyong Southbound", "M1 Motorway 7"),
    ]
    #expect(matches(records, [1: 1, 2: 0b1000]).mapValues(\.station) == [1: 3, 2: 4, 3: 3, 4: 4])
  }

  /// Separating one record from a code leaves the other records of the address unchanged.
  @Test func aDecisionTouchesNobodyElse() {
    let records = [
      archive(1, "Mobil Wyong", "5 High St"), archive(2, "Shop Wyong", "5 High St", month: 1),
      feed(3, "1", "Shop Wyong", "5 High St"),
    ]
    let apart = StationDecision(
      day: Day(sinceEpoch: 20_000), firstSource: "feed", firstCode: "1", secondSource: "archive",
      secondCode: records[0].code, isSame: false, reason: "looked")
    let found = matches(records, [1: 1, 2: 2], [apart])
    #expect(found.mapValues(\.station) == [1: 1, 2: 3, 3: 3])
  }

  /// A code that was given to another place does not join two stations that traded on the same
  /// days.
  @Test func aReissuedCodeFusesNothing() {
    var moved = feed(3, "100", "Metro Wyong", "1 High St")
    moved.addresses.append(MatchKey.address("77 Far Rd", suburb: "Wyong"))
    let records = [
      archive(1, "Metro Wyong", "1 High St"), archive(2, "Budget Wyong", "77 Far Rd"), moved,
    ]
    #expect(Identity.contestedRecords(records) == [1, 2, 3])
    let found = matches(records, [1: 0b11111, 2: 0b11111])
    #expect(found[1]?.station != found[2]?.station)
  }

  // MARK: Codes

  private func days(_ range: Range<Int>) -> Range<Instant> {
    Instant(
      seconds: Int64(range.lowerBound) * 86_400)..<Instant(
        seconds: Int64(range.upperBound) * 86_400)
  }

  private func matched(
    _ records: [StationRecord], _ listed: [Int: [Range<Int>]], _ decisions: [StationDecision] = []
  ) -> Identity.Matches {
    var presence: [Int: Presence] = [:]
    for (id, ranges) in listed { presence[id] = Presence(listed: ranges.map(days)) }
    return Identity.matches(of: records, presence: presence, decisions: decisions)
  }

  /// F-N33: a site that gets a new code is one station and keeps its history, including that of
  /// archives.
  @Test func aNewCodeIsTheSameStation() {
    var records = [
      feed(1, "2042", "South West Fuel Wyong", "1 Main St"),
      feed(2, "20883", "Roadhouse", "1 Main Street"),
      archive(3, "Caltex Wyong", "1 Main St"),
    ]
    records[0].lastReported = Instant(seconds: 0)
    records[1].lastReported = Instant(seconds: 10)
    let one = matched(records, [1: [0..<9], 2: [9..<20]])
    #expect(one.byRecord.mapValues(\.station) == [1: 2, 2: 2, 3: 2])
    #expect(one.likely.isEmpty && one.undecided.isEmpty)
    // If one list shows both codes, even for one day only, they are two stations, and names decide
    // whose history the archive has.
    let two = matched(records, [1: [0..<10], 2: [9..<20]])
    #expect(two.byRecord[1]?.station == 1 && two.byRecord[2]?.station == 2)
    // A new code that no complete list has shown yet is matched again, as long as a list may show
    // it.
    #expect(matched(records, [1: [0..<10]]).undecided.isEmpty)
    records[1].awaitsList = true
    let open = matched(records, [1: [0..<10]])
    #expect(open.undecided == ["feed"] && open.byRecord[1]?.station == 1)
    // A person's decision comes first.
    let apart = StationDecision(
      day: Day(sinceEpoch: 20_000), firstSource: "feed", firstCode: "2042", secondSource: "feed",
      secondCode: "20883", isSame: false, reason: "another owner, another shop")
    #expect(matched(records, [1: [0..<9], 2: [9..<20]], [apart]).byRecord[1]?.station == 1)
  }

  /// F-N90: a feed may list the old code of a site for weeks beside the new one. A code whose prices
  /// stand still since before the other one came is no station of its own. One that moves is.
  @Test(arguments: [(-50, true), (-29, true), (-27, false), (2, false)])
  func aCodeLeftInTheListIsNoStation(lastDay: Int, isOne: Bool) {
    let begin = 20_000
    var records = [
      feed(1, "400", "Caltex Wyong", "5 Trial St"), feed(2, "401", "Ampol Wyong", "5 Trial St"),
    ]
    for position in records.indices {
      (records[position].firstDay, records[position].lastDay) = (
        Day(sinceEpoch: begin), Day(sinceEpoch: begin + 20)
      )
    }
    records[0].lastReported = Instant(seconds: Int64(begin + lastDay) * 86_400)
    records[1].lastReported = Instant(seconds: Int64(begin) * 86_400 + 3_600)
    let found = matched(records, [1: [begin..<begin + 20], 2: [begin..<begin + 20]])
    #expect(found.byRecord.mapValues(\.station) == (isOne ? [1: 2, 2: 2] : [1: 1, 2: 2]))
  }

  /// F-N91: plain pairs are shown to a person: one suburb and brand, no common day, and streets that
  /// differ by a word or a corner. Days that nothing covers are no gap between them.
  @Test(arguments: [
    ("119 Bourke St Cnr Erskine St", "119 Bourke Street", true),
    ("126 Chapel Rd South", "126 CHAPEL RD", true),
    ("Weakleys Dr Cnr Balook Dr", "Corner Weakleys & Balook Dr", true),
    ("5-11 Gateway Bvd", "5-11 Bvd", true),
    ("Roadhouse 143-149 Warialda Rd", "143 - 149 Warialda Rd", true),
    ("295 Forrest Road", "295 FOREST RD", true),
    ("Princes Hwy & Park St", "Princes Hwy & Parkes St", true),
    ("12 High St", "300 Low Rd", false), ("High St", "Low St", false),
  ])
  func streetsThatDifferByAWordAreAsked(one: String, other: String, isAsked: Bool) {
    var records = [
      archive(1, "Caltex Wyong", one, month: 0), archive(2, "Caltex Wyong 2", other, month: 0),
    ]
    for position in records.indices {
      records[position].suburbs = ["WYONG"]
      let begin = 18_000 + position * 2_000
      (records[position].firstDay, records[position].lastDay) = (
        Day(sinceEpoch: begin), Day(sinceEpoch: begin + 30)
      )
    }
    func asked(_ covered: Set<Int>) -> Bool {
      !Identity.matches(
        of: records, presence: [:], decisions: [], covered: [records[0].scheme: covered]
      ).likely.isEmpty
    }
    #expect(asked(Set(18_000..<18_031).union(20_000..<20_031)) == isAsked)
    #expect(!asked(Set(18_000..<20_031)))
  }

  /// If two codes may both have followed an old one, neither is joined to it, and a person is asked
  /// about each.
  @Test func twoSuccessorsAreNone() {
    let records = [
      feed(1, "1", "United Wyong", "1 Main St"), feed(2, "2", "Metro Wyong", "1 Main St"),
      feed(3, "3", "Budget Wyong", "1 Main St"),
    ]
    let found = matched(records, [1: [0..<9], 2: [9..<20], 3: [10..<20]])
    #expect(found.byRecord.mapValues(\.station) == [1: 1, 2: 2, 3: 3])
    #expect(Set(found.likely.map { [$0.first, $0.second].sorted() }) == [[1, 2], [1, 3]])
    // If they follow one after the other, all three are one station.
    let chain = matched(records, [1: [0..<9], 2: [9..<12], 3: [12..<20]])
    #expect(Set(chain.byRecord.values.map(\.station)).count == 1)
  }

  /// F-S21: a feed names one suburb for thousands of stations. That says nothing about any two of
  /// them, so they are not all compared with each other.
  @Test func aSuburbOfThousandsSaysNothing() {
    func station(_ id: Int, _ name: String, _ address: String, _ days: ClosedRange<Int>)
      -> StationRecord
    {
      var record = feed(id, "\(id)", name, address)
      record.suburbs = ["WYONG"]
      (record.firstDay, record.lastDay) = (
        Day(sinceEpoch: 20_000 + days.lowerBound), Day(sinceEpoch: 20_000 + days.upperBound)
      )
      return record
    }
    func likely(others: Int) -> [LikelyPair] {
      let pair = [
        station(1, "United Wyong", "1 Main St", 0...99),
        station(2, "United", "40 Other Rd", 100...299),
      ]
      let rest = (0..<others).map { station(10 + $0, "Shop \($0)", "\($0) Road \($0)", 0...299) }
      let listed = Dictionary(uniqueKeysWithValues: rest.map { ($0.id, [0..<300]) })
      return matched(pair + rest, listed.merging([1: [0..<100], 2: [100..<300]]) { one, _ in one })
        .likely
    }
    #expect(likely(others: 10).map { [$0.first, $0.second] } == [[2, 1]])
    #expect(likely(others: Identity.mostNear).isEmpty)
  }

  /// F-N33: an archive record belongs to both codes of one station, also where an address has no
  /// number.
  @Test(arguments: ["7 Jones Rd", "Cnr Smith St Jones Rd"])
  func theArchiveBelongsToBothCodes(address: String) {
    let records = [
      feed(1, "100", "BP Wyong", address), feed(2, "200", "BP Wyong", address),
      archive(3, "BP Wyong", address),
    ]
    let found = matched(records, [1: [0..<9], 2: [9..<20]])
    #expect(Set(found.byRecord.values.map(\.station)).count == 1)
    #expect(found.byRecord.values.allSatisfy { $0.doubt == nil } && found.likely.isEmpty)
  }

  /// F-N35: two names on one day of a feed that publishes whole days are two stations. A single
  /// day is enough.
  @Test func rivalsInOneListAreTwoAtOnce() {
    func named(_ id: Int, _ name: String) -> StationRecord {
      var record = archive(id, name, "1 Main St")
      record.isArchive = false
      record.source = "feed"
      return record
    }
    let records = [named(1, "BP Wyong"), named(2, "Metro Wyong")]
    #expect(Set(matches(records, [1: 0b1, 2: 0b1]).values.map(\.station)).count == 2)
    // A new name from the next day on is a renamed station.
    #expect(Set(matches(records, [1: 0b1, 2: 0b10]).values.map(\.station)).count == 1)
  }

  /// F-N33, F-N35: what FuelCheck listed on 68 days of 2026. Thirteen sites got a new code, five
  /// addresses have two stations, and one site was listed under both codes for ten days, so a
  /// person is asked about it.
  @Test func codesOfNewSouthWales() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "Fixtures/nsw-codes.csv")
    let (records, presence) = try RecordedStations.read(String(contentsOf: file, encoding: .utf8))
    let found = Identity.matches(of: records, presence: presence, decisions: [])
    let codes = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.code) })
    let joined = Dictionary(grouping: found.byRecord, by: \.value.station).values
      .map { $0.compactMap { codes[$0.key] }.sorted() }.filter { $0.count > 1 }
    #expect(
      Set(joined.map { $0.joined(separator: " ") }) == [
        "18017 20902", "19784 20878", "20516 20886", "20825 20892", "1225 20903", "1294 20876",
        "1426 20882",
        "1861 20897", "2042 20883", "20088 20884", "20161 20904", "20541 20905", "20827 20887",
      ])
    let asked = found.likely.map { Set([codes[$0.first], codes[$0.second]]) }
    #expect(asked.contains(["20814", "20875"]))
  }

  /// The order in which records became known has no effect.
  @Test(arguments: 0..<20)
  func numbersMeanNothing(seed: Int) {
    let names = ["BP Wyong North", "BP Wyong South", "Ampol Wyong", "Corner Store", "Metro Wyong"]
    let streets = ["1 Main St", "1-3 Main St", "M1 Motorway", "5 High St"]
    var seeded = SystemSeed(UInt64(seed) &+ 1)
    var records: [StationRecord] = []
    for number in 0..<12 {
      let name = names[Int(seeded.next() % 5)]
      let street = streets[Int(seeded.next() % 4)]
      if seeded.next() % 3 == 0 {
        records.append(feed(number, "c\(number)", name, street))
      } else if !records.contains(where: { $0.code == archive(0, name, street).code }) {
        records.append(archive(number, name, street, month: Int32(seeded.next() % 3)))
      }
    }
    var days: [Int: UInt32] = [:]
    for record in records where record.isArchive {
      days[record.id] = UInt32(seeded.next() % 255 + 1)
    }
    func named(_ matches: [Int: Identity.Match], _ records: [StationRecord]) -> [String] {
      let codes = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.source + $0.code) })
      return matches.map {
        "\(codes[$0]!) \(codes[$1.station]!) \($1.by) \($1.doubt ?? "")"
      }.sorted()
    }
    let plain = named(matches(records, days), records)
    // The same records, numbered in reverse and passed in another order.
    let renumbered = records.reversed().map { record -> StationRecord in
      var record = record
      record.id = 100 - record.id
      return record
    }
    let other = matches(
      renumbered, Dictionary(uniqueKeysWithValues: days.map { (100 - $0, $1) }))
    #expect(named(other, renumbered) == plain)
  }

  private struct SystemSeed {
    var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state >> 8
    }
  }
}
