package import FuelModel

/// One price cycle: from a trough over a peak to the next trough. Amounts are in cents per litre.
package struct Cycle: Sendable, Equatable {
  package var troughOn: Day
  package var trough: Double
  package var peakOn: Day
  package var peak: Double
  /// The day and the price of the next trough.
  package var endsOn: Day
  package var nextTrough: Double

  package var days: Int { endsOn.sinceEpoch - troughOn.sinceEpoch }
  package var amplitude: Double { peak - trough }
}

/// Where a market is in its cycle, by a zigzag over its daily averages. It enters no verdict.
package struct MarketPosition: Sendable, Equatable {
  /// The last day with an average, that average, and its change per day since the one before, in
  /// c/L.
  package var basedOn: Day?
  package var average: Double?
  package var change: Double?
  /// `nil` if the market has not moved by the height of a cycle yet.
  package var isRising: Bool?
  /// Days since the current leg began.
  package var daysInPhase: Int?
  package var lastTrough: Double?
  package var lastTroughOn: Day?
  package var lastPeak: Double?
  /// Whether the last cycles are alike, and the current one is not overdue.
  package var isCycling = false
  /// The median length of the last cycles in days, or `nil` if there is no cycle.
  package var typicalDays: Int?

  // A cycle shorter than five days is noise. After more than ten weeks the market is a different
  // one.
  private static let lengths = 5...70
  // How many cycles must be similar for the market to cycle.
  private static let leastCycles = 3
  // How many times the daily noise of the average the cycles must be high, because noise of any
  // size causes turns.
  private static let (leastHeightInNoise, noiseDays) = (8.0, 120)
  // The longest gap within a cycle, in days. What happened in a longer gap is not known.
  private static let longestGap = 7

  package init() {}

  /// - Parameter series: at most 400 days up to the day in question.
  package init(_ series: DailySeries) {
    guard let last = series.averages.lastIndex(where: { $0 != nil }) else { return }
    let turns = Zigzag.turns(of: series)
    basedOn = series.first + last
    average = series.averages[last]
    change = series.step(last)
    isRising = turns.last.map { !$0.isPeak }
    daysInPhase = turns.last.map { last - $0.index }
    let trough = turns.last { !$0.isPeak }
    lastTrough = trough?.price
    lastTroughOn = trough.map { series.first + $0.index }
    lastPeak = turns.last(where: \.isPeak)?.price
    // After a long gap it is not known which cycle the market is in.
    guard let trough, let run = Self.runs(of: turns, in: series).last,
      Self.longestGap(in: series, from: trough.index, to: series.count - 1) <= Self.longestGap,
      let days = Self.similarLengths(of: run.suffix(Self.leastCycles), upTo: last, in: series),
      last - trough.index <= 2 * days[days.count - 1]
    else { return }
    isCycling = true
    typicalDays = days[days.count / 2]
  }

  /// Returns the completed cycles of a whole history, oldest first: those by which the market
  /// cycled when they ended, since three in a row were similar.
  package static func pastCycles(_ series: DailySeries) -> [Cycle] {
    runs(of: Zigzag.turns(of: series), in: series).flatMap { run -> [Cycle] in
      var counting: Set<Int> = []
      for end in run.indices.dropFirst(leastCycles - 1) {
        let known = run[end].endsOn.sinceEpoch - series.first.sinceEpoch
        let cycles = run[(end + 1 - leastCycles)...end]
        if similarLengths(of: cycles, upTo: known, in: series) != nil {
          counting.formUnion(cycles.indices)
        }
      }
      return counting.sorted().map { run[$0] }
    }
  }

  /// Returns the completed cycles of a series, oldest first. A new run of cycles begins where
  /// averages are missing for too long.
  private static func runs(of turns: [Zigzag.Turn], in series: DailySeries) -> [[Cycle]] {
    var runs: [[Cycle]] = [[]]
    for (position, trough) in turns.enumerated() where !trough.isPeak {
      guard position + 2 < turns.count else { break }
      let (peak, next) = (turns[position + 1], turns[position + 2])
      // The beginning of the series is no turn, unless the price moved towards it.
      let isReal =
        position > 0
        || series.known(0, trough.index).contains { $0 >= trough.price + Zigzag.height }
      guard isReal else { continue }
      if longestGap(in: series, from: trough.index, to: next.index) > longestGap {
        runs.append([])
      } else {
        runs[runs.count - 1].append(
          Cycle(
            troughOn: series.first + trough.index, trough: trough.price,
            peakOn: series.first + peak.index, peak: peak.price,
            endsOn: series.first + next.index, nextTrough: next.price))
      }
    }
    return runs
  }

  private static func longestGap(in series: DailySeries, from first: Int, to last: Int) -> Int {
    series.averages[first...last].split(omittingEmptySubsequences: true) { $0 != nil }
      .map(\.count).max() ?? 0
  }

  /// The noise of the average up to a day: the median deviation from a straight line through three
  /// days.
  private static func noise(of series: DailySeries, upTo last: Int) -> Double {
    let prices = series.averages
    return quantile(
      0.5,
      of: (max(2, last + 1 - noiseDays)..<max(2, last + 1)).compactMap { index -> Double? in
        guard let now = prices[index], let before = prices[index - 1],
          let earlier = prices[index - 2]
        else { return nil }
        return abs(now - 2 * before + earlier)
      })
  }

  /// Returns the lengths of three completed cycles in days, the shortest first; `nil` unless the
  /// cycles are similar in length, exceed the noise, and each rise is followed by a similar fall.
  private static func similarLengths(
    of cycles: ArraySlice<Cycle>, upTo last: Int, in series: DailySeries
  ) -> [Int]? {
    let days = cycles.map(\.days).sorted()
    guard days.count == leastCycles, let shortest = days.first, let longest = days.last,
      longest <= 3 * shortest, lengths.contains(shortest), lengths.contains(days[days.count / 2]),
      quantile(0.5, of: cycles.map(\.amplitude)) >= leastHeightInNoise
        * noise(of: series, upTo: last),
      cycles.allSatisfy({ cycle in
        (0.5...2).contains((cycle.peak - cycle.nextTrough) / cycle.amplitude)
      })
    else { return nil }
    return days
  }
}

/// The legs of a price series. A rise ends when the price has fallen by `height` from its highest,
/// and a fall ends when the price has risen by `height` from its lowest. A turn is known only once
/// it is confirmed in this way.
enum Zigzag {
  struct Turn {
    var index: Int
    var price: Double
    var isPeak: Bool
  }

  // In c/L. The average of a city varies by less without a turn, and every cycle is higher.
  static let height = 6.0

  /// Confirmed turns, oldest first. Peaks and troughs alternate.
  static func turns(of series: DailySeries) -> [Turn] {
    var turns: [Turn] = []
    // The lowest and the highest price since the last turn.
    var (low, high): (Turn?, Turn?)
    for (index, price) in series.averages.enumerated() {
      guard let price else { continue }
      let asLow = Turn(index: index, price: price, isPeak: false)
      let asHigh = Turn(index: index, price: price, isPeak: true)
      low = low.map { price < $0.price ? asLow : $0 } ?? asLow
      high = high.map { price > $0.price ? asHigh : $0 } ?? asHigh
      guard let trough = low, let peak = high else { continue }
      let before = turns.last?.isPeak
      if before != false, price - trough.price >= height {
        turns.append(trough)
      } else if before != true, peak.price - price >= height {
        turns.append(peak)
      } else {
        continue
      }
      (low, high) = (asLow, asHigh)
    }
    return turns
  }
}

/// The value up to which a share of some values lies, on the line between the two nearest ones.
func quantile(_ share: Double, of values: [Double]) -> Double {
  guard !values.isEmpty else { return 0 }
  let sorted = values.sorted()
  let place = share * Double(sorted.count - 1)
  let (below, above) = (sorted[Int(place)], sorted[min(Int(place) + 1, sorted.count - 1)])
  return below + (place - place.rounded(.down)) * (above - below)
}
