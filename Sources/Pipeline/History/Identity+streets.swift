import FuelModel
import Store

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
