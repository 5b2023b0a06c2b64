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
  /// The station of a record (`station` is the number of the record that heads it), the rule that
  /// matched the record, and the doubt that is left.
  package struct Match: Equatable, Sendable {
    package var station: Int
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

  /// How many stations of one suburb, or of one name, are compared with each other. Toowoomba, the
  /// largest suburb of Queensland's archive, has 17.
  static let mostNear = 500

  // "BP Wyong North" and "Ampol Wyong North" share half of their words.
  static let leastSimilarity = 0.5

  /// Matches all records again if anything arrived that may change the answer.
  ///
  /// - Parameter decisions: decisions of a person; `nil`: those of the last match.
  package static func match(
    _ store: Store, decisions: [StationDecision]?, now: Instant, log: Logger
  ) throws {
    // A run that adds records meanwhile has to wait for the end of this transaction before it can
    // mark that a match is due. So its mark is not lost, and the next match includes its records.
    let areNew = try store.stations.matchIfDue(decisions: decisions) {
      let records = try store.stations.stationRecords()
      let known = try decisions ?? store.stations.stationDecisions()
      let presence = try store.stations.presence(of: contestedRecords(records))
      let covered = Dictionary(grouping: try store.stations.knownDays(now: now), by: \.scheme)
      let found = matches(
        of: records, presence: presence, decisions: known,
        covered: covered.mapValues { Set($0.map(\.day.sinceEpoch)) })
      let changed = try store.stations.link(
        found.byRecord.map { ($0.key, $0.value.station, $0.value.by, $0.value.doubt) },
        likely: found.likely, undecided: found.undecided, now: now)
      log.info("matched", ["records": records.count, "changed": changed])
    }
    // This is logged when a person has changed the file, and not at each start: cron mails whatever
    // a job prints, and a station that is not known may come later.
    guard areNew, let decisions else { return }
    for sentence in try unknownRecords(of: decisions, store) {
      log.warning("unknown station", ["decision": sentence])
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
    /// The match of every record, by its number.
    var byRecord: [Int: Match]
    /// Pairs that may be one station, the likeliest first.
    var likely: [LikelyPair]
    /// Feeds with new codes that stay undecided until a complete list shows them.
    var undecided: Set<String>
  }

  /// Matches all records.
  ///
  /// - Parameters:
  ///   - presence: when the records that `contestedRecords` returned were seen.
  ///   - covered: the days that a feed or an archive of each scheme covers. On other days nothing
  ///     is known, so they are no gap between two stations.
  static func matches(
    of records: [StationRecord], presence: [Int: Presence], decisions: [StationDecision],
    covered: [String: Set<Int>] = [:]
  ) -> Matches {
    var work = Work(records, presence, covered)
    work.decide(decisions)
    for scheme in Set(records.map(\.scheme)).sorted() { work.match(scheme) }
    return Matches(
      byRecord: work.matches(), likely: work.likelyPairs(), undecided: work.undecided)
  }
}

extension Identity {
  /// The work of matching: clusters of station records, which grow until each is one station.
  struct Work {
    let records: [Int: StationRecord]
    let order: [Int]
    let presence: [Int: Presence]
    let covered: [String: Set<Int>]
    /// The cluster of each record. A cluster has the number of one of its records.
    var clusterOf: [Int: Int] = [:]
    var clusters: [Int: Set<Int>] = [:]
    /// The rule that joined each record.
    var matchedBy: [Int: String] = [:]
    var doubts: [Int: String] = [:]
    var apart: Set<Pair> = []
    /// Records that a person declared one station, in the order in which the person named them.
    var declared: [Link] = []
    var decided: Set<Int> = []
    var undecided: Set<String> = []
    /// Pairs that a rule left undecided, and why.
    var open: [Pair: String] = [:]
    static let followed = "its address belonged to another code before"

    typealias Link = (first: Int, second: Int)

    struct Pair: Hashable {
      let low: Int
      let high: Int
      init(_ left: Int, _ right: Int) {
        low = min(left, right)
        high = max(left, right)
      }
    }

    init(
      _ records: [StationRecord], _ presence: [Int: Presence], _ covered: [String: Set<Int>]
    ) {
      self.records = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
      self.presence = presence
      self.covered = covered
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
      if matchedBy[left] == nil || way == "person" { matchedBy[left] = way }
      if matchedBy[right] == nil || way == "person" { matchedBy[right] = way }
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

    func rank(_ id: Int) -> String { "\(record(id).source)\u{0}\(record(id).code)" }

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
          declared.append((first, second))
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

    // MARK: The record that represents a station

    func matches() -> [Int: Match] {
      let links = Dictionary(grouping: declared) { clusterOf[$0.first] ?? $0.first }
      var matches: [Int: Match] = [:]
      for (cluster, members) in clusters {
        guard let head = representative(of: members, links[cluster] ?? []) else { continue }
        for id in members {
          matches[id] = Match(
            station: head, by: id == head ? "itself" : matchedBy[id] ?? "address",
            doubt: decided.contains(id) || members.count > 1 && record(id).isCoded
              ? nil : doubts[id])
        }
      }
      return matches
    }

    /// Returns the record that represents a station.
    ///
    /// Records of feeds come before those of archives, those with prices first. Among these the first
    /// of two that a person linked comes before the second. Then the newest price stamp decides, or
    /// among archives the earliest day.
    private func representative(of members: Set<Int>, _ links: [Link]) -> Int? {
      let ofFeeds = members.filter { !record($0).isArchive }
      // A record may have lost its prices because its run was withdrawn. It would hide the station.
      let priced = ofFeeds.filter { record($0).hasPrices }
      let eligible = [priced, ofFeeds].first { !$0.isEmpty } ?? members
      let leading = eligible.subtracting(placedSecond(among: eligible, links))
      // Decisions may contradict one another. Stamps do not decide between their records, or the
      // station would get another number with every new price.
      guard !leading.isEmpty else {
        let firsts = eligible.subtracting(links.map { $0.second })
        return (firsts.isEmpty ? eligible : firsts).min { rank($0) < rank($1) }
      }
      return leading.min { left, right in
        let a = record(left)
        let b = record(right)
        // The earliest archive record stays the head when newer files bring new names.
        if a.isArchive {
          return (a.firstDay?.sinceEpoch ?? .max, rank(left)) < (
            b.firstDay?.sinceEpoch ?? .max, rank(right)
          )
        }
        if a.lastReported != b.lastReported {
          return (a.lastReported ?? .distantPast) > (b.lastReported ?? .distantPast)
        }
        return rank(left) < rank(right)
      }
    }

    /// Returns the records of a station that a person's decisions place behind another one.
    ///
    /// A decision about the records of two feeds holds for all records of the station that these
    /// feeds have: one of them may give it a new code later.
    private func placedSecond(among eligible: Set<Int>, _ links: [Link]) -> Set<Int> {
      var second: Set<Int> = []
      for link in links {
        let ahead = record(link.first).scheme
        let behind = record(link.second).scheme
        if ahead == behind {
          if eligible.contains(link.first), eligible.contains(link.second) {
            second.insert(link.second)
          }
        } else if eligible.contains(where: { record($0).scheme == ahead }) {
          second.formUnion(eligible.filter { record($0).scheme == behind })
        }
      }
      return second
    }
  }
}
