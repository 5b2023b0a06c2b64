import FuelModel

/// What a market was doing day by day, as a band of shapes below a `Chart` of the same days.
///
/// Consecutive days with one state are one shape. The shape resembles the line of the chart, so that
/// a reader recognises the state without its colour.
struct StateBand {
  /// All days of the chart.
  let days: [Day]
  /// The state of each day, as a value of `fill_up.market_state`. A day without one is left empty.
  let states: [Day: String]

  /// Consecutive days with one state, as indices of `days`.
  private typealias Stretch = (state: String, days: ClosedRange<Int>)

  private var stretches: [Stretch] {
    var stretches: [Stretch] = []
    for (index, day) in days.enumerated() {
      guard let state = states[day] else { continue }
      if let last = stretches.last, last.state == state, last.days.upperBound == index - 1 {
        stretches[stretches.count - 1].days = last.days.lowerBound...index
      } else {
        stretches.append((state, index...index))
      }
    }
    return stretches
  }

  /// The band, or nothing if no day has a state.
  ///
  /// - Parameter width: the width of the chart above, so that each day is below its point of the line.
  func drawing(width: Double) -> HTML {
    let found = stretches
    guard !found.isEmpty else { return "" }
    let step = (width - Chart.left - Chart.right) / Double(max(1, days.count - 1))
    let shapes = found.map { stretch -> HTML in
      Self.shape(
        stretch.state, from: Chart.left + (Double(stretch.days.lowerBound) - 0.5) * step + 0.5,
        to: Chart.left + (Double(stretch.days.upperBound) + 0.5) * step - 0.5,
        title: caption(stretch))
    }
    return """
      <svg class="states" viewBox="0 0 \(Words.coordinate(width)) 14" role="img" aria-label="What the market was doing: \(found.map(caption).joined(separator: "; "))">
      \(shapes)</svg>

      """
  }

  /// The meaning of each shape that occurs, or nothing if no day has a state.
  func legend() -> HTML {
    let found = Set(stretches.map(\.state))
    guard !found.isEmpty else { return "" }
    let entries = ["falling", "near_low", "rising", "near_high", "shock", "quiet"]
      .filter(found.contains)
      .map { state -> HTML in
        """
        <li><svg class="states" viewBox="0 0 26 14" aria-hidden="true">\(Self.shape(state, from: 0, to: 26, title: nil))</svg>\(Self.name(state))</li>

        """
      }
    return "<ul class=\"legend\">\n\(entries)</ul>\n"
  }

  private static func name(_ state: String) -> String {
    (Words.state(state) ?? "Quiet").lowercased()
  }

  private func caption(_ stretch: Stretch) -> String {
    let (first, last) = (days[stretch.days.lowerBound], days[stretch.days.upperBound])
    let when =
      first == last ? "on \(Words.date(first))" : "\(Words.date(first)) to \(Words.date(last))"
    return "\(Self.name(stretch.state)) \(when)"
  }

  private static func shape(
    _ state: String, from begin: Double, to end: Double, title: String?
  ) -> HTML {
    let (left, right) = (Words.coordinate(begin), Words.coordinate(end))
    let points =
      switch state {
      case "falling": "\(left),1 \(right),13 \(left),13"
      case "near_low": "\(left),8 \(right),8 \(right),13 \(left),13"
      case "rising": "\(left),13 \(right),1 \(right),13"
      case "near_high": "\(left),1 \(right),1 \(right),6 \(left),6"
      case "shock": "\(left),1 \(right),1 \(right),13 \(left),13"
      default: "\(left),6 \(right),6 \(right),8 \(left),8"
      }
    let tip: HTML = title.map { "<title>\($0)</title>" as HTML } ?? ""
    return "<polygon class=\"\(state)\" points=\"\(points)\">\(tip)</polygon>\n"
  }
}
