package import FuelModel

/// A station record and a fuel.
package struct Pair: Hashable, Sendable, Comparable {
  package var stationID: Int32
  package var fuelID: Int16

  package init(stationID: Int32, fuelID: Int16) {
    self.stationID = stationID
    self.fuelID = fuelID
  }

  package static func < (left: Pair, right: Pair) -> Bool { left.number < right.number }

  /// Both as one number, which is compared and looked up faster than two.
  package var number: Int64 { Int64(stationID) << 16 | Int64(fuelID) }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// One fact that a feed or an archive reported about a station and fuel.
package struct Evidence: Sendable, Equatable {
  /// What a fact says about a station and fuel.
  package enum Kind: Int16, Sendable {
    /// The station sells at `price` from `at` on. A price of 0 means that it does not offer the
    /// fuel.
    case price = 0
    /// A list taken at `at` shows the station and fuel again, or for the first time.
    case listed = 1
    /// A complete list taken at `at` leaves the station and fuel out: it is not offered.
    case unlisted = 2
    /// The list taken at `at` was the last one that showed the station and fuel. Those after it are
    /// not complete: that they do not show it proves nothing, and confirms no price.
    case unseen = 3
  }

  package var kind: Kind
  /// The station record: the source's own entry for the station.
  package var recordID: Int32
  package var sourceID: Int16
  package var at: Instant
  /// Tenths of a cent per litre.
  package var price: Int32
  /// When the fact was first fetched. Archives do not state when they were published, so theirs is
  /// `at`.
  package var learntAt: Instant

  package init(
    kind: Kind, recordID: Int32, sourceID: Int16, at: Instant, price: Int32 = 0, learntAt: Instant
  ) {
    self.kind = kind
    self.recordID = recordID
    self.sourceID = sourceID
    self.at = at
    self.price = price
    self.learntAt = learntAt
  }
}

/// How long the reports of one feed or archive are believed, for one fuel.
package struct ReportRules: Sendable, Equatable {
  /// How long after its stamp a price is believed at most, in microseconds.
  package var priceLapse: Int64
  /// How long after it was last seen a price is believed at most, in microseconds.
  package var sightLapse: Int64
  /// How long after its beginning a price is published, in microseconds.
  package var delay: Int64
  /// The instant from which the source's prices count in averages. For a feed this is its first
  /// run: of the time before it, the feed shows only those prices that have not changed since,
  /// which is a biased choice.
  package var countsFrom: Instant
  /// Whether a doubtful price that still holds a day later is believed.
  package var holdingConfirms: Bool
  /// Whether the source stamps its prices. If it does not, a price begins when it is first seen.
  package var isStamped: Bool
  /// For an archive, the instants that the archives and the feed of its scheme cover. `nil` means
  /// every instant, as for a feed, whose lists decide what is believed.
  package var covered: Coverage?

  package init(
    priceLapse: Int64, sightLapse: Int64, delay: Int64 = 0, countsFrom: Instant = .distantPast,
    holdingConfirms: Bool = true, isStamped: Bool = true, covered: Coverage? = nil
  ) {
    self.priceLapse = priceLapse
    self.sightLapse = sightLapse
    self.delay = delay
    self.countsFrom = countsFrom
    self.holdingConfirms = holdingConfirms
    self.isStamped = isStamped
    self.covered = covered
  }
}

/// Intervals of time in order, none of which touch: the times that the files of an archive cover,
/// or the times during which a feed's lists follow one another so closely that each is believed
/// until the next.
package struct Coverage: Sendable, Equatable {
  package private(set) var intervals: [(from: Instant, until: Instant)] = []

  /// Makes a coverage of intervals and merges those that overlap or touch.
  ///
  /// - Parameter intervals: in any order, overlapping or not.
  package init(_ intervals: [(from: Instant, until: Instant)]) {
    for interval in intervals.sorted(by: { $0.from < $1.from }) {
      if let last = self.intervals.last, interval.from <= last.until {
        self.intervals[self.intervals.count - 1].until = max(last.until, interval.until)
      } else {
        self.intervals.append(interval)
      }
    }
  }

  package static func == (left: Coverage, right: Coverage) -> Bool {
    left.intervals.elementsEqual(right.intervals, by: ==)
  }

  /// Returns the first instant that is not covered, at or after `instant`: `instant` itself if it
  /// is not covered.
  package func end(from instant: Instant) -> Instant {
    guard let interval = interval(before: instant, orAt: true) else { return instant }
    return max(instant, interval.until)
  }

  /// Returns the last covered instant before `instant`; `nil` where there is none.
  package func last(before instant: Instant) -> Instant? {
    interval(before: instant, orAt: false).map { min($0.until, instant) }
  }

  private func interval(before instant: Instant, orAt: Bool) -> (from: Instant, until: Instant)? {
    let begun = intervals.prefixCount { $0.from < instant || (orAt && $0.from == instant) }
    return begun == 0 ? nil : intervals[begun - 1]
  }
}

extension Array {
  /// Returns how many elements at the beginning meet a condition that none after them meets.
  func prefixCount(while meets: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if meets(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Instant {
  /// Returns the instant that many microseconds later; a negative number gives an earlier one.
  package func after(_ microseconds: Int64) -> Instant {
    Instant(microseconds: self.microseconds + microseconds)
  }
}
