package import FuelModel

/// One source's record of a station, as far as matching needs it.
package struct StationRecord: Sendable {
  package var id: Int
  package var source: String
  package var scheme: String
  package var code: String
  package var isArchive: Bool
  /// Whether its code is the scheme's own number. If so, two codes mean two stations.
  package var isCoded: Bool
  /// Whether it ever had a price. Lists also contain chargers, which sell no fuel.
  package var hasPrices = true
  /// For a feed's record: whether a price came after the last complete list, so that the next one
  /// may still show the record.
  package var awaitsList = false
  /// For a feed's record: the newest stamp of its prices.
  package var lastReported: Instant?
  /// The first and the last day on which its source described it.
  package var firstDay: Day?
  package var lastDay: Day?
  package var position: Position?
  /// Names, addresses and suburbs in the form in which they are compared, each once.
  package var names: [String] = []
  package var addresses: [String] = []
  package var suburbs: [String] = []

  /// Adds a description that was seen between two days.
  package mutating func describe(
    name: String, address: String, suburb: String?, from first: Day, until last: Day
  ) {
    func add(_ key: String, to keys: inout [String]) {
      if !key.isEmpty, !keys.contains(key) { keys.append(key) }
    }
    add(MatchKey.name(name), to: &names)
    add(MatchKey.address(address, suburb: suburb), to: &addresses)
    if let suburb { add(MatchKey.name(suburb), to: &suburbs) }
    firstDay = min(firstDay ?? first, first)
    lastDay = max(lastDay ?? last, last)
  }
}

/// When a station record was seen.
package struct Presence: Sendable, Equatable {
  /// The days on which an archive reported a price of the record, or a price from its feed began: a
  /// bit for each day of a month, the lowest for the first.
  package var days: [Month: UInt32] = [:]
  /// The times during which complete lists of its feed showed the record. The last of them may
  /// still go on.
  package var listed: [Range<Instant>] = []
}

/// Two station records that may be one station. A person has to decide.
package struct LikelyPair: Sendable, Equatable {
  package var first: Int
  package var second: Int
  /// From 0 to 100, judged by name, address and succession in time.
  package var score: Int
  package var why: String

  package init(first: Int, second: Int, score: Int, why: String) {
    self.first = first
    self.second = second
    self.score = score
    self.why = why
  }
}

/// A person's decision whether two station records are one station.
package struct StationDecision: Sendable, Equatable {
  package var day: Day
  package var firstSource: String
  package var firstCode: String
  package var secondSource: String
  package var secondCode: String
  package var isSame: Bool
  package var reason: String

  package init(
    day: Day, firstSource: String, firstCode: String, secondSource: String, secondCode: String,
    isSame: Bool, reason: String
  ) {
    self.day = day
    self.firstSource = firstSource
    self.firstCode = firstCode
    self.secondSource = secondSource
    self.secondCode = secondCode
    self.isSame = isSame
    self.reason = reason
  }
}
