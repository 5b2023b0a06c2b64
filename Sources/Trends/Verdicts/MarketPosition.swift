package import FuelModel

/// One price cycle: from a trough over a peak to the next trough. Amounts are in cents per litre.
package struct Cycle: Sendable, Equatable {
  package var troughOn: Day
  package var trough: Double
  package var peakOn: Day
  package var peak: Double
  /// The day and the price of the next trough, or `nil` if this cycle is the current one.
  package var endsOn: Day?
  package var nextTrough: Double?

  package var days: Int? { endsOn.map { $0.sinceEpoch - troughOn.sinceEpoch } }
  package var amplitude: Double { peak - trough }
}

/// The position of a market in its cycle, by a zigzag of six cents over its daily averages.
package struct MarketPosition: Sendable, Equatable {
  /// The last day with an average, that average, and its change per day since the previous one, in
  /// c/L.
  package var basedOn: Day?
  package var average: Double?
  package var change: Double?
  /// `nil` if the market has not moved by six cents yet.
  package var isRising: Bool?
  /// Days since the current leg began.
  package var daysInPhase: Int?
  package var lastTrough: Double?
  package var lastTroughOn: Day?
  package var lastPeak: Double?
  package var lastPeakOn: Day?
  /// Completed cycles with their peaks, oldest first. The current cycle is the last one, once it
  /// has a peak.
  package var cycles: [Cycle] = []
  package var isCycling = false
  /// The day of the current cycle, which is 1 on the day of the last trough. `nil` if there is no
  /// cycle.
  package var cycleDay: Int?
  /// The median length of the last cycles in days, or `nil` if there is no cycle.
  package var typicalDays: Int?

  // A cycle shorter than five days is noise. After more than ten weeks the market is a different
  // one.
  private static let lengths = 5...70
  // How many cycles must be similar for the market to cycle.
  private static let leastCycles = 3
  // How many times the daily noise of the average the cycles must be high, because noise of any
  // size causes turns.
  private static let leastHeightInNoise = 8.0
  // The longest gap within a cycle, in days. What happened in a longer gap is not known.
  private static let longestGap = 7

  package init() {}

  /// - Parameter series: at most 400 days up to the day in question.
  package init(_ series: DailySeries) {
    let zigzag = Self.zigzag(series)
    guard let last = series.averages.lastIndex(where: { $0 != nil }) else { return }
    basedOn = series.first + last
    average = series.averages[last]
    change = series.step(last)
    isRising = zigzag.isRising
    let turns = zigzag.turns
    if let turn = turns.last { daysInPhase = last - turn.index }
    if let trough = turns.last(where: { !$0.isPeak }) {
      lastTrough = trough.price
      lastTroughOn = series.first + trough.index
    }
    if let peak = turns.last(where: \.isPeak) {
      lastPeak = peak.price
      lastPeakOn = series.first + peak.index
    }
    cycles = Self.runs(of: turns, in: series, last: last).last ?? []
    // After a long gap at the end it is not known which cycle the market is in.
    guard series.count - 1 - last <= Self.longestGap else { return }
    judgeCycle(last: series.first + last, noise: Self.noise(of: series))
  }

  /// Returns the completed cycles of a whole history, oldest first: those by which the market
  /// cycled when they ended, since three in a row were similar.
  package static func pastCycles(_ series: DailySeries) -> [Cycle] {
    guard let last = series.averages.lastIndex(where: { $0 != nil }) else { return [] }
    return runs(of: zigzag(series).turns, in: series, last: last).flatMap { run -> [Cycle] in
      let complete = run.filter { $0.endsOn != nil }
      var counting: Set<Int> = []
      for end in complete.indices.dropFirst(leastCycles - 1) {
        guard let endsOn = complete[end].endsOn else { continue }
        let lastCycles = complete[(end + 1 - leastCycles)...end]
        // Noise is looked for in 120 days, the first of which needs two more.
        let known = series.upTo(endsOn.sinceEpoch - series.first.sinceEpoch, atMost: 122)
        if similarLengths(of: lastCycles, noise: noise(of: known)) != nil {
          counting.formUnion(lastCycles.indices)
        }
      }
      return complete.indices.filter { counting.contains($0) }.map { complete[$0] }
    }
  }

  private static func zigzag(_ series: DailySeries) -> Zigzag {
    var zigzag = Zigzag()
    for index in 0..<series.count {
      guard let price = series.averages[index] else { continue }
      zigzag.take(price, at: index)
    }
    return zigzag
  }

  /// Returns the cycles of a series, oldest first. A new run of cycles begins where averages are
  /// missing for too long.
  private static func runs(
    of turns: [Zigzag.Turn], in series: DailySeries, last: Int
  ) -> [[Cycle]] {
    // The first turn counts only if the price moved towards it. The beginning of the series is no
    // turn.
    let earlier = turns.first.map { series.averages[..<$0.index].compactMap { $0 } } ?? []
    let isFirstReal =
      turns.first.map { first in
        earlier.contains {
          first.isPeak ? $0 <= first.price - Zigzag.height : $0 >= first.price + Zigzag.height
        }
      } ?? false
    var runs: [[Cycle]] = [[]]
    for (position, trough) in turns.enumerated() where !trough.isPeak {
      guard position + 1 < turns.count, position > 0 || isFirstReal else { continue }
      let peak = turns[position + 1]
      let next = position + 2 < turns.count ? turns[position + 2] : nil
      guard
        Self.longestGap(in: series, from: trough.index, to: next?.index ?? last)
          <= Self.longestGap
      else {
        runs.append([])
        continue
      }
      runs[runs.count - 1].append(
        Cycle(
          troughOn: series.first + trough.index, trough: trough.price,
          peakOn: series.first + peak.index, peak: peak.price,
          endsOn: next.map { series.first + $0.index }, nextTrough: next?.price))
    }
    return runs
  }

  private static func longestGap(in series: DailySeries, from first: Int, to last: Int) -> Int {
    var longest = 0
    var gap = 0
    for index in first...max(first, last) {
      gap = series.averages[index] == nil ? gap + 1 : 0
      longest = max(longest, gap)
    }
    return longest
  }

  /// The noise of the average: the median deviation from a straight line through three days, over
  /// 120 days.
  private static func noise(of series: DailySeries) -> Double {
    let first = max(2, series.count - 120)
    guard first < series.count else { return 0 }
    return median(
      (first..<series.count).compactMap { index -> Double? in
        guard let now = series.averages[index], let before = series.averages[index - 1],
          let earlier = series.averages[index - 2]
        else { return nil }
        return abs(now - 2 * before + earlier)
      })
  }

  /// Determines whether the market cycles: the last cycles are alike, and the current one is not
  /// overdue.
  private mutating func judgeCycle(last: Day, noise: Double) {
    let complete = cycles.filter { $0.endsOn != nil }.suffix(Self.leastCycles)
    guard let days = Self.similarLengths(of: complete, noise: noise), let longest = days.last,
      let began = lastTroughOn
    else { return }
    let day = last.sinceEpoch - began.sinceEpoch
    guard day <= 2 * longest else { return }
    isCycling = true
    cycleDay = day + 1
    typicalDays = days[days.count / 2]
  }

  /// Returns the lengths of three completed cycles in days, the shortest first; `nil` unless the
  /// cycles are similar in length, exceed the noise, and each rise is followed by a similar fall.
  private static func similarLengths(of complete: ArraySlice<Cycle>, noise: Double) -> [Int]? {
    let days = complete.compactMap(\.days).sorted()
    guard days.count == leastCycles, let shortest = days.first, let longest = days.last,
      longest <= 3 * shortest, lengths.contains(shortest), lengths.contains(days[days.count / 2]),
      median(complete.map(\.amplitude)) >= leastHeightInNoise * noise
    else { return nil }
    let fallsBack = complete.allSatisfy { cycle in
      let fall = cycle.peak - (cycle.nextTrough ?? cycle.trough)
      return fall >= 0.5 * cycle.amplitude && fall <= 2 * cycle.amplitude
    }
    return fallsBack ? days : nil
  }
}
