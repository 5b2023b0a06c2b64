/// What each rule advised on each day of a series, and how much following it saved. This record
/// decides which rule gives the verdict. The entry of a day depends only on that day and the days
/// before it.
struct RuleRecords {
  /// A rule's advice for each day. `nil` means no advice, which is worth as much as a random day.
  typealias Calls = [Advice?]

  // The driver may wait for five more days, as in the headline of `Score`.
  static let window = 5
  // Older windows describe a different market.
  private static let oldestStart = 120

  /// For each rule, the sum of the savings of all windows before each window. It is in millionths
  /// of a cent as integers, so that a difference of sums does not depend on what came before.
  private let savedBefore: [[Int64]]
  /// The day on which each window begins, and the day from which it counts. Both are in ascending
  /// order.
  private let starts: [Int]
  private let countedAt: [Int]

  /// - Parameter advice: the advice of each rule on each day.
  init(_ advice: [Calls], series: DailySeries) {
    let filled = series.filled()
    var countedAt: [Int] = []
    var starts: [Int] = []
    var savedBefore = Array(repeating: [Int64(0)], count: advice.count)
    // The first day with an average at or after each day.
    var nextObserved = Array(repeating: Int?.none, count: series.count)
    var next: Int?
    for index in stride(from: series.count - 1, through: 0, by: -1) {
      if series.averages[index] != nil { next = index }
      nextObserved[index] = next
    }
    var prices = Array(repeating: 0.0, count: Self.window + 1)
    for start in 0..<max(0, series.count - Self.window) {
      guard let counted = nextObserved[start + Self.window] else { break }
      var isWhole = true
      for offset in 0...Self.window {
        guard let price = filled[start + offset] else {
          isWhole = false
          break
        }
        prices[offset] = price
      }
      guard isWhole else { continue }
      countedAt.append(counted)
      starts.append(start)
      for rule in advice.indices {
        let saving = Self.saving(prices) { advice[rule][start + $0] }
        savedBefore[rule].append(
          savedBefore[rule][savedBefore[rule].count - 1] + Int64((saving * 1_000_000).rounded()))
      }
    }
    self.savedBefore = savedBefore
    self.starts = starts
    self.countedAt = countedAt
  }

  /// Fills a day without advice with the last advice, for at most three days.
  static func carried(_ advice: Calls) -> Calls {
    var carried = advice
    var last: Int?
    for index in advice.indices {
      if advice[index] != nil {
        last = index
      } else if let last, index - last <= 3 {
        carried[index] = advice[last]
      }
    }
    return carried
  }

  /// Returns what a driver saves in one window in comparison with a random day of that window.
  static func saving(_ prices: [Double], _ call: (Int) -> Advice?) -> Double {
    func mean(from day: Int) -> Double {
      var sum = 0.0
      for other in day..<prices.count { sum += prices[other] }
      return sum / Double(prices.count - day)
    }
    for day in 0..<prices.count - 1 {
      switch call(day) {
      case .wait: continue
      case .fillUp: return mean(from: 0) - prices[day]
      case .noDifference, nil: return mean(from: 0) - mean(from: day)
      }
    }
    return mean(from: 0) - prices[prices.count - 1]
  }

  /// Returns the mean saving of a rule over its latest windows as it was known on a day, or `nil`
  /// if there are too few windows.
  func record(of rule: Int, on day: Int, windows: Int, least: Int) -> Double? {
    let counted = Self.first(in: countedAt) { $0 > day }
    let oldest = Self.first(in: starts) { $0 > day - Self.window - Self.oldestStart }
    let begin = max(oldest, counted - windows)
    guard counted - begin >= max(least, 1) else { return nil }
    let saved = savedBefore[rule][counted] - savedBefore[rule][begin]
    return Double(saved) / Double(counted - begin) / 1_000_000
  }

  /// Returns the first index from which a condition holds, in an ordered array.
  private static func first(in values: [Int], where holds: (Int) -> Bool) -> Int {
    var low = 0
    var high = values.count
    while low < high {
      let middle = (low + high) / 2
      if holds(values[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
