package import FuelModel

/// One price cycle: from a trough over a peak to the next trough. Cents per litre.
package struct Cycle: Sendable, Equatable {
  package var troughOn: Day
  package var trough: Double
  package var peakOn: Day
  package var peak: Double
  /// When the next trough came, and how deep it was; `nil`: this cycle is the present one.
  package var endsOn: Day?
  package var nextTrough: Double?

  package var days: Int? { endsOn.map { $0.sinceEpoch - troughOn.sinceEpoch } }
  package var amplitude: Double { peak - trough }
}

/// Where a market stands in its cycle, by a zigzag of six cents over its daily averages.
package struct MarketState: Sendable, Equatable {
  /// The last day with an average, that average, and how it moved since the day before; c/L.
  package var basedOn: Day?
  package var average: Double?
  package var change: Double?
  /// `nil`: it has not moved by six cents yet.
  package var isRising: Bool?
  /// Days since the present leg began.
  package var daysInPhase: Int?
  package var lastTrough: Double?
  package var lastTroughOn: Day?
  package var lastPeak: Double?
  package var lastPeakOn: Day?
  /// Completed cycles with their peaks, oldest first, and the present one last once it has a peak.
  package var cycles: [Cycle] = []
  package var isCycling = false
  /// Days since the last trough, from 1; `nil` where there is no cycle.
  package var cycleDay: Int?
  /// The middle of the last cycles' lengths; `nil` where there is no cycle.
  package var typicalDays: Int?

  // A tooth shorter than five days is noise, one longer than ten weeks is another market by its end.
  private static let lengths = 5...70
  // How many cycles must look alike to be called so.
  private static let leastCycles = 3

  package init() {}

  /// - Parameter series: at most 400 days up to the day in question.
  package init(_ series: DailySeries) {
    var zigzag = Zigzag()
    for index in 0..<series.count {
      guard let price = series.averages[index] else { continue }
      zigzag.take(price, at: index, step: series.step(index))
    }
    self.init(series, zigzag)
  }

  init(_ series: DailySeries, _ zigzag: Zigzag) {
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
    for (position, trough) in turns.enumerated() where !trough.isPeak {
      guard position + 1 < turns.count else { continue }
      let peak = turns[position + 1]
      let next = position + 2 < turns.count ? turns[position + 2] : nil
      cycles.append(
        Cycle(
          troughOn: series.first + trough.index, trough: trough.price,
          peakOn: series.first + peak.index, peak: peak.price,
          endsOn: next.map { series.first + $0.index }, nextTrough: next?.price))
    }
    judgeCycle(last: series.first + last)
  }

  /// A cycle: the last three are alike in length, what rises falls again, and the present one is not
  /// overdue.
  private mutating func judgeCycle(last: Day) {
    let complete = cycles.filter { $0.endsOn != nil }.suffix(Self.leastCycles)
    let days = complete.compactMap(\.days)
    guard complete.count == Self.leastCycles, let shortest = days.min(), let longest = days.max(),
      let began = lastTroughOn
    else { return }
    let typical = days.sorted()[days.count / 2]
    let areAlike = longest <= 3 * shortest && Self.lengths.contains(typical)
    let fallsBack = complete.allSatisfy { cycle in
      let fall = cycle.peak - (cycle.nextTrough ?? cycle.trough)
      return fall >= 0.5 * cycle.amplitude && fall <= 2 * cycle.amplitude
    }
    let day = last.sinceEpoch - began.sinceEpoch
    guard areAlike, fallsBack, day <= 2 * longest else { return }
    isCycling = true
    cycleDay = day + 1
    typicalDays = typical
  }
}
