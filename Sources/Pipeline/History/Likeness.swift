import Configuration
import FuelModel
import Store

/// How likely two stations near each other or with one name are one station, by name, address and
/// succession in time.
struct Likeness {
  /// Share of common words in the names, without the words of the suburbs.
  var name = 0.0
  /// 1: the same address; 0: different streets.
  var address = 0.0
  /// 1: one station begins where the other ends; 0: both have prices on 31 common days or more, or
  /// more than a year of covered days lies between them.
  var succession = 0.0
  /// Covered days from the end of one station to the beginning of the other; negative: the number of
  /// common days.
  private var gap: Int?

  /// Compares the records of two stations.
  ///
  /// - Parameter covered: the days that a feed or an archive of the scheme covers. Other days do not
  ///   count as a gap.
  init(_ left: [StationRecord], _ right: [StationRecord], covered: Set<Int>) {
    for one in left {
      for other in right {
        let suburbs = Set((one.suburbs + other.suburbs).flatMap { $0.split(separator: " ") })
        func plain(_ name: String) -> String {
          let words = name.split(separator: " ").filter { !suburbs.contains($0) }
          return words.isEmpty ? name : words.joined(separator: " ")
        }
        for a in one.names {
          for b in other.names {
            name = max(name, Identity.similarity(plain(a), plain(b)))
          }
        }
        for a in one.addresses {
          for b in other.addresses { address = max(address, Self.address(a, b)) }
        }
      }
    }
    guard let first = Self.days(left), let second = Self.days(right) else { return }
    let begin = min(first.upperBound, second.upperBound)
    let end = max(first.lowerBound, second.lowerBound)
    let gap = begin > end ? end - begin : covered.count { $0 >= begin && $0 < end }
    self.gap = gap
    // A price stays in effect for weeks, so an archive of changes may report nothing for 62 days.
    succession =
      gap < 0
      ? max(0, 1 + Double(gap) / Double(Self.mostCommonDays))
      : max(0, 1 - Double(max(0, gap - 62)) / 365)
  }

  /// The weighted score, from 0 to 100.
  var score: Int { Int((100 * (0.3 * name + 0.4 * address + 0.3 * succession)).rounded()) }

  /// The reasons in favour, in words for a person.
  var why: String {
    let place =
      address >= 1
      ? "the same address"
      : address >= 0.8
        ? "nearly the same address" : address > 0 ? "the same street" : "the same suburb"
    let time =
      switch gap {
      case nil: ""
      case let gap? where gap < 0: ", both in use for \(-gap) days"
      case 0: ", one after the other"
      case let gap?: ", one \(gap) days after the other"
      }
    return
      "\(place), \(name >= 1 ? "the same name" : name > 0 ? "similar names" : "a different name")\(time)"
  }

  // On how many common days two records of one station may appear. A feed may list an old code for
  // some time.
  private static let mostCommonDays = 31

  /// Returns whether one range of days may begin where the other ends.
  static func mayFollow(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    left.clamped(to: right).count < mostCommonDays
  }

  /// Returns the range from the first to the last day on which any of the records was described.
  static func days(_ records: [StationRecord]) -> Range<Int>? {
    guard let first = records.compactMap(\.firstDay?.sinceEpoch).min(),
      let last = records.compactMap(\.lastDay?.sinceEpoch).max()
    else { return nil }
    return first..<max(first, last) + 1
  }

  /// Compares two addresses. 1: equal. 0.9: one has all words of the other, its house number too, or
  /// house numbers overlap in one street, or in streets whose names differ by at most two letters. 0.6: the same street, with numbers at most twenty
  /// apart or without a number, or corners that differ by a word. 0.3: the same street with numbers
  /// further apart. 0: different streets. Streets are the same where one name has all words of the
  /// other, such as `BOURKE ST CNR ERSKINE ST` and `BOURKE ST`.
  static func address(_ left: String, _ right: String) -> Double {
    if left == right { return 1 }
    let words = [left, right].map { Set($0.split(separator: " ")) }.sorted { $0.count < $1.count }
    if words[0].isSubset(of: words[1]),
      words[0].count == words[1].count || words[0].contains(where: { $0.first?.isNumber ?? false })
    {
      return 0.9
    }
    let a = Identity.Street(left)
    let b = Identity.Street(right)
    let first = Set(a.name.split(separator: " "))
    let second = Set(b.name.split(separator: " "))
    let isOneStreet = first.isSubset(of: second) || second.isSubset(of: first)
    guard let numbers = a.numbers, let others = b.numbers else {
      // The suburb is one of the common words, and street types say nothing.
      let common = first.intersection(second).filter { !MatchKey.isStreetKind(String($0)) }
      let isOneCorner = first.symmetricDifference(second).count <= 2 && common.count > 1
      return isOneStreet || isOneCorner ? 0.6 : 0
    }
    if numbers.overlaps(others) {
      return isOneStreet || misspellings(Array(a.name), Array(b.name)) <= 2 ? 0.9 : 0
    }
    guard isOneStreet else { return 0 }
    let distance =
      max(numbers.lowerBound, others.lowerBound) - min(numbers.upperBound, others.upperBound)
    return distance <= 20 ? 0.6 : 0.3
  }
}

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
