package import FuelModel
package import Logging
package import Store

/// Which records of different sources mean one place.
///
/// The answer is a function of everything that is known, never of what came first: a new file or a new
/// list may link records and take links back, and no fact is rewritten by it. Codes decide where an
/// archive has them, else addresses in one form. Two records at one address are one station that
/// changed its name, unless archives tell of both on the same days: then they are two, and names tell
/// which is which. What stays open is left apart and shown to a person, whose word goes before all.
package enum Identity {
  /// What a record is matched by.
  package struct Match: Equatable, Sendable {
    package var place: Int
    package var by: String
    package var doubt: String?
  }

  /// Two stations told of on this many days are two: a renamed one is told of twice only on the day
  /// of the change, a name that was typed wrong for a day or two perhaps on those.
  static let twinDays = 3

  // Names that share half of their words, «BP Wyong North» and «Ampol Wyong North».
  private static let leastSimilarity = 0.5

  /// Matches all records anew where something came that may change the answer.
  ///
  /// - Parameter decisions: a person's decisions; `nil`: those of the last match.
  package static func match(
    _ store: Store, decisions: [StationDecision]?, now: Instant, log: Logger
  ) throws {
    // What a run adds while this reads is matched next time: it waits for its mark until then.
    try store.whileMatching(decisions: decisions) {
      let records = try store.stationRecords()
      let known = try decisions ?? store.stationDecisions()
      let contested = contestedRecords(records)
      let sightings = try store.sightings(of: contested)
      let matches = places(of: records, sightings: sightings, decisions: known)
      let changed = try store.link(
        matches.map { ($0.key, $0.value.place, $0.value.by, $0.value.doubt) }, now: now)
      log.info("matched", ["records": records.count, "changed": changed])
    }
  }

  /// Records that share an address with another one that is known by name and address only: their
  /// days decide.
  static func contestedRecords(_ records: [StationRecord]) -> [Int] {
    var byStreet: [String: (described: [Int], streets: Set<String>)] = [:]
    for record in records where !record.isCoded {
      for key in Set(record.addresses.map { Street($0).name }) {
        byStreet[key, default: ([], [])].described.append(record.id)
      }
    }
    // A code that moved brings the records of both its streets together.
    for record in records where record.isCoded && record.addresses.count > 1 {
      let streets = Set(record.addresses.map { Street($0).name })
      for street in streets where byStreet[street] != nil {
        byStreet[street]?.streets.formUnion(streets)
      }
    }
    var contested: Set<Int> = []
    for (ids, streets) in byStreet.values {
      let near = streets.flatMap { byStreet[$0]?.described ?? [] } + ids
      if Set(near).count > 1 { contested.formUnion(near) }
    }
    return contested.sorted()
  }

  /// - Parameter sightings: of records that were named by `contestedRecords`: days as bits by month.
  /// - Returns: a match for every record, by its number.
  static func places(
    of records: [StationRecord], sightings: [Int: [Month: UInt32]],
    decisions: [StationDecision]
  ) -> [Int: Match] {
    var work = Work(records, sightings)
    work.decide(decisions)
    for scheme in Set(records.map(\.scheme)).sorted() { work.match(scheme) }
    return work.matches()
  }

  // MARK: Addresses

  /// An address without its house number: `6 269-275 PRINCES HWY CORRIMAL` is 269 to 275 of
  /// `PRINCES HWY CORRIMAL`, and 6 the number of a shop.
  struct Street {
    var name: String
    var numbers: ClosedRange<Int>?

    init(_ address: String) {
      let words = address.split(separator: " ")
      func ends(_ word: Substring) -> [Int] {
        let ends = word.split(separator: "-").map { Int($0) }
        return ends.contains(nil) || ends.count > 2 ? [] : ends.compactMap { $0 }
      }
      let count = words.prefix { !ends($0).isEmpty }.count
      name = words.dropFirst(count).joined(separator: " ")
      let house = count > 0 ? ends(words[count - 1]) : []
      if let low = house.min(), let high = house.max() { numbers = low...high }
    }
  }

  /// Share of common words; nothing where one goes north and the other south.
  static func similarity(_ left: String, _ right: String) -> Double {
    let first = Set(left.split(separator: " ").map(String.init))
    let second = Set(right.split(separator: " ").map(String.init))
    let ways: Set<String> = [
      "N", "S", "E", "W", "NORTHBOUND", "SOUTHBOUND", "EASTBOUND", "WESTBOUND", "INBOUND",
      "OUTBOUND",
    ]
    let firstWays = first.intersection(ways)
    let secondWays = second.intersection(ways)
    if !firstWays.isEmpty, !secondWays.isEmpty, firstWays.isDisjoint(with: secondWays) { return 0 }
    let union = first.union(second).count
    return union == 0 ? 0 : Double(first.intersection(second).count) / Double(union)
  }

  // MARK: Matching

  private struct Work {
    let records: [Int: StationRecord]
    let order: [Int]
    let sightings: [Int: [Month: UInt32]]
    /// Clusters of records by the number of any member.
    var clusterOf: [Int: Int] = [:]
    var clusters: [Int: Set<Int>] = [:]
    var how: [Int: String] = [:]
    var doubts: [Int: String] = [:]
    var apart: Set<Pair> = []
    var decided: Set<Int> = []

    struct Pair: Hashable {
      let low: Int
      let high: Int
      init(_ left: Int, _ right: Int) {
        low = min(left, right)
        high = max(left, right)
      }
    }

    init(_ records: [StationRecord], _ sightings: [Int: [Month: UInt32]]) {
      self.records = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
      self.sightings = sightings
      // By what they say, not by number: numbers follow the order of arrival.
      order = records.sorted { ($0.source, $0.code) < ($1.source, $1.code) }.map(\.id)
      for record in records {
        clusterOf[record.id] = record.id
        clusters[record.id] = [record.id]
      }
    }

    func record(_ id: Int) -> StationRecord { records[id]! }

    mutating func join(_ left: Int, _ right: Int, by way: String) {
      guard let a = clusterOf[left], let b = clusterOf[right], a != b else { return }
      let moved = clusters[b] ?? []
      clusters[a, default: []].formUnion(moved)
      clusters[b] = nil
      for id in moved { clusterOf[id] = a }
      if how[left] == nil || way == "person" { how[left] = way }
      if how[right] == nil || way == "person" { how[right] = way }
    }

    func members(_ id: Int) -> [Int] {
      (clusters[clusterOf[id] ?? id] ?? [id]).sorted { rank($0) < rank($1) }
    }

    private func rank(_ id: Int) -> String { "\(record(id).source)\u{0}\(record(id).code)" }

    /// Whether archives tell of two records on the same days, or a person says that they are two.
    func areTwins(_ left: Int, _ right: Int) -> Bool {
      if apart.contains(Pair(left, right)) { return true }
      let a = record(left)
      let b = record(right)
      // Codes of one feed are stations of their own.
      if a.source == b.source, a.isCoded { return true }
      guard a.source == b.source || !a.isCoded && !b.isCoded else { return false }
      // The same station under the same name, told by the feed and by its archive.
      if a.source != b.source, !Set(a.names).isDisjoint(with: b.names) { return false }
      guard let first = sightings[left], let second = sightings[right] else { return false }
      var days = 0
      for (month, bits) in first { days += (bits & (second[month] ?? 0)).nonzeroBitCount }
      return days >= Identity.twinDays
    }

    func clash(_ left: Int, _ right: Int) -> Bool {
      members(left).contains { a in members(right).contains { areTwins(a, $0) } }
    }

    func likeness(_ left: Int, _ right: Int) -> Double {
      var best = 0.0
      for a in members(left) {
        for b in members(right) {
          for name in record(a).names {
            for other in record(b).names { best = max(best, Identity.similarity(name, other)) }
          }
        }
      }
      return best
    }

    // MARK: A person's word

    mutating func decide(_ decisions: [StationDecision]) {
      func find(_ source: String, _ code: String) -> Int? {
        order.first { record($0).source == source && record($0).code == code }
      }
      for decision in decisions {
        guard let first = find(decision.firstSource, decision.firstCode),
          let second = find(decision.secondSource, decision.secondCode)
        else { continue }
        if decision.isSame {
          join(first, second, by: "person")
        } else {
          apart.insert(Pair(first, second))
        }
        decided.formUnion([first, second])
      }
    }

    // MARK: One scheme

    mutating func match(_ scheme: String) {
      let ids = order.filter { record($0).scheme == scheme }
      let coded = ids.filter { record($0).isCoded && record($0).hasPrices && !record($0).isArchive }
      let codes = Dictionary(coded.map { (record($0).code, $0) }) { first, _ in first }
      for id in ids where record(id).isCoded && record(id).isArchive {
        if let same = codes[record(id).code], !clash(id, same) { join(same, id, by: "code") }
      }
      let rest = ids.filter { !record($0).isCoded }
      matchAddresses(rest, coded)
      // Then by street and overlapping house numbers: 396 and 396-404 Forest Rd.
      matchStreets(rest, coded)
      matchPositions(rest, coded)
    }

    private mutating func matchAddresses(_ described: [Int], _ coded: [Int]) {
      var groups: [String: (described: [Int], coded: [Int])] = [:]
      for id in described {
        for address in Set(record(id).addresses) {
          groups[address, default: ([], [])].described.append(id)
        }
      }
      for id in coded {
        for address in Set(record(id).addresses) { groups[address]?.coded.append(id) }
      }
      for address in groups.keys.sorted() {
        guard let group = groups[address] else { continue }
        // An address without a number, such as a highway, is many places: there names decide.
        let isExact = Street(address).numbers != nil || address.split(separator: " ").count > 3
        if group.coded.count > 1 { name(group.described, group.coded) }
        // One that a person holds apart from what is here is looked at by itself.
        let free = group.described.filter { id in
          !group.coded.contains { apart.contains(Pair(id, $0)) }
        }
        gather(free, needsName: !isExact)
        attach(group.described, group.coded, at: address, needsName: !isExact)
      }
    }

    /// Where the feed lists several stations: what has the very name of one of them is that one.
    private mutating func name(_ described: [Int], _ coded: [Int]) {
      for id in described {
        let same = coded.filter { !Set(record($0).names).isDisjoint(with: record(id).names) }
        if same.count == 1, !clash(id, same[0]) { join(same[0], id, by: "name") }
      }
    }

    /// Joins the described records of one address that are one station.
    private mutating func gather(_ ids: [Int], needsName: Bool) {
      let hasTwins = ids.indices.contains { a in
        ids[(a + 1)...].contains { areTwins(ids[a], $0) }
      }
      for (position, id) in ids.enumerated() where position > 0 {
        // The station of an earlier one that this may be, the likest name first.
        var best: (id: Int, likeness: Double)?
        var isOpen = false
        for other in ids[..<position] where clusterOf[other] != clusterOf[id] {
          guard !clash(id, other) else { continue }
          let likeness = likeness(id, other)
          if let known = best, clusterOf[known.id] != clusterOf[other],
            abs(known.likeness - likeness) < 0.05
          {
            isOpen = true
          }
          if likeness > best?.likeness ?? -1 {
            if let known = best,
              likeness - known.likeness >= 0.05 || clusterOf[known.id] == clusterOf[other]
            {
              isOpen = false
            }
            best = (other, likeness)
          }
        }
        guard let best else { continue }
        if !hasTwins && !needsName {
          join(best.id, id, by: "address")
        } else if best.likeness >= Identity.leastSimilarity, !isOpen {
          join(best.id, id, by: "name")
        } else if hasTwins {
          doubts[id] = "several stations share its address and no name is like its own"
        }
      }
    }

    /// Joins the stations of one address to those that the feed lists there.
    private mutating func attach(
      _ described: [Int], _ coded: [Int], at address: String, needsName: Bool
    ) {
      var open = Set(described.compactMap { clusterOf[$0] })
      let free = coded.filter { id in !open.contains(clusterOf[id] ?? id) }
      open = open.filter { cluster in
        !(clusters[cluster] ?? []).contains { record($0).isCoded }
      }
      guard !open.isEmpty, !free.isEmpty else {
        return
      }
      func first(_ cluster: Int) -> Int { members(cluster)[0] }
      let stations = open.map(first).sorted { rank($0) < rank($1) }
      if stations.count == 1, free.count == 1, !needsName {
        if !clash(stations[0], free[0]) { join(free[0], stations[0], by: "address") }
        return
      }
      // The likest pair first, as long as it is likest for both.
      var pairs: [(station: Int, code: Int, likeness: Double)] = []
      for station in stations {
        for code in free where !clash(station, code) {
          pairs.append((station, code, likeness(station, code)))
        }
      }
      pairs.sort {
        ($1.likeness, rank($0.station), rank($0.code)) < (
          $0.likeness, rank($1.station), rank($1.code)
        )
      }
      var taken: Set<Int> = []
      for pair in pairs where pair.likeness >= Identity.leastSimilarity {
        guard !taken.contains(pair.station), !taken.contains(pair.code) else { continue }
        let rivals = pairs.filter { rival in
          (rival.station == pair.station) != (rival.code == pair.code)
            && !taken.contains(rival.station) && !taken.contains(rival.code)
            && rival.likeness > pair.likeness - 0.05
        }
        guard rivals.isEmpty else { continue }
        join(pair.code, pair.station, by: "name")
        taken.formUnion([pair.station, pair.code])
      }
      for station in stations where !taken.contains(station) && doubts[station] == nil {
        let codes = free.map { record($0).code }.sorted().joined(separator: ", ")
        doubts[station] = "\(record(free[0]).source) lists \(codes) at its address"
      }
    }

    /// Stations that found nothing at their exact address: the one at the same street whose house
    /// numbers overlap.
    private mutating func matchStreets(_ described: [Int], _ coded: [Int]) {
      var streets: [String: [(id: Int, numbers: ClosedRange<Int>)]] = [:]
      for id in coded + described {
        for address in Set(record(id).addresses) {
          let street = Street(address)
          if let numbers = street.numbers {
            streets[street.name, default: []].append((id, numbers))
          }
        }
      }
      for name in streets.keys.sorted() {
        guard let entries = streets[name], entries.count > 1 else { continue }
        for entry in entries where !record(entry.id).isCoded {
          let isListed = members(entry.id).contains { record($0).isCoded }
          guard !isListed else { continue }
          let near = entries.filter { other in
            other.numbers.overlaps(entry.numbers) && clusterOf[other.id] != clusterOf[entry.id]
          }
          let candidates = Set(near.compactMap { clusterOf[$0.id] })
          guard let only = candidates.first, candidates.count == 1 else {
            if candidates.count > 1, doubts[entry.id] == nil {
              doubts[entry.id] = "several stations of its street have a house number like its own"
            }
            continue
          }
          if clash(entry.id, only) { continue }
          join(members(only)[0], entry.id, by: "address")
        }
      }
    }

    /// Archives that tell a position: the one station of the feed within 150 metres.
    private mutating func matchPositions(_ described: [Int], _ coded: [Int]) {
      let placed = coded.filter { record($0).position != nil }
      for id in described {
        guard let position = record(id).position,
          !members(id).contains(where: { record($0).isCoded })
        else { continue }
        let near = placed.filter { other in
          record(other).position.map { $0.kilometres(to: position) < 0.15 } ?? false
        }
        let likest = near.max { (likeness(id, $0), rank($1)) < (likeness(id, $1), rank($0)) }
        guard let likest else { continue }
        if near.count == 1 || likeness(id, likest) >= Identity.leastSimilarity {
          if !clash(id, likest) { join(likest, id, by: "position") }
        } else {
          doubts[id] = "\(near.count) stations of the feed lie within 150 metres"
        }
      }
    }

    // MARK: Who speaks

    func matches() -> [Int: Match] {
      var matches: [Int: Match] = [:]
      for members in clusters.values {
        // Of the feed's own records the one it told of last, else the first of an archive.
        let head = members.min { left, right in
          let a = record(left)
          let b = record(right)
          if a.isArchive != b.isArchive { return !a.isArchive }
          // The one that was told of first stays when newer files bring new names.
          if a.isArchive {
            return (a.firstDay?.sinceEpoch ?? .max, rank(left)) < (
              b.firstDay?.sinceEpoch ?? .max, rank(right)
            )
          }
          if a.lastTold != b.lastTold {
            return (a.lastTold ?? .distantPast) > (b.lastTold ?? .distantPast)
          }
          return rank(left) < rank(right)
        }
        guard let head else { continue }
        for id in members {
          matches[id] = Match(
            place: head, by: id == head ? "itself" : how[id] ?? "address",
            doubt: decided.contains(id) || members.count > 1 && record(id).isCoded
              ? nil : doubts[id])
        }
      }
      return matches
    }
  }
}

extension Instant {
  fileprivate static let distantPast = Instant(microseconds: .min)
}
