import FuelModel
import Glibc

/// How likely moves of the price are from the day of a verdict on, from 0 to 1.
package struct Chances: Sendable, Equatable {
  /// A price lower by 1 c/L or more within three days.
  package var cheaper: Double
  /// A price higher by 3 c/L or more within three days.
  package var jump: Double
  /// A price lower by more than 0.2 c/L within five days, the chance that belongs to the verdict.
  package var lower: Double
}

/// A move of the price whose chance is stated.
enum Move: Int, CaseIterable {
  case cheaper, jump, lower

  var days: Int { self == .lower ? 5 : 3 }

  /// Whether it came, by the prices of the days after.
  func came(_ price: Double, after: [Double]) -> Bool {
    switch self {
    case .cheaper: after.contains { $0 <= price - 1 }
    case .jump: after.contains { $0 >= price + 3 }
    case .lower: after.contains { $0 < price - 0.2 }
    }
  }
}

/// The chance of a move: a logistic regression on the numbers of a day. Numbers and coefficients
/// have six entries: the constant, the score, the changes since the highest and the lowest price of
/// five days, the usual step, and the weekday. Two more are empty.
struct ChanceModel {
  typealias Numbers = SIMD8<Double>

  var coefficients: Numbers

  // Fitted to recorded markets of Queensland, New South Wales and Perth, in the order of `Move`; and
  // the same where the averages come a day late.
  private static let onTime: [Numbers] = [
    [-2.56, -1.51, -2.48, 3.07, 0.98, 6.06, 0, 0], [-2.10, 1.85, -0.38, -0.65, 1.18, 8.70, 0, 0],
    [-0.48, -1.12, -1.82, 1.06, 0.63, 5.75, 0, 0],
  ]
  private static let late: [Numbers] = [
    [-2.51, -1.42, -2.27, 3.32, 0.94, 6.07, 0, 0], [-1.72, 1.63, -0.08, -1.19, 1.24, 8.73, 0, 0],
    [-0.54, -1.09, -1.58, 1.52, 0.59, 5.44, 0, 0],
  ]
  // How strongly a coefficient is drawn to its value above. That of the weekday is drawn less,
  // because weekdays differ from market to market.
  private static let ridge: Numbers = [5, 5, 5, 5, 5, 1, 1, 1]
  private static let jumpRidge: Numbers = [2, 2, 2, 2, 2, 0.3, 1, 1]
  private static let (steps, leastExamples) = (6, 5)
  // A coefficient moves by at most so much in one step, so that those of a market in which nothing
  // ever happened stay bounded.
  private static let longestStep = 1.0

  /// The model of a market, by a fixed number of Newton steps from that of the recorded markets.
  ///
  /// - Parameter examples: the numbers of past days, and whether the move came.
  init(_ move: Move, isLate: Bool, examples: [(numbers: Numbers, came: Bool)]) {
    let original = (isLate ? Self.late : Self.onTime)[move.rawValue]
    let ridge = move == .jump ? Self.jumpRidge : Self.ridge
    coefficients = original
    guard examples.count >= Self.leastExamples else { return }
    for _ in 0..<Self.steps {
      var slope = ridge * (original - coefficients)
      var curvature = slope.indices.map { index in
        var row = Numbers.zero
        row[index] = ridge[index]
        return row
      }
      for (numbers, came) in examples {
        let chance = chance(numbers)
        let weighted = max(chance * (1 - chance), 0.001) * numbers
        slope += ((came ? 1 : 0) - chance) * numbers
        for index in curvature.indices { curvature[index] += weighted[index] * numbers }
      }
      let step = Self.solved(curvature, slope)
      let longest = max(step.max(), -step.min())
      coefficients += step * min(1, Self.longestStep / max(longest, .leastNormalMagnitude))
    }
  }

  /// From 0 to 1.
  func chance(_ numbers: Numbers) -> Double {
    1 / (1 + exp(-min(max((coefficients * numbers).sum(), -12), 12)))
  }

  /// Solves a system whose matrix is symmetrical and positive, so that no pivot is looked for.
  private static func solved(_ matrix: [Numbers], _ right: Numbers) -> Numbers {
    var (rows, result) = (matrix, right)
    for column in rows.indices {
      for row in rows.indices where row != column {
        let factor = rows[row][column] / rows[column][column]
        rows[row] -= factor * rows[column]
        result[row] -= factor * result[column]
      }
    }
    for index in rows.indices { result[index] /= rows[index][index] }
    return result
  }
}

/// The numbers of every day of a market from which chances are computed, and what came after.
struct ChanceHistory {
  private let walk: MarketWalk
  /// For each move and day.
  private let came: [[Bool?]]
  private var numbers: [[ChanceModel.Numbers?]] = []

  private static let (weeks, allDays) = (8, 60)
  private static let learntDays = 400

  init(_ walk: MarketWalk) {
    self.walk = walk
    let prices = walk.series.averages
    came = Move.allCases.map { move in
      prices.indices.map { day -> Bool? in
        guard let price = prices[day], day + move.days < prices.count else { return nil }
        let after = walk.filled[day + 1...day + move.days].compactMap { $0 }
        return after.count == move.days ? move.came(price, after: after) : nil
      }
    }
    numbers = Move.allCases.map { move in
      prices.indices.map { day in
        walk.days[day].map { numbers($0, day, weekday: weekdayExcess(of: move, day)) }
      }
    }
  }

  private func numbers(_ today: MarketDay, _ day: Int, weekday: Double) -> ChanceModel.Numbers {
    /// The change per day since the highest, or lowest, price of five days; zero if that is today's.
    func change(_ day: Int, since isBeyond: (Double, Double) -> Bool) -> Double {
      guard let then = walk.series.extreme(day - 4, day, by: isBeyond) else { return 0 }
      return (today.price - then.price) / Double(max(1, day - then.day))
    }
    let (down, up) = (change(day, since: >), change(day, since: <))
    return [
      1, today.score, down / (0.5 + abs(down)), MarketDay.squash(up), log(today.usualStep),
      weekday, 0, 0,
    ]
  }

  /// How much more often a move came on the weekday of the verdict than on all days.
  private func weekdayExcess(of move: Move, _ day: Int) -> Double {
    let came = came[move.rawValue]
    let about = day + walk.lag
    func count(_ days: some Sequence<Int>) -> (hits: Double, of: Double) {
      days.reduce(into: (0, 0)) { sum, day in
        guard let outcome = came[day] else { return }
        sum.of += 1
        if outcome { sum.hits += 1 }
      }
    }
    // Outcomes of later days are not known yet.
    let last = day - move.days
    let first = max(0, about + 1 - Self.allDays)
    let same = count((1...Self.weeks).lazy.map { about - 7 * $0 }.filter { $0 >= 0 && $0 <= last })
    let all = count(first..<max(first, last + 1))
    guard same.of > 0, all.of > 0 else { return 0 }
    return (same.hits - same.of * all.hits / all.of) / (same.of + 2)
  }

  /// The models of all moves, fitted to those days of the last 400 whose outcome was known on a day.
  func models(on day: Int) -> [ChanceModel] {
    // Days after the last average are not filled yet, so they give no examples.
    let last = day < 0 ? nil : walk.series.averages[...day].lastIndex { $0 != nil }
    let first = max(0, day + 1 - Self.learntDays)
    return Move.allCases.map { move in
      let known = first..<max(first, (last ?? -1) + 1 - move.days - walk.lag)
      let examples = known.compactMap { day -> (ChanceModel.Numbers, Bool)? in
        guard let numbers = numbers[move.rawValue][day],
          let came = came[move.rawValue][day + walk.lag]
        else { return nil }
        return (numbers, came)
      }
      return ChanceModel(move, isLate: walk.lag > 0, examples: examples)
    }
  }

  /// - Parameter models: one for each move.
  /// - Returns: `nil` if too few days came before.
  func chances(on day: Int, by models: [ChanceModel]) -> Chances? {
    let values = Move.allCases.compactMap { move in
      numbers[move.rawValue][day].map { rounded(models[move.rawValue].chance($0), 3) }
    }
    guard values.count == Move.allCases.count else { return nil }
    return Chances(cheaper: values[0], jump: values[1], lower: values[2])
  }
}
