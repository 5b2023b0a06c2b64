#if canImport(Glibc)
  import Glibc
#endif

/// The chance of a price move within three days: a logistic regression on eight numbers of today.
///
/// It is fitted once a week to the market's own past year, and drawn towards coefficients that were
/// fitted to the recorded markets of Queensland, New South Wales and Perth. A market without a
/// history has those coefficients.
package struct ChanceModel: Sendable, Equatable {
  /// One coefficient for each number of `MarketWalk.Moment.cheaperNumbers` or `jumpNumbers`, the
  /// constant first.
  package var coefficients: [Double]

  package init(_ coefficients: [Double]) { self.coefficients = coefficients }

  /// The chance of a fall by 1 c/L or more within three days.
  static let cheaper = ChanceModel([-2.88, -3.67, -4.463, 2.697, 0.487, 0.652, 4.358, -3.79])
  /// The chance of a rise by 3 c/L or more within three days.
  static let jump = ChanceModel([-1.419, 2.427, 1.971, 1.603, 1.232, -1.561, 8.476, -1.387])
  /// The same chances counted from the day after, for markets whose averages come a day late.
  static let cheaperLate = ChanceModel([-2.85, -2.985, -4.448, 3.029, 0.49, 0.774, 4.29, -3.429])
  static let jumpLate = ChanceModel([-0.843, 1.863, 2.945, 0.554, 1.361, -1.614, 7.471, -1.515])

  /// One day of the past: the numbers that were known, and whether the move happened.
  struct Example {
    var numbers: [Double]
    var happened: Bool
  }

  // How strongly each coefficient is drawn to its original value. The coefficient of the weekday is
  // drawn less, because weekdays differ from market to market. The coefficients of the jump are
  // drawn less than those of the fall: with equal numbers, high chances of a jump were stated too
  // low in markets from which the original values had not learnt.
  static let cheaperRidge = [5.0, 5, 5, 5, 5, 5, 1, 5]
  static let jumpRidge = [2.0, 2, 2, 2, 2, 2, 0.3, 2]
  private static let steps = 6
  // The most by which a coefficient moves in one step, so that the coefficients of a market in
  // which nothing ever happened remain bounded.
  private static let longestStep = 1.0
  private static let leastExamples = 5

  /// Returns a chance from 0 to 1.
  package func chance(_ numbers: [Double]) -> Double {
    var sum = 0.0
    for (coefficient, number) in zip(coefficients, numbers) { sum += coefficient * number }
    return 1 / (1 + exp(-min(max(sum, -12), 12)))
  }

  /// Returns this model fitted to a year of a market, by a fixed number of Newton steps.
  ///
  /// - Parameter ridge: how strongly each coefficient is drawn to its original value.
  func fitted(to examples: some Collection<Example>, ridge: [Double]) -> ChanceModel {
    guard examples.count >= Self.leastExamples else { return self }
    let size = coefficients.count
    var fit = self
    for _ in 0..<Self.steps {
      var curvature = Array(repeating: 0.0, count: size * size)
      var slope = Array(repeating: 0.0, count: size)
      for example in examples {
        let chance = fit.chance(example.numbers)
        let weight = max(chance * (1 - chance), 0.001)
        let missed = (example.happened ? 1 : 0) - chance
        for row in 0..<size {
          slope[row] += example.numbers[row] * missed
          let weighted = weight * example.numbers[row]
          for column in 0...row {
            curvature[row * size + column] += weighted * example.numbers[column]
          }
        }
      }
      for row in 0..<size {
        for column in row + 1..<size {
          curvature[row * size + column] = curvature[column * size + row]
        }
        curvature[row * size + row] += ridge[row]
        slope[row] -= ridge[row] * (fit.coefficients[row] - coefficients[row])
      }
      var step = Self.solved(curvature, slope)
      let longest = step.map { abs($0) }.max() ?? 0
      if longest > Self.longestStep { step = step.map { $0 * (Self.longestStep / longest) } }
      for index in 0..<size { fit.coefficients[index] += step[index] }
    }
    return fit
  }

  /// Solves a square system by Gaussian elimination with the largest pivot.
  private static func solved(_ matrix: [Double], _ right: [Double]) -> [Double] {
    let size = right.count
    var rows = (0..<size).map { Array(matrix[$0 * size..<($0 + 1) * size]) + [right[$0]] }
    for column in 0..<size {
      var pivot = column
      for row in column + 1..<size where abs(rows[row][column]) > abs(rows[pivot][column]) {
        pivot = row
      }
      rows.swapAt(column, pivot)
      for row in column + 1..<size {
        let factor = rows[row][column] / rows[column][column]
        if factor == 0 { continue }
        for index in column...size { rows[row][index] -= factor * rows[column][index] }
      }
    }
    var result = Array(repeating: 0.0, count: size)
    for row in (0..<size).reversed() {
      var sum = rows[row][size]
      for index in row + 1..<size { sum -= rows[row][index] * result[index] }
      result[row] = sum / rows[row][row]
    }
    return result
  }
}
