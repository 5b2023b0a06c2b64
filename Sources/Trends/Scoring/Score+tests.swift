/// Window tests and tank tests.
///
/// **Window test**: from every day on a driver must buy once within the next W days. `wait`
/// postpones the decision to the next day, `fill_up` means to buy, and anything else means to buy
/// on a random day of the rest. The naive driver buys on a random day of the window, and the oracle
/// on its cheapest. **Tank test T:W**: a tank lasts T days and may be filled from T − W days after
/// the last fill.
extension Score.Test {
  /// The window test; `nil` without a window. A window with a missing price is left out.
  ///
  /// - Parameter days: the days on which windows begin.
  init?(windows prices: [Double?], _ verdicts: [Advice?], _ days: Range<Int>, within width: Int) {
    var savings: [Double] = []
    var possible = 0.0
    for start in days where start + width < prices.count {
      let window = prices[start...start + width].compactMap { $0 }
      guard window.count == width + 1, let lowest = window.min() else { continue }
      savings.append(Self.saving(window) { verdicts[start + $0] })
      possible += mean(window[...]) - lowest
    }
    guard !savings.isEmpty else { return nil }
    self.init(
      name: "window \(width)", n: savings.count, perfect: possible / Double(savings.count),
      saving: mean(savings[...]), interval: Self.interval(savings))
  }

  /// Returns what a driver saves in one window in comparison with a random day of that window.
  static func saving(_ window: [Double], _ advice: (Int) -> Advice?) -> Double {
    let last = window.count - 1
    let day = (0..<last).first { advice($0) != .wait } ?? last
    return mean(window[...])
      - (day < last && advice(day) == .fillUp ? window[day] : mean(window[day...]))
  }

  // Windows overlap and cycles last for weeks, so neighbouring windows are drawn together in
  // blocks.
  private static let block = 14
  private static let draws = 400

  /// The 90 % interval of the mean, from repeated random draws of blocks of days. The draws are the
  /// same every time.
  static func interval(_ savings: [Double]) -> ClosedRange<Double> {
    guard savings.count > block else {
      let saving = mean(savings[...])
      return saving...saving
    }
    // The sums of all blocks. A block that reaches the end continues at the beginning.
    let sums = savings.indices.map { start in
      (0..<block).reduce(0) { $0 + savings[(start + $1) % savings.count] }
    }
    let blocks = (savings.count + block - 1) / block
    var state: UInt64 = 1
    let means = (0..<draws).map { _ -> Double in
      var sum = 0.0
      for _ in 0..<blocks {
        // Knuth's linear congruential generator, of which only the high bits are used.
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        sum += sums[Int((state >> 33) % UInt64(sums.count))]
      }
      return sum / Double(blocks * block)
    }.sorted()
    return means[draws / 20]...means[draws - 1 - draws / 20]
  }

  /// The tank test; `nil` without a tank. The litres of a fill are proportional to the days since
  /// the fill before. The days after the last fill are charged at the mean price.
  init?(
    tanks prices: [Double?], _ verdicts: [Advice?], _ days: Range<Int>, tank: Int, width: Int
  ) {
    var savings: [(saving: Double, possible: Double)] = []
    // Nobody can buy on a day without a price, so each span without gaps is scored by itself.
    var begin = days.lowerBound
    while begin < days.upperBound {
      let span = prices[begin..<days.upperBound].prefix { $0 != nil }.compactMap { $0 }
      if span.count > 2 * tank {
        savings += Self.tanks(
          span, Array(verdicts[begin..<begin + span.count]), tank: tank, width: width)
      }
      begin += span.count + 1
    }
    guard !savings.isEmpty else { return nil }
    let count = Double(savings.count)
    self.init(
      name: "tank \(tank):\(width)", n: savings.count,
      perfect: savings.reduce(0) { $0 + $1.possible } / count,
      saving: savings.reduce(0) { $0 + $1.saving } / count)
  }

  /// Runs the test over days that all have a price, once for each day of the first tank.
  private static func tanks(
    _ span: [Double], _ verdicts: [Advice?], tank: Int, width: Int
  ) -> [(saving: Double, possible: Double)] {
    let average = mean(span[...])
    let cheapest = lowestCosts(span, mean: average, tank: tank, width: width)
    return (0..<tank).map { start in
      let total = Double(span.count - 1 - start)
      var naive = 0.0
      var day = start
      while day + tank < span.count {
        day += tank
        naive += Double(tank) * span[day]
      }
      naive += Double(span.count - 1 - day) * average
      var paid = 0.0
      day = start
      while true {
        var next = day + tank - width
        while next < day + tank, next < span.count, verdicts[next] != .fillUp { next += 1 }
        guard next < span.count else { break }
        paid += Double(next - day) * span[next]
        day = next
      }
      paid += Double(span.count - 1 - day) * average
      return ((naive - paid) / total, (naive - cheapest[start]) / total)
    }
  }

  /// Returns the lowest cost of the rest of the days after a fill on each of them.
  private static func lowestCosts(
    _ span: [Double], mean: Double, tank: Int, width: Int
  ) -> [Double] {
    var costs = Array(repeating: 0.0, count: span.count)
    for day in span.indices.reversed() {
      costs[day] =
        (day + tank - width...day + tank).map { next in
          next < span.count
            ? Double(next - day) * span[next] + costs[next]
            : Double(span.count - 1 - day) * mean
        }.min() ?? 0
    }
    return costs
  }
}

private func mean(_ values: ArraySlice<Double>) -> Double {
  values.reduce(0, +) / Double(values.count)
}
