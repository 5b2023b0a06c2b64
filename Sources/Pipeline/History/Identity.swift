package import FuelModel
package import Logging
package import Store

/// Which records of different sources mean one place.
///
/// The answer is a function of everything that is known, never of what came first: a new file or a new
/// list may link records and take links back, and no fact is rewritten by it. Codes decide where an
/// archive has them, else addresses in one form. Two records at one address are one station that
/// changed its name or its code, unless both were there at once: then they are two, and names tell
/// which is which. What stays open is left apart and shown to a person, whose word goes before all.
package enum Identity {
  /// What a record is matched by.
  package struct Match: Equatable, Sendable {
    package var place: Int
    package var by: String
    package var doubt: String?
  }

  /// Two names of which an archive reports prices on this many days are two stations: a renamed one has both only
  /// on the day of the change, a name that was typed wrong for a day or two perhaps on those. A feed that publishes
  /// whole days names a station once a day, so that there one day is enough.
  static let twinDays = 3

  /// Pairs of this score or more are shown to a person; docs/history.md says how often they are one station.
  static let leastScore = 60

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
      let presence = try store.presence(of: contestedRecords(records))
      let found = matches(of: records, presence: presence, decisions: known)
      let changed = try store.link(
        found.places.map { ($0.key, $0.value.place, $0.value.by, $0.value.doubt) },
        likely: found.likely, undecided: found.undecided, now: now)
      log.info("matched", ["records": records.count, "changed": changed])
    }
  }

  /// Records that share a street with another one: when they were seen decides.
  static func contestedRecords(_ records: [StationRecord]) -> [Int] {
    var byStreet: [String: (records: [Int], streets: Set<String>)] = [:]
    for record in records where !record.isCoded || record.hasPrices {
      let streets = Set(record.addresses.map { Street($0).name })
      for street in streets {
        byStreet[street, default: ([], [])].records.append(record.id)
        // A code that moved brings the records of both its streets together.
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

  /// What matching comes to.
  struct Matches {
    /// A match for every record, by its number.
    var places: [Int: Match]
    /// Pairs that may be one station, the likeliest first.
    var likely: [LikelyPair]
    /// Feeds of whose new codes nothing can be said before a complete list shows them.
    var undecided: Set<String>
  }

  /// - Parameter presence: when records were seen that `contestedRecords` named.
  static func matches(
    of records: [StationRecord], presence: [Int: Presence], decisions: [StationDecision]
  ) -> Matches {
    var work = Work(records, presence)
    work.decide(decisions)
    for scheme in Set(records.map(\.scheme)).sorted() { work.match(scheme) }
    return Matches(places: work.matches(), likely: work.likelyPairs(), undecided: work.undecided)
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
    let presence: [Int: Presence]
    /// Clusters of records by the number of any member.
    var clusterOf: [Int: Int] = [:]
    var clusters: [Int: Set<Int>] = [:]
    var how: [Int: String] = [:]
    var doubts: [Int: String] = [:]
    var apart: Set<Pair> = []
    var decided: Set<Int> = []
    var undecided: Set<String> = []
    /// Pairs that a rule left open, and why.
    var open: [Pair: String] = [:]
    static let followed = "its address was another code's before"

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
      doubts[left] = nil
      doubts[right] = nil
    }

    func members(_ id: Int) -> [Int] {
      (clusters[clusterOf[id] ?? id] ?? [id]).sorted { rank($0) < rank($1) }
    }

    /// Of each station that some records are, one record.
    func oneEach(_ ids: [Int]) -> [Int] {
      var seen: Set<Int> = []
      return ids.filter { seen.insert(clusterOf[$0] ?? $0).inserted }
    }

    private func rank(_ id: Int) -> String { "\(record(id).source)\u{0}\(record(id).code)" }

    /// Whether two records were there at once, or a person says that they are two stations.
    func areTwins(_ left: Int, _ right: Int) -> Bool {
      if apart.contains(Pair(left, right)) { return true }
      let a = record(left)
      let b = record(right)
      // Two codes are two stations, but for those that `joinSuccessors` has found to be one.
      if a.scheme == b.scheme, a.isCoded, b.isCoded { return a.code != b.code }
      guard a.source == b.source || !a.isCoded && !b.isCoded else { return false }
      // The same station under the same name, told by the feed and by its archive.
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
      joinSuccessors(
        ids.filter { id in
          record(id).isCoded && record(id).hasPrices
            && (!record(id).isArchive || !members(id).contains { !record($0).isArchive })
        })
      let rest = ids.filter { !record($0).isCoded }
      matchAddresses(rest, coded)
      // Then by street and overlapping house numbers: 396 and 396-404 Forest Rd.
      matchStreets(rest, coded)
      matchPositions(rest, coded)
    }

    /// Codes of one feed that had one address one after the other, in no list together: the site got a new code.
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
          // Another one that could be meant as well, and was there at once with this one.
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

    /// When a code was there: while complete lists of its feed showed it, or from its first day in an archive to its
    /// last, because an archive of changes says nothing of the days between.
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

    /// Whether two codes were there at once. Days of archives may touch: of the day of a change both have a part.
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
        // An address without a number, such as a highway, is many places: there names decide.
        let isExact = Street(address).numbers != nil || address.split(separator: " ").count > 3
        if group.coded.count > 1 { name(group.described, group.coded) }
        // One that a person holds apart from what is here is looked at by itself.
        let free = group.described.filter { id in
          !group.coded.contains { apart.contains(Pair(id, $0)) }
        }
        gather(free, needsName: !isExact)
        attach(group.described, oneEach(group.coded), at: address, needsName: !isExact)
      }
    }

    /// Where the feed lists several stations: what has the very name of one of them is that one.
    private mutating func name(_ described: [Int], _ coded: [Int]) {
      for id in described {
        let same = coded.filter { !Set(record($0).names).isDisjoint(with: record(id).names) }
        if oneEach(same).count == 1, !clash(id, same[0]) { join(same[0], id, by: "name") }
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
          leaveOpen(
            id, among: ids[..<position].filter { clusterOf[$0] != clusterOf[id] && !clash(id, $0) },
            "several stations share its address and no name is like its own")
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
        leaveOpen(
          station, among: free.filter { !clash(station, $0) },
          "\(record(free[0]).source) lists \(codes) at its address")
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
              leaveOpen(
                entry.id, among: candidates.filter { !clash(entry.id, $0) }.map { members($0)[0] },
                "several stations of its street have a house number like its own")
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

    // MARK: What stays open

    /// A record that a rule could not give to one of several stations.
    private mutating func leaveOpen(_ id: Int, among others: some Collection<Int>, _ why: String) {
      doubts[id] = why
      for other in others { open[Pair(id, other)] = why }
    }

    /// Pairs that rules left open, and stations of one suburb of which one begins where the other ends and whose
    /// names and addresses are alike: misspelt, renumbered.
    func likelyPairs() -> [LikelyPair] {
      var pairs: [Pair: LikelyPair] = [:]
      func add(_ left: Int, _ right: Int, _ score: Int, _ why: String) {
        let isOpen = members(left).allSatisfy { a in
          members(right).allSatisfy { !apart.contains(Pair(a, $0)) }
        }
        guard isOpen, clusterOf[left] != clusterOf[right] else { return }
        // The later one is named first: it is the one that took over.
        let ordered = [left, right].sorted {
          (record($0).lastDay?.sinceEpoch ?? 0, rank($0)) > (
            record($1).lastDay?.sinceEpoch ?? 0, rank($1)
          )
        }
        pairs[Pair(left, right)] = LikelyPair(
          first: ordered[0], second: ordered[1], score: score, why: why)
      }
      // Stations of one suburb, and stations of one name.
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
      // What one rule left open another may have found.
      for (pair, why) in open
      where [doubts[pair.low], doubts[pair.high], Self.followed].contains(why) {
        add(pair.low, pair.high, likeness(pair.low, pair.high).score, why)
      }
      return pairs.values.sorted {
        ($1.score, rank($0.first), rank($0.second)) < ($0.score, rank($1.first), rank($1.second))
      }
    }

    /// Ranges of days in order, none touching another.
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
