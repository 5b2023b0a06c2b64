import FuelModel
import Store

/// Codes that took over from one another.
extension Identity.Work {
  /// Joins codes of one scheme that had the same address one after the other: the site received a
  /// new code. They were never listed together, or the old one was only left in the list.
  mutating func joinSuccessors(_ coded: [Int]) {
    var byAddress: [String: [Int]] = [:]
    for id in coded {
      for address in Set(record(id).addresses) { byAddress[address, default: []].append(id) }
    }
    for address in byAddress.keys.sorted() {
      guard let ids = byAddress[address], ids.count > 1 else { continue }
      var pairs: [Succession] = []
      for (position, id) in ids.enumerated() {
        for other in ids[..<position] {
          let unseen = [id, other].filter { times($0).isEmpty }
          undecided.formUnion(unseen.filter { record($0).awaitsList }.map { record($0).source })
          if unseen.isEmpty, !areAtOnce(other, id) {
            pairs.append((other, id, likeness(other, id)))
          }
        }
      }
      pairs.sort {
        ($1.likeness, rank($0.first), rank($0.second)) < (
          $0.likeness, rank($1.first), rank($1.second)
        )
      }
      for pair in pairs where clusterOf[pair.first] != clusterOf[pair.second] {
        let isApart = members(pair.first).contains { a in
          members(pair.second).contains { apart.contains(Pair(a, $0)) || areAtOnce(a, $0) }
        }
        if isApart { continue }
        let hasRival = pairs.contains { isRival($0, of: pair) }
        let hasOneStreet = [pair.first, pair.second].allSatisfy {
          Set(record($0).addresses.map { Identity.Street($0).name }).count == 1
        }
        if !hasRival, hasOneStreet, Identity.Street(address).numbers != nil {
          join(pair.first, pair.second, by: "address")
        } else if !hasRival, pair.likeness >= Identity.leastSimilarity {
          join(pair.first, pair.second, by: "name")
        } else {
          open[Pair(pair.first, pair.second)] = Self.followed
        }
      }
    }
  }

  /// Two codes of which one may have followed the other.
  private typealias Succession = (first: Int, second: Int, likeness: Double)

  /// Whether two successions share one code and are about as similar, or the rival more so, while
  /// their other codes existed at the same time. Only one of these can then be the same station.
  private func isRival(_ rival: Succession, of pair: Succession) -> Bool {
    guard rival.likeness > pair.likeness - 0.05 else { return false }
    let ends = Set([pair.first, pair.second]).symmetricDifference([rival.first, rival.second])
      .sorted()
    return ends.count == 2 && areAtOnce(ends[0], ends[1])
  }

  /// Returns when a code existed: while complete lists of its feed showed it, or in an archive
  /// from its first to its last day, because an archive of changes states nothing about the days
  /// between.
  private func times(_ id: Int) -> [Range<Instant>] {
    guard let seen = presence[id] else { return [] }
    guard record(id).isArchive else { return seen.listed }
    let days = seen.days.filter { $0.value != 0 }
    guard let first = days.min(by: { $0.key.number < $1.key.number }),
      let last = days.max(by: { $0.key.number < $1.key.number })
    else { return [] }
    let begin = first.key.firstDay.sinceEpoch + first.value.trailingZeroBitCount
    let end = last.key.firstDay.sinceEpoch + 32 - last.value.leadingZeroBitCount
    return [Instant(seconds: Int64(begin) * 86_400)..<Instant(seconds: Int64(end) * 86_400)]
  }

  /// Returns whether two codes existed at the same time. With archives an overlap of up to two
  /// days does not count, because on the day of a change both codes have prices.
  private func areAtOnce(_ left: Int, _ right: Int) -> Bool {
    guard !isLeftover(left, of: right), !isLeftover(right, of: left) else { return false }
    let slack = record(left).isArchive || record(right).isArchive ? 2 * 86_400 : 0
    return times(left).contains { a in
      times(right).contains { b in
        min(a.upperBound, b.upperBound) > max(a.lowerBound, b.lowerBound) + .seconds(Int64(slack))
      }
    }
  }

  /// Whether a feed still lists a code that another one at its address has taken over from: none of
  /// its prices has changed since the other was first seen, nor in the four weeks before the
  /// other's last change.
  private func isLeftover(_ old: Int, of new: Int) -> Bool {
    guard !record(old).isArchive, !record(new).isArchive, let last = record(old).lastReported,
      let newest = record(new).lastReported, let first = record(new).firstDay
    else { return false }
    return last.seconds < Int64(first.sinceEpoch) * 86_400
      && last + .seconds(28 * 86_400) < newest
  }
}

/// Records with one address.
extension Identity.Work {
  mutating func matchAddresses(_ described: [Int], _ coded: [Int]) {
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
      // A short address without a number, such as a highway, may be many places. There names
      // decide.
      let isExact =
        Identity.Street(address).numbers != nil || address.split(separator: " ").count > 3
      if group.coded.count > 1 { joinByName(group.described, group.coded) }
      // A record that a person separated from a coded station of this address is not joined to
      // the other records here.
      let free = group.described.filter { id in
        !group.coded.contains { apart.contains(Pair(id, $0)) }
      }
      joinUncoded(free, needsName: !isExact)
      joinToCoded(group.described, oneEach(group.coded), at: address, needsName: !isExact)
    }
  }

  /// Joins each record to the one station of its address that has exactly the same name, where
  /// the feed lists several stations there.
  private mutating func joinByName(_ described: [Int], _ coded: [Int]) {
    for id in described {
      let same = coded.filter { !Set(record($0).names).isDisjoint(with: record(id).names) }
      if oneEach(same).count == 1, !clash(id, same[0]) { join(same[0], id, by: "name") }
    }
  }

  /// Joins those uncoded records of one address that are one station.
  private mutating func joinUncoded(_ ids: [Int], needsName: Bool) {
    let hasTwins = ids.indices.contains { a in
      ids[(a + 1)...].contains { areTwins(ids[a], $0) }
    }
    for (position, id) in ids.enumerated() where position > 0 {
      // The earlier record with the most similar name, which this record may be joined to.
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
        leaveOpen(
          id, among: ids[..<position].filter { clusterOf[$0] != clusterOf[id] && !clash(id, $0) },
          "several stations share its address, and none has a similar name")
      }
    }
  }

  /// Joins the uncoded stations of one address to the stations that the feed lists there.
  private mutating func joinToCoded(
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
    // The most similar pair comes first, provided that neither side has a pair as similar.
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
      leaveOpen(
        station, among: free.filter { !clash(station, $0) },
        "\(record(free[0]).source) lists \(codes) at its address")
    }
  }
}

/// Records in one street, and records close to one another.
extension Identity.Work {
  /// Joins records that no coded station was found for to the only station in the same street
  /// whose house numbers overlap theirs.
  mutating func matchStreets(_ described: [Int], _ coded: [Int]) {
    var streets: [String: [(id: Int, numbers: ClosedRange<Int>)]] = [:]
    for id in coded + described {
      for address in Set(record(id).addresses) {
        let street = Identity.Street(address)
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
            leaveOpen(
              entry.id, among: candidates.filter { !clash(entry.id, $0) }.map { members($0)[0] },
              "several stations of its street have a similar house number")
          }
          continue
        }
        if clash(entry.id, only) { continue }
        join(members(only)[0], entry.id, by: "address")
      }
    }
  }

  /// Joins records with a position to a station of the feed within 150 metres: to the only one,
  /// or to the one with the most similar name, if that is similar enough.
  mutating func matchPositions(_ described: [Int], _ coded: [Int]) {
    let placed = coded.filter { record($0).position != nil }
    for id in described {
      guard let position = record(id).position,
        !members(id).contains(where: { record($0).isCoded })
      else { continue }
      let near = oneEach(
        placed.filter { other in
          record(other).position.map { $0.kilometres(to: position) < 0.15 } ?? false
        })
      let likest = near.max { (likeness(id, $0), rank($1)) < (likeness(id, $1), rank($0)) }
      guard let likest else { continue }
      if near.count == 1 || likeness(id, likest) >= Identity.leastSimilarity {
        if !clash(id, likest) { join(likest, id, by: "position") }
      } else {
        leaveOpen(
          id, among: near.filter { !clash(id, $0) },
          "\(near.count) stations of the feed lie within 150 metres")
      }
    }
  }
}

/// How addresses and names are compared.
extension Identity {
  /// An address split into street and house numbers. `6 269-275 PRINCES HWY CORRIMAL` has the
  /// numbers 269 to 275 and the name `PRINCES HWY CORRIMAL`; 6 is the number of a shop and is
  /// dropped.
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

  /// Returns the share of common words, or 0 where the two texts name different directions, such as
  /// north and south.
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
}
