package import FuelModel
package import Logging
package import Store

/// Decides which station records of different sources are one station.
///
/// The answer depends only on everything that is known, never on the order of arrival. A new file
/// or list may add links between records and remove others; it never rewrites a fact. Codes decide
/// where an archive has them; otherwise normalized addresses do. Two records with one address are
/// one station that changed its name or its code, unless both existed at the same time. In that
/// case they are two stations, and their names decide which record belongs to which. Records that
/// stay undecided are not linked and are shown to a person, whose decision overrides all rules.
package enum Identity {
  /// The station of a record (`place` is the number of the record that heads it), the rule that
  /// matched the record, and the doubt that is left.
  package struct Match: Equatable, Sendable {
    package var place: Int
    package var by: String
    package var doubt: String?
  }

  /// Two records with different names are two stations if an archive reports prices of both on this
  /// many common days. A renamed station has both names only on the day of the change; a name that
  /// was mistyped for a day or two has them perhaps on those days. A feed that publishes whole days
  /// names a station once a day, so there one common day is enough.
  static let twinDays = 3

  /// Pairs with this score or more are shown to a person; docs/history.md states how often such
  /// pairs are one station.
  static let leastScore = 60

  // "BP Wyong North" and "Ampol Wyong North" share half of their words.
  private static let leastSimilarity = 0.5

  /// Matches all records again if anything arrived that may change the answer.
  ///
  /// - Parameter decisions: decisions of a person; `nil`: those of the last match.
  package static func match(
    _ store: Store, decisions: [StationDecision]?, now: Instant, log: Logger
  ) throws {
    // A run that adds records meanwhile has to wait for the end of this transaction before it can
    // mark that a match is due. So its mark is not lost, and the next match includes its records.
    try store.whileMatching(decisions: decisions) {
      let records = try store.stationRecords()
      let known = try decisions ?? store.stationDecisions()
      let presence = try store.presence(of: contestedRecords(records))
      let found = matches(of: records, presence: presence, decisions: known)
      let changed = try store.link(
        found.places.map { ($0.key, $0.value.place, $0.value.by, $0.value.doubt) },
        likely: found.likely, undecided: found.undecided, now: now)
      log.info("matched", ["records": records.count, "changed": changed])
    }
  }

  /// Finds the records that share a street with another record. For them it matters when they were
  /// seen.
  static func contestedRecords(_ records: [StationRecord]) -> [Int] {
    var byStreet: [String: (records: [Int], streets: Set<String>)] = [:]
    for record in records where !record.isCoded || record.hasPrices {
      let streets = Set(record.addresses.map { Street($0).name })
      for street in streets {
        byStreet[street, default: ([], [])].records.append(record.id)
        // A code that moved connects the records of its two streets.
        if record.isCoded, streets.count > 1 { byStreet[street]?.streets.formUnion(streets) }
      }
    }
    var contested: Set<Int> = []
    for (ids, streets) in byStreet.values {
      let near = Set(streets.flatMap { byStreet[$0]?.records ?? [] } + ids)
      if near.count > 1 { contested.formUnion(near) }
    }
    return contested.sorted()
  }

  /// The result of matching.
  struct Matches {
    /// The match of every record, by record number.
    var places: [Int: Match]
    /// Pairs that may be one station, the likeliest first.
    var likely: [LikelyPair]
    /// Feeds with new codes that stay undecided until a complete list shows them.
    var undecided: Set<String>
  }

  /// Matches all records.
  ///
  /// - Parameter presence: when the records that `contestedRecords` returned were seen.
  static func matches(
    of records: [StationRecord], presence: [Int: Presence], decisions: [StationDecision]
  ) -> Matches {
    var work = Work(records, presence)
    work.decide(decisions)
    for scheme in Set(records.map(\.scheme)).sorted() { work.match(scheme) }
    return Matches(places: work.matches(), likely: work.likelyPairs(), undecided: work.undecided)
  }

  // MARK: Addresses

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

  // MARK: Matching

  private struct Work {
    let records: [Int: StationRecord]
    let order: [Int]
    let presence: [Int: Presence]
    /// The cluster of each record. A cluster has the number of one of its records.
    var clusterOf: [Int: Int] = [:]
    var clusters: [Int: Set<Int>] = [:]
    var how: [Int: String] = [:]
    var doubts: [Int: String] = [:]
    var apart: Set<Pair> = []
    var decided: Set<Int> = []
    var undecided: Set<String> = []
    /// Pairs that a rule left undecided, and why.
    var open: [Pair: String] = [:]
    static let followed = "its address belonged to another code before"

    struct Pair: Hashable {
      let low: Int
      let high: Int
      init(_ left: Int, _ right: Int) {
        low = min(left, right)
        high = max(left, right)
      }
    }

    init(_ records: [StationRecord], _ presence: [Int: Presence]) {
      self.records = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
      self.presence = presence
      // Sorted by source and code. Record numbers depend on the order of arrival.
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
      doubts[left] = nil
      doubts[right] = nil
    }

    func members(_ id: Int) -> [Int] {
      (clusters[clusterOf[id] ?? id] ?? [id]).sorted { rank($0) < rank($1) }
    }

    /// Keeps one record of each cluster.
    func oneEach(_ ids: [Int]) -> [Int] {
      var seen: Set<Int> = []
      return ids.filter { seen.insert(clusterOf[$0] ?? $0).inserted }
    }

    private func rank(_ id: Int) -> String { "\(record(id).source)\u{0}\(record(id).code)" }

    /// Returns whether two records existed at the same time, or a person declared them two
    /// stations.
    func areTwins(_ left: Int, _ right: Int) -> Bool {
      if apart.contains(Pair(left, right)) { return true }
      let a = record(left)
      let b = record(right)
      // Two codes of one scheme are two stations. `joinSuccessors` finds the exceptions without
      // this function.
      if a.scheme == b.scheme, a.isCoded, b.isCoded { return a.code != b.code }
      guard a.source == b.source || !a.isCoded && !b.isCoded else { return false }
      // A feed and its archive report the same station under the same name.
      if a.source != b.source, !Set(a.names).isDisjoint(with: b.names) { return false }
      guard let first = presence[left], let second = presence[right] else { return false }
      let days = first.days.reduce(0) { count, month in
        count + (month.value & (second.days[month.key] ?? 0)).nonzeroBitCount
      }
      return days >= (a.source == b.source && !a.isArchive ? 1 : Identity.twinDays)
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

    // MARK: Decisions of a person

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
      joinSuccessors(
        ids.filter { id in
          record(id).isCoded && record(id).hasPrices
            && (!record(id).isArchive || !members(id).contains { !record($0).isArchive })
        })
      let rest = ids.filter { !record($0).isCoded }
      matchAddresses(rest, coded)
      // Next by street and overlapping house numbers, such as 396 and 396-404 Forest Rd.
      matchStreets(rest, coded)
      matchPositions(rest, coded)
    }

    /// Joins codes of one scheme that had the same address one after the other and were never
    /// listed together: the site received a new code.
    private mutating func joinSuccessors(_ coded: [Int]) {
      var byAddress: [String: [Int]] = [:]
      for id in coded {
        for address in Set(record(id).addresses) { byAddress[address, default: []].append(id) }
      }
      for address in byAddress.keys.sorted() {
        guard let ids = byAddress[address], ids.count > 1 else { continue }
        var pairs: [(first: Int, second: Int, likeness: Double)] = []
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
          // Rivals of this pair share one code with it and are at least nearly as similar. The
          // other codes of the two pairs existed at the same time, so only one of them can be the
          // same station.
          let rivals = pairs.filter { rival in
            guard rival.likeness > pair.likeness - 0.05 else { return false }
            let ends = Set([pair.first, pair.second]).symmetricDifference([
              rival.first, rival.second,
            ])
            guard ends.count == 2 else { return false }
            let pairEnds = ends.sorted()
            return areAtOnce(pairEnds[0], pairEnds[1])
          }
          let hasOneStreet = [pair.first, pair.second].allSatisfy {
            Set(record($0).addresses.map { Street($0).name }).count == 1
          }
          if rivals.isEmpty, hasOneStreet, Street(address).numbers != nil {
            join(pair.first, pair.second, by: "address")
          } else if rivals.isEmpty, pair.likeness >= Identity.leastSimilarity {
            join(pair.first, pair.second, by: "name")
          } else {
            open[Pair(pair.first, pair.second)] = Self.followed
          }
        }
      }
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
      let slack = record(left).isArchive || record(right).isArchive ? 2 * 86_400 : 0
      return times(left).contains { a in
        times(right).contains { b in
          min(a.upperBound, b.upperBound) > max(a.lowerBound, b.lowerBound) + .seconds(Int64(slack))
        }
      }
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
        // A short address without a number, such as a highway, may be many places. There names
        // decide.
        let isExact = Street(address).numbers != nil || address.split(separator: " ").count > 3
        if group.coded.count > 1 { name(group.described, group.coded) }
        // A record that a person separated from a coded station of this address is not joined to
        // the other records here.
        let free = group.described.filter { id in
          !group.coded.contains { apart.contains(Pair(id, $0)) }
        }
        gather(free, needsName: !isExact)
        attach(group.described, oneEach(group.coded), at: address, needsName: !isExact)
      }
    }

    /// Joins each record to the one station of its address that has exactly the same name, where
    /// the feed lists several stations there.
    private mutating func name(_ described: [Int], _ coded: [Int]) {
      for id in described {
        let same = coded.filter { !Set(record($0).names).isDisjoint(with: record(id).names) }
        if oneEach(same).count == 1, !clash(id, same[0]) { join(same[0], id, by: "name") }
      }
    }

    /// Joins those uncoded records of one address that are one station.
    private mutating func gather(_ ids: [Int], needsName: Bool) {
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

    /// Joins records that no coded station was found for to the only station in the same street
    /// whose house numbers overlap theirs.
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
    private mutating func matchPositions(_ described: [Int], _ coded: [Int]) {
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

    // MARK: Undecided records

    /// Notes that a rule could not assign a record to one of several stations, and why.
    private mutating func leaveOpen(_ id: Int, among others: some Collection<Int>, _ why: String) {
      doubts[id] = why
      for other in others { open[Pair(id, other)] = why }
    }

    /// Returns the pairs that rules left undecided, and pairs with one suburb or one name where one
    /// station begins where the other ends and the score of `Likeness` is high enough, such as
    /// those whose address was misspelt or renumbered.
    func likelyPairs() -> [LikelyPair] {
      var pairs: [Pair: LikelyPair] = [:]
      func add(_ left: Int, _ right: Int, _ score: Int, _ why: String) {
        let isOpen = members(left).allSatisfy { a in
          members(right).allSatisfy { !apart.contains(Pair(a, $0)) }
        }
        guard isOpen, clusterOf[left] != clusterOf[right] else { return }
        // The station that was seen last is named first, because it is the one that took over.
        let ordered = [left, right].sorted {
          (record($0).lastDay?.sinceEpoch ?? 0, rank($0)) > (
            record($1).lastDay?.sinceEpoch ?? 0, rank($1)
          )
        }
        pairs[Pair(left, right)] = LikelyPair(
          first: ordered[0], second: ordered[1], score: score, why: why)
      }
      // Clusters by suburb and by name.
      var near: [String: Set<Int>] = [:]
      var known: [String: [Range<Int>]] = [:]
      for (cluster, ids) in clusters {
        for record in ids.map(record) where record.hasPrices {
          for suburb in record.suburbs {
            near["\(record.scheme) in \(suburb)", default: []].insert(cluster)
          }
          for name in record.names {
            near["\(record.scheme) named \(name)", default: []].insert(cluster)
          }
          if let days = Likeness.days([record]) { known[record.scheme, default: []].append(days) }
        }
      }
      known = known.mapValues(Self.union)
      func likeness(_ left: Int, _ right: Int) -> Likeness {
        Likeness(
          members(left).map(record), members(right).map(record),
          known: known[record(left).scheme] ?? [])
      }
      let days = clusters.mapValues { Likeness.days($0.map(record)) }
      var seen: Set<Pair> = []
      for clusters in near.values {
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

    /// Merges ranges of days. The result is sorted, and no two ranges touch.
    private static func union(_ ranges: [Range<Int>]) -> [Range<Int>] {
      var union: [Range<Int>] = []
      for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if let last = union.last, range.lowerBound <= last.upperBound {
          union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
          union.append(range)
        }
      }
      return union
    }

    // MARK: The record that heads a station

    func matches() -> [Int: Match] {
      var matches: [Int: Match] = [:]
      for members in clusters.values {
        // Records of the feed come first, the one with the newest price stamp before the others. A
        // station without them is headed by its earliest archive record.
        let head = members.min { left, right in
          let a = record(left)
          let b = record(right)
          if a.isArchive != b.isArchive { return !a.isArchive }
          // The earliest archive record stays the head when newer files bring new names.
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
