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
