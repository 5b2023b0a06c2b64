import Foundation
import FuelModel
import Store

let showCommand = Command(
  name: "show",
  summary: "Show averages, 30 days, tomorrow's prices and verdicts in the terminal.",
  operands: "",
  examples: [("bowser show", "the market on one screen, from the published views")],
  options: []
) { invocation in
  guard invocation.operands.isEmpty else { throw UsageError.message("show takes no operands") }
  let store = try invocation.readerStore(try invocation.settings())
  let now = try invocation.clock().now()
  let screen = Screen(
    store: store, now: now, style: Style(invocation.environment),
    regions: try store.reportRegions())
  write(try screen.text())
  return .done
}

/// Colours, where a terminal shows them and nobody asked for none.
struct Style {
  private let isColoured: Bool

  init(_ environment: [String: String]) {
    isColoured =
      isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
  }

  func bold(_ text: String) -> String { paint(text, "1") }
  func dim(_ text: String) -> String { paint(text, "2") }
  func good(_ text: String) -> String { paint(text, "32") }
  func bad(_ text: String) -> String { paint(text, "31") }

  private func paint(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// The market on one screen.
private struct Screen {
  let store: Store
  let now: Instant
  let style: Style

  let regions: [MarketReport.Region]

  private var capitals: [String] { regions.filter { $0.kind == "capital" }.map(\.code) }
  private var nation: String { regions.first { $0.kind == "nation" }?.code ?? "" }
  private let fuels = ["U91", "E10", "P95", "P98", "DL"]

  func text() throws -> String {
    let averages = try store.averagesNow()
    guard !averages.isEmpty else {
      return "No averages yet. `bowser ingest --all && bowser aggregate` makes them.\n"
    }
    var text = "\n"
    text += heading("Average now", "cents per litre, change over 24 hours")
    text += averagesTable(averages)
    text += heading("The last 30 days", "daily averages, oldest left, today right")
    text += sparklines(try store.trends())
    let tomorrow = try store.tomorrow()
    text += heading(
      "Tomorrow, where it is published", "WA from 06:00 Perth time, NT from 14:30 Darwin time")
    text += tomorrow.isEmpty ? "  Not published yet: 14:30 local time.\n" : tomorrowTable(tomorrow)
    text += heading("Should you fill up?", "")
    text += verdicts(try store.verdicts())
    return text + "\n"
  }

  private func heading(_ title: String, _ note: String) -> String {
    "\(style.bold(title))\(note.isEmpty ? "" : "  \(style.dim(note))")\n"
  }

  private func averagesTable(_ averages: [AverageNow]) -> String {
    let places = capitals.filter { place in averages.contains { $0.region == place } } + [nation]
    var text =
      "  " + padded("", 11) + fuels.map { leftPadded($0, 8) + padded("", 8) }.joined().trimmedEnd
      + "\n"
    for place in places {
      let isLate = averages.contains { $0.region == place && $0.delayHours > 0 }
      var line = "  " + padded(title(place) + (isLate ? "*" : ""), 11)
      for fuel in fuels {
        guard let cell = averages.first(where: { $0.region == place && $0.fuel == fuel }),
          let average = cell.average
        else {
          line += leftPadded("·", 8) + padded("", 8)
          continue
        }
        line += leftPadded(cents(average), 8) + change(cell.change24h)
      }
      text += line.trimmedEnd + "\n"
    }
    let stations = averages.first { $0.region == nation && $0.fuel == "U91" }
    if let stations {
      text += style.dim(
        "  \(nation) U91 rests on \(stations.stations) stations; \(stations.stale) stale left out\n"
      )
    }
    if averages.contains(where: { $0.delayHours > 0 }) {
      text +=
        "  " + style.dim("* published a day late: of yesterday, and in no average beside others")
        + "\n"
    }
    return text + "\n"
  }

  private func change(_ value: Double?) -> String {
    guard let value else { return padded("", 8) }
    let rounded = (value * 10).rounded() / 10
    if rounded > 0 { return style.bad(padded(" ▲\(cents(rounded))", 8)) }
    if rounded < 0 { return style.good(padded(" ▼\(cents(-rounded))", 8)) }
    return padded(" =", 8)
  }

  private func sparklines(_ trends: [TrendLine]) -> String {
    var text = ""
    for place in capitals {
      for fuel in fuels {
        guard let trend = trends.first(where: { $0.region == place && $0.fuel == fuel }) else {
          continue
        }
        let known = trend.days.compactMap { $0 }
        guard let low = known.min(), let high = known.max() else { continue }
        let arrow = ["rising": "↗", "falling": "↘", "steady": "→"][trend.direction ?? ""] ?? " "
        text +=
          "  " + padded(fuel == fuels[0] ? title(place) : "", 11) + padded(fuel, 5)
          + spark(trend.days, low: low, high: high) + "  \(arrow) "
          + style.dim("\(cents(low)) to \(cents(high))") + "\n"
      }
    }
    return text + "\n"
  }

  private func spark(_ days: [Double?], low: Double, high: Double) -> String {
    let bars = Array("▁▂▃▄▅▆▇█")
    return String(
      days.map { day in
        guard let day else { return " " }
        // Less than two cents between low and high is flat, not a mountain range.
        let span = max(high - low, 2)
        return bars[min(7, Int((day - low) / span * 7.99))]
      })
  }

  private func tomorrowTable(_ lines: [TomorrowLine]) -> String {
    var text = ""
    for line in lines {
      guard let today = line.today, let tomorrow = line.tomorrow else { continue }
      text +=
        "  " + padded(line.region, 5) + padded(line.fuel, 5) + leftPadded(cents(today), 7) + " → "
        + leftPadded(cents(tomorrow), 6)
        + "   \(line.dearer) dearer, \(line.cheaper) cheaper, \(line.same) the same\n"
    }
    return text + "\n"
  }

  private func verdicts(_ verdicts: [VerdictLine]) -> String {
    var text = ""
    for place in capitals {
      guard let line = verdicts.first(where: { $0.region == place && $0.fuel == "U91" }) else {
        continue
      }
      let words = ["fill_up": "fill up", "wait": "wait", "no_difference": "no difference"]
      let word = padded(words[line.verdict] ?? line.verdict, 14)
      let painted = line.verdict == "no_difference" ? style.dim(word) : style.bold(word)
      text += "  " + padded(title(place), 11) + "U91  " + painted + line.reason + "\n"
    }
    return text
  }

  private func title(_ region: String) -> String {
    let name = regions.first { $0.code == region }?.name ?? region
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  private func cents(_ value: Double) -> String {
    let tenths = Int((abs(value) * 10).rounded())
    return (value < 0 && tenths > 0 ? "-" : "") + "\(tenths / 10).\(tenths % 10)"
  }
}

/// Text filled with blanks to a width, counted in characters.
func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

func leftPadded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

extension String {
  fileprivate var trimmedEnd: String {
    String(reversed().drop(while: { $0 == " " }).reversed())
  }
}
