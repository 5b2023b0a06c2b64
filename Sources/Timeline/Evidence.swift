package import FuelModel

/// One thing that a feed or an archive reported of a station and fuel.
package struct Evidence: Sendable, Equatable {
  package enum Kind: Int16, Sendable {
    /// From `at` on the station sells at `price`; 0: it does not offer the fuel.
    case price = 0
    /// A complete list taken at `at` has it again, or for the first time.
    case listed = 1
    /// A complete list taken at `at` leaves it out.
    case unlisted = 2
  }

  package var kind: Kind
  /// The station record: what the source calls the station.
  package var recordID: Int32
  package var sourceID: Int16
  package var at: Instant
  /// Tenths of a cent per litre.
  package var price: Int32
  /// When it was first fetched. Archives do not say when they were published: then it is `at`.
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

/// How far the reports of one feed or archive are believed, for one fuel.
package struct ReportRules: Sendable, Equatable {
  /// A price is not believed for longer than this after its stamp, in microseconds.
  package var priceLapse: Int64
  /// Nor for longer than this after it was last seen, in microseconds.
  package var sightLapse: Int64
  /// How long after a price begins it is published, in microseconds.
  package var delay: Int64
  /// From when on its prices count in averages: a feed's from its first run, because of the time before it
  /// shows only the prices that have not changed since, which is a biased choice.
  package var countsFrom: Instant
  /// Whether a doubtful price that still holds a day later is believed.
  package var holdingConfirms: Bool
  /// Whether it stamps its prices. Where it does not, a price begins when it is first seen.
  package var isStamped: Bool
  /// Which instants the archives and the feed of this scheme cover; `nil`: all, as with a feed, whose
  /// lists tell what is believed.
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

/// Intervals of time in order, none touching another: the files of an archive, or a feed's lists that lie
/// close enough to one another that the first of two is believed until the second.
package struct Coverage: Sendable, Equatable {
  package private(set) var intervals: [(from: Instant, until: Instant)] = []

  package init() {}

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

  /// The first instant from an instant on that is not covered; itself, if it is not.
  package func end(from instant: Instant) -> Instant {
    guard let interval = interval(before: instant, orAt: true) else { return instant }
    return max(instant, interval.until)
  }

  /// The last covered instant before an instant; `nil`: none is.
  package func last(before instant: Instant) -> Instant? {
    interval(before: instant, orAt: false).map { min($0.until, instant) }
  }

  private func interval(before instant: Instant, orAt: Bool) -> (from: Instant, until: Instant)? {
    var low = 0
    var high = intervals.count
    while low < high {
      let middle = (low + high) / 2
      let from = intervals[middle].from
      if from < instant || (orAt && from == instant) { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : intervals[low - 1]
  }
}

extension Instant {
  package static let distantPast = Instant(microseconds: .min / 4)
  package static let distantFuture = Instant(microseconds: .max / 4)

  package func after(_ microseconds: Int64) -> Instant {
    Instant(microseconds: self.microseconds + microseconds)
  }
}
