import Foundation

/// The ratios of all runs as SVG: a panel for each ratio that has a goal, and in it a dot for each run that
/// measured it. It is readable on a light and on a dark page.
struct Picture {
  private struct Point {
    /// The number of the run among all runs.
    var position: Int
    var run: Run
    var part: Run.Part
    var ratio: Double
  }

  private struct Series {
    var what: String
    /// The goal of the newest run.
    var goal: Run.Goal
    var points: [Point] = []

    /// The points in pieces of one machine each. Only points of a piece are joined by a line.
    var pieces: [[Point]] {
      points.reduce(into: []) { pieces, point in
        if let last = pieces.last?.last, last.run.machine == point.run.machine {
          pieces[pieces.count - 1].append(point)
        } else {
          pieces.append([point])
        }
      }
    }
  }

  private static let width = 480.0
  private static let height = 140.0
  private let series: [Series]
  private let count: Int

  init(of runs: [Run]) {
    var series: [Series] = []
    for (position, run) in runs.enumerated() {
      for part in run.parts {
        for figure in part.figures {
          guard let ratio = figure.ratio, let goal = figure.goal else { continue }
          let known = series.firstIndex { $0.what == figure.what }
          if known == nil { series.append(Series(what: figure.what, goal: goal)) }
          let index = known ?? series.count - 1
          series[index].goal = goal
          series[index].points.append(Point(position: position, run: run, part: part, ratio: ratio))
        }
      }
    }
    self.series = series
    count = runs.count
  }

  var svg: String {
    let lines = max(1, (series.count + 1) / 2)
    let height = 20 + Double(lines) * Self.height
    let panels = series.enumerated().map { index, series in
      panel(
        series, left: Double(index % 2) * Self.width, top: 10 + Double(index / 2) * Self.height)
    }
    let nothing = "<text x=\"20\" y=\"40\">No run has been recorded yet.</text>\n"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(at(2 * Self.width)) \(at(height))" role="img" aria-label="Ratios of the benchmark, run by run">
      <style>
        .ground { fill: #ffffff } .line { stroke: #0969da } .dot { fill: #0969da } .goal { stroke: #1a7f37 }
        .hold { stroke: #cf222e } .missed { fill: #cf222e } .zero { stroke: #8c959f } text { fill: #24292f }
        @media (prefers-color-scheme: dark) {
          .ground { fill: #0d1117 } .line { stroke: #58a6ff } .dot { fill: #58a6ff } .goal { stroke: #3fb950 }
          .hold { stroke: #f85149 } .missed { fill: #f85149 } .zero { stroke: #6e7681 } text { fill: #e6edf3 }
        }
        text { font: 11px system-ui, sans-serif } .line { fill: none; stroke-width: 1.5 }
        .hold { stroke-dasharray: 4 3 }
      </style>
      <rect class="ground" width="100%" height="100%"/>
      \(panels.isEmpty ? nothing : panels.joined(separator: ""))</svg>

      """
  }

  /// One panel. Its height begins at 0 and contains the goal.
  private func panel(_ series: Series, left: Double, top: Double) -> String {
    let (first, last) = (left + 24, left + Self.width - 110)
    let (high, low) = (top + 34, top + Self.height - 26)
    let ratios = series.points.map(\.ratio)
    let most = max(ratios.max() ?? 0, series.goal.wanted, series.goal.hold) * 1.1
    func y(_ ratio: Double) -> Double { low - ratio / max(most, 1e-9) * (low - high) }
    func x(_ point: Point) -> Double {
      first + Double(point.position) / Double(max(1, count - 1)) * (last - first)
    }
    var text = label(series.what, first - 8, top + 16)
    text += rule("zero", first, last, low)
    let goal = series.goal
    let sign = goal.isHighBetter ? "≥" : "≤"
    let (wanted, hold) = (y(goal.wanted), y(goal.hold))
    // The labels keep a distance of a line, where the two limits are close.
    let gap = max(0, 12 - abs(wanted - hold)) / 2 * (wanted < hold ? 1 : -1)
    text += rule("goal", first, last, wanted) + rule("hold", first, last, hold)
    text += label("goal \(sign) \(short(goal.wanted))", last + 12, wanted - gap + 4)
    text += label("hold \(sign) \(short(goal.hold))", last + 12, hold + gap + 4)
    for piece in series.pieces {
      let path = piece.map { "\(at(x($0))),\(at(y($0.ratio)))" }.joined(separator: " ")
      text += "<polyline class=\"line\" points=\"\(path)\"/>\n"
    }
    for point in series.points {
      let isMissed = goal.isMissed(by: point.ratio)
      text += """
        <circle class="\(isMissed ? "missed" : "dot")" cx="\(at(x(point)))" cy="\(at(y(point.ratio)))" r="3.5">\
        <title>\(escaped(words(point)))</title></circle>

        """
    }
    if let oldest = series.points.first, let newest = series.points.last {
      text += label(short(newest.ratio), x(newest) - 8, y(newest.ratio) - 8)
      text += label(String(oldest.run.date.prefix(10)), x(oldest) - 8, low + 16)
      if x(newest) - x(oldest) > 80 {
        text += label(String(newest.run.date.prefix(10)), x(newest) - 30, low + 16)
      }
    }
    return text
  }

  /// What a pointer above a dot shows.
  private func words(_ point: Point) -> String {
    "\(short(point.ratio)), \(point.run.commit), \(point.run.date), \(point.run.machine.processor), "
      + "load \(point.part.loadBefore) before and \(point.part.loadAfter) after"
  }

  private func rule(_ kind: String, _ from: Double, _ to: Double, _ y: Double) -> String {
    "<line class=\"\(kind)\" x1=\"\(at(from))\" x2=\"\(at(to))\" y1=\"\(at(y))\" y2=\"\(at(y))\"/>\n"
  }

  private func label(_ text: String, _ x: Double, _ y: Double) -> String {
    "<text x=\"\(at(x))\" y=\"\(at(y))\">\(escaped(text))</text>\n"
  }

  private func at(_ coordinate: Double) -> String { String(format: "%.1f", coordinate) }

  private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
