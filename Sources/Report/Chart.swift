import FuelModel
import Views

/// Lines of daily or monthly averages as SVG. A day or month without an average leaves a gap in the
/// line.
struct Chart {
  /// The period that each point of the line is the average of.
  enum Step {
    case day, month
  }

  /// Days of which the last is today, or months.
  let days: [MarketReport.Day]
  let width: Double
  let height: Double
  var step = Step.day

  // Beside the line: the prices to its left and the last average to its right.
  static let (left, right) = (40.0, 54.0)

  private struct Scale {
    var low: Double
    var high: Double
    var top: Double
    var bottom: Double
    var left: Double
    var step: Double

    func y(_ cents: Double) -> Double {
      bottom - (min(max(cents, low), high) - low) / (high - low) * (bottom - top)
    }
    func x(_ index: Int) -> Double { left + Double(index) * step }
  }

  /// A small line without axes.
  ///
  /// - Parameter span: how many cents the height covers, so that adjacent lines have the same
  ///   scale.
  func sparkline(span: Double) -> HTML {
    let known = days.compactMap(\.average)
    guard let low = known.min(), let high = known.max() else { return "" }
    let middle = (low + high) / 2
    let half = max(span / 2, 1)
    let scale = Scale(
      low: middle - half, high: middle + half, top: 6, bottom: height - 6, left: 4,
      step: (width - 10) / Double(max(1, days.count - 1)))
    return """
      <svg class="spark" viewBox="0 0 \(Words.coordinate(width)) \(Words.coordinate(height))" role="img" aria-label="\(summary)">
      \(line(\.average, scale, "line"))\(dot(scale))
      </svg>

      """
  }

  /// A chart with axes, the range from the cheapest to the dearest station, and the seven-day
  /// average.
  func full() -> HTML {
    let known = days.compactMap(\.average) + days.compactMap(\.movingAverage)
    guard let least = known.min(), let most = known.max() else {
      return ""
    }
    // The range is cut 20 c beyond the averages, so that one absurd price does not flatten the
    // line.
    let low = max(days.compactMap(\.lowest).min() ?? least, least - 20)
    let high = min(days.compactMap(\.highest).max() ?? most, most + 20)
    let ticks = Self.ticks(from: low, to: high)
    let scale = Scale(
      low: ticks[0], high: ticks[ticks.count - 1], top: 12, bottom: height - 26, left: Self.left,
      step: (width - Self.left - Self.right) / Double(max(1, days.count - 1)))
    let right = scale.x(days.count - 1)
    let grid = ticks.map { tick -> HTML in
      """
      <line class="grid" x1="40" x2="\(Words.coordinate(right))" y1="\(Words.coordinate(scale.y(tick)))" y2="\(Words.coordinate(scale.y(tick)))"/>
      <text class="axis" x="34" y="\(Words.coordinate(scale.y(tick) + 4))" text-anchor="end">\(Int(tick))</text>

      """
    }
    let dates = marks.map { index, words -> HTML in
      """
      <text class="axis" x="\(Words.coordinate(scale.x(index)))" y="\(Words.coordinate(height - 8))" text-anchor="middle">\(words)</text>

      """
    }
    return """
      <svg class="chart" viewBox="0 0 \(Words.coordinate(width)) \(Words.coordinate(height))" role="img" aria-label="\(summary)" \
      data-from="\(days[0].day)" data-step="\(step == .day ? "day" : "month")" data-values="\(days.map { Words.cents($0.average) }.joined(separator: " "))">
      \(grid)\(dates)\(band(scale))\(line(\.movingAverage, scale, "moving"))\(line(\.average, scale, "line"))\(dot(scale, isNamed: true))
      </svg>

      """
  }

  /// The positions and texts of the dates below the line, of which the last is the last day: at most
  /// five on a narrow chart and nine on a wide one.
  private var marks: [(index: Int, words: String)] {
    let most = width < 500 ? 5 : 9
    let every = (days.count + most - 1) / most
    return days.indices.filter { (days.count - 1 - $0) % every == 0 }.map { ($0, name(days[$0])) }
  }

  private func name(_ day: MarketReport.Day) -> String {
    step == .day ? Words.date(day.day) : "\(Words.month(day.day)) \(day.day.year)"
  }

  /// A description of the line for readers who cannot see it.
  private var summary: String {
    let known = days.filter { $0.average != nil }
    guard let low = known.min(by: { ($0.average ?? 0) < ($1.average ?? 0) }),
      let high = known.max(by: { ($0.average ?? 0) < ($1.average ?? 0) }),
      let last = known.last
    else { return "No averages" }
    return
      (step == .day
      ? "Daily averages of \(days.count - 1) days and today so far"
      : "Averages of \(days.count) months")
      + ": lowest \(Words.cents(low.average)) (\(name(low))), "
      + "highest \(Words.cents(high.average)) (\(name(high))), "
      + "last \(Words.cents(last.average)) (\(name(last)))"
  }

  /// Round numbers that cover a range, at most six of them.
  static func ticks(from low: Double, to high: Double) -> [Double] {
    let step =
      [1.0, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].first { (high - low) / $0 <= 4 } ?? 5_000
    let first = (low / step).rounded(.down) * step
    let last = max((high / step).rounded(.up) * step, first + step)
    return Array(stride(from: first, through: last, by: step))
  }

  /// Ranges of consecutive days with a value.
  private func runs(_ value: (MarketReport.Day) -> Bool) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for (index, day) in days.enumerated() where value(day) {
      if let last = runs.last, last.upperBound == index {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
    return runs
  }

  private func line(
    _ value: KeyPath<MarketReport.Day, Double?>, _ scale: Scale, _ style: String
  ) -> [HTML] {
    runs { $0[keyPath: value] != nil }.map { run in
      let points = run.compactMap { index in
        days[index][keyPath: value].map {
          "\(Words.coordinate(scale.x(index))),\(Words.coordinate(scale.y($0)))"
        }
      }
      // A day between two gaps is drawn as a point, because a line with one point is invisible.
      guard points.count > 1 else {
        let (x, y) = (scale.x(run.lowerBound), scale.y(days[run.lowerBound][keyPath: value] ?? 0))
        return
          "<circle class=\"point\" cx=\"\(Words.coordinate(x))\" cy=\"\(Words.coordinate(y))\" r=\"2\"/>\n"
      }
      return "<polyline class=\"\(style)\" points=\"\(points.joined(separator: " "))\"/>\n"
    }
  }

  private func band(_ scale: Scale) -> [HTML] {
    runs { $0.lowest != nil && $0.highest != nil }.filter { $0.count > 1 }.map { run in
      let above = run.map {
        "\(Words.coordinate(scale.x($0))),\(Words.coordinate(scale.y(days[$0].highest ?? 0)))"
      }
      let below = run.reversed().map {
        "\(Words.coordinate(scale.x($0))),\(Words.coordinate(scale.y(days[$0].lowest ?? 0)))"
      }
      return "<polygon class=\"band\" points=\"\((above + below).joined(separator: " "))\"/>\n"
    }
  }

  /// A dot at the last average, which stands beside it if it is named.
  private func dot(_ scale: Scale, isNamed: Bool = false) -> HTML {
    guard let last = days.lastIndex(where: { $0.average != nil }), let value = days[last].average
    else { return "" }
    let name: HTML = """
      <text class="last" x="\(Words.coordinate(scale.x(last) + 7))" y="\(Words.coordinate(scale.y(value) + 4))">\(Words.cents(value))</text>

      """
    return """
      <circle class="dot" cx="\(Words.coordinate(scale.x(last)))" cy="\(Words.coordinate(scale.y(value)))" r="3.5"/>
      \(isNamed ? name : "")
      """
  }
}
