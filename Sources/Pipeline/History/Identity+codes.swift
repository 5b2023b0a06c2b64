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
