import FuelModel
import Store

/// Records that no rule decides, and pairs for a person to decide.
extension Identity.Work {
  /// Notes that a rule could not assign a record to one of several stations, and why.
  mutating func leaveOpen(_ id: Int, among others: some Collection<Int>, _ why: String) {
    doubts[id] = why
    for other in others { open[Pair(id, other)] = why }
  }

  /// Returns the pairs that rules left undecided, and further pairs that are likely one station:
  /// they share a suburb or a name, one begins when the other ends, and the score of `Likeness` is
  /// high enough. Among the latter are stations whose address was misspelt or renumbered.
  func likelyPairs() -> [LikelyPair] {
    var pairs: [Pair: LikelyPair] = [:]
    func add(_ left: Int, _ right: Int, _ score: Int, _ why: String) {
      let mayBeOne = members(left).allSatisfy { a in
        members(right).allSatisfy { !apart.contains(Pair(a, $0)) }
      }
      guard mayBeOne, clusterOf[left] != clusterOf[right] else { return }
      // The station that was seen last is named first, because it is the one that took over.
      let ordered = [left, right].sorted {
        (record($0).lastDay?.sinceEpoch ?? 0, rank($0)) > (
          record($1).lastDay?.sinceEpoch ?? 0, rank($1)
        )
      }
      pairs[Pair(left, right)] = LikelyPair(
        first: ordered[0], second: ordered[1], score: score, why: why)
    }
    let near = nearClusters()
    func likeness(_ left: Int, _ right: Int) -> Likeness {
      Likeness(
        members(left).map(record), members(right).map(record),
        covered: covered[record(left).scheme] ?? [])
    }
    let days = clusters.mapValues { Likeness.days($0.map(record)) }
    var seen: Set<Pair> = []
    // Where so many stations share a suburb or a name, that says nothing, and to compare all of them
    // would take hours.
    for clusters in near.values where clusters.count <= Identity.mostNear {
      let stations = clusters.sorted()
      for (position, one) in stations.enumerated() {
        for other in stations[..<position] where seen.insert(Pair(one, other)).inserted {
          guard let first = days[one] ?? nil, let second = days[other] ?? nil,
            Likeness.mayFollow(first, second)
          else { continue }
          let likeness = likeness(one, other)
          guard likeness.succession > 0, likeness.score >= Identity.leastScore else { continue }
          add(members(one)[0], members(other)[0], likeness.score, likeness.why)
        }
      }
    }
    // A rule may have decided later what another rule left undecided.
    for (pair, why) in open
    where [doubts[pair.low], doubts[pair.high], Self.followed].contains(why) {
      add(pair.low, pair.high, likeness(pair.low, pair.high).score, why)
    }
    return pairs.values.sorted {
      ($1.score, rank($0.first), rank($0.second)) < ($0.score, rank($1.first), rank($1.second))
    }
  }

  /// Returns the clusters by suburb and by name.
  private func nearClusters() -> [String: Set<Int>] {
    var near: [String: Set<Int>] = [:]
    for (cluster, ids) in clusters {
      for record in ids.map(record) where record.hasPrices {
        for suburb in record.suburbs {
          near["\(record.scheme) in \(suburb)", default: []].insert(cluster)
        }
        for name in record.names {
          near["\(record.scheme) named \(name)", default: []].insert(cluster)
        }
      }
    }
    return near
  }
}
